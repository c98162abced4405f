// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "collector/output.h"

static int parse(struct results *r, const char *line)
{
	return results__parse_line(r, line);
}

static void test_metric(void **state)
{
	struct results r = { 0 };

	(void)state;
	assert_int_equal(parse(&r, "migrc: metric lookups_per_s 1234.5 lookups/s higher time"), 1);
	assert_int_equal(parse(&r, "migrc: metric moved -3e2 pages none count"), 1);
	assert_int_equal(r.nr_metrics, 2);
	assert_string_equal(r.metrics[0].name, "lookups_per_s");
	assert_true(r.metrics[0].value > 1234.4999 && r.metrics[0].value < 1234.5001);
	assert_string_equal(r.metrics[0].unit, "lookups/s");
	assert_string_equal(r.metrics[0].better, "higher");
	assert_true(r.metrics[0].is_time);
	assert_false(r.metrics[1].is_time);
	results__free(&r);
}

static void test_metric_malformed(void **state)
{
	static const char * const lines[] = {
		"migrc: metric a 1 s higher", "migrc: metric a 1 s higher time more",
		"migrc: metric a one s higher time", "migrc: metric A 1 s higher time",
		"migrc: metric a 1 s up time", "migrc: metric a 1 s higher seconds",
		"migrc: metric a nan s higher time", "migrc: metric a 1e999 s higher time",
		"migrc: gauge a 1", "migrc: ", "migrc: metric",
	};
	struct results r = { 0 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		assert_int_equal(parse(&r, lines[i]), -EINVAL);
	assert_int_equal(r.nr_metrics, 0);
	assert_int_equal(parse(&r, "migrc: metric a 1 s higher time"), 1);
	assert_int_equal(parse(&r, "migrc: metric a 2 s higher time"), -EEXIST);
	assert_int_equal(parse(&r, "something else"), 0);
	assert_int_equal(parse(&r, "migrc:metric a 1 s higher time"), 0);
	results__free(&r);
}

static void test_text(void **state)
{
	struct results r = { 0 };

	(void)state;
	assert_int_equal(parse(&r, "migrc: text checksum 61814 and more"), 1);
	assert_string_equal(r.texts[0].name, "checksum");
	assert_string_equal(r.texts[0].value, "61814 and more");
	assert_int_equal(parse(&r, "migrc: text checksum"), -EINVAL);
	assert_int_equal(parse(&r, "migrc: text checksum "), -EINVAL);
	results__free(&r);
}

static void test_hist(void **state)
{
	struct results r = { 0 };

	(void)state;
	/* 3 sub-bits: 5 is bin 5, 17 is bin 16. */
	assert_int_equal(parse(&r, "migrc: hist latency ns 3 3 27 17 5:2 16:1"), 1);
	assert_string_equal(r.hists[0].name, "workload.latency");
	assert_int_equal(r.hists[0].nr_bins, 2);
	assert_int_equal(r.hists[0].bins[1].bin, 16);
	assert_int_equal(r.hists[0].bins[1].n, 1);
	assert_int_equal(r.hists[0].sum, 27);
	assert_int_equal(parse(&r, "migrc: hist empty ns 3 0 0 0"), 1);
	results__free(&r);
}

static void test_hist_unsound(void **state)
{
	static const char * const lines[] = {
		"migrc: hist h ns 3 4 27 17 5:2 16:1",	/* does not add up */
		"migrc: hist h ns 3 3 27 17 16:1 5:2",	/* falls */
		"migrc: hist h ns 3 3 27 17 5:2 5:1",	/* twice */
		"migrc: hist h ns 3 1 27 17 999:1",	/* no such bin */
		"migrc: hist h ns 9 1 5 5 5:1",		/* no such layout */
		"migrc: hist h ns 3 1 5 900 5:1",	/* its maximum is not in its last bin */
		"migrc: hist h ns 3 18446744073709551615 1 1 1:18446744073709551615",
		"migrc: hist h ns 3 0 0 0 1:9223372036854775808 2:9223372036854775808",
		"migrc: hist h ns 3 1 5 5 5:1x",
		"migrc: hist h ns 3 1 5 5 5",
		"migrc: hist h ns 3",
	};
	struct results r = { 0 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		assert_int_equal(parse(&r, lines[i]), -EINVAL);
	assert_int_equal(r.nr_hists, 0);
	results__free(&r);
}

/* What output__feed() passes on while it is fed data in pieces of n bytes. */
static void feed(struct output *o, const char *data, size_t n, char *passed, size_t size)
{
	size_t len = strlen(data), part;
	ssize_t got;
	int fd[2];

	assert_int_equal(pipe(fd), 0);
	assert_int_equal(output__init(o, fd[1], ADAPTER_AUTO, NULL), 0);
	for (; len; data += part, len -= part) {
		part = n < len ? n : len;
		assert_int_equal(output__feed(o, data, part), 0);
	}
	assert_int_equal(output__finish(o), 0);
	close(fd[1]);
	got = read(fd[0], passed, size - 1);
	assert_true(got >= 0);
	passed[got] = '\0';
	close(fd[0]);
}

static void test_output_in_pieces(void **state)
{
	static const char data[] = "hello\nmigrc: metric a 1 s lower time\nmig\n"
				   "migrc: metric broken\nno newline";
	char passed[256];
	struct output o;
	size_t n;

	(void)state;
	for (n = 1; n < sizeof(data); n++) {
		feed(&o, data, n, passed, sizeof(passed));
		assert_string_equal(passed, "hello\nmig\nmigrc: metric broken\nno newline");
		assert_int_equal(o.results.nr_metrics, 1);
		assert_int_equal(o.nr_bad, 1);
		assert_string_equal(o.first_bad, "migrc: metric broken");
		output__free(&o);
	}
}

/* Progress without a newline is not held back. */
/* A NUL inside: no result that the workload meant, and not passed over in silence. */
static void test_output_nul(void **state)
{
	static const char text[] = "migrc: metric m 1 s lower time\0 and more\n";
	int fd = open("/dev/null", O_WRONLY);
	struct output o;

	(void)state;
	assert_int_equal(output__init(&o, fd, ADAPTER_AUTO, NULL), 0);
	assert_int_equal(output__feed(&o, text, sizeof(text) - 1), 0);
	assert_int_equal(o.nr_bad, 1);
	assert_int_equal(o.results.nr_metrics, 0);
	output__free(&o);
	close(fd);
}

static void test_output_progress(void **state)
{
	char passed[64] = "";
	struct output o;
	int fd[2];

	(void)state;
	assert_int_equal(pipe(fd), 0);
	assert_int_equal(output__init(&o, fd[1], ADAPTER_AUTO, NULL), 0);
	assert_int_equal(output__feed(&o, "10 %", 4), 0);
	assert_int_equal(read(fd[0], passed, sizeof(passed)), 4);
	output__free(&o);
	close(fd[0]);
	close(fd[1]);
}

/* A reader that went away: noted, not fatal. */
static void test_output_write_error(void **state)
{
	struct output o;

	(void)state;
	assert_int_equal(output__init(&o, -1, ADAPTER_AUTO, NULL), 0);
	assert_int_equal(output__feed(&o, "text\n", 5), 0);
	assert_int_equal(o.write_err, -EBADF);
	output__free(&o);
}

static void feed_xsbench(struct xsbench *x, const char *const *lines)
{
	memset(x, 0, sizeof(*x));
	for (; *lines; lines++)
		xsbench__line(x, *lines);
}

static void test_xsbench(void **state)
{
	static const char * const lines[] = {
		"Beginning event based simulation...", "Simulation complete.", "Threads:     4",
		"Runtime:     2.360 seconds", "Lookups:     680,000", "Lookups/s:   1,288,183",
		"Verification checksum: 61814 (WARNING - INVALID CHECKSUM!)", NULL,
	};
	struct results r = { 0 };
	struct xsbench x;

	(void)state;
	feed_xsbench(&x, lines);
	assert_true(xsbench__is_success(&x));
	assert_false(x.checksum_valid);
	assert_int_equal(xsbench__results(&x, &r), 0);
	assert_int_equal(r.nr_metrics, 2);
	assert_string_equal(r.metrics[0].name, "lookups_per_s");
	assert_true(r.metrics[0].value > 1288182.9 && r.metrics[0].value < 1288183.1);
	assert_true(r.metrics[1].value > 2.3599 && r.metrics[1].value < 2.3601);
	assert_string_equal(r.texts[0].value, "61814");
	results__free(&r);
}

static void test_xsbench_not(void **state)
{
	static const char * const mpi[] = { "Simulation complete.", "Total Lookups/s:  99,000", NULL };
	static const char * const broken[] = { "Simulation complete.", "Lookups/s:   -", NULL };
	static const char * const early[] = { "Lookups/s:   5", NULL };
	struct xsbench x;

	(void)state;
	feed_xsbench(&x, mpi);
	assert_true(xsbench__is_success(&x));
	feed_xsbench(&x, broken);
	assert_false(xsbench__is_success(&x));
	feed_xsbench(&x, early);
	assert_false(xsbench__is_success(&x));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_metric),
		cmocka_unit_test(test_metric_malformed),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_hist),
		cmocka_unit_test(test_hist_unsound),
		cmocka_unit_test(test_output_in_pieces),
		cmocka_unit_test(test_output_nul),
		cmocka_unit_test(test_output_progress),
		cmocka_unit_test(test_output_write_error),
		cmocka_unit_test(test_xsbench),
		cmocka_unit_test(test_xsbench_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
