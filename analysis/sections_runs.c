// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analysis/histo.h"
#include "analysis/sections.h"
#include "analysis/words.h"
#include "collector/text.h"

static void int_cell(struct grid *g, int64_t v)
{
	if (v == RD_NULL)
		grid__cell(g, "-");
	else
		grid__cell(g, "%" PRId64, v);
}

static void ns_cell(struct grid *g, int64_t v)
{
	char buf[FMT_LEN];

	if (v == RD_NULL)
		grid__cell(g, "-");
	else
		grid__cell(g, "%s", fmt__unit(buf, (double)v, "ns"));
}

#define MAX_COMMANDS	42	/* more runs are told by arm and not one by one */

static const char *arm_of(const struct an_compare *c, size_t run)
{
	return c->runs[run].rd->arm;
}

static void run_row(struct grid *g, const struct an_compare *c, size_t i)
{
	const struct rd_run *rd = c->runs[i].rd;
	char *why = run__why_invalid(rd), buf[FMT_LEN];

	grid__row(g, why ? DOC_BAD : c->runs[i].arm == SIZE_MAX ? DOC_MUTED : DOC_PLAIN);
	grid__cell(g, "%zu", i + 1);
	grid__cell(g, "%" PRId64, rd->id);
	grid__cell(g, "%s", arm_of(c, i));
	int_cell(g, rd->block);
	grid__cell(g, "%.8s", rd->boot_id);
	ns_cell(g, rd->wall_ns);
	for (size_t m = 0; m < c->nr_metrics && m < 2 && c->metrics[m].primary; m++)
		grid__cell(g, "%s%s", fmt__unit(buf, c->metrics[m].value[i], c->metrics[m].unit),
			   c->metrics[m].outlier[i] ? " (outlier)" : "");
	grid__cell(g, "%s%s", why ? "invalid: " : c->runs[i].arm == SIZE_MAX ? "not selected" :
		   "valid", why ? why : "");
	free(why);
}

void section__runs(struct doc *d, const struct section *s)
{
	static const char *const aligns[] = { "rrnrlrl", "rrnrlrrl", "rrnrlrrrl" };
	const struct an_compare *c = s->c;
	const char *head[9] = { "place", "run", "arm", "block", "boot", "wall time" };
	size_t shown = 0;
	struct grid g;

	section__heading(d, s, "runs", "Runs, in order");
	section__drift(d, c);
	while (shown < 2 && shown < c->nr_metrics && c->metrics[shown].primary) {
		head[6 + shown] = c->metrics[shown].label;
		shown++;
	}
	head[6 + shown] = "validity";
	grid__init(&g, "Every run in the order in which it was made", aligns[shown], head);
	for (size_t i = 0; i < c->nr_runs; i++)
		run_row(&g, c, i);
	doc__grid(d, &g);
}

/* --- instrument ------------------------------------------------------------------------------- */

static double body_share(const struct rd_run *rd)
{
	double sum = NAN;

	for (size_t k = 0; k < rd->nr_probes; k++)
		if (rd->probes[k].body_ns != RD_NULL)
			sum = (isnan(sum) ? 0 : sum) + (double)rd->probes[k].body_ns;
	return rd->wall_ns != RD_NULL && rd->wall_ns > 0 ? sum / (double)rd->wall_ns : NAN;
}

/* "fentry 5, kprobe 1, none 1" */
static char *rungs_of(const struct rd_run *rd)
{
	static const char *const rungs[] = { "fentry", "kprobe-multi", "kprobe",
					     "tracepoint", "none" };
	struct sbuf b = { 0 };

	sbuf__add(&b, "");
	for (size_t r = 0; r < sizeof(rungs) / sizeof(rungs[0]); r++) {
		size_t n = 0;

		for (size_t k = 0; k < rd->nr_probes; k++)
			n += !strcmp(rd->probes[k].rung, rungs[r]);
		if (n)
			sbuf__addf(&b, "%s%s %zu", b.len ? ", " : "", rungs[r], n);
	}
	return b.s;
}

static int64_t sum_probes(const struct rd_run *rd, int64_t (*get)(const struct rd_probe *p))
{
	int64_t sum = RD_NULL;

	for (size_t k = 0; k < rd->nr_probes; k++)
		if (get(&rd->probes[k]) != RD_NULL &&
		    __builtin_add_overflow(sum == RD_NULL ? 0 : sum, get(&rd->probes[k]), &sum))
			sum = INT64_MAX;
	return sum;
}

static int64_t probe_lost(const struct rd_probe *p)
{
	return p->lost;
}

static int64_t probe_seen(const struct rd_probe *p)
{
	return p->seen;
}

/* The instrument's cost of an arm, at a glance: an arm that pays more would look slower. */
static void instrument_arm(struct grid *g, const struct an_compare *c, size_t arm)
{
	double bodies = 0, cpu = 0, lost = 0, wall = 0;
	size_t runs = 0, with_bodies = 0, with_cpu = 0;

	for (size_t i = 0; i < c->nr_runs; i++) {
		const struct rd_run *rd = c->runs[i].rd;
		int64_t ns = run__instrument(rd, "collector_cpu_ns"), n = sum_probes(rd, probe_lost);

		if (!c->runs[i].valid || c->runs[i].arm != arm)
			continue;
		runs++;
		lost += n == RD_NULL ? 0 : (double)n;
		if (!isnan(body_share(rd))) {
			bodies += body_share(rd);
			with_bodies++;
		}
		if (ns != RD_NULL && rd->wall_ns != RD_NULL) {
			cpu += (double)ns;
			wall += (double)rd->wall_ns;
			with_cpu++;
		}
	}
	grid__row(g, lost > 0 ? DOC_WARN : DOC_PLAIN);
	grid__cell(g, "%s", c->arms[arm].name);
	grid__cell(g, "%zu", runs);
	grid__cell(g, with_bodies ? "%.3f %%" : "-", with_bodies ? bodies / with_bodies * 100 : 0);
	grid__cell(g, with_cpu && wall > 0 ? "%.3f %%" : "-", wall > 0 ? cpu / wall * 100 : 0);
	grid__cell(g, "%.0f", lost);
}

void section__recording_costs(struct doc *d, const struct an_compare *c)
{
	for (size_t i = 0; i < c->nr_runs; i++) {
		const struct rd_run *rd = c->runs[i].rd;
		char *cost = words__recording_cost(rd);

		if (cost && c->runs[i].arm != SIZE_MAX)
			doc__para(d, DOC_PLAIN, "Run %" PRId64 " of %s: %s", rd->id, rd->arm, cost);
		free(cost);
	}
}

void section__instrument(struct doc *d, const struct section *s)
{
	static const char *const arm_head[] = { "arm", "runs", "bodies / wall", "collector CPU / wall",
						"lost" };
	static const char *const head[] = { "run", "arm", "rungs", "seen", "lost", "bodies / wall",
					    "attach", "detach", "collector CPU" };
	const struct an_compare *c = s->c;
	struct grid g;

	section__heading(d, s, "instrument", "What the instrument cost and lost");
	doc__para(d, DOC_PLAIN, "Seen and lost count events over all probes; bodies / wall is the run time of all probe bodies, over all CPUs, divided by the wall time (\"-\": the kernel's BPF statistics were off).");
	grid__init(&g, "Instrument by arm: means, and all events lost", "nrrrr", arm_head);
	for (size_t a = 0; a < c->nr_arms; a++)
		instrument_arm(&g, c, a);
	doc__grid(d, &g);
	grid__init(&g, "Instrument, by run", "rnlrrrrrr", head);
	for (size_t i = 0; i < c->nr_runs; i++) {
		const struct rd_run *rd = c->runs[i].rd;
		double share = body_share(rd);
		char *rungs = rungs_of(rd);

		grid__row(&g, DOC_PLAIN);
		grid__cell(&g, "%" PRId64, rd->id);
		grid__cell(&g, "%s", rd->arm);
		grid__cell(&g, "%s", *rungs ? rungs : "no probes");
		int_cell(&g, sum_probes(rd, probe_seen));
		int_cell(&g, sum_probes(rd, probe_lost));
		if (isnan(share))
			grid__cell(&g, "-");
		else
			grid__cell(&g, "%.3f %%", share * 100);
		ns_cell(&g, run__instrument(rd, "attach_ns"));
		ns_cell(&g, run__instrument(rd, "detach_ns"));
		ns_cell(&g, run__instrument(rd, "collector_cpu_ns"));
		free(rungs);
	}
	doc__grid(d, &g);
	section__recording_costs(d, c);
}

/* --- facts ------------------------------------------------------------------------------------ */

static void fact_rows(struct grid *g, const struct an_compare *c, size_t arm, const char *class)
{
	for (size_t i = 0; i < c->nr_runs; i++) {
		const struct rd_run *rd = c->runs[i].rd;

		if (c->runs[i].arm != arm || !c->runs[i].valid)
			continue;
		for (size_t k = 0; k < rd->nr_facts; k++) {
			if (strcmp(rd->facts[k].class, class))
				continue;
			grid__row(g, DOC_PLAIN);
			grid__cell(g, "%s", rd->facts[k].key);
			if (g->cols > 2)
				grid__cell(g, "%s", c->arms[arm].name);
			grid__cell(g, "%s", rd->facts[k].value);
		}
		return;
	}
}

/* A fact that may drift: what it was at first and at last, and how many values it took. */
static void drift_fact(struct grid *g, const struct an_compare *c, const char *key)
{
	const char *first = NULL, *last = NULL;
	size_t values = 0;

	for (size_t i = 0; i < c->nr_runs; i++) {
		const char *v = run__fact(c->runs[i].rd, key);
		bool old = false;

		if (!v || !c->runs[i].valid || c->runs[i].arm == SIZE_MAX)
			continue;
		first = first ? first : v;
		last = v;
		for (size_t k = 0; k < i && !old; k++) {
			const char *w = run__fact(c->runs[k].rd, key);

			old = w && c->runs[k].valid && c->runs[k].arm != SIZE_MAX && !strcmp(v, w);
		}
		values += !old;
	}
	grid__row(g, DOC_PLAIN);
	grid__cell(g, "%s", key);
	grid__cell(g, "%zu", values);
	grid__cell(g, "%s", first ? first : "-");
	grid__cell(g, "%s", last ? last : "-");
}

static void drift_facts(struct doc *d, const struct an_compare *c)
{
	static const char *const head[] = { "fact", "values", "in the first valid run",
					    "in the last" };
	struct grid g;

	grid__init(&g, "Facts that may drift", "lrll", head);
	for (size_t i = 0; i < c->nr_runs; i++) {
		const struct rd_run *rd = c->runs[i].rd;

		if (!c->runs[i].valid || c->runs[i].arm == SIZE_MAX)
			continue;
		for (size_t k = 0; k < rd->nr_facts; k++)
			if (!strcmp(rd->facts[k].class, "drift"))
				drift_fact(&g, c, rd->facts[k].key);
		break;
	}
	if (!g.rows)
		return;
	doc__fold_begin(d, false, "Facts that may drift");
	doc__grid(d, &g);
	doc__fold_end(d);
}

void section__facts(struct doc *d, const struct section *s)
{
	static const char *const head[] = { "fact", "arm", "value in its first valid run" };
	static const char *const match_head[] = { "fact", "value in the first valid run" };
	const struct an_compare *c = s->c;
	struct grid g;

	section__heading(d, s, "facts", "Machine facts");
	if (c->nr_mismatches)
		doc__para(d, DOC_BAD, "%zu difference%s between runs that must be equal:",
			  c->nr_mismatches, c->nr_mismatches == 1 ? "" : "s");
	else
		doc__para(d, DOC_PLAIN, "All facts that must match between runs do.");
	section__mismatches(d, c);
	grid__init(&g, "What makes the arms", "mml", head);
	for (size_t a = 0; a < c->nr_arms; a++)
		fact_rows(&g, c, a, "arm");
	doc__grid(d, &g);
	grid__init(&g, "Facts that must match", "ml", match_head);
	if (c->nr_arms)
		fact_rows(&g, c, 0, "match");
	if (g.rows)
		doc__fold_begin(d, false, "Facts that must match (%zu)", g.rows);
	if (g.rows) {
		doc__grid(d, &g);
		doc__fold_end(d);
	}
	drift_facts(d, c);
}

/* --- one run in full -------------------------------------------------------------------------- */

static void record_row(struct grid *g, const char *key, const char *value)
{
	grid__row(g, DOC_PLAIN);
	grid__cell(g, "%s", key);
	grid__cell(g, "%s", value);
}

static void record_int(struct grid *g, const char *key, int64_t v)
{
	grid__row(g, DOC_PLAIN);
	grid__cell(g, "%s", key);
	int_cell(g, v);
}

static void record_head(struct doc *d, const struct rd_run *run)
{
	static const char *const head[] = { "field", "value" };
	struct grid g;
	char *why = run__why_invalid(run), started[32] = "?";
	time_t seconds = (time_t)(run->started_ns / 1000000000);
	struct tm tm;

	if (gmtime_r(&seconds, &tm))
		strftime(started, sizeof(started), "%Y-%m-%d %H:%M:%S UTC", &tm);
	grid__init(&g, "Run", "ll", head);
	record_int(&g, "run", run->id);
	record_row(&g, "uuid", run->uuid);
	record_row(&g, "arm", run->arm);
	record_int(&g, "block", run->block);
	record_int(&g, "position", run->position);
	record_row(&g, "boot", run->boot_id);
	record_row(&g, "workload", run->workload);
	record_row(&g, "command", run->command);
	record_row(&g, "state", run->state);
	record_row(&g, "valid", why ? why : "yes");
	record_row(&g, "started", started);
	grid__row(&g, DOC_PLAIN);
	grid__cell(&g, "wall time");
	ns_cell(&g, run->wall_ns);
	record_int(&g, "exit code", run->exit_code);
	record_int(&g, "signal", run->term_signal);
	record_row(&g, "timed out", run->timed_out ? "yes" : "no");
	record_row(&g, "emulated", run->emulated ? "yes: times are not judged" : "no");
	record_row(&g, "migrc version", run->tool_version);
	doc__grid(d, &g);
	free(why);
}

static void record_texts(struct doc *d, const char *caption, const struct rd_text *t, size_t nr)
{
	const char *head[] = { caption, "value" };
	struct grid g;

	grid__init(&g, caption, "ll", head);
	for (size_t i = 0; i < nr; i++)
		record_row(&g, t[i].key, t[i].value);
	doc__grid(d, &g);
}

static void record_metrics(struct doc *d, const struct rd_run *run)
{
	static const char *const head[] = { "outcome", "value", "unit", "better", "kind" };
	struct grid g;
	char buf[FMT_LEN];

	grid__init(&g, "Outcome", "mrlll", head);
	for (size_t i = 0; i < run->nr_metrics; i++) {
		const struct rd_metric *m = &run->metrics[i];

		grid__row(&g, DOC_PLAIN);
		grid__cell(&g, "%s", m->name);
		grid__cell(&g, "%s", fmt__num(buf, m->value));
		grid__cell(&g, "%s", m->unit);
		grid__cell(&g, "%s", m->better);
		grid__cell(&g, "%s", m->is_time ? "time" : "count");
	}
	doc__grid(d, &g);
}

static void record_counters(struct doc *d, const struct rd_run *run)
{
	static const char *const head[] = { "source", "counter", "before", "after", "grew by" };
	struct grid g;

	grid__init(&g, "Counters that changed", "nmrrr", head);
	for (size_t i = 0; i < run->nr_counters; i++) {
		const struct rd_counter *n = &run->counters[i];

		if (n->has_before ? n->before == n->after : n->after == 0)
			continue;
		grid__row(&g, DOC_PLAIN);
		grid__cell(&g, "%s", n->source);
		grid__cell(&g, "%s", n->name);
		int_cell(&g, n->has_before ? n->before : RD_NULL);
		int_cell(&g, n->after);
		grid__cell(&g, "%.0f", (double)n->after - (double)n->before);
	}
	doc__grid(d, &g);
}

/* Where many bins share a count, their upper end is all that is known. */
static void percentile_cell(struct grid *g, const struct histo *h, double q, const char *unit)
{
	struct histo_pct pct;
	char buf[FMT_LEN];

	if (histo__percentile(h, q, &pct))
		grid__cell(g, "-");
	else
		grid__cell(g, "%s%s", pct.coarse ? "<= " : "",
			   fmt__unit(buf, pct.coarse ? pct.hi : pct.est, unit));
}

static void record_hists(struct doc *d, const struct rd_run *run)
{
	static const char *const head[] = { "histogram", "n", "mean", "p50", "p99", "p99.9", "max",
					    "p99 within" };
	static const double cuts[] = { 0.5, 0.99, 0.999, 1 };
	struct grid g;
	char buf[FMT_LEN], lo[FMT_LEN], hi[FMT_LEN];

	grid__init(&g, "Histograms", "mrrrrrrr", head);
	for (size_t i = 0; i < run->nr_hists; i++) {
		const struct rd_hist *h = &run->hists[i];
		struct histo v = { h->sub_bits, h->nr, h->n, (uint64_t)(h->max > 0 ? h->max : 0),
				   h->span };
		struct histo_pct pct;

		grid__row(&g, DOC_PLAIN);
		grid__cell(&g, "%s%s%s%s", h->name, strcmp(h->unit, "ns") ? " (" : "",
			   strcmp(h->unit, "ns") ? h->unit : "", strcmp(h->unit, "ns") ? ")" : "");
		int_cell(&g, h->total);
		grid__cell(&g, "%s", h->total <= 0 || h->sum == RD_NULL ? "-" :
			   fmt__unit(buf, (double)h->sum / h->total, h->unit));
		for (size_t k = 0; k < sizeof(cuts) / sizeof(cuts[0]); k++)
			percentile_cell(&g, &v, cuts[k], h->unit);
		if (histo__percentile(&v, 0.99, &pct))
			grid__cell(&g, "-");
		else
			grid__cell(&g, "%s to %s", fmt__unit(lo, pct.lo, h->unit),
				   fmt__unit(hi, pct.hi, h->unit));
	}
	doc__grid(d, &g);
}

static void record_perf(struct doc *d, const struct rd_run *run)
{
	static const char *const head[] = { "perf event", "asked as", "value", "counted" };
	struct grid g;
	char buf[FMT_LEN];

	grid__init(&g, "Events of perf", "mmrr", head);
	for (size_t i = 0; i < run->nr_perf; i++) {
		const struct rd_perf *p = &run->perf[i];

		grid__row(&g, p->share < 1 ? DOC_WARN : DOC_PLAIN);
		grid__cell(&g, "%s", p->name);
		grid__cell(&g, "%s", strcmp(p->event, p->name) ? p->event : "");
		grid__cell(&g, "%s%s%s", fmt__unit(buf, p->value, p->unit[0] ? p->unit : "count"),
			   p->unit[0] ? " " : "", p->unit);
		if (isnan(p->share))
			grid__cell(&g, "not told");
		else
			grid__cell(&g, "%.4g %% of the time", p->share * 100);
	}
	doc__grid(d, &g);
}

static void record_probes(struct doc *d, const struct rd_run *run)
{
	static const char *const head[] = { "probe", "rung", "target", "seen", "submitted", "lost",
					    "body time" };
	struct grid g;

	grid__init(&g, "Probes", "mlmrrrr", head);
	for (size_t i = 0; i < run->nr_probes; i++) {
		const struct rd_probe *p = &run->probes[i];

		grid__row(&g, p->core && !strcmp(p->rung, "none") ? DOC_BAD : DOC_PLAIN);
		grid__cell(&g, "%s", p->name);
		grid__cell(&g, "%s", p->rung);
		grid__cell(&g, "%s", p->target);
		int_cell(&g, p->seen);
		int_cell(&g, p->submitted);
		int_cell(&g, p->lost);
		ns_cell(&g, p->body_ns);
	}
	doc__grid(d, &g);
	for (size_t i = 0; i < run->nr_probes; i++)
		if (run->probes[i].why)
			doc__para(d, DOC_MUTED, "%s: %s", run->probes[i].name, run->probes[i].why);
}

/* Names end in their unit. */
static void record_instrument_row(struct grid *g, const char *name, int64_t v)
{
	size_t len = strlen(name);

	if (len < 3 || strcmp(name + len - 3, "_ns")) {
		record_int(g, name, v);
		return;
	}
	grid__row(g, DOC_PLAIN);
	grid__cell(g, "%.*s", (int)len - 3, name);
	ns_cell(g, v);
}

static void record_instrument(struct doc *d, const struct rd_run *run)
{
	static const char *const head[] = { "instrument", "value" };
	struct grid g;
	char *cost;

	grid__init(&g, "Instrument", "mr", head);
	for (size_t i = 0; i < run->nr_instrument; i++)
		record_instrument_row(&g, run->instrument[i].name, run->instrument[i].value);
	doc__grid(d, &g);
	cost = words__recording_cost(run);
	if (cost)
		doc__para(d, DOC_PLAIN, "%s", cost);
	free(cost);
}

void section__record(struct doc *d, const struct rd_run *run)
{
	record_head(d, run);
	record_texts(d, "label", run->labels, run->nr_labels);
	record_texts(d, "rule broken", run->invalid, run->nr_invalid);
	record_metrics(d, run);
	record_texts(d, "result", run->results, run->nr_results);
	record_hists(d, run);
	if (run->nr_perf)
		record_perf(d, run);
	record_counters(d, run);
	record_probes(d, run);
	record_instrument(d, run);
	record_texts(d, "fact", run->facts, run->nr_facts);
}

void section__records(struct doc *d, const struct section *s)
{
	const struct an_compare *c = s->c;

	section__heading(d, s, "records", "Each run's record");
	for (size_t i = 0; i < c->nr_runs; i++) {
		doc__fold_begin(d, true, "Run %" PRId64 ": %s, %s", c->runs[i].rd->id, arm_of(c, i),
				c->runs[i].valid ? "valid" : "invalid");
		section__record(d, c->runs[i].rd);
		doc__fold_end(d);
	}
}

/* --- how to make it again --------------------------------------------------------------------- */

/* Whether an earlier run had the same arm and command. */
static bool told(const struct an_compare *c, size_t run)
{
	for (size_t i = 0; i < run; i++)
		if (!strcmp(arm_of(c, i), arm_of(c, run)) &&
		    !strcmp(c->runs[i].rd->command, c->runs[run].rd->command))
			return true;
	return false;
}

static const char *label_of(const struct rd_run *rd, const char *key)
{
	for (size_t i = 0; i < rd->nr_labels; i++)
		if (!strcmp(rd->labels[i].key, key))
			return rd->labels[i].value;
	return NULL;
}

/* "stock migrc | migrc stock | ...": block by block, in the order in which they were run. */
static char *order_of(const struct an_compare *c)
{
	struct sbuf b = { 0 };

	sbuf__add(&b, "");
	for (size_t i = 0; i < c->nr_runs; i++)
		sbuf__addf(&b, "%s%s", !i ? "" : c->runs[i].rd->block != c->runs[i - 1].rd->block ?
			   " | " : " ", arm_of(c, i));
	return b.s;
}

/* As a shell takes it. */
static void add_word(struct sbuf *b, const char *s)
{
	char *word = text__quote_argv(1, (char *[]){ (char *)s });

	sbuf__add(b, word ? word : "");
	free(word);
}

/* What is behind a # ends with its line: in a name that has several, the second would be a command. */
static void add_remark(struct sbuf *b, const char *what, const char *s)
{
	size_t len;

	sbuf__addf(b, "# %s", what);
	for (; *s; s += len + !!s[len]) {
		len = strcspn(s, "\r\n");
		sbuf__addn(b, s, len);
		sbuf__add(b, s[len] ? " " : "");
	}
}

static void add_command(struct sbuf *b, const struct rd_run *rd, bool each)
{
	const char *imported = label_of(rd, "imported");

	sbuf__addf(b, "migrc %s --arm ", imported ? "import" : "record");
	add_word(b, rd->arm);
	if (rd->block != RD_NULL && each)
		sbuf__addf(b, " --block %" PRId64, rd->block);
	else if (rd->block != RD_NULL)
		sbuf__add(b, " --block N");
	sbuf__add(b, " --workload ");
	add_word(b, rd->workload);
	if (imported) {
		sbuf__add(b, "  ");
		add_remark(b, "from: ", imported);
		sbuf__add(b, "\n");
	} else {
		sbuf__addf(b, " -- %s\n", rd->command);
	}
}

void section__reproduce(struct doc *d, const struct section *s)
{
	const struct an_compare *c = s->c;
	const char *plan = c->nr_runs ? label_of(c->runs[0].rd, "plan") : NULL;
	bool each = c->nr_runs <= MAX_COMMANDS;
	char *order = order_of(c);
	struct sbuf b = { 0 };

	doc__para(d, DOC_PLAIN, "%s: %zu run%s, in this order (\"|\" between blocks): %s.", c->workload,
		  c->nr_runs, c->nr_runs == 1 ? "" : "s", order);
	if (plan) {
		add_remark(&b, "the plan of the lab that made them: ", plan);
		sbuf__add(&b, "\n");
	}
	for (size_t i = 0; i < c->nr_runs; i++) {
		const struct rd_run *rd = c->runs[i].rd;
		const char *kernel = run__fact(rd, "kernel_release");
		const char *on = run__fact(rd, "vm.migrc");

		if (!told(c, i)) {
			add_remark(&b, "arm ", rd->arm);
			sbuf__addf(&b, ": kernel %s%s%s\n", kernel ? kernel : "not recorded",
				   on ? ", vm.migrc=" : "", on ? on : "");
		}
		if (!told(c, i) && !each)
			add_command(&b, rd, false);
	}
	for (size_t i = 0; i < c->nr_runs && each; i++)
		add_command(&b, c->runs[i].rd, true);
	if (b.len)
		doc__pre(d, b.s);
	sbuf__free(&b);
	free(order);
}
