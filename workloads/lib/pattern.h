/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which page is accessed next. */
#ifndef WL_PATTERN_H
#define WL_PATTERN_H

#include <stdint.h>

#include "workloads/lib/rng.h"

enum wl_pattern_kind { WL_PATTERN_UNIFORM, WL_PATTERN_NORMAL };

extern const char *const wl_pattern_names[];

/*
 * A page in [0, pages), pages > 0. Normal: the mean is the middle of the set and the standard
 * deviation is shape * pages; what falls outside is drawn again. With shape <= 1 at least 38 % of
 * the draws are inside, so the loop ends soon.
 *
 * The normal deviate is the sum of twelve uniform ones less six (Irwin-Hall; variance 1, tails cut
 * at +-6): cheap, no libm, and close enough for an access pattern.
 */
static inline double wl_pattern__deviate(struct wl_rng *r)
{
	uint64_t sum = 0;

	for (unsigned int word = 0; word < 3; word++) {
		uint64_t v = wl_rng__next(r);

		sum += (v & 0xffff) + (v >> 16 & 0xffff) + (v >> 32 & 0xffff) + (v >> 48);
	}
	/* Each 16-bit part has its mean half a step below the middle of [0, 1). */
	return ((double)sum + 6.0) * 0x1p-16 - 6.0;
}

static inline uint64_t wl_pattern__page(struct wl_rng *r, enum wl_pattern_kind kind, double shape,
					uint64_t pages)
{
	double at;

	if (kind == WL_PATTERN_UNIFORM)
		return wl_rng__below(r, pages);
	do {
		at = (0.5 + shape * wl_pattern__deviate(r)) * (double)pages;
	} while (at < 0.0 || at >= (double)pages);
	return (uint64_t)at;
}

#endif /* WL_PATTERN_H */
