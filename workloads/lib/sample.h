/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Repeated measurements of one thing: their median, and an interval for it. */
#ifndef WL_SAMPLE_H
#define WL_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

struct wl_sample {
	double *value;
	size_t nr, cap;
};

struct wl_median {
	double median, low, high;	/* 95 % interval for the median */
};

/* 0 or -ENOMEM. */
int wl_sample__add(struct wl_sample *s, double value);
void wl_sample__free(struct wl_sample *s);
/*
 * -ENODATA of an empty sample. The interval is between two of the values: those between which the
 * true median lies with at least 95 %, whatever the distribution (a sign test). Fewer than six
 * values cannot say that much: the interval is then the range.
 *
 * Sorts the values.
 */
int wl_sample__median(struct wl_sample *s, struct wl_median *out);

#endif /* WL_SAMPLE_H */
