// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/sections.h"

static void refs(struct doc *d)
{
	static const char *const list[] = {
		"Welch, B. L. (1947). The generalization of \"Student's\" problem when several different population variances are involved. Biometrika 34.",
		"Hodges, J. L., Lehmann, E. L. (1963). Estimates of location based on rank tests. Annals of Mathematical Statistics 34.",
		"Mann, H. B., Whitney, D. R. (1947). On a test of whether one of two random variables is stochastically larger than the other. Annals of Mathematical Statistics 18.",
		"Wilcoxon, F. (1945). Individual comparisons by ranking methods. Biometrics Bulletin 1.",
		"Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6.",
		"Benjamini, Y., Hochberg, Y. (1995). Controlling the false discovery rate. Journal of the Royal Statistical Society B 57.",
		"Schuirmann, D. J. (1987). A comparison of the two one-sided tests procedure and the power approach. Journal of Pharmacokinetics and Biopharmaceutics 15.",
		"Georges, A., Buytaert, D., Eeckhout, L. (2007). Statistically rigorous Java performance evaluation. OOPSLA.",
		"Kalibera, T., Jones, R. (2013). Rigorous benchmarking in reasonable time. ISMM.",
		"Phipson, B., Smyth, G. K. (2010). Permutation p-values should never be zero. Statistical Applications in Genetics and Molecular Biology 9.",
		"Sen, P. K. (1968). Estimates of the regression coefficient based on Kendall's tau. Journal of the American Statistical Association 63.",
		"Iglewicz, B., Hoaglin, D. C. (1993). How to detect and handle outliers. ASQC.",
	};

	doc__list_begin(d);
	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		doc__item(d, "%s", list[i]);
	doc__list_end(d);
}

void section__method(struct doc *d, const struct an_policy *p)
{
	doc__heading(d, 2, "method", "Method");
	doc__para(d, DOC_PLAIN, "The unit of replication is the boot: runs of one arm in one boot are averaged. Where the plan ran the arms in blocks (ABBA), each block gives one pair, and the analysis is of pairs; else the arms are compared unpaired, and the report says so. Invalid runs are left out by rules fixed before the runs, and counted; outliers (modified z above %.1f on logarithms) are marked and stay in, and the result of primary metrics without them is given beside the full one.",
		  STATS_OUTLIER_Z);
	doc__para(d, DOC_PLAIN, "A metric that is positive in every run is compared as a ratio of geometric means: Student's (pairs) or Welch's t on logarithms gives the %.0f %% interval and p. A counter that is 0 in some run is compared as a difference of means. Beside it stands the Hodges-Lehmann estimate with the exact interval by ranks; where the two disagree on whether there is a change, a warning says so. The means in the tables are arithmetic, over all valid runs; a change need not be their exact quotient. Where all values of both arms are equal, t has no answer, and p is that of the exact permutation test.",
		  p->conf * 100);
	doc__para(d, DOC_PLAIN, "Verdicts of primary metrics: improved or regressed, if p after Holm's correction over all primary metrics and arms of the workload is at most %.2g, the interval is clear of no change, and the change is at least %.3g %%. Equivalent, if two one-sided tests put it within %.3g %% of the baseline. Else inconclusive, with the smallest change that these runs would have seen in %.0f %% of such experiments. How well all this works, by simulation, is in docs/method.md. With one run per arm there is no verdict. Other metrics explain; they are corrected by Benjamini and Hochberg at %.0f %%.",
		  p->level, p->min_effect * 100, p->margin * 100, p->power * 100,
		  p->bh_level * 100);
	doc__para(d, DOC_PLAIN, "Percentiles come from log-linear histograms: the true percentile lies in the bin shown, whose width is below 2^-k of its value (k sub-bits). Under software emulation times say nothing about real machines: they are shown and not judged. What a machine cannot tell is absent, which is not 0.");
	refs(d);
}
