// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Statistics against a golden table made with R (tests/fixtures/analysis/make-golden.R), against
 * the figures of simulations, and against properties that must hold whatever the numbers are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/dist.h"
#include "analysis/stats.h"

#define GOLDEN	"tests/fixtures/analysis/golden.txt"
#define MAX_N	64

/* Numbers of one golden line, read in order. */
struct cursor {
	char *at;
	int line;
};

static double next_num(struct cursor *c)
{
	char *end;
	double v;

	while (*c->at == ' ' || *c->at == '=')
		c->at++;
	v = strtod(c->at, &end);
	if (end == c->at)
		fail_msg("%s:%d: a number is missing", GOLDEN, c->line);
	c->at = end;
	return v;
}

static size_t next_sample(struct cursor *c, double *x)
{
	size_t n = (size_t)next_num(c);

	assert_true(n <= MAX_N);
	for (size_t i = 0; i < n; i++)
		x[i] = next_num(c);
	return n;
}

static void near(struct cursor *c, const char *what, double got, double rel, double abs)
{
	double want = next_num(c);

	if (!(fabs(got - want) <= abs + rel * fabs(want)))
		fail_msg("%s:%d: %s is %.15g, not %.15g", GOLDEN, c->line, what, got, want);
}

/* --- golden: distributions -------------------------------------------------------------------- */

static void golden_dist1(struct cursor *c, double (*f)(double), double rel, double abs)
{
	double got = f(next_num(c));

	near(c, "value", got, rel, abs);
}

static void golden_dist2(struct cursor *c, double (*f)(double, double), double rel, double abs)
{
	double x = next_num(c), got = f(x, next_num(c));

	near(c, "value", got, rel, abs);
}

static void golden_dist3(struct cursor *c, double (*f)(double, double, double), double rel,
			 double abs)
{
	double x = next_num(c), a = next_num(c), got = f(x, a, next_num(c));

	near(c, "value", got, rel, abs);
}

static bool golden_dist(const char *name, struct cursor *c)
{
	if (!strcmp(name, "t_cdf"))
		golden_dist2(c, dist__t_cdf, 0, 1e-12);
	else if (!strcmp(name, "t_tail2"))
		golden_dist2(c, dist__t_tail2, 1e-9, 0);
	else if (!strcmp(name, "t_quantile"))
		golden_dist2(c, dist__t_quantile, 1e-9, 0);
	else if (!strcmp(name, "beta_cdf"))
		golden_dist3(c, dist__beta_cdf, 0, 1e-12);
	else if (!strcmp(name, "beta_quantile"))
		golden_dist3(c, dist__beta_quantile, 1e-7, 1e-12);
	else if (!strcmp(name, "chi2_cdf"))
		golden_dist2(c, dist__chi2_cdf, 0, 1e-12);
	else if (!strcmp(name, "chi2_quantile"))
		golden_dist2(c, dist__chi2_quantile, 1e-9, 0);
	else if (!strcmp(name, "norm_cdf"))
		golden_dist1(c, dist__norm_cdf, 1e-12, 1e-15);
	else if (!strcmp(name, "norm_quantile"))
		golden_dist1(c, dist__norm_quantile, 1e-9, 1e-12);
	else
		return false;
	return true;
}

/* --- golden: tests ---------------------------------------------------------------------------- */

static void near_est(struct cursor *c, const struct stats_est *e)
{
	near(c, "estimate", e->est, 1e-9, 1e-12);
	near(c, "low", e->lo, 1e-8, 1e-10);
	near(c, "high", e->hi, 1e-8, 1e-10);
	near(c, "df", e->df, 1e-9, 0);
	near(c, "p", e->p, 1e-7, 0);
}

static void near_rank(struct cursor *c, const struct stats_rank *r)
{
	near(c, "estimate", r->est, 1e-9, 1e-12);
	near(c, "low", r->lo, 1e-9, 1e-12);
	near(c, "high", r->hi, 1e-9, 1e-12);
	near(c, "p", r->p, 1e-9, 0);
	assert_true(r->exact);
}

static bool golden_two(const char *name, struct cursor *c)
{
	double a[MAX_N], b[MAX_N];
	struct stats_est est;
	struct stats_rank rank;
	struct stats_perm perm;
	size_t na, nb;

	if (strcmp(name, "welch") && strcmp(name, "hl") && strcmp(name, "perm"))
		return false;
	na = next_sample(c, a);
	nb = next_sample(c, b);
	if (!strcmp(name, "welch")) {
		assert_int_equal(stats__welch(a, na, b, nb, next_num(c), &est), 0);
		near_est(c, &est);
	} else if (!strcmp(name, "hl")) {
		assert_int_equal(stats__hl(a, na, b, nb, next_num(c), &rank), 0);
		near_rank(c, &rank);
	} else {
		assert_int_equal(stats__perm(a, na, b, nb, &perm), 0);
		assert_true(perm.exact);
		near(c, "p", perm.p, 1e-12, 0);
	}
	return true;
}

static bool golden_one(const char *name, struct cursor *c)
{
	double d[MAX_N], adjusted[MAX_N];
	struct stats_est est;
	struct stats_rank rank;
	struct stats_perm perm;
	struct stats_trend trend;
	size_t n;

	if (strcmp(name, "hl_paired") && strcmp(name, "paired_t") && strcmp(name, "perm_paired") &&
	    strcmp(name, "holm") && strcmp(name, "bh") && strcmp(name, "trend"))
		return false;
	n = next_sample(c, d);
	if (!strcmp(name, "hl_paired")) {
		assert_int_equal(stats__hl_paired(d, n, next_num(c), &rank), 0);
		near_rank(c, &rank);
	} else if (!strcmp(name, "paired_t")) {
		assert_int_equal(stats__paired_t(d, n, next_num(c), &est), 0);
		near_est(c, &est);
	} else if (!strcmp(name, "perm_paired")) {
		assert_int_equal(stats__perm_paired(d, n, &perm), 0);
		assert_true(perm.exact);
		near(c, "p", perm.p, 1e-12, 0);
	} else if (!strcmp(name, "trend")) {
		assert_int_equal(stats__trend(d, n, &trend), 0);
		near(c, "slope", trend.slope, 1e-9, 1e-12);
		near(c, "tau", trend.tau, 1e-9, 1e-12);
		near(c, "p", trend.p, 1e-9, 0);
	} else {
		(!strcmp(name, "holm") ? stats__holm : stats__bh)(d, n, adjusted);
		for (size_t i = 0; i < n; i++)
			near(c, "adjusted p", adjusted[i], 1e-12, 0);
	}
	return true;
}

static bool golden_rest(const char *name, struct cursor *c)
{
	double v[4];

	if (!strcmp(name, "tost")) {
		for (size_t i = 0; i < 4; i++)
			v[i] = next_num(c);
		near(c, "p", stats__tost(v[0], v[1], v[2], v[3]), 1e-7, 0);
		return true;
	}
	if (!strcmp(name, "mde_paired") || !strcmp(name, "power_paired")) {
		for (size_t i = 0; i < 3; i++)
			v[i] = next_num(c);
		if (!strcmp(name, "mde_paired"))
			near(c, "effect", stats__mde_paired((size_t)v[0], v[1], v[2]), 0.02, 0);
		else
			near(c, "power", stats__power_paired((size_t)v[0], v[1], v[2]), 0, 0.01);
		return true;
	}
	if (!strcmp(name, "power_welch")) {
		for (size_t i = 0; i < 4; i++)
			v[i] = next_num(c);
		near(c, "power", stats__power_welch((size_t)v[0], (size_t)v[1], v[2], v[3]), 0,
		     0.01);
		return true;
	}
	return false;
}

static void golden_outliers(struct cursor *c)
{
	double x[MAX_N];
	size_t n = next_sample(c, x);
	bool mark[MAX_N];

	stats__outliers(x, n, mark);
	for (size_t i = 0; i < n; i++)
		near(c, "mark", mark[i], 0, 0);
}

static bool golden_ranks_and_spread(const char *name, struct cursor *c)
{
	double a[MAX_N], b[MAX_N];
	struct stats_spread spread;
	struct stats_rank rank;
	size_t na, nb;

	if (!strcmp(name, "outliers")) {
		golden_outliers(c);
		return true;
	}
	if (strcmp(name, "rank_ties") && strcmp(name, "signed_ties") && strcmp(name, "spread"))
		return false;
	na = next_sample(c, a);
	if (!strcmp(name, "signed_ties")) {
		assert_int_equal(stats__hl_paired(a, na, 0.9, &rank), 0);
	} else {
		nb = next_sample(c, b);
		assert_int_equal(stats__hl(a, na, b, nb, 0.9, &rank), 0);
		assert_int_equal(stats__spread(a, na, b, nb, &spread), 0);
	}
	if (!strcmp(name, "spread")) {
		near(c, "ratio", spread.ratio, 1e-9, 0);
		near(c, "p", spread.p, 1e-12, 0);
		assert_true(spread.exact);
	} else {
		near(c, "estimate", rank.est, 1e-12, 1e-12);
		near(c, "p", rank.p, 1e-12, 0);
		assert_true(rank.exact);
	}
	return true;
}

static void test_golden(void **state)
{
	FILE *f = fopen(GOLDEN, "r");
	char *line = NULL, name[32];
	size_t cap = 0;
	int lines = 0;

	(void)state;
	assert_non_null(f);
	while (getline(&line, &cap, f) > 0) {
		struct cursor c = { .line = ++lines };
		int used = 0;

		assert_int_equal(sscanf(line, "%31s%n", name, &used), 1);
		c.at = line + used;
		if (!golden_dist(name, &c) && !golden_two(name, &c) && !golden_one(name, &c) &&
		    !golden_rest(name, &c) && !golden_ranks_and_spread(name, &c))
			fail_msg("%s:%d: no test for %s", GOLDEN, lines, name);
		while (*c.at == ' ' || *c.at == '\n')
			c.at++;
		assert_int_equal(*c.at, '\0');
	}
	assert_true(lines > 540);
	free(line);
	fclose(f);
}

/* --- known figures ---------------------------------------------------------------------------- */

/*
 * The table of smallest effects, found by simulation of Welch's test at 80 % power, alone. It was
 * rounded to two digits and has a sampling error of its own: 5 %.
 */
static void test_mde_as_simulated(void **state)
{
	static const struct { size_t n; double effect; } table[] = {
		{ 3, 3.5 }, { 4, 2.5 }, { 5, 2.1 }, { 7, 1.7 }, { 10, 1.35 }, { 15, 1.06 },
		{ 20, 0.92 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		double got = stats__mde_welch(table[i].n, table[i].n, 0.05, 0.8);

		if (fabs(got / table[i].effect - 1) > 0.05)
			fail_msg("n = %zu: %.3f, simulated %.3f", table[i].n, got, table[i].effect);
	}
	/* First of 15 under Holm. */
	assert_true(fabs(stats__mde_welch(7, 7, 0.05 / 15, 0.8) / 2.6 - 1) < 0.05);
	assert_true(fabs(stats__mde_welch(20, 20, 0.05 / 15, 0.8) / 1.27 - 1) < 0.05);
	assert_true(isnan(stats__mde_welch(1, 5, 0.05, 0.8)));
	assert_true(isnan(stats__mde_paired(1, 0.05, 0.8)));
}

/* How many runs are needed is the other side of what so many runs can see. */
static void test_needed(void **state)
{
	(void)state;
	for (size_t n = 3; n <= 40; n += 4) {
		double welch = stats__mde_welch(n, n, 0.05 / 3, 0.8);
		double paired = stats__mde_paired(n, 0.05, 0.8);

		assert_int_equal(stats__needed(false, welch * 1.0001, 0.05 / 3, 0.8, 1000), n);
		assert_int_equal(stats__needed(false, welch * 0.9999, 0.05 / 3, 0.8, 1000), n + 1);
		assert_int_equal(stats__needed(true, -paired * 1.0001, 0.05, 0.8, 1000), n);
		assert_int_equal(stats__needed(true, paired * 0.9999, 0.05, 0.8, n), 0);
	}
	assert_int_equal(stats__needed(true, 1e9, 0.05, 0.8, 1000), 2);
	assert_int_equal(stats__needed(false, 0, 0.05, 0.8, 100), 0);
	assert_int_equal(stats__needed(false, NAN, 0.05, 0.8, 100), 0);
	assert_true(isnan(stats__power_welch(1, 5, 1, 0.05)) && isnan(stats__power_paired(4, NAN, 0.05)));
}

/* Two-sided Mann-Whitney cannot go below these, which is why it does not decide verdicts. */
static void test_mann_whitney_floors(void **state)
{
	static const double floors[] = { 0.1, 2 / 70.0, 2 / 252.0, 2 / 924.0, 2 / 3432.0 };
	double a[7], b[7];

	(void)state;
	for (size_t n = 3; n <= 7; n++) {
		struct stats_rank r;

		for (size_t i = 0; i < n; i++) {
			a[i] = (double)i;
			b[i] = 100 + (double)i;
		}
		assert_int_equal(stats__hl(a, n, b, n, 0.95, &r), 0);
		assert_true(fabs(r.p - floors[n - 3]) < 1e-12);
		/* Three against three have no 95 % interval. */
		assert_int_equal(isinf(r.lo) != 0, n == 3);
		assert_true(n == 3 ? r.conf == 0 : r.conf >= 0.95);
	}
}

/* --- properties ------------------------------------------------------------------------------- */

static double noise(uint64_t *state)
{
	double sum = 0;

	for (int i = 0; i < 4; i++) {
		*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
		sum += (double)(*state >> 11) / 9007199254740992.0;
	}
	return exp(0.1 * (sum - 2));
}

static void fill(double *x, size_t n, double scale, uint64_t *state)
{
	for (size_t i = 0; i < n; i++)
		x[i] = scale * noise(state);
}

static void close_to(double x, double y)
{
	if (!(fabs(x - y) <= 1e-9 * (fabs(x) + fabs(y)) + 1e-12))
		fail_msg("%.15g and %.15g should be equal", x, y);
}

/* Swapping the arms turns a ratio over and leaves p as it is. */
static void test_symmetry(void **state)
{
	uint64_t rng = 1;
	double a[8], b[6];

	(void)state;
	for (int round = 0; round < 20; round++) {
		struct stats_est e, f;
		struct stats_rank r, s;
		struct stats_perm p, q;

		fill(a, 8, 3, &rng);
		fill(b, 6, 3.2, &rng);
		assert_int_equal(stats__welch_ratio(a, 8, b, 6, 0.95, &e), 0);
		assert_int_equal(stats__welch_ratio(b, 6, a, 8, 0.95, &f), 0);
		close_to(e.est, 1 / f.est);
		close_to(e.lo, 1 / f.hi);
		close_to(e.p, f.p);
		assert_int_equal(stats__hl_ratio(a, 8, b, 6, 0.95, &r), 0);
		assert_int_equal(stats__hl_ratio(b, 6, a, 8, 0.95, &s), 0);
		close_to(r.est, 1 / s.est);
		close_to(r.hi, 1 / s.lo);
		close_to(r.p, s.p);
		assert_int_equal(stats__perm(a, 8, b, 6, &p), 0);
		assert_int_equal(stats__perm(b, 6, a, 8, &q), 0);
		close_to(p.p, q.p);
	}
}

/* Turning pairs over turns the shift over; turning the order over turns the trend over. */
static void test_symmetry_of_one_sample(void **state)
{
	uint64_t rng = 5;
	double x[8], y[8], d[8], e[8];

	(void)state;
	for (int round = 0; round < 20; round++) {
		struct stats_trend up, down;
		struct stats_spread wide, narrow;
		struct stats_rank r, s;
		struct stats_perm p, q;
		struct stats_est t, u;

		fill(x, 8, 1, &rng);
		fill(y, 8, 1.04, &rng);
		for (size_t i = 0; i < 8; i++) {
			d[i] = y[i] - x[i];
			e[7 - i] = -d[i];
		}
		assert_int_equal(stats__paired_t(d, 8, 0.95, &t), 0);
		assert_int_equal(stats__paired_t(e, 8, 0.95, &u), 0);
		close_to(t.lo, -u.hi);
		close_to(t.p, u.p);
		assert_int_equal(stats__hl_paired(d, 8, 0.95, &r), 0);
		assert_int_equal(stats__hl_paired(e, 8, 0.95, &s), 0);
		close_to(r.est, -s.est);
		close_to(r.lo, -s.hi);
		close_to(r.p, s.p);
		assert_int_equal(stats__perm_paired(d, 8, &p), 0);
		assert_int_equal(stats__perm_paired(e, 8, &q), 0);
		close_to(p.p, q.p);
		/* -d backwards: the trend turns over twice. */
		assert_int_equal(stats__trend(d, 8, &up), 0);
		assert_int_equal(stats__trend(e, 8, &down), 0);
		close_to(up.slope, down.slope);
		close_to(up.tau, down.tau);
		close_to(up.p, down.p);
		assert_int_equal(stats__spread(x, 8, y, 8, &wide), 0);
		assert_int_equal(stats__spread(y, 8, x, 8, &narrow), 0);
		close_to(wide.ratio, 1 / narrow.ratio);
		close_to(wide.p, narrow.p);
	}
}

static int cmp_double(const void *l, const void *r)
{
	double x = *(const double *)l, y = *(const double *)r;

	return (x > y) - (x < y);
}

/* A correction never lowers a p, keeps the order, and Holm's is never below Benjamini's. */
static void test_order_of_corrections(void **state)
{
	uint64_t rng = 9;
	double p[12], holm[12], bh[12], sorted[12], again[12];

	(void)state;
	for (int round = 0; round < 50; round++) {
		fill(p, 12, 1, &rng);
		for (size_t i = 0; i < 12; i++)
			p[i] = pow(fmin(1, fabs(p[i] - 1) * 4), 3);
		stats__holm(p, 12, holm);
		stats__bh(p, 12, bh);
		for (size_t i = 0; i < 12; i++) {
			/* But for the rounding of p * 12 / 12. */
			assert_true(p[i] <= bh[i] + 1e-15 && bh[i] <= holm[i] + 1e-15 && holm[i] <= 1);
			for (size_t k = 0; k < 12; k++)
				assert_true(p[i] > p[k] || (holm[i] <= holm[k] && bh[i] <= bh[k]));
		}
		/* In which order they come is of no matter. */
		memcpy(sorted, p, sizeof(p));
		qsort(sorted, 12, sizeof(sorted[0]), cmp_double);
		stats__holm(sorted, 12, again);
		qsort(holm, 12, sizeof(holm[0]), cmp_double);
		for (size_t i = 0; i < 12; i++)
			close_to(again[i], holm[i]);
	}
}

/* Another unit changes no ratio, no p, no mark; the order of the runs changes nothing either. */
static void test_scale_and_order(void **state)
{
	uint64_t rng = 7;
	double a[7], b[7], ka[7], kb[7];
	bool mark[7], kmark[7];

	(void)state;
	for (int round = 0; round < 20; round++) {
		struct stats_est e, f;
		struct stats_rank r, s;

		fill(a, 7, 1, &rng);
		fill(b, 7, 1.1, &rng);
		for (size_t i = 0; i < 7; i++) {
			ka[i] = a[6 - i] * 1e6;
			kb[i] = b[6 - i] * 1e6;
		}
		assert_int_equal(stats__welch_ratio(a, 7, b, 7, 0.95, &e), 0);
		assert_int_equal(stats__welch_ratio(ka, 7, kb, 7, 0.95, &f), 0);
		close_to(e.lo, f.lo);
		close_to(e.p, f.p);
		assert_int_equal(stats__hl_ratio(a, 7, b, 7, 0.95, &r), 0);
		assert_int_equal(stats__hl_ratio(ka, 7, kb, 7, 0.95, &s), 0);
		close_to(r.est, s.est);
		close_to(r.p, s.p);
		assert_int_equal(stats__outliers(a, 7, mark), stats__outliers(ka, 7, kmark));
		for (size_t i = 0; i < 7; i++)
			assert_int_equal(mark[i], kmark[6 - i]);
	}
}

/* The sampled test of 20 against 20 is near the exact one's normal limit, and is the same twice. */
static void test_sampled_permutation(void **state)
{
	uint64_t rng = 3;
	double a[20], b[20], d[20];
	struct stats_perm p, q;
	struct stats_est t;

	(void)state;
	fill(a, 20, 1, &rng);
	fill(b, 20, 1.02, &rng);
	assert_int_equal(stats__perm(a, 20, b, 20, &p), 0);
	assert_int_equal(stats__perm(a, 20, b, 20, &q), 0);
	assert_false(p.exact);
	assert_true(p.p == q.p && p.p > 0);
	assert_int_equal(stats__welch(a, 20, b, 20, 0.95, &t), 0);
	assert_true(fabs(p.p - t.p) < 0.03);
	for (size_t i = 0; i < 20; i++)
		d[i] = b[i] - a[i];
	assert_int_equal(stats__perm_paired(d, 20, &p), 0);
	assert_false(p.exact);
	assert_int_equal(stats__paired_t(d, 20, 0.95, &t), 0);
	assert_true(fabs(p.p - t.p) < 0.03);
	/* So far apart that no draw reaches it: the smallest p that sampling can give, not 0. */
	for (size_t i = 0; i < 20; i++)
		b[i] = a[i] + 100;
	assert_int_equal(stats__perm(a, 20, b, 20, &p), 0);
	close_to(p.p, 1.0 / (STATS_DRAWS + 1));
}

/* --- the answers to hard questions ------------------------------------------------------------ */

static void test_too_few_and_bad(void **state)
{
	double one[] = { 4 }, two[] = { 4, 5 }, zero[] = { 0, 5 }, nan[] = { 1, NAN };
	struct stats_est e;
	struct stats_rank r;
	struct stats_trend t;
	struct stats_spread s;

	(void)state;
	assert_int_equal(stats__welch(one, 1, two, 2, 0.95, &e), -ENODATA);
	assert_int_equal(stats__paired_t(one, 1, 0.95, &e), -ENODATA);
	assert_int_equal(stats__welch(two, 2, NULL, 0, 0.95, &e), -ENODATA);
	assert_int_equal(stats__welch_ratio(zero, 2, two, 2, 0.95, &e), -EDOM);
	assert_int_equal(stats__hl_ratio(two, 2, zero, 2, 0.95, &r), -EDOM);
	assert_int_equal(stats__welch(nan, 2, two, 2, 0.95, &e), -EINVAL);
	assert_int_equal(stats__welch_ratio(nan, 2, two, 2, 0.95, &e), -EINVAL);
	assert_int_equal(stats__hl(nan, 2, two, 2, 0.95, &r), -EINVAL);
	assert_int_equal(stats__welch(two, 2, two, 2, 1.5, &e), -EINVAL);
	assert_int_equal(stats__welch(NULL, 2, two, 2, 0.95, &e), -EINVAL);
	assert_int_equal(stats__trend(two, 2, &t), -ENODATA);
	assert_int_equal(stats__spread(two, 2, two, 2, &s), -ENODATA);
	assert_true(isnan(stats__mean(NULL, 0)) && isnan(stats__median(NULL, 0)) &&
		    isnan(stats__sd(one, 1)));
	assert_true(isnan(stats__tost(NAN, 1, 3, 0.1)) && isnan(stats__tost(0, 1, 3, 0)));
}

static void test_all_equal(void **state)
{
	double a[] = { 5, 5, 5, 5 }, b[] = { 6, 6, 6, 6 }, zero[] = { 0, 0, 0, 0 };
	bool mark[4];
	struct stats_est e;
	struct stats_rank r;
	struct stats_perm p;
	struct stats_trend t;
	struct stats_spread s;

	(void)state;
	assert_int_equal(stats__welch(a, 4, b, 4, 0.95, &e), 0);
	assert_true(e.est == 1 && e.lo == 1 && e.hi == 1 && e.se == 0 && isnan(e.p));
	assert_int_equal(stats__perm(a, 4, b, 4, &p), 0);
	close_to(p.p, 2 / 70.0);
	assert_int_equal(stats__perm(a, 4, a, 4, &p), 0);
	assert_true(p.p == 1);
	assert_int_equal(stats__hl(a, 4, a, 4, 0.95, &r), 0);
	assert_true(r.est == 0 && r.lo == 0 && r.hi == 0 && r.p == 1);
	assert_int_equal(stats__hl_paired(zero, 4, 0.9, &r), 0);
	assert_true(r.est == 0 && r.p == 1);
	assert_int_equal(stats__trend(a, 4, &t), 0);
	assert_true(t.slope == 0 && t.tau == 0 && t.p == 1);
	assert_int_equal(stats__outliers(a, 4, mark), 0);
	assert_int_equal(stats__spread(a, 4, b, 4, &s), 0);
	assert_true(isnan(s.ratio) && s.p == 1);
	assert_true(stats__tost(0, 0, 3, 0.1) == 0 && stats__tost(0.2, 0, 3, 0.1) == 1);
}

/* With ties the p is that of permuted midranks, and the interval does not leave the differences. */
static void test_ties(void **state)
{
	double a[] = { 1, 1, 2, 2, 3 }, b[] = { 2, 3, 3, 4, 4 };
	struct stats_rank r;

	(void)state;
	assert_int_equal(stats__hl(a, 5, b, 5, 0.95, &r), 0);
	assert_true(r.exact && r.p > 0.02 && r.p < 0.12);
	assert_true(r.est == 1 || r.est == 1.5 || r.est == 2);
	assert_true(r.lo >= -1 && r.hi <= 3 && r.lo <= r.est && r.est <= r.hi);
}

/* Beyond the exact table the normal approximation takes over, and says so. */
static void test_many_runs(void **state)
{
	uint64_t rng = 11;
	double a[100], b[100];
	struct stats_rank r;
	struct stats_est e;

	(void)state;
	fill(a, 100, 1, &rng);
	fill(b, 100, 1.05, &rng);
	assert_int_equal(stats__hl_ratio(a, 100, b, 100, 0.95, &r), 0);
	assert_false(r.exact);
	assert_int_equal(stats__welch_ratio(a, 100, b, 100, 0.95, &e), 0);
	assert_true(fabs(r.est - e.est) < 0.01 && fabs(r.lo - e.lo) < 0.01 && r.p < 1e-4);
}

static void test_outliers_and_spread(void **state)
{
	double x[] = { 10, 10.1, 9.9, 10.05, 9.95, 14 }, flat[] = { 5, 5, 5, 5, 9 };
	double a[] = { 100, 101, 99, 100.5, 99.5, 100.2, 99.8, 100.1 };
	double b[] = { 100, 110, 90, 105, 95, 102, 98, 111 };
	struct stats_spread s;
	bool mark[6];

	(void)state;
	assert_int_equal(stats__outliers(x, 6, mark), 1);
	assert_true(mark[5]);
	/* MAD is 0, the mean absolute deviation decides. */
	assert_int_equal(stats__outliers(flat, 5, mark), 1);
	assert_true(mark[4]);
	assert_int_equal(stats__outliers(x, 2, mark), 0);
	assert_int_equal(stats__spread(a, 8, b, 8, &s), 0);
	assert_true(s.ratio > 5 && s.p < 0.01 && s.exact);
}

static void test_corrections_skip_absent(void **state)
{
	double p[] = { 0.01, NAN, 0.04 }, holm[3], bh[3];

	(void)state;
	stats__holm(p, 3, holm);
	stats__bh(p, 3, bh);
	close_to(holm[0], 0.02);
	close_to(holm[2], 0.04);
	close_to(bh[0], 0.02);
	assert_true(isnan(holm[1]) && isnan(bh[1]));
	stats__holm(p, 0, holm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden),
		cmocka_unit_test(test_mde_as_simulated),
		cmocka_unit_test(test_needed),
		cmocka_unit_test(test_mann_whitney_floors),
		cmocka_unit_test(test_symmetry),
		cmocka_unit_test(test_symmetry_of_one_sample),
		cmocka_unit_test(test_order_of_corrections),
		cmocka_unit_test(test_scale_and_order),
		cmocka_unit_test(test_sampled_permutation),
		cmocka_unit_test(test_too_few_and_bad),
		cmocka_unit_test(test_all_equal),
		cmocka_unit_test(test_ties),
		cmocka_unit_test(test_many_runs),
		cmocka_unit_test(test_outliers_and_spread),
		cmocka_unit_test(test_corrections_skip_absent),
	};

	return cmocka_run_group_tests_name("analysis/stats", tests, NULL, NULL);
}
