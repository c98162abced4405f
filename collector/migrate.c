// SPDX-License-Identifier: GPL-2.0-or-later
#include <stddef.h>

#include "collector/migrate.h"

/*
 * Each step is what was true when it was written: it is never changed after, whatever schema.sql
 * becomes, for databases of its version are out there. Words must be those of schema.sql, so that
 * the two ways to a version end in the same tables; a test compares them.
 */
static const char * const steps[] = {
	/*
	 * 1 to 2: events of perf; histograms of others, who tell bins but not sum and maximum, and
	 * bins that are coarser than the layout. A column cannot lose its NOT NULL: copied.
	 */
	[1] =
	"CREATE TABLE perf_event (\n"
	"	run_id		INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,\n"
	"	name		TEXT NOT NULL,\n"
	"	event		TEXT NOT NULL,\n"
	"	value		REAL NOT NULL,\n"
	"	unit		TEXT NOT NULL,\n"
	"	running_share	REAL,\n"
	"	PRIMARY KEY (run_id, name)\n"
	") STRICT, WITHOUT ROWID;\n"
	"ALTER TABLE histogram RENAME TO histogram_v1;\n"
	"ALTER TABLE histogram_bin RENAME TO histogram_bin_v1;\n"
	"CREATE TABLE histogram (\n"
	"	run_id		INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,\n"
	"	name		TEXT NOT NULL,\n"
	"	unit		TEXT NOT NULL,\n"
	"	sub_bits	INTEGER NOT NULL CHECK (sub_bits BETWEEN 0 AND 8),\n"
	"	total		INTEGER NOT NULL,\n"
	"	sum		INTEGER,\n"
	"	max		INTEGER,\n"
	"	PRIMARY KEY (run_id, name)\n"
	") STRICT, WITHOUT ROWID;\n"
	"CREATE TABLE histogram_bin (\n"
	"	run_id		INTEGER NOT NULL,\n"
	"	name		TEXT NOT NULL,\n"
	"	bin		INTEGER NOT NULL,\n"
	"	n		INTEGER NOT NULL,\n"
	"	span		INTEGER NOT NULL DEFAULT 1 CHECK (span >= 1),\n"
	"	PRIMARY KEY (run_id, name, bin),\n"
	"	FOREIGN KEY (run_id, name) REFERENCES histogram(run_id, name) ON DELETE CASCADE\n"
	") STRICT, WITHOUT ROWID;\n"
	"INSERT INTO histogram SELECT run_id, name, unit, sub_bits, total, sum, max\n"
	"	FROM histogram_v1;\n"
	"INSERT INTO histogram_bin SELECT run_id, name, bin, n, 1 FROM histogram_bin_v1;\n"
	"DROP TABLE histogram_bin_v1;\n"
	"DROP TABLE histogram_v1;\n"
	"PRAGMA user_version = 2;\n",
	/* 2 to 3: kprobe-multi is a rung of its own. A CHECK cannot be changed: copied. */
	[2] =
	"ALTER TABLE probe RENAME TO probe_v2;\n"
	"CREATE TABLE probe (\n"
	"	run_id		INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,\n"
	"	name		TEXT NOT NULL,\n"
	"	rung		TEXT NOT NULL CHECK (rung IN ('fentry', 'kprobe-multi', 'kprobe', 'tracepoint', 'none')),\n"
	"	target		TEXT NOT NULL,\n"
	"	core		INTEGER NOT NULL CHECK (core IN (0, 1)),\n"
	"	why		TEXT,\n"
	"	seen		INTEGER,\n"
	"	submitted	INTEGER,\n"
	"	lost		INTEGER,\n"
	"	body_ns		INTEGER,\n"
	"	PRIMARY KEY (run_id, name)\n"
	") STRICT, WITHOUT ROWID;\n"
	"INSERT INTO probe SELECT run_id, name, rung, target, core, why, seen, submitted, lost,\n"
	"	body_ns FROM probe_v2;\n"
	"DROP TABLE probe_v2;\n"
	"PRAGMA user_version = 3;\n",
	/* 3 to 4: packed events, beside those in rows, which stay what they are. */
	[3] =
	"CREATE TABLE event_chunk (\n"
	"	run_id		INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,\n"
	"	seq		INTEGER NOT NULL,\n"
	"	events		INTEGER NOT NULL,\n"
	"	first_ns	INTEGER NOT NULL,\n"
	"	last_ns		INTEGER NOT NULL,\n"
	"	kinds		INTEGER NOT NULL,\n"
	"	data		BLOB NOT NULL,\n"
	"	PRIMARY KEY (run_id, seq)\n"
	") STRICT;\n"
	"PRAGMA user_version = 4;\n",
};

const char *migrate__step(int64_t version)
{
	if (version < 0 || version >= (int64_t)(sizeof(steps) / sizeof(steps[0])))
		return NULL;
	return steps[version];
}
