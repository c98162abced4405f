// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/histo.h"
#include "analysis/plot.h"
#include "analysis/sections.h"
#include "analysis/words.h"
#include "bpf/loglin.h"

#define MAX_POINTS	20000	/* over all series of a plot; more is thinned out */
#define MAX_HIST_PLOTS	12

static void emit(struct doc *d, struct plot *p, const char *caption)
{
	const char *why = "";
	char *svg = plot__svg(p, d->figures + 1, &why);

	doc__figure(d, svg, caption, why);
	free(svg);
	plot__free(p);
}

static bool counted(const struct an_compare *c, size_t run)
{
	return c->runs[run].valid && c->runs[run].arm != SIZE_MAX;
}

/* --- held memory over time -------------------------------------------------------------------- */

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
}

static void plot_pending(struct doc *d, const struct an_compare *c)
{
	struct plot p = { .title = "Held folios over time, every valid run",
			  .xlabel = "time since the start of the workload (s)",
			  .ylabel = "held folios (pages)", .from_zero = true };
	size_t points = 0;

	for (size_t i = 0; i < c->nr_runs; i++) {
		const struct rd_series *s = run__series(c->runs[i].rd, "vmstat",
							"nr_migrc_pending");

		points += counted(c, i) && s ? s->nr : 0;
	}
	if (!points) {
		doc__para(d, DOC_MUTED, "Held memory: no run has samples of nr_migrc_pending (a stock kernel has no such gauge).");
		return;
	}
	for (size_t a = 0; a < c->nr_arms; a++) {
		bool named = false;

		for (size_t i = 0; i < c->nr_runs; i++) {
			const struct rd_series *s;

			s = run__series(c->runs[i].rd, "vmstat", "nr_migrc_pending");
			if (!counted(c, i) || c->runs[i].arm != a || !s)
				continue;
			add_pending(plot__series(&p, named ? NULL : c->arms[a].name, PLOT_LINE,
						 (unsigned int)a), s, points / MAX_POINTS + 1);
			named = true;
		}
	}
	emit(d, &p, "Source folios that wait for a flush and are neither free nor in use.");
}

/* --- histograms ------------------------------------------------------------------------------- */

/*
 * Bins of one histogram summed over the valid runs of an arm, in the layout of `like`; NULL if none
 * has it or the counts are beyond all sense. A run whose layout is coarser cannot be put into it.
 */
static uint64_t *merge(const struct an_compare *c, size_t arm, const struct rd_hist *like)
{
	struct histo all = { .sub_bits = like->sub_bits, .nr = like->nr };
	uint64_t *sum = NULL;

	for (size_t i = 0; i < c->nr_runs; i++) {
		const struct rd_hist *h = run__hist(c->runs[i].rd, like->name);

		struct histo one;

		if (!counted(c, i) || c->runs[i].arm != arm || !h || h->sub_bits < like->sub_bits)
			continue;
		if (!sum)
			all.n = sum = mem__calloc(like->nr, sizeof(*sum));
		one = (struct histo){ .sub_bits = h->sub_bits, .nr = h->nr, .n = h->n };
		if (histo__add(&all, sum, &one)) {
			free(sum);
			return NULL;
		}
	}
	return sum;
}

/*
 * Share of the values per doubling of the value: bins of one power of two are equally wide, so on a
 * log axis their shares would make a saw; over the log of their width they do not.
 */
static void add_histogram(struct plot_series *line, const uint64_t *n, const struct rd_hist *h)
{
	unsigned int first = h->nr, last = 0;
	double total = 0;

	for (unsigned int k = 0; k < h->nr; k++) {
		if (!n[k])
			continue;
		total += (double)n[k];
		first = k < first ? k : first;
		last = k;
	}
	for (unsigned int k = first, span; total > 0 && k <= last + 1 && k + 1 < h->nr; k += span) {
		double low = (double)loglin_low(k, h->sub_bits), high;

		span = h->span && h->span[k] ? h->span[k] : 1;
		if (span >= h->nr - k)
			break;
		high = (double)loglin_low(k + span, h->sub_bits);
		if (span > 1 && low < 1)
			low = 1;
		/* The value 0 has no place on a log axis; the tables have it. */
		if (low > 0)
			plot__point(line, low, (double)n[k] / total / log2(high / low) * 100);
	}
}

static void plot_histogram(struct doc *d, const struct an_compare *c, const struct rd_hist *h)
{
	char *title = sbuf__format("%s by arm", h->name), *x = sbuf__format("%s (%s)", h->name,
									    h->unit);
	char *caption;
	struct plot p = { .title = title, .xlabel = x, .ylabel = "share of values per doubling (%)",
			  .log_x = true };

	for (size_t a = 0; a < c->nr_arms; a++) {
		uint64_t *sum = merge(c, a, h);

		if (sum)
			add_histogram(plot__series(&p, c->arms[a].name, PLOT_STEP, (unsigned int)a),
				      sum, h);
		free(sum);
	}
	caption = sbuf__format("%s: valid runs of each arm together, bins %.3g %% wide.%s", h->name,
			       100.0 / (1 << h->sub_bits), c->emulated && !strcmp(h->unit, "ns") ?
			       " Emulated: times are not judged." : "");
	if (plot__points(&p))
		emit(d, &p, caption);
	plot__free(&p);
	free(caption);
	free(title);
	free(x);
}

/* Whether an earlier run that counts has the histogram; then it was drawn already. */
static bool drawn(const struct an_compare *c, size_t run, const char *name)
{
	for (size_t i = 0; i < run; i++)
		if (counted(c, i) && run__hist(c->runs[i].rd, name))
			return true;
	return false;
}

static void plot_histograms(struct doc *d, const struct an_compare *c)
{
	size_t plots = 0, left = 0;

	for (size_t i = 0; i < c->nr_runs; i++) {
		const struct rd_run *rd = c->runs[i].rd;

		for (size_t k = 0; counted(c, i) && k < rd->nr_hists; k++) {
			if (drawn(c, i, rd->hists[k].name))
				continue;
			if (plots++ < MAX_HIST_PLOTS)
				plot_histogram(d, c, &rd->hists[k]);
			else
				left++;
		}
	}
	if (!plots)
		doc__para(d, DOC_MUTED, "Latencies: no run has histograms.");
	if (left)
		doc__para(d, DOC_MUTED, "%zu more histograms are in the database and in the JSON format.",
			  left);
}

/* --- every run -------------------------------------------------------------------------------- */

static void plot_dots(struct doc *d, const struct an_compare *c, const struct an_metric *m)
{
	bool ns = !strcmp(m->unit, "ns");
	const char *y = m->per_1000 ? "events per 1000 migrated pages" : ns ? "s" : m->unit;
	struct plot p = { .title = m->label, .xlabel = "run, in order (number)", .ylabel = y };

	for (size_t a = 0; a < c->nr_arms; a++) {
		unsigned int colour = (unsigned int)a;
		struct plot_series *s = plot__series(&p, c->arms[a].name, PLOT_DOTS, colour);
		char *invalid;

		for (size_t i = 0; i < c->nr_runs; i++)
			if (c->runs[i].arm == a && c->runs[i].valid && !isnan(m->value[i]))
				plot__point(s, (double)i + 1, m->value[i] / (ns ? 1e9 : 1));
		invalid = sbuf__format("%s, invalid", c->arms[a].name);
		s = plot__series(&p, invalid, PLOT_CROSSES, colour);
		free(invalid);
		for (size_t i = 0; i < c->nr_runs; i++)
			if (c->runs[i].arm == a && !c->runs[i].valid && !isnan(m->value[i]))
				plot__point(s, (double)i + 1, m->value[i] / (ns ? 1e9 : 1));
	}
	if (plot__points(&p))
		emit(d, &p, "Every run, in the order in which they were made; crosses are invalid runs.");
	plot__free(&p);
}

void section__plots(struct doc *d, const struct section *s)
{
	char id[32];

	if (d->format != DOC_HTML || !s->c->nr_arms)
		return;
	snprintf(id, sizeof(id), "plots-%u", s->number);
	doc__heading(d, 3, id, "Every run, held memory, latencies");
	for (size_t i = 0; i < s->c->nr_metrics && s->c->metrics[i].primary; i++)
		plot_dots(d, s->c, &s->c->metrics[i]);
	plot_pending(d, s->c);
	plot_histograms(d, s->c);
}
