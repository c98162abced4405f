// SPDX-License-Identifier: GPL-2.0-or-later
/* The workload programs as a user meets them: exit codes, one-line errors, protocol lines. */
#include <ctype.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "workloads/lib/node.h"

#define OUT_MAX	(64 << 10)

/* Runs a program of build/workloads/ with stderr joined to stdout: its exit code and its output. */
static int run(const char *command, char out[OUT_MAX])
{
	char line[2 * PATH_MAX], self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	size_t len;
	int status;
	FILE *f;

	assert_true(n > 0);
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	snprintf(line, sizeof(line), "'%s/../workloads/'%s 2>&1", self, command);
	f = popen(line, "r");
	assert_non_null(f);
	len = fread(out, 1, OUT_MAX - 1, f);
	out[len] = '\0';
	status = pclose(f);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* Text between "migrc: text checksum " and the end of the line. */
static void checksum_of(const char *out, char sum[64])
{
	const char *at = strstr(out, "\nmigrc: text checksum ");

	assert_non_null(at);
	assert_int_equal(sscanf(at, "\nmigrc: text checksum %63s", sum), 1);
}

static void bad_options_are_one_line_and_exit_2(void **state)
{
	static const char *const bad[] = {
		"xs -g 0", "xs -g -5", "xs -g 99999999999999999999", "xs -g x", "xs -g 1", "xs --seconds 0",
		"xs -t 0", "xs -p 0", "xs -l 0", "xs -s medium", "xs --backing tape", "xs extra",
		"xs -s large -g 1000000000", "xs -p 9000000000000000000 -l 9000000000000000000",
		"xs -s small -g 10 --backing file --dir /no/such/folder",
		"pm -m 0", "pm -m 10M10", "pm -r 101", "pm -r -1", "pm -e 2", "pm -d 0",
		"pm -d nan",
		"pm -p pareto", "pm -m 10 -s 20", "pm -m 1000000000", "pm -j 0", "pm -m 60T",
		"pingpong -t 0", "pingpong --rounds 0", "pingpong --rounds 1 --seconds 1",
		"pingpong --from 64", "cycle -s 0", "cycle --rounds 0", "cycle --write-share 101",
		"cycle --backing anon --write-share 10", "cycle extra",
		"cost --rounds 0", "cost -t 0", "cost --only nothing", "cost extra",
	};
	static char out[OUT_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int ret = run(bad[i], out);
		const char *end = strchr(out, '\n');

		if (ret != 2 || strncmp(out, "migrc: ", 7) || !strchr(out, ';') || !end || end[1])
			fail_msg("%s: exit %d, printed: %s", bad[i], ret, out);
	}
}

static void help_has_examples(void **state)
{
	static const char *const programs[] = { "xs", "pm", "pingpong", "cycle", "cost" };
	static char out[OUT_MAX];
	char command[64];

	(void)state;
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		snprintf(command, sizeof(command), "%s --help", programs[i]);
		assert_int_equal(run(command, out), 0);
		assert_non_null(strstr(out, "EXAMPLES:"));
		snprintf(command, sizeof(command), "%s --no-such-option", programs[i]);
		assert_int_equal(run(command, out), 2);
	}
}

static void xs_prints_the_original_lines(void **state)
{
	static const char *const want[] = {
		"\nSimulation complete.\n", "\nThreads:     2\n", "\nRuntime:     ", " seconds\n",
		"\nLookups:     3,000\n", "\nLookups/s:   ", "\nVerification checksum: ",
		"\nmigrc: metric runtime ", " s lower time\n", "\nmigrc: metric lookups_per_s ",
		" 1/s higher time\n",
	};
	static char out[OUT_MAX];

	(void)state;
	assert_int_equal(run("xs -s small -g 100 -p 300 -l 10 -t 2", out), 0);
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		assert_non_null(strstr(out, want[i]));
}

/* Two passes and more: twice the lookups at least, the checksum of one. */
static void xs_passes_agree(void **state)
{
	static char once[OUT_MAX], more[OUT_MAX];
	char want[64], got[64];

	(void)state;
	assert_int_equal(run("xs -s small -g 100 -p 100 -l 10 -t 2", once), 0);
	assert_int_equal(run("xs -s small -g 100 -p 100 -l 10 -t 2 --seconds 0.2", more), 0);
	checksum_of(once, want);
	checksum_of(more, got);
	assert_string_equal(got, want);
	assert_non_null(strstr(once, "\nmigrc: metric lookups 1000 "));
	assert_null(strstr(more, "\nmigrc: metric lookups 1000 "));
}

static void xs_checksum_is_one(void **state)
{
	char first[64], other[64];
	static char out[OUT_MAX];

	(void)state;
	assert_int_equal(run("xs -s small -g 100 -p 300 -t 1", out), 0);
	checksum_of(out, first);
	assert_int_equal(run("xs -s small -g 100 -p 300 -t 3 --backing memfd --protect", out), 0);
	checksum_of(out, other);
	assert_string_equal(first, other);
	assert_int_equal(run("xs -s small -g 100 -p 301 -t 1", out), 0);
	checksum_of(out, other);
	assert_string_not_equal(first, other);
}

/* TOTAL of a hist line must be the sum of its bins. */
static uint64_t hist_total(const char *out, const char *name)
{
	unsigned long long total, sum, max, bin, n, bins = 0;
	char head[64];
	const char *at;
	int used;

	snprintf(head, sizeof(head), "\nmigrc: hist %s ns 3 ", name);
	at = strstr(out, head);
	assert_non_null(at);
	at += strlen(head);
	assert_int_equal(sscanf(at, "%llu %llu %llu%n", &total, &sum, &max, &used), 3);
	at += used;
	while (*at == ' ' && sscanf(at, " %llu:%llu%n", &bin, &n, &used) == 2) {
		bins += n;
		at += used;
	}
	assert_int_equal(*at, '\n');
	assert_int_equal(bins, total);
	assert_true(max <= sum);
	return total;
}

static void pm_histograms_are_whole(void **state)
{
	static char out[OUT_MAX];
	uint64_t reads, writes;

	(void)state;
	assert_int_equal(run("pm -m 4 -d 0.2 -r 75 -i -j 2 -p normal", out), 0);
	reads = hist_total(out, "read_ns");
	writes = hist_total(out, "write_ns");
	/* 75 %, give or take ten standard errors of the fewest accesses that this can be. */
	assert_true(reads + writes > 1000);
	assert_true((double)reads / (double)(reads + writes) > 0.75 - 0.14);
	assert_true((double)reads / (double)(reads + writes) < 0.75 + 0.14);
	assert_non_null(strstr(out, "\nmigrc: metric accesses_per_s "));
	assert_int_equal(run("pm -m 4 -d 0.1 -r 100", out), 0);
	assert_true(hist_total(out, "read_ns") > 0);
	assert_null(strstr(out, "write_ns"));
}

/* On one node there is nothing to move to; where there are two, the guest tests run them. */
static void one_node_is_exit_5(void **state)
{
	static char out[OUT_MAX];
	uint64_t memory, cpu;

	(void)state;
	if (!wl_node__masks(&memory, &cpu) && (memory & (memory - 1)))
		skip();
	assert_int_equal(run("pingpong --rounds 1", out), 5);
	assert_non_null(strstr(out, "; run it on"));
	assert_int_equal(run("cycle --rounds 1", out), 5);
	assert_non_null(strstr(out, "; run it on"));
	assert_int_equal(run("cost", out), 5);
	assert_non_null(strstr(out, "; run it on"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bad_options_are_one_line_and_exit_2),
		cmocka_unit_test(help_has_examples), cmocka_unit_test(xs_prints_the_original_lines),
		cmocka_unit_test(xs_passes_agree),
		cmocka_unit_test(xs_checksum_is_one), cmocka_unit_test(pm_histograms_are_whole),
		cmocka_unit_test(one_node_is_exit_5),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
