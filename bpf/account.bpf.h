/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The maps, and what all probes do with them: notice calls, bin values, submit events.
 *
 * Two programs never write the same field, and the kernel does not run a program inside itself on
 * one CPU (it skips and counts that: recursion_misses, which user space reads), so plain additions
 * to a CPU's own values lose nothing.
 *
 * What is on the way of every event is kept short: two look-ups (this CPU's values, the task's
 * slot), both of them inlined, and the clock. What is rare is in functions of its own, so that it
 * takes no registers from the rest.
 */
#ifndef MIGRC_ACCOUNT_BPF_H
#define MIGRC_ACCOUNT_BPF_H

/*
 * One value for each CPU, all in it: what user space tells, what is counted, all histograms. An array
 * by the number of the CPU and not a per-CPU one: user space maps it, so that it can say when to
 * begin without writing over counters, and a value may be larger than a per-CPU one's 32 KiB.
 * User space sets the number of CPUs.
 *
 * No global variables: libbpf asks whether the kernel has them by loading a socket filter, which a
 * kernel without CONFIG_NET refuses.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct of_cpu);
} cpus SEC(".maps");

/*
 * What tasks are in the midst of. An array that is searched by hand, from the place of its stack
 * on: its look-ups are inlined, where those of a hash map or of task storage are calls that cost
 * more than all the rest of a program.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, NR_SLOTS);
	__type(key, __u32);
	__type(value, struct task_slot);
} slots SEC(".maps");

/* Split histograms; user space sets the number where some are wanted. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct by_key);
	__type(value, struct hist);
} split SEC(".maps");

/* A histogram of zeroes: too large for a program's stack. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct hist);
} zeroes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);	/* user space sets the size where events are wanted */
} ring SEC(".maps");

#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)

static __always_inline struct of_cpu *this_cpu(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&cpus, &cpu);
}

/* The same if it is to be counted, else NULL. */
static __always_inline struct of_cpu *recording_cpu(void)
{
	struct of_cpu *c = this_cpu();

	return c && c->config.recording ? c : 0;
}

/*
 * An index below nr; what is past it goes to the last place. In 64 bits and one register, or the
 * verifier does not connect the check with the use.
 */
static __always_inline __u64 bounded(__u32 value, __u32 nr)
{
	__u64 v = value;

	asm volatile("" : "+r"(v));
	return v < nr ? v : nr - 1;
}

/* --- histograms ------------------------------------------------------------------------------- */

/* One value of the splitting key: shared by all CPUs, so by atomics. Rare, so not inlined. */
static __noinline int split__add(__u32 id, __u64 value, __u64 n, __u32 by)
{
	struct by_key key = { .hist = id };
	__u32 tgid = bpf_get_current_pid_tgid() >> 32, zero = 0;
	__u64 bin = loglin_bin(value, HIST_SUB_BITS), max;
	struct hist *h, *fresh;
	int i;

	if (by == BY_COMM)
		bpf_get_current_comm(key.who, sizeof(key.who));
	else
		__builtin_memcpy(key.who, &tgid, sizeof(tgid));
	h = bpf_map_lookup_elem(&split, &key);
	if (!h) {
		fresh = bpf_map_lookup_elem(&zeroes, &zero);
		if (fresh)
			bpf_map_update_elem(&split, &key, fresh, BPF_NOEXIST);
		h = bpf_map_lookup_elem(&split, &key);
		if (!h)
			return 1;
	}
	asm volatile("" : "+r"(bin));
	if (bin >= HIST_BINS)
		return 0;
	__sync_fetch_and_add(&h->bin[bin], n);
	__sync_fetch_and_add(&h->total, n);
	__sync_fetch_and_add(&h->sum, value * n);
	/* Whoever is overtaken tries again, against a larger value each time. */
	for (i = 0; i < 16; i++) {
		max = *(volatile __u64 *)&h->max;
		if (value <= max || __sync_val_compare_and_swap(&h->max, max, value) == max)
			break;
	}
	return 0;
}

/* Atomic, as a flush's entry and exit programs both have values for it. */
static __always_inline void split__add_or_count(struct of_cpu *c, __u32 probe, __u32 id, __u64 value,
						__u64 n)
{
	if (split__add(id, value, n, c->config.by))
		__sync_fetch_and_add(&c->n.probe[probe].by_full, 1);
}

/* The bin of a value that is not below 2^18. */
static __noinline __u64 bin__of_large(__u64 value)
{
	return loglin_bin(value, HIST_SUB_BITS);
}

/*
 * loglin_bin() by a table of the bins of values below 2^8, as they take 20 instructions less: a value
 * of n more bits, without these, is in the bin that is n times 2^k before.
 */
static __always_inline __u64 bin__of(const struct of_cpu *c, __u64 value)
{
	if (value < 1 << 8)
		return c->bin[value];
	if (value < 1 << 13)
		return c->bin[value >> 5] + (5 << HIST_SUB_BITS);
	if (value < 1 << 18)
		return c->bin[value >> 10] + (10 << HIST_SUB_BITS);
	return bin__of_large(value);
}

/*
 * n times the same value, seen by probe, into the id-th histogram from the first on. The number of
 * values is the sum of the bins, which user space makes.
 */
static __always_inline void hist__add_n(struct of_cpu *c, __u32 probe, __u32 first, __u64 id,
					__u64 value, __u64 n)
{
	struct hist *h = &c->hist[first] + id;
	__u64 bin = bin__of(c, value);

	/* One register for the check and for the use, or the verifier does not connect them. */
	asm volatile("" : "+r"(bin));
	if (bin >= HIST_BINS)
		return;
	h->bin[bin] += n;
	h->sum += value * n;
	if (value > h->max)
		h->max = value;
	if (c->config.by)
		split__add_or_count(c, probe, first + id, value, n);
}

static __always_inline void hist__add(struct of_cpu *c, __u32 probe, __u32 id, __u64 value)
{
	hist__add_n(c, probe, id, 0, value, 1);
}

/* --- events ----------------------------------------------------------------------------------- */

/* One event seen by probe id: count it. True: it is to be submitted. */
static __always_inline bool event__is_wanted(struct of_cpu *c, __u32 id)
{
	struct probe_count *p = &c->n.probe[id];
	__u32 every = c->config.event_every;

	p->seen++;
	if (likely(!every))
		return false;
	if (every > 1 && p->seen % every) {
		p->skipped++;
		return false;
	}
	return true;
}

/* No wake-up: it would be an IPI on the CPU at hand, in the midst of what is being counted. */
static __always_inline void event__submit(struct of_cpu *cpu, __u32 id, __u64 t_ns, __u64 a, __u64 b,
					  __u64 c, __u64 d)
{
	struct probe_count *p = &cpu->n.probe[id];
	struct event *e = bpf_ringbuf_reserve(&ring, sizeof(*e), 0);

	if (!e) {
		p->lost++;
		return;
	}
	e->t_ns = t_ns ? t_ns : bpf_ktime_get_ns();
	e->cpu = bpf_get_smp_processor_id();
	e->tid = (__u32)bpf_get_current_pid_tgid();
	e->kind = id;
	e->pad = 0;
	e->a = a;
	e->b = b;
	e->c = c;
	e->d = d;
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
	p->submitted++;
}

/* A macro, so that what an event says is not even read where none is wanted. */
#define probe__event(c, id, ...) \
	do { \
		if (event__is_wanted(c, id)) \
			event__submit(c, id, __VA_ARGS__); \
	} while (0)

/* --- what a task is in the midst of ----------------------------------------------------------- */

/*
 * Which task it is: told by where its stack is, which asks no helper. A stack is 2^14 bytes or a
 * multiple, which the mask takes together. The verifier does not let a pointer be shifted, but its
 * negative, which is a number; shifted, that is the complement of the pointer shifted.
 */
static __always_inline __u32 this_owner(const struct of_cpu *c, __u64 stack)
{
	asm volatile("%0 = -%0" : "+r"(stack));
	return (~(__u32)(stack >> STACK_SHIFT) & c->config.stack_mask) + 1;
}

static __always_inline struct task_slot *slot__at(__u32 owner, __u32 try)
{
	__u32 at = (owner + try) & (NR_SLOTS - 1);

	return bpf_map_lookup_elem(&slots, &at);
}

/* The task's slot where it is not the first of its places, home, which others than it have: or NULL. */
static __noinline struct task_slot *slot__find_on(__u32 owner)
{
	struct task_slot *home = slot__at(owner, 0), *s;
	__u32 try;

	if (!home || !home->gone_on)
		return 0;
#pragma unroll
	for (try = 1; try < SLOT_TRIES; try++) {
		s = slot__at(owner, try);
		if (s && s->owner == owner)
			return s;
	}
	return 0;
}

/*
 * The task's slot, or NULL. Nearly always its first place: it has to look at the others only where a
 * task has had to go there, of whatever number with the same first place.
 */
static __always_inline struct task_slot *slot__find(__u32 owner)
{
	struct task_slot *s = slot__at(owner, 0);

	if (!s || likely(s->owner == owner))
		return s;
	return slot__find_on(owner);
}

/*
 * Make a place the task's if it is free. That it has gone on is noted before it has: an interrupt in
 * between is the same task and must find the slot too.
 */
static __always_inline bool slot__claim(struct task_slot *s, struct task_slot *home, __u32 owner,
					__u32 try)
{
	if (s->owner)
		return false;
	if (try)
		__sync_fetch_and_add(&home->gone_on, 1);
	if (!__sync_val_compare_and_swap(&s->owner, 0, owner)) {
		s->class = CLASS_OTHER;
		s->place = try;
		return true;
	}
	if (try)
		__sync_fetch_and_add(&home->gone_on, -1);
	return false;
}

/* Its slot, or a free one made its own, of all its places. NULL: all are taken. */
static __noinline struct task_slot *slot__get_any(__u32 owner)
{
	struct task_slot *s = slot__find(owner), *home;
	__u32 try;

	if (s)
		return s;
	home = slot__at(owner, 0);
	if (!home)
		return 0;
	if (slot__claim(home, home, owner, 0))
		return home;
#pragma unroll
	for (try = 1; try < SLOT_TRIES; try++) {
		s = slot__at(owner, try);
		if (s && slot__claim(s, home, owner, try))
			return s;
	}
	return 0;
}

/* The same, at once if the first place is its own, or free and none has gone on from there. */
static __always_inline struct task_slot *slot__get(__u32 owner)
{
	struct task_slot *s = slot__at(owner, 0);

	if (!s || likely(s->owner == owner))
		return s;
	if (!s->gone_on && slot__claim(s, s, owner, 0))
		return s;
	return slot__get_any(owner);
}

static __noinline int slot__come_back(__u32 owner)
{
	struct task_slot *home = slot__at(owner, 0);

	if (home)
		__sync_fetch_and_add(&home->gone_on, -1);
	return 0;
}

/* The calls that tell on whose behalf the task is then. */
#define GIVE_CLASS \
	(1U << PROBE_MIGRATE_PAGES | 1U << PROBE_WP_FAULT | 1U << PROBE_MUNMAP | \
	 1U << PROBE_DIRECT_RECLAIM | 1U << PROBE_MEMCG_RECLAIM | 1U << PROBE_MIGRC_RELEASE)
#define gives_class(id)	(GIVE_CLASS & 1U << (id))

/* The call is over. Nothing of the slot may be used behind this. */
static __always_inline void slot__end(struct task_slot *s, __u32 id)
{
	struct call *call = &s->call[id];
	__u32 place, owner;

	call->t_ns = 0;
	if (gives_class(id))
		s->class = call->outer_class;
	if (--s->active)
		return;
	place = s->place;
	owner = s->owner;
	*(volatile __u32 *)&s->owner = 0;
	if (place)
		slot__come_back(owner);
}

/* Slack between where the entry and the return of a call are on the stack (kretprobe: one word). */
#define FRAME_SLACK	32

/* With this added to where a call is on the stack, its return is not taken for the simple case. */
#define HAS_INSIDE	1ULL

static __always_inline __u64 call__frame(const struct call *call)
{
	return call->frame & ~HAS_INSIDE;
}

/*
 * Another call of the function by the same task has not been seen to return: is this one inside it?
 *
 * A call of the same task inside another (migrate_pages() whose target's allocation reclaims by
 * demotion) is counted and not timed: its time is part of the outer one's. It lies deeper on the
 * stack; a call that does not has overtaken one whose return was never seen (its program was
 * skipped, or a kretprobe was out of instances).
 */
static __noinline int call__is_inside(struct call *call, struct probe_count *p, __u64 frame)
{
	if (!frame || frame + FRAME_SLACK < call__frame(call)) {
		call->depth++;
		call->frame |= HAS_INSIDE;
		p->nested++;
		return 1;
	}
	p->no_exit += 1 + call->depth;
	call->depth = 0;
	return 0;
}

/*
 * Note the start of a call, with the task's class from then on if it gives one. Returns the slot
 * if the call was noted as the outermost of its function.
 */
static __always_inline struct task_slot *call__enter(struct of_cpu *c, __u32 id, __u64 stack,
						     __u64 frame, __u64 a, __u32 class)
{
	struct task_slot *s = slot__get(this_owner(c, stack));
	struct probe_count *p = &c->n.probe[id];
	struct call *call;

	if (!s) {
		p->maps_full++;
		return 0;
	}
	call = &s->call[id];
	p->entries++;
	if (likely(!call->t_ns)) {
		s->active++;
		if (gives_class(id))
			call->outer_class = s->class;
	} else if (call__is_inside(call, p, frame)) {
		return 0;
	}
	if (gives_class(id))
		s->class = class;
	call->frame = frame;
	call->a = a;
	call->t_ns = bpf_ktime_get_ns();
	return s;
}

/* A return without a start counts only if the start was to be counted. */
static __always_inline void call__unmatched(struct of_cpu *c, struct probe_count *p)
{
	if (c->config.recording)
		p->unmatched++;
}

/*
 * A return that is not simply that of the call noted: of one inside it, or of one that was not noted,
 * or the call noted has had others inside it. True: it is that of the call noted.
 */
static __noinline int call__exit_odd(struct of_cpu *c, struct task_slot *s, __u32 id, __u64 frame)
{
	struct probe_count *p = &c->n.probe[id];
	struct call *call = &s->call[id];
	__u64 noted = call__frame(call);

	if (call->depth && (!frame || frame + FRAME_SLACK < noted)) {
		if (!--call->depth)
			call->frame = noted;
		p->exits++;
		return 0;
	}
	if (!frame || (frame + FRAME_SLACK >= noted && frame <= noted + FRAME_SLACK)) {
		p->no_exit_late += call->depth;
		call->depth = 0;
		return 1;
	}
	call__unmatched(c, p);
	if (frame > noted) {
		p->no_exit_late += 1 + call->depth;
		call->depth = 0;
		slot__end(s, id);
	}
	return 0;
}

/*
 * End of a call: the slot, with its duration in *ns, if it is to be binned; the caller ends it by
 * slot__end(). Returns are matched after the run has ended too, so that what is left in the slots is
 * what is still in flight.
 */
static __always_inline struct task_slot *call__exit(struct of_cpu *c, __u32 id, __u64 stack,
						    __u64 frame, __u64 *ns)
{
	struct task_slot *s = slot__find(this_owner(c, stack));
	struct probe_count *p = &c->n.probe[id];
	struct call *call;
	__u64 start, now;

	if (!s || !s->call[id].t_ns) {
		call__unmatched(c, p);
		return 0;
	}
	call = &s->call[id];
	if (frame != call->frame && !call__exit_odd(c, s, id, frame))
		return 0;
	start = call->t_ns;
	now = bpf_ktime_get_ns();
	if (unlikely(now < start)) {
		p->clock_backwards++;
		p->exits++;
		slot__end(s, id);
		return 0;
	}
	*ns = now - start;
	return s;
}

/* When a call ended, before slot__end(). */
#define call__end_ns(s, id, ns)	((s)->call[id].t_ns + (ns))

#endif /* MIGRC_ACCOUNT_BPF_H */
