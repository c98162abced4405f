// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/effect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/sbuf.h"
#include "collector/term.h"

#define NEEDED_MAX	1000	/* runs or blocks: more is as good as never */
#define NEEDED_MIN	3	/* what the smallest design in pairs has */

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

/* The same by complete block, for the baseline and an arm at once. Returns the number of pairs. */
static size_t pairs(const struct an_compare *c, const struct an_metric *m, size_t arm, bool logs,
		    struct sample *s)
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
		s->block[n] = block;
		s->a[n] = cell__mean(&base, logs);
		s->b[n++] = cell__mean(&other, logs);
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

void sample__free(struct sample *s)
{
	free(s->a);
	free(s->b);
	free(s->d);
	free(s->block);
	*s = (struct sample){ 0 };
}

void sample__take(struct sample *s, const struct an_compare *c, const struct an_metric *m,
		  size_t arm, struct an_effect *e)
{
	s->a = mem__calloc(c->nr_runs + 1, sizeof(double));
	s->b = mem__calloc(c->nr_runs + 1, sizeof(double));
	s->d = mem__calloc(c->nr_runs + 1, sizeof(double));
	s->block = mem__calloc(c->nr_runs + 1, sizeof(int64_t));
	e->is_ratio = all_positive(c, m, 0) && all_positive(c, m, arm);
	e->paired = c->arms[arm].paired;
	if (e->paired) {
		s->na = s->nb = pairs(c, m, arm, e->is_ratio, s);
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

/* The level that the weakest step of Holm leaves to a test. */
static double step_level(const struct an_compare *c, const struct an_metric *m)
{
	return c->policy->level / (m->primary && c->family ? c->family : 1);
}

static double common_sd(const struct sample *s, bool paired)
{
	double va, vb;

	if (paired)
		return stats__sd(s->d, s->na);
	va = pow(stats__sd(s->a, s->na), 2);
	vb = pow(stats__sd(s->b, s->nb), 2);
	return sqrt((va * (s->na - 1) + vb * (s->nb - 1)) / (s->na + s->nb - 2));
}

/* Smallest detectable effect, upwards, for the spread at hand. */
static double detectable(struct an_compare *c, const struct an_metric *m, const struct an_effect *e)
{
	double mult = mde_multiple(c, e->paired, e->n_base, e->n_arm, step_level(c, m));

	return relative(e, mult * e->sd, m->arm[0].mean);
}

/*
 * Without any spread the permutation test decides, and its smallest p falls with n alone: 2 / 2^n
 * for pairs, else 2 over the number of ways to choose n of 2n.
 */
static size_t needed_without_spread(bool paired, double level)
{
	double p = 2;

	for (size_t n = 1; n <= NEEDED_MAX; n++) {
		p *= paired ? 0.5 : n / (2.0 * (2.0 * n - 1));
		if (p <= level)
			return n;
	}
	return 0;
}

/*
 * How many units an arm would decide, were the spread as it is: so many that a change of the margin
 * of equivalence is seen, or the change found here if that is larger. Where there are so many
 * already, the change is near one of the lines between the verdicts: so many that it is seen, or
 * told from the margin, whichever is the wider gap.
 */
static size_t needed(const struct an_compare *c, const struct an_metric *m,
		     const struct an_effect *e)
{
	double level = step_level(c, m), shift = e->is_ratio ? fabs(log(e->est)) : fabs(e->est);
	double floor_of = e->is_ratio ? log1p(m->min_effect)
				      : m->min_effect * fabs(m->arm[0].mean);
	size_t have = e->n_base < e->n_arm ? e->n_base : e->n_arm, n;
	double gap;

	if (have < 2)
		return NEEDED_MIN;
	if (e->degenerate)
		n = needed_without_spread(e->paired, level);
	else
		n = stats__needed(e->paired, fmax(e->margin, shift) / e->sd, level,
				  c->policy->power, NEEDED_MAX);
	if (!n || n > have)
		return n;
	gap = fmax(shift >= floor_of ? shift : 0, e->margin - shift);
	n = e->sd > 0 ? stats__needed(e->paired, gap / e->sd, level, c->policy->power,
				      NEEDED_MAX) : 0;
	return n && n <= have ? have + 1 : n;
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

static int estimate(const struct an_compare *c, const struct sample *s, bool paired,
		    struct stats_est *t)
{
	double conf = c->policy->conf;

	return paired ? stats__paired_t(s->d, s->na, conf, t)
		      : stats__welch(s->a, s->na, s->b, s->nb, conf, t);
}

static int test(const struct an_compare *c, const struct sample *s, const struct an_metric *m,
		struct an_effect *e)
{
	double conf = c->policy->conf;
	struct stats_est t;
	struct stats_rank rank;
	int err;

	err = estimate(c, s, e->paired, &t);
	if (!err)
		err = e->paired ? stats__hl_paired(s->d, s->na, conf, &rank)
				: stats__hl(s->a, s->na, s->b, s->nb, conf, &rank);
	if (err)
		return err;
	use_t(e, &t);
	use_rank(e, &rank);
	e->degenerate = isnan(t.p);
	err = test_by_permutation(s, m->primary, e);
	if (err)
		return err;
	if (e->degenerate)
		e->p = t.est == 0 ? 1 : e->p_perm;
	e->margin = e->is_ratio ? log1p(m->margin) : m->margin * fabs(stats__mean(s->a, s->na));
	e->p_tost = e->margin > 0 ? stats__tost(t.est, t.se, t.df, e->margin)
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

/* The same t result once more, without the marked runs: beside the full one, never in its place. */
static void without_outliers(const struct an_compare *c, const struct an_metric *m, size_t arm,
			     struct an_effect *e)
{
	struct an_metric kept = *m;
	struct an_effect probe = { 0 };
	struct sample s = { 0 };
	struct stats_est t;
	size_t runs = 0;

	kept.value = mem__calloc(c->nr_runs + 1, sizeof(double));
	for (size_t i = 0; i < c->nr_runs; i++) {
		bool out = m->outlier[i] && (c->runs[i].arm == 0 || c->runs[i].arm == arm);

		kept.value[i] = out ? NAN : m->value[i];
		runs += out;
	}
	if (!runs)
		goto cleanup;
	sample__take(&s, c, &kept, arm, &probe);
	/* Another scale, or too few left: there is nothing to set beside the full result. */
	if (probe.is_ratio != e->is_ratio || estimate(c, &s, probe.paired, &t))
		goto cleanup;
	use_t(&probe, &t);
	e->without = (struct an_without){
		.runs = runs, .n_base = s.na, .n_arm = s.nb, .est = probe.est, .lo = probe.lo,
		.hi = probe.hi, .p = probe.p,
		.differs = clear_of(e, e->lo, e->hi) != clear_of(e, probe.lo, probe.hi),
	};
cleanup:
	sample__free(&s);
	free(kept.value);
}

static void fill_effect(struct an_compare *c, struct an_metric *m, size_t arm)
{
	struct an_effect *e = &m->effect[arm];
	struct sample s = { 0 };
	double shift;

	*e = (struct an_effect){ .est = NAN, .lo = NAN, .hi = NAN, .hl_est = NAN, .hl_lo = NAN,
				 .hl_hi = NAN, .se = NAN, .df = NAN, .p = NAN, .p_perm = NAN,
				 .p_adjusted = NAN, .p_tost = NAN, .detectable = NAN,
				 .sd = NAN, .margin = NAN, .spread = NAN, .p_spread = NAN };
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
	if (test(c, &s, m, e)) {
		explain(e, AN_INCONCLUSIVE, "values that cannot be compared");
		goto cleanup;
	}
	e->sd = common_sd(&s, e->paired);
	e->detectable = detectable(c, m, e);
	if (m->primary) {
		compare_spread(&s, e);
		without_outliers(c, m, arm, e);
	}
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
	if (found && size_of(m, e) >= m->min_effect) {
		explain(e, direction(m, e->est > no_effect), "");
		return;
	}
	if (e->p_tost <= p->level) {
		explain(e, AN_EQUIVALENT, "");
		return;
	}
	if (found)
		snprintf(why, sizeof(why), "a change, but below %.3g %%", m->min_effect * 100);
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

/* Holm over all primary tests of these workloads, Benjamini-Hochberg over all others. */
static void adjust(struct an_compare *c, size_t nr)
{
	size_t n = 0, k = 0, at = 0;
	double *holm, *bh, *holm_p, *bh_p;

	for (size_t w = 0; w < nr; w++)
		n += c[w].nr_metrics * c[w].nr_arms;
	holm = mem__calloc(4 * n + 1, sizeof(*holm));
	bh = holm + n;
	holm_p = bh + n;
	bh_p = holm_p + n;
	for (size_t w = 0; w < nr; w++) {
		for (size_t i = 0; i < c[w].nr_metrics; i++) {
			const struct an_metric *m = &c[w].metrics[i];

			for (size_t a = 0; a < c[w].nr_arms; a++, k++) {
				double p = a && is_tested(&c[w], m) ? m->effect[a].p : NAN;

				holm_p[k] = m->primary ? p : NAN;
				bh_p[k] = m->primary ? NAN : p;
			}
		}
	}
	stats__holm(holm_p, n, holm);
	stats__bh(bh_p, n, bh);
	for (size_t w = 0; w < nr; w++)
		for (size_t i = 0; i < c[w].nr_metrics; i++)
			for (size_t a = 0; a < c[w].nr_arms; a++, at++)
				c[w].metrics[i].effect[a].p_adjusted =
					c[w].metrics[i].primary ? holm[at] : bh[at];
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

static void summarize_all(struct an_compare *c)
{
	for (size_t i = 0; i < c->nr_metrics; i++) {
		struct an_metric *m = &c->metrics[i];

		m->arm = mem__calloc(c->nr_arms, sizeof(*m->arm));
		m->effect = mem__calloc(c->nr_arms, sizeof(*m->effect));
		for (size_t a = 0; a < c->nr_arms; a++)
			summarize(c, m, a);
	}
	c->family = family_size(c);
}

static void judge_all(struct an_compare *c)
{
	for (size_t i = 0; i < c->nr_metrics; i++) {
		for (size_t a = 1; a < c->nr_arms; a++) {
			struct an_effect *e = &c->metrics[i].effect[a];

			judge(c, &c->metrics[i], e);
			if (c->metrics[i].primary && e->verdict == AN_INCONCLUSIVE && e->has_est)
				e->needed = needed(c, &c->metrics[i], e);
		}
	}
}

void effect__fill(struct an_compare *c, size_t nr)
{
	size_t family = 0, effects = 0, done = 0;
	struct progress bar;

	for (size_t w = 0; w < nr; w++) {
		summarize_all(&c[w]);
		family += c[w].family;
		effects += c[w].nr_arms > 1 ? c[w].nr_metrics * (c[w].nr_arms - 1) : 0;
	}
	progress__begin(&bar, "comparing", effects);
	for (size_t w = 0; w < nr; w++) {
		if (c[w].policy->joint)
			c[w].family = family;
		for (size_t i = 0; i < c[w].nr_metrics; i++)
			for (size_t a = 1; a < c[w].nr_arms; a++) {
				fill_effect(&c[w], &c[w].metrics[i], a);
				progress__set(&bar, ++done);
			}
	}
	progress__end(&bar);
	if (nr && c->policy->joint)
		adjust(c, nr);
	else
		for (size_t w = 0; w < nr; w++)
			adjust(&c[w], 1);
	for (size_t w = 0; w < nr; w++)
		judge_all(&c[w]);
}
