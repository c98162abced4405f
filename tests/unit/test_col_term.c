// SPDX-License-Identifier: GPL-2.0-or-later
/* Widths, and the line of a bar. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "collector/term.h"

#define S	1000000000LL

static void test_width(void **state)
{
	static const struct {
		const char *columns;
		size_t width;
	} cases[] = {
		{ "100", 100 }, { "10", 40 }, { "100000", 400 }, { "0", 80 }, { "-5", 80 },
		{ "wide", 80 }, { "", 80 }, { "99999999999999999999", 80 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		setenv("COLUMNS", cases[i].columns, 1);
		/* No descriptor: what no terminal says. */
		assert_int_equal(term__width(-1), cases[i].width);
	}
	unsetenv("COLUMNS");
	assert_int_equal(term__width(-1), 80);
}

static void line(char *buf, uint64_t done, uint64_t total, size_t width, int64_t ns)
{
	struct progress p = { .what = "reading", .total = total, .done = done };
	int n = progress__format(buf, 256, &p, width, ns);

	assert_int_equal(n, strlen(buf));
	assert_true(strlen(buf) <= width);
}

static void test_bar(void **state)
{
	char buf[256];

	(void)state;
	line(buf, 1, 4, 79, 2 * S);
	assert_string_equal(buf, "reading: [#######.......................]  25 %, 6 s left");
	line(buf, 3, 4, 79, 360 * S);
	assert_non_null(strstr(buf, " 75 %, 2 min left"));
	line(buf, 4, 4, 79, 2 * S);
	assert_non_null(strstr(buf, "100 %, 0 s left"));
	/* longer than expected */
	line(buf, 9, 4, 79, 2 * S);
	assert_non_null(strstr(buf, "100 %, 0 s left"));
	/* nothing known yet: how long it has been */
	line(buf, 0, 4, 79, 5 * S);
	assert_string_equal(buf, "reading: 5 s");
	line(buf, 3, 0, 79, 7200 * S);
	assert_string_equal(buf, "reading: 2 h");
}

static void test_narrow(void **state)
{
	char buf[256];

	(void)state;
	for (size_t width = 39; width < 120; width++)
		line(buf, 1, 3, width, 5 * S);
	line(buf, 1, 3, 39, 5 * S);
	assert_non_null(strstr(buf, "33 %, 10 s left"));
}

/* Not a terminal: nothing is drawn, however often it is asked. */
static void test_silent(void **state)
{
	struct progress p;

	(void)state;
	progress__begin(&p, "reading", 3);
	p.on = false;
	p.start_ns = 0;
	progress__set(&p, 2);
	assert_int_equal(p.drawn, 0);
	progress__set(NULL, 1);
	progress__end(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_width),
		cmocka_unit_test(test_bar),
		cmocka_unit_test(test_narrow),
		cmocka_unit_test(test_silent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
