// SPDX-License-Identifier: GPL-2.0-or-later
#include "collector/dbfile.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/store.h"

#define BUSY_MS	5000

/* Returns err. */
static int complain(char **msg, int err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

static int complain(char **msg, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(msg, fmt, ap) < 0)
		*msg = NULL;
	va_end(ap);
	return *msg ? err : -ENOMEM;
}

int dbfile__int(sqlite3 *db, const char *sql, int64_t *out)
{
	sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW)
		*out = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return rc == SQLITE_ROW ? SQLITE_OK : rc;
}

int dbfile__check_kind(const char *path, char **msg)
{
	struct stat st;

	*msg = NULL;
	if (stat(path, &st) || S_ISREG(st.st_mode))
		return 0;
	if (S_ISDIR(st.st_mode))
		return complain(msg, -EISDIR, "%s: is a folder; give a file in it", path);
	return complain(msg, -EINVAL, "%s: is not a regular file, which a database has to be; give one",
			path);
}

static int check_path(const char *path, char **msg)
{
	if (!*path)
		return complain(msg, -ENOENT, "database: its name is empty; give a file");
	if (access(path, R_OK))
		return complain(msg, -errno, "%s: %s; give a database that can be read", path,
				strerror(errno));
	return dbfile__check_kind(path, msg);
}

/* How it went; what is wrong with the file shows where it is read. */
static int open_for(const char *path, int flags, sqlite3 **db)
{
	int rc = sqlite3_open_v2(path, db, flags, NULL);
	int64_t id;

	if (rc != SQLITE_OK)
		return rc;
	sqlite3_busy_timeout(*db, BUSY_MS);
	return dbfile__int(*db, "PRAGMA application_id", &id) & 0xff;
}

static int open_to_read(const char *path, sqlite3 **db, char **msg)
{
	int rc = open_for(path, SQLITE_OPEN_READONLY, db);

	if (rc == SQLITE_READONLY) {
		sqlite3_close(*db);
		rc = open_for(path, SQLITE_OPEN_READWRITE, db);
		if (rc == SQLITE_READONLY || rc == SQLITE_CANTOPEN || rc == SQLITE_PERM)
			return complain(msg, -EROFS, "%s: a record that was killed left it half written; "
					"read it once as a user who may write there", path);
	}
	if (rc == SQLITE_CANTOPEN || rc == SQLITE_NOMEM)
		return complain(msg, -EIO, "%s: %s; is it a readable file?", path, sqlite3_errmsg(*db));
	return 0;
}

static int check_identity(sqlite3 *db, const char *path, int64_t *version, char **msg)
{
	int64_t id;

	if (dbfile__int(db, "PRAGMA application_id", &id) != SQLITE_OK ||
	    dbfile__int(db, "PRAGMA user_version", version) != SQLITE_OK) {
		if (sqlite3_errcode(db) == SQLITE_NOTADB)
			return complain(msg, -EPROTO, "%s: not a migrc database; give the file that "
					"`migrc record -o` wrote", path);
		return complain(msg, -EIO, "%s: %s; restore it from a copy or record again", path,
				sqlite3_errmsg(db));
	}
	if (id != STORE__APPLICATION_ID)
		return complain(msg, -EPROTO, "%s: not a migrc database (application id 0x%llx); give the "
				"file that `migrc record -o` wrote", path, (unsigned long long)id);
	if (*version < 1 || *version > STORE__VERSION)
		return complain(msg, -EPROTO, "%s: schema version %lld, this migrc reads versions up to %d; "
				"use the migrc that wrote it", path, (long long)*version, STORE__VERSION);
	return 0;
}

int dbfile__open(const char *path, sqlite3 **db, int64_t *version, char **msg)
{
	int err;

	*db = NULL;
	*msg = NULL;
	err = check_path(path, msg);
	if (!err)
		err = open_to_read(path, db, msg);
	if (!err)
		err = check_identity(*db, path, version, msg);
	if (err) {
		sqlite3_close(*db);
		*db = NULL;
	}
	return err;
}

int dbfile__check(sqlite3 *db, const char *path, char **msg)
{
	sqlite3_stmt *stmt = NULL;
	const char *says = NULL;
	int err = 0;

	if (sqlite3_prepare_v2(db, "PRAGMA quick_check(1)", -1, &stmt, NULL) == SQLITE_OK &&
	    sqlite3_step(stmt) == SQLITE_ROW)
		says = (const char *)sqlite3_column_text(stmt, 0);
	if (!says || strcmp(says, "ok")) {
		says = says ? says : sqlite3_errmsg(db);
		/* "*** in database main ***" */
		if (!strncmp(says, "***", 3) && strchr(says, '\n'))
			says = strchr(says, '\n') + 1;
		err = complain(msg, -EIO, "%s: damaged: %.*s; restore it from a copy or record again", path,
			       (int)strcspn(says, "\n"), says);
	}
	sqlite3_finalize(stmt);
	return err;
}
