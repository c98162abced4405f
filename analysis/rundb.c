// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/rundb.h"

#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/sbuf.h"
#include "bpf/loglin.h"
#include "collector/dbfile.h"
#include "collector/term.h"

#define MAX_SUB_BITS	8

/* The schema forbids NULL, but a file may be damaged, or made by who knows what: "" then. */
static const char *column(sqlite3_stmt *st, int col)
{
	const char *s = (const char *)sqlite3_column_text(st, col);

	return s ? s : "";
}

static char *text(sqlite3_stmt *st, int col)
{
	return mem__strdup(column(st, col));
}

static char *text_or_null(sqlite3_stmt *st, int col)
{
	return mem__strdup((const char *)sqlite3_column_text(st, col));
}

static int64_t integer(sqlite3_stmt *st, int col)
{
	if (sqlite3_column_type(st, col) == SQLITE_NULL)
		return RD_NULL;
	return sqlite3_column_int64(st, col);
}

/* --- one reader per table: adds the row at hand to the run ------------------------------------ */

static void add_text(struct rd_text **array, size_t *nr, sqlite3_stmt *st)
{
	*array = mem__grow(*array, *nr);
	(*array)[(*nr)++] = (struct rd_text){
		.key = text(st, 0), .value = text(st, 1), .class = text(st, 2),
	};
}

static void read_label(struct rd_run *run, sqlite3_stmt *st)
{
	add_text(&run->labels, &run->nr_labels, st);
}

static void read_fact(struct rd_run *run, sqlite3_stmt *st)
{
	add_text(&run->facts, &run->nr_facts, st);
}

static void read_result(struct rd_run *run, sqlite3_stmt *st)
{
	add_text(&run->results, &run->nr_results, st);
}

static void read_invalid(struct rd_run *run, sqlite3_stmt *st)
{
	add_text(&run->invalid, &run->nr_invalid, st);
}

static void read_counter(struct rd_run *run, sqlite3_stmt *st)
{
	int64_t before = integer(st, 2);

	run->counters = mem__grow(run->counters, run->nr_counters);
	run->counters[run->nr_counters++] = (struct rd_counter){
		.source = text(st, 0), .name = text(st, 1),
		.has_before = before != RD_NULL, .before = before != RD_NULL ? before : 0,
		.after = integer(st, 3),
	};
}

static void read_metric(struct rd_run *run, sqlite3_stmt *st)
{
	run->metrics = mem__grow(run->metrics, run->nr_metrics);
	run->metrics[run->nr_metrics++] = (struct rd_metric){
		.name = text(st, 0), .value = sqlite3_column_double(st, 1), .unit = text(st, 2),
		.better = text(st, 3), .is_time = sqlite3_column_int(st, 4),
	};
}

static void read_hist(struct rd_run *run, sqlite3_stmt *st)
{
	struct rd_hist *h;

	run->hists = mem__grow(run->hists, run->nr_hists);
	h = &run->hists[run->nr_hists++];
	*h = (struct rd_hist){
		.name = text(st, 0), .unit = text(st, 1),
		.sub_bits = (unsigned int)sqlite3_column_int(st, 2),
		.total = integer(st, 3), .sum = integer(st, 4), .max = integer(st, 5),
	};
	if (h->sub_bits > MAX_SUB_BITS)	/* then its bins miss the total */
		h->sub_bits = 0;
	h->nr = LOGLIN_BINS(h->sub_bits);
	h->n = mem__calloc(h->nr, sizeof(*h->n));
}

static void set_span(struct rd_hist *h, int64_t bin, int64_t span)
{
	if (span <= 1 || span > h->nr - bin)
		return;
	if (!h->span)
		h->span = mem__calloc(h->nr, sizeof(*h->span));
	h->span[bin] = (unsigned int)span;
}

static void read_bin(struct rd_run *run, sqlite3_stmt *st)
{
	const char *name = column(st, 0);
	int64_t bin = integer(st, 1), n = integer(st, 2);

	for (size_t i = 0; i < run->nr_hists; i++) {
		struct rd_hist *h = &run->hists[i];

		if (strcmp(h->name, name))
			continue;
		/* What is not in the layout is lost here and shows as bins that miss the total. */
		if (bin >= 0 && bin < h->nr && n > 0) {
			h->n[bin] = (uint64_t)n;
			set_span(h, bin, integer(st, 3));
		}
		return;
	}
}

/* Rows come by series and time, so a new name starts a new series. */
static void read_sample(struct rd_run *run, sqlite3_stmt *st)
{
	const char *source = column(st, 0);
	const char *name = column(st, 1);
	struct rd_series *s = run->nr_series ? &run->series[run->nr_series - 1] : NULL;

	if (!s || strcmp(s->source, source) || strcmp(s->name, name)) {
		run->series = mem__grow(run->series, run->nr_series);
		s = &run->series[run->nr_series++];
		*s = (struct rd_series){ .source = mem__strdup(source), .name = mem__strdup(name) };
	}
	s->point = mem__grow(s->point, s->nr);
	s->point[s->nr++] = (struct rd_point){ integer(st, 2), integer(st, 3) };
}

static void read_probe(struct rd_run *run, sqlite3_stmt *st)
{
	run->probes = mem__grow(run->probes, run->nr_probes);
	run->probes[run->nr_probes++] = (struct rd_probe){
		.name = text(st, 0), .rung = text(st, 1), .target = text(st, 2),
		.core = sqlite3_column_int(st, 3), .why = text_or_null(st, 4), .seen = integer(st, 5),
		.submitted = integer(st, 6), .lost = integer(st, 7), .body_ns = integer(st, 8),
	};
}

static void read_instrument(struct rd_run *run, sqlite3_stmt *st)
{
	run->instrument = mem__grow(run->instrument, run->nr_instrument);
	run->instrument[run->nr_instrument++] = (struct rd_value){ text(st, 0), integer(st, 1) };
}

static void read_perf(struct rd_run *run, sqlite3_stmt *st)
{
	run->perf = mem__grow(run->perf, run->nr_perf);
	run->perf[run->nr_perf++] = (struct rd_perf){
		.name = text(st, 0), .event = text(st, 1), .value = sqlite3_column_double(st, 2),
		.unit = text(st, 3), .share = sqlite3_column_type(st, 4) == SQLITE_NULL ? NAN :
					      sqlite3_column_double(st, 4),
	};
}

static const struct table {
	int since, before;	/* versions of the schema that it is for; before 0: until today */
	const char *sql;
	void (*read)(struct rd_run *run, sqlite3_stmt *st);
} tables[] = {
	{ 1, 0, "SELECT key, value, NULL FROM run_label WHERE run_id = ? ORDER BY key", read_label },
	{ 1, 0, "SELECT key, value, class FROM fact WHERE run_id = ? ORDER BY key", read_fact },
	{ 1, 0, "SELECT name, value, NULL FROM result_text WHERE run_id = ? ORDER BY name", read_result },
	{ 1, 0, "SELECT rule, detail, NULL FROM invalid WHERE run_id = ? ORDER BY rule", read_invalid },
	{ 1, 0, "SELECT source, name, before_value, after_value FROM counter WHERE run_id = ? "
	  "ORDER BY source, name", read_counter },
	{ 1, 0, "SELECT name, value, unit, better, is_time FROM metric WHERE run_id = ? ORDER BY name",
	  read_metric },
	{ 1, 0, "SELECT name, unit, sub_bits, total, sum, max FROM histogram WHERE run_id = ? "
	  "ORDER BY name", read_hist },
	{ 1, 2, "SELECT name, bin, n, 1 FROM histogram_bin WHERE run_id = ? ORDER BY name, bin",
	  read_bin },
	{ 2, 0, "SELECT name, bin, n, span FROM histogram_bin WHERE run_id = ? ORDER BY name, bin",
	  read_bin },
	{ 1, 0, "SELECT source, name, t_ns, value FROM sample WHERE run_id = ? "
	  "ORDER BY source, name, t_ns", read_sample },
	{ 1, 0, "SELECT name, rung, target, core, why, seen, submitted, lost, body_ns FROM probe "
	  "WHERE run_id = ? ORDER BY name", read_probe },
	{ 1, 0, "SELECT name, value FROM instrument WHERE run_id = ? ORDER BY name", read_instrument },
	{ 2, 0, "SELECT name, event, value, unit, running_share FROM perf_event WHERE run_id = ? "
	  "ORDER BY name", read_perf },
};

#define NR_TABLES	(sizeof(tables) / sizeof(tables[0]))

static const char run_sql[] =
	"SELECT id, uuid, arm, block, position, boot_id, workload, command, state, started_ns, "
	"wall_ns, exit_code, term_signal, timed_out, emulated, tool_version FROM run "
	"ORDER BY workload, position IS NULL, position, started_ns, id";

static void read_run(struct rundb *db, sqlite3_stmt *st)
{
	db->runs = mem__grow(db->runs, db->nr);
	db->runs[db->nr++] = (struct rd_run){
		.id = integer(st, 0), .uuid = text(st, 1), .arm = text(st, 2),
		.block = integer(st, 3), .position = integer(st, 4), .boot_id = text(st, 5),
		.workload = text(st, 6), .command = text(st, 7), .state = text(st, 8),
		.started_ns = integer(st, 9), .wall_ns = integer(st, 10),
		.exit_code = integer(st, 11), .term_signal = integer(st, 12),
		.timed_out = sqlite3_column_int(st, 13), .emulated = sqlite3_column_int(st, 14),
		.tool_version = text(st, 15),
	};
}

static int read_table(sqlite3_stmt *st, struct rd_run *run,
		      void (*read)(struct rd_run *run, sqlite3_stmt *st))
{
	int rc;

	sqlite3_reset(st);
	sqlite3_bind_int64(st, 1, run->id);
	while ((rc = sqlite3_step(st)) == SQLITE_ROW)
		read(run, st);
	return rc == SQLITE_DONE ? 0 : -EIO;
}

static int read_all(sqlite3 *sq, int64_t version, struct rundb *db)
{
	sqlite3_stmt *st = NULL;
	struct progress bar = { 0 };
	int err = -EIO, rc;

	/* One read transaction: a record that ends meanwhile is either whole or not seen. */
	if (sqlite3_exec(sq, "BEGIN", NULL, NULL, NULL) != SQLITE_OK ||
	    sqlite3_prepare_v2(sq, run_sql, -1, &st, NULL) != SQLITE_OK)
		goto cleanup;
	while ((rc = sqlite3_step(st)) == SQLITE_ROW)
		read_run(db, st);
	if (rc != SQLITE_DONE)
		goto cleanup;
	progress__begin(&bar, "reading", NR_TABLES * db->nr);
	for (size_t t = 0; t < NR_TABLES; t++) {
		if (version < tables[t].since || (tables[t].before && version >= tables[t].before))
			continue;
		sqlite3_finalize(st);
		st = NULL;
		if (sqlite3_prepare_v2(sq, tables[t].sql, -1, &st, NULL) != SQLITE_OK)
			goto cleanup;
		for (size_t i = 0; i < db->nr; i++) {
			if (read_table(st, &db->runs[i], tables[t].read))
				goto cleanup;
			progress__set(&bar, t * db->nr + i + 1);
		}
	}
	err = 0;
cleanup:
	progress__end(&bar);
	sqlite3_finalize(st);
	return err;
}

static int open_db(const char *path, sqlite3 **sq, int64_t *version, char **msg)
{
	int err = dbfile__open(path, sq, version, msg);

	if (err && !*msg)
		*msg = mem__strdup("no memory; close other programs");
	return err;
}

static int load(const char *path, bool checked, struct rundb **out, char **msg)
{
	struct rundb *db = mem__calloc(1, sizeof(*db));
	sqlite3 *sq = NULL;
	int64_t version;
	int err;

	*out = NULL;
	*msg = NULL;
	err = open_db(path, &sq, &version, msg);
	if (!err && checked)
		err = dbfile__check(sq, path, msg);
	if (err)
		goto cleanup;
	err = read_all(sq, version, db);
	if (err)
		*msg = sbuf__format("%s: %s; restore it from a copy or record again", path,
				    sqlite3_errmsg(sq));
cleanup:
	sqlite3_close(sq);
	if (err)
		rundb__free(db);
	else
		*out = db;
	return err;
}

int rundb__load(const char *path, struct rundb **out, char **msg)
{
	return load(path, false, out, msg);
}

int rundb__load_checked(const char *path, struct rundb **out, char **msg)
{
	return load(path, true, out, msg);
}

static const struct {
	const char *what, *sql;
} name_lists[] = {
	{ "arm", "SELECT DISTINCT arm FROM run ORDER BY arm" },
	{ "workload", "SELECT DISTINCT workload FROM run ORDER BY workload" },
	{ "run", "SELECT id FROM run ORDER BY id" },
	{ "metric", "SELECT DISTINCT 'metric.' || name FROM metric ORDER BY name" },
};

static const char *names_sql(const char *what)
{
	for (size_t i = 0; i < sizeof(name_lists) / sizeof(name_lists[0]); i++)
		if (!strcmp(name_lists[i].what, what))
			return name_lists[i].sql;
	return NULL;
}

bool rundb__lists(const char *what)
{
	return names_sql(what);
}

int rundb__names(const char *path, const char *what, struct sbuf *out, char **msg)
{
	sqlite3_stmt *st = NULL;
	sqlite3 *sq = NULL;
	int64_t version;
	int rc = SQLITE_DONE, err = open_db(path, &sq, &version, msg);

	if (err)
		goto cleanup;
	rc = sqlite3_prepare_v2(sq, names_sql(what), -1, &st, NULL);
	while (rc == SQLITE_OK || rc == SQLITE_ROW) {
		rc = sqlite3_step(st);
		if (rc == SQLITE_ROW) {
			const char *name = (const char *)sqlite3_column_text(st, 0);
			struct sbuf shown = { 0 };

			sbuf__add_term(&shown, name);
			if (name && !strcmp(sbuf__str(&shown), name))
				sbuf__addf(out, "%s\n", name);
			sbuf__free(&shown);
		}
	}
	if (rc != SQLITE_DONE) {
		*msg = sbuf__format("%s: %s; restore it from a copy or record again", path,
				    sqlite3_errmsg(sq));
		err = -EIO;
	}
cleanup:
	sqlite3_finalize(st);
	sqlite3_close(sq);
	return err;
}

/* --- freeing ---------------------------------------------------------------------------------- */

static void free_texts(struct rd_text *t, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		free(t[i].class);
		free(t[i].key);
		free(t[i].value);
	}
	free(t);
}

static void free_measured(struct rd_run *r)
{
	for (size_t i = 0; i < r->nr_counters; i++) {
		free(r->counters[i].source);
		free(r->counters[i].name);
	}
	for (size_t i = 0; i < r->nr_metrics; i++) {
		free(r->metrics[i].name);
		free(r->metrics[i].unit);
		free(r->metrics[i].better);
	}
	for (size_t i = 0; i < r->nr_hists; i++) {
		free(r->hists[i].name);
		free(r->hists[i].unit);
		free(r->hists[i].n);
		free(r->hists[i].span);
	}
	for (size_t i = 0; i < r->nr_series; i++) {
		free(r->series[i].source);
		free(r->series[i].name);
		free(r->series[i].point);
	}
	free(r->counters);
	free(r->metrics);
	free(r->hists);
	free(r->series);
}

static void free_instrument(struct rd_run *r)
{
	for (size_t i = 0; i < r->nr_probes; i++) {
		free(r->probes[i].name);
		free(r->probes[i].rung);
		free(r->probes[i].target);
		free(r->probes[i].why);
	}
	for (size_t i = 0; i < r->nr_instrument; i++)
		free(r->instrument[i].name);
	for (size_t i = 0; i < r->nr_perf; i++) {
		free(r->perf[i].name);
		free(r->perf[i].event);
		free(r->perf[i].unit);
	}
	free(r->probes);
	free(r->instrument);
	free(r->perf);
}

static void free_run(struct rd_run *r)
{
	free_texts(r->labels, r->nr_labels);
	free_texts(r->facts, r->nr_facts);
	free_texts(r->results, r->nr_results);
	free_texts(r->invalid, r->nr_invalid);
	free_measured(r);
	free_instrument(r);
	free(r->uuid);
	free(r->arm);
	free(r->boot_id);
	free(r->workload);
	free(r->command);
	free(r->state);
	free(r->tool_version);
}

void rundb__free(struct rundb *db)
{
	if (!db)
		return;
	for (size_t i = 0; i < db->nr; i++)
		free_run(&db->runs[i]);
	free(db->runs);
	free(db);
}

/* --- looking up ------------------------------------------------------------------------------- */

bool run__valid(const struct rd_run *run)
{
	return !strcmp(run->state, "complete") && !run->nr_invalid;
}

char *run__why_invalid(const struct rd_run *run)
{
	struct sbuf b = { 0 };

	if (run__valid(run))
		return NULL;
	if (strcmp(run->state, "complete"))
		sbuf__addf(&b, "state %s", run->state);
	for (size_t i = 0; i < run->nr_invalid; i++)
		sbuf__addf(&b, "%s%s: %s", b.len ? "; " : "", run->invalid[i].key,
			   run->invalid[i].value);
	return b.s;
}

const char *run__fact(const struct rd_run *run, const char *key)
{
	for (size_t i = 0; i < run->nr_facts; i++)
		if (!strcmp(run->facts[i].key, key))
			return run->facts[i].value;
	return NULL;
}

double run__page_size(const struct rd_run *run)
{
	const char *v = run__fact(run, "page_size");

	return v && atof(v) > 0 ? atof(v) : NAN;
}

const struct rd_counter *run__counter(const struct rd_run *run, const char *source,
				      const char *name)
{
	for (size_t i = 0; i < run->nr_counters; i++)
		if (!strcmp(run->counters[i].name, name) &&
		    !strcmp(run->counters[i].source, source))
			return &run->counters[i];
	return NULL;
}

double run__delta(const struct rd_run *run, const char *source, const char *name)
{
	const struct rd_counter *c = run__counter(run, source, name);

	if (!c || c->after < c->before)
		return NAN;
	return (double)c->after - (double)c->before;
}

const struct rd_perf *run__perf(const struct rd_run *run, const char *name)
{
	for (size_t i = 0; i < run->nr_perf; i++)
		if (!strcmp(run->perf[i].name, name))
			return &run->perf[i];
	return NULL;
}

const struct rd_hist *run__hist(const struct rd_run *run, const char *name)
{
	for (size_t i = 0; i < run->nr_hists; i++)
		if (!strcmp(run->hists[i].name, name))
			return &run->hists[i];
	return NULL;
}

const struct rd_series *run__series(const struct rd_run *run, const char *source, const char *name)
{
	for (size_t i = 0; i < run->nr_series; i++)
		if (!strcmp(run->series[i].name, name) && !strcmp(run->series[i].source, source))
			return &run->series[i];
	return NULL;
}

int64_t run__instrument(const struct rd_run *run, const char *name)
{
	for (size_t i = 0; i < run->nr_instrument; i++)
		if (!strcmp(run->instrument[i].name, name))
			return run->instrument[i].value;
	return RD_NULL;
}
