/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which metrics a run has: turns stored counters, samples and histograms into values by run. */
#ifndef MIGRC_ANALYSIS_METRICS_H
#define MIGRC_ANALYSIS_METRICS_H

#include "analysis/model.h"

/*
 * Fill c->metrics: keys, labels and values by run, primary ones marked and first. Needs c->runs and
 * c->emulated. An invalid run has its values too: they are shown, and nothing else reads them.
 */
void metrics__collect(struct an_compare *c);

/* Refusal and release counters of the patch in the order in which they are shown. */
struct metrics_name {
	const char *name, *label;
};
extern const struct metrics_name metrics_refused[];
extern const size_t metrics_nr_refused;
extern const struct metrics_name metrics_released[];
extern const size_t metrics_nr_released;

#endif /* MIGRC_ANALYSIS_METRICS_H */
