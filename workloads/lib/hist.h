/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Histogram of 64-bit values in the bins of bpf/loglin.h; total, sum and max are exact. */
#ifndef WL_HIST_H
#define WL_HIST_H

#include <stdint.h>

#include "bpf/loglin.h"

#define WL_HIST_SUBBITS	3
#define WL_HIST_BINS	LOGLIN_BINS(WL_HIST_SUBBITS)

struct wl_hist {
	uint64_t total;
	uint64_t sum;
	uint64_t max;
	uint64_t bin[WL_HIST_BINS];
};

static inline void wl_hist__add(struct wl_hist *h, uint64_t v)
{
	h->bin[loglin_bin(v, WL_HIST_SUBBITS)]++;
	h->total++;
	h->sum += v;
	if (v > h->max)
		h->max = v;
}

void wl_hist__merge(struct wl_hist *into, const struct wl_hist *from);
/* Mean value; -1 of an empty histogram, which has none. */
double wl_hist__mean(const struct wl_hist *h);
/*
 * Upper bound of the bin that holds the q-quantile, 0 < q <= 1, but never more than the maximum;
 * too large by less than a 2^-WL_HIST_SUBBITS part of itself. 0 of an empty histogram.
 */
uint64_t wl_hist__quantile(const struct wl_hist *h, double q);

#endif /* WL_HIST_H */
