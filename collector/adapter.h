/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What programs that do not know migrc say of themselves on stdout: the real XSBench and pmbench,
 * and any line that a rule of the user's finds a number in.
 */
#ifndef MIGRC_ADAPTER_H
#define MIGRC_ADAPTER_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

#include "collector/pmbench.h"
#include "collector/results.h"
#include "collector/xsbench.h"

/* Longer lines are not searched: a pattern may take long over them. */
#define ADAPTER__LINE_MAX 65536

/* NAME=REGEX[:UNIT:higher|lower|none]: the last line that matches gives the metric its value. */
struct metric_rule {
	char name[RESULT_NAME_MAX];
	char unit[32];
	const char *better;
	bool is_time;		/* by its unit: ns, us, ms, s, or something per s */
	regex_t regex;		/* extended; its first group, or all that it matches */
};

struct metric_rules {
	struct metric_rule *rule;
	size_t nr;
};

/* 0, -EINVAL (what is wrong is in why), -EEXIST (a rule of that name is there), -ENOMEM. */
int metric_rules__add(struct metric_rules *r, const char *arg, char *why, size_t size);
void metric_rules__free(struct metric_rules *r);

enum adapter_kind { ADAPTER_AUTO, ADAPTER_XSBENCH, ADAPTER_PMBENCH, ADAPTER_NONE };

/* false: no adapter of that name. */
bool adapter_kind__find(const char *name, enum adapter_kind *kind);
const char *adapter_kind__name(enum adapter_kind kind);

struct adapter {
	enum adapter_kind wanted;
	const struct metric_rules *rules;	/* may be NULL */
	double *value;				/* by rule */
	bool *found;
	struct xsbench xsbench;
	struct pmbench pmbench;
};

/* 0 or -ENOMEM. */
int adapter__init(struct adapter *a, enum adapter_kind wanted, const struct metric_rules *rules);
/* One line of output that is not the protocol's, without its newline. 0 or -ENOMEM. */
int adapter__line(struct adapter *a, const char *line);
/*
 * Whose output it was: the one that was asked for, or the one that is recognised (ADAPTER_NONE: no
 * one's). A workload that speaks the protocol is not recognised as another: our own programs print
 * lines like those of the originals, and their exit status means what it says.
 */
enum adapter_kind adapter__kind(const struct adapter *a, const struct results *r);
/* Did that program finish its work, whatever its exit status? */
bool adapter__is_success(const struct adapter *a, enum adapter_kind kind);
/* Add what that program and the rules' lines told. 0, -EINVAL, or -ENOMEM. */
int adapter__results(struct adapter *a, enum adapter_kind kind, struct results *r);
void adapter__free(struct adapter *a);

#endif /* MIGRC_ADAPTER_H */
