/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stream of raw events as a machine of four CPUs makes it: one CPU demotes pages in calls of up to
 * 512 (a try_to_migrate for each page, of the patched kernel a deferral or a refusal too, a flush and
 * the two events of the call at its end), the others run a program and have its flushes, write faults
 * and unmappings. Durations have the long tail that they have. The same seed gives the same stream.
 */
#ifndef MIGRC_SYNTHETIC_H
#define MIGRC_SYNTHETIC_H

#include "bpf/events.h"

#define SYNTHETIC_CPUS 4

struct synthetic {
	uint64_t random;
	uint64_t next_ns[SYNTHETIC_CPUS];	/* when each CPU has its next event */
	uint32_t tid[SYNTHETIC_CPUS];
	uint64_t call_ns;			/* when the call of CPU 0 began */
	unsigned int call_pages, page, step;	/* its pages, the one at hand, what it is at */
	uint64_t frame;
	unsigned int generation;
};

void synthetic__begin(struct synthetic *s, uint64_t seed);
void synthetic__next(struct synthetic *s, struct event *e);

#endif /* MIGRC_SYNTHETIC_H */
