/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What collector/probes.c and collector/probes_read.c share, and nobody else. */
#ifndef MIGRC_PROBES_IMPL_H
#define MIGRC_PROBES_IMPL_H

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "collector/probes.h"

/*
 * One probe's programs, attached. All are first tried in one object on their best rungs: what libbpf
 * does for an object (reading the kernel's types) takes longer than all the rest. One that does not
 * do well there has an object of its own, so that it takes no other with it. The maps are always the
 * first object's.
 */
struct attached {
	struct bpf_object *object;	/* NULL: the shared one's programs */
	struct bpf_program *prog[2];	/* exit, entry */
	struct bpf_link *link[2];
};

struct probes {
	struct migrc_bpf *maps;		/* loaded without a program */
	struct btf *kernel;
	char *symbols;			/* /proc/kallsyms, while attaching */
	struct ring_buffer *ring;
	const struct task_slot *slots;	/* NR_SLOTS of them, mapped */
	struct of_cpu *cpus;		/* nr_cpus of them, mapped */
	int stats_fd;
	struct probes_options options;
	struct config config;
	int nr_cpus;			/* possible ones: the values of the map */
	struct bpf_object *shared;
	struct attached attached[NR_PROBES];
	struct probe_status status[NR_PROBES];
	struct counters counters;
	struct hist hists[NR_HISTS];
	struct split_hist *split;
	size_t nr_split;
	struct probe_lost *lost;
	size_t nr_lost;
	probes_event_fn event_fn;
	void *event_ctx;
};

static inline size_t cpus__bytes(const struct probes *p)
{
	return (size_t)p->nr_cpus * sizeof(*p->cpus);
}

#define SLOTS_BYTES	(NR_SLOTS * sizeof(struct task_slot))
/* Comms or tgids times histograms. */
#define SPLIT_MAX	4096

#endif /* MIGRC_PROBES_IMPL_H */
