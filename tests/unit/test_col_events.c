// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Raw events from the log through the database to the virtual table `events`: every query answers as
 * it does on plain rows, unpacks what it must and no more, and says where a chunk is damaged.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "collector/event_log.h"
#include "collector/events_vtab.h"
#include "collector/pack.h"

#define PER_CHUNK	PACK__MAX_EVENTS
#define NR_A		(5 * PER_CHUNK + 77)	/* of run 1: six chunks */
#define NR_B		1000			/* of run 2: one */
#define NR_C		500			/* of run 3: plain rows */

struct world {
	char dir[64], db[96];
	sqlite3 *sq;
};

/* The i-th event of a run: time goes on, and each chunk of a run has a kind of its own. */
static struct event make_event(int64_t run, int64_t i)
{
	return (struct event){
		.t_ns = (uint64_t)(run * 1000000000 + i * 1000 + i % 7), .cpu = (uint32_t)(i % 4),
		.tid = (uint32_t)(100 + i % 3),
		.kind = i % 10 ? PROBE_TRY_TO_MIGRATE : (uint32_t)(20 + i / PER_CHUNK),
		.a = (uint64_t)(i * 37 % 1000), .b = i % 5 ? 64 : UINT64_MAX, .c = (uint64_t)(i / 100),
		.d = 1ULL << i % 64,
	};
}

static void put_run(struct store *s, struct event_log *log, int64_t nr)
{
	const struct run_start start = {
		.arm = "stock", .workload = "w", .command = "w", .tool_version = "t", .started_ns = 1,
	};
	struct event e;
	int64_t id, i;

	assert_int_equal(store__start_run(s, &start, &id), 0);
	for (i = 0; i < nr; i++) {
		e = make_event(id, i);
		assert_int_equal(event_log__add(log, &e), 0);
		/* As while a workload runs: what is full goes to the store now and then. */
		if (i % (2 * PER_CHUNK + 1000) != 999)
			continue;
		assert_int_equal(store__begin(s), 0);
		assert_int_equal(event_log__put_chunks(log, s, id), 0);
		assert_int_equal(store__commit(s), 0);
		event_log__stored(log);
	}
	assert_int_equal(store__begin(s), 0);
	assert_int_equal(event_log__put_all(log, s, id), 0);
	assert_int_equal(store__commit(s), 0);
	assert_int_equal(log->received, nr);
	event_log__free(log);
}

/* The same events in a table of plain rows, in the same order, under the same names. */
static void make_reference(sqlite3 *sq)
{
	static const int64_t nr[] = { NR_A, NR_B, NR_C };
	sqlite3_stmt *stmt;
	struct event e;
	int64_t i;
	int run;

	assert_int_equal(sqlite3_exec(sq, "CREATE TEMP TABLE ref (run_id INTEGER, t_ns INTEGER, "
		"cpu INTEGER, tid INTEGER, kind INTEGER, name TEXT, a INTEGER, b INTEGER, c INTEGER, "
		"d INTEGER); BEGIN", NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(sq, "INSERT INTO ref VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
					    -1, &stmt, NULL), SQLITE_OK);
	for (run = 1; run <= 3; run++) {
		for (i = 0; i < nr[run - 1]; i++) {
			e = make_event(run, i);
			sqlite3_bind_int64(stmt, 1, run);
			sqlite3_bind_int64(stmt, 2, (int64_t)e.t_ns);
			sqlite3_bind_int64(stmt, 3, e.cpu);
			sqlite3_bind_int64(stmt, 4, e.tid);
			sqlite3_bind_int64(stmt, 5, e.kind);
			if (e.kind == PROBE_TRY_TO_MIGRATE)
				sqlite3_bind_text(stmt, 6, "try_to_migrate", -1, SQLITE_STATIC);
			else
				sqlite3_bind_null(stmt, 6);
			sqlite3_bind_int64(stmt, 7, (int64_t)e.a);
			sqlite3_bind_int64(stmt, 8, (int64_t)e.b);
			sqlite3_bind_int64(stmt, 9, (int64_t)e.c);
			sqlite3_bind_int64(stmt, 10, (int64_t)e.d);
			assert_int_equal(sqlite3_step(stmt), SQLITE_DONE);
			sqlite3_reset(stmt);
		}
	}
	sqlite3_finalize(stmt);
	assert_int_equal(sqlite3_exec(sq, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
}

static int setup(void **state)
{
	struct event_log packed = { .format = EVENTS_PACKED }, rows = { .format = EVENTS_ROWS };
	struct world *w = calloc(1, sizeof(*w));
	struct store s;

	strcpy(w->dir, "/tmp/migrc-events-XXXXXX");
	assert_non_null(mkdtemp(w->dir));
	snprintf(w->db, sizeof(w->db), "%s/runs.db", w->dir);
	assert_int_equal(store__open(&s, w->db), 0);
	put_run(&s, &packed, NR_A);
	put_run(&s, &packed, NR_B);
	put_run(&s, &rows, NR_C);
	store__close(&s);
	assert_int_equal(sqlite3_open(w->db, &w->sq), SQLITE_OK);
	assert_int_equal(events_vtab__register(w->sq), SQLITE_OK);
	make_reference(w->sq);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;
	char command[128];

	sqlite3_close(w->sq);
	snprintf(command, sizeof(command), "rm -rf %s", w->dir);
	free(w);
	return system(command);
}

static int64_t query(sqlite3 *sq, const char *sql)
{
	sqlite3_stmt *stmt = NULL;
	int64_t value;

	if (sqlite3_prepare_v2(sq, sql, -1, &stmt, NULL) != SQLITE_OK ||
	    sqlite3_step(stmt) != SQLITE_ROW)
		fail_msg("%s: %s", sql, sqlite3_errmsg(sq));
	value = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return value;
}

static void exec_sql(sqlite3 *sq, const char *sql)
{
	if (sqlite3_exec(sq, sql, NULL, NULL, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(sq));
}

/* All rows, and in each run in the order in which they came. */
static void test_nothing_lost(void **state)
{
	static const char select[] = "SELECT * FROM %s ORDER BY run_id, rowid";
	struct world *w = *state;
	sqlite3_stmt *a, *b;
	char sql[128];
	int64_t n = 0;
	int i;

	snprintf(sql, sizeof(sql), select, "events");
	assert_int_equal(sqlite3_prepare_v2(w->sq, sql, -1, &a, NULL), SQLITE_OK);
	snprintf(sql, sizeof(sql), select, "ref");
	assert_int_equal(sqlite3_prepare_v2(w->sq, sql, -1, &b, NULL), SQLITE_OK);
	while (sqlite3_step(a) == SQLITE_ROW && sqlite3_step(b) == SQLITE_ROW) {
		for (i = 0; i < 10; i++) {
			if (sqlite3_column_int64(a, i) == sqlite3_column_int64(b, i) &&
			    sqlite3_column_type(a, i) == sqlite3_column_type(b, i))
				continue;
			fail_msg("row %lld, column %d", (long long)n, i);
		}
		n++;
	}
	assert_int_equal(n, NR_A + NR_B + NR_C);
	sqlite3_finalize(a);
	sqlite3_finalize(b);
}

/* Of every column, in whole numbers. */
#define SUMS "count(*) || ' ' || count(name) || ' ' || sum(run_id) || ' ' || sum(t_ns) || ' ' || " \
	"sum(cpu) || ' ' || sum(tid) || ' ' || sum(kind) || ' ' || sum(a) || ' ' || sum(b) || ' ' || " \
	"sum(c) || ' ' || sum(d >> 32) || ' ' || sum(d & 4294967295)"

/* Conditions of every kind that the table looks at itself, and some that it must leave alone. */
static void test_conditions(void **state)
{
	static const char * const conditions[] = {
		"1", "run_id = 1", "run_id = 2", "run_id = 3", "run_id = 4", "run_id IN (1, 3)", "run_id > 1",
		"run_id = '2'", "run_id IS NULL", "run_id = NULL", "t_ns = 1016384004", "t_ns = 3000010003",
		"t_ns >= 1016384004", "t_ns > 1016384004", "t_ns <= 1016384004", "t_ns < 1016384004",
		"t_ns < 1016384004.5", "t_ns > '1016384004'", "t_ns > 'x'", "t_ns < 'x'",
		"t_ns BETWEEN 1030000000 AND 1040000000 AND run_id = 1", "t_ns < 0", "kind = 20",
		"kind = 25", "kind = 2", "kind = 2.0", "kind = '2'", "kind = -1", "kind = 62", "kind = 63",
		"kind = 99999999999", "kind IN (20, 22)", "kind = 20 AND kind = 21", "kind IS NULL",
		"name = 'try_to_migrate'", "name = 'nothing'", "name = 2", "name IS NULL",
		"name = 'TRY_TO_MIGRATE'", "name = 'TRY_TO_MIGRATE' COLLATE NOCASE",
		"name = 'try_to_migrate' AND kind = 20", "name LIKE 'try%'", "b = -1", "d < 0",
		"a = 36 AND cpu = 2 AND tid = 101",
		"run_id = 1 AND kind = 24 AND t_ns >= 1066000000 AND t_ns < 1070000000",
	};
	struct world *w = *state;
	char sql[1024];
	size_t i;

	for (i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++) {
		snprintf(sql, sizeof(sql), "SELECT (SELECT " SUMS " FROM events WHERE %s) IS "
			 "(SELECT " SUMS " FROM ref WHERE %s)", conditions[i], conditions[i]);
		if (query(w->sq, sql) != 1)
			fail_msg("another answer than plain rows: %s", conditions[i]);
	}
	/* As the inner table of a join, begun again and again. */
	assert_int_equal(query(w->sq, "SELECT count(*) FROM (SELECT DISTINCT kind AS k FROM ref) "
			       "JOIN events ON kind = k WHERE run_id = 2"), NR_B);
}

static void assert_unpacks(struct world *w, const char *condition, unsigned long chunks)
{
	unsigned long before = events_vtab__unpacked();
	char sql[256];

	snprintf(sql, sizeof(sql), "SELECT count(*) FROM events WHERE %s", condition);
	query(w->sq, sql);
	if (events_vtab__unpacked() - before != chunks)
		fail_msg("%s: %lu chunks unpacked, not %lu", condition,
			 events_vtab__unpacked() - before, chunks);
}

static void test_skips(void **state)
{
	struct world *w = *state;

	assert_int_equal(query(w->sq, "SELECT count(*) FROM event_chunk"), 7);
	assert_unpacks(w, "1", 7);
	assert_unpacks(w, "run_id = 2", 1);
	assert_unpacks(w, "run_id = 3", 0);
	assert_unpacks(w, "kind = 23", 1);
	assert_unpacks(w, "kind = 99", 0);
	assert_unpacks(w, "name = 'wp_fault'", 0);
	assert_unpacks(w, "name = 'try_to_migrate'", 7);
	assert_unpacks(w, "t_ns < 1000005000", 1);
	assert_unpacks(w, "t_ns >= 1081920000 AND run_id = 1", 1);
	assert_unpacks(w, "t_ns = 1020000000", 1);
	assert_unpacks(w, "t_ns BETWEEN 1010000000 AND 1020000000", 2);
}

static void assert_error(struct world *w, const char *sql, const char *words)
{
	sqlite3_stmt *stmt = NULL;
	int rc;

	assert_int_equal(sqlite3_prepare_v2(w->sq, sql, -1, &stmt, NULL), SQLITE_OK);
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW)
		;
	assert_int_equal(rc, SQLITE_CORRUPT);
	if (!strstr(sqlite3_errmsg(w->sq), words))
		fail_msg("'%s' is not in: %s", words, sqlite3_errmsg(w->sq));
	sqlite3_finalize(stmt);
}

/* It is said which chunk, and the others can be read. */
static void test_damaged(void **state)
{
	static const char * const damages[] = {
		"data = substr(data, 1, length(data) - 3)", "data = x''", "data = zeroblob(1000000)",
		"events = events - 1", "events = 0", "events = -1", "events = 9000000000000000000",
		"data = CAST(substr(data, 1, 50) || x'00' || substr(data, 52) AS BLOB)",
		"data = (SELECT data FROM event_chunk WHERE seq = 3)",
	};
	struct world *w = *state;
	char sql[256];
	size_t i;

	for (i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
		exec_sql(w->sq, "BEGIN");
		snprintf(sql, sizeof(sql), "UPDATE event_chunk SET %s WHERE run_id = 1 AND seq = 5", damages[i]);
		exec_sql(w->sq, sql);
		assert_error(w, "SELECT sum(a) FROM events", "run 1, chunk 5: damaged: ");
		assert_int_equal(query(w->sq, "SELECT count(*) FROM events WHERE run_id = 1 AND "
				       "t_ns <= (SELECT max(last_ns) FROM event_chunk WHERE run_id = 1 AND "
				       "seq < 5)"), 5 * PER_CHUNK);
		assert_int_equal(query(w->sq, "SELECT count(*) FROM events WHERE run_id <> 1 AND run_id = 2"),
				 NR_B);
		exec_sql(w->sq, "ROLLBACK");
	}
	assert_int_equal(query(w->sq, "SELECT count(*) FROM events"), NR_A + NR_B + NR_C);
}

/* A database that knows no packed events yet. */
static void test_older_schema(void **state)
{
	struct world *w = *state;

	exec_sql(w->sq, "BEGIN; DROP TABLE event_chunk");
	assert_int_equal(query(w->sq, "SELECT count(*) FROM events"), NR_C);
	assert_int_equal(query(w->sq, "SELECT count(*) FROM events WHERE run_id = 3 AND kind = 2"),
			 NR_C - NR_C / 10);
	exec_sql(w->sq, "ROLLBACK");
}

/* The same from the library that other programs load. */
static void test_extension(void **state)
{
	struct world *w = *state;
	char *error = NULL;
	sqlite3 *other;

	assert_int_equal(sqlite3_open(w->db, &other), SQLITE_OK);
	assert_int_equal(sqlite3_enable_load_extension(other, 1), SQLITE_OK);
	if (sqlite3_load_extension(other, MIGRC_BUILD "/migrc_events", NULL, &error) != SQLITE_OK)
		fail_msg("%s", error);
	assert_int_equal(query(other, "SELECT count(*) FROM events"), NR_A + NR_B + NR_C);
	assert_int_equal(query(other, "SELECT count(*) FROM events WHERE name = 'try_to_migrate' AND "
			       "run_id = 2"), NR_B - NR_B / 10);
	sqlite3_close(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_lost),
		cmocka_unit_test(test_conditions),
		cmocka_unit_test(test_skips),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_older_schema),
		cmocka_unit_test(test_extension),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
