// SPDX-License-Identifier: GPL-2.0-or-later
/* `migrc sql`: a query on a database, with its raw events as a table. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/cmd.h"
#include "collector/cmdline.h"
#include "collector/dbfile.h"
#include "collector/err.h"
#include "collector/events_vtab.h"
#include "collector/term.h"

struct sql_options {
	const char *db, *separator, *query;
	bool header, csv;
};

static const struct argp_option options[] = {
	{ "database", 'd', "FILE", 0, "Database to read (runs.db)", 0 },
	{ "separator", 's', "TEXT", 0, "Between the columns of a line (|)", 0 },
	{ "header", 'H', NULL, 0, "The columns' names first", 0 },
	{ "csv", 'c', NULL, 0, "CSV, the columns' names first", 0 },
	{ 0 },
};

static const char doc[] =
	"Read a database with SQL. Beside the tables that docs/schema.md lists there is `events`: the raw "
	"events of all runs, packed or not, with the columns run_id, t_ns, cpu, tid, kind, name, a, b, c, "
	"d. By run_id, t_ns, kind and name it finds what is asked for without unpacking the rest. "
	"Nothing is written.\v"
	"Examples:\n"
	"  migrc sql 'SELECT name, count(*), avg(a) FROM events WHERE run_id = 3 GROUP BY name'\n"
	"  migrc sql -c \"SELECT * FROM events WHERE name = 'wp_fault'\" > faults.csv\n\n"
	"Other programs load the same table: sqlite3 -cmd '.load migrc_events' runs.db\n\n"
	"Exit status: 0 all was read; 2 an error of usage, of the query or of the database.";

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct sql_options *o = state->input;

	switch (key) {
	case 'd':
		o->db = arg;
		return 0;
	case 's':
		o->separator = arg;
		return 0;
	case 'H':
		o->header = true;
		return 0;
	case 'c':
		o->csv = o->header = true;
		o->separator = ",";
		return 0;
	case ARGP_KEY_ARG:
		if (o->query)
			return cmdline__error(state, "%s: one argument too many", arg);
		o->query = arg;
		return 0;
	case ARGP_KEY_END:
		return o->query ? 0 : cmdline__error(state, "no query; give one, in quotes");
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* --- output ----------------------------------------------------------------------------------- */

/* A field of CSV (RFC 4180) is quoted where it has to be. */
static void print_field(const struct sql_options *o, const char *text)
{
	if (!o->csv || !text[strcspn(text, ",\"\r\n")]) {
		fputs(text, stdout);
		return;
	}
	putchar('"');
	for (; *text; text++) {
		if (*text == '"')
			putchar('"');
		putchar(*text);
	}
	putchar('"');
}

static void print_blob(const unsigned char *data, int size)
{
	int i;

	for (i = 0; i < size; i++)
		printf("%02x", data[i]);
}

static void print_header(const struct sql_options *o, sqlite3_stmt *stmt)
{
	int i, nr = sqlite3_column_count(stmt);

	for (i = 0; i < nr; i++) {
		fputs(i ? o->separator : "", stdout);
		print_field(o, sqlite3_column_name(stmt, i));
	}
	fputs(o->csv ? "\r\n" : "\n", stdout);
}

static void print_row(const struct sql_options *o, sqlite3_stmt *stmt)
{
	int i, nr = sqlite3_column_count(stmt);

	for (i = 0; i < nr; i++) {
		fputs(i ? o->separator : "", stdout);
		if (sqlite3_column_type(stmt, i) == SQLITE_BLOB)
			print_blob(sqlite3_column_blob(stmt, i), sqlite3_column_bytes(stmt, i));
		else if (sqlite3_column_type(stmt, i) != SQLITE_NULL)
			print_field(o, (const char *)sqlite3_column_text(stmt, i));
	}
	fputs(o->csv ? "\r\n" : "\n", stdout);
}

/* --- the database ----------------------------------------------------------------------------- */

static int sql__error(sqlite3 *db, const char *path)
{
	err__print("%s: %s; see `migrc sql --help`", path, sqlite3_errmsg(db));
	return EXIT_TOOL;
}

static int sql__open(const char *path, sqlite3 **db)
{
	int64_t version;
	char *msg;

	if (dbfile__open(path, db, &version, &msg)) {
		err__print("%s", msg ? msg : "no memory; close other programs");
		free(msg);
		return EXIT_TOOL;
	}
	if (sqlite3_exec(*db, "PRAGMA query_only = ON", NULL, NULL, NULL) != SQLITE_OK ||
	    events_vtab__register(*db) != SQLITE_OK)
		return sql__error(*db, path);
	/* Neither ATTACH nor VACUUM INTO, which would write to files that are none of ours. */
	sqlite3_limit(*db, SQLITE_LIMIT_ATTACHED, 0);
	return EXIT_GOOD;
}

/* One statement; *rest is what follows it. */
static int sql__statement(const struct sql_options *o, sqlite3 *db, const char *sql,
			  const char **rest)
{
	sqlite3_stmt *stmt = NULL;
	struct progress bar;
	bool queries;
	int rc = sqlite3_prepare_v2(db, sql, -1, &stmt, rest);

	progress__begin(&bar, "querying", 0);
	sqlite3_progress_handler(db, PROGRESS__SQL_OPS, progress__again, &bar);

	/* Opened to read it is not always, and PRAGMA query_only can be taken back. */
	queries = !stmt || sqlite3_stmt_readonly(stmt);
	if (rc == SQLITE_OK && stmt && queries) {
		if (o->header && sqlite3_column_count(stmt))
			print_header(o, stmt);
		while ((rc = sqlite3_step(stmt)) == SQLITE_ROW && !ferror(stdout)) {
			progress__hide(&bar);
			print_row(o, stmt);
		}
	}
	progress__end(&bar);
	sqlite3_progress_handler(db, 0, NULL, NULL);
	if (!queries) {
		err__print("%s: only queries are run here; change it with sqlite3", o->db);
		rc = EXIT_TOOL;
	} else if (rc != SQLITE_OK && rc != SQLITE_DONE && rc != SQLITE_ROW) {
		rc = sql__error(db, o->db);
	} else {
		rc = EXIT_GOOD;
	}
	sqlite3_finalize(stmt);
	return rc;
}

static int sql__do(const struct sql_options *o, sqlite3 *db)
{
	const char *sql = o->query;
	int rc = EXIT_GOOD;

	while (!rc && *sql && !ferror(stdout))
		rc = sql__statement(o, db, sql, &sql);
	if (fflush(stdout) || ferror(stdout)) {
		err__print("standard output: %s; write to a file instead", strerror(errno));
		rc = EXIT_TOOL;
	}
	return rc;
}

int cmd_sql(int argc, char **argv)
{
	static const struct argp argp = { options, parse_option, "QUERY", doc, NULL, NULL, NULL };
	struct sql_options o = { .db = "runs.db", .separator = "|" };
	sqlite3 *db = NULL;
	int rc;

	if (cmdline__parse(&argp, argc, argv, 0, &o))
		return EXIT_TOOL;
	rc = sql__open(o.db, &db);
	if (!rc)
		rc = sql__do(&o, db);
	sqlite3_close(db);
	return rc;
}
