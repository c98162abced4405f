// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "workloads/lib/sample.h"

/* n values 1..n in a mixed order. */
static struct wl_median of(size_t n)
{
	struct wl_sample s = { 0 };
	struct wl_median m;

	for (size_t i = 0; i < n; i++)
		assert_int_equal(wl_sample__add(&s, (double)(i * 7919 % n + 1)), 0);
	assert_int_equal(wl_sample__median(&s, &m), 0);
	wl_sample__free(&s);
	assert_null(s.value);
	return m;
}

static void test_median(void **state)
{
	(void)state;
	assert_true(of(1).median == 1);
	assert_true(of(2).median == 1.5);
	assert_true(of(9).median == 5);
	assert_true(of(1000).median == 500.5);
}

/*
 * Ranks of the interval, from tables of the sign test: n = 6 the whole range, 9: 2nd to 8th,
 * 20: 6th to 15th, 25: 8th to 18th, 100: 40th to 61st.
 */
static void test_interval(void **state)
{
	static const struct {
		size_t n;
		double low, high;
	} known[] = { { 3, 1, 3 }, { 5, 1, 5 }, { 6, 1, 6 }, { 9, 2, 8 }, { 20, 6, 15 },
		      { 25, 8, 18 }, { 100, 40, 61 } };

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct wl_median m = of(known[i].n);

		assert_true(m.low == known[i].low);
		assert_true(m.high == known[i].high);
	}
	/* Large: half of n, less 1.96 times half of its root; no underflow of 2^-n. */
	assert_in_range((uint64_t)of(10000).low, 4900, 4904);
	assert_in_range((uint64_t)of(10000).high, 5097, 5101);
}

static void test_empty(void **state)
{
	struct wl_sample s = { 0 };
	struct wl_median m;

	(void)state;
	assert_int_equal(wl_sample__median(&s, &m), -ENODATA);
	wl_sample__free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_median),
		cmocka_unit_test(test_interval),
		cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
