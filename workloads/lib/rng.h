/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counter-based random numbers: the n-th number is a fixed mix of seed + n * gamma, with gamma the
 * odd 64-bit golden ratio (the SplitMix construction: Steele, Lea, Flood, "Fast splittable
 * pseudorandom number generators", OOPSLA 2014). So skipping n numbers is one multiplication, and
 * what a particle or a page gets does not depend on which thread asks, or in which order.
 */
#ifndef WL_RNG_H
#define WL_RNG_H

#include <stdint.h>

#define WL_RNG_GAMMA	0x9e3779b97f4a7c15ULL

struct wl_rng {
	uint64_t state;
};

/* A bijection on 64 bits in which each input bit changes about half of the output bits. */
static inline uint64_t wl_rng__mix(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static inline void wl_rng__seed(struct wl_rng *r, uint64_t seed)
{
	r->state = wl_rng__mix(seed);
}

/* Leaves the generator as n calls of wl_rng__next() would. */
static inline void wl_rng__skip(struct wl_rng *r, uint64_t n)
{
	r->state += n * WL_RNG_GAMMA;
}

static inline uint64_t wl_rng__next(struct wl_rng *r)
{
	r->state += WL_RNG_GAMMA;
	return wl_rng__mix(r->state);
}

/* Uniform in [0, 1), all 53 bits of a double's mantissa. */
static inline double wl_rng__unit(struct wl_rng *r)
{
	return (double)(wl_rng__next(r) >> 11) * 0x1p-53;
}

/* Uniform in [0, n), n > 0: the high half of a 128-bit product; the bias is below n / 2^64. */
static inline uint64_t wl_rng__below(struct wl_rng *r, uint64_t n)
{
	return (uint64_t)(((unsigned __int128)wl_rng__next(r) * n) >> 64);
}

#endif /* WL_RNG_H */
