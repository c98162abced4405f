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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_percentiles_hold_their_bound),
		cmocka_unit_test(test_edges),
	};

	return cmocka_run_group_tests_name("analysis/histo", tests, NULL, NULL);
}
