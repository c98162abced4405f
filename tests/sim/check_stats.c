// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Simulations of what the statistics promise: how often an interval holds the truth, how often
 * nothing is called something, how often something is found. Seeded: the same table every time.
 * Fails if a figure is further from the expected one than chance explains. `make check-stats`.
 */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/dist.h"
#include "analysis/stats.h"
#include "collector/term.h"

#define MAX_N		20
#define EXPERIMENTS	20000
#define RESAMPLED	4000		/* experiments with a bootstrap in each */
#define RESAMPLES	1000
#define METRICS		15
#define CONF		0.95
#define LEVEL		0.05
#define POWER		0.80
/* The expected figures are from simulations too, of about this many experiments. */
#define EXPECTED_FROM	2000
#define ROUNDING	0.005		/* they are given in whole per cent */

#define FIGURES		77		/* of all tables; main() says if they are not as many */

static int failures;
static unsigned int figures;
static struct progress bar;

/* --- noise ------------------------------------------------------------------------------------ */

struct rng {
	uint64_t state;
};

/* SplitMix64 (Steele, Lea & Flood 2014). */
static uint64_t rng__next(struct rng *r)
{
	uint64_t z = (r->state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static double rng__uniform(struct rng *r)
{
	return ((double)(rng__next(r) >> 11) + 0.5) / 9007199254740992.0;
}

/* Standard normal (Box & Muller 1958). */
static double rng__normal(struct rng *r)
{
	double radius = sqrt(-2 * log(rng__uniform(r)));

	return radius * cos(6.283185307179586 * rng__uniform(r));
}

enum shape { LOG_NORMAL, OUTLIERS, BIMODAL };

static const char *const shape_names[] = { "log-normal", "with outliers", "bimodal" };

/*
 * n values about 1 with that relative spread. Outliers: one in ten is 1.5 times as large. Bimodal:
 * one in five is of a mode 1.3 times as high; the modes are narrow, or they would be one.
 */
static void draw(struct rng *r, double *x, size_t n, double cv, enum shape shape)
{
	for (size_t i = 0; i < n; i++) {
		x[i] = exp((shape == BIMODAL ? 0.3 : 1) * cv * rng__normal(r));
		if (shape == OUTLIERS && rng__uniform(r) < 0.1)
			x[i] *= 1.5;
		if (shape == BIMODAL && rng__uniform(r) < 0.2)
			x[i] *= 1.3;
	}
}

/* --- the table -------------------------------------------------------------------------------- */

static double error_of(double p, double experiments)
{
	return sqrt(p * (1 - p) / experiments);
}

/*
 * One row: a share of the experiments, expected from lo to hi; both NaN: only shown. The table says
 * by what distance it may be off: three standard errors, of both simulations, and the rounding.
 */
static void row(const char *what, const char *where, double share, double experiments, double lo,
		double hi)
{
	double edge = share < lo ? lo : hi, off, slack;
	bool checked = !isnan(lo);

	progress__hide(&bar);
	progress__set(&bar, ++figures);
	printf("| %s | %s | %.1f %% | ", what, where, share * 100);
	if (!checked) {
		printf("- | |\n");
		return;
	}
	off = share < lo ? lo - share : share > hi ? share - hi : 0;
	slack = 3 * hypot(error_of(edge, experiments), error_of(edge, EXPECTED_FROM)) + ROUNDING;
	if (lo == hi)
		printf("%.3g %%", lo * 100);
	else if (lo <= 0)
		printf("at most %.3g %%", hi * 100);
	else
		printf("%.3g to %.3g %%", lo * 100, hi * 100);
	printf(" | %s |\n", off <= slack ? "yes" : "**NO**");
	failures += off > slack;
}

static void head(const char *title, const char *share)
{
	printf("\n%s\n\n| method | case | %s | expected | agrees |\n| --- | --- | ---: | ---: | --- |\n",
	       title, share);
}

static const char *at_n(char *buf, size_t n)
{
	snprintf(buf, 32, "n = %zu", n);
	return buf;
}

/* --- intervals -------------------------------------------------------------------------------- */

static int cmp_double(const void *l, const void *r)
{
	double x = *(const double *)l, y = *(const double *)r;

	return (x > y) - (x < y);
}

static double ratio_of_means(const double *a, const double *b, size_t n)
{
	return stats__mean(b, n) / stats__mean(a, n);
}

static double resampled_ratio(struct rng *r, const double *a, const double *b, size_t n)
{
	double sum_a = 0, sum_b = 0;

	for (size_t i = 0; i < n; i++) {
		sum_a += a[rng__next(r) % n];
		sum_b += b[rng__next(r) % n];
	}
	return sum_b / sum_a;
}

/* Acceleration of the BCa interval, from leaving out each value of both samples (Efron 1987). */
static double acceleration(const double *a, const double *b, size_t n)
{
	double left[2 * MAX_N], mean, cube = 0, square = 0;

	for (size_t i = 0; i < n; i++) {
		double sum_a = stats__mean(a, n) * n - a[i], sum_b = stats__mean(b, n) * n - b[i];

		left[i] = stats__mean(b, n) / (sum_a / (n - 1));
		left[n + i] = sum_b / (n - 1) / stats__mean(a, n);
	}
	mean = stats__mean(left, 2 * n);
	for (size_t i = 0; i < 2 * n; i++) {
		cube += pow(mean - left[i], 3);
		square += pow(mean - left[i], 2);
	}
	return square > 0 ? cube / (6 * pow(square, 1.5)) : 0;
}

static double bca_place(double z0, double acc, double z)
{
	return dist__norm_cdf(z0 + (z0 + z) / (1 - acc * (z0 + z)));
}

static double quantile(const double *sorted, double p)
{
	double at = p * (RESAMPLES - 1);

	return sorted[(size_t)fmin(fmax(at + 0.5, 0), RESAMPLES - 1)];
}

/* Whether the percentile and the BCa interval of the ratio of means hold the truth, which is 1. */
static void bootstrap(struct rng *r, const double *a, const double *b, size_t n, bool *plain,
		      bool *bca)
{
	static double ratio[RESAMPLES];
	double z = dist__norm_quantile(1 - (1 - CONF) / 2), seen = ratio_of_means(a, b, n);
	double below = 0, z0, acc = acceleration(a, b, n);

	for (size_t i = 0; i < RESAMPLES; i++) {
		ratio[i] = resampled_ratio(r, a, b, n);
		below += ratio[i] < seen;
	}
	qsort(ratio, RESAMPLES, sizeof(ratio[0]), cmp_double);
	*plain = quantile(ratio, (1 - CONF) / 2) <= 1 && quantile(ratio, 1 - (1 - CONF) / 2) >= 1;
	z0 = dist__norm_quantile(fmin(fmax(below, 0.5), RESAMPLES - 0.5) / RESAMPLES);
	*bca = quantile(ratio, bca_place(z0, acc, -z)) <= 1 &&
	       quantile(ratio, bca_place(z0, acc, z)) >= 1;
}

static void bootstrap_coverage(void)
{
	static const size_t sizes[] = { 3, 4, 5, 7, 10 };

	head("Bootstrap intervals of a ratio of means, nominal 95 %, log-normal noise of 10 %: why no verdict rests on them.",
	     "holds the truth");
	for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
		struct rng r = { 100 + k };
		double a[MAX_N], b[MAX_N], plain = 0, bca = 0;
		char where[32];

		for (int i = 0; i < RESAMPLED; i++) {
			bool in_plain, in_bca;

			draw(&r, a, sizes[k], 0.1, LOG_NORMAL);
			draw(&r, b, sizes[k], 0.1, LOG_NORMAL);
			bootstrap(&r, a, b, sizes[k], &in_plain, &in_bca);
			plain += in_plain;
			bca += in_bca;
		}
		row("percentile", at_n(where, sizes[k]), plain / RESAMPLED, RESAMPLED, 0.79, 0.92);
		row("BCa", where, bca / RESAMPLED, RESAMPLED, 0.79, 0.92);
	}
}

struct coverage {
	double welch, rank;	/* shares that hold the truth */
	double narrower;	/* mean width of the rank interval over that of Welch's, on logs */
	double exact;		/* the rank interval's own confidence */
};

static struct coverage coverage(size_t n, enum shape shape)
{
	struct rng r = { 200 + n + 1000 * shape };
	struct coverage c = { 0 };
	double a[MAX_N], b[MAX_N], wide = 0, narrow = 0;

	for (int i = 0; i < EXPERIMENTS; i++) {
		struct stats_est t;
		struct stats_rank h;

		draw(&r, a, n, 0.1, shape);
		draw(&r, b, n, 0.1, shape);
		if (stats__welch_ratio(a, n, b, n, CONF, &t) ||
		    stats__hl_ratio(a, n, b, n, CONF, &h))
			abort();
		c.welch += t.lo <= 1 && t.hi >= 1;
		c.rank += h.lo <= 1 && h.hi >= 1;
		wide += log(t.hi / t.lo);
		narrow += log(h.hi / h.lo);
		c.exact = h.conf;
	}
	c.welch /= EXPERIMENTS;
	c.rank /= EXPERIMENTS;
	c.narrower = narrow / wide;
	return c;
}

static void interval_coverage(void)
{
	static const size_t sizes[] = { 3, 4, 5, 7, 10, 20 };
	double ratio[3][sizeof(sizes) / sizeof(sizes[0])];

	head("Intervals of the ratio of two arms, nominal 95 %, noise of 10 %.", "holds the truth");
	for (enum shape s = LOG_NORMAL; s <= BIMODAL; s++) {
		for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
			struct coverage c = coverage(sizes[k], s);
			char where[64];

			ratio[s][k] = c.narrower;
			snprintf(where, sizeof(where), "n = %zu, %s", sizes[k], shape_names[s]);
			/* t promises its level for log-normal noise; elsewhere it is only shown. */
			row("Welch on logs", where, c.welch, EXPERIMENTS,
			    s == LOG_NORMAL ? 0.95 : NAN, s == LOG_NORMAL ? 0.96 : NAN);
			/* Ranks reach their own, exact confidence whatever the distribution is. */
			if (c.exact > 0)
				row("Hodges-Lehmann on logs", where, c.rank, EXPERIMENTS, c.exact,
				    c.exact);
		}
	}
	printf("\nMean width of the Hodges-Lehmann interval, of Welch's:\n\n| noise |");
	for (size_t k = 1; k < sizeof(sizes) / sizeof(sizes[0]); k++)
		printf(" n = %zu |", sizes[k]);
	printf("\n| --- | ---: | ---: | ---: | ---: | ---: |\n");
	for (enum shape s = LOG_NORMAL; s <= BIMODAL; s++) {
		printf("| %s |", shape_names[s]);
		for (size_t k = 1; k < sizeof(sizes) / sizeof(sizes[0]); k++)
			printf(" %.2f |", ratio[s][k]);
		printf("\n");
	}
	/* At n = 10, where the exact confidence is near the nominal one, so that widths compare. */
	if (!(ratio[OUTLIERS][4] < 1 && ratio[BIMODAL][4] < 1)) {
		printf("\n**NO**: not narrower under outliers and bimodal data at n = 10\n");
		failures++;
	}
}

/* --- the order of the runs -------------------------------------------------------------------- */

/* Share of false alarms under a drift of 5 % from the first run to the last, noise of 2 %. */
static double drift_alarms(size_t n, bool interleaved)
{
	struct rng r = { 300 + n + interleaved };
	double a[MAX_N], b[MAX_N], d[MAX_N], alarms = 0;

	for (int i = 0; i < EXPERIMENTS; i++) {
		struct stats_est t;

		for (size_t k = 0; k < n; k++) {
			size_t first = interleaved ? 2 * k + k % 2 : k;
			size_t second = interleaved ? 2 * k + 1 - k % 2 : n + k;

			a[k] = 0.02 * rng__normal(&r) + 0.05 * first / (2 * n - 1);
			b[k] = 0.02 * rng__normal(&r) + 0.05 * second / (2 * n - 1);
			d[k] = b[k] - a[k];
		}
		if (interleaved ? stats__paired_t(d, n, CONF, &t)
				: stats__welch(a, n, b, n, CONF, &t))
			abort();
		alarms += t.p <= LEVEL;
	}
	return alarms / EXPERIMENTS;
}

static void drift(void)
{
	static const struct { size_t n; double alarms; } expected[] = {
		{ 4, 0.28 }, { 10, 0.75 }, { 20, 0.97 },
	};

	head("False alarms at 5 % under a drift of 5 % from first run to last, noise of 2 %.",
	     "false alarms");
	for (size_t k = 0; k < sizeof(expected) / sizeof(expected[0]); k++) {
		char where[32];

		row("AAAABBBB, Welch", at_n(where, expected[k].n), drift_alarms(expected[k].n, false),
		    EXPERIMENTS, expected[k].alarms, expected[k].alarms);
		row("ABBA in pairs, Student", where, drift_alarms(expected[k].n, true), EXPERIMENTS,
		    0, 0.05);
	}
}

/* --- many metrics ----------------------------------------------------------------------------- */

static bool any_at_most(const double *p, size_t n, double level)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] <= level)
			return true;
	return false;
}

static void families(void)
{
	struct rng r = { 400 };
	double a[MAX_N], b[MAX_N], p[METRICS], holm[METRICS], raw = 0, corrected = 0;

	for (int i = 0; i < EXPERIMENTS; i++) {
		for (size_t m = 0; m < METRICS; m++) {
			struct stats_est t;

			draw(&r, a, 7, 0.05, LOG_NORMAL);
			draw(&r, b, 7, 0.05, LOG_NORMAL);
			if (stats__welch_ratio(a, 7, b, 7, CONF, &t))
				abort();
			p[m] = t.p;
		}
		stats__holm(p, METRICS, holm);
		raw += any_at_most(p, METRICS, LEVEL);
		corrected += any_at_most(holm, METRICS, LEVEL);
	}
	head("At least one false alarm in 15 independent metrics, n = 7, level 5 %.", "false alarms");
	row("uncorrected", "15 metrics", raw / EXPERIMENTS, EXPERIMENTS, 0.52, 0.52);
	row("Holm", "15 metrics", corrected / EXPERIMENTS, EXPERIMENTS, 0.04, 0.04);
}

/* --- what is found ---------------------------------------------------------------------------- */

static double found(size_t n, double effect, double level)
{
	struct rng r = { 500 + n + (level < 0.01) };
	double a[MAX_N], b[MAX_N], hits = 0;

	for (int i = 0; i < EXPERIMENTS; i++) {
		struct stats_est t;

		for (size_t k = 0; k < n; k++) {
			a[k] = rng__normal(&r);
			b[k] = rng__normal(&r) + effect;
		}
		if (stats__welch(a, n, b, n, CONF, &t))
			abort();
		hits += t.p <= level;
	}
	return hits / EXPERIMENTS;
}

static void smallest_effects(void)
{
	static const struct { size_t n; double alone, of15; } table[] = {
		{ 3, 3.5, 9.5 }, { 4, 2.5, 4.8 }, { 5, 2.1, 3.6 }, { 7, 1.7, 2.6 },
		{ 10, 1.35, 1.95 }, { 15, 1.06, 1.5 }, { 20, 0.92, 1.27 },
	};

	head("Welch's test at the effect that is called the smallest detectable one (80 % power).",
	     "found");
	for (size_t k = 0; k < 2 * sizeof(table) / sizeof(table[0]); k++) {
		size_t n = table[k / 2].n;
		double level = k % 2 ? LEVEL / METRICS : LEVEL;
		double known = k % 2 ? table[k / 2].of15 : table[k / 2].alone;
		double mde = stats__mde_welch(n, n, level, POWER);
		char where[96];

		snprintf(where, sizeof(where), "n = %zu, effect %.3g CV (tabulated: %.3g)", n, mde,
			 known);
		row(k % 2 ? "first of 15 under Holm" : "alone", where, found(n, mde, level),
		    EXPERIMENTS, POWER, POWER);
		/* The tabulated effects have two digits and an error of their own. */
		if (fabs(mde / known - 1) > 0.05) {
			printf("\n**NO**: %.3g is not the tabulated %.3g\n", mde, known);
			failures++;
		}
	}
}

/* --- the other tests -------------------------------------------------------------------------- */

/* Equivalence within 5 % shown, where the truth is a change of that size, and where it is none. */
static double equivalent(size_t n, double cv, double truth)
{
	struct rng r = { 600 + n };
	double a[MAX_N], b[MAX_N], shown = 0;

	for (int i = 0; i < EXPERIMENTS; i++) {
		struct stats_est t;

		for (size_t k = 0; k < n; k++) {
			a[k] = cv * rng__normal(&r);
			b[k] = cv * rng__normal(&r) + truth;
		}
		if (stats__welch(a, n, b, n, CONF, &t))
			abort();
		shown += stats__tost(t.est, t.se, t.df, log1p(0.05)) <= LEVEL;
	}
	return shown / EXPERIMENTS;
}

struct quiet {
	double trend, spread, perm, marked;
};

/* What the tests beside the main one say of runs in which nothing is the matter. */
static struct quiet quiet(size_t n)
{
	struct rng r = { 700 + n };
	struct quiet q = { 0 };
	double a[MAX_N], b[MAX_N];
	bool mark[MAX_N];

	for (int i = 0; i < EXPERIMENTS / 4; i++) {
		struct stats_trend trend;
		struct stats_spread spread;
		struct stats_perm perm;

		for (size_t k = 0; k < n; k++) {
			a[k] = rng__normal(&r);
			b[k] = rng__normal(&r);
		}
		if (stats__trend(a, n, &trend) || stats__spread(a, n, b, n, &spread) ||
		    stats__perm(a, n, b, n, &perm))
			abort();
		q.trend += trend.p <= LEVEL;
		q.spread += spread.p <= LEVEL;
		q.perm += perm.p <= LEVEL;
		q.marked += (double)stats__outliers(a, n, mark) / n;
	}
	return (struct quiet){ q.trend / (EXPERIMENTS / 4), q.spread / (EXPERIMENTS / 4),
			       q.perm / (EXPERIMENTS / 4), q.marked / (EXPERIMENTS / 4) };
}

static void other_tests(void)
{
	static const size_t sizes[] = { 4, 7 };

	head("The other tests at 5 %, on normal noise (of 3 % for the equivalence within 5 %).",
	     "of the experiments");
	for (size_t k = 0; k < 2; k++) {
		struct quiet q = quiet(sizes[k]);
		char where[64];

		snprintf(where, sizeof(where), "n = %zu, true change 5 %%", sizes[k]);
		row("equivalence shown", where, equivalent(sizes[k], 0.03, log1p(0.05)), EXPERIMENTS,
		    0, 0.05);
		snprintf(where, sizeof(where), "n = %zu, no change", sizes[k]);
		row("equivalence shown", where, equivalent(sizes[k], 0.03, 0), EXPERIMENTS, NAN, NAN);
		row("permutation test", where, q.perm, EXPERIMENTS / 4, 0, 0.05);
		row("drift (Kendall)", where, q.trend, EXPERIMENTS / 4, 0, 0.05);
		row("change of spread", where, q.spread, EXPERIMENTS / 4, NAN, NAN);
		row("runs marked as outliers", where, q.marked, EXPERIMENTS / 4, NAN, NAN);
	}
}

int main(void)
{
	progress__begin(&bar, "simulating", FIGURES);
	bootstrap_coverage();
	interval_coverage();
	drift();
	families();
	smallest_effects();
	other_tests();
	progress__end(&bar);
	if (bar.total != figures) {
		fprintf(stderr, "check-stats: %u figures, not %d; correct FIGURES\n", figures, FIGURES);
		return 2;
	}
	printf("\n%d experiments a figure (%d with resampling); %d figure%s off.\n", EXPERIMENTS,
	       RESAMPLED, failures, failures == 1 ? "" : "s");
	if (fflush(stdout)) {
		fprintf(stderr, "check-stats: standard output: %s\n", strerror(errno));
		return 2;
	}
	return failures ? 1 : 0;
}
