/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What recording costs a workload: the same command as it is recorded, and bare (no probes, samples or
 * perf), in alternation, and the ratio of its times with an interval.
 */
#ifndef MIGRC_CALIBRATE_H
#define MIGRC_CALIBRATE_H

#include <stdbool.h>
#include <stddef.h>

struct record_options;

/* One run's times, ns. */
struct calibrate_times {
	double wall, cpu;	/* cpu: user and system time of the command */
};

struct calibrate_cost {
	double est, lo, hi;	/* relative: 0.01 is one per cent; the interval is one of 95 % */
};

/* What a run is stored with. */
struct calibration {
	size_t pairs;		/* 0: not calibrated */
	bool has_wall, has_cpu;	/* false: a run took no such time */
	struct calibrate_cost wall, cpu;
};

/*
 * Mean cost of nr pairs, from the logarithms of their ratios (Student's t); get picks the time.
 * -ENODATA: fewer than two pairs; -EDOM: a time of 0.
 */
int calibrate__cost(const struct calibrate_times *bare, const struct calibrate_times *with, size_t nr,
		    double (*get)(const struct calibrate_times *t), struct calibrate_cost *out);

/*
 * Runs nr pairs, prints the cost and puts it into *out. record does one run by its options, and returns
 * the exit code of `migrc record`; it is called in a process of its own. An exit code.
 */
int calibrate__run(const struct record_options *o, size_t nr,
		   int (*record)(const struct record_options *o), struct calibration *out);

#endif /* MIGRC_CALIBRATE_H */
