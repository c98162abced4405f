// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>

#include "workloads/lib/hist.h"

void wl_hist__merge(struct wl_hist *into, const struct wl_hist *from)
{
	for (unsigned int i = 0; i < WL_HIST_BINS; i++)
		into->bin[i] += from->bin[i];
	into->total += from->total;
	into->sum += from->sum;
	if (from->max > into->max)
		into->max = from->max;
}

double wl_hist__mean(const struct wl_hist *h)
{
	return h->total ? (double)h->sum / (double)h->total : -1.0;
}

uint64_t wl_hist__quantile(const struct wl_hist *h, double q)
{
	uint64_t rank = (uint64_t)ceil(q * (double)h->total), seen = 0, high;

	if (!rank)
		return 0;
	for (unsigned int i = 0; i < WL_HIST_BINS - 1; i++) {
		seen += h->bin[i];
		if (seen >= rank) {
			high = loglin_low(i + 1, WL_HIST_SUBBITS) - 1;
			return high < h->max ? high : h->max;
		}
	}
	return h->max;
}
