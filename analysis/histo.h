/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Percentiles of log-linear histograms (bpf/loglin.h). Pure. */
#ifndef MIGRC_ANALYSIS_HISTO_H
#define MIGRC_ANALYSIS_HISTO_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A histogram: n[0..nr-1] values per bin, layout 2^sub_bits bins per power of two; max is the exact
 * largest value (0 if unknown). Unit: that of the values.
 */
struct histo {
	unsigned int sub_bits;
	unsigned int nr;
	const uint64_t *n;
	uint64_t max;
	const unsigned int *span;	/* bins that n[i] covers from i on (0: 1); NULL: each its own */
};

/* Bounds within which the percentile lies for certain, and their middle. */
struct histo_pct {
	double est, lo, hi;
	bool coarse;		/* of a count that spans several bins: est is no estimate */
};

/*
 * Nearest-rank percentile, 0 < q <= 1: the smallest value v with at least q * total values <= v.
 * It lies in the bin that holds that rank: lo <= v <= hi, both reached values of the bin, hi cut to
 * max. A bin is less than 2^-sub_bits of its lower bound wide, so est is wrong by less than
 * 2^-(sub_bits + 1) of itself, unless the count spans several bins; values below 2^sub_bits, and
 * q = 1 with max known, are exact.
 * Returns 0; -EINVAL for q outside (0, 1] or bad layout; -ENODATA for an empty histogram.
 */
int histo__percentile(const struct histo *h, double q, struct histo_pct *out);

/* Sum of the bins; what `total` of the store must be. */
uint64_t histo__total(const struct histo *h);

/*
 * Add the counts of h to those of sum, whose bins (sum->n, sum->nr of them) the caller owns as
 * `bins`. The layout of sum must not be finer than that of h: then each bin of h lies in one bin of
 * sum, nothing is guessed, and percentiles of sum keep the error bound of its own layout. max
 * becomes the larger one, 0 (unknown) if h is not empty and its max is unknown. Returns 0; -EINVAL
 * for a finer or bad layout, too few bins, or a count of h that spans bins of sum; -EOVERFLOW. On
 * error sum is as it was.
 */
int histo__add(struct histo *sum, uint64_t *bins, const struct histo *h);

#endif /* MIGRC_ANALYSIS_HISTO_H */
