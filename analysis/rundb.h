/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The runs of a database (collector/schema.sql) in memory, read-only. Knows the schema and nothing
 * of statistics; strings are as stored: whoever prints them escapes them.
 */
#ifndef MIGRC_ANALYSIS_RUNDB_H
#define MIGRC_ANALYSIS_RUNDB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/sbuf.h"

struct rd_text {	/* label, fact, result_text, invalid (key: rule, value: detail) */
	char *class;	/* fact only */
	char *key, *value;
};

struct rd_counter {
	char *source, *name;
	bool has_before;
	int64_t before, after;
};

struct rd_metric {
	char *name, *unit, *better;
	double value;
	bool is_time;
};

struct rd_hist {
	char *name, *unit;
	unsigned int sub_bits, nr;
	int64_t total, sum, max;	/* the last two: or RD_NULL */
	uint64_t *n;		/* nr bins */
	unsigned int *span;	/* bins that n[i] covers from i on; NULL: each its own */
};

struct rd_perf {		/* an event of perf stat */
	char *name, *event, *unit;
	double value;
	double share;		/* part of the time that it was counted; NaN: not told */
};

struct rd_point {
	int64_t t_ns, value;
};

/* One series of samples; points in order of time. */
struct rd_series {
	char *source, *name;
	size_t nr;
	struct rd_point *point;
};

#define RD_NULL	INT64_MIN	/* NULL in an integer column */

struct rd_probe {
	char *name, *rung, *target, *why;
	bool core;
	int64_t seen, submitted, lost, body_ns;	/* or RD_NULL */
};

struct rd_value {	/* instrument */
	char *name;
	int64_t value;
};

struct rd_run {
	int64_t id, block, position;	/* block, position: or RD_NULL */
	char *uuid, *arm, *boot_id, *workload, *command, *state, *tool_version;
	int64_t started_ns, wall_ns, exit_code, term_signal;	/* the last three: or RD_NULL */
	bool timed_out, emulated;
	size_t nr_labels, nr_facts, nr_results, nr_invalid, nr_counters, nr_metrics, nr_hists,
	       nr_series, nr_probes, nr_instrument, nr_perf;
	struct rd_text *labels, *facts, *results, *invalid;
	struct rd_counter *counters;
	struct rd_metric *metrics;
	struct rd_hist *hists;
	struct rd_series *series;
	struct rd_probe *probes;
	struct rd_value *instrument;
	struct rd_perf *perf;
};

struct rundb {
	size_t nr;
	struct rd_run *runs;		/* by workload, then position (NULL last), then start */
};

/*
 * Read all runs of the file at path, opened read-only, in one transaction. 0 and *db, which
 * rundb__free() frees; or a negative errno and *msg, one line without the leading "migrc: " that
 * says what and the remedy, to be freed: -ENOENT no such file, -EPROTO not a migrc database or one
 * of another version, -EIO corrupt or unreadable.
 */
int rundb__load(const char *path, struct rundb **db, char **msg);
/* The same for who decides by it: every page is looked at first, and a damaged one is -EIO. */
int rundb__load_checked(const char *path, struct rundb **db, char **msg);
void rundb__free(struct rundb *db);

/* Whether there are names of that: arm, workload, run (numbers) or metric (keys of the workloads'). */
bool rundb__lists(const char *what);
/*
 * Those names, one a line, each once, without reading the rest of the database. Names with control
 * characters are left out. As rundb__load() on errors.
 */
int rundb__names(const char *path, const char *what, struct sbuf *out, char **msg);

/* Complete and no rule broken. */
bool run__valid(const struct rd_run *run);
/* What makes it invalid, in words, in a new string; NULL if it is valid. */
char *run__why_invalid(const struct rd_run *run);
/* Value of a fact, NULL if absent. */
const char *run__fact(const struct rd_run *run, const char *key);
/* Bytes of a page, by the run's own facts; NaN if they do not say. */
double run__page_size(const struct rd_run *run);
/* By source and name; NULL if absent. */
const struct rd_counter *run__counter(const struct rd_run *run, const char *source,
				      const char *name);
/* Growth of a counter over the run, NaN if absent or if it went backwards. */
double run__delta(const struct rd_run *run, const char *source, const char *name);
/* NULL if absent. */
const struct rd_perf *run__perf(const struct rd_run *run, const char *name);
const struct rd_hist *run__hist(const struct rd_run *run, const char *name);
const struct rd_series *run__series(const struct rd_run *run, const char *source, const char *name);
/* RD_NULL if absent. */
int64_t run__instrument(const struct rd_run *run, const char *name);

#endif /* MIGRC_ANALYSIS_RUNDB_H */
