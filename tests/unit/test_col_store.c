// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "collector/event_log.h"
#include "collector/events_vtab.h"
#include "collector/pack.h"
#include "collector/store.h"
#include "collector/text.h"

struct world {
	char dir[64], db[96];
	int saved_stderr;
};

/* The messages for users are not under test here: keep them out of the report. */
static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	int null;

	if (!w)
		return -1;
	strcpy(w->dir, "/tmp/migrc-store-XXXXXX");
	if (!mkdtemp(w->dir))
		return -1;
	snprintf(w->db, sizeof(w->db), "%s/runs.db", w->dir);
	w->saved_stderr = dup(STDERR_FILENO);
	null = open("/dev/null", O_WRONLY);
	dup2(null, STDERR_FILENO);
	close(null);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;
	char command[128];

	dup2(w->saved_stderr, STDERR_FILENO);
	close(w->saved_stderr);
	snprintf(command, sizeof(command), "rm -rf %s", w->dir);
	free(w);
	return system(command);
}

static int64_t query(const char *db, const char *sql)
{
	sqlite3_stmt *stmt = NULL;
	sqlite3 *sq = NULL;
	int64_t value;

	assert_int_equal(sqlite3_open(db, &sq), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(sq, sql, -1, &stmt, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
	value = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	sqlite3_close(sq);
	return value;
}

static void exec_sql(const char *db, const char *sql)
{
	sqlite3 *sq = NULL;

	assert_int_equal(sqlite3_open(db, &sq), SQLITE_OK);
	assert_int_equal(sqlite3_exec(sq, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(sq);
}

static int start(struct store *s, int64_t *id)
{
	const struct run_start run = {
		.arm = "stock", .workload = "w", .command = "w -x", .tool_version = "t",
		.has_block = true, .block = 3, .started_ns = 1, .emulated = true,
	};

	return store__start_run(s, &run, id);
}

static void test_new_file(void **state)
{
	struct world *w = *state;
	struct store s;

	assert_int_equal(store__open(&s, w->db), 0);
	store__close(&s);
	assert_int_equal(query(w->db, "PRAGMA application_id"), STORE__APPLICATION_ID);
	assert_int_equal(query(w->db, "PRAGMA user_version"), STORE__VERSION);
	assert_int_equal(query(w->db, "SELECT count(*) FROM run_validity"), 0);
	/* And once more: what is there is kept. */
	assert_int_equal(store__open(&s, w->db), 0);
	store__close(&s);
}

static void test_run(void **state)
{
	const struct run_end end = {
		.state = "interrupted", .started_ns = 7, .wall_ns = 9, .has_wall = true, .has_signal = true,
		.term_signal = 2,
	};
	struct world *w = *state;
	struct store s;
	int64_t id;

	assert_int_equal(store__open(&s, w->db), 0);
	assert_int_equal(start(&s, &id), 0);
	assert_int_equal(query(w->db, "SELECT count(*) FROM run WHERE state = 'running' AND block = 3 "
			       "AND position IS NULL AND wall_ns IS NULL AND length(uuid) = 36"), 1);
	assert_int_equal(store__begin(&s), 0);
	assert_int_equal(store__put(&s, "INSERT INTO metric VALUES (?, ?, ?, ?, ?, ?)", "itdtti", id,
				    "m", 1.5, "s", "lower", (int64_t)1), 0);
	assert_int_equal(store__end_run(&s, id, &end), 0);
	assert_int_equal(store__commit(&s), 0);
	store__close(&s);
	assert_int_equal(query(w->db, "SELECT count(*) FROM run WHERE state = 'interrupted' AND "
			       "term_signal = 2 AND exit_code IS NULL AND wall_ns = 9"), 1);
	assert_int_equal(query(w->db, "SELECT valid FROM run_validity"), 0);
}

static void test_other_versions(void **state)
{
	struct world *w = *state;
	struct store s;

	assert_int_equal(store__open(&s, w->db), 0);
	store__close(&s);
	exec_sql(w->db, "PRAGMA user_version = 99");
	assert_int_equal(store__open(&s, w->db), -EPROTO);
	assert_int_equal(query(w->db, "PRAGMA user_version"), 99);
}

/* SQL of a file, into the database. */
static void exec_file(const char *db, const char *path)
{
	char *text;

	assert_int_equal(text__read_file(path, &text, NULL), 0);
	exec_sql(db, text);
	free(text);
}

/* SQL of what makes the tables, without comments and with one space for any blanks. */
static void dump_schema(const char *db, char *out, size_t size)
{
	sqlite3_stmt *stmt = NULL;
	sqlite3 *sq = NULL;
	const char *c;
	size_t n = 0;

	assert_int_equal(sqlite3_open(db, &sq), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(sq, "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL "
					    "ORDER BY name", -1, &stmt, NULL), SQLITE_OK);
	while (sqlite3_step(stmt) == SQLITE_ROW) {
		for (c = (const char *)sqlite3_column_text(stmt, 0); *c; c++) {
			if (c[0] == '-' && c[1] == '-')
				c += strcspn(c, "\n") - 1;
			else if (strchr(" \t\n", *c) && (!n || strchr(" (\n", out[n - 1])))
				continue;
			else if (*c == ')' && n && out[n - 1] == ' ')
				out[n - 1] = ')';
			else
				out[n++] = strchr(" \t\n", *c) ? ' ' : *c;
			assert_true(n + 2 < size);
		}
		out[n++] = '\n';
	}
	out[n] = '\0';
	sqlite3_finalize(stmt);
	sqlite3_close(sq);
}

/* A database of version 1: all that was in it is there, in the tables of a new database. */
static void test_migration(void **state)
{
	static char migrated[32768], fresh[32768];
	struct world *w = *state;
	struct store s;
	char other[128];
	int64_t id;

	exec_file(w->db, "tests/fixtures/store/v1.sql");
	assert_int_equal(query(w->db, "PRAGMA user_version"), 1);
	assert_int_equal(store__open(&s, w->db), 0);
	assert_int_equal(start(&s, &id), 0);
	store__close(&s);
	assert_int_equal(id, 3);
	assert_int_equal(query(w->db, "PRAGMA user_version"), STORE__VERSION);
	snprintf(other, sizeof(other), "%s/fresh.db", w->dir);
	assert_int_equal(store__open(&s, other), 0);
	store__close(&s);
	dump_schema(w->db, migrated, sizeof(migrated));
	dump_schema(other, fresh, sizeof(fresh));
	assert_string_equal(migrated, fresh);
	assert_int_equal(query(w->db, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
	assert_int_equal(query(w->db, "SELECT count(*) FROM histogram WHERE run_id = 1 AND "
			       "name = 'flush_ns' AND total = 3 AND sum = 21 AND max = 9"), 1);
	assert_int_equal(query(w->db, "SELECT sum(bin * n * span) FROM histogram_bin"), 21);
	assert_int_equal(query(w->db, "SELECT (SELECT count(*) FROM counter) + "
			       "(SELECT count(*) FROM run_label) + (SELECT count(*) FROM fact) + "
			       "(SELECT count(*) FROM metric) + (SELECT count(*) FROM result_text) + "
			       "(SELECT count(*) FROM sample) + (SELECT count(*) FROM probe) + "
			       "(SELECT count(*) FROM instrument) + (SELECT count(*) FROM invalid) + "
			       "(SELECT count(*) FROM event)"), 11);
	/* The run goes and takes its rows along: keys are watched again. */
	assert_int_equal(store__open(&s, w->db), 0);
	assert_int_equal(store__put(&s, "DELETE FROM run WHERE id = ?", "i", (int64_t)1), 0);
	store__close(&s);
	assert_int_equal(query(w->db, "SELECT count(*) FROM histogram_bin"), 0);
}

/* Killed in the midst of it, or unable to go on: the old version, whole. */
static void test_migration_fails(void **state)
{
	struct world *w = *state;
	struct store s;

	exec_file(w->db, "tests/fixtures/store/v1.sql");
	exec_sql(w->db, "CREATE TABLE histogram_v1 (x)");
	assert_true(store__open(&s, w->db) < 0);
	assert_int_equal(query(w->db, "PRAGMA user_version"), 1);
	assert_int_equal(query(w->db, "SELECT count(*) FROM histogram_bin"), 2);
	assert_int_equal(query(w->db, "SELECT count(*) FROM sqlite_schema WHERE name = 'perf_event'"),
			 0);
}

/* Names that SQLite takes for databases that vanish. */
static void test_names(void **state)
{
	struct world *w = *state;
	char cwd[4096];
	struct store s;

	assert_int_equal(store__open(&s, ""), -EINVAL);
	assert_non_null(getcwd(cwd, sizeof(cwd)));
	assert_int_equal(chdir(w->dir), 0);
	assert_int_equal(store__open(&s, ":memory:"), 0);
	store__close(&s);
	assert_int_equal(access(":memory:", F_OK), 0);
	assert_int_equal(chdir(cwd), 0);
}

static void test_other_database(void **state)
{
	struct world *w = *state;
	struct store s;

	exec_sql(w->db, "CREATE TABLE songs (name TEXT); INSERT INTO songs VALUES ('x')");
	assert_int_equal(store__open(&s, w->db), -EPROTO);
	assert_int_equal(query(w->db, "SELECT count(*) FROM songs"), 1);
}

static void test_no_database(void **state)
{
	struct world *w = *state;
	struct store s;
	FILE *f = fopen(w->db, "w");
	int i;

	assert_non_null(f);
	for (i = 0; i < 1000; i++)
		fputs("not a database\n", f);
	fclose(f);
	assert_int_equal(store__open(&s, w->db), -EPROTO);
	f = fopen(w->db, "r");
	assert_int_equal(fgetc(f), 'n');
	fclose(f);
}

static void test_no_folder(void **state)
{
	struct world *w = *state;
	struct store s;
	char path[160];

	snprintf(path, sizeof(path), "%s/none/runs.db", w->dir);
	assert_int_equal(store__open(&s, path), -EROFS);
}

/* A file that may not be written, for a user whom permissions bind. */
static void test_read_only(void **state)
{
	struct world *w = *state;
	struct store s;
	int status;
	pid_t pid;

	assert_int_equal(store__open(&s, w->db), 0);
	store__close(&s);
	assert_int_equal(chmod(w->db, 0444), 0);
	assert_int_equal(chmod(w->dir, 0755), 0);
	pid = fork();
	if (!pid) {
		if (!getuid() && setuid(65534))
			_exit(9);
		_exit(store__open(&s, w->db) == -EROFS ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* Killed in the midst of its last transaction: readable, that run 'running', earlier ones whole. */
static void test_kill(void **state)
{
	struct world *w = *state;
	int go[2], status;
	struct store s;
	int64_t id;
	pid_t pid;
	char byte;

	assert_int_equal(store__open(&s, w->db), 0);
	assert_int_equal(start(&s, &id), 0);
	store__close(&s);
	assert_int_equal(pipe(go), 0);
	pid = fork();
	if (!pid) {
		int64_t i;

		if (store__open(&s, w->db) || start(&s, &id) || store__begin(&s))
			_exit(1);
		/* More than the page cache holds, so that the file itself is half changed. */
		sqlite3_exec(s.db, "PRAGMA cache_size = 5", NULL, NULL, NULL);
		for (i = 0; i < 20000; i++)
			if (store__put(&s, "INSERT INTO sample VALUES (?, ?, 'vmstat', 'x', 1)",
				       "ii", id, i))
				_exit(1);
		if (write(go[1], "x", 1) != 1)
			_exit(1);
		pause();
	}
	assert_int_equal(read(go[0], &byte, 1), 1);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(query(w->db, "SELECT count(*) FROM run WHERE state = 'running'"), 2);
	assert_int_equal(query(w->db, "SELECT count(*) FROM sample"), 0);
	assert_int_equal(query(w->db, "SELECT count(*) FROM pragma_integrity_check "
			       "WHERE integrity_check <> 'ok'"), 0);
	assert_int_equal(store__open(&s, w->db), 0);
	assert_int_equal(start(&s, &id), 0);
	store__close(&s);
	close(go[0]);
	close(go[1]);
}

#define LAST_EVENTS 100

/* A chunk and a bit: with three of these there are chunks on the way and one at the end. */
static int add_events(struct event_log *log, int64_t nr)
{
	struct event e = { .kind = 2, .b = 64 };
	int64_t i;
	int err = 0;

	for (i = 0; !err && i < nr; i++) {
		e.t_ns = log->received * 1000;
		e.a = e.t_ns * 2654435761U % 4099;
		err = event_log__add(log, &e);
	}
	return err;
}

/* Runs without end, each with samples and events on the way and a hundred metrics at its end. */
static void __attribute__((noreturn)) write_runs(const char *db, int ready_fd)
{
	static const char metric[] = "INSERT INTO metric VALUES (?, ?, 1, 's', 'lower', 1)";
	static const char sample[] = "INSERT INTO sample VALUES (?, ?, 'vmstat', 'x', 1)";
	const struct run_end end = { .state = "complete", .started_ns = 1 };
	struct event_log log = { .format = EVENTS_PACKED };
	struct store s;
	char name[16];
	int64_t id, i, t;

	if (store__open(&s, db) || write(ready_fd, "x", 1) != 1)
		_exit(1);
	/* So that large transactions reach the file before they are committed. */
	sqlite3_exec(s.db, "PRAGMA cache_size = 5", NULL, NULL, NULL);
	for (;;) {
		if (start(&s, &id))
			_exit(1);
		for (t = 0; t < 2; t++) {
			if (store__begin(&s))
				_exit(1);
			for (i = 0; i < 500; i++)
				if (store__put(&s, sample, "ii", id, 1000 * t + i))
					_exit(1);
			if (add_events(&log, PACK__MAX_EVENTS + LAST_EVENTS / 2) ||
			    event_log__put_chunks(&log, &s, id) || store__commit(&s))
				_exit(1);
			event_log__stored(&log);
		}
		if (store__begin(&s))
			_exit(1);
		for (i = 0; i < 100; i++) {
			snprintf(name, sizeof(name), "m%d", (int)i);
			if (store__put(&s, metric, "it", id, name))
				_exit(1);
		}
		if (event_log__put_all(&log, &s, id) || store__end_run(&s, id, &end) ||
		    store__commit(&s))
			_exit(1);
		event_log__free(&log);
		log = (struct event_log){ .format = EVENTS_PACKED };
	}
}

/* Whole chunks, one after the other: of a run that is complete, all events that it had. */
static void assert_whole_chunks(const char *db)
{
	sqlite3_stmt *stmt = NULL;
	sqlite3 *sq = NULL;
	int64_t nr;

	assert_int_equal(query(db, "SELECT count(*) FROM run WHERE (SELECT count(*) FROM event_chunk "
			       "WHERE run_id = id) <> (SELECT coalesce(max(seq) + 1, 0) FROM event_chunk "
			       "WHERE run_id = id)"), 0);
	assert_int_equal(sqlite3_open(db, &sq), SQLITE_OK);
	assert_int_equal(events_vtab__register(sq), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(sq, "SELECT (SELECT count(*) FROM events WHERE run_id = id), "
		"state = 'complete' FROM run ORDER BY id DESC LIMIT 3", -1, &stmt, NULL), SQLITE_OK);
	while (sqlite3_step(stmt) == SQLITE_ROW) {
		nr = sqlite3_column_int64(stmt, 0);
		if (sqlite3_column_int(stmt, 1))
			assert_int_equal(nr, 2 * PACK__MAX_EVENTS + LAST_EVENTS);
		else
			assert_true(nr == 0 || nr == PACK__MAX_EVENTS || nr == 2 * PACK__MAX_EVENTS);
	}
	assert_string_equal(sqlite3_errmsg(sq), "no more rows available");
	sqlite3_finalize(stmt);
	sqlite3_close(sq);
}

/* Rows of a run: all of them if it is complete, only what was committed by pieces if not. */
static void assert_all_or_marked(const char *db)
{
	assert_int_equal(query(db, "SELECT count(*) FROM pragma_quick_check WHERE quick_check <> 'ok'"), 0);
	assert_int_equal(query(db, "SELECT count(*) FROM run WHERE "
			       "(SELECT count(*) FROM metric WHERE run_id = id) <> "
			       "CASE state WHEN 'complete' THEN 100 ELSE 0 END OR "
			       "(SELECT count(*) FROM sample WHERE run_id = id) NOT IN (0, 500, 1000) OR "
			       "(state = 'complete' AND "
			       " (SELECT count(*) FROM sample WHERE run_id = id) <> 1000)"), 0);
}

/* kill -9, 100 times, wherever the writer then is. */
static void test_kills(void **state)
{
	struct world *w = *state;
	int64_t complete, before = 0;
	int i, status, go[2];
	unsigned int seed = 1;
	pid_t pid;
	char byte;

	for (i = 0; i < 100; i++) {
		assert_int_equal(pipe(go), 0);
		pid = fork();
		if (!pid)
			write_runs(w->db, go[1]);
		close(go[1]);
		assert_int_equal(read(go[0], &byte, 1), 1);
		close(go[0]);
		usleep((useconds_t)(rand_r(&seed) % 20000));
		assert_int_equal(kill(pid, SIGKILL), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));
		assert_all_or_marked(w->db);
		assert_whole_chunks(w->db);
		/* What was complete stays so, and no kill leaves more than one run behind. */
		complete = query(w->db, "SELECT count(*) FROM run WHERE state = 'complete'");
		assert_true(complete >= before);
		assert_true(query(w->db, "SELECT count(*) FROM run WHERE state = 'running'") <= i + 1);
		before = complete;
	}
	assert_true(query(w->db, "SELECT count(*) FROM run WHERE state = 'running'") > 0);
}

/* No room for the end of a run: an error, and what was committed before is there. */
static void test_full(void **state)
{
	struct world *w = *state;
	struct store s;
	int64_t id, i;
	int err = 0;

	assert_int_equal(store__open(&s, w->db), 0);
	assert_int_equal(start(&s, &id), 0);
	assert_int_equal(sqlite3_exec(s.db, "PRAGMA max_page_count = 60", NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(store__begin(&s), 0);
	for (i = 0; !err && i < 100000; i++)
		err = store__put(&s, "INSERT INTO sample VALUES (?, ?, 'vmstat', 'x', 1)", "ii", id,
				 i);
	assert_int_equal(err, -ENOSPC);
	store__rollback(&s);
	store__close(&s);
	assert_int_equal(query(w->db, "SELECT count(*) FROM run WHERE state = 'running'"), 1);
	assert_int_equal(query(w->db, "SELECT count(*) FROM sample"), 0);
}

/* Many collectors make and fill one file at once. */
static void test_together(void **state)
{
	struct world *w = *state;
	int i, j, status;
	int64_t id;
	pid_t pid;

	for (i = 0; i < 4; i++) {
		pid = fork();
		if (!pid) {
			struct store s;

			if (store__open(&s, w->db))
				_exit(1);
			for (j = 0; j < 5; j++)
				if (start(&s, &id))
					_exit(1);
			store__close(&s);
			_exit(0);
		}
		assert_true(pid > 0);
	}
	for (i = 0; i < 4; i++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	assert_int_equal(query(w->db, "SELECT count(DISTINCT uuid) FROM run"), 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_new_file, setup, teardown),
		cmocka_unit_test_setup_teardown(test_run, setup, teardown),
		cmocka_unit_test_setup_teardown(test_other_versions, setup, teardown),
		cmocka_unit_test_setup_teardown(test_migration, setup, teardown),
		cmocka_unit_test_setup_teardown(test_migration_fails, setup, teardown),
		cmocka_unit_test_setup_teardown(test_names, setup, teardown),
		cmocka_unit_test_setup_teardown(test_other_database, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_database, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_folder, setup, teardown),
		cmocka_unit_test_setup_teardown(test_read_only, setup, teardown),
		cmocka_unit_test_setup_teardown(test_kill, setup, teardown),
		cmocka_unit_test_setup_teardown(test_kills, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full, setup, teardown),
		cmocka_unit_test_setup_teardown(test_together, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
