// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/dbfile.h"
#include "collector/err.h"
#include "collector/migrate.h"
#include "collector/store.h"
#include "collector/text.h"

static const char schema[] =
#include "collector/schema.sql.h"
	;

/* Another collector may hold the file for as long as its last transaction takes. */
#define STORE__BUSY_MS 30000
/* While the workload runs, its output and deadlines do not wait for another's lock. */
#define STORE__HURRY_MS 20
/* Longer than another's transaction takes as a rule: whoever waits longer wants to know why. */
#define STORE__TELL_MS 1000
#define STORE__STEP_MS 20

/* Say what SQLite says, with the remedy for what users meet; the matching negative errno. */
static int store__error(struct store *s, const char *what)
{
	static const struct {
		int code, err;
		const char *remedy;
	} known[] = {
		{ SQLITE_FULL, -ENOSPC, "free some space there or choose another file with -o" },
		{ SQLITE_IOERR, -EIO, "check the disk and its free space" },
		{ SQLITE_READONLY, -EROFS, "choose a file that can be written with -o" },
		{ SQLITE_CANTOPEN, -EROFS, "choose a file in a folder that can be written with -o" },
		{ SQLITE_PERM, -EROFS, "choose a file that can be written with -o" },
		{ SQLITE_NOTADB, -EPROTO, "it is not a database; choose another file with -o" },
		{ SQLITE_CORRUPT, -EPROTO, "it is damaged; keep it and choose another with -o" },
		{ SQLITE_BUSY, -EBUSY, "another program holds it; wait for that to end" },
		{ SQLITE_NOMEM, -ENOMEM, "free some memory" },
	};
	int code = sqlite3_errcode(s->db) & 0xff;
	size_t i;

	if (s->hurry && code == SQLITE_BUSY)
		return -EBUSY;
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (known[i].code != code)
			continue;
		err__print("%s: %s: %s; %s", s->path, what, sqlite3_errmsg(s->db), known[i].remedy);
		return known[i].err;
	}
	err__print("%s: %s: %s", s->path, what, sqlite3_errmsg(s->db));
	return -EIO;
}

static int store__exec(struct store *s, const char *sql, const char *what)
{
	if (sqlite3_exec(s->db, sql, NULL, NULL, NULL) != SQLITE_OK)
		return store__error(s, what);
	return 0;
}

static int store__get_int(struct store *s, const char *sql, int64_t *out)
{
	sqlite3_stmt *stmt = NULL;
	int err = 0;

	if (sqlite3_prepare_v2(s->db, sql, -1, &stmt, NULL) != SQLITE_OK ||
	    sqlite3_step(stmt) != SQLITE_ROW)
		err = store__error(s, "reading");
	else
		*out = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return err;
}

/* Ctrl-C and the like, held back or not yet delivered: nobody wants to wait any longer. */
static bool told_to_end(void)
{
	sigset_t pending;

	return !sigpending(&pending) &&
	       (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1 ||
		sigismember(&pending, SIGQUIT) == 1);
}

/* SQLite's: another program has the lock, for the count-th time; whether to try again. */
static int store__busy(void *ctx, int count)
{
	struct store *s = ctx;
	long long waited = (long long)count * STORE__STEP_MS;

	if (waited >= (s->hurry ? STORE__HURRY_MS : STORE__BUSY_MS) || told_to_end())
		return 0;
	if (waited >= STORE__TELL_MS && !s->waiting) {
		s->waiting = true;
		err__print("%s: another program holds it; waiting for up to %d s", s->path,
			   STORE__BUSY_MS / 1000);
	}
	usleep(STORE__STEP_MS * 1000);
	return 1;
}

/* One version after the other, in the transaction at hand: all of them or none. */
static int store__migrate(struct store *s, int64_t version)
{
	const char *step;
	int err = 0;

	for (; !err && version < STORE__VERSION; version++) {
		step = migrate__step(version);
		if (!step) {
			err__print("%s: has schema version %lld, which this migrc does not know; "
				   "choose another file with -o", s->path, (long long)version);
			return -EPROTO;
		}
		err = store__exec(s, step, "bringing its tables up to date");
	}
	return err;
}

/* Inside a transaction, so that two collectors that start on a new file do not both make it. */
static int store__check_or_make(struct store *s)
{
	int64_t application_id, version, tables;
	int err;

	err = store__get_int(s, "PRAGMA application_id", &application_id);
	if (!err)
		err = store__get_int(s, "PRAGMA user_version", &version);
	if (!err)
		err = store__get_int(s, "SELECT count(*) FROM sqlite_schema", &tables);
	if (err)
		return err;
	if (!application_id && !version && !tables)
		return store__exec(s, schema, "making the tables");
	if (application_id != STORE__APPLICATION_ID) {
		err__print("%s: a database of another program; choose another file with -o", s->path);
		return -EPROTO;
	}
	if (version > STORE__VERSION) {
		err__print("%s: has schema version %lld, this migrc writes %d; "
			   "use the migrc that made it, or choose another file with -o",
			   s->path, (long long)version, STORE__VERSION);
		return -EPROTO;
	}
	return store__migrate(s, version);
}

/* SQLite takes "" and ":memory:" for databases that are gone when they are closed. */
static int store__set_path(struct store *s, const char *path)
{
	size_t size = strlen(path) + 3;
	char *msg;
	int err;

	if (!*path) {
		err__print("database: its name is empty; give a file");
		return -EINVAL;
	}
	err = dbfile__check_kind(path, &msg);
	if (err) {
		err__print("%s", msg ? msg : "no memory; close other programs");
		free(msg);
		return err;
	}
	s->path = malloc(size);
	if (!s->path)
		return -ENOMEM;
	snprintf(s->path, size, "%s%s", *path == ':' ? "./" : "", path);
	return 0;
}

int store__open(struct store *s, const char *path)
{
	int err;

	memset(s, 0, sizeof(*s));
	err = store__set_path(s, path);
	if (err)
		return err;
	/* A limit to the size of files is an error like a full disk, not the end of the program. */
	signal(SIGXFSZ, SIG_IGN);
	if (sqlite3_open_v2(s->path, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL)) {
		err = store__error(s, "opening");
		goto cleanup;
	}
	sqlite3_busy_handler(s->db, store__busy, s);
	if (sqlite3_db_readonly(s->db, "main") == 1) {
		err__print("%s: is read-only; choose a file that can be written with -o", path);
		err = -EROFS;
		goto cleanup;
	}
	/* Off until the tables are those of today: a migration makes some of them anew. */
	err = store__exec(s, "PRAGMA foreign_keys = OFF; PRAGMA journal_mode = DELETE", "opening");
	if (!err)
		err = store__begin(s);
	if (!err)
		err = store__check_or_make(s);
	if (!err)
		err = store__commit(s);
	if (!err)
		err = store__exec(s, "PRAGMA foreign_keys = ON", "opening");
cleanup:
	if (err) {
		store__rollback(s);
		store__close(s);
	}
	return err;
}

void store__close(struct store *s)
{
	sqlite3_finalize(s->stmt);
	sqlite3_close(s->db);
	free(s->path);
	memset(s, 0, sizeof(*s));
}

void store__hurry(struct store *s, bool hurry)
{
	s->hurry = hurry;
}

int store__begin(struct store *s)
{
	return store__exec(s, "BEGIN IMMEDIATE", "locking");
}

int store__commit(struct store *s)
{
	return store__exec(s, "COMMIT", "writing");
}

void store__rollback(struct store *s)
{
	if (s->db && !sqlite3_get_autocommit(s->db))
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
}

static int store__prepare(struct store *s, const char *sql)
{
	if (s->sql == sql)
		return 0;
	sqlite3_finalize(s->stmt);
	s->stmt = NULL;
	s->sql = NULL;
	if (sqlite3_prepare_v2(s->db, sql, -1, &s->stmt, NULL) != SQLITE_OK)
		return store__error(s, "preparing");
	s->sql = sql;
	return 0;
}

int store__put(struct store *s, const char *sql, const char *types, ...)
{
	const char *text;
	const void *blob;
	va_list ap;
	int i, rc = SQLITE_OK;
	int err;

	err = store__prepare(s, sql);
	if (err)
		return err;
	va_start(ap, types);
	for (i = 0; types[i] && rc == SQLITE_OK; i++) {
		switch (types[i]) {
		case 'i':
			rc = sqlite3_bind_int64(s->stmt, i + 1, va_arg(ap, int64_t));
			break;
		case 'd':
			rc = sqlite3_bind_double(s->stmt, i + 1, va_arg(ap, double));
			break;
		case 't':
			text = va_arg(ap, const char *);
			rc = sqlite3_bind_text(s->stmt, i + 1, text, -1, SQLITE_TRANSIENT);
			break;
		case 'b':
			blob = va_arg(ap, const void *);
			rc = sqlite3_bind_blob64(s->stmt, i + 1, blob, va_arg(ap, size_t),
						 SQLITE_STATIC);
			break;
		default:
			rc = sqlite3_bind_null(s->stmt, i + 1);
			break;
		}
	}
	va_end(ap);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(s->stmt);
	if (rc != SQLITE_DONE)
		err = store__error(s, "writing");
	sqlite3_reset(s->stmt);
	return err;
}

int store__put_run(struct store *s, const struct run_start *start, int64_t *run_id)
{
	static const char sql[] =
		"INSERT INTO run (uuid, arm, block, position, boot_id, workload, command, state, "
		"started_ns, emulated, tool_version) "
		"VALUES (?, ?, ?, ?, ?, ?, ?, 'running', ?, ?, ?)";
	char uuid[64], boot_id[80];
	int err;

	err = text__first_line("/proc/sys/kernel/random/uuid", uuid, sizeof(uuid));
	if (!err && start->imported)
		snprintf(boot_id, sizeof(boot_id), "import-%s", uuid);
	else if (!err)
		err = text__first_line("/proc/sys/kernel/random/boot_id", boot_id, sizeof(boot_id));
	if (err) {
		err__print("/proc/sys/kernel/random: %s; mount /proc", strerror(-err));
		return err;
	}
	err = store__put(s, sql, "ttiitttiit", uuid, start->arm, (int64_t)start->block,
			 (int64_t)start->position, boot_id, start->workload, start->command,
			 start->started_ns, (int64_t)start->emulated, start->tool_version);
	*run_id = sqlite3_last_insert_rowid(s->db);
	if (!err && !start->has_block)
		err = store__put(s, "UPDATE run SET block = NULL WHERE id = ?", "i", *run_id);
	if (!err && !start->has_position)
		err = store__put(s, "UPDATE run SET position = NULL WHERE id = ?", "i", *run_id);
	return err;
}

int store__start_run(struct store *s, const struct run_start *start, int64_t *run_id)
{
	int err = store__begin(s);

	if (!err)
		err = store__put_run(s, start, run_id);
	if (!err)
		err = store__commit(s);
	if (err)
		store__rollback(s);
	return err;
}

int store__end_run(struct store *s, int64_t run_id, const struct run_end *end)
{
	int err;

	err = store__put(s, "UPDATE run SET state = ?, started_ns = ?, timed_out = ? WHERE id = ?",
			 "tiii", end->state, end->started_ns, (int64_t)end->timed_out, run_id);
	if (!err && end->has_wall)
		err = store__put(s, "UPDATE run SET wall_ns = ? WHERE id = ?", "ii", end->wall_ns,
				 run_id);
	if (!err && end->has_exit_code)
		err = store__put(s, "UPDATE run SET exit_code = ? WHERE id = ?", "ii",
				 (int64_t)end->exit_code, run_id);
	if (!err && end->has_signal)
		err = store__put(s, "UPDATE run SET term_signal = ? WHERE id = ?", "ii",
				 (int64_t)end->term_signal, run_id);
	return err;
}
