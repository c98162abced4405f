// SPDX-License-Identifier: GPL-2.0-or-later
/* `migrc merge`: databases together, by the runs' UUIDs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/cmd.h"
#include "collector/cmdline.h"
#include "collector/dbfile.h"
#include "collector/err.h"
#include "collector/store.h"
#include "collector/term.h"

struct merge_options {
	const char *output;
	char **input;
	int nr;
};

static const struct argp_option options[] = {
	{ "output", 'o', "FILE", 0, "Database to add the runs to; made if it is not there", 0 },
	{ 0 },
};

static const char doc[] =
	"Add every run of the databases that OUT does not have yet, by UUID: doing it again changes "
	"nothing. A run that was under way when it was merged is replaced once it has ended.\v"
	"Examples:\n"
	"  migrc merge host1.db host2.db -o all.db\n\n"
	"Exit status: 0 merged; 2 an error of usage or of the tool: of the database that it names nothing "
	"was added.";

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct merge_options *o = state->input;

	switch (key) {
	case 'o':
		o->output = arg;
		return 0;
	case ARGP_KEY_ARGS:
		o->input = state->argv + state->next;
		o->nr = state->argc - state->next;
		state->next = state->argc;
		return 0;
	case ARGP_KEY_END:
		if (!o->output)
			return cmdline__error(state, "into which database? give -o FILE");
		if (!o->nr)
			return cmdline__error(state, "no database; give those to add");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* --- the source ------------------------------------------------------------------------------- */

/* A database to read from: itself, or a copy in the present version if it is of an older one. */
struct source {
	const char *name;
	char path[4200];
	bool is_copy;
};

static void source__free(struct source *s)
{
	if (s->is_copy)
		unlink(s->path);
}

/* A copy that store__open() brings to the present version; the original stays what it is. */
static int source__copy(struct source *s, sqlite3 *from)
{
	const char *tmp = getenv("TMPDIR");
	sqlite3_backup *backup;
	struct store store;
	sqlite3 *to = NULL;
	int fd, rc;

	snprintf(s->path, sizeof(s->path), "%.4000s/migrc-merge-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	fd = mkstemp(s->path);
	if (fd < 0) {
		err__print("%s: %s; set TMPDIR to a folder that can be written", s->path,
			   strerror(errno));
		return -errno;
	}
	close(fd);
	s->is_copy = true;
	rc = sqlite3_open_v2(s->path, &to, SQLITE_OPEN_READWRITE, NULL);
	backup = rc == SQLITE_OK ? sqlite3_backup_init(to, "main", from, "main") : NULL;
	if (backup) {
		sqlite3_backup_step(backup, -1);
		rc = sqlite3_backup_finish(backup);
	}
	if (!backup || rc != SQLITE_OK)
		err__print("%s: copying: %s; free some space in %s", s->name, sqlite3_errmsg(to),
			   s->path);
	sqlite3_close(to);
	if (!backup || rc != SQLITE_OK)
		return -EIO;
	rc = store__open(&store, s->path);
	if (!rc)
		store__close(&store);
	return rc;
}

/* Is it ours, of a version that we know, and whole; path is what to read then. */
static int source__prepare(struct source *s)
{
	int64_t version;
	sqlite3 *db;
	char *msg;
	int err;

	snprintf(s->path, sizeof(s->path), "%s%s", strchr("/.", *s->name) ? "" : "./", s->name);
	err = dbfile__open(s->name, &db, &version, &msg);
	/* What is damaged would be copied as if it were good. */
	if (!err)
		err = dbfile__check(db, s->name, &msg);
	if (err)
		err__print("%s", msg ? msg : "no memory; close other programs");
	else if (version < STORE__VERSION)
		err = source__copy(s, db);
	free(msg);
	sqlite3_close(db);
	return err;
}

/* --- merging ---------------------------------------------------------------------------------- */

/* Of a bar, for each source: some are larger than others, but who knows before they are opened. */
#define SOURCE_STEPS	1000

static int copy_error(struct store *out, const struct source *s)
{
	err__print("%s: adding the runs of %s: %s; nothing of it was added, see whether the disk is full",
		   out->path, s->name, sqlite3_errmsg(out->db));
	return -EIO;
}

static int run_sql(struct store *out, const struct source *s, const char *sql)
{
	if (sqlite3_exec(out->db, sql, NULL, NULL, NULL) == SQLITE_OK)
		return 0;
	return copy_error(out, s);
}

/* "a", "b", "c": the columns of a table but one; NULL without memory. */
static char *columns(struct store *out, const char *table, const char *except)
{
	sqlite3_stmt *stmt = NULL;
	char *list = NULL;

	if (sqlite3_prepare_v2(out->db, "SELECT group_concat('\"' || name || '\"', ', ') FROM "
			       "pragma_table_info(?) WHERE name <> ?", -1, &stmt, NULL) == SQLITE_OK) {
		sqlite3_bind_text(stmt, 1, table, -1, SQLITE_STATIC);
		sqlite3_bind_text(stmt, 2, except, -1, SQLITE_STATIC);
		if (sqlite3_step(stmt) == SQLITE_ROW)
			list = sqlite3_mprintf("%s", sqlite3_column_text(stmt, 0));
	}
	sqlite3_finalize(stmt);
	return list;
}

/* Copies a run's rows of one table: ?1 is the run there, ?2 here. */
static int prepare_copy(struct store *out, const struct source *s, const char *table,
			sqlite3_stmt **stmt)
{
	const char *key = !strcmp(table, "run") ? "id" : "run_id";
	char *list = columns(out, table, key), *sql;
	int err = -ENOMEM;

	sql = list ? sqlite3_mprintf("INSERT INTO main.\"%w\" (%s, %s) SELECT ?2, %s FROM "
				     "src.\"%w\" WHERE %s = ?1", table, key, list, list, table,
				     key) : NULL;
	if (sql)
		err = sqlite3_prepare_v2(out->db, sql, -1, stmt, NULL) == SQLITE_OK ? 0 :
		      copy_error(out, s);
	sqlite3_free(sql);
	sqlite3_free(list);
	return err;
}

#define MAX_TABLES	32

/*
 * Every table that has rows of runs; which comes first does not matter, keys are looked at in the
 * end. Returns how many, or an error.
 */
static int prepare_copies(struct store *out, const struct source *s, sqlite3_stmt **copy)
{
	static const char tables[] =
		"SELECT 'run' UNION ALL SELECT m.name FROM main.sqlite_schema m "
		"JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND c.name = 'run_id'";
	sqlite3_stmt *stmt = NULL;
	int err = 0, nr = 0;

	if (sqlite3_prepare_v2(out->db, tables, -1, &stmt, NULL) != SQLITE_OK)
		return copy_error(out, s);
	while (!err && nr < MAX_TABLES && sqlite3_step(stmt) == SQLITE_ROW)
		err = prepare_copy(out, s, (const char *)sqlite3_column_text(stmt, 0), &copy[nr++]);
	sqlite3_finalize(stmt);
	return err ? err : nr;
}

static int copy_run(struct store *out, const struct source *s, sqlite3_stmt *const *copy, int nr,
		    const int64_t id[2])
{
	for (int i = 0; i < nr; i++) {
		sqlite3_bind_int64(copy[i], 1, id[0]);
		sqlite3_bind_int64(copy[i], 2, id[1]);
		if (sqlite3_step(copy[i]) != SQLITE_DONE)
			return copy_error(out, s);
		sqlite3_reset(copy[i]);
	}
	return 0;
}

/* Run by run, so that one can say how far it is: most of a database is events, in one table. */
static int copy_runs(struct store *out, const struct source *s, struct progress *bar, int64_t runs)
{
	uint64_t before = bar->done, n = 0;
	sqlite3_stmt *copy[MAX_TABLES] = { NULL }, *fresh = NULL;
	int nr = prepare_copies(out, s, copy), err = nr < 0 ? nr : 0, rc = SQLITE_DONE;

	if (!err && sqlite3_prepare_v2(out->db, "SELECT old_id, new_id FROM temp.fresh", -1, &fresh,
				       NULL) != SQLITE_OK)
		err = copy_error(out, s);
	while (!err && (rc = sqlite3_step(fresh)) == SQLITE_ROW) {
		int64_t id[2] = { sqlite3_column_int64(fresh, 0), sqlite3_column_int64(fresh, 1) };

		err = copy_run(out, s, copy, nr, id);
		progress__set(bar, before + ++n * SOURCE_STEPS / (uint64_t)runs);
	}
	if (!err && rc != SQLITE_DONE)
		err = copy_error(out, s);
	sqlite3_finalize(fresh);
	for (int i = 0; i < MAX_TABLES; i++)
		sqlite3_finalize(copy[i]);
	return err;
}

/* Runs that are new, or were under way here and have ended there. */
static const char choose[] =
	"PRAGMA defer_foreign_keys = ON;"
	"DELETE FROM main.run WHERE state = 'running' AND uuid IN "
	"	(SELECT uuid FROM src.run WHERE state <> 'running');"
	"DROP TABLE IF EXISTS temp.fresh;"
	"CREATE TEMP TABLE fresh AS SELECT id AS old_id, (SELECT coalesce(max(id), 0) FROM main.run) + "
	"	row_number() OVER (ORDER BY id) AS new_id FROM src.run "
	"	WHERE uuid NOT IN (SELECT uuid FROM main.run);";

static int merge_source(struct store *out, const struct source *s, struct progress *bar)
{
	int64_t added = 0, all = 0;
	char *sql;
	int err;

	sql = sqlite3_mprintf("ATTACH %Q AS src", s->path);
	err = sql ? run_sql(out, s, sql) : -ENOMEM;
	sqlite3_free(sql);
	if (err)
		return err;
	err = store__begin(out);
	if (!err)
		err = run_sql(out, s, choose);
	if (!err && (dbfile__int(out->db, "SELECT count(*) FROM temp.fresh", &added) != SQLITE_OK ||
		     dbfile__int(out->db, "SELECT count(*) FROM src.run", &all) != SQLITE_OK))
		err = copy_error(out, s);
	if (!err)
		err = copy_runs(out, s, bar, added);
	if (!err)
		err = store__commit(out);
	progress__hide(bar);
	if (err)
		store__rollback(out);
	else
		printf("%s: %lld run%s added, %lld there already\n", s->name, (long long)added,
		       added == 1 ? "" : "s", (long long)(all - added));
	if (run_sql(out, s, "DETACH src") && !err)
		err = -EIO;
	return err;
}

static bool same_file(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static int open_output(struct store *out, const char *path, struct progress *bar)
{
	int err = store__open(out, path);

	if (!err)
		sqlite3_progress_handler(out->db, PROGRESS__SQL_OPS, progress__again, bar);
	return err;
}

static int merge_all(const struct merge_options *o)
{
	struct progress bar;
	struct store out = { 0 };
	int i, err = 0;

	progress__begin(&bar, "merging", (uint64_t)o->nr * SOURCE_STEPS);
	for (i = 0; !err && i < o->nr; i++) {
		struct source s = { .name = o->input[i] };

		if (same_file(s.name, o->output)) {
			err__print("%s: is the output itself; leave it out of the list", s.name);
			err = -EINVAL;
			break;
		}
		progress__set(&bar, (uint64_t)i * SOURCE_STEPS);
		err = source__prepare(&s);
		/* Not before there is something to put into it: it may have to be made. */
		if (!err && i == 0)
			err = open_output(&out, o->output, &bar);
		if (!err)
			err = merge_source(&out, &s, &bar);
		source__free(&s);
	}
	progress__end(&bar);
	if (out.db)
		store__close(&out);
	return err ? EXIT_TOOL : EXIT_GOOD;
}

int cmd_merge(int argc, char **argv)
{
	static const struct argp argp = { options, parse_option, "DB...", doc, NULL, NULL, NULL };
	struct merge_options o = { 0 };

	return cmdline__parse(&argp, argc, argv, 0, &o) ? EXIT_TOOL : merge_all(&o);
}
