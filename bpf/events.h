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

/* Probes, in the order in which they are attached; the number is also the kind of a raw event. */
enum probe_id {
	PROBE_MIGRATE,		/* tracepoint mm_migrate_pages: what each call moved */
	PROBE_MIGRATE_PAGES,	/* migrate_pages(): how long each call took, and what it flushed */
	PROBE_TRY_TO_MIGRATE,
	PROBE_TLBBATCH_FLUSH,	/* arch_tlbbatch_flush() */
	PROBE_TLB_FLUSH,	/* tracepoint tlb_flush */
	PROBE_WP_FAULT,		/* do_wp_page() */
	PROBE_MIGRC_RELEASE,	/* migrc_flush_free_folios(), on a patched kernel */
	PROBE_MM_FLUSH,		/* flush_tlb_mm_range() */
	PROBE_MUNMAP,		/* do_vmi_align_munmap() or its forerunners: whose flush it is */
	PROBE_DIRECT_RECLAIM,	/* tracepoints mm_vmscan_direct_reclaim_*: an allocation waits */
	PROBE_MEMCG_RECLAIM,	/* tracepoints mm_vmscan_memcg_reclaim_* */
	PROBE_MIGRC_DEFER,	/* tracepoints of the patch */
	PROBE_MIGRC_REFUSE,
	PROBE_MIGRC_FREED,	/* its migrc_release: what a release freed, and how old it was */
	PROBE_MIGRC_WAIT,
	NR_PROBES,
};

/* On whose behalf a TLB is flushed: the innermost of these that the task is in. */
enum flush_class {
	CLASS_OTHER,
	CLASS_MIGRATION,
	CLASS_RECLAIM,		/* kswapd, or a limit of a cgroup */
	CLASS_ALLOCATION,	/* direct reclaim, or the patch's release for an allocation */
	CLASS_WRITE_FAULT,
	CLASS_MUNMAP,
	CLASS_DEFERRAL,		/* the patch's releases by timer, cap, drain and write(2) */
	NR_CLASSES,
};

/* Upper bounds on the kernel's own enums; a value past its bound is counted in the last slot. */
#define NR_MIGRATE_REASONS	16
#define NR_MIGRATE_MODES	4
#define NR_TLB_REASONS		8
#define NR_TRIGGERS		16
#define NR_REFUSALS		16

/* Sub-bits of every histogram here: its bin's low end for a value is wrong by less than 1/8. */
#define HIST_SUB_BITS		3
#define HIST_BINS		LOGLIN_BINS(HIST_SUB_BITS)

/* Flushes have one histogram by function and class each: no two programs write the same one. */
enum hist_id {
	HIST_MIGRATE_PAGES_PER_CALL,
	HIST_MIGRATE_PAGES_NS,
	HIST_MIGRATE_FLUSHES_PER_CALL,
	HIST_MIGRATE_TARGETS_PER_CALL,
	HIST_TRY_TO_MIGRATE_NS,
	HIST_WP_FAULT_NS,
	HIST_WP_FAULT_WAITED_NS,
	HIST_MIGRC_RELEASE_NS,
	HIST_MIGRC_RELEASE_FOLIOS,
	HIST_MIGRC_HELD_AGE_MS,
	HIST_MIGRC_WAIT_NS,
	HIST_DIRECT_RECLAIM_NS,
	HIST_MEMCG_RECLAIM_NS,
	HIST_TLBBATCH_FLUSH_NS,
	HIST_TLBBATCH_FLUSH_CPUS = HIST_TLBBATCH_FLUSH_NS + NR_CLASSES,
	HIST_MM_FLUSH_NS = HIST_TLBBATCH_FLUSH_CPUS + NR_CLASSES,
	HIST_MM_FLUSH_CPUS = HIST_MM_FLUSH_NS + NR_CLASSES,
	NR_HISTS = HIST_MM_FLUSH_CPUS + NR_CLASSES,
};

struct hist {
	ev_u64 total;		/* number of values: the sum of the bins; not kept by CPU */
	ev_u64 sum;
	ev_u64 max;
	ev_u64 bin[HIST_BINS];
};

/* By what histograms are split, beside being kept as a whole. */
enum by { BY_NONE, BY_COMM, BY_TGID };

/* Key of a split histogram. */
struct by_key {
	char who[16];		/* comm, or the tgid as a number in its first four bytes */
	ev_u32 hist;
	ev_u32 pad;
};

/* What user space tells the programs. */
struct config {
	ev_u32 recording;	/* 1 from just before the workload starts until it has ended */
	ev_u32 event_every;	/* submit one of so many raw events of a probe and CPU; 0: none */
	ev_u32 mask_words;	/* words of a CPU mask that can have a bit set */
	ev_u32 by;
	ev_u32 wait_traced;	/* the tracepoint migrc_wait tells how long a writer waited */
	ev_u32 stack_mask;	/* of a stack's address / 2^STACK_SHIFT: the bits that tell tasks apart */
};

#define STACK_SHIFT	14	/* kernel stacks have so many bits, or more */

/*
 * Accounting of one probe on one CPU. The first six are written by the entry program alone, the
 * others by the exit (or the only) program: no field has two writers, so none needs an atomic.
 */
struct probe_count {
	ev_u64 entries;		/* calls whose start was noted */
	ev_u64 nested;		/* of these, calls inside another of the same task: not timed */
	ev_u64 maps_full;	/* calls whose start could not be noted */
	ev_u64 mask_error;	/* CPU masks that could not be read: not binned */
	ev_u64 no_exit;		/* noted starts whose return was never seen, found at the next start */
	ev_u64 entry_pad;
	ev_u64 exits;		/* returns that met their start; in the maps without those seen */
	ev_u64 unmatched;	/* returns without a start: the call began before the run */
	ev_u64 no_exit_late;	/* as no_exit, found at the return of another call */
	ev_u64 clock_backwards;	/* end before start: not binned */
	ev_u64 by_full;		/* values that found no room in the split histograms */
	ev_u64 seen;		/* events: exits, or tracepoint hits */
	ev_u64 submitted;	/* events that entered the ring; 0 where aggregated */
	ev_u64 skipped;		/* events left out by sampling */
	ev_u64 lost;		/* events that found the ring full */
	ev_u64 exit_pad;
};

/*
 * The CPUs that a flush names, as one number: twice those beside the one at hand, and one more if that
 * is named, too. Of two masks without a CPU in common the sum is that of both.
 */
#define named__others(named)	((named) >> 1)
#define named__cpus(named)	(((named) >> 1) + ((named) & 1))
/* Below this, which is of all masks of one word, flushes are counted by it and binned by user space. */
#define NR_NAMED		128

/* The two functions that flush. */
enum flusher { FLUSHER_TLBBATCH, FLUSHER_MM, NR_FLUSHERS };

/* All counters of one CPU. */
struct counters {
	struct probe_count probe[NR_PROBES];
	ev_u64 migrate_calls[NR_MIGRATE_REASONS];
	ev_u64 migrate_succeeded[NR_MIGRATE_REASONS];
	ev_u64 migrate_failed[NR_MIGRATE_REASONS];
	ev_u64 call_ns[NR_MIGRATE_REASONS];	/* of migrate_pages(), timed calls */
	ev_u64 call_flushes[NR_MIGRATE_REASONS];
	ev_u64 call_targets[NR_MIGRATE_REASONS];
	ev_u64 call_modes[NR_MIGRATE_MODES];
	ev_u64 tlb_flush[NR_TLB_REASONS];
	ev_u64 flush_targets[NR_FLUSHERS][NR_CLASSES];	/* CPUs named beside the flushing one; in
							 * the maps only by NR_NAMED and more */
	ev_u64 wp_waited;			/* write faults that waited for a release */
	ev_u64 release_calls[NR_TRIGGERS];
	ev_u64 freed[NR_TRIGGERS];		/* folios */
	ev_u64 waits[NR_TRIGGERS];
	ev_u64 refused[NR_REFUSALS];
};

#define SMALL_VALUES	256	/* values whose bins are in a table */

/* A mask of one word, and what it came to: the same few return again and again. */
#define KNOWN_MASKS_BITS	4
struct known_mask {
	ev_u64 word;
	ev_u64 named;
};

/* All that one CPU has of its own: no two share a cache line. */
struct of_cpu {
	struct config config;
	ev_u64 self;				/* its bit in the mask's word that it is in */
	unsigned char bin[SMALL_VALUES];	/* loglin_bin() of its index */
	struct known_mask known_mask[NR_FLUSHERS][1 << KNOWN_MASKS_BITS];	/* by hash */
	ev_u64 named[NR_FLUSHERS][NR_CLASSES][NR_NAMED];	/* flushes that named so many */
	struct counters n;
	struct hist hist[NR_HISTS];
} __attribute__((aligned(64)));

/* A call under way. */
struct call {
	ev_u64 t_ns;		/* its start; 0: none */
	ev_u64 frame;		/* where on the stack; 0: not known; + 1 if others are inside it */
	ev_u64 a;		/* an argument that the return needs */
	ev_u32 depth;		/* calls of the same function by the same task inside it */
	ev_u32 outer_class;	/* the task's class before it */
};

/* What a task is in the midst of. Owned by one task at a time, which alone touches the rest. */
struct task_slot {
	ev_u32 owner;		/* where its stack is, + 1; 0: free */
	ev_u32 active;		/* probes with a call under way */
	ev_u32 class;		/* enum flush_class, innermost */
	ev_u32 place;		/* which of the owner's SLOT_TRIES places this is */
	ev_u32 gone_on;		/* owners that have this as their first place and had to go on */
	ev_u32 pad;
	ev_u64 flushes;		/* of the migrate_pages() call under way, as the next two */
	ev_u64 targets;
	ev_u64 pages;
	ev_u64 waited_ns;	/* of the write fault under way */
	struct call call[NR_PROBES];
};

#define NR_SLOTS	8192	/* a power of two */
#define SLOT_TRIES	4	/* slots that a task may have, from its hash on */

/* A raw event; a..d by kind, which is a probe_id: docs/events.md. */
struct event {
	ev_u64 t_ns;		/* CLOCK_MONOTONIC; of a timed call, at its return */
	ev_u32 cpu;
	ev_u32 tid;
	ev_u32 kind;
	ev_u32 pad;
	ev_u64 a, b, c, d;
};

_Static_assert(!(NR_MIGRATE_REASONS & (NR_MIGRATE_REASONS - 1)), "programs mask by it");
_Static_assert(sizeof(struct config) == 24, "struct config: no holes");
_Static_assert(sizeof(struct hist) == (3 + 496) * 8, "struct hist: no holes");
_Static_assert(sizeof(struct by_key) == 24, "struct by_key: no holes");
_Static_assert(sizeof(struct probe_count) == 16 * 8, "struct probe_count: no holes");
_Static_assert(sizeof(struct counters) == NR_PROBES * 128 + (6 * 16 + 4 + 8 + 14 + 1 + 4 * 16) * 8,
	       "struct counters: no holes");
_Static_assert(sizeof(struct of_cpu) % 64 == 0, "struct of_cpu: whole cache lines");
_Static_assert(sizeof(struct call) == 32, "struct call: no holes");
_Static_assert(sizeof(struct task_slot) == 56 + NR_PROBES * 32, "struct task_slot: no holes");
_Static_assert(sizeof(struct event) == 56, "struct event: no holes");

#endif /* MIGRC_EVENTS_H */
