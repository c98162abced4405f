/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The maps, and what all probes do with them: notice calls, bin values, submit events.
 *
 * Two programs never write the same field, and the kernel does not run a program inside itself on
 * one CPU (it skips and counts that: recursion_misses, which user space reads), so plain additions
 * to per-CPU values lose nothing.
 */
#ifndef MIGRC_ACCOUNT_BPF_H
#define MIGRC_ACCOUNT_BPF_H

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

/*
 * What tasks are in the midst of. An array that is searched by hand, from a hash of the thread id
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

/* n times the same value, seen by probe. */
static __always_inline void hist__add_n(const struct config *cfg, struct counters *c, __u32 probe,
					__u32 id, __u64 value, __u64 n)
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
	h->bin[bin] += n;
	h->total += n;
	h->sum += value * n;
	if (value > h->max)
		h->max = value;
	if (cfg->by && split__add(id, value, n, cfg->by))
		c->probe[probe].by_full++;
}

static __always_inline void hist__add(const struct config *cfg, struct counters *c, __u32 probe,
				      __u32 id, __u64 value)
{
	hist__add_n(cfg, c, probe, id, value, 1);
}

/* --- events ----------------------------------------------------------------------------------- */

/* One event seen by probe id: count it and, where asked for, submit it. No wake-up: it would be an
 * IPI on the CPU at hand, in the midst of what is being counted. */
static __always_inline void probe__event(const struct config *cfg, struct counters *c, __u32 id,
					 __u64 t_ns, __u64 a, __u64 b, __u64 d_c, __u64 d_d)
{
	struct probe_count *p = &c->probe[id];
	struct event *e;

	p->seen++;
	if (!cfg->event_every)
		return;
	if (cfg->event_every > 1 && p->seen % cfg->event_every) {
		p->skipped++;
		return;
	}
	e = bpf_ringbuf_reserve(&ring, sizeof(*e), 0);
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
	e->c = d_c;
	e->d = d_d;
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
	p->submitted++;
}

/* --- what a task is in the midst of ----------------------------------------------------------- */

static __always_inline __u32 this_owner(void)
{
	return (__u32)bpf_get_current_pid_tgid() + 1;
}

static __always_inline struct task_slot *slot__at(__u32 owner, __u32 try)
{
	__u32 at = (owner + try) & (NR_SLOTS - 1);

	return bpf_map_lookup_elem(&slots, &at);
}

/*
 * The task's slot, or NULL. Nearly always its first place: it has to look at the others only where a
 * task has had to go there, of whatever number with the same first place.
 */
static __always_inline struct task_slot *slot__find(__u32 owner)
{
	struct task_slot *home = slot__at(owner, 0), *s;
	__u32 try;

	if (!home || home->owner == owner)
		return home;
	if (!home->gone_on)
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

/* The task's slot, or a free one made its own. NULL: all that it may have are taken. */
static __always_inline struct task_slot *slot__get(__u32 owner)
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

/* The call is over. Nothing of the slot may be used behind this. */
static __always_inline void slot__end(struct task_slot *s, struct call *call)
{
	__u32 place = s->place, owner = s->owner;

	call->t_ns = 0;
	s->class = call->outer_class;
	if (--s->active)
		return;
	*(volatile __u32 *)&s->owner = 0;
	if (!place)
		return;
	s = slot__at(owner, 0);
	if (s)
		__sync_fetch_and_add(&s->gone_on, -1);
}

/* Slack between where the entry and the return of a call are on the stack (kretprobe: one word). */
#define FRAME_SLACK	32

/*
 * Note the start of a call, with the task's class from then on; CLASS_OTHER leaves it. Returns the
 * slot if the call was noted as the outermost of its function.
 *
 * A call of the same task inside another (migrate_pages() whose target's allocation reclaims by
 * demotion) is counted and not timed: its time is part of the outer one's. It lies deeper on the
 * stack; a call that does not has overtaken one whose return was never seen (its program was
 * skipped, or a kretprobe was out of instances).
 */
static __always_inline struct task_slot *call__enter(__u32 id, __u64 frame, __u64 a, __u64 b,
						     __u32 class)
{
	struct counters *c = this_counters();
	struct task_slot *s;
	struct call *call;

	if (!c)
		return 0;
	s = slot__get(this_owner());
	if (!s) {
		c->probe[id].maps_full++;
		return 0;
	}
	call = &s->call[id];
	c->probe[id].entries++;
	if (!call->t_ns) {
		s->active++;
		call->outer_class = s->class;
	} else if (!frame || frame + FRAME_SLACK < call->frame) {
		call->depth++;
		c->probe[id].nested++;
		return 0;
	} else {
		c->probe[id].no_exit += 1 + call->depth;
	}
	if (class)
		s->class = class;
	call->frame = frame;
	call->a = a;
	call->b = b;
	call->depth = 0;
	call->t_ns = bpf_ktime_get_ns();
	return s;
}

/* A return that is not that of the call noted: of one inside it, or of one that was not noted. */
static __always_inline void call__exit_other(struct probe_count *p, struct task_slot *s,
					     struct call *call, __u64 frame)
{
	if (frame < call->frame && call->depth) {
		call->depth--;
		p->exits++;
		return;
	}
	if (recording())
		p->unmatched++;
	if (frame > call->frame) {
		p->no_exit_late += 1 + call->depth;
		slot__end(s, call);
	}
}

/*
 * End of a call: the slot, with its duration in *ns and its end in *now, if it is to be binned; the
 * caller ends it by slot__end(). Returns are matched after the run has ended too, so that what is
 * left in the slots is what is still in flight.
 */
static __always_inline struct task_slot *call__exit(__u32 id, __u64 frame, struct counters *c,
						    __u64 *now, __u64 *ns)
{
	struct task_slot *s = slot__find(this_owner());
	struct probe_count *p = &c->probe[id];
	struct call *call;

	if (!s || !s->call[id].t_ns) {
		if (recording())
			p->unmatched++;
		return 0;
	}
	call = &s->call[id];
	if (frame && (frame + FRAME_SLACK < call->frame || frame > call->frame + FRAME_SLACK)) {
		call__exit_other(p, s, call, frame);
		return 0;
	}
	p->exits++;
	if (call->depth) {
		if (!frame) {
			call->depth--;
			return 0;
		}
		p->no_exit_late += call->depth;
	}
	*now = bpf_ktime_get_ns();
	if (*now < call->t_ns) {
		p->clock_backwards++;
		slot__end(s, call);
		return 0;
	}
	*ns = *now - call->t_ns;
	return s;
}

#endif /* MIGRC_ACCOUNT_BPF_H */
