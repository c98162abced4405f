/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What BPF programs and user space share: the layout of the maps and of a raw event. Only types of
 * fixed size, so that both compilers agree; every struct is asserted.
 */
#ifndef MIGRC_EVENTS_H
#define MIGRC_EVENTS_H

#include "bpf/loglin.h"

#ifdef __bpf__
typedef __u32 ev_u32;
typedef __u64 ev_u64;
#else
#include <stdint.h>
typedef uint32_t ev_u32;
typedef uint64_t ev_u64;
#endif

/* Probes, in the order in which they are attached. */
enum probe_id {
	PROBE_MIGRATE,		/* tracepoint mm_migrate_pages: what each call moved */
	PROBE_MIGRATE_PAGES,	/* migrate_pages(): how long each call took */
	PROBE_TRY_TO_MIGRATE,
	PROBE_TLBBATCH_FLUSH,	/* arch_tlbbatch_flush() */
	PROBE_TLB_FLUSH,	/* tracepoint tlb_flush */
	PROBE_WP_FAULT,		/* do_wp_page() */
	PROBE_MIGRC_RELEASE,	/* migrc_flush_free_folios(), on a patched kernel */
	NR_PROBES,
};

/* Upper bounds on the kernel's own enums; a value past its bound is counted in the last slot. */
#define NR_MIGRATE_REASONS	16
#define NR_TLB_REASONS		8
#define NR_TRIGGERS		16

/* Sub-bits of every histogram here: its bin's low end for a value is wrong by less than 1/8. */
#define HIST_SUB_BITS		3
#define HIST_BINS		LOGLIN_BINS(HIST_SUB_BITS)

enum hist_id {
	HIST_MIGRATE_PAGES_PER_CALL,
	HIST_MIGRATE_PAGES_NS,
	HIST_TRY_TO_MIGRATE_NS,
	HIST_TLBBATCH_FLUSH_NS,
	HIST_TLBBATCH_FLUSH_CPUS,
	HIST_WP_FAULT_NS,
	HIST_MIGRC_RELEASE_NS,
	NR_HISTS,
};

struct hist {
	ev_u64 total;		/* number of values: the sum of the bins */
	ev_u64 sum;
	ev_u64 max;
	ev_u64 bin[HIST_BINS];
};

/* What user space tells the programs. */
struct config {
	ev_u32 recording;	/* 1 from just before the workload starts until it has ended */
	ev_u32 events_on;	/* submit raw events */
	ev_u32 mask_words;	/* words of a CPU mask that can have a bit set */
	ev_u32 pad;
};

/*
 * Accounting of one probe on one CPU. The first four are written by the entry program alone, the
 * others by the exit (or the only) program: no field has two writers, so none needs an atomic.
 */
struct probe_count {
	ev_u64 entries;		/* calls whose start was noted */
	ev_u64 nested;		/* of these, calls inside another of the same task: not timed */
	ev_u64 maps_full;	/* calls whose start could not be noted */
	ev_u64 mask_error;	/* CPU masks that could not be read: not binned */
	ev_u64 exits;		/* returns that met their start */
	ev_u64 unmatched;	/* returns without a start: the call began before the run */
	ev_u64 clock_backwards;	/* end before start: not binned */
	ev_u64 seen;		/* events: exits, or tracepoint hits */
	ev_u64 submitted;	/* events that entered the ring; 0 where aggregated */
	ev_u64 lost;		/* events that found the ring full */
};

/* All counters of one CPU; the only value of a per-CPU array. */
struct counters {
	struct probe_count probe[NR_PROBES];
	ev_u64 migrate_calls[NR_MIGRATE_REASONS];
	ev_u64 migrate_succeeded[NR_MIGRATE_REASONS];
	ev_u64 migrate_failed[NR_MIGRATE_REASONS];
	ev_u64 tlb_flush[NR_TLB_REASONS];
	ev_u64 release_calls[NR_TRIGGERS];
};

/* A call under way, by (probe << 32 | thread). */
struct call_start {
	ev_u64 t_ns;
	ev_u64 a, b;		/* arguments that the return needs */
	ev_u32 depth;		/* calls of the same task inside this one */
	ev_u32 has_cpus;	/* a is a number of CPUs that could be read */
};

/* A raw event; a..d by kind, which is a probe_id: docs/events.md. */
struct event {
	ev_u64 t_ns;		/* CLOCK_MONOTONIC; of a timed call, at its return */
	ev_u32 cpu;
	ev_u32 tid;
	ev_u32 kind;
	ev_u32 pad;
	ev_u64 a, b, c, d;
};

_Static_assert(sizeof(struct config) == 16, "struct config: no holes");
_Static_assert(sizeof(struct hist) == (3 + 496) * 8, "struct hist: no holes");
_Static_assert(sizeof(struct probe_count) == 10 * 8, "struct probe_count: no holes");
_Static_assert(sizeof(struct counters) == NR_PROBES * 80 + (3 * 16 + 8 + 16) * 8,
	       "struct counters: no holes");
_Static_assert(sizeof(struct call_start) == 32, "struct call_start: no holes");
_Static_assert(sizeof(struct event) == 56, "struct event: no holes");

#endif /* MIGRC_EVENTS_H */
