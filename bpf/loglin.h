/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Log-linear histogram layout, the one header that BPF programs, workloads, collector and analysis
 * share for it. Each power of two is cut into 2^k equal bins (k: sub-bits), values below 2^k have a
 * bin each, so a value taken for its bin's lower bound is wrong by less than a 2^-k part of itself.
 *
 *	bin(v) = v					for v < 2^k
 *	bin(v) = (e - k + 1) * 2^k + (v >> (e - k)) - 2^k	with e = floor(log2 v), otherwise
 */
#ifndef MIGRC_LOGLIN_H
#define MIGRC_LOGLIN_H

#define LOGLIN_BINS(k)	((64 - (k) + 1) << (k))

/* floor(log2(v)) for v > 0, by halving: clang 14 has no BPF instruction for it. */
static inline unsigned int loglin_log2(unsigned long long v)
{
	unsigned int e = 0;

	if (v >> 32) { v >>= 32; e += 32; }
	if (v >> 16) { v >>= 16; e += 16; }
	if (v >> 8) { v >>= 8; e += 8; }
	if (v >> 4) { v >>= 4; e += 4; }
	if (v >> 2) { v >>= 2; e += 2; }
	if (v >> 1)
		e += 1;
	return e;
}

/* Bin of value v, 0 <= bin < LOGLIN_BINS(k). */
static inline unsigned int loglin_bin(unsigned long long v, unsigned int k)
{
	unsigned int e;

	if (v < (1ULL << k))
		return (unsigned int)v;
	e = loglin_log2(v);
	return ((e - k) << k) + (unsigned int)(v >> (e - k));
}

/* Smallest value of a bin; the largest is loglin_low(bin + 1, k) - 1. */
static inline unsigned long long loglin_low(unsigned int bin, unsigned int k)
{
	unsigned int shift;

	if (bin < (2U << k))
		return bin;
	shift = (bin >> k) - 1;
	return (((unsigned long long)bin & ((1ULL << k) - 1)) + (1ULL << k)) << shift;
}

#endif /* MIGRC_LOGLIN_H */
