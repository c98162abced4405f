/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Summaries, effects and verdicts of a compare whose runs, arms and metrics are in place. */
#ifndef MIGRC_ANALYSIS_EFFECT_H
#define MIGRC_ANALYSIS_EFFECT_H

#include "analysis/model.h"

void effect__fill(struct an_compare *c);
/* Warnings that follow from the effects: drift, outliers, disagreeing intervals, changed spread. */
void effect__warn(struct an_compare *c);

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
