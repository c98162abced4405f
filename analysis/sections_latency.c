// SPDX-License-Identifier: GPL-2.0-or-later
/* Held memory and its age, latencies with their tails, and every other distribution. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/detail.h"
#include "analysis/sections.h"
#include "analysis/words.h"
#include "bpf/loglin.h"

#define MAX_POINTS	20000	/* over all series of a plot; more is thinned out */
#define MAX_OTHERS	24

/* Names of one histogram as detail__dist() takes them. */
#define ONE(name)	((const char *const[]){ (name), NULL })

/* --- curves ----------------------------------------------------------------------------------- */

/*
 * Share of the values that are at least x, in per cent: on two logarithmic axes the tail, which is
 * what a user feels, takes as much room as the middle. The value 0 has no place on a log axis.
 */
static void add_tail(struct plot_series *line, const struct detail_dist *d)
{
	uint64_t above = d->total;

	for (unsigned int k = 0; k < d->h.nr; k++) {
		double low = (double)loglin_low(k, d->h.sub_bits);

		if (!d->bins[k])
			continue;
		if (low > 0)
			plot__point(line, low, (double)above / (double)d->total * 100);
		above -= d->bins[k];
	}
	if (d->h.max)
		plot__point(line, (double)d->h.max, 100.0 / (double)d->total);
}

/*
 * Share of the values per doubling of the value: bins of one power of two are equally wide, so on a
 * log axis their shares would make a saw; over the log of their width they do not.
 */
static void add_density(struct plot_series *line, const struct detail_dist *d)
{
	unsigned int first = d->h.nr, last = 0;

	for (unsigned int k = 0; k < d->h.nr; k++) {
		if (!d->bins[k])
			continue;
		first = k < first ? k : first;
		last = k;
	}
	for (unsigned int k = first, span; k <= last + 1 && k + 1 < d->h.nr; k += span) {
		double low = (double)loglin_low(k, d->h.sub_bits), high;

		span = d->span && d->span[k] ? d->span[k] : 1;
		if (span >= d->h.nr - k)
			break;
		high = (double)loglin_low(k + span, d->h.sub_bits);
		if (span > 1 && low < 1)
			low = 1;
		if (low > 0)
			plot__point(line, low,
				    (double)d->bins[k] / (double)d->total / log2(high / low) * 100);
	}
}

/* ns are drawn as seconds: gnuplot then says u, m and nothing, as in us, ms and s. */
static double drawn_in(const char *unit)
{
	return !strcmp(unit, "ns") ? 1e-9 : !strcmp(unit, "ms") ? 1e-3 : 1;
}

static void scale_x(struct plot_series *s, double by)
{
	for (size_t i = 0; i < s->nr; i++)
		s->x[i] *= by;
}

/* The percentiles of the table, on the curve; the maximum is its end. */
static void add_cuts(struct plot *p, const struct detail_dist *dist, double scale, size_t arm)
{
	struct plot_series *s = plot__series(p, NULL, PLOT_DOTS, (unsigned int)arm);

	for (size_t k = 0; k < DETAIL_CUTS; k++)
		if (detail_cuts[k].q < 1 && !dist->cut[k].coarse && dist->cut[k].est > 0)
			plot__point(s, dist->cut[k].est * scale, (1 - detail_cuts[k].q) * 100);
}

/* Overlaid curves, one an arm; tail: of the tail, else of the density. */
static void plot_dist(struct doc *d, const struct an_compare *c, const char *label,
		      const char *const *names, bool tail)
{
	struct plot *p = NULL;
	bool is_time = false;
	size_t runs = 0;

	if (d->format != DOC_HTML)
		return;
	for (size_t a = 0; a < c->nr_arms; a++) {
		struct detail_dist dist;
		struct plot_series *s;
		double scale;

		if (!detail__dist(c, a, names, &dist))
			continue;
		scale = drawn_in(dist.unit);
		if (!p)
			p = plot__new(label, label, scale == 1 ? dist.unit : "s",
				      tail ? "share of at least that" :
				      "share of values per doubling", "%");
		s = plot__series(p, c->arms[a].name, tail ? PLOT_LINE : PLOT_STEP,
				 (unsigned int)a);
		(tail ? add_tail : add_density)(s, &dist);
		scale_x(s, scale);
		if (tail)
			add_cuts(p, &dist, scale, a);
		is_time = scale != 1;
		runs += dist.runs;
		detail__dist_free(&dist);
	}
	if (!p || !plot__points(p)) {
		plot__free(p);
		return;
	}
	p->x.log = true;
	p->y.log = tail;
	doc__figure(d, p, "Valid runs of each arm together (%zu histograms).%s%s", runs,
		    tail ? " Marks: p50, p99, p99.9." : "",
		    c->emulated && is_time ? " Emulated: times are not judged." : "");
}

/* --- tables of percentiles -------------------------------------------------------------------- */

static void cut_cell(struct grid *g, const struct histo_pct *cut, const char *unit)
{
	char buf[FMT_LEN];

	/* Where many bins share a count, their upper end is all that is known. */
	grid__cell(g, "%s%s", cut->coarse ? "<= " : "",
		   fmt__unit(buf, cut->coarse ? cut->hi : cut->est, unit));
}

static bool dist_row(struct grid *g, const struct an_compare *c, size_t arm, const char *label,
		     const char *const *names)
{
	struct detail_dist dist;
	char buf[FMT_LEN];

	if (!detail__dist(c, arm, names, &dist))
		return false;
	grid__row(g, DOC_PLAIN);
	grid__cell(g, "%s%s%s%s", label, drawn_in(dist.unit) == 1 ? " (" : "",
		   drawn_in(dist.unit) == 1 ? dist.unit : "", drawn_in(dist.unit) == 1 ? ")" : "");
	grid__cell(g, "%s", c->arms[arm].name);
	grid__cell(g, "%s", fmt__num(buf, (double)dist.total));
	for (size_t k = 0; k < DETAIL_CUTS; k++) {
		struct histo_pct ns = dist.cut[k];

		if (!strcmp(dist.unit, "ms")) {
			ns.est *= 1e6;
			ns.hi *= 1e6;
		}
		cut_cell(g, &ns, strcmp(dist.unit, "ms") ? dist.unit : "ns");
	}
	detail__dist_free(&dist);
	return true;
}

static const char *const dist_head[] = { "what", "arm", "n", "p50", "p99", "p99.9", "max" };

/* --- held memory ------------------------------------------------------------------------------ */

static const struct rd_series *pending(const struct an_compare *c, size_t run)
{
	const struct rd_series *s = run__series(c->runs[run].rd, "vmstat", "nr_migrc_pending");

	return detail__counts(c, run) && s && s->nr ? s : NULL;
}

/*
 * One run's series, thinned so that of every stretch the largest value stays: a peak of held memory
 * is what a reader looks for.
 */
static void add_pending(struct plot_series *line, const struct rd_series *s, size_t stride)
{
	for (size_t i = 0; i < s->nr; i += stride) {
		const struct rd_point *top = &s->point[i];

		for (size_t k = i; k < i + stride && k < s->nr; k++)
			if (s->point[k].value > top->value)
				top = &s->point[k];
		plot__point(line, top->t_ns / 1e9, (double)top->value);
	}
	plot__point(line, NAN, NAN);
}

static void plot_pending(struct doc *d, const struct an_compare *c, size_t points)
{
	struct plot *p;

	if (d->format != DOC_HTML)
		return;
	p = plot__new("Held folios over time", "time since the start of the workload", "s",
		      "held folios", "pages");
	p->from_zero = true;
	for (size_t a = 0; a < c->nr_arms; a++) {
		struct plot_series *line = NULL;

		for (size_t i = 0; i < c->nr_runs; i++) {
			if (c->runs[i].arm != a || !pending(c, i))
				continue;
			if (!line)
				line = plot__series(p, c->arms[a].name, PLOT_LINE,
						    (unsigned int)a);
			add_pending(line, pending(c, i), points / MAX_POINTS + 1);
		}
	}
	doc__figure(d, p, "Every valid run. Source folios that wait for a flush: neither free nor in use.");
}

static void held_table(struct doc *d, const struct an_compare *c)
{
	static const char *const head[] = { "arm", "most at once", "mean over time", "most, as memory",
					    "runs" };
	const struct an_metric *max = compare__metric(c, "held.max");
	const struct an_metric *mean = compare__metric(c, "held.mean");
	char buf[3][FMT_LEN];
	bool unknown = false;
	struct grid g;

	grid__init(&g, "Held folios: of each run the largest sample and the mean, then over the runs the largest and the mean",
		   "nrrrr", head);
	for (size_t a = 0; max && mean && a < c->nr_arms; a++) {
		double bytes = detail__held_bytes(c, a);

		if (!max->arm[a].n)
			continue;
		grid__row(&g, DOC_PLAIN);
		grid__cell(&g, "%s", c->arms[a].name);
		grid__cell(&g, "%s", fmt__num(buf[0], max->arm[a].max));
		grid__cell(&g, "%s", fmt__num(buf[1], mean->arm[a].mean));
		grid__cell(&g, "%s", isnan(bytes) ? "unknown" : fmt__unit(buf[2], bytes, "bytes"));
		grid__cell(&g, "%zu", max->arm[a].n);
		unknown |= isnan(bytes);
	}
	doc__grid(d, &g);
	if (unknown)
		doc__para(d, DOC_MUTED, "The page size was not recorded with every run that held folios: how much memory they were is unknown.");
}

void section__held(struct doc *d, const struct section *s)
{
	const struct an_compare *c = s->c;
	size_t points = 0;
	struct grid g;

	section__heading(d, s, "held", "Held memory and its age");
	for (size_t i = 0; i < c->nr_runs; i++)
		points += pending(c, i) ? pending(c, i)->nr : 0;
	if (!points)
		doc__para(d, DOC_MUTED, "No run has samples of nr_migrc_pending (a stock kernel has no such gauge): absent, not 0.");
	else
		held_table(d, c);
	grid__init(&g, "Age of a folio when it was released: an upper bound, as the oldest of a release gives it",
		   "mnrrrrr", dist_head);
	for (size_t a = 0; a < c->nr_arms; a++)
		dist_row(&g, c, a, "age at release", ONE("migrc_held_age_ms"));
	if (!g.rows)
		doc__para(d, DOC_MUTED, "No run has ages of held folios (the probe migrc_freed gives them).");
	doc__grid(d, &g);
	doc__figures_begin(d, false);
	if (points)
		plot_pending(d, c, points);
	plot_dist(d, c, "Age of a held folio at release", ONE("migrc_held_age_ms"), true);
	doc__figures_end(d);
}

/* --- latencies -------------------------------------------------------------------------------- */

static bool is_latency(const char *name)
{
	for (size_t k = 0; k < detail_nr_latencies; k++)
		for (size_t i = 0; detail_latencies[k].names[i]; i++)
			if (!strcmp(detail_latencies[k].names[i], name))
				return true;
	return !strcmp(name, "migrc_held_age_ms");
}

/* The workload's own come first among the others: they are what it is run for. */
static bool is_workload(const char *name)
{
	return !strncmp(name, "workload.", 9);
}

/* Whether an earlier run that counts has the histogram; then it was shown already. */
static bool shown(const struct an_compare *c, size_t run, const char *name)
{
	for (size_t i = 0; i < run; i++)
		if (detail__counts(c, i) && run__hist(c->runs[i].rd, name))
			return true;
	return false;
}

typedef void (*hist_visitor)(struct doc *d, const struct an_compare *c, struct grid *g,
			     const char *name);

/* Each histogram once, of the workload's or of all others; those of a process are for `show`. */
static size_t others(struct doc *d, const struct an_compare *c, bool workload, struct grid *g,
		     hist_visitor visit)
{
	size_t nr = 0;

	for (size_t i = 0; i < c->nr_runs; i++) {
		const struct rd_run *rd = c->runs[i].rd;

		for (size_t k = 0; detail__counts(c, i) && k < rd->nr_hists; k++) {
			const char *name = rd->hists[k].name;

			if (is_workload(name) != workload || is_latency(name) ||
			    strchr(name, '@') || shown(c, i, name))
				continue;
			if (nr++ < MAX_OTHERS)
				visit(d, c, g, name);
		}
	}
	return nr;
}

static void visit_row(struct doc *d, const struct an_compare *c, struct grid *g, const char *name)
{
	(void)d;
	for (size_t a = 0; a < c->nr_arms; a++)
		dist_row(g, c, a, name, ONE(name));
}

static void visit_tail(struct doc *d, const struct an_compare *c, struct grid *g, const char *name)
{
	(void)g;
	plot_dist(d, c, name, ONE(name), true);
}

static void visit_density(struct doc *d, const struct an_compare *c, struct grid *g,
			  const char *name)
{
	(void)g;
	plot_dist(d, c, name, ONE(name), false);
}

static void latency_table(struct doc *d, const struct an_compare *c)
{
	struct grid g;

	grid__init(&g, "Latencies, the valid runs of each arm together", "mnrrrrr", dist_head);
	for (size_t k = 0; k < detail_nr_latencies; k++)
		for (size_t a = 0; a < c->nr_arms; a++)
			dist_row(&g, c, a, detail_latencies[k].label, detail_latencies[k].names);
	others(d, c, true, &g, visit_row);
	if (!g.rows)
		doc__para(d, DOC_MUTED, "No run has histograms: they come from the probes, or from the workload.");
	doc__grid(d, &g);
}

void section__latency(struct doc *d, const struct section *s)
{
	const struct an_compare *c = s->c;
	struct grid g;
	size_t nr;

	section__heading(d, s, "latency", "Latencies: flush, write fault, allocation");
	doc__para(d, DOC_PLAIN, "Who pays for a flush that was deferred sees it here, and in the tail first. A percentile is the middle of the bin that holds it, and the truth lies in that bin; the verdicts over the runs are in the table of outcomes.%s",
		  c->emulated ? " Emulated: these times say nothing about real machines." : "");
	latency_table(d, c);
	doc__figures_begin(d, false);
	for (size_t k = 0; k < detail_nr_latencies; k++)
		plot_dist(d, c, detail_latencies[k].label, detail_latencies[k].names, true);
	others(d, c, true, NULL, visit_tail);
	doc__figures_end(d);
	grid__init(&g, "Other distributions, the valid runs of each arm together", "mnrrrrr", dist_head);
	nr = others(d, c, false, &g, visit_row);
	if (!nr)
		return;
	doc__fold_begin(d, true, "Other distributions (%zu)", nr);
	doc__grid(d, &g);
	doc__figures_begin(d, false);
	others(d, c, false, NULL, visit_density);
	doc__figures_end(d);
	if (nr > MAX_OTHERS)
		doc__para(d, DOC_MUTED, "%zu more are in the database and in the JSON format.", nr - MAX_OTHERS);
	doc__fold_end(d);
}
