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

/* Bin of the coarser layout that holds all values of a bin of the finer one. */
static unsigned int coarser_bin(unsigned int bin, unsigned int from, unsigned int to)
{
	return loglin_bin(loglin_low(bin, from), to);
}

/* Whether all values that a count of h may be of lie in one bin of the layout. */
static bool fits(const struct histo *h, unsigned int bin, unsigned int to)
{
	unsigned int last = bin + (h->span && h->span[bin] ? h->span[bin] - 1 : 0);

	return last < h->nr &&
	       coarser_bin(bin, h->sub_bits, to) == coarser_bin(last, h->sub_bits, to);
}

int histo__add(struct histo *sum, uint64_t *bins, const struct histo *h)
{
	uint64_t total, more;

	if (!sum || !bins || !h || h->sub_bits > 8 || sum->sub_bits > h->sub_bits ||
	    h->nr > LOGLIN_BINS(h->sub_bits) || sum->nr > LOGLIN_BINS(sum->sub_bits))
		return -EINVAL;
	total = histo__total(sum);
	more = histo__total(h);
	/* No bin and no total can then pass what the type holds. */
	if (more > UINT64_MAX - total)
		return -EOVERFLOW;
	for (unsigned int i = 0; i < h->nr; i++)
		if (h->n[i] && (!fits(h, i, sum->sub_bits) ||
				coarser_bin(i, h->sub_bits, sum->sub_bits) >= sum->nr))
			return -EINVAL;
	for (unsigned int i = 0; i < h->nr; i++)
		if (h->n[i])
			bins[coarser_bin(i, h->sub_bits, sum->sub_bits)] += h->n[i];
	if (!more)
		return 0;
	if (!h->max || (total && !sum->max))
		sum->max = 0;
	else if (h->max > sum->max)
		sum->max = h->max;
	return 0;
}
