/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The probes as data: where they attach, by which programs, and what they measure. */
#ifndef MIGRC_PROBE_SPECS_H
#define MIGRC_PROBE_SPECS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/events.h"

/* Ways to attach, best first. */
enum rung { RUNG_FENTRY, RUNG_KPROBE_MULTI, RUNG_KPROBE, RUNG_TRACEPOINT, RUNG_NONE };

#define MAX_RUNGS	4
#define MAX_TARGETS	4

/* A way to attach a probe. The exit is attached first: what has been entered is seen to return. */
struct rung_spec {
	enum rung rung;
	const char *exit_prog;	/* NULL: no further rung */
	const char *entry_prog;	/* NULL: one program does */
};

enum core_rule {
	CORE,		/* a run without it is incomplete */
	CORE_OF_PATCH,	/* on kernels that have it, which are patched ones */
	NOT_CORE,
	PER_PAGE,	/* only on request, as it runs for each page; then as CORE */
};

struct probe_spec {
	const char *name;
	bool is_function;		/* else the target is a tracepoint */
	enum core_rule core;
	const char *targets[MAX_TARGETS];	/* the first one that the kernel has; by age, newest first */
	struct rung_spec rungs[MAX_RUNGS];	/* best first */
};

extern const struct probe_spec probe_specs[NR_PROBES];

const char *rung__name(enum rung rung);
/* enum rung, or -EINVAL. */
int rung__parse(const char *name);
const char *flush_class__name(enum flush_class class);

/* Name and unit of one of the programs' own histograms. */
const char *hist__name(unsigned int id, char *buf, size_t size);
const char *hist__unit(unsigned int id);

/* A histogram as it is stored: one of the programs' own, or the sum of several of these. */
struct stored_hist {
	char name[48];
	const char *unit;
	struct hist hist;
};

/*
 * The i-th histogram to store, from all that the programs filled; attached has bit 1 << probe_id for
 * each probe that is. 0; -ENOENT if what it needs is not attached; -ERANGE: i is one too many.
 */
int stored_hist__make(struct stored_hist *out, size_t i, const struct hist *hists,
		      uint32_t attached);

/*
 * Add the flushes that one CPU has counted by the number of CPUs they named to the histograms of those
 * numbers (their totals, as all of these, are set when all CPUs are in) and to the targets.
 */
void of_cpu__add_named(const struct of_cpu *cpu, struct hist *hists, struct counters *sum);

/* Can a flush be of this class, as far as the probes that find it out are attached? */
bool flush_class__is_told(enum flush_class class, uint32_t attached);

#endif /* MIGRC_PROBE_SPECS_H */
