// SPDX-License-Identifier: GPL-2.0-or-later
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/err.h"
#include "collector/probes.h"
#include "collector/text.h"
#include "bpf/migrc.skel.h"

#define MAX_RUNGS 3

/* A way to attach a probe. The exit is attached first: what has been entered is seen to return. */
struct rung_spec {
	enum rung rung;
	const char *exit_prog;
	const char *entry_prog;	/* NULL: one program does */
};

struct probe_spec {
	const char *name;
	const char *target;
	bool is_function;
	bool of_patch;		/* exists on patched kernels only, and is core there */
	struct rung_spec rungs[MAX_RUNGS];	/* best first; ends at a NULL exit_prog */
};

#define FUNCTION_RUNGS(prog) \
	{ RUNG_FENTRY, "fexit_" #prog, "fentry_" #prog }, \
	{ RUNG_KPROBE, "kretprobe_" #prog, "kprobe_" #prog }

static const struct probe_spec specs[NR_PROBES] = {
	[PROBE_MIGRATE] = { "migrate", "mm_migrate_pages", false, false,
		{ { RUNG_TRACEPOINT, "tp_migrate", NULL } } },
	[PROBE_MIGRATE_PAGES] = { "migrate_pages", "migrate_pages", true, false,
		{ FUNCTION_RUNGS(migrate_pages),
		  { RUNG_TRACEPOINT, "tp_migrate_pages_end", "tp_migrate_pages_start" } } },
	[PROBE_TRY_TO_MIGRATE] = { "try_to_migrate", "try_to_migrate", true, false,
		{ FUNCTION_RUNGS(try_to_migrate) } },
	[PROBE_TLBBATCH_FLUSH] = { "tlbbatch_flush", "arch_tlbbatch_flush", true, false,
		{ FUNCTION_RUNGS(tlbbatch_flush) } },
	[PROBE_TLB_FLUSH] = { "tlb_flush", "tlb_flush", false, false,
		{ { RUNG_TRACEPOINT, "tp_tlb_flush", NULL } } },
	[PROBE_WP_FAULT] = { "wp_fault", "do_wp_page", true, false,
		{ FUNCTION_RUNGS(wp_fault) } },
	[PROBE_MIGRC_RELEASE] = { "migrc_release", "migrc_flush_free_folios", true, true,
		{ FUNCTION_RUNGS(migrc_release) } },
};

static const struct {
	const char *name, *unit;
} hist_specs[NR_HISTS] = {
	[HIST_MIGRATE_PAGES_PER_CALL] = { "migrate_pages_per_call", "pages" },
	[HIST_MIGRATE_PAGES_NS] = { "migrate_pages_ns", "ns" },
	[HIST_TRY_TO_MIGRATE_NS] = { "try_to_migrate_ns", "ns" },
	[HIST_TLBBATCH_FLUSH_NS] = { "tlbbatch_flush_ns", "ns" },
	[HIST_TLBBATCH_FLUSH_CPUS] = { "tlbbatch_flush_cpus", "CPUs" },
	[HIST_WP_FAULT_NS] = { "wp_fault_ns", "ns" },
	[HIST_MIGRC_RELEASE_NS] = { "migrc_release_ns", "ns" },
};

/* One probe's programs, attached. They are an object of their own, so that one that the kernel
 * refuses takes no other with it; its maps are the first object's. */
struct attached {
	struct bpf_object *object;
	struct bpf_program *prog[2];	/* exit, entry */
	struct bpf_link *link[2];
};

struct probes {
	struct migrc_bpf *maps;		/* loaded without a program */
	struct btf *kernel;
	char *symbols;			/* /proc/kallsyms, while attaching */
	struct ring_buffer *ring;
	int stats_fd;
	struct config config;
	int nr_cpus;			/* possible ones: the values of a per-CPU map */
	struct attached attached[NR_PROBES];
	struct probe_status status[NR_PROBES];
	struct counters counters;
	struct hist hists[NR_HISTS];
	struct probe_lost *lost;
	size_t nr_lost;
	probes_event_fn event_fn;
	void *event_ctx;
};

/* libbpf's print callback has no context, so the latest warning has to wait here. */
static char last_warning[240];

static int __attribute__((format(printf, 2, 0)))
keep_warning(enum libbpf_print_level level, const char *format, va_list ap)
{
	char line[sizeof(last_warning)];

	if (level != LIBBPF_WARN)
		return 0;
	vsnprintf(line, sizeof(line), format, ap);
	line[strcspn(line, "\n")] = '\0';
	/* The first warning of an attempt names the cause, the later ones its consequences. */
	if (!last_warning[0])
		strcpy(last_warning, line);
	return 0;
}

const char *rung__name(enum rung rung)
{
	static const char * const names[] = { "fentry", "kprobe", "tracepoint", "none" };

	return names[rung];
}

const char *hist__name(enum hist_id id)
{
	return hist_specs[id].name;
}

const char *hist__unit(enum hist_id id)
{
	return hist_specs[id].unit;
}

/* --- loading ---------------------------------------------------------------------------------- */

static int probes__configure(struct probes *p)
{
	__u32 zero = 0;

	return bpf_map__update_elem(p->maps->maps.config, &zero, sizeof(zero), &p->config,
				    sizeof(p->config), BPF_ANY);
}

static int probes__load_maps(struct probes *p, const struct probes_options *options)
{
	struct bpf_program *prog;
	int err;

	p->maps = migrc_bpf__open();
	if (!p->maps)
		return -errno;
	bpf_object__for_each_program(prog, p->maps->obj)
		bpf_program__set_autoload(prog, false);
	p->config.events_on = options->events;
	p->config.mask_words = ((unsigned int)p->nr_cpus + 63) / 64;
	if (options->events) {
		err = bpf_map__set_max_entries(p->maps->maps.ring, options->ring_bytes);
		if (err)
			return err;
	}
	err = migrc_bpf__load(p->maps);
	return err ? err : probes__configure(p);
}

static int handle_event(void *ctx, void *data, size_t size)
{
	struct probes *p = ctx;

	if (size < sizeof(struct event))
		return -EPROTO;
	return p->event_fn ? p->event_fn(p->event_ctx, data) : 0;
}

static void print_open_error(int err)
{
	if (err == -EPERM || err == -EACCES)
		err__print("bpf: not permitted; run as root, or with CAP_BPF and CAP_PERFMON");
	else if (err == -ENOSYS)
		err__print("bpf: not in this kernel; build one with CONFIG_BPF_SYSCALL=y");
	else
		err__print("bpf: cannot create the maps: %s%s%s; see `migrc doctor`", strerror(-err),
			   last_warning[0] ? ": " : "", last_warning);
}

int probes__open(struct probes **out, const struct probes_options *options)
{
	struct probes *p = calloc(1, sizeof(*p));
	int err;

	*out = NULL;
	if (!p)
		return -ENOMEM;
	p->stats_fd = -1;
	libbpf_set_print(keep_warning);
	last_warning[0] = '\0';
	p->nr_cpus = libbpf_num_possible_cpus();
	if (p->nr_cpus < 0) {
		err = p->nr_cpus;
		err__print("/sys/devices/system/cpu/possible: %s; mount /sys", strerror(-err));
		goto cleanup;
	}
	if (access("/sys/kernel/btf/vmlinux", R_OK)) {
		err = -ENOENT;
		err__print("/sys/kernel/btf/vmlinux: no type information; "
			   "boot a kernel with CONFIG_DEBUG_INFO_BTF=y (and mount /sys)");
		goto cleanup;
	}
	err = probes__load_maps(p, options);
	if (err) {
		print_open_error(err);
		goto cleanup;
	}
	p->kernel = btf__load_vmlinux_btf();
	if (!p->kernel) {
		err = -errno;
		err__print("/sys/kernel/btf/vmlinux: %s; see `migrc doctor`", strerror(-err));
		goto cleanup;
	}
	if (options->events) {
		p->ring = ring_buffer__new(bpf_map__fd(p->maps->maps.ring), handle_event, p, NULL);
		if (!p->ring) {
			err = -errno;
			err__print("bpf: cannot map the ring buffer: %s; try a smaller one",
				   strerror(-err));
			goto cleanup;
		}
	}
	*out = p;
	return 0;
cleanup:
	probes__free(p);
	return err;
}

/* --- attaching -------------------------------------------------------------------------------- */

static bool probes__has_symbol(const struct probes *p, const char *name)
{
	const char *at = p->symbols;
	size_t len = strlen(name);

	/* A line is "address type name", with "\t[module]" behind a module's. */
	while (at && (at = strstr(at, name))) {
		if (at > p->symbols && at[-1] == ' ' && strchr("\t\n", at[len]))
			return true;
		at += len;
	}
	return false;
}

static bool probes__has_typed_function(const struct probes *p, const char *name)
{
	return btf__find_by_name_kind(p->kernel, name, BTF_KIND_FUNC) > 0;
}

static void attached__destroy(struct attached *a)
{
	bpf_link__destroy(a->link[1]);
	bpf_link__destroy(a->link[0]);
	bpf_object__close(a->object);
	memset(a, 0, sizeof(*a));
}

/* Open the object with the maps of the first one and only the programs of this rung. */
static int probes__open_rung(struct probes *p, const struct rung_spec *rung, struct attached *a)
{
	struct bpf_map *map, *first = NULL;
	struct bpf_program *prog;
	const void *elf;
	size_t size;
	int err;

	elf = migrc_bpf__elf_bytes(&size);
	a->object = bpf_object__open_mem(elf, size, NULL);
	if (!a->object)
		return -errno;
	bpf_object__for_each_map(map, a->object) {
		first = bpf_object__next_map(p->maps->obj, first);
		err = first ? bpf_map__reuse_fd(map, bpf_map__fd(first)) : -EINVAL;
		if (err)
			return err;
	}
	bpf_object__for_each_program(prog, a->object)
		bpf_program__set_autoload(prog, false);
	a->prog[0] = bpf_object__find_program_by_name(a->object, rung->exit_prog);
	if (rung->entry_prog)
		a->prog[1] = bpf_object__find_program_by_name(a->object, rung->entry_prog);
	if (!a->prog[0] || (rung->entry_prog && !a->prog[1]))
		return -EINVAL;
	bpf_program__set_autoload(a->prog[0], true);
	if (a->prog[1])
		bpf_program__set_autoload(a->prog[1], true);
	return 0;
}

static int probes__try_rung(struct probes *p, const struct rung_spec *rung, struct attached *a)
{
	int err, i;

	last_warning[0] = '\0';
	err = probes__open_rung(p, rung, a);
	if (!err)
		err = bpf_object__load(a->object);
	for (i = 0; !err && i < 2 && a->prog[i]; i++) {
		a->link[i] = bpf_program__attach(a->prog[i]);
		if (!a->link[i])
			err = -errno;
	}
	if (err)
		attached__destroy(a);
	return err;
}

static void status__add_why(struct probe_status *s, enum rung rung, const char *why)
{
	size_t len = strlen(s->why);

	snprintf(s->why + len, sizeof(s->why) - len, "%s%s: %s", len ? "; " : "", rung__name(rung),
		 why);
}

/* Without even trying: a reason why this rung cannot work, or NULL. */
static const char *probes__cannot(const struct probes *p, const struct probe_spec *spec,
				  enum rung rung)
{
	if (!spec->is_function)
		return NULL;
	if (rung == RUNG_FENTRY && !probes__has_typed_function(p, spec->target))
		return "no such function in the kernel's BTF (inlined, or not built in)";
	if (rung == RUNG_KPROBE && p->symbols && !probes__has_symbol(p, spec->target))
		return "no such symbol in /proc/kallsyms (inlined, or not built in)";
	return NULL;
}

static void probes__attach_one(struct probes *p, enum probe_id id)
{
	const struct probe_spec *spec = &specs[id];
	struct probe_status *s = &p->status[id];
	const struct rung_spec *rung;
	const char *why;
	char detail[320];
	int err;

	for (rung = spec->rungs; rung < spec->rungs + MAX_RUNGS && rung->exit_prog; rung++) {
		why = probes__cannot(p, spec, rung->rung);
		if (!why) {
			err = probes__try_rung(p, rung, &p->attached[id]);
			if (!err) {
				s->rung = rung->rung;
				return;
			}
			snprintf(detail, sizeof(detail), "%s%s%s%s",
				 err == -524 ? "not supported" : strerror(-err),
				 last_warning[0] ? " (" : "", last_warning,
				 last_warning[0] ? ")" : "");
			why = detail;
		}
		status__add_why(s, rung->rung, why);
	}
}

void probes__attach(struct probes *p)
{
	enum probe_id id;

	/* Without the symbols each rung is simply tried. */
	if (text__read_file("/proc/kallsyms", &p->symbols, NULL))
		p->symbols = NULL;
	p->stats_fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
	for (id = 0; id < NR_PROBES; id++) {
		struct probe_status *s = &p->status[id];

		s->name = specs[id].name;
		s->target = specs[id].target;
		s->rung = RUNG_NONE;
		s->core = true;
		s->body_ns = UINT64_MAX;
		if (specs[id].of_patch && !probes__has_symbol(p, specs[id].target) &&
		    !probes__has_typed_function(p, specs[id].target)) {
			s->core = false;
			snprintf(s->why, sizeof(s->why), "this kernel has no migrc patch");
			continue;
		}
		probes__attach_one(p, id);
	}
	free(p->symbols);
	p->symbols = NULL;
}

int probes__record(struct probes *p, bool on)
{
	p->config.recording = on;
	return probes__configure(p);
}

int probes__drain(struct probes *p, probes_event_fn fn, void *ctx)
{
	if (!p->ring)
		return 0;
	p->event_fn = fn;
	p->event_ctx = ctx;
	return ring_buffer__consume(p->ring);
}

/* --- the end ---------------------------------------------------------------------------------- */

void probes__detach(struct probes *p)
{
	int id, i;

	for (i = 1; i >= 0; i--)
		for (id = 0; id < NR_PROBES; id++) {
			bpf_link__destroy(p->attached[id].link[i]);
			p->attached[id].link[i] = NULL;
		}
}

/* Run time and skipped runs of a probe's programs. */
static int probes__read_programs(struct probes *p, enum probe_id id)
{
	struct probe_status *s = &p->status[id];
	int i;

	s->body_ns = p->stats_fd < 0 ? UINT64_MAX : 0;
	s->misses = 0;
	for (i = 0; i < 2 && p->attached[id].prog[i]; i++) {
		struct bpf_prog_info info = { 0 };
		__u32 len = sizeof(info);

		if (bpf_obj_get_info_by_fd(bpf_program__fd(p->attached[id].prog[i]), &info, &len))
			return -errno;
		if (p->stats_fd >= 0)
			s->body_ns += info.run_time_ns;
		s->misses += info.recursion_misses;
	}
	return 0;
}

static void add_u64s(void *sum, const void *value, size_t bytes)
{
	const uint64_t *from = value;
	uint64_t *to = sum;
	size_t i;

	for (i = 0; i < bytes / sizeof(*to); i++)
		to[i] += from[i];
}

static int probes__note_lost(struct probes *p, const struct counters *of_cpu, unsigned int cpu)
{
	struct probe_lost *bigger;
	unsigned int id;

	for (id = 0; id < NR_PROBES; id++) {
		if (!of_cpu->probe[id].lost)
			continue;
		bigger = realloc(p->lost, (p->nr_lost + 1) * sizeof(*bigger));
		if (!bigger)
			return -ENOMEM;
		p->lost = bigger;
		p->lost[p->nr_lost++] =
			(struct probe_lost){ (enum probe_id)id, cpu, of_cpu->probe[id].lost };
	}
	return 0;
}

static int probes__read_counters(struct probes *p)
{
	struct counters *all;
	__u32 zero = 0;
	int cpu, id;
	int err;

	all = calloc((size_t)p->nr_cpus, sizeof(*all));
	if (!all)
		return -ENOMEM;
	err = bpf_map__lookup_elem(p->maps->maps.counters, &zero, sizeof(zero), all,
				   (size_t)p->nr_cpus * sizeof(*all), 0);
	memset(&p->counters, 0, sizeof(p->counters));
	p->nr_lost = 0;
	for (cpu = 0; !err && cpu < p->nr_cpus; cpu++) {
		add_u64s(&p->counters, &all[cpu], sizeof(p->counters));
		err = probes__note_lost(p, &all[cpu], (unsigned int)cpu);
	}
	for (id = 0; id < NR_PROBES; id++)
		p->status[id].count = p->counters.probe[id];
	free(all);
	return err;
}

static int probes__read_hists(struct probes *p)
{
	struct hist *all;
	uint64_t max;
	__u32 id;
	int cpu;
	int err = 0;

	all = calloc((size_t)p->nr_cpus, sizeof(*all));
	if (!all)
		return -ENOMEM;
	memset(p->hists, 0, sizeof(p->hists));
	for (id = 0; !err && id < NR_HISTS; id++) {
		err = bpf_map__lookup_elem(p->maps->maps.hists, &id, sizeof(id), all,
					   (size_t)p->nr_cpus * sizeof(*all), 0);
		for (cpu = 0, max = 0; !err && cpu < p->nr_cpus; cpu++) {
			add_u64s(&p->hists[id], &all[cpu], sizeof(*all));
			max = all[cpu].max > max ? all[cpu].max : max;
		}
		p->hists[id].max = max;
	}
	free(all);
	return err;
}

/* Count what is left in the map of calls under way. */
static int probes__read_in_flight(struct probes *p)
{
	struct call_start start;
	__u64 key, next, *at = NULL;
	int id;

	for (id = 0; id < NR_PROBES; id++)
		p->status[id].in_flight = 0;
	while (!bpf_map__get_next_key(p->maps->maps.calls, at, &next, sizeof(next))) {
		key = next;
		at = &key;
		if (bpf_map__lookup_elem(p->maps->maps.calls, &key, sizeof(key), &start,
					 sizeof(start), 0))
			continue;	/* it returned in between */
		if (key >> 32 < NR_PROBES)
			p->status[key >> 32].in_flight += 1 + start.depth;
	}
	return 0;
}

int probes__collect(struct probes *p)
{
	unsigned int id;
	int err = 0;

	for (id = 0; !err && id < NR_PROBES; id++)
		err = probes__read_programs(p, (enum probe_id)id);
	if (!err)
		err = probes__read_counters(p);
	if (!err)
		err = probes__read_hists(p);
	if (!err)
		err = probes__read_in_flight(p);
	return err;
}

const struct probe_status *probes__status(const struct probes *p, enum probe_id id)
{
	return &p->status[id];
}

const struct counters *probes__counters(const struct probes *p)
{
	return &p->counters;
}

const struct hist *probes__hist(const struct probes *p, enum hist_id id)
{
	return &p->hists[id];
}

const struct probe_lost *probes__lost(const struct probes *p, size_t *nr)
{
	*nr = p->nr_lost;
	return p->lost;
}

void probes__free(struct probes *p)
{
	int id;

	if (!p)
		return;
	for (id = 0; id < NR_PROBES; id++)
		attached__destroy(&p->attached[id]);
	ring_buffer__free(p->ring);
	btf__free(p->kernel);
	migrc_bpf__destroy(p->maps);
	if (p->stats_fd >= 0)
		close(p->stats_fd);
	free(p->lost);
	free(p->symbols);
	free(p);
}
