// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/metrics.h"
#include "analysis/sections.h"
#include "analysis/words.h"

/* --- why: the waterfall ----------------------------------------------------------------------- */

/* A stage of the waterfall: it begins where those before it have ended. */
static void waterfall_row(struct grid *g, const char *label, double value, double begin,
			  double whole, double needing)
{
	char num[FMT_LEN];

	if (isnan(value))
		return;
	grid__row(g, DOC_PLAIN);
	grid__cell(g, "%s", label);
	grid__cell(g, "%s", fmt__num(num, value));
	if (whole > 0)
		grid__cell(g, "%.1f %%", value / whole * 100);
	else
		grid__cell(g, "-");
	if (needing > 0)
		grid__cell(g, "%.1f %%", value / needing * 100);
	else
		grid__cell(g, "-");
	grid__cell(g, "%.6f %.6f", whole > 0 ? begin / whole : 0, whole > 0 ? value / whole : 0);
}

static double mean_vmstat(const struct an_compare *c, size_t arm, const char *name)
{
	char *key = sbuf__format("vmstat.%s", name);
	double v = compare__mean(c, arm, key);

	free(key);
	return v;
}

/* What was refused, by reason; the reasons that nothing was refused for in one line. */
static void waterfall_refused(struct grid *g, const struct an_compare *c, size_t arm,
			      double begin, double migrated, double needing)
{
	struct sbuf none = { 0 };

	for (size_t k = 0; k < metrics_nr_refused; k++) {
		double v = mean_vmstat(c, arm, metrics_refused[k].name);
		char *label;

		if (v == 0)
			sbuf__addf(&none, "%s%s", none.len ? "; " : "", metrics_refused[k].label);
		if (!(v > 0))
			continue;
		label = sbuf__format("refused: %s", metrics_refused[k].label);
		waterfall_row(g, label, v, begin, migrated, needing);
		begin += v;
		free(label);
	}
	if (none.len) {
		char *label = sbuf__format("refused for no folio: %s", none.s);

		waterfall_row(g, label, 0, begin, migrated, needing);
		free(label);
	}
	sbuf__free(&none);
}

static void waterfall_deferring(struct doc *d, const struct an_compare *c, size_t arm)
{
	static const char *const head[] = { "stage", "per run", "of migrated", "of needing", "" };
	double migrated = compare__mean(c, arm, "vmstat.pgmigrate_success");
	double needing = compare__mean(c, arm, "migrc.needing"), rest;
	double noflush = mean_vmstat(c, arm, "migrc_noflush");
	double deferred = mean_vmstat(c, arm, "migrc_deferred"), whole;
	struct grid g;

	/* Switched off, every further stage would be a row of zeros. */
	if (!(needing > 0))
		return;
	rest = migrated - needing - (isnan(noflush) ? 0 : noflush);
	/* A folio may be asked for and then not migrate: the stages may be more than the pages. */
	whole = fmax(migrated, migrated - rest);
	grid__init(&g, "From migrated to deferred, mean over the valid runs; a bar begins where the one before it ends",
		   "lrrrb", head);
	waterfall_row(&g, "migrated (pages)", migrated, 0, whole, NAN);
	if (rest > 0)
		waterfall_row(&g, "never asked for: not mapped, or migrated for another reason", rest,
			      0, whole, NAN);
	waterfall_row(&g, "nothing stale left: no flush needed (folios)", noflush, fmax(rest, 0), whole,
		      NAN);
	waterfall_row(&g, "needing a flush (folios)", needing, whole - needing, whole, needing);
	waterfall_row(&g, "eligible", compare__mean(c, arm, "migrc.eligible"), whole - needing, whole,
		      needing);
	waterfall_row(&g, "deferred", deferred, whole - needing, whole, needing);
	waterfall_refused(&g, c, arm, whole - needing + deferred, whole, needing);
	doc__grid(d, &g);
}

static void waterfall_released(struct doc *d, const struct an_compare *c, size_t arm)
{
	static const char *const head[] = { "released by", "per run", "of released", "of deferred", "" };
	double all = 0, begin = 0;
	struct grid g;

	for (size_t k = 0; k < metrics_nr_released; k++) {
		double v = mean_vmstat(c, arm, metrics_released[k].name);

		all += isnan(v) ? 0 : v;
	}
	if (!(all > 0))
		return;
	grid__init(&g, "Deferred folios by what released them: who paid", "lrrrb", head);
	for (size_t k = 0; k < metrics_nr_released; k++) {
		double v = mean_vmstat(c, arm, metrics_released[k].name);

		waterfall_row(&g, metrics_released[k].label, v, begin, all,
			      mean_vmstat(c, arm, "migrc_deferred"));
		begin += isnan(v) ? 0 : v;
	}
	doc__grid(d, &g);
}

/* What the baseline's rate would have cost the arm, less what it cost. */
static void say_avoided(struct doc *d, const struct an_compare *c, size_t arm)
{
	double base = compare__mean(c, 0, "vmstat.nr_tlb_remote_flush/1000");
	double rate = compare__mean(c, arm, "vmstat.nr_tlb_remote_flush/1000");
	double migrated = compare__mean(c, arm, "vmstat.pgmigrate_success");
	double paid = mean_vmstat(c, arm, "migrc_flushes");
	double waits = mean_vmstat(c, arm, "migrc_waits");
	double deferred = mean_vmstat(c, arm, "migrc_deferred");
	char n[6][FMT_LEN];

	if (!isnan(base) && !isnan(rate) && !isnan(migrated))
		doc__para(d, DOC_PLAIN, "Remote flushes: at the rate of %s (%s per 1000 migrated pages) the %s pages that %s migrated per run would have cost %s; it had %s, so %s were %s.",
			  c->arms[0].name, fmt__num(n[0], base), fmt__num(n[1], migrated),
			  c->arms[arm].name, fmt__num(n[2], base * migrated / 1000),
			  fmt__num(n[3], rate * migrated / 1000),
			  fmt__num(n[4], fabs(base - rate) * migrated / 1000),
			  base >= rate ? "avoided" : "added");
	/* Often many folios share one. */
	if ((base - rate) * migrated / 1000 > deferred)
		doc__para(d, DOC_PLAIN, "Deferral explains at most %s of these, a flush for each folio deferred; for the rest the arms did not migrate alike, in smaller or larger batches or more of what needs no flush.",
			  fmt__num(n[0], deferred));
	if (!isnan(paid))
		doc__para(d, DOC_PLAIN, "Deferral paid %s flushes of its own per run%s%s%s.",
			  fmt__num(n[0], paid), isnan(waits) ? "" : "; writers had to wait ",
			  isnan(waits) ? "" : fmt__num(n[5], waits), isnan(waits) ? "" : " times");
}

/* One sentence: what stands between the migrated pages and more deferral. */
static void say_largest_refusal(struct doc *d, const struct an_compare *c, size_t arm)
{
	double needing = compare__mean(c, arm, "migrc.needing"), most = 0;
	double deferred = mean_vmstat(c, arm, "migrc_deferred");
	const char *reason = NULL;

	for (size_t k = 0; k < metrics_nr_refused; k++) {
		double v = mean_vmstat(c, arm, metrics_refused[k].name);

		if (v > most) {
			most = v;
			reason = metrics_refused[k].label;
		}
	}
	/* Of a hundred per cent there is no rest to speak of. */
	if (most < needing * 0.0005)
		reason = NULL;
	if (needing > 0)
		doc__para(d, DOC_PLAIN, "%s deferred %.1f %% of the folios that needed a flush%s%s%s.",
			  c->arms[arm].name, deferred / needing * 100,
			  reason ? "; most of the others were refused because of: " : "",
			  reason ? reason : "", "");
	else if (needing == 0)
		doc__para(d, DOC_PLAIN, "%s: neither deferred nor refused a folio: switched off, or nothing that it migrated needed a flush.",
			  c->arms[arm].name);
}

void section__why(struct doc *d, const struct section *s)
{
	const struct an_compare *c = s->c;
	bool any = false;
	char *bits = words__ad_bits(c);

	section__heading(d, s, "why", "Why: what became of the migrated pages");
	doc__para(d, DOC_PLAIN, "%s", bits);
	free(bits);
	for (size_t a = 0; a < c->nr_arms; a++) {
		if (isnan(mean_vmstat(c, a, "migrc_deferred")))
			continue;
		any = true;
		doc__heading(d, 4, "", "%s", c->arms[a].name);
		say_largest_refusal(d, c, a);
		waterfall_deferring(d, c, a);
		/* Nothing deferred, nothing avoided: a difference is the machine's noise. */
		if (a && mean_vmstat(c, a, "migrc_deferred") > 0)
			say_avoided(d, c, a);
		waterfall_released(d, c, a);
	}
	if (!any)
		doc__para(d, DOC_MUTED, "No arm has a kernel that counts deferrals and refusals: absent, not 0.");
}

/* --- tables of effects ------------------------------------------------------------------------ */

static bool in_both(const struct an_metric *m, size_t arm)
{
	return m->arm[0].n || m->arm[arm].n;
}

static void effect_row(struct grid *g, const struct an_metric *m, size_t arm, bool wide,
		       bool published)
{
	const struct an_effect *e = &m->effect[arm];
	char *seen = words__detectable(e), buf[FMT_LEN];
	struct words_effect w;

	words__effect(m, arm, &w);

	grid__row(g, section__tone(e->verdict));
	grid__cell(g, "%s%s", w.label, wide && m->primary ? " (primary)" : "");
	grid__cell(g, "%s", w.base);
	grid__cell(g, "%s", w.value);
	grid__cell(g, "%s", w.change);
	grid__cell(g, "%s", w.range);
	if (wide) {
		grid__cell(g, "%zu, %zu", m->arm[0].n, m->arm[arm].n);
		if (published)
			grid__cell(g, "%s", fmt__change(buf, m->published));
		grid__cell(g, "%s", seen);
	}
	grid__cell(g, "%s", w.verdict);
	words__effect_free(&w);
	free(seen);
}

/* The posted evaluation is of deferral against stock: it says nothing of arms without. */
static bool is_published_for(const struct an_compare *c, size_t arm)
{
	return strcmp(c->arms[arm].name, "unbatched") && strcmp(c->arms[arm].name, "migrc-off");
}

typedef bool (*metric_filter)(const struct an_metric *m);

static void effect_table(struct doc *d, const struct an_compare *c, size_t arm, const char *caption,
			 metric_filter want, bool wide)
{
	const char *head[] = { "metric", c->arms[0].name, c->arms[arm].name, "change",
			       "95 % interval", "verdict" };
	const char *wide_head[] = { "metric", c->arms[0].name, c->arms[arm].name, "change",
				    "95 % interval", "n", "could see", "verdict" };
	const char *pub_head[] = { "metric", c->arms[0].name, c->arms[arm].name, "change",
				   "95 % interval", "n", "published", "could see", "verdict" };
	bool published = false;
	struct grid g;

	for (size_t i = 0; i < c->nr_metrics && wide && is_published_for(c, arm); i++)
		published |= want(&c->metrics[i]) && !isnan(c->metrics[i].published);
	if (published)
		grid__init(&g, caption, "mrrrrrrrl", pub_head);
	else
		grid__init(&g, caption, wide ? "mrrrrrrl" : "mrrrrl", wide ? wide_head : head);
	for (size_t i = 0; i < c->nr_metrics; i++)
		if (want(&c->metrics[i]) && in_both(&c->metrics[i], arm))
			effect_row(&g, &c->metrics[i], arm, wide, published);
	doc__grid(d, &g);
}

/* What a terminal has no room for beside the rest, in a table of its own. */
static void more_table(struct doc *d, const struct an_compare *c, size_t arm, const char *caption,
		       metric_filter want)
{
	static const char *const head[] = { "metric", "n", "published", "could see" };
	char buf[FMT_LEN];
	struct grid g;

	grid__init(&g, caption, "mrrr", head);
	for (size_t i = 0; i < c->nr_metrics; i++) {
		const struct an_metric *m = &c->metrics[i];
		char *label, *seen;

		if (!want(m) || !in_both(m, arm) ||
		    (!m->primary && (isnan(m->published) || !is_published_for(c, arm))))
			continue;
		label = words__label(m);
		seen = words__detectable(&m->effect[arm]);
		grid__row(&g, DOC_PLAIN);
		grid__cell(&g, "%s", label);
		grid__cell(&g, "%zu, %zu", m->arm[0].n, m->arm[arm].n);
		grid__cell(&g, "%s", is_published_for(c, arm) ?
			   fmt__change(buf, m->published) : "-");
		grid__cell(&g, "%s", seen);
		free(label);
		free(seen);
	}
	doc__grid(d, &g);
}

/* The losers as loud as the winners, before the table that has them among all others. */
static void say_changed(struct doc *d, const struct an_compare *c, size_t arm, metric_filter want)
{
	static const struct { enum an_verdict v; enum doc_tone tone; const char *word; } kinds[] = {
		{ AN_REGRESSED, DOC_BAD, "Worse" }, { AN_IMPROVED, DOC_GOOD, "Better" },
	};

	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		struct sbuf b = { 0 };
		size_t n = 0;

		for (size_t i = 0; i < c->nr_metrics; i++) {
			const struct an_metric *m = &c->metrics[i];
			char *change;

			if (!want(m) || m->effect[arm].verdict != kinds[k].v)
				continue;
			change = words__change(m, &m->effect[arm]);
			sbuf__addf(&b, "%s%s %s", n++ ? ", " : "", m->label, change);
			free(change);
		}
		if (n)
			doc__para(d, kinds[k].tone, "%s in %s (%zu): %s.", kinds[k].word,
				  c->arms[arm].name, n, b.s);
		sbuf__free(&b);
	}
}

static bool is_mechanism(const struct an_metric *m)
{
	return m->group == AN_FLUSH || m->group == AN_MIGRATION || m->group == AN_HELD;
}

static bool is_deferral(const struct an_metric *m)
{
	return m->group == AN_DEFERRAL;
}

static bool is_probe(const struct an_metric *m)
{
	return m->group == AN_PROBE;
}

static bool is_outcome(const struct an_metric *m)
{
	return m->group == AN_OUTCOME;
}

static bool is_latency(const struct an_metric *m)
{
	return m->group == AN_LATENCY;
}

static bool is_short(const struct an_metric *m)
{
	if (m->primary || m->group == AN_OUTCOME || m->group == AN_HELD)
		return true;
	return !m->per_1000 && (m->group == AN_FLUSH || m->group == AN_MIGRATION ||
				!strcmp(m->key, "migrc.needing") || !strcmp(m->key,
									    "migrc.eligible") ||
				!strcmp(m->key, "vmstat.migrc_deferred"));
}

static bool is_any(const struct an_metric *m)
{
	return m != NULL;
}

/* One arm alone has values and no effects. */
static void value_table(struct doc *d, const struct an_compare *c, const char *caption,
			metric_filter want)
{
	static const char *const head[] = { "metric", "mean", "smallest", "largest", "n" };
	struct grid g;

	grid__init(&g, caption, "mrrrr", head);
	for (size_t i = 0; i < c->nr_metrics; i++) {
		const struct an_metric *m = &c->metrics[i];
		char *label, *mean, *min, *max;

		if (!want(m) || !m->arm[0].n)
			continue;
		label = words__label(m);
		mean = words__value(m, m->arm[0].mean);
		min = words__value(m, m->arm[0].min);
		max = words__value(m, m->arm[0].max);
		grid__row(&g, DOC_PLAIN);
		grid__cell(&g, "%s", label);
		grid__cell(&g, "%s", mean);
		grid__cell(&g, "%s", min);
		grid__cell(&g, "%s", max);
		grid__cell(&g, "%zu", m->arm[0].n);
		free(label);
		free(mean);
		free(min);
		free(max);
	}
	doc__grid(d, &g);
}

static void say_all_changed(struct doc *d, const struct an_compare *c, metric_filter want)
{
	for (size_t a = 1; a < c->nr_arms; a++)
		say_changed(d, c, a, want);
}

static size_t nr_shown(const struct an_compare *c, metric_filter want)
{
	size_t n = 0;

	for (size_t i = 0; i < c->nr_metrics; i++)
		n += want(&c->metrics[i]);
	return n;
}

static void tables(struct doc *d, const struct an_compare *c, const char *what, metric_filter want)
{
	for (size_t a = 1; a < c->nr_arms; a++) {
		char *caption = sbuf__format("%s: %s against %s, means per run", what,
					     c->arms[a].name,
					     c->arms[0].name);

		effect_table(d, c, a, caption, want, d->format != DOC_TEXT);
		if (d->format == DOC_TEXT)
			more_table(d, c, a, caption, want);
		free(caption);
	}
	if (c->nr_arms == 1)
		value_table(d, c, what, want);
}

void section__mechanism(struct doc *d, const struct section *s)
{
	section__heading(d, s, "mechanism", "Mechanism: flushes, migrations, deferrals, held memory");
	doc__para(d, DOC_PLAIN, "Primary metrics decide the verdict, corrected by Holm; all others explain it, corrected by Benjamini and Hochberg at %.0f %%. \"Published\" is the change that the evaluation posted with version 5 of the series showed. \"Could see\" is the smallest change that these runs would have shown. Absent is not 0.",
		  s->c->policy->bh_level * 100);
	say_all_changed(d, s->c, is_mechanism);
	tables(d, s->c, "Mechanism", is_mechanism);
	doc__fold_begin(d, false, "The patch's own counters");
	say_all_changed(d, s->c, is_deferral);
	tables(d, s->c, "Deferral", is_deferral);
	doc__fold_end(d);
	doc__fold_begin(d, false, "Counted by the probes");
	say_all_changed(d, s->c, is_probe);
	tables(d, s->c, "Probes", is_probe);
	doc__fold_end(d);
}

void section__outcome(struct doc *d, const struct section *s)
{
	section__heading(d, s, "outcome", "Outcome: what the workload saw");
	if (s->c->emulated)
		doc__para(d, DOC_WARN, "Emulated: times are not judged. They are shown, and say nothing about real machines.");
	say_all_changed(d, s->c, is_outcome);
	tables(d, s->c, "Outcome", is_outcome);
	if (!nr_shown(s->c, is_latency))
		return;
	say_all_changed(d, s->c, is_latency);
	doc__fold_begin(d, true, "Percentiles of every distribution, compared (%zu)",
			nr_shown(s->c, is_latency));
	tables(d, s->c, "Percentiles", is_latency);
	doc__fold_end(d);
}

void section__table(struct doc *d, const struct an_compare *c, bool all)
{
	for (size_t a = 1; a < c->nr_arms; a++) {
		doc__heading(d, 2, "", "%s: %s against %s", c->workload, c->arms[a].name,
			     c->arms[0].name);
		effect_table(d, c, a, "Comparison", all ? is_any : is_short, false);
	}
	if (c->nr_arms == 1) {
		doc__heading(d, 2, "", "%s: %s alone", c->workload, c->arms[0].name);
		value_table(d, c, "Values", all ? is_any : is_short);
	}
}
