// SPDX-License-Identifier: GPL-2.0-or-later
/* Percentiles of histograms against the same percentile of the values themselves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/histo.h"
#include "bpf/loglin.h"

#define N	5000

static int cmp_u64(const void *l, const void *r)
{
	uint64_t x = *(const uint64_t *)l, y = *(const uint64_t *)r;

	return (x > y) - (x < y);
}

/* Values over many powers of two. */
static void fill(uint64_t *v, uint64_t *bins, unsigned int k, uint64_t *max)
{
	uint64_t state = 99;

	*max = 0;
	for (size_t i = 0; i < N; i++) {
		state = state * 6364136223846793005ULL + 1442695040888963407ULL;
		v[i] = (state >> 20) >> (state % 43);
		bins[loglin_bin(v[i], k)]++;
		*max = v[i] > *max ? v[i] : *max;
	}
	qsort(v, N, sizeof(*v), cmp_u64);
}

static void test_percentiles_hold_their_bound(void **state)
{
	static const double cuts[] = { 0.0001, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1 };
	static uint64_t v[N], bins[LOGLIN_BINS(0) + LOGLIN_BINS(8)];

	(void)state;
	for (unsigned int k = 0; k <= 8; k++) {
		struct histo h = { .sub_bits = k, .nr = LOGLIN_BINS(k), .n = bins };

		memset(bins, 0, sizeof(bins));
		fill(v, bins, k, &h.max);
		assert_int_equal(histo__total(&h), N);
		for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
			double truth = (double)v[(size_t)ceil(cuts[i] * N) - 1];
			struct histo_pct p;

			assert_int_equal(histo__percentile(&h, cuts[i], &p), 0);
			assert_true(p.lo <= truth && truth <= p.hi);
			assert_true(p.lo <= p.est && p.est <= p.hi);
			assert_true(fabs(p.est - truth) <= ldexp(p.lo, -(int)k) + 1e-9);
			if (cuts[i] == 1)
				assert_true(p.lo == truth && p.hi == truth);
		}
	}
}

static void test_edges(void **state)
{
	static uint64_t bins[LOGLIN_BINS(3)];
	struct histo h = { .sub_bits = 3, .nr = LOGLIN_BINS(3), .n = bins };
	struct histo_pct p;

	(void)state;
	assert_int_equal(histo__percentile(&h, 0.5, &p), -ENODATA);
	/* The largest bin there is: its upper bound does not overflow. */
	bins[loglin_bin(UINT64_MAX, 3)] = 1;
	assert_int_equal(histo__percentile(&h, 0.5, &p), 0);
	assert_true(p.hi >= 1.8e19 && p.lo <= p.hi);
	assert_int_equal(histo__percentile(&h, 0, &p), -EINVAL);
	assert_int_equal(histo__percentile(&h, 1.1, &p), -EINVAL);
	assert_int_equal(histo__percentile(NULL, 0.5, &p), -EINVAL);
	h.sub_bits = 9;
	assert_int_equal(histo__percentile(&h, 0.5, &p), -EINVAL);
	/* Small values have a bin each: exact. */
	h.sub_bits = 3;
	memset(bins, 0, sizeof(bins));
	bins[5] = 10;
	assert_int_equal(histo__percentile(&h, 0.5, &p), 0);
	assert_true(p.lo == 5 && p.hi == 5 && p.est == 5);
}

/*
 * Histograms of parts, in layouts of their own, added up: the percentiles of the whole hold the
 * bound of the sum's layout, and equal layouts lose nothing at all.
 */
static void test_adding(void **state)
{
	static uint64_t v[N], fine[LOGLIN_BINS(5)], same[LOGLIN_BINS(3)], bins[LOGLIN_BINS(3)];
	struct histo a = { .sub_bits = 5, .nr = LOGLIN_BINS(5), .n = fine };
	struct histo b = { .sub_bits = 3, .nr = LOGLIN_BINS(3), .n = same };
	struct histo sum = { .sub_bits = 3, .nr = LOGLIN_BINS(3), .n = bins };
	uint64_t max;

	(void)state;
	fill(v, bins, 3, &max);
	memset(bins, 0, sizeof(bins));
	for (size_t i = 0; i < N; i++) {
		struct histo *part = i % 3 ? &a : &b;

		(i % 3 ? fine : same)[loglin_bin(v[i], part->sub_bits)]++;
		part->max = v[i] > part->max ? v[i] : part->max;
	}
	assert_int_equal(histo__add(&sum, bins, &a), 0);
	assert_int_equal(histo__add(&sum, bins, &b), 0);
	assert_int_equal(histo__total(&sum), N);
	assert_true(sum.max == max);
	for (size_t i = 0; i < N; i++)
		bins[loglin_bin(v[i], 3)]--;
	assert_int_equal(histo__total(&sum), 0);
}

static void test_adding_refused(void **state)
{
	static uint64_t fine[LOGLIN_BINS(4)], coarse[LOGLIN_BINS(2)];
	static unsigned int span[LOGLIN_BINS(4)];
	struct histo f = { .sub_bits = 4, .nr = LOGLIN_BINS(4), .n = fine, .max = 9 };
	struct histo c = { .sub_bits = 2, .nr = LOGLIN_BINS(2), .n = coarse, .max = 3 };
	uint64_t before;

	(void)state;
	fine[loglin_bin(9, 4)] = 2;
	coarse[3] = 1;
	assert_int_equal(histo__add(&f, fine, &c), -EINVAL);
	assert_int_equal(histo__add(NULL, fine, &c), -EINVAL);
	/* An unknown largest value makes that of the whole unknown; an empty histogram does not. */
	f.max = 0;
	assert_int_equal(histo__add(&c, coarse, &f), 0);
	assert_true(c.max == 0 && histo__total(&c) == 3);
	c.max = 8;
	fine[loglin_bin(9, 4)] = 0;
	assert_int_equal(histo__add(&c, coarse, &f), 0);
	assert_true(c.max == 8);
	/* A count of several bins goes where they are one, and nowhere else. */
	fine[loglin_bin(64, 4)] = 1;
	span[loglin_bin(64, 4)] = 4;
	f.span = span;
	assert_int_equal(histo__add(&c, coarse, &f), 0);
	span[loglin_bin(64, 4)] = 5;
	assert_int_equal(histo__add(&c, coarse, &f), -EINVAL);
	fine[loglin_bin(64, 4)] = 0;
	/* Counts that would wrap around leave the sum as it was; so does a bin that it has not. */
	before = histo__total(&c);
	fine[0] = UINT64_MAX;
	assert_int_equal(histo__add(&c, coarse, &f), -EOVERFLOW);
	fine[0] = 0;
	fine[f.nr - 1] = 1;
	c.nr = 10;
	assert_int_equal(histo__add(&c, coarse, &f), -EINVAL);
	c.nr = LOGLIN_BINS(2);
	assert_true(histo__total(&c) == before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_percentiles_hold_their_bound),
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_adding),
		cmocka_unit_test(test_adding_refused),
	};

	return cmocka_run_group_tests_name("analysis/histo", tests, NULL, NULL);
}
