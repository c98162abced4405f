// SPDX-License-Identifier: GPL-2.0-or-later
/* `migrc export`: the runs for other programs: CSV, JSON, Prometheus' text file. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/json.h"
#include "analysis/open.h"
#include "bpf/loglin.h"
#include "collector/cmd.h"
#include "collector/cmdline.h"
#include "collector/err.h"
#include "collector/text.h"

struct export_options {
	const char *db, *format, *output;
};

static const struct argp_option options[] = {
	{ "database", 'd', "FILE", 0, "Database to read (runs.db)", 0 },
	{ "output", 'o', "FILE", 0, "File to write (standard output)", 0 },
	{ "format", 'f', "csv|json|prom", 0, "csv: a line for each value; json: all of each run; prom: "
	  "Prometheus' text format, for node_exporter's textfile collector", 0 },
	{ 0 },
};

static const char doc[] =
	"Write the runs of a database for other programs. Absent values have no line.\v"
	"Examples:\n"
	"  migrc export --format csv > runs.csv\n"
	"  migrc export --format prom -o /var/lib/node_exporter/migrc.prom\n\n"
	"Exit status: 0 written; 2 an error of usage or of the tool.";

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct export_options *o = state->input;

	switch (key) {
	case 'd':
		o->db = arg;
		return 0;
	case 'o':
		o->output = arg;
		return 0;
	case 'f':
		o->format = arg;
		return 0;
	case ARGP_KEY_ARG:
		return cmdline__error(state, "%s: one argument too many", arg);
	case ARGP_KEY_END:
		return o->format ? 0 : cmdline__error(state, "in which format? give --format");
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* A number that reads back as the same double. */
static const char *number(char buf[40], double v)
{
	snprintf(buf, 40, "%.15g", v);
	if (strtod(buf, NULL) != v)
		snprintf(buf, 40, "%.17g", v);
	return buf;
}

/* --- CSV (RFC 4180) --------------------------------------------------------------------------- */

/* A field, in quotes where it needs them. */
static void csv__field(struct sbuf *b, const char *s, bool last)
{
	if (s[strcspn(s, ",\"\r\n")]) {
		sbuf__add(b, "\"");
		for (; *s; s++)
			sbuf__addn(b, *s == '"' ? "\"\"" : s, *s == '"' ? 2 : 1);
		sbuf__add(b, "\"");
	} else {
		sbuf__add(b, s);
	}
	sbuf__add(b, last ? "\r\n" : ",");
}

static void csv__int(struct sbuf *b, int64_t v)
{
	char buf[24] = "";

	if (v != RD_NULL)
		snprintf(buf, sizeof(buf), "%" PRId64, v);
	csv__field(b, buf, false);
}

/* The run, again on each line: what reads it needs no join. */
static void csv__line(struct sbuf *b, const struct rd_run *r, const char *kind, const char *source,
		      const char *name, const char *value, const char *unit)
{
	csv__int(b, r->id);
	csv__field(b, r->uuid, false);
	csv__field(b, r->workload, false);
	csv__field(b, r->arm, false);
	csv__int(b, r->block);
	csv__int(b, r->position);
	csv__field(b, r->boot_id, false);
	csv__int(b, r->started_ns);
	csv__field(b, r->state, false);
	csv__field(b, run__valid(r) ? "1" : "0", false);
	csv__field(b, r->emulated ? "1" : "0", false);
	csv__field(b, kind, false);
	csv__field(b, source, false);
	csv__field(b, name, false);
	csv__field(b, value, false);
	csv__field(b, unit, true);
}

static void csv__texts(struct sbuf *b, const struct rd_run *r, const char *kind,
		       const struct rd_text *t, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		csv__line(b, r, kind, t[i].class ? t[i].class : "", t[i].key, t[i].value, "");
}

static void csv__hist(struct sbuf *b, const struct rd_run *r, const struct rd_hist *h)
{
	char low[24], n[24];

	for (unsigned int i = 0; i < h->nr; i++) {
		if (!h->n[i])
			continue;
		snprintf(low, sizeof(low), "%llu", loglin_low(i, h->sub_bits));
		snprintf(n, sizeof(n), "%" PRIu64, h->n[i]);
		csv__line(b, r, "bin_from", h->name, low, n, h->unit);
	}
}

static void csv__run(struct sbuf *b, const struct rd_run *r)
{
	char buf[40];

	if (r->wall_ns != RD_NULL)
		csv__line(b, r, "run", "", "wall_ns", number(buf, (double)r->wall_ns), "ns");
	csv__texts(b, r, "label", r->labels, r->nr_labels);
	csv__texts(b, r, "fact", r->facts, r->nr_facts);
	csv__texts(b, r, "result", r->results, r->nr_results);
	csv__texts(b, r, "invalid", r->invalid, r->nr_invalid);
	for (size_t i = 0; i < r->nr_metrics; i++)
		csv__line(b, r, "metric", "", r->metrics[i].name, number(buf, r->metrics[i].value),
			  r->metrics[i].unit);
	for (size_t i = 0; i < r->nr_perf; i++)
		csv__line(b, r, "perf", r->perf[i].event, r->perf[i].name,
			  number(buf, r->perf[i].value), r->perf[i].unit);
	for (size_t i = 0; i < r->nr_counters; i++) {
		const struct rd_counter *c = &r->counters[i];

		csv__line(b, r, "counter", c->source, c->name,
			  number(buf, (double)c->after - (double)c->before), "");
	}
	for (size_t i = 0; i < r->nr_hists; i++)
		csv__hist(b, r, &r->hists[i]);
}

static void export_csv(struct sbuf *b, const struct rundb *db)
{
	sbuf__add(b, "run,uuid,workload,arm,block,position,boot_id,started_ns,state,valid,emulated,kind,"
		  "source,name,value,unit\r\n");
	for (size_t i = 0; i < db->nr; i++)
		csv__run(b, &db->runs[i]);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void export_json(struct sbuf *b, const struct rundb *db)
{
	struct json j = { .out = b };

	json__begin(&j, NULL, '{');
	json__int(&j, "format", 1);
	json__str(&j, "tool_version", MIGRC_VERSION);
	json__begin(&j, "runs", '[');
	for (size_t i = 0; i < db->nr; i++)
		json__run(&j, &db->runs[i], true);
	json__end(&j, ']');
	json__end(&j, '}');
	sbuf__add(b, "\n");
}

/* --- Prometheus' text format ------------------------------------------------------------------ */

/* NAME="VALUE": backslash, quote and newline escaped, what is no UTF-8 replaced. */
static void prom__label(struct sbuf *b, const char *name, const char *value)
{
	const unsigned char *s = (const unsigned char *)value;
	size_t n;

	sbuf__addf(b, "%s=\"", name);
	for (; *s; s += n) {
		n = text__utf8_len(s);
		if (*s == '\\' || *s == '"')
			sbuf__addf(b, "\\%c", *s);
		else if (*s == '\n')
			sbuf__add(b, "\\n");
		else if (!n || *s < ' ')
			sbuf__add(b, "?");
		else
			sbuf__addn(b, (const char *)s, n);
		n = n ? n : 1;
	}
	sbuf__add(b, "\"");
}

/* METRIC{run labels, then pairs of label and value, the last one NULL; the brackets stay open. */
static void prom__open(struct sbuf *b, const char *metric, const struct rd_run *r, ...)
{
	const char *name;
	va_list ap;

	sbuf__addf(b, "%s{", metric);
	prom__label(b, "uuid", r->uuid);
	sbuf__add(b, ",");
	prom__label(b, "workload", r->workload);
	sbuf__add(b, ",");
	prom__label(b, "arm", r->arm);
	va_start(ap, r);
	while ((name = va_arg(ap, const char *))) {
		sbuf__add(b, ",");
		prom__label(b, name, va_arg(ap, const char *));
	}
	va_end(ap);
}

static void prom__value(struct sbuf *b, double v)
{
	char buf[40];

	sbuf__addf(b, "} %s\n", isnan(v) ? "NaN" : isinf(v) ? v > 0 ? "+Inf" : "-Inf" : number(buf, v));
}

static void prom__runs(struct sbuf *b, const struct rundb *db)
{
	char block[24];

	sbuf__add(b, "# HELP migrc_run_valid Whether the run is complete and broke no rule.\n"
		  "# TYPE migrc_run_valid gauge\n");
	for (size_t i = 0; i < db->nr; i++) {
		const struct rd_run *r = &db->runs[i];

		block[0] = '\0';
		if (r->block != RD_NULL)
			snprintf(block, sizeof(block), "%" PRId64, r->block);
		prom__open(b, "migrc_run_valid", r, "block", block, "boot", r->boot_id, "state",
			   r->state, "emulated", r->emulated ? "1" : "0", NULL);
		prom__value(b, run__valid(r));
	}
	sbuf__add(b, "# HELP migrc_run_start_seconds When the workload began, since 1970.\n"
		  "# TYPE migrc_run_start_seconds gauge\n");
	for (size_t i = 0; i < db->nr; i++) {
		prom__open(b, "migrc_run_start_seconds", &db->runs[i], NULL);
		prom__value(b, (double)db->runs[i].started_ns / 1e9);
	}
}

static void prom__values(struct sbuf *b, const struct rundb *db)
{
	sbuf__add(b, "# HELP migrc_metric What the workload said of itself, and rusage.\n"
		  "# TYPE migrc_metric gauge\n");
	for (size_t i = 0; i < db->nr; i++)
		for (size_t k = 0; k < db->runs[i].nr_metrics; k++) {
			const struct rd_metric *m = &db->runs[i].metrics[k];

			prom__open(b, "migrc_metric", &db->runs[i], "name", m->name, "unit",
				   m->unit, "better", m->better, NULL);
			prom__value(b, m->value);
		}
	sbuf__add(b, "# HELP migrc_counter_change Counter after the run less before it.\n"
		  "# TYPE migrc_counter_change gauge\n");
	for (size_t i = 0; i < db->nr; i++)
		for (size_t k = 0; k < db->runs[i].nr_counters; k++) {
			const struct rd_counter *c = &db->runs[i].counters[k];

			prom__open(b, "migrc_counter_change", &db->runs[i], "source", c->source,
				   "name", c->name, NULL);
			prom__value(b, (double)c->after - (double)c->before);
		}
	sbuf__add(b, "# HELP migrc_perf_event Event of perf stat, scaled where it shared a counter.\n"
		  "# TYPE migrc_perf_event gauge\n");
	for (size_t i = 0; i < db->nr; i++)
		for (size_t k = 0; k < db->runs[i].nr_perf; k++) {
			const struct rd_perf *p = &db->runs[i].perf[k];

			prom__open(b, "migrc_perf_event", &db->runs[i], "name", p->name, "unit",
				   p->unit, NULL);
			prom__value(b, p->value);
		}
}

/* Buckets are cumulative, and their bounds are inclusive: the last value of a bin. */
static void prom__hist(struct sbuf *b, const struct rd_run *r, const struct rd_hist *h)
{
	uint64_t seen = 0;
	char le[24];

	for (unsigned int i = 0, last; i < h->nr; i++) {
		if (!h->n[i])
			continue;
		seen += h->n[i];
		last = i + (h->span && h->span[i] ? h->span[i] : 1);
		if (last >= h->nr)
			break;
		snprintf(le, sizeof(le), "%llu", loglin_low(last, h->sub_bits) - 1);
		prom__open(b, "migrc_histogram_bucket", r, "name", h->name, "unit", h->unit, "le", le,
			   NULL);
		prom__value(b, (double)seen);
	}
	prom__open(b, "migrc_histogram_bucket", r, "name", h->name, "unit", h->unit, "le", "+Inf",
		   NULL);
	prom__value(b, (double)h->total);
	prom__open(b, "migrc_histogram_sum", r, "name", h->name, "unit", h->unit, NULL);
	prom__value(b, h->sum == RD_NULL ? NAN : (double)h->sum);
	prom__open(b, "migrc_histogram_count", r, "name", h->name, "unit", h->unit, NULL);
	prom__value(b, (double)h->total);
}

static void export_prom(struct sbuf *b, const struct rundb *db)
{
	prom__runs(b, db);
	prom__values(b, db);
	sbuf__add(b, "# HELP migrc_histogram Values by size; a sum that the source did not tell is NaN.\n"
		  "# TYPE migrc_histogram histogram\n");
	for (size_t i = 0; i < db->nr; i++)
		for (size_t k = 0; k < db->runs[i].nr_hists; k++)
			prom__hist(b, &db->runs[i], &db->runs[i].hists[k]);
}

static int export__write(const struct export_options *o,
			 void (*write)(struct sbuf *b, const struct rundb *db))
{
	struct rundb *db = NULL;
	struct sbuf b = { 0 };
	char *msg = NULL;
	int code;

	if (rundb__load(o->db, &db, &msg)) {
		err__print("%s", msg);
		free(msg);
		return EXIT_TOOL;
	}
	write(&b, db);
	code = open__write(o->output, sbuf__str(&b), b.len);
	sbuf__free(&b);
	rundb__free(db);
	return code;
}

int cmd_export(int argc, char **argv)
{
	static const struct argp argp = { options, parse_option, NULL, doc, NULL, NULL, NULL };
	static const struct {
		const char *name;
		void (*write)(struct sbuf *b, const struct rundb *db);
	} formats[] = {
		{ "csv", export_csv }, { "json", export_json }, { "prom", export_prom },
	};
	struct export_options o = { .db = "runs.db" };
	size_t i;

	if (cmdline__parse(&argp, argc, argv, 0, &o))
		return EXIT_TOOL;
	for (i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (!strcmp(formats[i].name, o.format))
			return export__write(&o, formats[i].write);
	err__print("--format: '%s' is none of csv, json, prom; see `migrc export --help`", o.format);
	return EXIT_TOOL;
}
