// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "collector/probe_specs.h"

#define NR(array) (sizeof(array) / sizeof((array)[0]))

#define FUNCTION_RUNGS(prog) \
	{ RUNG_FENTRY, "fexit_" #prog, "fentry_" #prog }, \
	{ RUNG_KPROBE_MULTI, "kretprobe_" #prog, "kprobe_" #prog }, \
	{ RUNG_KPROBE, "kretprobe_" #prog, "kprobe_" #prog }
#define TRACEPOINT(prog)	{ { RUNG_TRACEPOINT, "tp_" #prog, NULL } }
#define TRACEPOINTS(prog)	{ { RUNG_TRACEPOINT, "tp_" #prog "_end", "tp_" #prog "_begin" } }

const struct probe_spec probe_specs[NR_PROBES] = {
	[PROBE_MIGRATE] = { "migrate", false, CORE, { "mm_migrate_pages" }, TRACEPOINT(migrate) },
	[PROBE_MIGRATE_PAGES] = { "migrate_pages", true, CORE, { "migrate_pages" },
		{ FUNCTION_RUNGS(migrate_pages),
		  { RUNG_TRACEPOINT, "tp_migrate_pages_end", "tp_migrate_pages_start" } } },
	[PROBE_TRY_TO_MIGRATE] = { "try_to_migrate", true, PER_PAGE, { "try_to_migrate" },
		{ FUNCTION_RUNGS(try_to_migrate) } },
	[PROBE_TLBBATCH_FLUSH] = { "tlbbatch_flush", true, CORE, { "arch_tlbbatch_flush" },
		{ FUNCTION_RUNGS(tlbbatch_flush) } },
	[PROBE_TLB_FLUSH] = { "tlb_flush", false, CORE, { "tlb_flush" }, TRACEPOINT(tlb_flush) },
	[PROBE_WP_FAULT] = { "wp_fault", true, CORE, { "do_wp_page" },
		{ FUNCTION_RUNGS(wp_fault) } },
	[PROBE_MIGRC_RELEASE] = { "migrc_release", true, CORE_OF_PATCH,
		{ "migrc_flush_free_folios" }, { FUNCTION_RUNGS(migrc_release) } },
	[PROBE_MM_FLUSH] = { "mm_flush", true, CORE, { "flush_tlb_mm_range" },
		{ FUNCTION_RUNGS(mm_flush) } },
	/* 6.2 took the maple state out of its name, before 6.1 there was none. */
	[PROBE_MUNMAP] = { "munmap", true, NOT_CORE,
		{ "do_vmi_align_munmap", "do_mas_align_munmap", "__do_munmap" },
		{ FUNCTION_RUNGS(munmap) } },
	[PROBE_DIRECT_RECLAIM] = { "direct_reclaim", false, NOT_CORE,
		{ "mm_vmscan_direct_reclaim_end" }, TRACEPOINTS(direct_reclaim) },
	[PROBE_MEMCG_RECLAIM] = { "memcg_reclaim", false, NOT_CORE,
		{ "mm_vmscan_memcg_reclaim_end" }, TRACEPOINTS(memcg_reclaim) },
	[PROBE_MIGRC_DEFER] = { "migrc_defer", false, CORE_OF_PATCH, { "migrc_defer" },
		TRACEPOINT(migrc_defer) },
	[PROBE_MIGRC_REFUSE] = { "migrc_refuse", false, CORE_OF_PATCH, { "migrc_refuse" },
		TRACEPOINT(migrc_refuse) },
	[PROBE_MIGRC_FREED] = { "migrc_freed", false, CORE_OF_PATCH, { "migrc_release" },
		TRACEPOINT(migrc_freed) },
	[PROBE_MIGRC_WAIT] = { "migrc_wait", false, CORE_OF_PATCH, { "migrc_wait" },
		TRACEPOINT(migrc_wait) },
};

static const char * const rung_names[] = {
	[RUNG_FENTRY] = "fentry", [RUNG_KPROBE_MULTI] = "kprobe-multi", [RUNG_KPROBE] = "kprobe",
	[RUNG_TRACEPOINT] = "tracepoint", [RUNG_NONE] = "none",
};

const char *rung__name(enum rung rung)
{
	return rung_names[rung];
}

int rung__parse(const char *name)
{
	size_t i;

	for (i = 0; i < NR(rung_names); i++)
		if (!strcmp(rung_names[i], name))
			return (int)i;
	return -EINVAL;
}

const char *flush_class__name(enum flush_class class)
{
	static const char * const names[NR_CLASSES] = {
		[CLASS_OTHER] = "other", [CLASS_MIGRATION] = "migration",
		[CLASS_RECLAIM] = "reclaim", [CLASS_ALLOCATION] = "allocation",
		[CLASS_WRITE_FAULT] = "write_fault", [CLASS_MUNMAP] = "munmap",
		[CLASS_DEFERRAL] = "deferral",
	};

	return names[class];
}

bool flush_class__is_told(enum flush_class class, uint32_t attached)
{
	static const uint32_t needs[NR_CLASSES] = {
		[CLASS_MIGRATION] = 1U << PROBE_MIGRATE_PAGES,
		[CLASS_ALLOCATION] = 1U << PROBE_DIRECT_RECLAIM,
		[CLASS_WRITE_FAULT] = 1U << PROBE_WP_FAULT,
		[CLASS_MUNMAP] = 1U << PROBE_MUNMAP,
		[CLASS_DEFERRAL] = 1U << PROBE_MIGRC_RELEASE,
	};

	return (attached & needs[class]) == needs[class];
}

/* --- histograms ------------------------------------------------------------------------------- */

#define NR_SINGLE HIST_TLBBATCH_FLUSH_NS

#define ON(probe)	(1U << PROBE_##probe)

/* Those that are stored as they are, if all the probes that they need are attached. */
static const struct {
	const char *name, *unit;
	uint32_t needs;
} single[NR_SINGLE] = {
	[HIST_MIGRATE_PAGES_PER_CALL] = { "migrate_pages_per_call", "pages", ON(MIGRATE) },
	[HIST_MIGRATE_PAGES_NS] = { "migrate_pages_ns", "ns", ON(MIGRATE_PAGES) },
	[HIST_MIGRATE_FLUSHES_PER_CALL] = { "migrate_flushes_per_call", "flushes",
					    ON(MIGRATE) | ON(MIGRATE_PAGES) | ON(TLBBATCH_FLUSH) },
	[HIST_MIGRATE_TARGETS_PER_CALL] = { "migrate_targets_per_call", "CPUs",
					    ON(MIGRATE) | ON(MIGRATE_PAGES) | ON(TLBBATCH_FLUSH) },
	[HIST_TRY_TO_MIGRATE_NS] = { "try_to_migrate_ns", "ns", ON(TRY_TO_MIGRATE) },
	[HIST_WP_FAULT_NS] = { "wp_fault_ns", "ns", ON(WP_FAULT) },
	[HIST_WP_FAULT_WAITED_NS] = { "wp_fault_waited_ns", "ns",
				      ON(WP_FAULT) | ON(MIGRC_RELEASE) },
	[HIST_MIGRC_RELEASE_NS] = { "migrc_release_ns", "ns", ON(MIGRC_RELEASE) },
	[HIST_MIGRC_RELEASE_FOLIOS] = { "migrc_release_folios", "folios", ON(MIGRC_FREED) },
	[HIST_MIGRC_HELD_AGE_MS] = { "migrc_held_age_ms", "ms", ON(MIGRC_FREED) },
	[HIST_MIGRC_WAIT_NS] = { "migrc_wait_ns", "ns", ON(MIGRC_WAIT) },
	[HIST_DIRECT_RECLAIM_NS] = { "direct_reclaim_ns", "ns", ON(DIRECT_RECLAIM) },
	[HIST_MEMCG_RECLAIM_NS] = { "memcg_reclaim_ns", "ns", ON(MEMCG_RECLAIM) },
};

/* Those by class, of a function each. */
static const struct {
	const char *name, *unit;
	enum hist_id first;
	enum probe_id probe;
} by_class[] = {
	{ "tlbbatch_flush_ns", "ns", HIST_TLBBATCH_FLUSH_NS, PROBE_TLBBATCH_FLUSH },
	{ "tlbbatch_flush_cpus", "CPUs", HIST_TLBBATCH_FLUSH_CPUS, PROBE_TLBBATCH_FLUSH },
	{ "mm_flush_ns", "ns", HIST_MM_FLUSH_NS, PROBE_MM_FLUSH },
	{ "mm_flush_cpus", "CPUs", HIST_MM_FLUSH_CPUS, PROBE_MM_FLUSH },
};

const char *hist__name(unsigned int id, char *buf, size_t size)
{
	unsigned int i;

	if (id < NR_SINGLE)
		return single[id].name;
	i = (id - NR_SINGLE) / NR_CLASSES;
	snprintf(buf, size, "%s.%s", by_class[i].name,
		 flush_class__name((enum flush_class)((id - NR_SINGLE) % NR_CLASSES)));
	return buf;
}

const char *hist__unit(unsigned int id)
{
	return id < NR_SINGLE ? single[id].unit : by_class[(id - NR_SINGLE) / NR_CLASSES].unit;
}

static void hist__merge(struct hist *to, const struct hist *from)
{
	size_t i;

	to->total += from->total;
	to->sum += from->sum;
	to->max = from->max > to->max ? from->max : to->max;
	for (i = 0; i < HIST_BINS; i++)
		to->bin[i] += from->bin[i];
}

/* A function's flushes over all classes. */
static int make_function(struct stored_hist *out, size_t i, const struct hist *hists,
			 uint32_t attached)
{
	unsigned int class;

	if (!(attached & 1U << by_class[i].probe))
		return -ENOENT;
	snprintf(out->name, sizeof(out->name), "%s", by_class[i].name);
	out->unit = by_class[i].unit;
	for (class = 0; class < NR_CLASSES; class++)
		hist__merge(&out->hist, &hists[by_class[i].first + class]);
	return 0;
}

/* A class's flushes over both functions; i even: durations, odd: CPUs. */
static int make_class(struct stored_hist *out, size_t i, const struct hist *hists,
		      uint32_t attached)
{
	enum flush_class class = (enum flush_class)(i / 2);
	size_t f;

	if (!(attached & (1U << PROBE_TLBBATCH_FLUSH | 1U << PROBE_MM_FLUSH)) ||
	    !flush_class__is_told(class, attached))
		return -ENOENT;
	snprintf(out->name, sizeof(out->name), "flush_%s.%s", i % 2 ? "cpus" : "ns",
		 flush_class__name(class));
	for (f = i % 2; f < NR(by_class); f += 2) {
		out->unit = by_class[f].unit;
		hist__merge(&out->hist, &hists[by_class[f].first + class]);
	}
	return 0;
}

int stored_hist__make(struct stored_hist *out, size_t i, const struct hist *hists,
		      uint32_t attached)
{
	memset(out, 0, sizeof(*out));
	if (i < NR_SINGLE) {
		if ((attached & single[i].needs) != single[i].needs)
			return -ENOENT;
		snprintf(out->name, sizeof(out->name), "%s", single[i].name);
		out->unit = single[i].unit;
		out->hist = hists[i];
		return 0;
	}
	i -= NR_SINGLE;
	if (i < NR(by_class))
		return make_function(out, i, hists, attached);
	i -= NR(by_class);
	if (i < 2 * NR_CLASSES)
		return make_class(out, i, hists, attached);
	return -ERANGE;
}

static void hist__add_named(struct hist *h, unsigned int named, uint64_t flushes)
{
	unsigned int cpus = named__cpus(named);

	h->bin[loglin_bin(cpus, HIST_SUB_BITS)] += flushes;
	h->sum += cpus * flushes;
	if (flushes && cpus > h->max)
		h->max = cpus;
}

void of_cpu__add_named(const struct of_cpu *cpu, struct hist *hists, struct counters *sum)
{
	static const unsigned int first[NR_FLUSHERS] = {
		[FLUSHER_TLBBATCH] = HIST_TLBBATCH_FLUSH_CPUS,
		[FLUSHER_MM] = HIST_MM_FLUSH_CPUS,
	};
	unsigned int flusher, class, named;

	for (flusher = 0; flusher < NR_FLUSHERS; flusher++) {
		for (class = 0; class < NR_CLASSES; class++) {
			const ev_u64 *flushes = cpu->named[flusher][class];

			for (named = 0; named < NR_NAMED; named++) {
				hist__add_named(&hists[first[flusher] + class], named, flushes[named]);
				sum->flush_targets[flusher][class] +=
					named__others(named) * flushes[named];
			}
		}
	}
}
