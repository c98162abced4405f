// SPDX-License-Identifier: GPL-2.0-or-later
/* Estimates, tests and corrections; the contract of each is in stats.h. */
#include "analysis/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/dist.h"

#define MW_EXACT_MAX		50	/* per arm: the table of counts grows as n^3 */
#define KENDALL_EXACT_MAX	60
#define POWER_NODES		100

static int cmp_double(const void *l, const void *r)
{
	double x = *(const double *)l, y = *(const double *)r;

	return (x > y) - (x < y);
}

static bool all_finite(const double *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isfinite(x[i]))
			return false;
	return true;
}

static int check(const double *x, size_t n, size_t need, double conf)
{
	if (!x && n)
		return -EINVAL;
	if (!(conf > 0 && conf < 1) || !all_finite(x, n))
		return -EINVAL;
	return n < need ? -ENODATA : 0;
}

static int check2(const double *a, size_t na, const double *b, size_t nb, size_t need, double conf)
{
	int err = check(a, na, need, conf), err_b = check(b, nb, need, conf);

	/* Bad values are said before missing ones, whichever arm has them. */
	if (err == -EINVAL || err_b == -EINVAL)
		return -EINVAL;
	return err ? err : err_b;
}

/* --- summaries -------------------------------------------------------------------------------- */

double stats__mean(const double *x, size_t n)
{
	double sum = 0, rest = 0, mean;

	if (!n)
		return NAN;
	for (size_t i = 0; i < n; i++)
		sum += x[i];
	mean = sum / n;
	/* A second pass takes back most of what rounding lost in the first. */
	for (size_t i = 0; i < n; i++)
		rest += x[i] - mean;
	return mean + rest / n;
}

double stats__sd(const double *x, size_t n)
{
	double mean, ss = 0;

	if (n < 2)
		return NAN;
	mean = stats__mean(x, n);
	for (size_t i = 0; i < n; i++)
		ss += (x[i] - mean) * (x[i] - mean);
	return sqrt(ss / (n - 1));
}

static double median_sorted(const double *x, size_t n)
{
	return n % 2 ? x[n / 2] : x[n / 2 - 1] / 2 + x[n / 2] / 2;
}

double stats__median(const double *x, size_t n)
{
	double *s, m;

	if (!n)
		return NAN;
	s = malloc(n * sizeof(*s));
	if (!s)
		return NAN;
	memcpy(s, x, n * sizeof(*s));
	qsort(s, n, sizeof(*s), cmp_double);
	m = median_sorted(s, n);
	free(s);
	return m;
}

double stats__mad(const double *x, size_t n)
{
	double *dev, med, m;

	if (!n)
		return NAN;
	dev = malloc(n * sizeof(*dev));
	if (!dev)
		return NAN;
	med = stats__median(x, n);
	for (size_t i = 0; i < n; i++)
		dev[i] = fabs(x[i] - med);
	m = stats__median(dev, n);
	free(dev);
	return m;
}

int stats__log(const double *x, size_t n, double *out)
{
	if ((!x || !out) && n)
		return -EINVAL;
	for (size_t i = 0; i < n; i++) {
		if (!isfinite(x[i]))
			return -EINVAL;
		if (x[i] <= 0)
			return -EDOM;
		out[i] = log(x[i]);
	}
	return 0;
}

/* Logs of both arms in one allocation, *la then *lb; the caller frees *la. */
static int log_both(const double *a, size_t na, const double *b, size_t nb, double **la,
		    double **lb)
{
	int err;

	if ((!a && na) || (!b && nb))
		return -EINVAL;
	*la = malloc((na + nb + 1) * sizeof(double));
	if (!*la)
		return -ENOMEM;
	*lb = *la + na;
	err = stats__log(a, na, *la);
	if (!err)
		err = stats__log(b, nb, *lb);
	if (err) {
		free(*la);
		*la = NULL;
	}
	return err;
}

/* --- t methods -------------------------------------------------------------------------------- */

static void fill_t(struct stats_est *out, double est, double se, double df, double conf)
{
	double half = se > 0 ? se * dist__t_quantile(1 - (1 - conf) / 2, df) : 0;

	*out = (struct stats_est){
		.est = est, .lo = est - half, .hi = est + half, .se = se, .df = df,
		.p = se > 0 ? dist__t_tail2(est / se, df) : NAN,
	};
}

int stats__welch(const double *a, size_t na, const double *b, size_t nb, double conf,
		 struct stats_est *out)
{
	int err = check2(a, na, b, nb, 2, conf);
	double va, vb, df;

	if (err || !out)
		return err ? err : -EINVAL;
	va = pow(stats__sd(a, na), 2) / na;
	vb = pow(stats__sd(b, nb), 2) / nb;
	df = va + vb > 0 ? (va + vb) * (va + vb) / (va * va / (na - 1) + vb * vb / (nb - 1))
			 : (double)(na + nb - 2);
	/* Variances so small that their squares underflow: the formula gives 0 / 0. */
	if (!isfinite(df) || df <= 0)
		df = (na < nb ? na : nb) - 1;
	fill_t(out, stats__mean(b, nb) - stats__mean(a, na), sqrt(va + vb), df, conf);
	return 0;
}

/* A difference of logs and its interval become a ratio and its interval. */
static void ratio_of_logs(double *est, double *lo, double *hi)
{
	*est = exp(*est);
	*lo = exp(*lo);
	*hi = exp(*hi);
}

int stats__welch_ratio(const double *a, size_t na, const double *b, size_t nb, double conf,
		       struct stats_est *out)
{
	double *la = NULL, *lb;
	int err = log_both(a, na, b, nb, &la, &lb);

	if (!err)
		err = stats__welch(la, na, lb, nb, conf, out);
	free(la);
	if (err)
		return err;
	ratio_of_logs(&out->est, &out->lo, &out->hi);
	return 0;
}

int stats__paired_t(const double *d, size_t n, double conf, struct stats_est *out)
{
	int err = check(d, n, 2, conf);

	if (err || !out)
		return err ? err : -EINVAL;
	fill_t(out, stats__mean(d, n), stats__sd(d, n) / sqrt(n), n - 1, conf);
	return 0;
}

/* --- ranks ------------------------------------------------------------------------------------ */

/*
 * P(U = u) for u = 0..na*nb under no effect, by the recursion on the largest value: it is of a with
 * probability na / (na + nb) and then beats all nb values of b. Probabilities, not counts, so that
 * nothing overflows and nothing cancels.
 */
static double *mann_whitney_table(size_t na, size_t nb)
{
	size_t len = na * nb + 1;
	double *p = calloc((nb + 1) * len, sizeof(*p));	/* p[j * len + u], for the current i */

	if (!p)
		return NULL;
	for (size_t j = 0; j <= nb; j++)
		p[j * len] = 1;
	for (size_t i = 1; i <= na; i++) {
		for (size_t j = 1; j <= nb; j++) {
			double of_a = (double)i / (i + j);

			for (size_t u = i * j + 1; u-- > 0; ) {
				double less = u <= i * (j - 1) ? p[(j - 1) * len + u] : 0;
				double beat = u >= j ? p[j * len + u - j] : 0;

				p[j * len + u] = of_a * beat + (1 - of_a) * less;
			}
		}
	}
	memmove(p, p + nb * len, len * sizeof(*p));
	return p;
}

/* P(W = w) for w = 0..n(n+1)/2, W the sum of ranks 1..n that a fair coin picks. */
static double *signed_rank_table(size_t n)
{
	size_t len = n * (n + 1) / 2 + 1, top = 0;
	double *p = calloc(len, sizeof(*p));

	if (!p)
		return NULL;
	p[0] = 1;
	for (size_t rank = 1; rank <= n; rank++) {
		top += rank;
		for (size_t w = top + 1; w-- > 0; )
			p[w] = (p[w] + (w >= rank ? p[w - rank] : 0)) / 2;
	}
	return p;
}

/*
 * The interval that a symmetric discrete statistic on 0..len-1 leaves when inverted on the sorted
 * differences s (len - 1 of them): cut k from either end, the largest k with P(X < k) <= alpha / 2.
 */
static void invert(const double *prob, size_t len, const double *s, double conf,
		   struct stats_rank *out)
{
	double below = 0, alpha = 1 - conf;
	size_t k = 0;

	while (k < (len - 1) / 2 + 1 && below + prob[k] <= alpha / 2 * (1 + 1e-12))
		below += prob[k++];
	if (k == 0 || k > (len - 1 + 1) / 2) {
		out->lo = -INFINITY;
		out->hi = INFINITY;
		out->conf = 0;
		return;
	}
	out->lo = s[k - 1];
	out->hi = s[len - 1 - k];
	out->conf = 1 - 2 * below;
}

/* The same by the normal approximation of a statistic with this variance. */
static void invert_normal(double var, size_t len, const double *s, double conf,
			  struct stats_rank *out)
{
	double k = floor((len - 1) / 2.0 - dist__norm_quantile(1 - (1 - conf) / 2) * sqrt(var));

	if (k < 1) {
		out->lo = -INFINITY;
		out->hi = INFINITY;
		out->conf = 0;
		return;
	}
	out->lo = s[(size_t)k - 1];
	out->hi = s[len - 1 - (size_t)k];
	out->conf = conf;
}

/* Two-sided p of value x of a symmetric statistic on 0..len-1. */
static double tail2(const double *prob, size_t len, double x)
{
	double low = fmin(x, (double)(len - 1) - x), sum = 0;

	for (size_t i = 0; i < len && (double)i <= low + 1e-9; i++)
		sum += prob[i];
	return fmin(1, 2 * sum);
}

struct tagged {
	double v;
	size_t i;
};

static int cmp_tagged(const void *l, const void *r)
{
	const struct tagged *x = l, *y = r;

	if (x->v != y->v)
		return x->v < y->v ? -1 : 1;
	return (x->i > y->i) - (x->i < y->i);
}

/* Midranks of x, 1-based; *ties tells whether any two are equal. */
static int midranks(const double *x, size_t n, double *rank, bool *ties)
{
	struct tagged *t = malloc((n + 1) * sizeof(*t));

	if (!t)
		return -ENOMEM;
	*ties = false;
	for (size_t i = 0; i < n; i++)
		t[i] = (struct tagged){ x[i], i };
	qsort(t, n, sizeof(*t), cmp_tagged);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && t[end].v == t[i].v; end++)
			*ties = true;
		for (size_t k = i; k < end; k++)
			rank[t[k].i] = (i + 1 + end) / 2.0;
	}
	free(t);
	return 0;
}

/* p of the Mann-Whitney test: from the table without ties, by permuting midranks with them. */
static int mann_whitney_p(const double *a, size_t na, const double *b, size_t nb,
			  const double *prob, struct stats_rank *out)
{
	size_t n = na + nb;
	double *x = malloc(2 * n * sizeof(*x)), *rank, sum = 0, u, mu = na * nb / 2.0;
	struct stats_perm perm;
	bool ties;
	int err;

	if (!x)
		return -ENOMEM;
	rank = x + n;
	memcpy(x, a, na * sizeof(*x));
	memcpy(x + na, b, nb * sizeof(*x));
	err = midranks(x, n, rank, &ties);
	if (err)
		goto cleanup;
	for (size_t i = 0; i < na; i++)
		sum += rank[i];
	u = sum - na * (na + 1) / 2.0;
	if (ties) {
		err = stats__perm(rank, na, rank + na, nb, &perm);
		out->p = err ? NAN : perm.p;
		out->exact = !err && perm.exact && prob;
	} else if (prob) {
		out->p = tail2(prob, na * nb + 1, u);
		out->exact = true;
	} else {
		double z = fmax(0, fabs(u - mu) - 0.5) / sqrt(na * nb * (n + 1) / 12.0);

		out->p = fmin(1, 2 * dist__norm_cdf(-z));
		out->exact = false;
	}
cleanup:
	free(x);
	return err;
}

int stats__hl(const double *a, size_t na, const double *b, size_t nb, double conf,
	      struct stats_rank *out)
{
	int err = check2(a, na, b, nb, 1, conf);
	double *diff, *prob = NULL;

	if (err || !out)
		return err ? err : -EINVAL;
	diff = malloc(na * nb * sizeof(*diff));
	if (!diff)
		return -ENOMEM;
	for (size_t i = 0; i < na; i++)
		for (size_t j = 0; j < nb; j++)
			diff[i * nb + j] = b[j] - a[i];
	qsort(diff, na * nb, sizeof(*diff), cmp_double);
	out->est = median_sorted(diff, na * nb);
	if (na <= MW_EXACT_MAX && nb <= MW_EXACT_MAX) {
		prob = mann_whitney_table(na, nb);
		if (!prob) {
			err = -ENOMEM;
			goto cleanup;
		}
		invert(prob, na * nb + 1, diff, conf, out);
	} else {
		invert_normal(na * nb * (na + nb + 1) / 12.0, na * nb + 1, diff, conf, out);
	}
	err = mann_whitney_p(a, na, b, nb, prob, out);
cleanup:
	free(prob);
	free(diff);
	return err;
}

int stats__hl_ratio(const double *a, size_t na, const double *b, size_t nb, double conf,
		    struct stats_rank *out)
{
	double *la = NULL, *lb;
	int err = log_both(a, na, b, nb, &la, &lb);

	if (!err)
		err = stats__hl(la, na, lb, nb, conf, out);
	free(la);
	if (err)
		return err;
	ratio_of_logs(&out->est, &out->lo, &out->hi);
	return 0;
}

/* p of the signed-rank test on the differences that are not 0. */
static int signed_rank_p(const double *d, size_t n, struct stats_rank *out)
{
	double *size = malloc(3 * n * sizeof(*size)), *rank, *kept, *prob = NULL, w = 0;
	struct stats_perm perm;
	size_t m = 0;
	bool ties;
	int err;

	if (!size)
		return -ENOMEM;
	rank = size + n;
	kept = rank + n;
	for (size_t i = 0; i < n; i++)
		if (d[i] != 0)
			kept[m++] = d[i];
	for (size_t i = 0; i < m; i++)
		size[i] = fabs(kept[i]);
	err = midranks(size, m, rank, &ties);
	if (err || !m) {
		out->p = 1;
		out->exact = true;
		goto cleanup;
	}
	for (size_t i = 0; i < m; i++) {
		w += kept[i] > 0 ? rank[i] : 0;
		kept[i] = kept[i] > 0 ? rank[i] : -rank[i];
	}
	if (ties) {
		err = stats__perm_paired(kept, m, &perm);
		out->p = err ? NAN : perm.p;
		out->exact = !err && perm.exact;
		goto cleanup;
	}
	prob = signed_rank_table(m);
	if (!prob) {
		err = -ENOMEM;
		goto cleanup;
	}
	out->p = tail2(prob, m * (m + 1) / 2 + 1, w);
	out->exact = true;
cleanup:
	free(prob);
	free(size);
	return err;
}

int stats__hl_paired(const double *d, size_t n, double conf, struct stats_rank *out)
{
	int err = check(d, n, 1, conf);
	size_t len = n * (n + 1) / 2, k = 0;
	double *walsh, *prob;

	if (err || !out)
		return err ? err : -EINVAL;
	walsh = malloc(len * sizeof(*walsh));
	prob = signed_rank_table(n);
	if (!walsh || !prob) {
		err = -ENOMEM;
		goto cleanup;
	}
	for (size_t i = 0; i < n; i++)
		for (size_t j = i; j < n; j++)
			walsh[k++] = d[i] / 2 + d[j] / 2;
	qsort(walsh, len, sizeof(*walsh), cmp_double);
	out->est = median_sorted(walsh, len);
	invert(prob, len + 1, walsh, conf, out);
	err = signed_rank_p(d, n, out);
cleanup:
	free(prob);
	free(walsh);
	return err;
}

/* --- permutation ------------------------------------------------------------------------------ */

/* SplitMix64 (Steele, Lea & Flood 2014): small, and any seed is a good one. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/* Uniform in 0..n-1; the bias is below n / 2^64. */
static size_t random_below(uint64_t *state, size_t n)
{
	return (size_t)(((unsigned __int128)next_random(state) * n) >> 64);
}

/* n over k, or infinity once it is beyond the limit of what is enumerated. */
static double arrangements(size_t n, size_t k)
{
	double c = 1;

	if (k > n - k)
		k = n - k;
	for (size_t i = 1; i <= k; i++) {
		c = c * (n - k + i) / i;
		if (c > 10.0 * STATS_EXACT_LIMIT)
			return INFINITY;
	}
	return round(c);
}

/* Step idx to the next k-subset of 0..n-1 in lexicographic order; false after the last. */
static bool next_subset(size_t *idx, size_t k, size_t n)
{
	for (size_t i = k; i-- > 0; ) {
		if (idx[i] < n - k + i) {
			idx[i]++;
			for (size_t j = i + 1; j < k; j++)
				idx[j] = idx[j - 1] + 1;
			return true;
		}
	}
	return false;
}

/* |sum of a k-subset - its expectation| orders arrangements as |difference of means| does. */
static double perm_exact(const double *x, size_t n, size_t k, double centre, double seen)
{
	size_t *idx = malloc((k + 1) * sizeof(*idx));
	double hits = 0, all = 0;

	if (!idx)
		return NAN;
	for (size_t i = 0; i < k; i++)
		idx[i] = i;
	do {
		double sum = 0;

		for (size_t i = 0; i < k; i++)
			sum += x[idx[i]];
		hits += fabs(sum - centre) >= seen;
		all++;
	} while (next_subset(idx, k, n));
	free(idx);
	return hits / all;
}

static double perm_sampled(double *x, size_t n, size_t k, double centre, double seen)
{
	uint64_t state = STATS_SEED;
	double hits = 0;

	for (int draw = 0; draw < STATS_DRAWS; draw++) {
		double sum = 0;

		/* The first k places of a Fisher-Yates shuffle are a uniform k-subset. */
		for (size_t i = 0; i < k; i++) {
			size_t j = i + random_below(&state, n - i);
			double t = x[i];

			x[i] = x[j];
			x[j] = t;
			sum += x[i];
		}
		hits += fabs(sum - centre) >= seen;
	}
	return (hits + 1) / (STATS_DRAWS + 1);
}

int stats__perm(const double *a, size_t na, const double *b, size_t nb, struct stats_perm *out)
{
	int err = check2(a, na, b, nb, 1, 0.5);
	size_t n = na + nb, k = na < nb ? na : nb;
	double *x, mean, sum = 0, scale = 0, seen, count;

	if (err || !out)
		return err ? err : -EINVAL;
	x = malloc(n * sizeof(*x));
	if (!x)
		return -ENOMEM;
	/* The smaller arm first, so that its subsets are what is enumerated. */
	memcpy(x, na <= nb ? a : b, k * sizeof(*x));
	memcpy(x + k, na <= nb ? b : a, (n - k) * sizeof(*x));
	mean = stats__mean(x, n);
	for (size_t i = 0; i < n; i++) {
		x[i] -= mean;
		scale += fabs(x[i]);
		sum += i < k ? x[i] : 0;
	}
	/* Sums that are equal but for rounding count as equal, or p would depend on the order. */
	seen = fabs(sum) - 1e-10 * scale;
	count = arrangements(n, k);
	out->exact = count <= STATS_EXACT_LIMIT;
	out->arrangements = out->exact ? count : STATS_DRAWS;
	out->p = out->exact ? perm_exact(x, n, k, 0, seen) : perm_sampled(x, n, k, 0, seen);
	free(x);
	return isnan(out->p) ? -ENOMEM : 0;
}

int stats__perm_paired(const double *d, size_t n, struct stats_perm *out)
{
	int err = check(d, n, 1, 0.5);
	double sum = 0, scale = 0, hits = 0, seen;
	uint64_t state = STATS_SEED, count;

	if (err || !out)
		return err ? err : -EINVAL;
	for (size_t i = 0; i < n; i++) {
		sum += d[i];
		scale += fabs(d[i]);
	}
	seen = fabs(sum) - 1e-10 * scale;
	out->exact = n < 64 && (1ULL << n) <= STATS_EXACT_LIMIT;
	count = out->exact ? 1ULL << n : STATS_DRAWS;
	for (uint64_t k = 0; k < count; k++) {
		uint64_t signs = k;
		double s = 0;

		for (size_t i = 0; i < n; i++) {
			if (!out->exact && i % 64 == 0)
				signs = next_random(&state);
			s += signs >> (i % 64) & 1 ? d[i] : -d[i];
		}
		hits += fabs(s) >= seen;
	}
	out->arrangements = count;
	out->p = out->exact ? hits / count : (hits + 1) / (count + 1);
	return 0;
}

/* --- equivalence, corrections, power ---------------------------------------------------------- */

double stats__tost(double est, double se, double df, double margin)
{
	double lower, upper;

	if (!isfinite(est) || !(se >= 0) || !(margin > 0))
		return NAN;
	if (se == 0)
		return fabs(est) < margin ? 0 : 1;
	lower = 1 - dist__t_cdf((est + margin) / se, df);
	upper = dist__t_cdf((est - margin) / se, df);
	return fmax(lower, upper);
}

/* Places of the p-values that are numbers, smallest p first; their count in *m. */
static struct tagged *order_p(const double *p, size_t n, size_t *m)
{
	struct tagged *t = malloc((n + 1) * sizeof(*t));

	*m = 0;
	if (!t)
		return NULL;
	for (size_t i = 0; i < n; i++)
		if (!isnan(p[i]))
			t[(*m)++] = (struct tagged){ p[i], i };
	qsort(t, *m, sizeof(*t), cmp_tagged);
	return t;
}

void stats__holm(const double *p, size_t n, double *adjusted)
{
	size_t m;
	struct tagged *t = order_p(p, n, &m);
	double floor_p = 0;

	for (size_t i = 0; i < n; i++)
		adjusted[i] = NAN;
	for (size_t k = 0; t && k < m; k++) {
		floor_p = fmax(floor_p, fmin(1, t[k].v * (m - k)));
		adjusted[t[k].i] = floor_p;
	}
	free(t);
}

void stats__bh(const double *p, size_t n, double *adjusted)
{
	size_t m;
	struct tagged *t = order_p(p, n, &m);
	double ceil_p = 1;

	for (size_t i = 0; i < n; i++)
		adjusted[i] = NAN;
	for (size_t k = m; t && k-- > 0; ) {
		ceil_p = fmin(ceil_p, t[k].v * m / (k + 1));
		adjusted[t[k].i] = ceil_p;
	}
	free(t);
}

/* The grid of one power computation: the t statistic's critical value times its standard error. */
struct power_grid {
	size_t rows, cols;
	double unit;				/* standard deviation of the estimate, sd = 1 */
	double cut[POWER_NODES][POWER_NODES];	/* reject when |estimate| is beyond this */
};

static double grid__power(const struct power_grid *g, double effect)
{
	double sum = 0;

	for (size_t i = 0; i < g->rows; i++)
		for (size_t j = 0; j < g->cols; j++)
			sum += dist__norm_cdf((effect - g->cut[i][j]) / g->unit) +
			       dist__norm_cdf((-effect - g->cut[i][j]) / g->unit);
	return sum / (g->rows * g->cols);
}

static double grid__solve(const struct power_grid *g, double power)
{
	double lo = 0, hi = g->unit;

	while (grid__power(g, hi) < power) {
		hi *= 2;
		if (hi > 1e9)
			return NAN;
	}
	while (hi - lo > 1e-6 * hi) {
		double mid = (lo + hi) / 2;

		if (grid__power(g, mid) < power)
			lo = mid;
		else
			hi = mid;
	}
	return (lo + hi) / 2;
}

/*
 * With equal true variances the sum S of both sums of squares is chi-squared and independent of the
 * first arm's share r of it, which is beta; Welch's degrees of freedom depend on r alone. So the
 * power is the mean over equally likely values of r and of S, taken at the middles of their bins.
 */
static struct power_grid *grid__welch(size_t na, size_t nb, double alpha)
{
	struct power_grid *g = malloc(sizeof(*g));
	double da = (double)na - 1, db = (double)nb - 1;

	if (!g)
		return NULL;
	g->rows = g->cols = POWER_NODES;
	g->unit = sqrt(1.0 / na + 1.0 / nb);
	for (size_t i = 0; i < g->rows; i++) {
		double r = dist__beta_quantile((i + 0.5) / g->rows, da / 2, db / 2);
		double va = r / (da * na), vb = (1 - r) / (db * nb);
		double df = (va + vb) * (va + vb) / (va * va / da + vb * vb / db);
		double crit = dist__t_quantile(1 - alpha / 2, df) * sqrt(va + vb);

		for (size_t j = 0; j < g->cols; j++)
			g->cut[i][j] = crit;
	}
	for (size_t j = 0; j < g->cols; j++) {
		double root = sqrt(dist__chi2_quantile((j + 0.5) / g->cols, da + db));

		for (size_t i = 0; i < g->rows; i++)
			g->cut[i][j] *= root;
	}
	return g;
}

static struct power_grid *grid__paired(size_t n, double alpha)
{
	struct power_grid *g = malloc(sizeof(*g));
	double df = (double)n - 1, crit = dist__t_quantile(1 - alpha / 2, df);

	if (!g)
		return NULL;
	g->rows = 1;
	g->cols = POWER_NODES;
	g->unit = sqrt(1.0 / n);
	for (size_t j = 0; j < g->cols; j++) {
		double s2 = dist__chi2_quantile((j + 0.5) / g->cols, df) / df;

		g->cut[0][j] = crit * sqrt(s2 / n);
	}
	return g;
}

double stats__mde_welch(size_t na, size_t nb, double alpha, double power)
{
	struct power_grid *g;
	double mde;

	if (na < 2 || nb < 2 || !(alpha > 0 && alpha < 1) || !(power > alpha && power < 1))
		return NAN;
	g = grid__welch(na, nb, alpha);
	mde = g ? grid__solve(g, power) : NAN;
	free(g);
	return mde;
}

double stats__mde_paired(size_t n, double alpha, double power)
{
	struct power_grid *g;
	double mde;

	if (n < 2 || !(alpha > 0 && alpha < 1) || !(power > alpha && power < 1))
		return NAN;
	g = grid__paired(n, alpha);
	mde = g ? grid__solve(g, power) : NAN;
	free(g);
	return mde;
}

double stats__power_welch(size_t na, size_t nb, double effect, double alpha)
{
	struct power_grid *g;
	double power;

	if (na < 2 || nb < 2 || !(alpha > 0 && alpha < 1) || !isfinite(effect))
		return NAN;
	g = grid__welch(na, nb, alpha);
	power = g ? grid__power(g, fabs(effect)) : NAN;
	free(g);
	return power;
}

double stats__power_paired(size_t n, double effect, double alpha)
{
	struct power_grid *g;
	double power;

	if (n < 2 || !(alpha > 0 && alpha < 1) || !isfinite(effect))
		return NAN;
	g = grid__paired(n, alpha);
	power = g ? grid__power(g, fabs(effect)) : NAN;
	free(g);
	return power;
}

static bool enough(bool paired, size_t n, double effect, double alpha, double power)
{
	return (paired ? stats__power_paired(n, effect, alpha)
		       : stats__power_welch(n, n, effect, alpha)) >= power;
}

size_t stats__needed(bool paired, double effect, double alpha, double power, size_t max)
{
	size_t lo = 1, hi = 2;

	/* Power grows with n: double until there is enough of it, then halve the last step. */
	while (hi <= max && !enough(paired, hi, effect, alpha, power)) {
		lo = hi;
		hi *= 2;
	}
	if (hi > max && (lo >= max || !enough(paired, hi = max, effect, alpha, power)))
		return 0;
	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;

		if (enough(paired, mid, effect, alpha, power))
			hi = mid;
		else
			lo = mid;
	}
	return hi;
}

/* --- order, outliers, spread ------------------------------------------------------------------ */

/*
 * Two-sided p of Kendall's S without ties: the number of discordant pairs of a random order has the
 * distribution of a sum of independent uniforms on 0..i, i = 0..n-1.
 */
static double kendall_exact(size_t n, double discordant)
{
	size_t len = n * (n - 1) / 2 + 1, top = 0;
	double *p = calloc(2 * len, sizeof(*p)), *q, *swap, *base = p, result;

	if (!p)
		return NAN;
	q = p + len;
	p[0] = 1;
	for (size_t i = 1; i < n; i++) {
		double window = 0;

		for (size_t d = 0; d <= top + i; d++) {
			window += d <= top ? p[d] : 0;
			window -= d > i ? p[d - i - 1] : 0;
			q[d] = fmax(0, window) / (i + 1);
		}
		top += i;
		swap = p;
		p = q;
		q = swap;
	}
	result = tail2(p, len, discordant);
	free(base);
	return result;
}

/* Kendall (1970), 4.3: variance of S with ties in x alone (order has none). */
static double kendall_normal(const double *sorted, size_t n, double s)
{
	double var = n * (n - 1.0) * (2.0 * n + 5);

	for (size_t i = 0, end; i < n; i = end) {
		double t;

		for (end = i + 1; end < n && sorted[end] == sorted[i]; end++)
			;
		t = end - i;
		var -= t * (t - 1) * (2 * t + 5);
	}
	if (var <= 0)
		return 1;
	return fmin(1, 2 * dist__norm_cdf(-fmax(0, fabs(s) - 1) / sqrt(var / 18)));
}

int stats__trend(const double *x, size_t n, struct stats_trend *out)
{
	int err = check(x, n, 3, 0.5);
	double *slope, conc = 0, disc = 0, pairs = n * (n - 1.0) / 2;
	size_t k = 0;

	if (err || !out)
		return err ? err : -EINVAL;
	slope = malloc((size_t)(pairs + n) * sizeof(*slope));
	if (!slope)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		for (size_t j = i + 1; j < n; j++) {
			slope[k++] = (x[j] - x[i]) / (j - i);
			conc += x[j] > x[i];
			disc += x[j] < x[i];
		}
	}
	out->slope = stats__median(slope, k);
	out->tau = conc + disc > 0 ? (conc - disc) / sqrt((conc + disc) * pairs) : 0;
	out->exact = conc + disc == pairs && n <= KENDALL_EXACT_MAX;
	if (out->exact) {
		out->p = kendall_exact(n, disc);
	} else {
		memcpy(slope, x, n * sizeof(*x));
		qsort(slope, n, sizeof(*x), cmp_double);
		out->p = kendall_normal(slope, n, conc - disc);
	}
	free(slope);
	return isnan(out->p) ? -ENOMEM : 0;
}

size_t stats__outliers(const double *x, size_t n, bool *mark)
{
	double med, scale = 0;
	size_t marked = 0;

	for (size_t i = 0; i < n; i++)
		mark[i] = false;
	if (n < 3 || !all_finite(x, n))
		return 0;
	med = stats__median(x, n);
	scale = stats__mad(x, n) / 0.6745;
	if (!(scale > 0)) {
		double sum = 0;

		for (size_t i = 0; i < n; i++)
			sum += fabs(x[i] - med);
		scale = sum / n / 0.7979;
	}
	if (!(scale > 0))
		return 0;
	for (size_t i = 0; i < n; i++) {
		mark[i] = fabs(x[i] - med) / scale > STATS_OUTLIER_Z;
		marked += mark[i];
	}
	return marked;
}

int stats__spread(const double *a, size_t na, const double *b, size_t nb, struct stats_spread *out)
{
	int err = check2(a, na, b, nb, 3, 0.5);
	double *dev, med_a, med_b, mad_a;
	struct stats_perm perm;

	if (err || !out)
		return err ? err : -EINVAL;
	dev = malloc((na + nb) * sizeof(*dev));
	if (!dev)
		return -ENOMEM;
	med_a = stats__median(a, na);
	med_b = stats__median(b, nb);
	for (size_t i = 0; i < na; i++)
		dev[i] = fabs(a[i] - med_a);
	for (size_t j = 0; j < nb; j++)
		dev[na + j] = fabs(b[j] - med_b);
	mad_a = stats__median(dev, na);
	out->ratio = mad_a > 0 ? stats__median(dev + na, nb) / mad_a : NAN;
	err = stats__perm(dev, na, dev + na, nb, &perm);
	out->p = perm.p;
	out->exact = perm.exact;
	free(dev);
	return err;
}
