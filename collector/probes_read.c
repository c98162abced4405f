// SPDX-License-Identifier: GPL-2.0-or-later
/* What the probes counted, out of their maps. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collector/probes_impl.h"
#include "bpf/migrc.skel.h"

/* Run time and skipped runs of a probe's programs. */
static int probes__read_programs(struct probes *p, enum probe_id id)
{
	struct probe_status *s = &p->status[id];
	int i;

	s->body_ns = p->stats_fd < 0 ? UINT64_MAX : 0;
	s->body_runs = 0;
	s->misses = 0;
	memset(s->program, 0, sizeof(s->program));
	for (i = 0; i < 2 && p->attached[id].prog[i]; i++) {
		struct bpf_prog_info info = { 0 };
		__u32 len = sizeof(info);

		if (bpf_obj_get_info_by_fd(bpf_program__fd(p->attached[id].prog[i]), &info, &len))
			return -errno;
		if (p->stats_fd >= 0) {
			s->program[i].ns = info.run_time_ns;
			s->program[i].runs = info.run_cnt;
			s->body_ns += info.run_time_ns;
			s->body_runs += info.run_cnt;
		}
		s->misses += info.recursion_misses;
	}
	return 0;
}

static void add_u64s(void *sum, const void *value, size_t bytes)
{
	const uint64_t *from = value;
	uint64_t *to = sum;
	size_t i;

	for (i = 0; i < bytes / sizeof(*to); i++)
		to[i] += from[i];
}

static int probes__note_lost(struct probes *p, const struct counters *of_cpu, unsigned int cpu)
{
	struct probe_lost *bigger;
	unsigned int id;

	for (id = 0; id < NR_PROBES; id++) {
		if (!of_cpu->probe[id].lost)
			continue;
		bigger = realloc(p->lost, (p->nr_lost + 1) * sizeof(*bigger));
		if (!bigger)
			return -ENOMEM;
		p->lost = bigger;
		p->lost[p->nr_lost++] =
			(struct probe_lost){ (enum probe_id)id, cpu, of_cpu->probe[id].lost };
	}
	return 0;
}

static int probes__read_counters(struct probes *p)
{
	struct probe_count *n;
	int cpu, id, err = 0;

	memset(&p->counters, 0, sizeof(p->counters));
	p->nr_lost = 0;
	for (cpu = 0; !err && cpu < p->nr_cpus; cpu++) {
		add_u64s(&p->counters, &p->cpus[cpu].n, sizeof(p->counters));
		err = probes__note_lost(p, &p->cpus[cpu].n, (unsigned int)cpu);
	}
	for (id = 0; id < NR_PROBES; id++) {
		n = &p->counters.probe[id];
		/* A timed call that is seen is not counted twice on its way. */
		if (probe_specs[id].rungs[0].entry_prog)
			n->exits += n->seen;
		p->status[id].count = *n;
	}
	return err;
}

/* After the counters, of which it completes some. */
static void probes__read_hists(struct probes *p)
{
	uint64_t max;
	int id, cpu;
	size_t i;

	memset(p->hists, 0, sizeof(p->hists));
	for (id = 0; id < NR_HISTS; id++) {
		struct hist *h = &p->hists[id];

		for (cpu = 0, max = 0; cpu < p->nr_cpus; cpu++) {
			add_u64s(h, &p->cpus[cpu].hist[id], sizeof(*h));
			if (p->cpus[cpu].hist[id].max > max)
				max = p->cpus[cpu].hist[id].max;
		}
		h->max = max;
	}
	for (cpu = 0; cpu < p->nr_cpus; cpu++)
		of_cpu__add_named(&p->cpus[cpu], p->hists, &p->counters);
	for (id = 0; id < NR_HISTS; id++)
		for (i = 0; i < HIST_BINS; i++)
			p->hists[id].total += p->hists[id].bin[i];
}

/* Count what the slots still hold. */
static void probes__read_in_flight(struct probes *p)
{
	const struct task_slot *s;
	int id;

	for (id = 0; id < NR_PROBES; id++)
		p->status[id].in_flight = 0;
	for (s = p->slots; s < p->slots + NR_SLOTS; s++)
		for (id = 0; s->owner && id < NR_PROBES; id++)
			if (s->call[id].t_ns)
				p->status[id].in_flight += 1 + s->call[id].depth;
}

static int probes__read_split(struct probes *p)
{
	const struct bpf_map *map = p->maps->maps.split;
	struct by_key next, *at = NULL;
	struct split_hist *s;

	if (!p->options.by)
		return 0;
	if (!p->split)
		p->split = calloc(SPLIT_MAX, sizeof(*p->split));
	if (!p->split)
		return -ENOMEM;
	for (p->nr_split = 0; p->nr_split < SPLIT_MAX; p->nr_split++) {
		if (bpf_map__get_next_key(map, at, &next, sizeof(next)))
			break;
		s = &p->split[p->nr_split];
		s->key = next;
		at = &s->key;
		if (bpf_map__lookup_elem(map, &s->key, sizeof(s->key), &s->hist, sizeof(s->hist), 0))
			return -errno;
	}
	return 0;
}

int probes__collect(struct probes *p)
{
	unsigned int id;
	int err = 0;

	for (id = 0; !err && id < NR_PROBES; id++)
		err = probes__read_programs(p, (enum probe_id)id);
	if (!err)
		err = probes__read_counters(p);
	if (err)
		return err;
	probes__read_hists(p);
	err = probes__read_split(p);
	if (!err)
		probes__read_in_flight(p);
	return err;
}

const struct counters *probes__counters(const struct probes *p)
{
	return &p->counters;
}

const struct hist *probes__hists(const struct probes *p)
{
	return p->hists;
}

const struct split_hist *probes__split(const struct probes *p, size_t *nr)
{
	*nr = p->nr_split;
	return p->split;
}

const struct probe_lost *probes__lost(const struct probes *p, size_t *nr)
{
	*nr = p->nr_lost;
	return p->lost;
}
