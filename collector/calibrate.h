/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What recording costs a workload: the same command with probes and samples and without any, in
 * alternation, and the ratio of its times with an interval.
 */
#ifndef MIGRC_CALIBRATE_H
#define MIGRC_CALIBRATE_H

#include <stddef.h>

#include "collector/record.h"

/* One run's times, ns. */
struct calibrate_times {
	double wall, cpu;	/* cpu: user and system time of the command */
};

struct calibrate_cost {
	double est, lo, hi;	/* relative: 0.01 is one per cent; the interval is one of 95 % */
};

/*
 * Mean cost of nr pairs, from the logarithms of their ratios (Student's t); get picks the time.
 * -ENODATA: fewer than two pairs; -EDOM: a time of 0.
 */
int calibrate__cost(const struct calibrate_times *bare, const struct calibrate_times *with, size_t nr,
		    double (*get)(const struct calibrate_times *t), struct calibrate_cost *out);

/* Runs nr pairs and prints the cost. record does one run by its options, and returns the exit code
 * of `migrc record`; it is called in a process of its own. An exit code. */
int calibrate__run(const struct record_options *o, size_t nr,
		   int (*record)(const struct record_options *o));

#endif /* MIGRC_CALIBRATE_H */
