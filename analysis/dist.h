/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Distributions that the tests of stats.h need. Pure: no I/O, no state. Every function takes and
 * returns plain numbers; an argument outside its domain gives NaN. The error bounds are those that
 * tests/unit/test_an_stats.c checks against R (tests/fixtures/analysis/golden.txt).
 */
#ifndef MIGRC_ANALYSIS_DIST_H
#define MIGRC_ANALYSIS_DIST_H

/* Standard normal: P(Z <= z), absolute error < 1e-15; and its inverse, relative error < 1e-9. */
double dist__norm_cdf(double z);
double dist__norm_quantile(double p);

/*
 * Regularised incomplete beta I_x(a, b), a, b > 0, 0 <= x <= 1: continued fraction, evaluated by
 * Lentz's method (DLMF 8.17.22). Absolute error < 1e-12 for a, b up to 1e4.
 */
double dist__beta_cdf(double x, double a, double b);
double dist__beta_quantile(double p, double a, double b);

/* Regularised lower incomplete gamma P(a, x) (DLMF 8.11.4, 8.9.2), absolute error < 1e-12. */
double dist__gamma_cdf(double x, double a);

/* Chi-squared with df > 0 degrees of freedom; the quantile to 1e-10 of itself. */
double dist__chi2_cdf(double x, double df);
double dist__chi2_quantile(double p, double df);

/*
 * Student's t with df > 0 (not necessarily whole) degrees of freedom. CDF: absolute error < 1e-12.
 * Quantile: relative error < 1e-9 for 1e-8 <= p <= 1 - 1e-8. Tail: P(|T| >= |t|), which keeps its
 * relative precision where 1 - CDF would not.
 */
double dist__t_cdf(double t, double df);
double dist__t_tail2(double t, double df);
double dist__t_quantile(double p, double df);

#endif /* MIGRC_ANALYSIS_DIST_H */
