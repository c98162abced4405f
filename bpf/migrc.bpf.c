// SPDX-License-Identifier: GPL-2.0
/*
 * The probes. Each counts and bins in the kernel, per CPU; where asked for it also submits raw
 * events. A timed function has an entry and an exit program on two rungs (fentry, kprobe) that share
 * their bodies; user space loads the programs of one rung at a time and all of them use the same
 * maps. Where a call is on the stack is its context's address for fentry and fexit, whose context is
 * the same one, and the stack pointer for kprobes.
 */
#include "bpf/kernel_types.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>
#include "bpf/events.h"
#include "bpf/account.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/*
 * For the unit tests, which run the bodies without the events: programs that the kernel can be asked
 * to run, with where the call is on the stack as the last of their arguments. TYPED: the kernel knows
 * what the arguments of an fentry program point to, which may be read without a helper then.
 */
#ifdef BODIES_ONLY
#define AT(kind, target)	"raw_tp"
#define FRAME(ctx)		((ctx)[11])
#define TYPED			false
#else
#define AT(kind, target)	kind target
#define FRAME(ctx)		((__u64)(ctx))
#define TYPED			true
#endif

/* The common exit: bin the duration and pass on duration and argument. */
static __always_inline int call__exit_simple(__u32 id, __u64 stack, __u64 frame, __u32 hist)
{
	struct of_cpu *c = this_cpu();
	struct task_slot *s;
	__u64 ns;

	if (!c)
		return 0;
	s = call__exit(c, id, stack, frame, &ns);
	if (!s)
		return 0;
	hist__add(c, id, hist, ns);
	probe__event(c, id, call__end_ns(s, id, ns), ns, s->call[id].a, 0, 0);
	slot__end(s, id);
	return 0;
}

/*
 * What attaching costs by itself; user space gives them the function to stand at. One pair for each
 * probe that is a function: an object's program has one target.
 */
#define EMPTY(probe) \
SEC(AT("fentry", "")) int empty_entry_##probe(unsigned long long *ctx) { return 0; } \
SEC(AT("fexit", "")) int empty_exit_##probe(unsigned long long *ctx) { return 0; }

EMPTY(migrate_pages)
EMPTY(try_to_migrate)
EMPTY(tlbbatch_flush)
EMPTY(mm_flush)
EMPTY(wp_fault)
EMPTY(munmap)
EMPTY(migrc_release)

/* --- migrate_pages(): duration. Pages come from its tracepoint, which every rung has. --------- */

static __always_inline int migrate_pages__enter(__u64 stack, __u64 frame, __u64 mode, __u64 reason)
{
	struct of_cpu *c = recording_cpu();
	struct task_slot *s;

	if (!c)
		return 0;
	s = call__enter(c, PROBE_MIGRATE_PAGES, stack, frame,
			bounded(reason, NR_MIGRATE_REASONS) | mode << 32, CLASS_MIGRATION);
	if (s) {
		s->flushes = 0;
		s->targets = 0;
		s->pages = 0;
	}
	return 0;
}

/* What it flushed is counted by its tracepoint, which stands behind all that it does. */
static __always_inline int migrate_pages__exit(__u64 stack, __u64 frame)
{
	struct of_cpu *c = this_cpu();
	struct task_slot *s;
	__u64 ns, a;

	if (!c)
		return 0;
	s = call__exit(c, PROBE_MIGRATE_PAGES, stack, frame, &ns);
	if (!s)
		return 0;
	a = s->call[PROBE_MIGRATE_PAGES].a;
	c->n.call_ns[a & (NR_MIGRATE_REASONS - 1)] += ns;
	hist__add(c, PROBE_MIGRATE_PAGES, HIST_MIGRATE_PAGES_NS, ns);
	probe__event(c, PROBE_MIGRATE_PAGES, call__end_ns(s, PROBE_MIGRATE_PAGES, ns), ns,
		     (__u32)a | a >> 32 << 8, s->pages, s->flushes << 32 | (__u32)s->targets);
	slot__end(s, PROBE_MIGRATE_PAGES);
	return 0;
}

SEC(AT("fentry", "/migrate_pages"))
int fentry_migrate_pages(unsigned long long *ctx)
{
	return migrate_pages__enter(FRAME(ctx), FRAME(ctx), ctx[4], ctx[5]);
}

SEC(AT("fexit", "/migrate_pages"))
int fexit_migrate_pages(unsigned long long *ctx)
{
	return migrate_pages__exit(FRAME(ctx), FRAME(ctx));
}

SEC("kprobe/migrate_pages")
int kprobe_migrate_pages(struct pt_regs *ctx)
{
	return migrate_pages__enter(ctx->sp, ctx->sp, ctx->r8, ctx->r9);
}

SEC("kretprobe/migrate_pages")
int kretprobe_migrate_pages(struct pt_regs *ctx)
{
	return migrate_pages__exit(ctx->sp, ctx->sp);
}

SEC(AT("tp_btf", "/mm_migrate_pages_start"))
int tp_migrate_pages_start(unsigned long long *ctx)
{
	return migrate_pages__enter(FRAME(ctx), 0, ctx[0], ctx[1]);
}

SEC(AT("tp_btf", "/mm_migrate_pages"))
int tp_migrate_pages_end(unsigned long long *ctx)
{
	return migrate_pages__exit(FRAME(ctx), 0);
}

/* The timed call whose tracepoint this is, not one inside it, has made all its flushes. */
static __always_inline void migrate__count_call(struct of_cpu *c, const struct task_slot *s,
						__u32 mode, __u64 reason)
{
	const struct call *call = &s->call[PROBE_MIGRATE_PAGES];

	if (!call->t_ns || call->depth)
		return;
	c->n.call_flushes[reason] += s->flushes;
	c->n.call_targets[reason] += s->targets;
	c->n.call_modes[bounded(mode, NR_MIGRATE_MODES)]++;
	hist__add(c, PROBE_MIGRATE, HIST_MIGRATE_FLUSHES_PER_CALL, s->flushes);
	hist__add(c, PROBE_MIGRATE, HIST_MIGRATE_TARGETS_PER_CALL, s->targets);
}

static __always_inline int migrate__count(__u64 stack, __u64 succeeded, __u64 failed, __u32 mode,
					  __u32 reason)
{
	struct of_cpu *c = this_cpu();
	struct task_slot *s;
	__u64 slot;

	if (!c)
		return 0;
	slot = bounded(reason, NR_MIGRATE_REASONS);
	s = slot__find(this_owner(c, stack));
	if (s)
		migrate__count_call(c, s, mode, slot);
	if (!c->config.recording)
		return 0;
	if (s)
		s->pages += succeeded;
	c->n.migrate_calls[slot]++;
	c->n.migrate_succeeded[slot] += succeeded;
	c->n.migrate_failed[slot] += failed;
	hist__add(c, PROBE_MIGRATE, HIST_MIGRATE_PAGES_PER_CALL, succeeded);
	probe__event(c, PROBE_MIGRATE, 0, reason, mode, succeeded, failed);
	return 0;
}

/*
 * (succeeded, failed, thp_succeeded, thp_failed, thp_split, large_folio_split, mode, reason), before
 * 6.6 without large_folio_split. The record that the tracepoint fills tells which.
 */
SEC(AT("tp_btf", "/mm_migrate_pages"))
int tp_migrate(unsigned long long *ctx)
{
	struct trace_event_raw_mm_migrate_pages *record = 0;

	if (bpf_core_field_exists(record->large_folio_split))
		return migrate__count(FRAME(ctx), ctx[0], ctx[1], ctx[6], ctx[7]);
	return migrate__count(FRAME(ctx), ctx[0], ctx[1], ctx[5], ctx[6]);
}

/* --- try_to_migrate() ------------------------------------------------------------------------- */

static __always_inline int try_to_migrate__enter(__u64 frame, __u64 flags)
{
	struct of_cpu *c = recording_cpu();

	if (c)
		call__enter(c, PROBE_TRY_TO_MIGRATE, frame, frame, (__u32)flags, 0);
	return 0;
}

SEC(AT("fentry", "/try_to_migrate"))
int fentry_try_to_migrate(unsigned long long *ctx)
{
	return try_to_migrate__enter(FRAME(ctx), ctx[1]);
}

SEC(AT("fexit", "/try_to_migrate"))
int fexit_try_to_migrate(unsigned long long *ctx)
{
	return call__exit_simple(PROBE_TRY_TO_MIGRATE, FRAME(ctx), FRAME(ctx), HIST_TRY_TO_MIGRATE_NS);
}

SEC("kprobe/try_to_migrate")
int kprobe_try_to_migrate(struct pt_regs *ctx)
{
	return try_to_migrate__enter(ctx->sp, ctx->si);
}

SEC("kretprobe/try_to_migrate")
int kretprobe_try_to_migrate(struct pt_regs *ctx)
{
	return call__exit_simple(PROBE_TRY_TO_MIGRATE, ctx->sp, ctx->sp, HIST_TRY_TO_MIGRATE_NS);
}

/* --- flushes: how long, how many CPUs the mask names, on whose behalf -------------------------- */

static __always_inline __u32 popcount64(__u64 v)
{
	v -= (v >> 1) & 0x5555555555555555ULL;
	v = (v & 0x3333333333333333ULL) + ((v >> 2) & 0x3333333333333333ULL);
	v = (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0fULL;
	return (v * 0x0101010101010101ULL) >> 56;
}

#define MAX_MASK_WORDS	128	/* NR_CPUS=8192 */
#define UNKNOWN		(-1ULL)
#define GOLDEN_RATIO_64	0x61c8864680b583ebULL

/* A mask's word; self: the bit of the CPU at hand, if that is in it. */
static __always_inline __u64 mask__named(__u64 word, __u64 self)
{
	return popcount64(word & ~self) << 1 | !!(word & self);
}

/*
 * The whole mask at an address, of so many words. UNKNOWN where it is not readable. Global, so that the
 * verifier looks at it once and by itself: 6.1 would look at all that follows in a program once for
 * every number of words, and gives up.
 */
__noinline __u64 mask__read(__u64 mask, __u64 words, __u64 self)
{
	__u32 cpu = bpf_get_smp_processor_id(), i;
	__u64 sum = 0, word;

	for (i = 0; i < MAX_MASK_WORDS && i < words; i++) {
		if (bpf_probe_read_kernel(&word, sizeof(word), (void *)(mask + i * sizeof(word))))
			return UNKNOWN;
		sum += mask__named(word, i == cpu / 64 ? self : 0);
	}
	return sum;
}

/*
 * The mask at an offset in what a program's first argument points to. typed: the context of a program
 * whose arguments have types, or NULL. Such a pointer may not be handed to a global function, so that it
 * is read again, as a number.
 */
static __always_inline __u64 mask__read_in(const struct of_cpu *c, const unsigned long long *typed,
					   const void *argument, __u32 offset)
{
	__u64 at = 0;

	if (typed)
		bpf_probe_read_kernel(&at, sizeof(at), typed);
	else
		at = (__u64)argument;
	return mask__read(at + offset, c->config.mask_words, c->self);
}

/* The same by what is known of it: to count bits takes as long as half of a program. */
static __always_inline __u64 mask__named_if_known(struct of_cpu *c, enum flusher flusher, __u64 word)
{
	struct known_mask *known;

	known = &c->known_mask[flusher][word * GOLDEN_RATIO_64 >> (64 - KNOWN_MASKS_BITS)];
	if (unlikely(word != known->word)) {
		known->named = mask__named(word, c->self);
		known->word = word;
	}
	return known->named;
}

/* kswapd has no call that could be seen to begin: it is awake or not. */
static __always_inline bool is_kswapd(void)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();

	return task->comm[0] == 'k' && task->comm[1] == 's' && task->comm[2] == 'w' &&
	       task->comm[3] == 'a' && task->comm[4] == 'p' && task->comm[5] == 'd';
}

static __always_inline __u64 flush__class(__u32 class)
{
	if (class == CLASS_OTHER && is_kswapd())
		class = CLASS_RECLAIM;
	return bounded(class, NR_CLASSES);
}

/* Of more CPUs than are counted by their number, or split by who flushes. */
static __noinline int flush__bin_named(struct of_cpu *c, __u32 id, __u64 class, __u64 named)
{
	enum flusher flusher = id == PROBE_MM_FLUSH ? FLUSHER_MM : FLUSHER_TLBBATCH;
	__u32 first = id == PROBE_MM_FLUSH ? HIST_MM_FLUSH_CPUS : HIST_TLBBATCH_FLUSH_CPUS;

	class = bounded(class, NR_CLASSES);
	if (named < NR_NAMED) {
		split__add_or_count(c, id, first + class, named__cpus(named), 1);
		return 0;
	}
	c->n.flush_targets[flusher][class] += named__others(named);
	hist__add_n(c, id, first, class, named__cpus(named), 1);
	return 0;
}

/* How many CPUs a flush names is known from its start, and counted there: its end has enough to do. */
static __always_inline int flush__enter(struct of_cpu *c, __u32 id, enum flusher flusher, __u64 frame,
					__u64 named)
{
	struct task_slot *s = call__enter(c, id, frame, frame, named, 0);
	__u64 class;

	if (!s)
		return 0;
	s->flushes++;
	if (unlikely(named == UNKNOWN)) {
		c->n.probe[id].mask_error++;
		return 0;
	}
	s->targets += named__others(named);
	class = flush__class(s->class);
	if (likely(named < NR_NAMED))
		c->named[flusher][class][named]++;
	if (unlikely(named >= NR_NAMED || c->config.by))
		flush__bin_named(c, id, class, named);
	return 0;
}

/* hist: of the first class of this function's durations. */
static __always_inline int flush__exit(__u32 id, __u64 frame, __u32 hist)
{
	struct of_cpu *c = this_cpu();
	__u64 ns, named, class;
	struct task_slot *s;

	if (!c)
		return 0;
	s = call__exit(c, id, frame, frame, &ns);
	if (!s)
		return 0;
	class = flush__class(s->class);
	hist__add_n(c, id, hist, class, ns, 1);
	named = s->call[id].a;
	probe__event(c, id, call__end_ns(s, id, ns), ns, named == UNKNOWN ? UNKNOWN : named__cpus(named),
		     class, named == UNKNOWN ? UNKNOWN : named__others(named));
	slot__end(s, id);
	return 0;
}

static __always_inline int tlbbatch_flush__enter(__u64 frame, const unsigned long long *typed,
						 struct arch_tlbflush_unmap_batch *batch)
{
	struct of_cpu *c = recording_cpu();
	__u64 named = UNKNOWN;

	if (!c)
		return 0;
	if (bpf_core_field_exists(batch->cpumask)) {
		if (typed && c->config.mask_words == 1)
			named = mask__named_if_known(c, FLUSHER_TLBBATCH, batch->cpumask.bits[0]);
		else
			named = mask__read_in(c, typed, batch, bpf_core_field_offset(batch->cpumask));
	}
	return flush__enter(c, PROBE_TLBBATCH_FLUSH, FLUSHER_TLBBATCH, frame, named);
}

static __always_inline int tlbbatch_flush__exit(__u64 frame)
{
	return flush__exit(PROBE_TLBBATCH_FLUSH, frame, HIST_TLBBATCH_FLUSH_NS);
}

SEC(AT("fentry", "/arch_tlbbatch_flush"))
int fentry_tlbbatch_flush(unsigned long long *ctx)
{
	return tlbbatch_flush__enter(FRAME(ctx), TYPED ? ctx : 0, (void *)ctx[0]);
}

SEC(AT("fexit", "/arch_tlbbatch_flush"))
int fexit_tlbbatch_flush(unsigned long long *ctx)
{
	return tlbbatch_flush__exit(FRAME(ctx));
}

SEC("kprobe/arch_tlbbatch_flush")
int kprobe_tlbbatch_flush(struct pt_regs *ctx)
{
	return tlbbatch_flush__enter(ctx->sp, 0, (void *)ctx->di);
}

SEC("kretprobe/arch_tlbbatch_flush")
int kretprobe_tlbbatch_flush(struct pt_regs *ctx)
{
	return tlbbatch_flush__exit(ctx->sp);
}

static __always_inline int mm_flush__enter(__u64 frame, const unsigned long long *typed,
					   struct mm_struct *mm)
{
	struct of_cpu *c = recording_cpu();
	__u64 named = UNKNOWN;

	if (!c)
		return 0;
	if (bpf_core_field_exists(mm->cpu_bitmap)) {
		if (typed && c->config.mask_words == 1)
			named = mask__named_if_known(c, FLUSHER_MM, mm->cpu_bitmap[0]);
		else
			named = mask__read_in(c, typed, mm, bpf_core_field_offset(mm->cpu_bitmap));
	}
	return flush__enter(c, PROBE_MM_FLUSH, FLUSHER_MM, frame, named);
}

static __always_inline int mm_flush__exit(__u64 frame)
{
	return flush__exit(PROBE_MM_FLUSH, frame, HIST_MM_FLUSH_NS);
}

SEC(AT("fentry", "/flush_tlb_mm_range"))
int fentry_mm_flush(unsigned long long *ctx)
{
	return mm_flush__enter(FRAME(ctx), TYPED ? ctx : 0, (void *)ctx[0]);
}

SEC(AT("fexit", "/flush_tlb_mm_range"))
int fexit_mm_flush(unsigned long long *ctx)
{
	return mm_flush__exit(FRAME(ctx));
}

SEC("kprobe/flush_tlb_mm_range")
int kprobe_mm_flush(struct pt_regs *ctx)
{
	return mm_flush__enter(ctx->sp, 0, (void *)ctx->di);
}

SEC("kretprobe/flush_tlb_mm_range")
int kretprobe_mm_flush(struct pt_regs *ctx)
{
	return mm_flush__exit(ctx->sp);
}

/* Every TLB flush, by reason: (reason, pages). */
SEC(AT("tp_btf", "/tlb_flush"))
int tp_tlb_flush(unsigned long long *ctx)
{
	__u32 reason = ctx[0];
	__u64 pages = ctx[1];
	struct of_cpu *c = recording_cpu();

	if (!c)
		return 0;
	c->n.tlb_flush[bounded(reason, NR_TLB_REASONS)]++;
	probe__event(c, PROBE_TLB_FLUSH, 0, reason, pages, 0, 0);
	return 0;
}

/* --- do_wp_page(): a write to a read-only PTE; on a patched kernel it may release or wait ----- */

static __always_inline int wp_fault__enter(__u64 frame)
{
	struct of_cpu *c = recording_cpu();
	struct task_slot *s;

	if (!c)
		return 0;
	s = call__enter(c, PROBE_WP_FAULT, frame, frame, 0, CLASS_WRITE_FAULT);
	if (s)
		s->waited_ns = 0;
	return 0;
}

static __always_inline int wp_fault__exit(__u64 frame)
{
	struct of_cpu *c = this_cpu();
	struct task_slot *s;
	__u64 ns;

	if (!c)
		return 0;
	s = call__exit(c, PROBE_WP_FAULT, frame, frame, &ns);
	if (!s)
		return 0;
	hist__add(c, PROBE_WP_FAULT, HIST_WP_FAULT_NS, ns);
	if (s->waited_ns) {
		c->n.wp_waited++;
		hist__add(c, PROBE_WP_FAULT, HIST_WP_FAULT_WAITED_NS, s->waited_ns);
	}
	probe__event(c, PROBE_WP_FAULT, call__end_ns(s, PROBE_WP_FAULT, ns), ns, s->waited_ns, 0, 0);
	slot__end(s, PROBE_WP_FAULT);
	return 0;
}

SEC(AT("fentry", "/do_wp_page"))
int fentry_wp_fault(unsigned long long *ctx)
{
	return wp_fault__enter(FRAME(ctx));
}

SEC(AT("fexit", "/do_wp_page"))
int fexit_wp_fault(unsigned long long *ctx)
{
	return wp_fault__exit(FRAME(ctx));
}

SEC("kprobe/do_wp_page")
int kprobe_wp_fault(struct pt_regs *ctx)
{
	return wp_fault__enter(ctx->sp);
}

SEC("kretprobe/do_wp_page")
int kretprobe_wp_fault(struct pt_regs *ctx)
{
	return wp_fault__exit(ctx->sp);
}

/* --- whose flush it is: munmap and the like, reclaim ------------------------------------------ */

static __always_inline int munmap__enter(__u64 frame)
{
	struct of_cpu *c = recording_cpu();

	if (c)
		call__enter(c, PROBE_MUNMAP, frame, frame, 0, CLASS_MUNMAP);
	return 0;
}

/* Nothing is binned: the time of unmapping is not what is asked here. */
static __always_inline int munmap__exit(__u64 frame)
{
	struct of_cpu *c = this_cpu();
	struct task_slot *s;
	__u64 ns;

	if (!c)
		return 0;
	s = call__exit(c, PROBE_MUNMAP, frame, frame, &ns);
	if (!s)
		return 0;
	probe__event(c, PROBE_MUNMAP, call__end_ns(s, PROBE_MUNMAP, ns), ns, 0, 0, 0);
	slot__end(s, PROBE_MUNMAP);
	return 0;
}

/* User space names the function: what unmaps a range has had several names. */
SEC(AT("fentry", ""))
int fentry_munmap(unsigned long long *ctx)
{
	return munmap__enter(FRAME(ctx));
}

SEC(AT("fexit", ""))
int fexit_munmap(unsigned long long *ctx)
{
	return munmap__exit(FRAME(ctx));
}

SEC("kprobe")
int kprobe_munmap(struct pt_regs *ctx)
{
	return munmap__enter(ctx->sp);
}

SEC("kretprobe")
int kretprobe_munmap(struct pt_regs *ctx)
{
	return munmap__exit(ctx->sp);
}

SEC(AT("tp_btf", "/mm_vmscan_direct_reclaim_begin"))
int tp_direct_reclaim_begin(unsigned long long *ctx)
{
	struct of_cpu *c = recording_cpu();

	if (c)
		call__enter(c, PROBE_DIRECT_RECLAIM, FRAME(ctx), 0, 0, CLASS_ALLOCATION);
	return 0;
}

SEC(AT("tp_btf", "/mm_vmscan_direct_reclaim_end"))
int tp_direct_reclaim_end(unsigned long long *ctx)
{
	return call__exit_simple(PROBE_DIRECT_RECLAIM, FRAME(ctx), 0, HIST_DIRECT_RECLAIM_NS);
}

SEC(AT("tp_btf", "/mm_vmscan_memcg_reclaim_begin"))
int tp_memcg_reclaim_begin(unsigned long long *ctx)
{
	struct of_cpu *c = recording_cpu();

	if (c)
		call__enter(c, PROBE_MEMCG_RECLAIM, FRAME(ctx), 0, 0, CLASS_RECLAIM);
	return 0;
}

SEC(AT("tp_btf", "/mm_vmscan_memcg_reclaim_end"))
int tp_memcg_reclaim_end(unsigned long long *ctx)
{
	return call__exit_simple(PROBE_MEMCG_RECLAIM, FRAME(ctx), 0, HIST_MEMCG_RECLAIM_NS);
}

/* --- migrc_flush_free_folios(trigger): the patch releases what it held ------------------------ */

/* The kernel's numbers; where its types lack the names, those of the posted order. */
#define TRIGGER(name) \
	(bpf_core_enum_value_exists(enum migrc_trigger, name) ? \
	 bpf_core_enum_value(enum migrc_trigger, name) : name)

static __always_inline int migrc_release__enter(__u64 frame, __u32 trigger)
{
	struct of_cpu *c = recording_cpu();
	__u32 class = CLASS_DEFERRAL;

	if (!c)
		return 0;
	if (trigger == TRIGGER(MIGRC_BY_FAULT))
		class = CLASS_WRITE_FAULT;
	else if (trigger == TRIGGER(MIGRC_BY_ALLOC))
		class = CLASS_ALLOCATION;
	call__enter(c, PROBE_MIGRC_RELEASE, frame, frame, trigger, class);
	return 0;
}

static __always_inline int migrc_release__exit(__u64 frame)
{
	struct of_cpu *c = this_cpu();
	struct task_slot *s;
	__u64 ns, trigger;

	if (!c)
		return 0;
	s = call__exit(c, PROBE_MIGRC_RELEASE, frame, frame, &ns);
	if (!s)
		return 0;
	trigger = s->call[PROBE_MIGRC_RELEASE].a;
	if (!c->config.wait_traced)
		s->waited_ns += ns;
	c->n.release_calls[bounded(trigger, NR_TRIGGERS)]++;
	hist__add(c, PROBE_MIGRC_RELEASE, HIST_MIGRC_RELEASE_NS, ns);
	probe__event(c, PROBE_MIGRC_RELEASE, call__end_ns(s, PROBE_MIGRC_RELEASE, ns), ns, trigger, 0, 0);
	slot__end(s, PROBE_MIGRC_RELEASE);
	return 0;
}

SEC(AT("fentry", "/migrc_flush_free_folios"))
int fentry_migrc_release(unsigned long long *ctx)
{
	return migrc_release__enter(FRAME(ctx), ctx[0]);
}

SEC(AT("fexit", "/migrc_flush_free_folios"))
int fexit_migrc_release(unsigned long long *ctx)
{
	return migrc_release__exit(FRAME(ctx));
}

SEC("kprobe/migrc_flush_free_folios")
int kprobe_migrc_release(struct pt_regs *ctx)
{
	return migrc_release__enter(ctx->sp, ctx->di);
}

SEC("kretprobe/migrc_flush_free_folios")
int kretprobe_migrc_release(struct pt_regs *ctx)
{
	return migrc_release__exit(ctx->sp);
}

/* --- the patch's tracepoints ------------------------------------------------------------------ */

/* (pfn, nid, gen) */
SEC(AT("tp_btf", "/migrc_defer"))
int tp_migrc_defer(unsigned long long *ctx)
{
	struct of_cpu *c = recording_cpu();

	if (c)
		probe__event(c, PROBE_MIGRC_DEFER, 0, ctx[0], (__u32)ctx[1], ctx[2], 0);
	return 0;
}

/* (pfn, nid, why) */
SEC(AT("tp_btf", "/migrc_refuse"))
int tp_migrc_refuse(unsigned long long *ctx)
{
	__u32 why = ctx[2];
	struct of_cpu *c = recording_cpu();

	if (!c)
		return 0;
	c->n.refused[bounded(why, NR_REFUSALS)]++;
	probe__event(c, PROBE_MIGRC_REFUSE, 0, ctx[0], (__u32)ctx[1], why, 0);
	return 0;
}

/* (trigger, folios, cpus, age_ms): what a release has freed; the age is that of the oldest folio */
SEC(AT("tp_btf", "/migrc_release"))
int tp_migrc_freed(unsigned long long *ctx)
{
	__u32 trigger = ctx[0], cpus = ctx[2], age_ms = ctx[3];
	__u64 folios = ctx[1];
	struct of_cpu *c = recording_cpu();

	if (!c)
		return 0;
	c->n.freed[bounded(trigger, NR_TRIGGERS)] += folios;
	hist__add(c, PROBE_MIGRC_FREED, HIST_MIGRC_RELEASE_FOLIOS, folios);
	hist__add_n(c, PROBE_MIGRC_FREED, HIST_MIGRC_HELD_AGE_MS, 0, age_ms, folios);
	probe__event(c, PROBE_MIGRC_FREED, 0, trigger, folios, cpus, age_ms);
	return 0;
}

/* (trigger, gen, ns): a writer waited */
SEC(AT("tp_btf", "/migrc_wait"))
int tp_migrc_wait(unsigned long long *ctx)
{
	__u32 trigger = ctx[0];
	__u64 ns = ctx[2];
	struct task_slot *s;
	struct of_cpu *c = recording_cpu();

	if (!c)
		return 0;
	s = slot__find(this_owner(c, FRAME(ctx)));
	if (s)
		s->waited_ns += ns;
	c->n.waits[bounded(trigger, NR_TRIGGERS)]++;
	hist__add(c, PROBE_MIGRC_WAIT, HIST_MIGRC_WAIT_NS, ns);
	probe__event(c, PROBE_MIGRC_WAIT, 0, trigger, ctx[1], ns, 0);
	return 0;
}
