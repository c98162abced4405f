// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "bpf/loglin.h"

#define MAX_SUB_BITS 8

/* bin(low(b)) == b: every bin's lower bound is in it. */
static void test_round_trip(void **state)
{
	unsigned int k, b;

	(void)state;
	for (k = 0; k <= MAX_SUB_BITS; k++)
		for (b = 0; b < LOGLIN_BINS(k); b++)
			assert_int_equal(loglin_bin(loglin_low(b, k), k), b);
}

/* The value below a bin's lower bound is in the bin before: no gap and no overlap. */
static void test_contiguous(void **state)
{
	unsigned int k, b;

	(void)state;
	for (k = 0; k <= MAX_SUB_BITS; k++)
		for (b = 1; b < LOGLIN_BINS(k); b++)
			assert_int_equal(loglin_bin(loglin_low(b, k) - 1, k), b - 1);
}

static void test_extremes(void **state)
{
	unsigned int k;

	(void)state;
	for (k = 0; k <= MAX_SUB_BITS; k++) {
		assert_int_equal(loglin_bin(0, k), 0);
		assert_int_equal(loglin_bin(1, k), 1);
		assert_int_equal(loglin_bin(UINT64_MAX, k), LOGLIN_BINS(k) - 1);
	}
}

/* A value taken for its bin's lower bound is wrong by less than 2^-k of itself. */
static void test_error_bound(void **state)
{
	uint64_t v, low;
	unsigned int k;

	(void)state;
	for (k = 0; k <= MAX_SUB_BITS; k++)
		for (v = 1; v < UINT64_MAX / 7; v = v * 7 / 4 + 1) {
			low = loglin_low(loglin_bin(v, k), k);
			assert_true(low <= v);
			assert_true((long double)(v - low) < (long double)v / (1U << k));
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_contiguous),
		cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_error_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
