// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/effect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/sbuf.h"

#define DRIFT_LEVEL	0.05
#define SPREAD_LEVEL	0.05

/* Mean of the metric over runs of one unit or one block of an arm; NaN if none has it. */
struct cell {
	double sum;
	size_t n;
};

static void cell__add(struct cell *cell, double v, bool logs)
{
	if (isnan(v))
		return;
	cell->sum += logs ? log(v) : v;
	cell->n++;
}

static double cell__mean(const struct cell *cell, bool logs)
{
	double mean = cell->n ? cell->sum / cell->n : NAN;

	return logs ? exp(mean) : mean;
}

size_t effect__series(const struct an_compare *c, const struct an_metric *m, size_t arm, bool logs,
		      double *out)
{
	size_t n = 0;

	for (size_t unit = 0; unit < c->arms[arm].nr_boots; unit++) {
		struct cell cell = { 0 };

		for (size_t i = 0; i < c->nr_runs; i++)
			if (c->runs[i].arm == arm && c->runs[i].valid && c->runs[i].unit == unit)
				cell__add(&cell, m->value[i], logs);
		if (cell.n)
			out[n++] = cell__mean(&cell, logs);
	}
	return n;
}

/* The same by complete block, for the baseline and an arm at once: a[i] and b[i] are a pair. */
static size_t pairs(const struct an_compare *c, const struct an_metric *m, size_t arm, bool logs,
		    double *a, double *b)
{
	size_t n = 0;

	for (size_t i = 0; i < c->nr_runs; i++) {
		int64_t block = c->runs[i].rd->block;
		struct cell base = { 0 }, other = { 0 };
		size_t k;

		for (k = 0; k < i; k++)
			if (c->runs[k].rd->block == block)
				break;
		if (k < i || !compare__block_complete(c, arm, block))
			continue;
		for (k = i; k < c->nr_runs; k++) {
			if (!c->runs[k].valid || c->runs[k].rd->block != block)
				continue;
			if (c->runs[k].arm == 0)
				cell__add(&base, m->value[k], logs);
			else if (c->runs[k].arm == arm)
				cell__add(&other, m->value[k], logs);
		}
		if (!base.n || !other.n)
			continue;
		a[n] = cell__mean(&base, logs);
		b[n++] = cell__mean(&other, logs);
	}
	return n;
}

static bool all_positive(const struct an_compare *c, const struct an_metric *m, size_t arm)
{
	for (size_t i = 0; i < c->nr_runs; i++)
		if (c->runs[i].valid && c->runs[i].arm == arm && m->value[i] <= 0)
			return false;
	return true;
}

/* --- one arm by itself ------------------------------------------------------------------------ */

static void mark_outliers(struct an_compare *c, struct an_metric *m, size_t arm, bool logs)
{
	double *x = mem__calloc(c->nr_runs, sizeof(*x));
	bool *mark = mem__calloc(c->nr_runs, sizeof(*mark));
	size_t *run = mem__calloc(c->nr_runs, sizeof(*run)), n = 0;

	for (size_t i = 0; i < c->nr_runs; i++) {
		if (!c->runs[i].valid || c->runs[i].arm != arm || isnan(m->value[i]))
			continue;
		x[n] = logs ? log(m->value[i]) : m->value[i];
		run[n++] = i;
	}
	m->arm[arm].outliers = stats__outliers(x, n, mark);
	for (size_t k = 0; k < n; k++)
		m->outlier[run[k]] = mark[k];
	free(run);
	free(mark);
	free(x);
}

static void summarize(struct an_compare *c, struct an_metric *m, size_t arm)
{
	struct an_summary *s = &m->arm[arm];
	double *x = mem__calloc(c->nr_runs + 1, sizeof(*x));
	bool logs = all_positive(c, m, arm);
	size_t n = effect__series(c, m, arm, false, x);

	*s = (struct an_summary){ .mean = NAN, .median = NAN, .min = NAN, .max = NAN, .sd = NAN };
	for (size_t i = 0; i < c->nr_runs; i++) {
		if (!c->runs[i].valid || c->runs[i].arm != arm)
			continue;
		if (isnan(m->value[i])) {
			s->missing++;
			continue;
		}
		s->n++;
		s->min = s->n == 1 ? m->value[i] : fmin(s->min, m->value[i]);
		s->max = s->n == 1 ? m->value[i] : fmax(s->max, m->value[i]);
	}
	if (n) {
		s->mean = stats__mean(x, n);
		s->median = stats__median(x, n);
		s->sd = stats__sd(x, n);
	}
	if (m->primary) {
		n = effect__series(c, m, arm, logs, x);
		if (!logs || !stats__log(x, n, x)) {
			s->has_trend = !stats__trend(x, n, &s->trend);
			s->trend_log = logs;
		}
	}
	mark_outliers(c, m, arm, logs);
	free(x);
}

/* --- one arm against the baseline ------------------------------------------------------------- */

static void explain(struct an_effect *e, enum an_verdict v, const char *why)
{
	e->verdict = v;
	snprintf(e->why, sizeof(e->why), "%s", why);
}

/*
 * Copies of both arms' values, on logs if the effect is a ratio: all methods then work on shifts.
 */
struct sample {
	double *a, *b, *d;
	size_t na, nb;		/* of pairs: equal, and d has as many */
};

static void sample__free(struct sample *s)
{
	free(s->a);
	free(s->b);
	free(s->d);
}

static void sample__take(struct sample *s, const struct an_compare *c, const struct an_metric *m,
			 size_t arm, struct an_effect *e)
{
	s->a = mem__calloc(c->nr_runs + 1, sizeof(double));
	s->b = mem__calloc(c->nr_runs + 1, sizeof(double));
	s->d = mem__calloc(c->nr_runs + 1, sizeof(double));
	e->is_ratio = all_positive(c, m, 0) && all_positive(c, m, arm);
	e->paired = c->arms[arm].paired;
	if (e->paired) {
		s->na = s->nb = pairs(c, m, arm, e->is_ratio, s->a, s->b);
	} else {
		s->na = effect__series(c, m, 0, e->is_ratio, s->a);
		s->nb = effect__series(c, m, arm, e->is_ratio, s->b);
	}
	/* All positive, so the logs exist. */
	for (size_t i = 0; e->is_ratio && i < s->na; i++)
		s->a[i] = log(s->a[i]);
	for (size_t i = 0; e->is_ratio && i < s->nb; i++)
		s->b[i] = log(s->b[i]);
	for (size_t i = 0; e->paired && i < s->na; i++)
		s->d[i] = s->b[i] - s->a[i];
	e->n_base = s->na;
	e->n_arm = s->nb;
}

static double relative(const struct an_effect *e, double shift, double base)
{
	return e->is_ratio ? exp(shift) - 1 : base > 0 ? shift / base : NAN;
}

static double mde_multiple(struct an_compare *c, bool paired, size_t na, size_t nb, double alpha)
{
	struct an_mde *e;

	for (size_t i = 0; i < c->nr_mde; i++) {
		e = &c->mde[i];
		if (e->paired == paired && e->na == na && e->nb == nb && e->alpha == alpha)
			return e->mult;
	}
	c->mde = mem__grow(c->mde, c->nr_mde);
	e = &c->mde[c->nr_mde++];
	*e = (struct an_mde){ paired, na, nb, alpha, NAN };
	e->mult = paired ? stats__mde_paired(na, alpha, c->policy->power)
			 : stats__mde_welch(na, nb, alpha, c->policy->power);
	return e->mult;
}

/*
 * Smallest detectable effect, upwards, for the spread at hand; alpha as the weakest step of Holm
 * leaves it.
 */
static double detectable(struct an_compare *c, const struct an_metric *m,
			 const struct sample *s, const struct an_effect *e)
{
	double alpha = c->policy->level / (m->primary && c->family ? c->family : 1);
	double sd, mult = mde_multiple(c, e->paired, s->na, s->nb, alpha);

	if (e->paired) {
		sd = stats__sd(s->d, s->na);
	} else {
		double va = pow(stats__sd(s->a, s->na), 2), vb = pow(stats__sd(s->b, s->nb), 2);

		sd = sqrt((va * (s->na - 1) + vb * (s->nb - 1)) / (s->na + s->nb - 2));
	}
	return relative(e, mult * sd, m->arm[0].mean);
}

static void use_t(struct an_effect *e, const struct stats_est *t)
{
	bool ratio = e->is_ratio;

	e->est = ratio ? exp(t->est) : t->est;
	e->lo = ratio ? exp(t->lo) : t->lo;
	e->hi = ratio ? exp(t->hi) : t->hi;
	e->se = t->se;
	e->df = t->df;
	e->p = t->p;
}

static void use_rank(struct an_effect *e, const struct stats_rank *r)
{
	bool ratio = e->is_ratio;

	e->hl_est = ratio ? exp(r->est) : r->est;
	e->hl_lo = ratio ? exp(r->lo) : r->lo;
	e->hl_hi = ratio ? exp(r->hi) : r->hi;
	e->hl_conf = r->conf;
}

/* An interval that does not hold "no effect". */
static bool clear_of(const struct an_effect *e, double lo, double hi)
{
	double none = e->is_ratio ? 1 : 0;

	return lo > none || hi < none;
}

/*
 * The permutation test is not cheap, so it is made where a verdict may hang on it: of a primary
 * metric, as a check of t, and where no spread leaves t without an answer.
 */
static int test_by_permutation(const struct sample *s, bool primary, struct an_effect *e)
{
	struct stats_perm perm;
	int err;

	if (!primary && !e->degenerate)
		return 0;
	err = e->paired ? stats__perm_paired(s->d, s->na, &perm)
			: stats__perm(s->a, s->na, s->b, s->nb, &perm);
	if (err)
		return err;
	e->p_perm = perm.p;
	e->perm_exact = perm.exact;
	return 0;
}

static int test(const struct an_compare *c, const struct sample *s, bool primary,
		struct an_effect *e)
{
	double conf = c->policy->conf, margin = log1p(c->policy->margin);
	struct stats_est t;
	struct stats_rank rank;
	int err;

	err = e->paired ? stats__paired_t(s->d, s->na, conf, &t)
			: stats__welch(s->a, s->na, s->b, s->nb, conf, &t);
	if (!err)
		err = e->paired ? stats__hl_paired(s->d, s->na, conf, &rank)
				: stats__hl(s->a, s->na, s->b, s->nb, conf, &rank);
	if (err)
		return err;
	use_t(e, &t);
	use_rank(e, &rank);
	e->degenerate = isnan(t.p);
	err = test_by_permutation(s, primary, e);
	if (err)
		return err;
	if (e->degenerate)
		e->p = t.est == 0 ? 1 : e->p_perm;
	if (!e->is_ratio)
		margin = c->policy->margin * fabs(stats__mean(s->a, s->na));
	e->p_tost = margin > 0 ? stats__tost(t.est, t.se, t.df, margin)
			       : t.est == 0 && t.se == 0 ? 0 : 1;
	e->disagree = rank.conf > 0 &&
		      clear_of(e, e->lo, e->hi) != clear_of(e, e->hl_lo, e->hl_hi);
	return 0;
}

static void compare_spread(const struct sample *s, struct an_effect *e)
{
	struct stats_spread spread;

	if (!e->is_ratio || stats__spread(s->a, s->na, s->b, s->nb, &spread))
		return;
	e->spread = spread.ratio;
	e->p_spread = spread.p;
}

static void fill_effect(struct an_compare *c, struct an_metric *m, size_t arm)
{
	struct an_effect *e = &m->effect[arm];
	struct sample s = { 0 };
	double shift;

	*e = (struct an_effect){ .est = NAN, .lo = NAN, .hi = NAN, .hl_est = NAN, .hl_lo = NAN,
				 .hl_hi = NAN, .se = NAN, .df = NAN, .p = NAN, .p_perm = NAN,
				 .p_adjusted = NAN, .p_tost = NAN, .detectable = NAN,
				 .spread = NAN, .p_spread = NAN };
	if (!m->arm[0].n || !m->arm[arm].n) {
		explain(e, AN_ABSENT, m->arm[0].n ? "absent in this arm" : m->arm[arm].n ?
			"absent in the baseline" : "absent in both arms");
		return;
	}
	sample__take(&s, c, m, arm, e);
	if (!s.na || !s.nb) {
		explain(e, AN_INCONCLUSIVE, "no block has it in both arms");
		goto cleanup;
	}
	e->has_est = true;
	shift = stats__mean(s.b, s.nb) - stats__mean(s.a, s.na);
	e->est = e->is_ratio ? exp(shift) : shift;
	if (s.na < 2 || s.nb < 2) {
		explain(e, AN_INCONCLUSIVE, "one run per arm");
		goto cleanup;
	}
	if (test(c, &s, m->primary, e)) {
		explain(e, AN_INCONCLUSIVE, "values that cannot be compared");
		goto cleanup;
	}
	e->detectable = detectable(c, m, &s, e);
	if (m->primary)
		compare_spread(&s, e);
cleanup:
	sample__free(&s);
}

/* --- verdicts --------------------------------------------------------------------------------- */

static enum an_verdict direction(const struct an_metric *m, bool up)
{
	if (m->better == AN_NONE)
		return up ? AN_UP : AN_DOWN;
	return up == (m->better == AN_HIGHER) ? AN_IMPROVED : AN_REGRESSED;
}

/* How large the change is, of the baseline; infinite where the baseline is 0. */
static double size_of(const struct an_metric *m, const struct an_effect *e)
{
	double base = fabs(m->arm[0].mean);

	if (e->is_ratio)
		return fabs(e->est - 1);
	return base > 0 ? fabs(e->est) / base : INFINITY;
}

static void judge(const struct an_compare *c, const struct an_metric *m, struct an_effect *e)
{
	const struct an_policy *p = c->policy;
	double level = m->primary ? p->level : p->bh_level, no_effect = e->is_ratio ? 1 : 0;
	bool found = e->p_adjusted <= level && clear_of(e, e->lo, e->hi);
	char why[sizeof(e->why)];

	if (e->verdict == AN_ABSENT || e->why[0])
		return;
	if (m->is_time && c->emulated) {
		explain(e, AN_NOT_JUDGED, "emulated");
		return;
	}
	if (found && size_of(m, e) >= p->min_effect) {
		explain(e, direction(m, e->est > no_effect), "");
		return;
	}
	if (e->p_tost <= p->level) {
		explain(e, AN_EQUIVALENT, "");
		return;
	}
	if (found)
		snprintf(why, sizeof(why), "a change, but below %.3g %%", p->min_effect * 100);
	else if (isfinite(e->detectable) && e->is_ratio)
		snprintf(why, sizeof(why), "these runs could have seen +%.3g %% or -%.3g %%",
			 e->detectable * 100, e->detectable / (1 + e->detectable) * 100);
	else if (isfinite(e->detectable))
		snprintf(why, sizeof(why), "these runs could have seen %.3g %%",
			 e->detectable * 100);
	else
		snprintf(why, sizeof(why), "too few or too varied runs");
	explain(e, AN_INCONCLUSIVE, why);
}

/* What is not judged is not tested: it takes no share of the error that is allowed. */
static bool is_tested(const struct an_compare *c, const struct an_metric *m)
{
	return !(m->is_time && c->emulated);
}

/* Holm over all primary tests of the workload, Benjamini-Hochberg over all others. */
static void adjust(struct an_compare *c)
{
	size_t n = c->nr_metrics * c->nr_arms, k = 0;
	double *holm = mem__calloc(4 * n + 1, sizeof(*holm)), *bh = holm + n;
	double *holm_p = bh + n, *bh_p = holm_p + n;

	for (size_t i = 0; i < c->nr_metrics; i++) {
		for (size_t a = 0; a < c->nr_arms; a++, k++) {
			const struct an_metric *m = &c->metrics[i];
			double p = a && is_tested(c, m) ? m->effect[a].p : NAN;

			holm_p[k] = m->primary ? p : NAN;
			bh_p[k] = m->primary ? NAN : p;
		}
	}
	stats__holm(holm_p, n, holm);
	stats__bh(bh_p, n, bh);
	for (size_t i = 0, at = 0; i < c->nr_metrics; i++)
		for (size_t a = 0; a < c->nr_arms; a++, at++)
			c->metrics[i].effect[a].p_adjusted =
				c->metrics[i].primary ? holm[at] : bh[at];
	free(holm);
}

/* Tests that Holm will see: known before any is made, and needed for the detectable effect. */
static size_t family_size(const struct an_compare *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->nr_metrics; i++) {
		const struct an_metric *m = &c->metrics[i];

		for (size_t a = 1; a < c->nr_arms; a++)
			n += m->primary && m->arm[0].n && m->arm[a].n && is_tested(c, m);
	}
	return n;
}

void effect__fill(struct an_compare *c)
{
	for (size_t i = 0; i < c->nr_metrics; i++) {
		struct an_metric *m = &c->metrics[i];

		m->arm = mem__calloc(c->nr_arms, sizeof(*m->arm));
		m->effect = mem__calloc(c->nr_arms, sizeof(*m->effect));
		for (size_t a = 0; a < c->nr_arms; a++)
			summarize(c, m, a);
	}
	c->family = family_size(c);
	for (size_t i = 0; i < c->nr_metrics; i++)
		for (size_t a = 1; a < c->nr_arms; a++)
			fill_effect(c, &c->metrics[i], a);
	adjust(c);
	for (size_t i = 0; i < c->nr_metrics; i++)
		for (size_t a = 1; a < c->nr_arms; a++)
			judge(c, &c->metrics[i], &c->metrics[i].effect[a]);
}

/* --- warnings --------------------------------------------------------------------------------- */

static void warn_of_arm(struct an_compare *c, const struct an_metric *m, size_t arm)
{
	const struct an_summary *s = &m->arm[arm];

	double slope = s->trend_log ? expm1(s->trend.slope) * 100 : s->trend.slope;

	if (s->has_trend && s->trend.p <= DRIFT_LEVEL)
		compare__warn(c, sbuf__format("%s drifts over the runs of %s (Kendall tau %+.2f, p %.2g, %+.2g%s per run)",
					      m->label, c->arms[arm].name, s->trend.tau, s->trend.p,
					      slope, s->trend_log ? " %" : ""));
	if (s->outliers)
		compare__warn(c, sbuf__format("%s of %s has %zu outlier%s (marked, not removed)",
					      m->label,
					      c->arms[arm].name, s->outliers,
					      s->outliers == 1 ? "" : "s"));
	if (s->n && s->missing)
		compare__warn(c, sbuf__format("%s is absent in %zu of %zu valid runs of %s",
					      m->label,
					      s->missing, s->n + s->missing, c->arms[arm].name));
}

static void warn_of_effect(struct an_compare *c, const struct an_metric *m, size_t arm)
{
	const struct an_effect *e = &m->effect[arm];

	if (e->disagree)
		compare__warn(c, sbuf__format("%s, %s: the t interval and the rank interval disagree on whether there is a change; look at the runs",
					      m->label, c->arms[arm].name));
	if (e->p_spread <= SPREAD_LEVEL)
		compare__warn(c, sbuf__format("%s, %s: the spread between runs changed (MAD x %.3g, p %.2g)",
					      m->label, c->arms[arm].name, e->spread, e->p_spread));
}

/* A question that was meant to be answered and cannot be: say so, and why. */
static void warn_of_missing(struct an_compare *c)
{
	const struct an_metric *pages = compare__metric(c, "vmstat.pgmigrate_success");
	bool moved = false;

	for (size_t a = 0; a < c->nr_arms && pages; a++)
		moved |= pages->arm[a].max > 0;
	if (!compare__metric(c, "vmstat.nr_tlb_remote_flush"))
		compare__warn(c, mem__strdup("remote TLB flushes are absent: these kernels do not count them (CONFIG_DEBUG_TLBFLUSH), so nothing is said about them"));
	if (!pages)
		compare__warn(c, mem__strdup("migrated pages are absent: these kernels do not count them, so there is no rate per migrated page"));
	else if (!moved)
		compare__warn(c, mem__strdup("no run migrated a page, so there is no rate per migrated page and nothing that deferral could change"));
}

/* perf scales up what it did not count all the time: that is an estimate, and worth a word. */
static void warn_of_multiplexing(struct an_compare *c)
{
	double least = 1;
	const char *name = NULL;

	for (size_t i = 0; i < c->nr_runs; i++) {
		const struct rd_run *rd = c->runs[i].rd;

		for (size_t k = 0; c->runs[i].valid && k < rd->nr_perf; k++) {
			if (!(rd->perf[k].share < least))
				continue;
			least = rd->perf[k].share;
			name = rd->perf[k].name;
		}
	}
	if (name)
		compare__warn(c, sbuf__format("perf shared counters between events: %s was counted %.3g %% of the time and scaled up",
					      name, least * 100));
}

void effect__warn(struct an_compare *c)
{
	warn_of_missing(c);
	warn_of_multiplexing(c);
	for (size_t i = 0; i < c->nr_metrics && c->metrics[i].primary; i++) {
		for (size_t a = 0; a < c->nr_arms; a++)
			warn_of_arm(c, &c->metrics[i], a);
		for (size_t a = 1; a < c->nr_arms; a++)
			warn_of_effect(c, &c->metrics[i], a);
	}
}
