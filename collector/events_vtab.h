/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The virtual table `events`: every raw event of the database main, packed or in plain rows, as
 *
 *	run_id, t_ns, cpu, tid, kind, name, a, b, c, d
 *
 * of which name is the probe's, NULL for a kind that this migrc does not know. The same source is
 * compiled twice: into migrc, and into migrc_events.so for other programs that use SQLite.
 */
#ifndef MIGRC_EVENTS_VTAB_H
#define MIGRC_EVENTS_VTAB_H

#include <sqlite3.h>

/* Make the table known to a connection. An SQLite result code. */
int events_vtab__register(sqlite3 *db);

/* Chunks that were unpacked since the program's start on this thread: for tests of what is skipped. */
unsigned long events_vtab__unpacked(void);

#endif /* MIGRC_EVENTS_VTAB_H */
