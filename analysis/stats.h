/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Statistics for few (3..20) noisy boot-level runs. Pure: no I/O, no SQLite, no global state, and
 * the same input gives the same output (sampled permutations have a fixed seed).
 *
 * Conventions, for every function here:
 *   a, na   the baseline's values; b, nb the other arm's; x or d, n one sample. Any order, except
 *           where "in order" is said. All values finite: NaN or infinite gives -EINVAL.
 *   errors  0 good; -EINVAL a NULL, a non-finite value or a level outside (0, 1); -ENODATA too few
 *           values for the method; -EDOM a value that has no logarithm; -ENOMEM. On error *out is
 *           not to be read.
 *   sign    differences are b - a and ratios b / a, so an arm that halves a counter has ratio 0.5.
 *   scale   "on logs" means natural logarithms; ratios are dimensionless, differences have the
 *           unit of the values.
 */
#ifndef MIGRC_ANALYSIS_STATS_H
#define MIGRC_ANALYSIS_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STATS_EXACT_LIMIT	200000	/* arrangements that are enumerated; more are sampled */
#define STATS_DRAWS		20000	/* draws when sampled */
#define STATS_SEED		0x6d69677263ULL
#define STATS_OUTLIER_Z		3.5

/* An estimate by a t method. For a ratio: est, lo, hi are ratios, se stays on logs. */
struct stats_est {
	double est, lo, hi;
	double se, df;
	double p;		/* two-sided, of no effect; NaN if se is 0 (see stats__welch) */
};

/*
 * An estimate by ranks. conf is the exact confidence reached: lo, hi infinite and conf 0 if none.
 */
struct stats_rank {
	double est, lo, hi;
	double conf;
	double p;
	bool exact;		/* false: normal approximation */
};

struct stats_perm {
	double p;
	double arrangements;	/* enumerated, or drawn */
	bool exact;
};

struct stats_trend {
	double slope;		/* Theil-Sen: median change of x per step of order */
	double tau;		/* Kendall's tau-b of x against order */
	double p;		/* two-sided, of no trend */
	bool exact;
};

struct stats_spread {
	double ratio;		/* MAD(b) / MAD(a); NaN if MAD(a) is 0 */
	double p;
	bool exact;
};

/*
 * Plain summaries. n = 0 gives NaN; sd with n < 2 gives NaN. Median of even n: mean of the middle.
 */
double stats__mean(const double *x, size_t n);
double stats__sd(const double *x, size_t n);
double stats__median(const double *x, size_t n);
/* Median absolute deviation from the median, unscaled. */
double stats__mad(const double *x, size_t n);

/* out[i] = log(x[i]); -EDOM if any x[i] <= 0. */
int stats__log(const double *x, size_t n, double *out);

/*
 * Difference of means b - a with Welch's interval (Welch 1947; degrees of freedom by Satterthwaite
 * 1946). Needs na, nb >= 2. If all values of each arm are equal, se is 0, the interval has no width
 * and p is NaN: t says nothing then, ask the permutation test.
 */
int stats__welch(const double *a, size_t na, const double *b, size_t nb, double conf,
		 struct stats_est *out);

/*
 * Ratio of geometric means b / a: Welch on logs. Right at every n on log-normal noise, where
 * bootstrap intervals of a ratio are not (Georges et al. 2007; Kalibera & Jones 2013).
 */
int stats__welch_ratio(const double *a, size_t na, const double *b, size_t nb, double conf,
		       struct stats_est *out);

/* Mean of paired differences d = b - a with Student's interval; n >= 2. */
int stats__paired_t(const double *d, size_t n, double conf, struct stats_est *out);

/*
 * Hodges-Lehmann shift: median of the na * nb differences b_j - a_i, with the interval that
 * inverting the Mann-Whitney test gives (Hodges & Lehmann 1963; Mann & Whitney 1947; Lehmann 1963).
 * Exact for na, nb <= 50; beyond, the normal approximation, wrong in p by less than 1e-3 there.
 * With ties the interval is at least as wide as its level, and p is that of the exact permutation
 * of midranks where it can be enumerated, else sampled. Needs na, nb >= 1; so few values that no
 * interval reaches the level (3 against 3 at 95 %) give lo = -inf, hi = inf, conf = 0.
 */
int stats__hl(const double *a, size_t na, const double *b, size_t nb, double conf,
	      struct stats_rank *out);
int stats__hl_ratio(const double *a, size_t na, const double *b, size_t nb, double conf,
		    struct stats_rank *out);

/*
 * The same for paired differences: median of the n (n + 1) / 2 Walsh averages, interval from
 * inverting the Wilcoxon signed-rank test (Wilcoxon 1945; Tukey 1949), exact for every n. p leaves
 * out zero differences, as Wilcoxon did; with ties it is that of exact or sampled flips of signs.
 */
int stats__hl_paired(const double *d, size_t n, double conf, struct stats_rank *out);

/*
 * Permutation test of the difference of means, two-sided (Fisher 1935): exact up to
 * STATS_EXACT_LIMIT arrangements, else STATS_DRAWS draws and p = (hits + 1) / (draws + 1), which
 * is never 0 (Phipson & Smyth 2010); its standard error is then below 0.0036.
 */
int stats__perm(const double *a, size_t na, const double *b, size_t nb, struct stats_perm *out);
/* Sign flips of paired differences, two-sided. */
int stats__perm_paired(const double *d, size_t n, struct stats_perm *out);

/*
 * Two one-sided tests (Schuirmann 1987): p of "the effect is not within (-margin, margin)", est and
 * se on the scale of margin (logs for a ratio: margin = log(1.05) for 5 %). se 0: 0 inside, 1 out.
 */
double stats__tost(double est, double se, double df, double margin);

/* Adjust n p-values in place of each other; NaN is "not tested": stays NaN and is not counted. */
void stats__holm(const double *p, size_t n, double *adjusted);	/* Holm 1979 */
void stats__bh(const double *p, size_t n, double *adjusted);	/* Benjamini & Hochberg 1995 */

/*
 * Smallest detectable effect, in multiples of the common standard deviation (of logs, for a ratio:
 * about the CV), that Welch's test at two-sided level alpha finds with the given power, noise being
 * normal. By quadrature over the arms' sample variances, relative error < 2 %. NaN if impossible.
 */
double stats__mde_welch(size_t na, size_t nb, double alpha, double power);
/* The same for Student's test of n paired differences, in their standard deviation. */
double stats__mde_paired(size_t n, double alpha, double power);
/* Power of these tests at an effect in the same unit; absolute error < 0.01. NaN if impossible. */
double stats__power_welch(size_t na, size_t nb, double effect, double alpha);
double stats__power_paired(size_t n, double effect, double alpha);
/*
 * Smallest n of each arm (paired: of pairs) at which the effect, in the same unit, is found with
 * the given power; 0 if max is not enough. Its error is that of the power: one or two up to n = 50.
 */
size_t stats__needed(bool paired, double effect, double alpha, double power, size_t max);

/*
 * Trend of x, in order: Theil-Sen slope (Theil 1950; Sen 1968) and Kendall's test (Kendall 1938),
 * exact without ties up to n = 60, else normal with tie correction. n >= 3. All equal: tau 0, p 1.
 */
int stats__trend(const double *x, size_t n, struct stats_trend *out);

/*
 * mark[i] = the modified z of x[i], 0.6745 (x - median) / MAD, is beyond STATS_OUTLIER_Z (Iglewicz
 * & Hoaglin 1993). MAD 0: the mean absolute deviation / 0.7979 takes its place; 0 too: no marks.
 * Returns the number of marks. n < 3: none.
 */
size_t stats__outliers(const double *x, size_t n, bool *mark);

/*
 * Whether b spreads more or less than a: permutation of the absolute deviations from each arm's
 * median (Brown & Forsythe 1974, with permutation for F). na, nb >= 3. Logs: relative spread.
 */
int stats__spread(const double *a, size_t na, const double *b, size_t nb, struct stats_spread *out);

#endif /* MIGRC_ANALYSIS_STATS_H */
