// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/histo.h"

#include <errno.h>
#include <math.h>

#include "bpf/loglin.h"

uint64_t histo__total(const struct histo *h)
{
	uint64_t total = 0;

	for (unsigned int i = 0; i < h->nr; i++)
		total += h->n[i];
	return total;
}

/* Largest value of a bin; the last bin's would overflow. */
static double bin_high(unsigned int bin, unsigned int k)
{
	if (bin + 1 >= LOGLIN_BINS(k))
		return (double)UINT64_MAX;
	return (double)(loglin_low(bin + 1, k) - 1);
}

int histo__percentile(const struct histo *h, double q, struct histo_pct *out)
{
	uint64_t total, seen = 0;
	unsigned int last;
	double rank;

	if (!h || !out || !(q > 0 && q <= 1) || h->sub_bits > 8 || h->nr > LOGLIN_BINS(h->sub_bits))
		return -EINVAL;
	total = histo__total(h);
	if (!total)
		return -ENODATA;
	rank = ceil(q * (double)total);
	for (unsigned int bin = 0; bin < h->nr; bin++) {
		seen += h->n[bin];
		if (!h->n[bin] || ((double)seen < rank && seen != total))
			continue;
		out->lo = (double)loglin_low(bin, h->sub_bits);
		last = bin + (h->span && h->span[bin] ? h->span[bin] - 1 : 0);
		out->hi = bin_high(last, h->sub_bits);
		if (h->max && (double)h->max >= out->lo && (double)h->max < out->hi)
			out->hi = (double)h->max;
		if (h->max && q == 1)
			out->lo = out->hi = (double)h->max;
		out->coarse = last != bin && out->lo < out->hi;
		out->est = (out->lo + out->hi) / 2;
		return 0;
	}
	return -ENODATA;
}
