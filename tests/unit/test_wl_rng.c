// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "workloads/lib/pattern.h"
#include "workloads/lib/rng.h"

static void skip_equals_stepping(void **state)
{
	static const unsigned int steps[] = { 0, 1, 2, 34, 1000, 65537 };

	(void)state;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct wl_rng a, b;

		wl_rng__seed(&a, 42);
		wl_rng__seed(&b, 42);
		for (unsigned int n = 0; n < steps[i]; n++)
			wl_rng__next(&a);
		wl_rng__skip(&b, steps[i]);
		for (unsigned int n = 0; n < 5; n++)
			assert_int_equal(wl_rng__next(&a), wl_rng__next(&b));
	}
}

static void skips_add_up(void **state)
{
	struct wl_rng a, b;

	(void)state;
	wl_rng__seed(&a, 7);
	wl_rng__seed(&b, 7);
	wl_rng__skip(&a, 1ULL << 40);
	wl_rng__skip(&a, 12345);
	wl_rng__skip(&b, (1ULL << 40) + 12345);
	assert_int_equal(wl_rng__next(&a), wl_rng__next(&b));
}

/* The published first outputs of SplitMix64 from state 0: a reference that is not our own code. */
static void known_outputs(void **state)
{
	struct wl_rng r = { 0 };

	(void)state;
	assert_true(wl_rng__next(&r) == 0xe220a8397b1dcdafULL);
	assert_true(wl_rng__next(&r) == 0x6e789e6aa1b965f4ULL);
	assert_true(wl_rng__next(&r) == 0x06c45d188009454fULL);
}

static void ranges_hold_and_are_used(void **state)
{
	unsigned int seen[10] = { 0 };
	double sum = 0;
	struct wl_rng r;

	(void)state;
	wl_rng__seed(&r, 3);
	for (unsigned int i = 0; i < 100000; i++) {
		uint64_t below = wl_rng__below(&r, 10);
		double unit = wl_rng__unit(&r);

		assert_true(below < 10);
		assert_true(unit >= 0.0 && unit < 1.0);
		seen[below]++;
		sum += unit;
	}
	/* Five standard deviations of a binomial(100000, 0.1) and of a mean of uniforms. */
	for (unsigned int i = 0; i < 10; i++)
		assert_in_range(seen[i], 10000 - 475, 10000 + 475);
	assert_true(sum / 100000 > 0.5 - 0.0046 && sum / 100000 < 0.5 + 0.0046);
}

static void deviate_is_standard(void **state)
{
	double sum = 0, square = 0;
	const unsigned int n = 200000;
	struct wl_rng r;

	(void)state;
	wl_rng__seed(&r, 11);
	for (unsigned int i = 0; i < n; i++) {
		double z = wl_pattern__deviate(&r);

		sum += z;
		square += z * z;
	}
	/* Standard errors: of the mean 1/sqrt(n) = 0.0022, of the variance sqrt(2/n) = 0.0032. */
	assert_true(sum / n > -0.012 && sum / n < 0.012);
	assert_true(square / n > 0.984 && square / n < 1.016);
}

static void pattern_stays_inside(void **state)
{
	static const double shapes[] = { 0.001, 0.125, 1.0 };
	uint64_t middle = 0;
	struct wl_rng r;

	(void)state;
	wl_rng__seed(&r, 5);
	for (unsigned int i = 0; i < 3; i++)
		for (unsigned int n = 0; n < 20000; n++)
			assert_true(wl_pattern__page(&r, WL_PATTERN_NORMAL, shapes[i],
						     1000) < 1000);
	for (unsigned int n = 0; n < 10000; n++) {
		uint64_t p = wl_pattern__page(&r, WL_PATTERN_NORMAL, 0.125, 1000);

		middle += p >= 375 && p < 625;
		assert_int_equal(wl_pattern__page(&r, WL_PATTERN_UNIFORM, 0, 1), 0);
	}
	/* Within one standard deviation: 68.3 %, give or take five standard errors. */
	assert_in_range(middle, 6830 - 240, 6830 + 240);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(skip_equals_stepping), cmocka_unit_test(skips_add_up),
		cmocka_unit_test(known_outputs), cmocka_unit_test(ranges_hold_and_are_used),
		cmocka_unit_test(deviate_is_standard), cmocka_unit_test(pattern_stays_inside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
