// SPDX-License-Identifier: GPL-2.0-or-later
/* Normal, beta, gamma, chi-squared and t distributions; see dist.h for domains and errors. */
#include "analysis/dist.h"

#include <float.h>
#include <math.h>

#define CF_MAX_STEPS	20000
#define CF_EPS		1e-15
#define TINY		1e-300

double dist__norm_cdf(double z)
{
	return 0.5 * erfc(-z / M_SQRT2);
}

/* Bisection would do, but Newton from a bisected start is exact to rounding in a few steps. */
double dist__norm_quantile(double p)
{
	double lo = -40, hi = 40;

	if (!(p >= 0 && p <= 1))
		return NAN;
	if (p == 0)
		return -INFINITY;
	if (p == 1)
		return INFINITY;
	/* Work in the lower tail, where the CDF has full relative precision. */
	if (p > 0.5)
		return -dist__norm_quantile(1 - p);
	while (hi - lo > 1e-13 * (1 + fabs(lo))) {
		double mid = (lo + hi) / 2;

		if (dist__norm_cdf(mid) < p)
			lo = mid;
		else
			hi = mid;
	}
	return (lo + hi) / 2;
}

static double keep_off_zero(double x)
{
	return fabs(x) < TINY ? TINY : x;
}

/* The continued fraction of DLMF 8.17.22; converges fast for x < (a + 1) / (a + b + 2). */
static double beta_fraction(double x, double a, double b)
{
	double c = 1, d = 1 / keep_off_zero(1 - (a + b) * x / (a + 1)), h = d;

	for (int m = 1; m <= CF_MAX_STEPS; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double step;

		d = 1 / keep_off_zero(1 + even * d);
		c = keep_off_zero(1 + even / c);
		h *= d * c;
		d = 1 / keep_off_zero(1 + odd * d);
		c = keep_off_zero(1 + odd / c);
		step = d * c;
		h *= step;
		if (fabs(step - 1) < CF_EPS)
			break;
	}
	return h;
}

/* lgamma() writes the global signgam; lgamma_r() does not. */
static double log_gamma(double x)
{
	int sign;

	return lgamma_r(x, &sign);
}

double dist__beta_cdf(double x, double a, double b)
{
	double front;

	if (!(a > 0 && b > 0) || isnan(x))
		return NAN;
	if (x <= 0)
		return 0;
	if (x >= 1)
		return 1;
	front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(x, a, b) / a;
	return 1 - front * beta_fraction(1 - x, b, a) / b;
}

double dist__beta_quantile(double p, double a, double b)
{
	double lo = 0, hi = 1;

	if (!(p >= 0 && p <= 1 && a > 0 && b > 0))
		return NAN;
	for (int i = 0; i < 200 && hi - lo > 1e-15 * hi; i++) {
		double mid = (lo + hi) / 2;

		if (dist__beta_cdf(mid, a, b) < p)
			lo = mid;
		else
			hi = mid;
	}
	return (lo + hi) / 2;
}

static double gamma_series(double x, double a)
{
	double term = 1 / a, sum = term;

	for (int k = 1; k <= CF_MAX_STEPS && term > sum * CF_EPS; k++) {
		term *= x / (a + k);
		sum += term;
	}
	return sum;
}

static double gamma_fraction(double x, double a)
{
	double b = x + 1 - a, c = 1 / TINY, d = 1 / keep_off_zero(b), h = d;

	for (int k = 1; k <= CF_MAX_STEPS; k++) {
		double an = -k * (k - a), step;

		b += 2;
		d = 1 / keep_off_zero(an * d + b);
		c = keep_off_zero(b + an / c);
		step = d * c;
		h *= step;
		if (fabs(step - 1) < CF_EPS)
			break;
	}
	return h;
}

double dist__gamma_cdf(double x, double a)
{
	double front;

	if (!(a > 0) || isnan(x))
		return NAN;
	if (x <= 0)
		return 0;
	if (isinf(x))
		return 1;
	front = exp(a * log(x) - x - log_gamma(a));
	if (x < a + 1)
		return front * gamma_series(x, a);
	return 1 - front * gamma_fraction(x, a);
}

double dist__chi2_cdf(double x, double df)
{
	return dist__gamma_cdf(x / 2, df / 2);
}

double dist__chi2_quantile(double p, double df)
{
	double lo = 0, hi = df + 10;

	if (!(p >= 0 && p <= 1 && df > 0))
		return NAN;
	if (p == 0)
		return 0;
	if (p == 1)
		return INFINITY;
	while (dist__chi2_cdf(hi, df) < p && hi < DBL_MAX / 4)
		hi *= 2;
	for (int i = 0; i < 300 && hi - lo > 1e-11 * hi; i++) {
		double mid = (lo + hi) / 2;

		if (dist__chi2_cdf(mid, df) < p)
			lo = mid;
		else
			hi = mid;
	}
	return (lo + hi) / 2;
}

/* P(|T| >= |t|) = I_{df / (df + t^2)}(df / 2, 1 / 2). */
double dist__t_tail2(double t, double df)
{
	if (!(df > 0) || isnan(t))
		return NAN;
	if (isinf(t))
		return 0;
	/* Near t = 0 the first argument would be 1 but for its last digits: take the complement. */
	if (t * t < 1)
		return 1 - dist__beta_cdf(t * t / (df + t * t), 0.5, df / 2);
	return dist__beta_cdf(df / (df + t * t), df / 2, 0.5);
}

double dist__t_cdf(double t, double df)
{
	double half = dist__t_tail2(t, df) / 2;

	return t < 0 ? half : 1 - half;
}

double dist__t_quantile(double p, double df)
{
	double lo = 0, hi = 1, tail;

	if (!(p >= 0 && p <= 1 && df > 0))
		return NAN;
	if (p == 0.5)
		return 0;
	if (p == 0 || p == 1)
		return p == 0 ? -INFINITY : INFINITY;
	if (p > 0.5)
		return -dist__t_quantile(1 - p, df);
	tail = 2 * p;
	while (dist__t_tail2(hi, df) > tail && hi < 1e150)
		hi *= 2;
	for (int i = 0; i < 300 && hi - lo > 1e-11 * hi; i++) {
		double mid = (lo + hi) / 2;

		if (dist__t_tail2(mid, df) > tail)
			lo = mid;
		else
			hi = mid;
	}
	return -(lo + hi) / 2;
}
