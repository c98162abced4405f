// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <zlib.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "collector/facts.h"
#include "collector/text.h"

#define CPU_DIR "/sys/devices/system/cpu"

const char *fact_class__name(enum fact_class class)
{
	static const char * const names[] = { "match", "drift", "arm" };

	return names[class];
}

int facts__set(struct facts *f, enum fact_class class, const char *key, const char *value)
{
	struct fact *bigger, *fact = NULL;
	char *copy;
	size_t i;

	if (!text__is_name(key) || strlen(key) >= sizeof(fact->key))
		return -EINVAL;
	for (i = 0; i < f->nr; i++)
		if (!strcmp(f->fact[i].key, key))
			fact = &f->fact[i];
	copy = strdup(value);
	if (!copy)
		return -ENOMEM;
	if (!fact) {
		bigger = realloc(f->fact, (f->nr + 1) * sizeof(*bigger));
		if (!bigger) {
			free(copy);
			return -ENOMEM;
		}
		f->fact = bigger;
		fact = &f->fact[f->nr++];
		strcpy(fact->key, key);
		fact->value = NULL;
	}
	free(fact->value);
	fact->value = copy;
	fact->class = class;
	return 0;
}

int facts__set_option(struct facts *f, const char *option)
{
	enum fact_class class;
	const char *colon = strchr(option, ':');
	const char *equals = colon ? strchr(colon, '=') : NULL;
	char key[64];

	if (!equals || (size_t)(equals - colon) > sizeof(key))
		return -EINVAL;
	for (class = FACT_MATCH; class <= FACT_ARM; class++)
		if (strlen(fact_class__name(class)) == (size_t)(colon - option) &&
		    !strncmp(option, fact_class__name(class), (size_t)(colon - option)))
			break;
	if (class > FACT_ARM)
		return -EINVAL;
	snprintf(key, sizeof(key), "%.*s", (int)(equals - colon - 1), colon + 1);
	return facts__set(f, class, key, equals + 1);
}

const char *facts__get(const struct facts *f, const char *key)
{
	size_t i;

	for (i = 0; i < f->nr; i++)
		if (!strcmp(f->fact[i].key, key))
			return f->fact[i].value;
	return NULL;
}

void facts__free(struct facts *f)
{
	size_t i;

	for (i = 0; i < f->nr; i++)
		free(f->fact[i].value);
	free(f->fact);
	memset(f, 0, sizeof(*f));
}

/* The first line of a file as a fact; no file, no fact. */
static int facts__set_file(struct facts *f, enum fact_class class, const char *key,
			   const char *path)
{
	char line[4096];

	if (text__first_line(path, line, sizeof(line)))
		return 0;
	return facts__set(f, class, key, line);
}

/* The file's word in brackets. */
static int facts__set_choice(struct facts *f, const char *key, const char *path)
{
	char line[256], value[64];

	if (text__first_line(path, line, sizeof(line)) ||
	    !bracketed__get(line, value, sizeof(value)))
		return 0;
	return facts__set(f, FACT_MATCH, key, value);
}

#if defined(__x86_64__) || defined(__i386__)
/*
 * Does the hypervisor offer to flush the TLBs of CPUs that do not run at the moment (KVM's
 * KVM_FEATURE_PV_TLB_FLUSH, Hyper-V's recommendation of its hypercall)? Then flushes of a guest are
 * not all interrupts, and the rows of /proc/interrupts show fewer than there were.
 */
static bool cpuid__offers_flush(const char *sign)
{
	unsigned int a, b, c, d;

	if (!strcmp(sign, "KVMKVMKVM")) {
		__cpuid(0x40000001, a, b, c, d);
		return a >> 9 & 1;
	}
	if (strcmp(sign, "Microsoft Hv"))
		return false;
	__cpuid(0x40000004, a, b, c, d);
	return a >> 2 & 1;
}
#endif

/* Who runs this machine, by the CPUID leaf that hypervisors sign. */
static int facts__set_hypervisor(struct facts *f)
{
	char sign[13] = "";
	const char *accelerator = NULL;
	int err;

#if defined(__x86_64__) || defined(__i386__)
	unsigned int a, b, c, d;

	if (__get_cpuid(1, &a, &b, &c, &d) && c >> 31) {
		__cpuid(0x40000000, a, b, c, d);
		memcpy(sign, &b, 4);
		memcpy(sign + 4, &c, 4);
		memcpy(sign + 8, &d, 4);
	}
	if (!strcmp(sign, "TCGTCGTCGTCG"))
		accelerator = "tcg";
	else if (!strcmp(sign, "KVMKVMKVM"))
		accelerator = "kvm";
	err = facts__set(f, FACT_MATCH, "hypervisor", sign[0] ? sign : "none");
	if (!err)
		err = facts__set(f, FACT_MATCH, "paravirt_tlb_flush",
				 cpuid__offers_flush(sign) ? "offered" : "no");
#else
	err = 0;
#endif
	if (!err && accelerator)
		err = facts__set(f, FACT_MATCH, "accelerator", accelerator);
	return err;
}

/* All files of a glob as "name=first line", joined by "; ": mitigations, tiers. */
static int facts__set_glob(struct facts *f, const char *key, const char *pattern,
			   size_t name_from_end)
{
	char joined[8192] = "", line[512], *name, *part;
	size_t i, n, len = 0;
	glob_t g;
	int rc;

	rc = glob(pattern, 0, NULL, &g);
	if (rc)
		return rc == GLOB_NOSPACE ? -ENOMEM : 0;
	for (i = 0; i < g.gl_pathc && len < sizeof(joined); i++) {
		if (text__first_line(g.gl_pathv[i], line, sizeof(line)))
			continue;
		name = g.gl_pathv[i];
		for (n = 0; n < name_from_end && (part = strrchr(name, '/')); n++)
			*part = '\0';
		part = strrchr(name, '/');
		len += (size_t)snprintf(joined + len, sizeof(joined) - len, "%s%s=%s",
					len ? "; " : "", part ? part + 1 : name, line);
	}
	globfree(&g);
	return joined[0] ? facts__set(f, FACT_MATCH, key, joined) : 0;
}

/* "0:cpus=0-3:pages=81800 1:cpus=:pages=262144": present pages, which no kernel image changes. */
static int facts__set_nodes(struct facts *f)
{
	char nodes[4096] = "", path[96], cpus[512], *text;
	struct snapshot zones = { 0 };
	unsigned int node, of_zone;
	long long pages;
	size_t i, len = 0;
	int err;

	err = text__read_file("/proc/zoneinfo", &text, NULL);
	if (err)
		return err == -ENOMEM ? err : 0;
	err = zoneinfo__parse(text, &zones);
	free(text);
	for (node = 0; !err && node < 1024 && len < sizeof(nodes); node++) {
		snprintf(path, sizeof(path), "/sys/devices/system/node/node%u/cpulist", node);
		if (text__first_line(path, cpus, sizeof(cpus)))
			continue;
		for (pages = 0, i = 0; i < zones.nr; i++)
			if (sscanf(zones.entry[i].name, "node%u/", &of_zone) == 1 &&
			    of_zone == node && strstr(zones.entry[i].name, "/present"))
				pages += zones.entry[i].value;
		len += (size_t)snprintf(nodes + len, sizeof(nodes) - len, "%s%u:cpus=%s:pages=%lld",
					len ? " " : "", node, cpus, pages);
	}
	snapshot__free(&zones);
	if (err)
		return err == -ENOMEM ? err : 0;
	return nodes[0] ? facts__set(f, FACT_MATCH, "nodes", nodes) : 0;
}

/* The configuration that the kernel carries, as text; NULL where it does not. */
static char *kconfig__read(void)
{
	size_t size = 1 << 20, used = 0;
	gzFile gz = gzopen("/proc/config.gz", "rb");
	char *text;
	int n;

	if (!gz)
		return NULL;
	text = malloc(size);
	while (text && used < size - 1) {
		n = gzread(gz, text + used, (unsigned int)(size - 1 - used));
		if (n <= 0)
			break;
		used += (size_t)n;
	}
	gzclose(gz);
	if (text)
		text[used] = '\0';
	if (text && !used) {
		free(text);
		text = NULL;
	}
	return text;
}

static int facts__set_cpu(struct facts *f, const char *cpuinfo)
{
	static const struct {
		const char *key, *line;
		enum fact_class class;
	} lines[] = {
		{ "cpu_model", "model name", FACT_MATCH },
		{ "microcode", "microcode", FACT_MATCH },
		{ "cpu_address_sizes", "address sizes", FACT_MATCH },
		{ "cpu_mhz", "cpu MHz", FACT_DRIFT },
	};
	char value[256];
	size_t i;
	int err = 0;

	for (i = 0; !err && i < sizeof(lines) / sizeof(lines[0]); i++)
		if (cpuinfo__get(cpuinfo, lines[i].line, value, sizeof(value)))
			err = facts__set(f, lines[i].class, lines[i].key, value);
	return err;
}

/* Facts that need more than one file. */
static int facts__set_derived(struct facts *f, const char *cpuinfo)
{
	char digest[SHA256__HEX_SIZE], cmdline[4096], stripped[4096], l1tf[256];
	struct ad_bits_input in = { .cpuinfo = cpuinfo, .mitigations_built = -1 };
	struct utsname uts;
	char *config;
	int err;

	text__first_line("/proc/cmdline", cmdline, sizeof(cmdline));
	cmdline__strip(cmdline, stripped);
	err = facts__set(f, FACT_MATCH, "cmdline", stripped);
	uname(&uts);
	in.machine = uts.machine;
	in.release = uts.release;
	in.has_swap = !access("/proc/swaps", F_OK);
	in.cmdline = cmdline;
	if (!text__first_line(CPU_DIR "/vulnerabilities/l1tf", l1tf, sizeof(l1tf)))
		in.l1tf = l1tf;
	config = kconfig__read();
	if (config) {
		in.mitigations_built = kconfig__is_set(config, "CONFIG_CPU_MITIGATIONS");
		kconfig__digest(config, digest);
		free(config);
		if (!err)
			err = facts__set(f, FACT_MATCH, "kernel_config_sha256", digest);
	}
	if (!err)
		err = facts__set(f, FACT_MATCH, "ad_bits_in_migration_entries",
				 ad_bits__derive(&in));
	if (!err)
		err = facts__set(f, FACT_ARM, "kernel_release", uts.release);
	if (!err)
		err = facts__set(f, FACT_ARM, "kernel_version", uts.version);
	return err;
}

/* The patch is there if its switch is. */
static int facts__set_patch(struct facts *f)
{
	char value[32];
	int err;

	if (text__first_line("/proc/sys/vm/migrc", value, sizeof(value)))
		return facts__set(f, FACT_ARM, "migrc_patched", "no");
	err = facts__set(f, FACT_ARM, "vm.migrc", value);
	return err ? err : facts__set(f, FACT_ARM, "migrc_patched", "yes");
}

/* A number that sysconf() or a text tells. */
static int facts__set_system(struct facts *f)
{
	char value[64], line[256], *meminfo;
	unsigned long long kb;
	double uptime;
	const char *at;
	int err;

	snprintf(value, sizeof(value), "%ld", sysconf(_SC_PAGESIZE));
	err = facts__set(f, FACT_MATCH, "page_size", value);
	if (!err && !text__first_line("/proc/uptime", line, sizeof(line)) &&
	    sscanf(line, "%lf", &uptime) == 1) {
		snprintf(value, sizeof(value), "%.2f", uptime);
		err = facts__set(f, FACT_DRIFT, "uptime_s", value);
	}
	if (err || text__read_file("/proc/meminfo", &meminfo, NULL))
		return err;
	at = strstr(meminfo, "MemFree:");
	if (at && sscanf(at, "MemFree: %llu", &kb) == 1) {
		snprintf(value, sizeof(value), "%llu", kb);
		err = facts__set(f, FACT_DRIFT, "mem_free_kb", value);
	}
	free(meminfo);
	return err;
}

static int facts__set_files(struct facts *f)
{
	static const struct {
		enum fact_class class;
		const char *key, *path;
	} files[] = {
		{ FACT_MATCH, "cpus_online", CPU_DIR "/online" },
		{ FACT_MATCH, "l1tf", CPU_DIR "/vulnerabilities/l1tf" },
		{ FACT_MATCH, "smt", CPU_DIR "/smt/control" },
		{ FACT_MATCH, "governor", CPU_DIR "/cpu0/cpufreq/scaling_governor" },
		{ FACT_MATCH, "numa_balancing", "/proc/sys/kernel/numa_balancing" },
		{ FACT_MATCH, "demotion_enabled", "/sys/kernel/mm/numa/demotion_enabled" },
		{ FACT_MATCH, "product", "/sys/class/dmi/id/product_name" },
		{ FACT_DRIFT, "loadavg", "/proc/loadavg" },
		{ FACT_DRIFT, "tainted", "/proc/sys/kernel/tainted" },
		{ FACT_DRIFT, "temperature", "/sys/class/thermal/thermal_zone0/temp" },
	};
	size_t i;
	int err = 0;

	for (i = 0; !err && i < sizeof(files) / sizeof(files[0]); i++)
		err = facts__set_file(f, files[i].class, files[i].key, files[i].path);
	if (!err)
		err = facts__set_choice(f, "thp", "/sys/kernel/mm/transparent_hugepage/enabled");
	if (!err)
		err = facts__set_glob(f, "mitigations", CPU_DIR "/vulnerabilities/*", 0);
	if (!err)
		err = facts__set_glob(f, "memory_tiers",
				      "/sys/devices/virtual/memory_tiering/memory_tier*/nodelist", 1);
	return err;
}

int facts__collect(struct facts *f)
{
	char *cpuinfo;
	int err;

	err = text__read_file("/proc/cpuinfo", &cpuinfo, NULL);
	if (err)
		return err;
	err = facts__set_cpu(f, cpuinfo);
	if (!err)
		err = facts__set_hypervisor(f);
	if (!err)
		err = facts__set_files(f);
	if (!err)
		err = facts__set_nodes(f);
	if (!err)
		err = facts__set_derived(f, cpuinfo);
	if (!err)
		err = facts__set_patch(f);
	if (!err)
		err = facts__set_system(f);
	free(cpuinfo);
	return err;
}
