// SPDX-License-Identifier: GPL-2.0-or-later
/* Every run as a dot: in the order in which they were made, with drift, and beside each other by arm. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/detail.h"
#include "analysis/sections.h"
#include "analysis/words.h"

#define MAX_PANELS	16

static bool is_ns(const struct an_metric *m)
{
	return !strcmp(m->unit, "ns");
}

/* ns are drawn as s: gnuplot then says u, m and nothing, as in us, ms and s. */
static double drawn(const struct an_metric *m, double value)
{
	return value * (is_ns(m) ? 1e-9 : 1);
}

/* The value axis: what the metric counts, and in what. */
static struct plot *plot_of(const struct an_metric *m, const char *x, const char *x_unit)
{
	const char *what = m->per_1000 ? "events" : is_ns(m) ? "time" :
			   !strcmp(m->unit, "count") ? "count" : "value";
	const char *unit = m->per_1000 ? "per 1000 migrated" : is_ns(m) ? "s" :
			   !strcmp(m->unit, "count") || !*m->unit ? "per run" : m->unit;

	return plot__new(m->label, x, x_unit, what, unit);
}

/* --- in order --------------------------------------------------------------------------------- */

/* The Theil-Sen line, through the median, from the place of an arm's first run to its last one's. */
static void add_trend(struct plot *p, const struct an_compare *c, const struct an_metric *m,
		      size_t arm)
{
	const struct an_summary *sum = &m->arm[arm];
	struct plot_series *s;
	size_t last = 0;

	if (!sum->has_trend)
		return;
	for (size_t i = 0; i < c->nr_runs; i++)
		if (detail__counts(c, i) && c->runs[i].arm == arm && c->runs[i].unit > last)
			last = c->runs[i].unit;
	s = plot__series(p, NULL, PLOT_TREND, (unsigned int)arm);
	for (size_t i = 0; i < c->nr_runs; i++) {
		double step = (double)c->runs[i].unit - (double)last / 2;
		double y = sum->trend_log ? sum->median * exp(sum->trend.slope * step) :
			   sum->median + sum->trend.slope * step;

		if (detail__counts(c, i) && c->runs[i].arm == arm && !isnan(m->value[i]))
			plot__point(s, (double)i + 1, drawn(m, y));
	}
}

static void add_runs(struct plot *p, const struct an_compare *c, const struct an_metric *m,
		     size_t arm, bool valid)
{
	char *label = sbuf__format("%s%s", c->arms[arm].name, valid ? "" : ", invalid");
	struct plot_series *s = plot__series(p, label, valid ? PLOT_DOTS : PLOT_CROSSES,
					     (unsigned int)arm);

	for (size_t i = 0; i < c->nr_runs; i++)
		if (c->runs[i].arm == arm && c->runs[i].valid == valid && !isnan(m->value[i]))
			plot__point(s, (double)i + 1, drawn(m, m->value[i]));
	free(label);
}

static void plot_order(struct doc *d, const struct an_compare *c, const struct an_metric *m)
{
	struct plot *p;

	if (d->format != DOC_HTML)
		return;
	p = plot_of(m, "run, in the order in which they were made", "number");
	p->x.whole = true;
	for (size_t a = 0; a < c->nr_arms; a++) {
		add_runs(p, c, m, a, true);
		add_runs(p, c, m, a, false);
		add_trend(p, c, m, a);
	}
	if (plot__points(p))
		doc__figure(d, p, "A dot is a run, a cross an invalid one; the dashed line is the drift of an arm.");
	else
		plot__free(p);
}

static void drift_row(struct grid *g, const struct an_compare *c, const struct an_metric *m,
		      size_t arm)
{
	const struct an_summary *s = &m->arm[arm];
	double slope = s->trend_log ? expm1(s->trend.slope) * 100 : s->trend.slope;
	bool seen = s->trend.p <= 0.05;
	char buf[FMT_LEN];

	grid__row(g, seen ? DOC_WARN : DOC_PLAIN);
	grid__cell(g, "%s", m->label);
	grid__cell(g, "%s", c->arms[arm].name);
	grid__cell(g, "%zu", s->n);
	if (s->trend_log)
		grid__cell(g, "%+.2f %%", slope);
	else
		grid__cell(g, "%s%s", slope > 0 ? "+" : "", fmt__unit(buf, slope, m->unit));
	grid__cell(g, "%+.2f", s->trend.tau);
	grid__cell(g, "%.2g", s->trend.p);
	grid__cell(g, "%s", seen ? "drift" : "none seen");
}

void section__drift(struct doc *d, const struct an_compare *c)
{
	static const char *const head[] = { "metric", "arm", "n", "per run", "tau", "p", "drift" };
	struct grid g;

	grid__init(&g, "Drift over the runs of an arm: slope by Theil and Sen, Kendall's tau and its p",
		   "mnrrrrl", head);
	for (size_t i = 0; i < c->nr_metrics && c->metrics[i].primary; i++)
		for (size_t a = 0; a < c->nr_arms; a++)
			if (c->metrics[i].arm[a].has_trend)
				drift_row(&g, c, &c->metrics[i], a);
	if (!g.rows)
		doc__para(d, DOC_MUTED, "Drift: too few runs to tell (three of an arm are needed).");
	doc__grid(d, &g);
	doc__figures_begin(d, false);
	for (size_t i = 0; i < c->nr_metrics && c->metrics[i].primary; i++)
		plot_order(d, c, &c->metrics[i]);
	doc__figures_end(d);
}

/* --- by arm ----------------------------------------------------------------------------------- */

/* What deserves a panel: what decides, what the workload says, and what the mechanism did. */
static bool has_panel(const struct an_metric *m)
{
	static const char *const keys[] = {
		"vmstat.pgmigrate_success", "vmstat.nr_tlb_local_flush_all/1000",
		"interrupts.TLB/1000", "interrupts.CAL/1000", "migrc.eligible/1000",
		"vmstat.migrc_deferred/1000", "vmstat.migrc_flushes/1000", "held.max",
		"hist.wp_fault_ns.p99.9", "hist.tlbbatch_flush_ns.p99.9",
	};

	if (m->primary || (m->group == AN_OUTCOME && m->better != AN_NONE))
		return true;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strcmp(m->key, keys[i]))
			return true;
	return false;
}

/* Spread over the width of a column, always the same way: dots of equal runs stay apart. */
static double jitter(size_t i)
{
	return ((double)(i * 7 % 11) / 10 - 0.5) * 0.4;
}

static void plot_panel(struct doc *d, const struct an_compare *c, const struct an_metric *m)
{
	struct plot *p = plot_of(m, "arm", "by name");

	p->small = true;
	for (size_t a = 0; a < c->nr_arms; a++) {
		struct plot_series *s = plot__series(p, NULL, PLOT_DOTS, (unsigned int)a);
		double mean = drawn(m, m->arm[a].mean);
		size_t k = 0;

		plot__tick(p, c->arms[a].name);
		for (size_t i = 0; i < c->nr_runs; i++)
			if (detail__counts(c, i) && c->runs[i].arm == a && !isnan(m->value[i]))
				plot__point(s, (double)a + jitter(k++), drawn(m, m->value[i]));
		if (isnan(mean))
			continue;
		s = plot__series(p, NULL, PLOT_MEAN, (unsigned int)a);
		plot__point(s, (double)a - 0.32, mean);
		plot__point(s, (double)a + 0.32, mean);
	}
	if (plot__points(p))
		doc__figure(d, p, "%s", m->primary ? "(primary)" : "");
	else
		plot__free(p);
}

void section__dots(struct doc *d, const struct section *s)
{
	const struct an_compare *c = s->c;
	size_t panels = 0;

	if (d->format != DOC_HTML)
		return;		/* the tables before it have what it shows */
	section__heading(d, s, "dots", "Every run, by arm");
	doc__para(d, DOC_PLAIN, "A dot is a valid run, the line the mean of its arm. All axes begin at 0.");
	doc__figures_begin(d, true);
	for (size_t i = 0; i < c->nr_metrics && panels < MAX_PANELS; i++) {
		if (!has_panel(&c->metrics[i]))
			continue;
		plot_panel(d, c, &c->metrics[i]);
		panels++;
	}
	doc__figures_end(d);
}
