// SPDX-License-Identifier: GPL-2.0-or-later
/* `migrc import` as a program, and what the other commands make of its runs. */
#include <math.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "collector/store.h"
#include "collector/text.h"

#define FIXTURES "tests/fixtures/import/"
#define IMPORT "$M import -o $D/runs.db "

struct world {
	char dir[64];
	char *text;		/* what the last command printed, stdout and stderr */
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	if (!w)
		return -1;
	strcpy(w->dir, "/tmp/migrc-import-XXXXXX");
	if (!mkdtemp(w->dir))
		return -1;
	setenv("D", w->dir, 1);
	setenv("M", MIGRC_BUILD "/migrc", 1);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	free(w->text);
	free(w);
	return system("rm -rf \"$D\"");
}

/* Run it in a shell, with $D the test's folder; its exit status. */
static int run(struct world *w, const char *command)
{
	char *line;
	size_t size = strlen(command) + 32;
	int status;

	line = malloc(size);
	assert_non_null(line);
	snprintf(line, size, "{ %s; } >$D/text 2>&1", command);
	status = system(line);
	free(line);
	free(w->text);
	assert_int_equal(text__read_file(strcat(strcpy((char[128]){ 0 }, w->dir), "/text"), &w->text,
					 NULL), 0);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void assert_has(const struct world *w, const char *words)
{
	if (!strstr(w->text, words))
		fail_msg("'%s' is not in: %s", words, w->text);
}

static double query(const struct world *w, const char *sql)
{
	sqlite3_stmt *stmt = NULL;
	sqlite3 *sq = NULL;
	char path[96];
	double value = NAN;

	snprintf(path, sizeof(path), "%s/runs.db", w->dir);
	assert_int_equal(sqlite3_open_v2(path, &sq, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(sq, sql, -1, &stmt, NULL), SQLITE_OK);
	if (sqlite3_step(stmt) == SQLITE_ROW)
		value = sqlite3_column_double(stmt, 0);
	sqlite3_finalize(stmt);
	sqlite3_close(sq);
	return value;
}

/* The line of the comparison that begins with metric has the change. */
static void assert_change(const struct world *w, const char *metric, const char *change)
{
	const char *line, *end;

	for (line = w->text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		end = line + strcspn(line, "\n");
		if (strncmp(line, metric, strlen(metric)))
			continue;
		if (!memmem(line, (size_t)(end - line), change, strlen(change)) ||
		    !memmem(line, (size_t)(end - line), "inconclusive", 12))
			fail_msg("not %s, inconclusive: %.*s", change, (int)(end - line), line);
		return;
	}
	fail_msg("no line of %s in: %s", metric, w->text);
}

/*
 * The evaluation that was posted with version 5 of the series, one run each: what it said, and what
 * one run an arm is worth.
 */
static void test_published(void **state)
{
	struct world *w = *state;

	assert_int_equal(run(w, IMPORT "--arm stock --perf-stat " FIXTURES "published-before.perf "
			     "--vmstat " FIXTURES "published-before.vmstat && "
			     IMPORT "--arm migrc --perf-stat " FIXTURES "published-after.perf "
			     "--vmstat " FIXTURES "published-after.vmstat"), 0);
	assert_has(w, "run 2: XSBench, arm migrc, imported into ");
	assert_int_equal(run(w, "$M compare -d $D/runs.db"), 0);
	assert_change(w, "itlb.itlb_flush ", " -93.9 %");
	assert_change(w, "tlb_flush.dtlb_thread ", " -43.5 %");
	assert_change(w, "tlb_flush.stlb_any ", " -24.9 %");
	assert_change(w, "dTLB-store-misses ", " -34.2 %");
	assert_change(w, "iTLB-load-misses ", " -45.5 %");
	assert_change(w, "wall_time (s) ", " -3.58 %");
	assert_has(w, "migrc against stock: inconclusive: one run per arm.");
	assert_int_equal(run(w, "$M compare --json -d $D/runs.db"), 0);
	assert_has(w, "\"verdict\": \"inconclusive\"");
	/* The report's page of what was published shows the same ratio beside it. */
	assert_int_equal(run(w, "$M report --format text -o - -d $D/runs.db"), 0);
	assert_has(w, "itlb.itlb_flush");
}

static void test_vmstat_pair(void **state)
{
	struct world *w = *state;

	assert_int_equal(run(w, "printf 'nr_free_pages 100\\npgmigrate_success 5\\nold_key 3\\n' > $D/b; "
			     "printf 'nr_free_pages 90\\npgmigrate_success 25\\nnew_key 3\\n' > $D/a; "
			     IMPORT "--arm a --block 3 --position 4 --workload mine --label who=me "
			     "--fact match:cpu_model=x --emulated --command 'a b' "
			     "--vmstat-before $D/b --vmstat-after $D/a"), 0);
	assert_true(query(w, "SELECT after_value - before_value FROM counter "
			  "WHERE name = 'pgmigrate_success'") == 20);
	assert_true(query(w, "SELECT count(*) FROM counter") == 2);
	assert_true(query(w, "SELECT count(*) FROM run WHERE block = 3 AND position = 4 AND emulated AND "
			  "workload = 'mine' AND command = 'a b' AND wall_ns IS NULL AND "
			  "state = 'complete' AND boot_id = 'import-' || uuid") == 1);
	assert_true(query(w, "SELECT count(*) FROM run_label WHERE "
			  "(key = 'imported' AND value = 'vmstat-before,vmstat-after') OR "
			  "(key = 'who' AND value = 'me')") == 2);
	assert_true(query(w, "SELECT count(*) FROM fact WHERE key = 'cpu_model'") == 1);
}

/* A guest of KVM may flush without an interrupt: whoever reads the interrupts must know. */
static void test_hidden_interrupts(void **state)
{
	static const char hidden[] = "show fewer flushes than there were";
	struct world *w = *state;

	if (run(w, "command -v sqlite3"))
		skip();
	assert_int_equal(run(w, IMPORT "--arm a --workload w --fact match:paravirt_tlb_flush=offered "
			     "--vmstat " FIXTURES "published-after.vmstat && "
			     "$M compare -d $D/runs.db"), 0);
	if (strstr(w->text, hidden))
		fail_msg("told without a row of interrupts");
	assert_int_equal(run(w, "sqlite3 $D/runs.db \"INSERT INTO counter VALUES "
			     "(1, 'interrupts', 'TLB', 1, 100)\" && $M report --format text -o - "
			     "-d $D/runs.db | tr -s ' \n' ' '"), 0);
	assert_has(w, hidden);
	assert_int_equal(run(w, "sqlite3 $D/runs.db \"UPDATE fact SET value = 'no'\" && "
			     "$M report --format text -o - -d $D/runs.db | tr -s ' \n' ' '"), 0);
	if (strstr(w->text, hidden))
		fail_msg("told without a hypervisor that does it");
}

static void test_benchmarks(void **state)
{
	struct world *w = *state;

	assert_int_equal(run(w, IMPORT "--arm a --xsbench " FIXTURES "xsbench.txt --perf-stat "
			     FIXTURES "perf-multiplexed.txt && "
			     IMPORT "--arm a --pmbench " FIXTURES "pmbench.txt && "
			     IMPORT "--arm a --pmbench - < " FIXTURES "pmbench.xml"), 0);
	assert_true(query(w, "SELECT value FROM metric WHERE name = 'lookups_per_s'") == 696504);
	assert_true(query(w, "SELECT value FROM result_text WHERE name = 'checksum'") == 73089);
	assert_true(query(w, "SELECT value FROM metric WHERE name = 'runtime' AND run_id = 1") == 1.953);
	/* What could not be counted is absent, what was counted in turn says so. */
	assert_true(query(w, "SELECT count(*) FROM perf_event") == 5);
	assert_true(query(w, "SELECT count(*) FROM perf_event WHERE running_share < 1") == 3);
	assert_true(query(w, "SELECT wall_ns FROM run WHERE id = 1") == 15368900000);
	assert_true(query(w, "SELECT count(*) FROM histogram WHERE sum IS NULL AND max IS NULL") == 4);
	assert_true(query(w, "SELECT count(*) FROM (SELECT b.run_id FROM histogram_bin b "
			  "JOIN histogram h USING (run_id, name) GROUP BY b.run_id, b.name, h.total "
			  "HAVING sum(n) <> total)") == 0);
	assert_int_equal(run(w, "$M show -d $D/runs.db 2"), 0);
	assert_has(w, "<= 255");
	assert_int_equal(run(w, "$M compare -d $D/runs.db"), 0);
	assert_has(w, "perf shared counters between events");
	assert_int_equal(run(w, "$M report -o $D/report.html -d $D/runs.db"), 0);
}

/* One line on stderr, exit 2, and no database that was not there before. */
static void test_errors(void **state)
{
	static const struct {
		const char *args, *words;
	} bad[] = {
		{ "--vmstat x", "no arm" },
		{ "--arm '' --vmstat x", "empty name" },
		{ "--arm a", "no file" },
		{ "--arm a --vmstat-before x", "belong together" },
		{ "--arm a --vmstat $D/none", "No such file" },
		{ "--arm a --vmstat " FIXTURES "xsbench.txt", "not lines of a name and a number" },
		{ "--arm a --vmstat /dev/null", "not lines of a name and a number" },
		{ "--arm a --vmstat $D/twice", "nr_x is there twice" },
		{ "--arm a --vmstat-before $D/late --vmstat-after $D/early", "swapped, or of two boots" },
		{ "--arm a --perf-stat " FIXTURES "xsbench.txt", "no event" },
		{ "--arm a --perf-stat " FIXTURES "perf-interval.csv", "give totals" },
		{ "--arm a --xsbench " FIXTURES "pmbench.txt", "Simulation complete." },
		{ "--arm a --pmbench " FIXTURES "xsbench.txt", "no result of pmbench" },
		{ "--arm a --block x --vmstat x", "--block: 'x'" },
		{ "--arm a stray", "stray: not an option" },
	};
	struct world *w = *state;
	char command[512];

	assert_int_equal(run(w, "printf 'nr_x 1\nnr_y 2\nnr_x 3\n' > $D/twice; "
			     "printf 'pgfree 10\nnr_y 7\n' > $D/early; "
			     "printf 'pgfree 11\nnr_y 5\n' > $D/late"), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(command, sizeof(command), IMPORT "%s", bad[i].args);
		assert_int_equal(run(w, command), 2);
		assert_has(w, bad[i].words);
		if (strncmp(w->text, "migrc", 5) || strchr(w->text, '\n') != w->text + strlen(w->text) - 1)
			fail_msg("%s: not one line: %s", bad[i].args, w->text);
		assert_int_equal(run(w, "test ! -e $D/runs.db"), 0);
	}
	/* A level may have fallen. */
	assert_int_equal(run(w, IMPORT "--arm a --vmstat-before $D/early --vmstat-after $D/late"), 0);
}

/* A database of an older version is read as it is. */
static void test_old_version(void **state)
{
	struct world *w = *state;

	if (run(w, "command -v sqlite3"))
		skip();
	assert_int_equal(run(w, "sqlite3 $D/runs.db < tests/fixtures/store/v1.sql"), 0);
	assert_int_equal(run(w, "$M show -d $D/runs.db 1"), 0);
	assert_has(w, "flush_ns");
	assert_true(query(w, "PRAGMA user_version") == 1);
	assert_int_equal(run(w, IMPORT "--arm a --vmstat " FIXTURES "published-after.vmstat"), 0);
	assert_true(query(w, "PRAGMA user_version") == STORE__VERSION);
	assert_int_equal(run(w, "$M show -d $D/runs.db 1"), 0);
	assert_has(w, "flush_ns");
}

static void test_empty_name(void **state)
{
	struct world *w = *state;

	assert_int_equal(run(w, "$M compare -d ''"), 2);
	assert_has(w, "migrc: database: its name is empty;");
	assert_int_equal(run(w, "$M import -o '' --arm a --vmstat " FIXTURES
			     "published-after.vmstat"), 2);
	assert_has(w, "migrc: database: its name is empty;");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_published, setup, teardown),
		cmocka_unit_test_setup_teardown(test_vmstat_pair, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hidden_interrupts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_benchmarks, setup, teardown),
		cmocka_unit_test_setup_teardown(test_errors, setup, teardown),
		cmocka_unit_test_setup_teardown(test_old_version, setup, teardown),
		cmocka_unit_test_setup_teardown(test_empty_name, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
