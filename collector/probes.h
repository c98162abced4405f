/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The probes: found out one by one on which rung each works here (fentry, kprobe-multi, kprobe,
 * tracepoint), by loading and attaching it; what they counted, and whether it adds up.
 */
#ifndef MIGRC_PROBES_H
#define MIGRC_PROBES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/events.h"
#include "collector/probe_specs.h"

struct probe_status {
	const char *name;
	const char *target;	/* function or tracepoint */
	bool core;
	enum rung rung;
	char why[600];		/* rung none, or one below the best: the reason, one line */
	char twins[200];	/* copies and parts of the target that the compiler made; "" none */
	bool partial;		/* some of these are called by others: their calls are not seen */
	struct probe_count count;	/* over all CPUs, after probes__collect() */
	uint64_t in_flight;	/* calls that had not returned by then, counted on their own */
	uint64_t body_ns;	/* run time of its programs; ~0: statistics are off */
	uint64_t body_runs;	/* runs that this is the time of */
	struct { uint64_t ns, runs; } program[2];	/* of this the exit's, or only one's; the entry's */
	uint64_t misses;	/* runs that the kernel skipped: it ran already on that CPU */
};

/* What is attached: the probes; nothing; programs that do nothing, which cost what attaching does. */
enum probes_mode { PROBES_ALL, PROBES_NONE, PROBES_EMPTY };

struct probes_options {
	uint32_t event_every;	/* one of so many raw events of a probe and CPU too; 0: none */
	uint32_t ring_bytes;	/* a power of two and of pages */
	enum by by;		/* split histograms too */
	enum rung best;		/* do not try better rungs than this one */
	enum probes_mode mode;
	bool no_stats;		/* leave the kernel's statistics of run times off */
	bool per_page;		/* also the probes that run for each page */
};

/* One CPU's share where it is of interest: events that were lost. */
struct probe_lost {
	enum probe_id probe;
	unsigned int cpu;
	uint64_t lost;
};

/* A histogram of one comm or tgid. */
struct split_hist {
	struct by_key key;
	struct hist hist;
};

struct probes;

/* Called for each raw event of the ring; a negative errno stops the drain. */
typedef int (*probes_event_fn)(void *ctx, const struct event *e);

/*
 * Load the maps. Prints its error: -EPERM (no right to use BPF), -ENOENT (no BTF), others.
 * The caller frees *out with probes__free().
 */
int probes__open(struct probes **out, const struct probes_options *options);
/* Attach each probe on the best rung that works. Never fails: see the statuses. */
void probes__attach(struct probes *p);
/* Count from now on, or no longer. */
void probes__record(struct probes *p, bool on);
/* Take raw events out of the ring. Number of events or a negative errno. */
int probes__drain(struct probes *p, probes_event_fn fn, void *ctx);
/* Detach all, entries first, so that what has been entered can still be seen to return. */
void probes__detach(struct probes *p);
/* Read run times, counts and calls in flight; may be repeated. 0 or a negative errno. */
int probes__collect(struct probes *p);

const struct probe_status *probes__status(const struct probes *p, enum probe_id id);
/* Bit 1 << probe_id of each probe that is or was attached, by programs that count. */
uint32_t probes__attached(const struct probes *p);
/* After probes__collect(): sums over all CPUs; all histograms in the order of enum hist_id. */
const struct counters *probes__counters(const struct probes *p);
const struct hist *probes__hists(const struct probes *p);
/* After probes__collect(): the split histograms. */
const struct split_hist *probes__split(const struct probes *p, size_t *nr);
/* After probes__collect(): lost events by probe and CPU, those that are not 0. */
const struct probe_lost *probes__lost(const struct probes *p, size_t *nr);

/*
 * Names of a kernel enum's values from 0 on, from the kernel's own types: without prefix, in lower
 * case. Returns their number, at most max; 0 if the kernel has no such enum.
 */
#define ENUM_NAME_SIZE 32
size_t probes__enum_names(const struct probes *p, const char *name, const char *prefix,
			  char (*names)[ENUM_NAME_SIZE], size_t max);

void probes__free(struct probes *p);

#endif /* MIGRC_PROBES_H */
