/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Time series while the workload runs: counters and gauges of /proc/vmstat, pages per zone. What
 * the kernel does not have is not sampled.
 */
#ifndef MIGRC_SAMPLER_H
#define MIGRC_SAMPLER_H

#include <stddef.h>
#include <stdint.h>

#include "collector/counters.h"

struct series {
	char source[16];
	char name[72];
};

struct sample {
	int64_t t_ns;		/* since the workload's start */
	int64_t value;
	unsigned int series;
};

struct sampler {
	struct series *series;
	size_t nr_series;
	struct sample *sample;
	size_t nr, cap;
	uint64_t taken, failed;	/* rounds; failed: a file could not be read or memory ran out */
};

/* Find out what there is to sample. 0 or a negative errno. */
int sampler__init(struct sampler *s);
/* One value of each series. 0 or a negative errno, which is counted too. */
int sampler__take(struct sampler *s, int64_t t_ns);
/* Forget the samples taken so far (they are stored), keep the series. */
void sampler__clear(struct sampler *s);
void sampler__free(struct sampler *s);

#endif /* MIGRC_SAMPLER_H */
