/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the numbers say, in sentences: used by every output, so that they all say the same. */
#ifndef MIGRC_ANALYSIS_WORDS_H
#define MIGRC_ANALYSIS_WORDS_H

#include "analysis/model.h"

/* All return a new string. */

/* "-93.4 %" for a ratio, "+12.3k" for a difference, "-" for none. */
char *words__change(const struct an_metric *m, const struct an_effect *e);
char *words__interval(const struct an_metric *m, const struct an_effect *e);
/* "0.0123", "< 0.0001", "-" for none. */
char *words__p(double p);
/* One or two words; what is not judged says why. */
char *words__verdict(const struct an_effect *e);
/* Smallest change that would have been seen: "+12 / -10.7 %"; "-" if unknown. */
char *words__detectable(const struct an_effect *e);
/* A value of the metric with its unit scaled; "absent" for NaN. */
char *words__value(const struct an_metric *m, double v);
/* Label with its unit, where the values do not carry it. */
char *words__label(const struct an_metric *m);

/* One metric of one arm against the baseline, as the cells of a table's row. */
struct words_effect {
	char *label, *base, *value, *change, *range, *verdict;
};

void words__effect(const struct an_metric *m, size_t arm, struct words_effect *w);
void words__effect_free(struct words_effect *w);

/* The arm against the baseline, over all primary metrics; verdict words first. */
char *words__arm_verdict(const struct an_compare *c, size_t arm);
/* The same in one sentence, by verdict, worst first; without what only a statistician asks for. */
char *words__headline(const struct an_compare *c, size_t arm);
/*
 * Whether to believe the verdicts, and what speaks against it, in one sentence; *doubt: something
 * does.
 */
char *words__belief(const struct an_compare *c, bool *doubt);
/* What an arm's primary verdicts come to: AN_REGRESSED if any is, else AN_IMPROVED if any is... */
enum an_verdict words__overall(const struct an_compare *c, size_t arm);
/* Why its accessed and dirty bits decide, with this machine's facts. */
char *words__ad_bits(const struct an_compare *c);
/* What recording cost the run's command, as `migrc record --calibrate` found; NULL: not calibrated. */
char *words__recording_cost(const struct rd_run *run);
/* "7 of 8 runs of stock are valid (7 boots)". */
char *words__validity(const struct an_compare *c, size_t arm);

#endif /* MIGRC_ANALYSIS_WORDS_H */
