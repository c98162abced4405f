// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "workloads/lib/sample.h"

#define TAIL	0.025

int wl_sample__add(struct wl_sample *s, double value)
{
	size_t cap = s->cap ? 2 * s->cap : 256;
	double *bigger;

	if (s->nr == s->cap) {
		bigger = realloc(s->value, cap * sizeof(*bigger));
		if (!bigger)
			return -ENOMEM;
		s->value = bigger;
		s->cap = cap;
	}
	s->value[s->nr++] = value;
	return 0;
}

void wl_sample__free(struct wl_sample *s)
{
	free(s->value);
	*s = (struct wl_sample){ 0 };
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/*
 * How many of n values may be left out at each end: the largest k such that fewer than k + 1 of n
 * fair coins show heads with a probability of at most TAIL. In logarithms: 2^-n is 0 soon.
 */
static size_t left_out(size_t n)
{
	double below = 0, log_term = -(double)n * log(2);
	size_t k;

	for (k = 0; k < n / 2; k++) {
		below += exp(log_term);
		if (below > TAIL)
			break;
		log_term += log((double)(n - k) / (double)(k + 1));
	}
	return k ? k - 1 : 0;
}

int wl_sample__median(struct wl_sample *s, struct wl_median *out)
{
	size_t k;

	if (!s->nr)
		return -ENODATA;
	qsort(s->value, s->nr, sizeof(*s->value), compare);
	out->median = s->nr % 2 ? s->value[s->nr / 2] :
		      (s->value[s->nr / 2 - 1] + s->value[s->nr / 2]) / 2;
	k = left_out(s->nr);
	out->low = s->value[k];
	out->high = s->value[s->nr - 1 - k];
	return 0;
}
