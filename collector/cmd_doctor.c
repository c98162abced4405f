// SPDX-License-Identifier: GPL-2.0-or-later
/* `migrc doctor`: what can be traced here, on which rung, why not, and the remedy. */
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/doc.h"
#include "analysis/json.h"
#include "analysis/open.h"
#include "analysis/sbuf.h"
#include "collector/cmd.h"
#include "collector/cmdline.h"
#include "collector/counters.h"
#include "collector/err.h"
#include "collector/facts.h"
#include "collector/privileges.h"
#include "collector/term.h"
#include "collector/text.h"
#include "collector/probes.h"

struct doctor_options {
	bool json;
};

/* One thing that was looked at. */
struct finding {
	const char *what;
	bool good;
	char state[64];		/* in a word or two */
	char why[840];		/* where not good: the reason */
	const char *remedy;
};

#define MAX_FINDINGS 64

struct doctor {
	struct finding finding[MAX_FINDINGS];
	size_t nr;
	bool can_record;	/* every core probe is attached */
};

static struct finding *doctor__add(struct doctor *d, const char *what, bool good, const char *state)
{
	static struct finding spill;
	struct finding *f = d->nr < MAX_FINDINGS ? &d->finding[d->nr++] : &spill;

	memset(f, 0, sizeof(*f));
	f->what = what;
	f->good = good;
	snprintf(f->state, sizeof(f->state), "%s", state);
	return f;
}

static void doctor__look_for_file(struct doctor *d, const char *path, const char *remedy)
{
	bool good = !access(path, R_OK);
	struct finding *f = doctor__add(d, path, good, good ? "readable" : "missing");

	if (!good) {
		snprintf(f->why, sizeof(f->why), "%s", strerror(errno));
		f->remedy = remedy;
	}
}

static void doctor__look_for_files(struct doctor *d)
{
	static const struct {
		const char *path, *remedy;
	} files[] = {
		{ "/sys/kernel/btf/vmlinux", "boot a kernel with CONFIG_DEBUG_INFO_BTF=y" },
		{ "/proc/vmstat", "mount /proc" },
		{ "/proc/config.gz",
		  "boot a kernel with CONFIG_IKCONFIG_PROC=y, or kernel_config_sha256 is absent" },
		{ "/proc/sys/vm/stat_refresh",
		  "run as root, or node counters lag by up to a second" },
		{ "/sys/kernel/tracing/events",
		  "mount -t tracefs tracefs /sys/kernel/tracing; kprobes may need it" },
		{ "/proc/pressure/memory", "boot a kernel with CONFIG_PSI=y, or pressure is absent" },
		{ "/sys/kernel/mm/numa/demotion_enabled",
		  "boot a kernel with CONFIG_NUMA and CONFIG_MIGRATION to see demotion" },
	};
	size_t i;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		doctor__look_for_file(d, files[i].path, files[i].remedy);
}

/* Flush counters are built in by an option that distributions leave out. */
static void doctor__look_at_vmstat(struct doctor *d)
{
	static const struct {
		const char *name, *remedy;
	} counters[] = {
		{ "pgmigrate_success", "boot a kernel with CONFIG_MIGRATION=y" },
		{ "nr_tlb_remote_flush", "boot a kernel with CONFIG_DEBUG_TLBFLUSH=y" },
		{ "numa_hint_faults", "boot a kernel with CONFIG_NUMA_BALANCING=y" },
		{ "pgdemote_kswapd", "boot a kernel with CONFIG_NUMA and CONFIG_MIGRATION" },
	};
	struct finding *f;
	int64_t value;
	size_t i;
	int err;

	for (i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
		err = vmstat__read_one(counters[i].name, &value);
		f = doctor__add(d, counters[i].name, !err, err ? "absent" : "counted");
		if (err) {
			snprintf(f->why, sizeof(f->why), "%s",
				 err == -ENOENT ? "not in /proc/vmstat" : strerror(-err));
			f->remedy = counters[i].remedy;
		}
	}
}

static void doctor__look_at_facts(struct doctor *d)
{
	struct facts facts = { 0 };
	const char *value;
	struct finding *f;

	if (facts__collect(&facts))
		return;
	value = facts__get(&facts, "ad_bits_in_migration_entries");
	f = doctor__add(d, "ad_bits_in_migration_entries", strcmp(value, "unknown"), value);
	if (!f->good) {
		snprintf(f->why, sizeof(f->why), "what decides it cannot be read here");
		f->remedy = "say it with --fact match:ad_bits_in_migration_entries=yes (or no)";
	}
	value = facts__get(&facts, "migrc_patched");
	doctor__add(d, "migrc patch", true, strcmp(value, "yes") ? "absent" : "present");
	facts__free(&facts);
}

static void doctor__look_at_privileges(struct doctor *d)
{
	struct finding *f;
	bool has;
	size_t i;

	for (i = 0; i < nr_privileges; i++) {
		has = privileges__has(privileges[i].nr);
		f = doctor__add(d, privileges[i].name, has || !privileges[i].needed,
				has ? "in effect" : "missing");
		if (has)
			continue;
		snprintf(f->why, sizeof(f->why), "needed for %s", privileges[i].why);
		f->remedy = privileges[i].needed ? "run as root, or give it (setpriv, setcap)" :
						   "run as root to have that too";
	}
}

/* In mode confidentiality programs may not read the kernel's memory, nor kprobes be made. */
static void doctor__look_at_lockdown(struct doctor *d)
{
	char line[60];
	bool bad;
	struct finding *f;

	if (text__first_line("/sys/kernel/security/lockdown", line, sizeof(line)))
		return;		/* not built in, or securityfs not mounted: nothing is locked down */
	bad = strstr(line, "[confidentiality]");
	f = doctor__add(d, "lockdown", !bad, line);
	if (bad) {
		snprintf(f->why, sizeof(f->why), "BPF must not read the kernel's memory");
		f->remedy = "boot with lockdown=none or lockdown=integrity";
	}
}

static void doctor__look_at_pmu(struct doctor *d)
{
	bool has = !access("/sys/bus/event_source/devices/cpu", F_OK) ||
		   !access("/sys/bus/event_source/devices/cpu_core", F_OK);
	struct finding *f = doctor__add(d, "PMU", has, has ? "present" : "missing");

	if (has)
		return;
	snprintf(f->why, sizeof(f->why), "the kernel shows no counters of this CPU");
	f->remedy = "give the guest a PMU (QEMU: -cpu host,pmu=on); without one, hardware events of "
		    "--perf are absent";
}

static const char *remedy_of(const struct probe_status *s)
{
	if (strstr(s->why, "no migrc patch"))
		return "boot the patched kernel (kernel-patch/)";
	if (!privileges__has(CAP_BPF) || !privileges__has(CAP_PERFMON))
		return "run as root, or with CAP_BPF and CAP_PERFMON";
	if (strstr(s->why, "inlined"))
		return "boot a kernel that keeps the function out of line; see lab/config/guest.config";
	return "boot a kernel with CONFIG_FUNCTION_TRACER, CONFIG_DYNAMIC_FTRACE, CONFIG_KPROBE_EVENTS "
	       "and CONFIG_BPF_EVENTS, unlocked";
}

/* Attach every probe, look at its rung, detach. An exit code. */
static int doctor__try_probes(struct doctor *d)
{
	const struct probes_options options = { .ring_bytes = 4096, .per_page = true };
	const struct probe_status *s;
	struct probes *probes;
	struct finding *f;
	unsigned int id;
	int err;

	err = probes__open(&probes, &options);
	if (err)
		return EXIT_UNSUPPORTED;
	probes__attach(probes);
	d->can_record = true;
	for (id = 0; id < NR_PROBES; id++) {
		s = probes__status(probes, (enum probe_id)id);
		f = doctor__add(d, s->target, s->rung != RUNG_NONE || !s->core,
				rung__name(s->rung));
		snprintf(f->why, sizeof(f->why), "%s%s%s%s", s->why,
			 s->why[0] && s->twins[0] ? "; " : "",
			 !s->twins[0] ? "" : s->partial ? "calls of these are not seen: "
							: "has parts: ", s->twins);
		if (s->rung == RUNG_NONE)
			f->remedy = remedy_of(s);
		if (!f->good)
			d->can_record = false;
	}
	probes__detach(probes);
	probes__free(probes);
	return EXIT_GOOD;
}

static int doctor__print_text(const struct doctor *d)
{
	struct doc out = { .format = DOC_TEXT, .width = term__width(STDOUT_FILENO),
			   .colour = term__colour(STDOUT_FILENO) };
	size_t i;
	int rc;

	for (i = 0; i < d->nr; i++) {
		const struct finding *f = &d->finding[i];

		doc__hang(&out, f->good ? DOC_PLAIN : DOC_BAD, 43, "%-4s %-38s %s",
			  f->good ? "ok" : "NO", f->what, f->state);
		if (f->why[0])
			doc__hang(&out, DOC_PLAIN, 14, "     because: %s", f->why);
		if (f->remedy)
			doc__hang(&out, DOC_PLAIN, 14, "     remedy:  %s", f->remedy);
	}
	doc__para(&out, DOC_PLAIN, "%s", "");
	doc__hang(&out, d->can_record ? DOC_GOOD : DOC_WARN, 0, "%s", d->can_record ?
		  "migrc record works here with every core probe." :
		  "migrc record works here only with --missing-probes=warn.");
	rc = open__write(NULL, sbuf__str(&out.out), out.out.len);
	sbuf__free(&out.out);
	return rc;
}

static int doctor__print_json(const struct doctor *d)
{
	struct sbuf out = { 0 };
	struct json j = { .out = &out };
	size_t i;
	int rc;

	json__begin(&j, NULL, '{');
	json__bool(&j, "can_record", d->can_record);
	json__begin(&j, "findings", '[');
	for (i = 0; i < d->nr; i++) {
		const struct finding *f = &d->finding[i];

		json__begin(&j, NULL, '{');
		json__str(&j, "what", f->what);
		json__bool(&j, "good", f->good);
		json__str(&j, "state", f->state);
		json__str(&j, "why", f->why[0] ? f->why : NULL);
		json__str(&j, "remedy", f->remedy);
		json__end(&j, '}');
	}
	json__end(&j, ']');
	json__end(&j, '}');
	sbuf__add(&out, "\n");
	rc = open__write(NULL, sbuf__str(&out), out.len);
	sbuf__free(&out);
	return rc;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct doctor_options *o = state->input;

	switch (key) {
	case 'j':
		o->json = true;
		return 0;
	case ARGP_KEY_ARG:
		err__print("doctor: unexpected argument '%s'; see `migrc doctor --help`", arg);
		return EINVAL;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int cmd_doctor(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "json", 'j', NULL, 0, "Print JSON", 0 },
		{ 0 },
	};
	static const struct argp argp = {
		options, parse_option, NULL,
		"What can be traced here, on which rung, why not, and the remedy.\v"
		"Examples:\n"
		"  migrc doctor                  before the first record on a machine\n"
		"  migrc doctor --json | jq '.findings[] | select(.good | not)'\n\n"
		"Exit status: 0 every core probe can be attached; 5 some cannot.",
		NULL, NULL, NULL,
	};
	struct doctor_options o = { .json = false };
	static struct doctor d;
	int rc, written;

	if (cmdline__parse(&argp, argc, argv, 0, &o))
		return EXIT_TOOL;
	memset(&d, 0, sizeof(d));
	doctor__look_for_files(&d);
	doctor__look_at_vmstat(&d);
	doctor__look_at_facts(&d);
	doctor__look_at_privileges(&d);
	doctor__look_at_lockdown(&d);
	doctor__look_at_pmu(&d);
	rc = doctor__try_probes(&d);
	written = o.json ? doctor__print_json(&d) : doctor__print_text(&d);
	if (written)
		return written;
	return rc || !d.can_record ? EXIT_UNSUPPORTED : EXIT_GOOD;
}
