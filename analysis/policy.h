/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The gate's policy: an INI file in which every section, key and value must be known.
 *
 *	[gate]		baseline, arms, workloads, against-arm, design, inconclusive, confidence, level,
 *			power, margin, min-effect
 *	[limits]	lost-events, invalid-runs, min-runs, spread, spread-growth, held-memory
 *	[metric KEY]	primary, better, margin, min-effect, max, min, workload
 */
#ifndef MIGRC_ANALYSIS_POLICY_H
#define MIGRC_ANALYSIS_POLICY_H

#include "analysis/model.h"

/* What an inconclusive result is for the job: an exit code of its own (3), a pass, a failure. */
enum policy_inconclusive { POLICY_OWN_CODE, POLICY_PASS, POLICY_FAIL };
enum policy_design { POLICY_ANY_DESIGN, POLICY_PAIRED };

/* What the gate asks of a metric beyond its an_rule of the same index; NaN: nothing. */
struct policy_rule {
	int line;		/* of its section, for messages */
	double max, min;	/* of an arm's mean, in the metric's unit */
};

/* A list of words and where it stands in the file. */
struct policy_words {
	char **word;
	size_t nr;
	int line;
};

struct policy {
	char *path;
	struct an_policy an;	/* an.rules is rules below */
	struct an_rule *rules;
	struct policy_rule *extra;
	size_t nr;		/* of both */
	struct policy_words baseline, arms, workloads, against_arm;
	enum policy_inconclusive inconclusive;
	enum policy_design design;
	/* Limits; NaN: none. Shares are parts of 1, held memory is in bytes. */
	double lost_events, invalid_runs, min_runs, spread, spread_growth, held_memory;
};

/*
 * Read a policy. 0 and *policy, which policy__free() frees; or a negative errno and *msg (to be
 * freed): one line, "FILE:LINE: what; remedy", with the nearest known word where one is not known.
 */
int policy__load(const char *path, struct policy **policy, char **msg);
void policy__free(struct policy *policy);

/*
 * Whether every metric of the policy is one of the model, in each workload that it is for. 0, or
 * -ENOENT and *msg as above.
 */
int policy__check(const struct policy *policy, const struct an_model *model, char **msg);

/* Metric of that key in the first of the model's workloads that has it; else NULL and *msg. */
const struct an_metric *policy__metric(const struct an_model *model, const char *key, char **msg);

/* Number of single-character edits that turn one word into the other (Levenshtein 1966). */
size_t policy__distance(const char *x, const char *y);

#endif /* MIGRC_ANALYSIS_POLICY_H */
