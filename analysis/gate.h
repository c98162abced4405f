/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a model and a policy to a decision: one line per thing that was asked, and an exit code. */
#ifndef MIGRC_ANALYSIS_GATE_H
#define MIGRC_ANALYSIS_GATE_H

#include "analysis/doc.h"
#include "analysis/model.h"
#include "analysis/policy.h"
#include "analysis/sbuf.h"

/* In the order in which one prevails over another. */
enum gate_state { GATE_GOOD, GATE_INCONCLUSIVE, GATE_REGRESSION, GATE_INVALID, GATE_ERROR };

struct gate_line {
	enum gate_state state;
	char *workload, *arm;	/* "" where it is of all */
	char *what;		/* a metric's key, or what was checked */
	char *says;		/* one line */
	const struct an_metric *metric;	/* of a verdict; else NULL */
	const struct an_effect *effect;
};

struct gate {
	size_t nr, tests;	/* lines; tests that Holm corrected for */
	struct gate_line *line;
	enum gate_state state;
	int exit;
	const struct an_model *model;	/* for its warnings; may be NULL */
	const char *policy;		/* file name */
};

/* Decide; the lines point into the model. gate__free() frees the lines. */
void gate__decide(struct gate *g, const struct policy *p, const struct an_model *model);
/* What could not be decided at all: the message is the one line, exit the code. Takes msg over. */
void gate__fail(struct gate *g, int exit_code, char *msg);
/* A file that was asked for is not there: an error, whatever was decided. */
void gate__unwritten(struct gate *g);
void gate__free(struct gate *g);

const char *gate__state_name(enum gate_state state);
/* "regression (1 of 4), exit 1" in a new string. */
char *gate__summary(const struct gate *g);

/* gate_output.c: each adds the whole output. */
void gate__text(const struct gate *g, struct doc *d);	/* DOC_TEXT */
void gate__junit(const struct gate *g, struct sbuf *out);
void gate__json(const struct gate *g, struct sbuf *out);
void gate__markdown(const struct gate *g, struct sbuf *out);

#endif /* MIGRC_ANALYSIS_GATE_H */
