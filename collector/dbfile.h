/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening a database to read it: what all do that read one, and what they say if it is none. */
#ifndef MIGRC_DBFILE_H
#define MIGRC_DBFILE_H

#include <sqlite3.h>
#include <stdint.h>

/*
 * Opens a database that migrc wrote, of any version up to the present one, only to read. But a writer
 * that was killed leaves a journal, by which whoever opens the database next puts it back to its last
 * whole run; that takes the right to write, and is done.
 *
 * 0, with *db to be closed and its schema's *version; else *db is NULL and *msg, to be freed, is one
 * line with the remedy (NULL without memory): -ENOENT, -EACCES and the like of a path that cannot be
 * read, -EISDIR or -EINVAL of what is no file, -EPROTO of what is no database of migrc or a newer one,
 * -EROFS of one that is half written and may not be put right, -EIO of one that is damaged, -ENOMEM.
 */
int dbfile__open(const char *path, sqlite3 **db, int64_t *version, char **msg);

/*
 * Could a database be there? SQLite would wait for the writer of a pipe without end, and call a folder
 * a disk that fails. 0, also if nothing is there; -EISDIR or -EINVAL, and *msg as above.
 */
int dbfile__check_kind(const char *path, char **msg);

/*
 * Has every page of it what SQLite expects there? Takes a pass over the file. 0; or -EIO, and *msg as
 * above.
 */
int dbfile__check(sqlite3 *db, const char *path, char **msg);

/* The number that a statement's first row begins with. SQLITE_OK, or why there is none. */
int dbfile__int(sqlite3 *db, const char *sql, int64_t *out);

#endif /* MIGRC_DBFILE_H */
