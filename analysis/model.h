/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The comparison model: what the table, the report and the gate are all written from. Built
 * once from the runs of a database; holds every number that any output shows, and no markup.
 *
 * A compare is one workload. Its arm 0 is the baseline; every other arm is judged against it. The
 * unit of replication is the boot: runs of one arm in one boot are averaged into one value, unless
 * the boot is shared between arms (a switch flipped in one boot), which is warned about.
 */
#ifndef MIGRC_ANALYSIS_MODEL_H
#define MIGRC_ANALYSIS_MODEL_H

#include "analysis/rundb.h"
#include "analysis/stats.h"

enum an_group {
	AN_OUTCOME,	/* what the workload said, wall time */
	AN_FLUSH,	/* TLB flushes and the interrupts they cause */
	AN_MIGRATION,
	AN_DEFERRAL,	/* the patch's own counters */
	AN_HELD,	/* memory held back */
	AN_PROBE,	/* counted by the probes */
	AN_LATENCY,	/* percentiles of histograms */
};

enum an_better { AN_NONE, AN_LOWER, AN_HIGHER };

enum an_verdict {
	AN_IMPROVED,
	AN_REGRESSED,
	AN_UP,			/* as improved and regressed, of a metric that has no better */
	AN_DOWN,
	AN_EQUIVALENT,
	AN_INCONCLUSIVE,
	AN_NOT_JUDGED,
	AN_ABSENT,		/* in one of the two arms, or in both */
};

/* What one metric needs, where a policy file says so. */
struct an_rule {
	char *key;		/* of the metric */
	char *workload;		/* NULL: of every workload */
	bool primary;
	enum an_better better;	/* AN_NONE: as the metric has it */
	double margin, min_effect;	/* as those of the policy */
};

/* What a verdict needs; fixed before the data. */
struct an_policy {
	double conf;		/* of intervals: 0.95 */
	double level;		/* of primary metrics, after Holm: 0.05 */
	double bh_level;	/* of explanatory metrics, after Benjamini-Hochberg: 0.10 */
	double min_effect;	/* smallest change that counts: 0.02 of the baseline */
	double margin;		/* equivalence: within 0.05 of the baseline, either way */
	double power;		/* of the smallest detectable effect: 0.80 */
	const struct an_rule *rules;	/* if any: they alone say what is primary */
	size_t nr_rules;
	bool joint;		/* Holm's correction is over all workloads at once */
};

/* The t result without the runs that are marked as outliers. */
struct an_without {
	size_t runs;		/* left out; 0: nothing was, and the rest is not set */
	size_t n_base, n_arm;
	double est, lo, hi, p;	/* as in an_effect; p without correction */
	bool differs;		/* of this and the full interval one is clear of no effect */
};

extern const struct an_policy an_default_policy;

/* One metric in one arm, against the baseline. */
struct an_effect {
	enum an_verdict verdict;
	char why[96];		/* of "inconclusive", "not judged", "absent"; else "" */
	bool has_est;		/* est is set; lo, hi are NaN with fewer than two values an arm */
	bool is_ratio;		/* ratio of geometric means; else difference of means, same unit */
	bool paired;
	bool degenerate;	/* no spread at all: p is the permutation test's */
	bool disagree;		/* one of t and rank interval is clear of no effect, one not */
	size_t n_base, n_arm;	/* values; of pairs both are their number */
	double est, lo, hi;
	double hl_est, hl_lo, hl_hi, hl_conf;
	double se, df, p, p_adjusted, p_tost;
	double p_perm;		/* of primary metrics and degenerate ones; else NaN */
	bool perm_exact;
	double sd;		/* of pairs, or common to both arms; on the scale of se */
	double margin;		/* of equivalence, on the scale of se */
	double detectable;	/* smallest detectable effect, part of the baseline; NaN unknown */
	size_t needed;		/* units an arm that would decide; 0: decided, or unknown */
	struct an_without without;	/* primary metrics only */
	double spread, p_spread; /* MAD ratio on logs, its p; NaN unknown */
};

/* One metric in one arm, by itself. */
struct an_summary {
	size_t n, missing;	/* valid runs that have it and that have not */
	double mean, median, min, max, sd;
	size_t outliers;
	bool has_trend;
	struct stats_trend trend;	/* on logs if has_log; in order of the runs */
	bool trend_log;
};

struct an_metric {
	char *key;		/* "vmstat.nr_tlb_remote_flush/1000" and the like: unique, stable */
	char *label, *unit;	/* unit: ns, bytes, count, or the workload's own */
	enum an_group group;
	enum an_better better;
	bool is_time, primary, per_1000;
	double margin, min_effect;	/* the policy's, or its rule's */
	double published;	/* ratio that the posted evaluation shows; NaN if none */
	double *value;		/* by run of the compare; NaN: absent */
	bool *outlier;		/* by run */
	struct an_summary *arm;	/* by arm */
	struct an_effect *effect;	/* by arm; [0] is not used */
};

struct an_arm {
	const char *name;
	size_t nr_runs, nr_valid, nr_boots;
	size_t blocks_complete, blocks;	/* against the baseline */
	bool paired;
	char *design;		/* in words: how this arm is compared with the baseline, and why */
};

/* A run of the compare. */
struct an_run {
	const struct rd_run *rd;
	size_t arm;		/* SIZE_MAX: of no selected arm */
	bool valid;
	size_t unit;		/* within its arm; valid runs only */
};

struct an_mismatch {
	char *what;		/* the fact, or "checksum NAME" */
	char *detail;		/* which arm or run has which value */
	bool checksum;		/* results differ: never allowed */
};

/*
 * Multiples of the standard deviation already worked out, for the same sizes come again and again.
 */
struct an_mde {
	bool paired;
	size_t na, nb;
	double alpha, mult;
};

struct an_compare {
	const char *workload;
	size_t nr_arms, nr_runs, nr_metrics, nr_mismatches, nr_warnings;
	struct an_arm *arms;
	struct an_run *runs;	/* in order */
	struct an_metric *metrics;	/* primary first, then by group */
	struct an_mismatch *mismatches;
	char **warnings;
	bool emulated;
	size_t family;		/* tests that Holm corrects for; joint: those of all workloads */
	size_t nr_mde;
	struct an_mde *mde;
	const struct an_policy *policy;
};

struct an_model {
	const struct rundb *db;
	size_t nr;
	struct an_compare *compares;	/* one per workload */
};

struct an_options {
	const char *baseline;		/* NULL: stock, else the first arm */
	const char *const *workloads;	/* NULL: all */
	size_t nr_workloads;
	const char *const *arms;	/* NULL: all */
	size_t nr_arms;
	const struct an_policy *policy;	/* NULL: an_default_policy */
};

/*
 * 0 and *model, which points into db and is freed by model__free(); or -ENOENT and *msg (one line,
 * to be freed) when a baseline, arm or workload is named that the database does not have.
 */
int model__build(const struct rundb *db, const struct an_options *opt, struct an_model **model,
		 char **msg);
void model__free(struct an_model *model);

/* Metric by key, NULL if absent. */
const struct an_metric *compare__metric(const struct an_compare *c, const char *key);
/* Results differ between arms, or an arm has no valid run: nothing may be concluded (exit 4). */
bool compare__invalid(const struct an_compare *c);
/* Must-match facts differ: refused without --allow-mismatch. */
bool compare__mismatched(const struct an_compare *c);
/* Mean over an arm's valid runs; NaN if absent. */
double compare__mean(const struct an_compare *c, size_t arm, const char *key);

const char *verdict__name(enum an_verdict v);

#endif /* MIGRC_ANALYSIS_MODEL_H */
