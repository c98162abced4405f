/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs in SQLite: collector/schema.sql. A run is a row with state 'running', committed before its
 * workload starts; samples follow in transactions of their own; everything else comes in one
 * transaction at the end. Rollback journal, not WAL: after each commit the one file is whole, so
 * that it can be copied out of a guest at any time.
 *
 * Functions print their error (thing, what, remedy) themselves and return a negative errno.
 */
#ifndef MIGRC_STORE_H
#define MIGRC_STORE_H

#include <stdbool.h>
#include <stdint.h>
#include <sqlite3.h>

#define STORE__APPLICATION_ID 0x4d494752
#define STORE__VERSION 4

struct store {
	sqlite3 *db;
	char *path;
	sqlite3_stmt *stmt;	/* of the rows being put */
	const char *sql;
	bool hurry;
	bool waiting;		/* and it was said */
};

struct run_start {
	const char *arm, *workload, *command, *tool_version;
	bool has_block, has_position;
	long long block, position;
	int64_t started_ns;	/* CLOCK_REALTIME */
	bool emulated;
	bool imported;		/* its boot is not this one: each import is a boot of its own */
};

struct run_end {
	const char *state;	/* complete, failed, interrupted */
	int64_t started_ns, wall_ns;
	bool has_wall;
	bool has_exit_code, has_signal, timed_out;
	int exit_code, term_signal;
};

/*
 * Open path, or make it with the schema if it is not there or empty; one of an older version is
 * brought to the present one. -EPROTO: a database of another kind or of a newer version; -EROFS:
 * cannot be written; -EBUSY; -EINVAL: no name; -EIO.
 *
 * Whoever waits for another program's lock is told so after a second, and stops waiting when a
 * signal that would end this program is pending.
 */
int store__open(struct store *s, const char *path);
void store__close(struct store *s);

/* In a hurry, a database that another program holds is -EBUSY at once, and nothing is printed. */
void store__hurry(struct store *s, bool hurry);
int store__begin(struct store *s);
int store__commit(struct store *s);
void store__rollback(struct store *s);

/* The row and its UUID, within the caller's transaction or one of its own. *run_id is its id. */
int store__put_run(struct store *s, const struct run_start *start, int64_t *run_id);
int store__start_run(struct store *s, const struct run_start *start, int64_t *run_id);
int store__end_run(struct store *s, int64_t run_id, const struct run_end *end);

/*
 * Put one row within the caller's transaction. types has a letter for each `?` of sql: i int64_t,
 * d double, t const char * (NULL is NULL), b const void * and size_t, n a NULL without argument. sql is compared by address:
 * use one constant for many rows and it is prepared once.
 */
int store__put(struct store *s, const char *sql, const char *types, ...);

#endif /* MIGRC_STORE_H */
