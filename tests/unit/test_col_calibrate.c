// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/calibrate.h"
#include "collector/err.h"
#include "collector/record.h"

static double wall(const struct calibrate_times *t)
{
	return t->wall;
}

static void near(double got, double want)
{
	if (!(fabs(got - want) < 1e-6))
		fail_msg("got %.9g, want %.9g", got, want);
}

/*
 * Ratios 1.01, 1.03, 1.02: the mean of their logarithms is 0.0197703, their standard deviation
 * 0.0098049, and Student's 0.975 quantile at 2 degrees of freedom 4.302653.
 */
static void test_cost(void **state)
{
	static const struct calibrate_times bare[] = { { 100, 1 }, { 200, 1 }, { 50, 1 } };
	static const struct calibrate_times with[] = { { 101, 1 }, { 206, 1 }, { 51, 1 } };
	const double mean = (log(1.01) + log(1.03) + log(1.02)) / 3;
	struct calibrate_cost c;
	double var = 0, half;
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++)
		var += pow(log(with[i].wall / bare[i].wall) - mean, 2) / 2;
	half = 4.30265273 * sqrt(var / 3);
	assert_int_equal(calibrate__cost(bare, with, 3, wall, &c), 0);
	near(c.est, exp(mean) - 1);
	near(c.lo, exp(mean - half) - 1);
	near(c.hi, exp(mean + half) - 1);
	assert_int_equal(calibrate__cost(bare, with, 1, wall, &c), -ENODATA);
}

static void test_no_time(void **state)
{
	static const struct calibrate_times bare[] = { { 0, 1 }, { 200, 1 } };
	static const struct calibrate_times with[] = { { 101, 1 }, { 206, 1 } };
	struct calibrate_cost c;

	(void)state;
	assert_int_equal(calibrate__cost(bare, with, 2, wall, &c), -EDOM);
}

/* A run that is not made: writes what `migrc record` would, longer with probes; "t" has the order. */
static int fake_record(const struct record_options *o)
{
	FILE *f = fopen(o->workload, "a");
	char sql[512];
	sqlite3 *db;
	int rc;

	fputc(o->probes.mode == PROBES_NONE && !o->interval_ms ? 'b' : 'w', f);
	fclose(f);
	snprintf(sql, sizeof(sql), "CREATE TABLE IF NOT EXISTS run (id INTEGER PRIMARY KEY, wall_ns);"
		 "CREATE TABLE IF NOT EXISTS metric (run_id, name, value);"
		 "INSERT INTO run (wall_ns) VALUES (%d);"
		 "INSERT INTO metric SELECT max(id), 'user_time', 1 FROM run;",
		 o->probes.mode == PROBES_NONE ? 1000 : 1100);
	rc = sqlite3_open(o->db, &db) || sqlite3_exec(db, sql, NULL, NULL, NULL);
	sqlite3_close(db);
	return rc ? EXIT_TOOL : o->timeout_s ? EXIT_WORSE : EXIT_GOOD;
}

static void test_order(void **state)
{
	char path[] = "/tmp/migrc-order-XXXXXX", order[32] = "";
	struct record_options o = { .workload = path, .interval_ms = 100 };
	struct calibration cost = { 0 };
	FILE *f;

	(void)state;
	close(mkstemp(path));
	assert_int_equal(calibrate__run(&o, 3, fake_record, &cost), EXIT_GOOD);
	assert_int_equal(cost.pairs, 3);
	assert_true(cost.has_wall && cost.has_cpu);
	near(cost.wall.est, 0.1);
	near(cost.cpu.est, 0);
	f = fopen(path, "r");
	assert_non_null(fgets(order, sizeof(order), f));
	fclose(f);
	assert_string_equal(order, "bwwbbw");
	/* The first run that is not good ends it. */
	truncate(path, 0);
	o.timeout_s = 1;
	cost.pairs = 0;
	assert_int_equal(calibrate__run(&o, 3, fake_record, &cost), EXIT_WORSE);
	assert_int_equal(cost.pairs, 0);
	f = fopen(path, "r");
	assert_non_null(fgets(order, sizeof(order), f));
	fclose(f);
	assert_string_equal(order, "b");
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cost), cmocka_unit_test(test_no_time),
		cmocka_unit_test(test_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
