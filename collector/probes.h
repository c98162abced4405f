/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The probes: found out one by one on which rung each works here (fentry, kprobe, tracepoint), by
 * loading and attaching it; what they counted, and whether it adds up.
 */
#ifndef MIGRC_PROBES_H
#define MIGRC_PROBES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/events.h"

enum rung { RUNG_FENTRY, RUNG_KPROBE, RUNG_TRACEPOINT, RUNG_NONE };

struct probe_status {
	const char *name;
	const char *target;	/* function or tracepoint */
	bool core;
	enum rung rung;
	char why[400];		/* rung none, or one below the best: the reason, one line */
	struct probe_count count;	/* over all CPUs, after probes__collect() */
	uint64_t in_flight;	/* calls that had not returned by then, counted on their own */
	uint64_t body_ns;	/* run time of its programs; ~0: statistics are off */
	uint64_t misses;	/* runs that the kernel skipped: it ran already on that CPU */
};

struct probes_options {
	bool events;		/* raw events too */
	uint32_t ring_bytes;	/* a power of two and of pages */
};

/* One CPU's share where it is of interest: events that were lost. */
struct probe_lost {
	enum probe_id probe;
	unsigned int cpu;
	uint64_t lost;
};

struct probes;

/* Called for each raw event of the ring; a negative errno stops the drain. */
typedef int (*probes_event_fn)(void *ctx, const struct event *e);

const char *rung__name(enum rung rung);
const char *hist__name(enum hist_id id);
const char *hist__unit(enum hist_id id);

/*
 * Load the maps. Prints its error: -EPERM (no right to use BPF), -ENOENT (no BTF), others.
 * The caller frees *out with probes__free().
 */
int probes__open(struct probes **out, const struct probes_options *options);
/* Attach each probe on the best rung that works. Never fails: see the statuses. */
void probes__attach(struct probes *p);
/* Count from now on, or no longer. 0 or a negative errno. */
int probes__record(struct probes *p, bool on);
/* Take raw events out of the ring. Number of events or a negative errno. */
int probes__drain(struct probes *p, probes_event_fn fn, void *ctx);
/* Detach all, entries first, so that what has been entered can still be seen to return. */
void probes__detach(struct probes *p);
/* Read run times, counts and calls in flight; may be repeated. 0 or a negative errno. */
int probes__collect(struct probes *p);

const struct probe_status *probes__status(const struct probes *p, enum probe_id id);
/* After probes__collect(): sums over all CPUs. */
const struct counters *probes__counters(const struct probes *p);
const struct hist *probes__hist(const struct probes *p, enum hist_id id);
/* After probes__collect(): lost events by probe and CPU, those that are not 0. */
const struct probe_lost *probes__lost(const struct probes *p, size_t *nr);

void probes__free(struct probes *p);

#endif /* MIGRC_PROBES_H */
