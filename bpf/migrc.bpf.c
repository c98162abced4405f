// SPDX-License-Identifier: GPL-2.0
/*
 * The probes. Each counts and bins in the kernel, per CPU; with events_on it also submits one raw
 * event per observation. A timed function has an entry and an exit program on two rungs (fentry,
 * kprobe) that share their bodies; user space loads the programs of one rung at a time and all of
 * them use the same maps.
 *
 * Two programs never write the same field, and the kernel does not run a program inside itself on
 * one CPU (it skips and counts that: recursion_misses, which user space reads), so plain additions
 * to per-CPU values lose nothing.
 */
#include "bpf/kernel_types.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>
#include "bpf/events.h"

char LICENSE[] SEC("license") = "GPL";

/*
 * No global variables: libbpf asks whether the kernel has them by loading a socket filter, which a
 * kernel without CONFIG_NET refuses. An array's only value does as well; its look-up is inlined.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct config);
} config SEC(".maps");

#define MAX_MASK_WORDS	128	/* NR_CPUS=8192 */

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct counters);
} counters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, NR_HISTS);
	__type(key, __u32);
	__type(value, struct hist);
} hists SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64);
	__type(value, struct call_start);
} calls SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);	/* user space sets the size where events are wanted */
} ring SEC(".maps");

static __always_inline const struct config *get_config(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&config, &zero);
}

static __always_inline bool recording(void)
{
	const struct config *cfg = get_config();

	return cfg && cfg->recording;
}

static __always_inline struct counters *this_counters(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&counters, &zero);
}

static __always_inline void hist__add(__u32 id, __u64 value)
{
	struct hist *h = bpf_map_lookup_elem(&hists, &id);
	__u64 bin;

	if (!h)
		return;
	bin = loglin_bin(value, HIST_SUB_BITS);
	/* One register for the check and for the use, or the verifier does not connect them. */
	asm volatile("" : "+r"(bin));
	if (bin >= HIST_BINS)
		return;
	h->bin[bin]++;
	h->total++;
	h->sum += value;
	if (value > h->max)
		h->max = value;
}

/* One event seen by probe id: count it and, where asked for, submit it. No wake-up: it would be an
 * IPI on the CPU at hand, in the midst of what is being counted. */
static __always_inline void probe__event(struct counters *c, __u32 id, __u64 t_ns, __u64 a,
					 __u64 b, __u64 d_c, __u64 d_d)
{
	const struct config *cfg = get_config();
	struct probe_count *p = &c->probe[id];
	struct event *e;

	p->seen++;
	if (!cfg || !cfg->events_on)
		return;
	e = bpf_ringbuf_reserve(&ring, sizeof(*e), 0);
	if (!e) {
		p->lost++;
		return;
	}
	e->t_ns = t_ns;
	e->cpu = bpf_get_smp_processor_id();
	e->tid = (__u32)bpf_get_current_pid_tgid();
	e->kind = id;
	e->pad = 0;
	e->a = a;
	e->b = b;
	e->c = d_c;
	e->d = d_d;
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
	p->submitted++;
}

static __always_inline __u64 call_key(__u32 id)
{
	return ((__u64)id << 32) | (__u32)bpf_get_current_pid_tgid();
}

/*
 * Note the start of a call. A call of the same task inside another (migrate_pages() whose target's
 * allocation reclaims by demotion) is counted and not timed: its time is part of the outer one's.
 */
static __always_inline void call__enter(__u32 id, __u64 a, __u64 b, __u32 has_cpus)
{
	struct call_start start = { .a = a, .b = b, .has_cpus = has_cpus };
	struct counters *c = this_counters();
	struct call_start *outer;
	__u64 key = call_key(id);

	if (!c)
		return;
	outer = bpf_map_lookup_elem(&calls, &key);
	if (outer) {
		outer->depth++;
		c->probe[id].nested++;
		c->probe[id].entries++;
		return;
	}
	start.t_ns = bpf_ktime_get_ns();
	if (bpf_map_update_elem(&calls, &key, &start, BPF_NOEXIST))
		c->probe[id].maps_full++;
	else
		c->probe[id].entries++;
}

/*
 * End of a call: true, with its duration and arguments in *done, if it is to be binned. Returns are
 * matched after the run has ended too, so that what is left in the map is what is still in flight.
 */
static __always_inline bool call__exit(__u32 id, struct counters *c, struct call_start *done,
				       __u64 *ns)
{
	__u64 now = bpf_ktime_get_ns();
	__u64 key = call_key(id);
	struct call_start *start = bpf_map_lookup_elem(&calls, &key);

	if (!start) {
		if (recording())
			c->probe[id].unmatched++;
		return false;
	}
	c->probe[id].exits++;
	if (start->depth) {
		start->depth--;
		return false;
	}
	*done = *start;
	bpf_map_delete_elem(&calls, &key);
	if (now < done->t_ns) {
		c->probe[id].clock_backwards++;
		return false;
	}
	*ns = now - done->t_ns;
	done->t_ns = now;
	return true;
}

/* The common exit: bin the duration and pass on duration and arguments. */
static __always_inline int call__exit_simple(__u32 id, __u32 hist)
{
	struct counters *c = this_counters();
	struct call_start done;
	__u64 ns;

	if (!c || !call__exit(id, c, &done, &ns))
		return 0;
	hist__add(hist, ns);
	probe__event(c, id, done.t_ns, ns, done.a, done.b, 0);
	return 0;
}

/* --- migrate_pages(): duration. Counts come from its tracepoint, which every rung has. -------- */

static __always_inline int migrate_pages__enter(__u64 mode, __u64 reason)
{
	if (recording())
		call__enter(PROBE_MIGRATE_PAGES, (__u32)reason, (__u32)mode, 0);
	return 0;
}

static __always_inline int migrate_pages__exit(void)
{
	return call__exit_simple(PROBE_MIGRATE_PAGES, HIST_MIGRATE_PAGES_NS);
}

SEC("fentry/migrate_pages")
int fentry_migrate_pages(unsigned long long *ctx)
{
	return migrate_pages__enter(ctx[4], ctx[5]);
}

SEC("fexit/migrate_pages")
int fexit_migrate_pages(unsigned long long *ctx)
{
	return migrate_pages__exit();
}

SEC("kprobe/migrate_pages")
int kprobe_migrate_pages(struct pt_regs *ctx)
{
	return migrate_pages__enter(ctx->r8, ctx->r9);
}

SEC("kretprobe/migrate_pages")
int kretprobe_migrate_pages(struct pt_regs *ctx)
{
	return migrate_pages__exit();
}

SEC("tp_btf/mm_migrate_pages_start")
int tp_migrate_pages_start(unsigned long long *ctx)
{
	return migrate_pages__enter(ctx[0], ctx[1]);
}

SEC("tp_btf/mm_migrate_pages")
int tp_migrate_pages_end(unsigned long long *ctx)
{
	return migrate_pages__exit();
}

/* (succeeded, failed, thp_succeeded, thp_failed, thp_split, large_folio_split, mode, reason) */
SEC("tp_btf/mm_migrate_pages")
int tp_migrate(unsigned long long *ctx)
{
	__u64 succeeded = ctx[0];
	__u64 failed = ctx[1];
	__u32 mode = ctx[6];
	__u32 reason = ctx[7];
	struct counters *c;
	__u32 slot;

	if (!recording())
		return 0;
	c = this_counters();
	if (!c)
		return 0;
	slot = reason < NR_MIGRATE_REASONS ? reason : NR_MIGRATE_REASONS - 1;
	c->migrate_calls[slot]++;
	c->migrate_succeeded[slot] += succeeded;
	c->migrate_failed[slot] += failed;
	hist__add(HIST_MIGRATE_PAGES_PER_CALL, succeeded);
	probe__event(c, PROBE_MIGRATE, bpf_ktime_get_ns(), reason, mode, succeeded, failed);
	return 0;
}

/* --- try_to_migrate() ------------------------------------------------------------------------- */

static __always_inline int try_to_migrate__enter(__u64 flags)
{
	if (recording())
		call__enter(PROBE_TRY_TO_MIGRATE, (__u32)flags, 0, 0);
	return 0;
}

SEC("fentry/try_to_migrate")
int fentry_try_to_migrate(unsigned long long *ctx)
{
	return try_to_migrate__enter(ctx[1]);
}

SEC("fexit/try_to_migrate")
int fexit_try_to_migrate(unsigned long long *ctx)
{
	return call__exit_simple(PROBE_TRY_TO_MIGRATE, HIST_TRY_TO_MIGRATE_NS);
}

SEC("kprobe/try_to_migrate")
int kprobe_try_to_migrate(struct pt_regs *ctx)
{
	return try_to_migrate__enter(ctx->si);
}

SEC("kretprobe/try_to_migrate")
int kretprobe_try_to_migrate(struct pt_regs *ctx)
{
	return call__exit_simple(PROBE_TRY_TO_MIGRATE, HIST_TRY_TO_MIGRATE_NS);
}

/* --- arch_tlbbatch_flush(): how long, and how many CPUs its mask names ------------------------ */

static __always_inline __u32 popcount64(__u64 v)
{
	v -= (v >> 1) & 0x5555555555555555ULL;
	v = (v & 0x3333333333333333ULL) + ((v >> 2) & 0x3333333333333333ULL);
	v = (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0fULL;
	return (v * 0x0101010101010101ULL) >> 56;
}

/* Number of CPUs in the batch's mask, or -1 where it cannot be told. */
static __always_inline int batch__nr_cpus(struct arch_tlbflush_unmap_batch *batch)
{
	const struct config *cfg = get_config();
	const char *mask;
	__u32 i, n = 0;
	__u64 word;

	if (!cfg || !bpf_core_field_exists(batch->cpumask))
		return -1;
	mask = (const char *)__builtin_preserve_access_index(&batch->cpumask);
	for (i = 0; i < MAX_MASK_WORDS && i < cfg->mask_words; i++) {
		if (bpf_probe_read_kernel(&word, sizeof(word), mask + i * sizeof(word)))
			return -1;
		n += popcount64(word);
	}
	return n;
}

static __always_inline int tlbbatch_flush__enter(struct arch_tlbflush_unmap_batch *batch)
{
	struct counters *c;
	int cpus;

	if (!recording())
		return 0;
	cpus = batch__nr_cpus(batch);
	if (cpus < 0) {
		c = this_counters();
		if (c)
			c->probe[PROBE_TLBBATCH_FLUSH].mask_error++;
	}
	call__enter(PROBE_TLBBATCH_FLUSH, cpus < 0 ? 0 : cpus, 0, cpus >= 0);
	return 0;
}

static __always_inline int tlbbatch_flush__exit(void)
{
	struct counters *c = this_counters();
	struct call_start done;
	__u64 ns;

	if (!c || !call__exit(PROBE_TLBBATCH_FLUSH, c, &done, &ns))
		return 0;
	hist__add(HIST_TLBBATCH_FLUSH_NS, ns);
	if (done.has_cpus)
		hist__add(HIST_TLBBATCH_FLUSH_CPUS, done.a);
	probe__event(c, PROBE_TLBBATCH_FLUSH, done.t_ns, ns, done.has_cpus ? done.a : -1ULL, 0, 0);
	return 0;
}

SEC("fentry/arch_tlbbatch_flush")
int fentry_tlbbatch_flush(unsigned long long *ctx)
{
	return tlbbatch_flush__enter((void *)ctx[0]);
}

SEC("fexit/arch_tlbbatch_flush")
int fexit_tlbbatch_flush(unsigned long long *ctx)
{
	return tlbbatch_flush__exit();
}

SEC("kprobe/arch_tlbbatch_flush")
int kprobe_tlbbatch_flush(struct pt_regs *ctx)
{
	return tlbbatch_flush__enter((void *)ctx->di);
}

SEC("kretprobe/arch_tlbbatch_flush")
int kretprobe_tlbbatch_flush(struct pt_regs *ctx)
{
	return tlbbatch_flush__exit();
}

/* --- every TLB flush, by reason: (reason, pages) ---------------------------------------------- */

SEC("tp_btf/tlb_flush")
int tp_tlb_flush(unsigned long long *ctx)
{
	__u32 reason = ctx[0];
	__u64 pages = ctx[1];
	struct counters *c;

	if (!recording())
		return 0;
	c = this_counters();
	if (!c)
		return 0;
	c->tlb_flush[reason < NR_TLB_REASONS ? reason : NR_TLB_REASONS - 1]++;
	probe__event(c, PROBE_TLB_FLUSH, bpf_ktime_get_ns(), reason, pages, 0, 0);
	return 0;
}

/* --- do_wp_page(): a write to a read-only PTE; on a patched kernel it may release or wait ----- */

static __always_inline int wp_fault__enter(void)
{
	if (recording())
		call__enter(PROBE_WP_FAULT, 0, 0, 0);
	return 0;
}

SEC("fentry/do_wp_page")
int fentry_wp_fault(unsigned long long *ctx)
{
	return wp_fault__enter();
}

SEC("fexit/do_wp_page")
int fexit_wp_fault(unsigned long long *ctx)
{
	return call__exit_simple(PROBE_WP_FAULT, HIST_WP_FAULT_NS);
}

SEC("kprobe/do_wp_page")
int kprobe_wp_fault(struct pt_regs *ctx)
{
	return wp_fault__enter();
}

SEC("kretprobe/do_wp_page")
int kretprobe_wp_fault(struct pt_regs *ctx)
{
	return call__exit_simple(PROBE_WP_FAULT, HIST_WP_FAULT_NS);
}

/* --- migrc_flush_free_folios(trigger): the patch releases what it held ------------------------ */

static __always_inline int migrc_release__enter(__u64 trigger)
{
	if (recording())
		call__enter(PROBE_MIGRC_RELEASE, (__u32)trigger, 0, 0);
	return 0;
}

static __always_inline int migrc_release__exit(void)
{
	struct counters *c = this_counters();
	struct call_start done;
	__u64 ns;

	if (!c || !call__exit(PROBE_MIGRC_RELEASE, c, &done, &ns))
		return 0;
	c->release_calls[done.a < NR_TRIGGERS ? done.a : NR_TRIGGERS - 1]++;
	hist__add(HIST_MIGRC_RELEASE_NS, ns);
	probe__event(c, PROBE_MIGRC_RELEASE, done.t_ns, ns, done.a, 0, 0);
	return 0;
}

SEC("fentry/migrc_flush_free_folios")
int fentry_migrc_release(unsigned long long *ctx)
{
	return migrc_release__enter(ctx[0]);
}

SEC("fexit/migrc_flush_free_folios")
int fexit_migrc_release(unsigned long long *ctx)
{
	return migrc_release__exit();
}

SEC("kprobe/migrc_flush_free_folios")
int kprobe_migrc_release(struct pt_regs *ctx)
{
	return migrc_release__enter(ctx->di);
}

SEC("kretprobe/migrc_flush_free_folios")
int kretprobe_migrc_release(struct pt_regs *ctx)
{
	return migrc_release__exit();
}
