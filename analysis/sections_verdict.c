// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/sections.h"
#include "analysis/words.h"

void section__heading(struct doc *d, const struct section *s, const char *name, const char *text)
{
	char id[32];

	snprintf(id, sizeof(id), "%s-%u", name, s->number);
	doc__heading(d, 3, id, "%s", text);
}

enum doc_tone section__tone(enum an_verdict v)
{
	switch (v) {
	case AN_IMPROVED:
		return DOC_GOOD;
	case AN_REGRESSED:
		return DOC_BAD;
	case AN_NOT_JUDGED:
	case AN_ABSENT:
		return DOC_MUTED;
	default:
		return DOC_PLAIN;
	}
}

void section__mismatches(struct doc *d, const struct an_compare *c)
{
	static const char *const head[] = { "what", "values, and who has them" };
	struct grid g;

	grid__init(&g, "Differences between runs that must be equal", "ml", head);
	for (size_t i = 0; i < c->nr_mismatches; i++) {
		grid__row(&g, DOC_BAD);
		grid__cell(&g, "%s", c->mismatches[i].what);
		grid__cell(&g, "%s", c->mismatches[i].detail);
	}
	doc__grid(d, &g);
}

static void say_invalid(struct doc *d, const struct an_compare *c)
{
	for (size_t i = 0; i < c->nr_mismatches; i++)
		if (c->mismatches[i].checksum)
			doc__para(d, DOC_BAD, "INVALID: %s differs between runs: %s. Equal options must give equal results; a kernel that changes them is wrong, and no figure below may be used.",
				  c->mismatches[i].what, c->mismatches[i].detail);
	for (size_t a = 0; a < c->nr_arms; a++)
		if (!c->arms[a].nr_valid)
			doc__para(d, DOC_BAD, "INVALID: no run of %s is valid (%zu recorded); see the runs below for the rules they broke.",
				  c->arms[a].name, c->arms[a].nr_runs);
	if (compare__mismatched(c))
		doc__para(d, DOC_BAD, "The runs differ in what must match (listed under machine facts); they are compared all the same because --allow-mismatch was given.");
}

static void believe_detectable(struct doc *d, const struct an_compare *c, size_t arm)
{
	for (size_t i = 0; i < c->nr_metrics && c->metrics[i].primary; i++) {
		const struct an_effect *e = &c->metrics[i].effect[arm];

		char *seen;

		if (!isfinite(e->detectable))
			continue;
		seen = words__detectable(e);
		doc__item(d, "%s, %s: these runs see a change of %s (%.0f %% power, after correction for %zu test%s); n = %zu and %zu.",
			  c->arms[arm].name, c->metrics[i].label, seen, c->policy->power * 100,
			  c->family, c->family == 1 ? "" : "s", e->n_base, e->n_arm);
		free(seen);
	}
}

static void believe_drift(struct doc *d, const struct an_compare *c)
{
	double p = NAN;

	for (size_t i = 0; i < c->nr_metrics && c->metrics[i].primary; i++)
		for (size_t a = 0; a < c->nr_arms; a++)
			if (c->metrics[i].arm[a].has_trend)
				p = fmin(p, c->metrics[i].arm[a].trend.p);
	if (isnan(p))
		doc__item(d, "Drift: too few runs to tell (three of an arm are needed).");
	else
		doc__item(d, "Drift of primary metrics over the runs of an arm: %s (smallest p %.2g).",
			  p <= 0.05 ? "SEEN, see the warnings" : "none seen", p);
}

static void believe_instrument(struct doc *d, const struct an_compare *c)
{
	double lost = 0;
	size_t probes = 0, missing = 0;

	for (size_t i = 0; i < c->nr_runs; i++) {
		const struct rd_run *rd = c->runs[i].rd;

		if (!c->runs[i].valid || c->runs[i].arm == SIZE_MAX)
			continue;
		for (size_t k = 0; k < rd->nr_probes; k++) {
			probes++;
			missing += !strcmp(rd->probes[k].rung, "none");
			lost += rd->probes[k].lost != RD_NULL ? (double)rd->probes[k].lost : 0;
		}
	}
	if (probes)
		doc__item(d, "Instrument: %zu of %zu probes attached over the valid runs, %.0f events lost.",
			  probes - missing, probes, lost);
	else
		doc__item(d, "Instrument: no probes; counters of the kernel only.");
}

static void section__believe(struct doc *d, const struct section *s)
{
	const struct an_compare *c = s->c;

	doc__heading(d, 3, "", "Whether to believe it, point by point");
	doc__list_begin(d);
	for (size_t a = 0; a < c->nr_arms; a++) {
		char *valid = words__validity(c, a);

		doc__item(d, "%s%s%s.", valid, a ? "; " : " (baseline)", a ? c->arms[a].design :
			  "");
		free(valid);
	}
	if (c->emulated)
		doc__item(d, "Emulated: times and rates were measured under software emulation and are not judged; counters are.");
	/* Elsewhere it is a column of the table above; a terminal has no room for it there. */
	for (size_t a = 1; a < c->nr_arms && d->format == DOC_TEXT; a++)
		believe_detectable(d, c, a);
	believe_drift(d, c);
	believe_instrument(d, c);
	doc__list_end(d);
	for (size_t i = 0; i < c->nr_warnings; i++)
		doc__para(d, DOC_WARN, "Warning: %s.", c->warnings[i]);
}

static void overview_row(struct grid *g, const struct an_compare *c, const struct an_metric *m,
			 size_t arm, bool wide)
{
	const struct an_effect *e = &m->effect[arm];
	char *seen = words__detectable(e), *p = words__p(e->p_adjusted);
	struct words_effect w;

	words__effect(m, arm, &w);
	grid__row(g, section__tone(e->verdict));
	grid__cell(g, "%s", m->label);
	grid__cell(g, "%s", c->arms[arm].name);
	grid__cell(g, "%s", w.change);
	grid__cell(g, "%s", w.range);
	grid__cell(g, "%s", p);
	if (wide) {
		grid__cell(g, "%zu, %zu", m->arm[0].n, m->arm[arm].n);
		grid__cell(g, "%s", seen);
	}
	grid__cell(g, "%s%s%s", verdict__name(e->verdict), e->why[0] ? ": " : "", e->why);
	words__effect_free(&w);
	free(seen);
	free(p);
}

/* Every arm at a glance: what decides, each against the baseline. */
static void overview(struct doc *d, const struct an_compare *c)
{
	static const char *const head[] = { "primary metric", "arm", "change", "95 % interval",
					    "p after Holm", "verdict" };
	static const char *const wide_head[] = { "primary metric", "arm", "change", "95 % interval",
						 "p after Holm", "n", "could see", "verdict" };
	bool wide = d->format != DOC_TEXT;
	struct grid g;

	grid__init(&g, "Primary metrics, each arm against the baseline", wide ? "mnrrrrrl" : "mnrrrl",
		   wide ? wide_head : head);
	for (size_t i = 0; i < c->nr_metrics && c->metrics[i].primary; i++)
		for (size_t a = 1; a < c->nr_arms; a++)
			overview_row(&g, c, &c->metrics[i], a, wide);
	doc__grid(d, &g);
	if (wide && c->nr_arms > 1)
		doc__para(d, DOC_MUTED, "\"Could see\" is the smallest change that these runs would have found (%.0f %% power, after correction for %zu test%s).",
			  c->policy->power * 100, c->family, c->family == 1 ? "" : "s");
}

void section__verdict(struct doc *d, const struct section *s)
{
	const struct an_compare *c = s->c;
	bool doubt;
	char *text;

	say_invalid(d, c);
	if (c->nr_arms < 2)
		doc__para(d, DOC_WARN, "One arm only (%s): there is nothing to compare it with.",
			  c->nr_arms ? c->arms[0].name : "none");
	for (size_t a = 1; a < c->nr_arms; a++) {
		text = words__headline(c, a);
		doc__para(d, section__tone(words__overall(c, a)), "%s", text);
		free(text);
	}
	text = words__belief(c, &doubt);
	if (c->nr_arms > 1)
		doc__para(d, doubt ? DOC_WARN : DOC_PLAIN, "%s", text);
	free(text);
	overview(d, c);
	section__believe(d, s);
}

/* --- the terminal's last words ---------------------------------------------------------------- */

static void summary_row(struct grid *g, const struct an_compare *c, const char *key)
{
	const struct an_metric *m = compare__metric(c, key);

	if (!m)
		return;
	for (size_t a = 1; a < c->nr_arms; a++) {
		const struct an_effect *e = &m->effect[a];
		struct words_effect w;

		words__effect(m, a, &w);
		grid__row(g, section__tone(e->verdict));
		grid__cell(g, "%s", w.label);
		if (c->nr_arms > 2)
			grid__cell(g, "%s", c->arms[a].name);
		grid__cell(g, "%s", w.base);
		grid__cell(g, "%s", w.value);
		grid__cell(g, "%s", w.change);
		grid__cell(g, "%s", w.range);
		grid__cell(g, "%s", w.verdict);
		words__effect_free(&w);
	}
}

void section__summary(struct doc *d, const struct an_compare *c)
{
	const char *head[] = { "mean per run", c->nr_arms ? c->arms[0].name : "", "", "change",
			       "95 % interval", "verdict" };
	const char *arms_head[] = { "mean per run", "arm", head[1], "arm's", "change",
				    "95 % interval", "verdict" };
	struct grid g;

	if (c->nr_arms < 2)
		return;
	head[2] = c->arms[1].name;
	doc__heading(d, 2, "", "Summary: %s%s", c->workload,
		     c->emulated ? " (emulated: times are not judged)" : "");
	if (c->nr_arms == 2)
		grid__init(&g, "Summary", "mrrrrl", head);
	else
		grid__init(&g, "Summary", "mnrrrrl", arms_head);
	summary_row(&g, c, "vmstat.pgmigrate_success");
	summary_row(&g, c, "migrc.eligible");
	summary_row(&g, c, "vmstat.migrc_deferred");
	for (size_t i = 0; i < c->nr_metrics && c->metrics[i].primary; i++)
		summary_row(&g, c, c->metrics[i].key);
	doc__grid(d, &g);
	doc__para(d, DOC_PLAIN, "%s", "");
	for (size_t a = 1; a < c->nr_arms; a++) {
		char *text = words__arm_verdict(c, a);

		doc__para(d, section__tone(words__overall(c, a)), "%s", text);
		free(text);
	}
}
