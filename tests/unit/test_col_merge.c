// SPDX-License-Identifier: GPL-2.0-or-later
/* `migrc merge` and `migrc export` as programs. */
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

#define V1 "tests/fixtures/store/v1.sql"

struct world {
	char dir[64], a[96], b[96], all[96];
	char *text;		/* what the last command printed, stdout and stderr */
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	if (!w)
		return -1;
	strcpy(w->dir, "/tmp/migrc-merge-XXXXXX");
	if (!mkdtemp(w->dir))
		return -1;
	snprintf(w->a, sizeof(w->a), "%s/a.db", w->dir);
	snprintf(w->b, sizeof(w->b), "%s/b.db", w->dir);
	snprintf(w->all, sizeof(w->all), "%s/all.db", w->dir);
	setenv("D", w->dir, 1);
	setenv("TMPDIR", w->dir, 1);
	setenv("M", MIGRC_BUILD "/migrc", 1);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	unsetenv("TMPDIR");
	free(w->text);
	free(w);
	return system("rm -rf \"$D\"");
}

/* Run it in a shell, with $D the test's folder; its exit status. */
static int run(struct world *w, const char *command)
{
	char line[1024], path[96];
	int status;

	snprintf(line, sizeof(line), "{ %s; } >$D/text 2>&1", command);
	status = system(line);
	free(w->text);
	snprintf(path, sizeof(path), "%s/text", w->dir);
	assert_int_equal(text__read_file(path, &w->text, NULL), 0);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void assert_has(const struct world *w, const char *words)
{
	if (!strstr(w->text, words))
		fail_msg("'%s' is not in: %s", words, w->text);
}

static void exec_sql(const char *db, const char *sql)
{
	sqlite3 *sq = NULL;
	char *error = NULL;

	assert_int_equal(sqlite3_open(db, &sq), SQLITE_OK);
	if (sqlite3_exec(sq, sql, NULL, NULL, &error) != SQLITE_OK)
		fail_msg("%s: %s", sql, error);
	sqlite3_close(sq);
}

static int64_t query(const char *db, const char *sql)
{
	sqlite3_stmt *stmt = NULL;
	sqlite3 *sq = NULL;
	int64_t value = -1;

	assert_int_equal(sqlite3_open_v2(db, &sq, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(sq, sql, -1, &stmt, NULL), SQLITE_OK);
	if (sqlite3_step(stmt) == SQLITE_ROW)
		value = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	sqlite3_close(sq);
	return value;
}

/* A database with a row in every table for each of nr runs, by the schema of today. */
static void make(const char *db, const char *prefix, int nr)
{
	char sql[4096];
	struct store s;

	assert_int_equal(store__open(&s, db), 0);
	store__close(&s);
	for (int i = 1; i <= nr; i++) {
		snprintf(sql, sizeof(sql),
			 "INSERT INTO run VALUES (%1$d, '%2$s%1$d', 'stock', 1, 1, 'boot', 'xs', 'xs -g', "
			 "'complete', 1, 2, 0, NULL, 0, 0, 'test');"
			 "INSERT INTO run_label VALUES (%1$d, 'name', '%2$s%1$d');"
			 "INSERT INTO fact VALUES (%1$d, 'match', 'cpu', 'x');"
			 "INSERT INTO counter VALUES (%1$d, 'vmstat', 'pgmigrate_success', 5, 105);"
			 "INSERT INTO metric VALUES (%1$d, 'runtime', 2.5, 's', 'lower', 1);"
			 "INSERT INTO perf_event VALUES (%1$d, 'cycles', 'cycles', 12, '', 0.5);"
			 "INSERT INTO result_text VALUES (%1$d, 'checksum', '%2$s%1$d');"
			 "INSERT INTO histogram VALUES (%1$d, 'h', 'ns', 3, 3, 21, 9);"
			 "INSERT INTO histogram_bin VALUES (%1$d, 'h', 6, 2, 1), (%1$d, 'h', 9, 1, 1);"
			 "INSERT INTO sample VALUES (%1$d, 1, 'vmstat', 'x', 1);"
			 "INSERT INTO probe VALUES (%1$d, 'p', 'fentry', 't', 1, NULL, 1, 1, 0, 1);"
			 "INSERT INTO instrument VALUES (%1$d, 'attach_ns', 1);"
			 "INSERT INTO event VALUES (%1$d, 1, 0, 1, 1, 1, 1, 1, 1);"
			 "INSERT INTO event_chunk VALUES (%1$d, 0, 1, 1, 1, 2, x'00');", i, prefix);
		exec_sql(db, sql);
	}
}

/* Every table that has rows of runs has them once for each of nr runs, with its run. */
static void assert_whole(const char *db, int nr)
{
	static const char * const tables[] = {
		"run_label", "fact", "counter", "metric", "perf_event", "result_text", "histogram",
		"sample", "probe", "instrument", "event", "event_chunk",
	};
	char sql[128];

	assert_int_equal(query(db, "SELECT count(*) FROM run"), nr);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s JOIN run ON run_id = id", tables[i]);
		assert_int_equal(query(db, sql), nr);
	}
	assert_int_equal(query(db, "SELECT count(*) FROM histogram_bin"), 2 * nr);
	assert_int_equal(query(db, "SELECT count(*) FROM run JOIN run_label l ON l.run_id = id "
			       "JOIN result_text t ON t.run_id = id "
			       "WHERE l.value = uuid AND t.value = uuid"), nr);
	assert_int_equal(query(db, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
}

static void test_merge(void **state)
{
	struct world *w = *state;

	make(w->a, "a", 2);
	make(w->b, "b", 3);
	assert_int_equal(run(w, "$M merge $D/a.db $D/b.db -o $D/all.db"), 0);
	assert_has(w, "a.db: 2 runs added, 0 there already\n");
	assert_whole(w->all, 5);
	/* Again, and in another order: nothing changes, to the byte. */
	assert_int_equal(run(w, "cp $D/all.db $D/before.db && $M merge -o $D/all.db $D/b.db $D/a.db"), 0);
	assert_has(w, "b.db: 0 runs added, 3 there already\n");
	assert_whole(w->all, 5);
	assert_int_equal(run(w, "command -v sqlite3 >/dev/null || exit 0; "
			     "sqlite3 $D/all.db .dump > $D/x; sqlite3 $D/before.db .dump | cmp - $D/x"), 0);
	/* A table that some later version adds comes along. */
	exec_sql(w->a, "CREATE TABLE later (run_id INTEGER, what TEXT); "
		 "INSERT INTO later VALUES (1, 'x')");
	assert_int_equal(run(w, "rm $D/all.db"), 0);
	make(w->all, "all", 1);
	exec_sql(w->all, "CREATE TABLE later (run_id INTEGER, what TEXT)");
	assert_int_equal(run(w, "$M merge $D/a.db -o $D/all.db"), 0);
	assert_int_equal(query(w->all, "SELECT count(*) FROM later JOIN run ON run_id = id"), 1);
}

/* One that was under way when it came is replaced once it has ended; never the other way round. */
static void test_running(void **state)
{
	struct world *w = *state;

	make(w->a, "a", 1);
	exec_sql(w->a, "UPDATE run SET state = 'running'; DELETE FROM metric");
	assert_int_equal(run(w, "$M merge $D/a.db -o $D/all.db"), 0);
	exec_sql(w->a, "UPDATE run SET state = 'complete'; "
		 "INSERT INTO metric VALUES (1, 'runtime', 2.5, 's', 'lower', 1)");
	assert_int_equal(run(w, "$M merge $D/a.db -o $D/all.db"), 0);
	assert_whole(w->all, 1);
	assert_int_equal(query(w->all, "SELECT count(*) FROM run WHERE state = 'complete'"), 1);
	exec_sql(w->a, "UPDATE run SET state = 'running'");
	assert_int_equal(run(w, "$M merge $D/a.db -o $D/all.db"), 0);
	assert_int_equal(query(w->all, "SELECT count(*) FROM run WHERE state = 'complete'"), 1);
}

/* Of an older version: brought forward on the way, the file itself stays as it is. */
static void test_old_version(void **state)
{
	struct world *w = *state;
	char *text;

	assert_int_equal(text__read_file(V1, &text, NULL), 0);
	exec_sql(w->a, text);
	free(text);
	make(w->b, "b", 1);
	assert_int_equal(run(w, "$M merge $D/a.db $D/b.db -o $D/all.db"), 0);
	assert_int_equal(query(w->a, "PRAGMA user_version"), 1);
	assert_int_equal(query(w->all, "PRAGMA user_version"), STORE__VERSION);
	assert_int_equal(query(w->all, "SELECT count(*) FROM run"), 3);
	assert_int_equal(query(w->all, "SELECT sum(n * span) FROM histogram_bin WHERE name = 'flush_ns'"), 3);
	assert_int_equal(run(w, "ls $D | grep migrc-merge-"), 1);
}

static void test_errors(void **state)
{
	static const struct {
		const char *command, *words;
	} bad[] = {
		{ "$M merge $D/a.db", "into which database" },
		{ "$M merge -o $D/all.db", "no database" },
		{ "$M merge $D/none.db -o $D/all.db", "No such file" },
		{ "$M merge $D/junk.db -o $D/all.db", "not a migrc database" },
		{ "$M merge $D/empty.db -o $D/all.db", "not a migrc database" },
		{ "$M merge $D -o $D/all.db", "is a folder" },
		{ "timeout 10 $M merge $D/pipe -o $D/all.db", "is not a regular file" },
		{ "$M merge $D/torn.db -o $D/all.db", "damaged" },
		{ "$M merge $D/a.db -o $D", "is a folder" },
		{ "timeout 10 $M merge $D/a.db -o $D/pipe", "is not a regular file" },
		{ "timeout 10 $M runs -d $D/pipe", "is not a regular file" },
		{ "timeout 10 $M sql -d $D/pipe 'SELECT 1'", "is not a regular file" },
		{ "$M merge $D/new.db -o $D/all.db", "schema version 99" },
		{ "$M merge $D/other.db -o $D/all.db", "not a migrc database" },
		{ "$M merge $D/all.db -o $D/all.db", "is the output itself" },
		{ "$M merge $D/a.db -o $D/none/all.db", "folder that can be written" },
		{ "$M export", "in which format" },
		{ "$M export --format xml -d $D/all.db", "none of csv, json, prom" },
		{ "$M export --format csv -d $D/none.db", "No such file" },
	};
	struct world *w = *state;
	char path[96];

	make(w->a, "a", 1);
	make(w->all, "all", 1);
	snprintf(path, sizeof(path), "%s/new.db", w->dir);
	make(path, "new", 1);
	exec_sql(path, "PRAGMA user_version = 99");
	snprintf(path, sizeof(path), "%s/other.db", w->dir);
	exec_sql(path, "CREATE TABLE songs (name TEXT)");
	assert_int_equal(run(w, "head -c 9000 /dev/urandom > $D/junk.db; : > $D/empty.db; mkfifo $D/pipe"),
			 0);
	snprintf(path, sizeof(path), "%s/torn.db", w->dir);
	make(path, "torn", 1);
	/* The tables that are read first are whole: what a merge would notice is less. */
	assert_int_equal(run(w, "sqlite3 $D/torn.db \"INSERT INTO sample SELECT 1, value, 'vmstat', 'y', 0 "
			     "FROM generate_series(1, 20000)\" && s=$(stat -c %s $D/torn.db) && "
			     "yes | dd of=$D/torn.db bs=4096 seek=$((s / 4096 - 20)) count=4 conv=notrunc "
			     "status=none"), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (run(w, bad[i].command) != 2)
			fail_msg("%s: not refused: %s", bad[i].command, w->text);
		assert_has(w, bad[i].words);
		if (strncmp(w->text, "migrc", 5) || strchr(w->text, '\n') != w->text + strlen(w->text) - 1)
			fail_msg("%s: not one line: %s", bad[i].command, w->text);
	}
	assert_whole(w->all, 1);
	/* What has nothing to go into it is not made. */
	assert_int_equal(run(w, "$M merge -o $D/made.db $D/torn.db $D/a.db"), 2);
	assert_int_equal(run(w, "test ! -e $D/made.db"), 0);
}

/* No room for all of it: none of it. */
static void test_full(void **state)
{
	struct world *w = *state;

	make(w->a, "a", 1);
	exec_sql(w->a, "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 20000) "
		 "INSERT INTO sample SELECT 1, x, 'vmstat', 'y', x FROM c");
	make(w->all, "all", 1);
	assert_int_equal(run(w, "ulimit -f 300; trap '' XFSZ; $M merge $D/a.db -o $D/all.db"), 2);
	assert_has(w, "disk");
	assert_whole(w->all, 1);
	assert_int_equal(run(w, "$M merge $D/a.db -o $D/all.db"), 0);
	assert_int_equal(query(w->all, "SELECT count(*) FROM sample"), 20002);
}

static void test_export(void **state)
{
	struct world *w = *state;

	make(w->a, "a", 1);
	exec_sql(w->a, "UPDATE run SET workload = 'x \"y\", z\\' || char(10) || 'w'; "
		 "INSERT INTO histogram_bin VALUES (1, 'h', 16, 5, 8); UPDATE histogram SET total = 8, "
		 "sum = NULL, max = NULL");
	assert_int_equal(run(w, "$M export --format csv -d $D/a.db"), 0);
	assert_has(w, "run,uuid,workload,arm,block,position,boot_id,started_ns,state,valid,emulated,kind,"
		   "source,name,value,unit\r\n");
	assert_has(w, "1,a1,\"x \"\"y\"\", z\\\nw\",stock,1,1,boot,1,complete,1,0,metric,,runtime,2.5,s\r\n");
	assert_has(w, "counter,vmstat,pgmigrate_success,100,\r\n");
	assert_has(w, "perf,cycles,cycles,12,\r\n");
	assert_int_equal(run(w, "$M export --format prom -d $D/a.db"), 0);
	assert_has(w, "# TYPE migrc_histogram histogram\n");
	assert_has(w, "migrc_metric{uuid=\"a1\",workload=\"x \\\"y\\\", z\\\\\\nw\",arm=\"stock\","
		   "name=\"runtime\",unit=\"s\",better=\"lower\"} 2.5\n");
	/* Bin 6 of 3 sub-bits holds 6 alone, bin 9 holds 9, bins 16 to 23 hold 16 to 31. */
	assert_has(w, "name=\"h\",unit=\"ns\",le=\"6\"} 2\n");
	assert_has(w, "name=\"h\",unit=\"ns\",le=\"9\"} 3\n");
	assert_has(w, "name=\"h\",unit=\"ns\",le=\"31\"} 8\n");
	assert_has(w, "name=\"h\",unit=\"ns\",le=\"+Inf\"} 8\n");
	assert_has(w, "migrc_histogram_sum{uuid=\"a1\",workload=\"x \\\"y\\\", z\\\\\\nw\",arm=\"stock\","
		   "name=\"h\",unit=\"ns\"} NaN\n");
	assert_int_equal(run(w, "$M export --format json -d $D/a.db -o $D/x.json && cat $D/x.json"), 0);
	assert_has(w, "\"uuid\": \"a1\"");
	assert_has(w, "\"perf_events\": [");
	if (!run(w, "command -v python3"))
		assert_int_equal(run(w, "python3 -c 'import json,sys; json.load(open(sys.argv[1]))' $D/x.json"),
				 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_merge, setup, teardown),
		cmocka_unit_test_setup_teardown(test_running, setup, teardown),
		cmocka_unit_test_setup_teardown(test_old_version, setup, teardown),
		cmocka_unit_test_setup_teardown(test_errors, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full, setup, teardown),
		cmocka_unit_test_setup_teardown(test_export, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
