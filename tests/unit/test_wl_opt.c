// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "workloads/lib/opt.h"

static void u64_takes_numbers_only(void **state)
{
	static const char *const garbage[] = { "", " ", "x", "1x", "1 ", " 1", "+1", "0x10", "1.5",
					       "--1", "1e3", "-", "-x" };
	uint64_t v = 77;

	(void)state;
	for (size_t i = 0; i < sizeof(garbage) / sizeof(garbage[0]); i++)
		assert_int_equal(wl_opt__parse_u64(garbage[i], 0, UINT64_MAX, &v), -EINVAL);
	assert_int_equal(wl_opt__parse_u64("-1", 0, UINT64_MAX, &v), -ERANGE);
	assert_int_equal(wl_opt__parse_u64("0", 1, 9, &v), -ERANGE);
	assert_int_equal(wl_opt__parse_u64("10", 1, 9, &v), -ERANGE);
	assert_int_equal(wl_opt__parse_u64("18446744073709551616", 0, UINT64_MAX, &v), -ERANGE);
	assert_int_equal(v, 77);
	assert_int_equal(wl_opt__parse_u64("18446744073709551615", 0, UINT64_MAX, &v), 0);
	assert_true(v == UINT64_MAX);
	assert_int_equal(wl_opt__parse_u64("007", 1, 9, &v), 0);
	assert_int_equal(v, 7);
}

static void double_takes_finite_numbers_only(void **state)
{
	static const char *const garbage[] = { "", "x", "nan", "inf", "1x", " 1", "1,5", "-" };
	double v = 77;

	(void)state;
	for (size_t i = 0; i < sizeof(garbage) / sizeof(garbage[0]); i++)
		assert_int_equal(wl_opt__parse_double(garbage[i], 0, 10, &v), -EINVAL);
	assert_int_equal(wl_opt__parse_double("-1", 0, 10, &v), -ERANGE);
	assert_int_equal(wl_opt__parse_double("10.1", 0, 10, &v), -ERANGE);
	assert_int_equal(wl_opt__parse_double("1e999", 0, 10, &v), -ERANGE);
	assert_true(v == 77);
	assert_int_equal(wl_opt__parse_double("0.25", 0, 10, &v), 0);
	assert_true(v == 0.25);
}

static void sizes(void **state)
{
	static const char *const garbage[] = { "", "M", "1MB", "1X", "1.5", "1 M", "0x1" };
	uint64_t v = 77;

	(void)state;
	for (size_t i = 0; i < sizeof(garbage) / sizeof(garbage[0]); i++)
		assert_int_equal(wl_opt__parse_size(garbage[i], 0, UINT64_MAX, &v), -EINVAL);
	assert_int_equal(wl_opt__parse_size("0", 1, 1 << 30, &v), -ERANGE);
	assert_int_equal(wl_opt__parse_size("-1", 1, 1 << 30, &v), -ERANGE);
	assert_int_equal(wl_opt__parse_size("17592186044416", 1, UINT64_MAX, &v), -ERANGE);
	assert_int_equal(wl_opt__parse_size("99999999T", 1, UINT64_MAX, &v), -ERANGE);
	assert_int_equal(v, 77);
	assert_int_equal(wl_opt__parse_size("64", 1, 1 << 30, &v), 0);
	assert_int_equal(v, 64 << 20);
	assert_int_equal(wl_opt__parse_size("2g", 1, 1ULL << 40, &v), 0);
	assert_int_equal(v, 2ULL << 30);
	assert_int_equal(wl_opt__parse_size("1K", 1, 1 << 30, &v), 0);
	assert_true(v >= 4096 && v % 4096 == 0);
}

static void names(void **state)
{
	static const char *const list[] = { "small", "large", NULL };

	(void)state;
	assert_int_equal(wl_opt__parse_name("small", list), 0);
	assert_int_equal(wl_opt__parse_name("large", list), 1);
	assert_int_equal(wl_opt__parse_name("smal", list), -EINVAL);
	assert_int_equal(wl_opt__parse_name("", list), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(u64_takes_numbers_only),
		cmocka_unit_test(double_takes_finite_numbers_only),
		cmocka_unit_test(sizes), cmocka_unit_test(names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
