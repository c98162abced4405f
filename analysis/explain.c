// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/explain.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/dist.h"
#include "analysis/effect.h"
#include "analysis/policy.h"
#include "analysis/words.h"

/* Not the humane numbers of other outputs: these are to be calculated with. */
#define NUM	"%.7g"

static void say(struct doc *d, const char *what, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void say(struct doc *d, const char *what, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = sbuf__vformat(fmt, ap);
	va_end(ap);
	doc__item(d, "%s: %s", what, text);
	free(text);
}

static void list_runs(struct doc *d, const struct an_compare *c, const struct an_metric *m)
{
	static const char *const head[] = { "run", "arm", "block", "value", "log", "" };
	struct grid g;

	grid__init(&g, "Values by run, in order", "rnrrrl", head);
	for (size_t i = 0; i < c->nr_runs; i++) {
		const struct an_run *r = &c->runs[i];

		if (r->arm == SIZE_MAX)
			continue;
		grid__row(&g, DOC_PLAIN);
		grid__cell(&g, "%lld", (long long)r->rd->id);
		grid__cell(&g, "%s", c->arms[r->arm].name);
		if (r->rd->block == RD_NULL)
			grid__cell(&g, "-");
		else
			grid__cell(&g, "%lld", (long long)r->rd->block);
		if (isnan(m->value[i]))
			grid__cell(&g, "absent");
		else
			grid__cell(&g, NUM, m->value[i]);
		if (m->value[i] > 0)
			grid__cell(&g, "%.6f", log(m->value[i]));
		else
			grid__cell(&g, "-");
		grid__cell(&g, "%s", !r->valid ? "invalid, left out" : m->outlier[i] ?
			   "outlier, kept" : "");
	}
	doc__grid(d, &g);
}

static void list_pairs(struct doc *d, const struct sample *s, const struct an_effect *e)
{
	static const char *const head[] = { "block", "baseline", "arm", "difference" };
	struct grid g;

	grid__init(&g, e->is_ratio ? "Pairs, on logs" : "Pairs", "rrrr", head);
	for (size_t i = 0; i < s->na; i++) {
		grid__row(&g, DOC_PLAIN);
		grid__cell(&g, "%" PRId64, s->block[i]);
		grid__cell(&g, NUM, s->a[i]);
		grid__cell(&g, NUM, s->b[i]);
		grid__cell(&g, NUM, s->d[i]);
	}
	doc__grid(d, &g);
}

static void say_arm(struct doc *d, const char *name, const double *x, size_t n, bool logs)
{
	say(d, name, "n %zu, mean " NUM ", sd " NUM "%s", n, stats__mean(x, n), stats__sd(x, n),
	    logs ? " (of logs)" : "");
}

/* An effect on the scale of the test, and as the change that it is. */
static void say_interval(struct doc *d, const char *what, const struct an_metric *m,
			 const struct an_effect *e, double est, double lo, double hi)
{
	struct an_effect as = *e;
	char *change, *range;

	as.est = est;
	as.lo = lo;
	as.hi = hi;
	change = words__change(m, &as);
	range = words__interval(m, &as);
	if (e->is_ratio)
		say(d, what, "%s %s; on logs " NUM " [" NUM ", " NUM "]", change, range, log(est),
		    log(lo), log(hi));
	else
		say(d, what, "%s %s; " NUM " [" NUM ", " NUM "]", change, range, est, lo, hi);
	free(change);
	free(range);
}

static void say_tests(struct doc *d, const struct an_compare *c, const struct an_metric *m,
		      const struct an_effect *e)
{
	double shift = e->is_ratio ? log(e->est) : e->est;

	say_interval(d, e->paired ? "Student's t of pairs" : "Welch's t", m, e, e->est, e->lo,
		     e->hi);
	say(d, "t", "t " NUM ", standard error " NUM ", df " NUM ", quantile for %.3g %% " NUM,
	    shift / e->se, e->se, e->df, c->policy->conf * 100,
	    dist__t_quantile(1 - (1 - c->policy->conf) / 2, e->df));
	say(d, "p", NUM "%s", e->p, e->degenerate ?
	    " (by permutation: without any spread t has no answer)" : "");
	if (m->primary)
		say(d, "p after Holm", NUM ", %zu test%s in the family, level %.3g", e->p_adjusted,
		    c->family, c->family == 1 ? "" : "s", c->policy->level);
	else
		say(d, "p after Benjamini and Hochberg", NUM ", level %.3g", e->p_adjusted,
		    c->policy->bh_level);
	if (!isnan(e->p_perm))
		say(d, "permutation test", "p " NUM ", %s", e->p_perm, e->perm_exact ?
		    "exact" : "by draws with a fixed seed");
	say_interval(d, "Hodges-Lehmann", m, e, e->hl_est, e->hl_lo, e->hl_hi);
	say(d, "its confidence", "%.4g %% exactly%s", e->hl_conf * 100, e->hl_conf > 0 ? "" :
	    " (so few values have no interval at the level)");
	say(d, "equivalence (two one-sided t)", "p " NUM ", margin %.3g %%, which is " NUM " %s",
	    e->p_tost, m->margin * 100, e->margin, e->is_ratio ? "on logs" : "in the unit");
}

static void say_power(struct doc *d, const struct an_compare *c, const struct an_metric *m,
		      const struct an_effect *e)
{
	char *seen = words__detectable(e);

	say(d, "spread", "standard deviation " NUM " %s%s", e->sd, e->paired ?
	    "of the differences" : "common to both arms", e->is_ratio ? ", on logs" : "");
	say(d, "smallest detectable effect", "%s with %.3g %% power at level %.3g", seen,
	    c->policy->power * 100,
	    c->policy->level / (m->primary && c->family ? c->family : 1));
	if (e->needed)
		say(d, "would decide", "%zu %s", e->needed, e->paired ? "blocks" :
		    "runs of each arm");
	if (!isnan(e->p_spread))
		say(d, "change of spread", "MAD x " NUM " on logs, p " NUM, e->spread,
		    e->p_spread);
	free(seen);
}

static void say_without(struct doc *d, const struct an_metric *m, const struct an_effect *e)
{
	const struct an_without *w = &e->without;

	if (!w->runs) {
		say(d, "outliers", "none that could be left out");
		return;
	}
	say_interval(d, "without the outliers", m, e, w->est, w->lo, w->hi);
	say(d, "which leaves", "%zu and %zu values, p " NUM " uncorrected; the conclusion %s",
	    w->n_base, w->n_arm, w->p, w->differs ? "DIFFERS" : "is the same");
}

static const char *yes(bool v)
{
	return v ? "yes" : "no";
}

/* The conditions of a verdict one by one, in the order in which they are asked. */
static void say_decision(struct doc *d, const struct an_compare *c, const struct an_metric *m,
			 const struct an_effect *e, size_t arm)
{
	double level = m->primary ? c->policy->level : c->policy->bh_level;
	double none = e->is_ratio ? 1 : 0, base = fabs(m->arm[0].mean);
	double size = e->is_ratio ? fabs(e->est - 1) : base > 0 ? fabs(e->est) / base : INFINITY;

	say(d, "corrected p at most the level", "%s (" NUM " and %.3g)", yes(e->p_adjusted <= level),
	    e->p_adjusted, level);
	say(d, "interval clear of no change", "%s", yes(e->lo > none || e->hi < none));
	say(d, "change at least the minimum effect", "%s (%.4g %% and %.3g %%)",
	    yes(size >= m->min_effect), size * 100, m->min_effect * 100);
	say(d, "equivalence shown", "%s (p " NUM ", level %.3g)",
	    yes(e->p_tost <= c->policy->level), e->p_tost, c->policy->level);
	doc__list_end(d);
	doc__para(d, DOC_PLAIN, "%s against %s: %s%s%s%s.", c->arms[arm].name, c->arms[0].name,
		  verdict__name(e->verdict), e->why[0] ? " (" : "", e->why, e->why[0] ? ")" : "");
}

static void explain_arm(struct doc *d, const struct an_compare *c, const struct an_metric *m,
			size_t arm)
{
	const struct an_effect *e = &m->effect[arm];
	struct an_effect again = { 0 };
	struct sample s = { 0 };

	doc__heading(d, 3, "", "%s against %s", c->arms[arm].name, c->arms[0].name);
	doc__para(d, DOC_PLAIN, "%s.", c->arms[arm].design);
	if (!e->has_est || e->n_base < 2 || e->n_arm < 2 || isnan(e->p)) {
		doc__para(d, DOC_PLAIN, "No test was made: %s%s%s.", verdict__name(e->verdict),
			  e->why[0] ? ", " : "", e->why);
		return;
	}
	sample__take(&s, c, m, arm, &again);
	if (e->paired)
		list_pairs(d, &s, e);
	doc__list_begin(d);
	say_arm(d, c->arms[0].name, s.a, s.na, e->is_ratio);
	say_arm(d, c->arms[arm].name, s.b, s.nb, e->is_ratio);
	say_tests(d, c, m, e);
	say_power(d, c, m, e);
	if (m->primary)
		say_without(d, m, e);
	say_decision(d, c, m, e, arm);
	sample__free(&s);
}

void explain__metric(struct doc *d, const struct an_compare *c, const struct an_metric *m)
{
	doc__heading(d, 2, "", "%s of %s", m->key, c->workload);
	doc__para(d, DOC_PLAIN, "%s, unit %s, %s is better, %s; margin %.3g %%, minimum effect %.3g %%.",
		  m->label, *m->unit ? m->unit : "none", m->better == AN_LOWER ? "lower" :
		  m->better == AN_HIGHER ? "higher" : "neither", m->primary ? "primary" :
		  "explanatory", m->margin * 100, m->min_effect * 100);
	list_runs(d, c, m);
	for (size_t a = 0; a < c->nr_arms; a++) {
		const struct an_summary *s = &m->arm[a];

		if (s->has_trend)
			doc__para(d, DOC_PLAIN, "Drift over the runs of %s: Kendall tau " NUM ", p " NUM ", %s " NUM " per run.",
				  c->arms[a].name, s->trend.tau, s->trend.p, s->trend_log ?
				  "log slope" : "slope", s->trend.slope);
	}
	for (size_t a = 1; a < c->nr_arms; a++)
		explain_arm(d, c, m, a);
}

int explain__model(struct doc *d, const struct an_model *model, const char *key, char **msg)
{
	if (!policy__metric(model, key, msg))
		return -ENOENT;
	for (size_t w = 0; w < model->nr; w++) {
		const struct an_metric *m = compare__metric(&model->compares[w], key);

		if (m)
			explain__metric(d, &model->compares[w], m);
	}
	return 0;
}
