// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "collector/perfstat.h"
#include "collector/text.h"

#define FIXTURES "tests/fixtures/import/"

static int parse_file(const char *path, struct perfstat *p)
{
	char *text;
	int err;

	assert_int_equal(text__read_file(path, &text, NULL), 0);
	err = perfstat__parse(text, p);
	free(text);
	return err;
}

static int parse(const char *text, struct perfstat *p)
{
	char *copy = strdup(text);
	int err;

	assert_non_null(copy);
	err = perfstat__parse(copy, p);
	free(copy);
	return err;
}

static void assert_event(const struct perfstat *p, const char *name, double value, const char *unit,
			 double share)
{
	const struct perf_event *e = perfstat__find(p, name);

	if (!e)
		fail_msg("%s is not there", name);
	assert_true(e->counted);
	assert_true(fabs(e->value - value) < 1e-9 * value);
	assert_string_equal(e->unit, unit);
	assert_true(isnan(share) ? isnan(e->share) : fabs(e->share - share) < 1e-9);
}

static void assert_absent(const struct perfstat *p, const char *name)
{
	const struct perf_event *e = perfstat__find(p, name);

	if (!e)
		fail_msg("%s is not there", name);
	assert_false(e->counted);
}

/* The same measurement in both forms, shared counters and what could not be counted in it. */
static void assert_multiplexed(const struct perfstat *p, double third)
{
	assert_int_equal(p->nr, 7);
	assert_event(p, "task-clock", 60123.45, "msec", 1);
	assert_event(p, "itlb.itlb_flush", 85647229, "", 0.6667);
	assert_event(p, "tlb_flush.dtlb_thread", 480981504, "", 0.6665);
	assert_absent(p, "tlb_flush.stlb_any");
	assert_absent(p, "dTLB-load-misses");
	assert_event(p, "power/energy-pkg/", 1.2, "Joules", 1);
	assert_event(p, "cpu/event=0x1,umask=0x2/u", 1234567, "", third);
}

static void test_text(void **state)
{
	struct perfstat p;

	(void)state;
	assert_int_equal(parse_file(FIXTURES "perf-multiplexed.txt", &p), 0);
	assert_multiplexed(&p, 0.333);
	assert_true(fabs(p.elapsed_s - 15.3689) < 1e-9);
	assert_true(isnan(p.user_s));
	assert_int_equal(p.runs, 3);
	assert_string_equal(p.command, "./XSBench -s large -g 800");
	perfstat__free(&p);
}

static void test_separated(void **state)
{
	static const char * const files[] = {
		FIXTURES "perf-x.csv", FIXTURES "perf-x-semicolon.csv",
	};
	struct perfstat p;

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(parse_file(files[i], &p), 0);
		assert_multiplexed(&p, 0.3333);
		assert_true(isnan(p.elapsed_s));
		assert_int_equal(p.runs, 1);
		perfstat__free(&p);
	}
}

static void test_tabs(void **state)
{
	struct perfstat p;

	(void)state;
	assert_int_equal(parse("12\t\tpage-faults\t575209\t100.00\t86.9\tK/sec\r\n", &p), 0);
	assert_event(&p, "page-faults", 12, "", 1);
	perfstat__free(&p);
	/* A text whose blanks became tabs on its way. */
	assert_int_equal(parse("12\tpage-faults\n", &p), 0);
	assert_event(&p, "page-faults", 12, "", 1);
	perfstat__free(&p);
}

static void test_german(void **state)
{
	struct perfstat p;

	(void)state;
	assert_int_equal(parse_file(FIXTURES "perf-german.txt", &p), 0);
	assert_event(&p, "task-clock", 60123.45, "msec", 1);
	assert_event(&p, "itlb.itlb_flush", 85647229, "", 0.6667);
	assert_true(fabs(p.elapsed_s - 15.3689) < 1e-9);
	assert_true(fabs(p.user_s - 7.5) < 1e-9);
	assert_true(fabs(p.system_s - 0.25) < 1e-9);
	perfstat__free(&p);
}

static void test_published(void **state)
{
	struct perfstat p;

	(void)state;
	assert_int_equal(parse_file(FIXTURES "published-before.perf", &p), 0);
	assert_int_equal(p.nr, 6);
	assert_event(&p, "dTLB-load-misses", 238381632579, "", 1);
	assert_true(p.elapsed_s == 2252.883892112);
	perfstat__free(&p);
}

/* What is no count, or may be two, is refused rather than guessed at. */
static void test_refused(void **state)
{
	static const char * const none[] = {
		"", "\n\n", "perf: command not found\n", "12.5 page-faults\n", "1,23,4 page-faults\n",
		"12 34 page-faults more words\n", "-5 page-faults\n", "nan;;page-faults;1;100.00\n",
		"1e5;;page-faults;1;100.00\n", "12\n", "12 \n", "12,,\n", "<not counted>\n",
	};
	struct perfstat p;

	(void)state;
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		if (parse(none[i], &p) != -EINVAL)
			fail_msg("'%s' is taken for an output of perf", none[i]);
		perfstat__free(&p);
	}
	assert_int_equal(parse("1 page-faults\n2 page-faults\n", &p), -EEXIST);
	perfstat__free(&p);
	assert_int_equal(parse_file(FIXTURES "perf-interval.csv", &p), -EEXIST);
	perfstat__free(&p);
	assert_int_equal(parse("1.5,12,,page-faults,5,100.00\n", &p), -EEXIST);
	perfstat__free(&p);
}

static void test_control_characters(void **state)
{
	struct perfstat p;

	(void)state;
	assert_int_equal(parse("12;;a\033[31mb;1;100.00\n", &p), 0);
	assert_string_equal(p.event[0].name, "a?[31mb");
	perfstat__free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_separated),
		cmocka_unit_test(test_tabs),
		cmocka_unit_test(test_german),
		cmocka_unit_test(test_published),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_control_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
