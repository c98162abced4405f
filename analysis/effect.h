/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Summaries, effects and verdicts of a compare whose runs, arms and metrics are in place. */
#ifndef MIGRC_ANALYSIS_EFFECT_H
#define MIGRC_ANALYSIS_EFFECT_H

#include "analysis/model.h"

/* Of all compares of a model, which is what Holm's correction may be over. */
void effect__fill(struct an_compare *c, size_t nr);
/* Warnings that follow from the effects: drift, outliers, disagreeing intervals, changed spread. */
void effect__warn(struct an_compare *c);

/*
 * The values that a metric of an arm is compared by: logs if e->is_ratio, one per unit, in order of
 * the runs; if e->paired, a[i] and b[i] are of one block, whose number is block[i], and d[i] is
 * their difference. sample__free() frees it.
 */
struct sample {
	double *a, *b, *d;
	int64_t *block;
	size_t na, nb;		/* of pairs: equal, and d has as many */
};

void sample__take(struct sample *s, const struct an_compare *c, const struct an_metric *m,
		  size_t arm, struct an_effect *e);
void sample__free(struct sample *s);

/*
 * Values of a metric in an arm, one per unit of replication, in order of the runs, into out (room
 * for nr_runs); geometric means of a unit's runs if logs, else arithmetic. Returns their number.
 */
size_t effect__series(const struct an_compare *c, const struct an_metric *m, size_t arm, bool logs,
		      double *out);

/* Shared with model.c. */
bool compare__block_complete(const struct an_compare *c, size_t arm, int64_t block);
void compare__warn(struct an_compare *c, char *text);	/* takes text over */

#endif /* MIGRC_ANALYSIS_EFFECT_H */
