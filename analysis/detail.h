/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the report shows beside its metrics, worked out from the valid runs of a compare: their
 * histograms added up, and counts by CPU. Pure; used by every output, so that they all say the same.
 */
#ifndef MIGRC_ANALYSIS_DETAIL_H
#define MIGRC_ANALYSIS_DETAIL_H

#include "analysis/histo.h"
#include "analysis/model.h"

#define DETAIL_CUTS	4

/* p50, p99, p99.9, max */
extern const struct detail_cut {
	const char *name;
	double q;
} detail_cuts[DETAIL_CUTS];

/* Something that takes time, and the histograms that hold it; the last name is NULL. */
struct detail_latency {
	const char *key, *label;	/* key: stable, of the JSON */
	const char *names[3];
};

extern const struct detail_latency detail_latencies[];
extern const size_t detail_nr_latencies;

/* Histograms of the valid runs of an arm, added up. */
struct detail_dist {
	struct histo h;		/* of bins */
	uint64_t *bins;
	unsigned int *span;	/* NULL: no count spans bins */
	uint64_t total;
	size_t runs;		/* histograms that were added */
	const char *unit;
	struct histo_pct cut[DETAIL_CUTS];
};

/*
 * The histograms with these names (ends with NULL), in the coarsest layout among them. False if no
 * valid run of the arm has one, if all are empty, or if a count of one spans bins that are not those
 * of the others; then *out needs no freeing.
 */
bool detail__dist(const struct an_compare *c, size_t arm, const char *const *names,
		  struct detail_dist *out);
void detail__dist_free(struct detail_dist *dist);

/* A row of /proc/interrupts by CPU: value[run * nr + cpu], NaN where a run does not have it. */
struct detail_cpus {
	const char *row;	/* TLB, or CAL where there is none (arm64) */
	size_t nr;		/* 0: no run has counts by CPU */
	double *value;
};

void detail__cpus(const struct an_compare *c, struct detail_cpus *out);
void detail__cpus_free(struct detail_cpus *cpus);
/* Mean of a CPU over the valid runs of an arm; NaN if none has it. */
double detail__cpu_mean(const struct an_compare *c, const struct detail_cpus *cpus, size_t arm,
			size_t cpu);

/*
 * The most memory that a valid run of the arm held at once, in bytes. NaN if one of them held pages
 * whose size was not recorded, or if none has samples.
 */
double detail__held_bytes(const struct an_compare *c, size_t arm);

/* Valid, and of an arm that is compared. */
bool detail__counts(const struct an_compare *c, size_t run);

#endif /* MIGRC_ANALYSIS_DETAIL_H */
