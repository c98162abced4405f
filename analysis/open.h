/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What compare and report have in common: options to a model, the mismatch rule, the exit code. */
#ifndef MIGRC_ANALYSIS_OPEN_H
#define MIGRC_ANALYSIS_OPEN_H

#include <argp.h>

#include "analysis/model.h"

struct open_options {
	const char *db;
	const char *baseline, *workload;
	const char **arms;
	size_t nr_arms;
	bool allow_mismatch, json;
};

/* Parser of -d, --baseline, --arm, --workload, --allow-mismatch: a child of the command's argp. */
extern const struct argp open_argp;

struct opened {
	struct rundb *db;
	struct an_model *model;
};

/*
 * Load and build; EXIT_GOOD, or the exit code after having said what is wrong: EXIT_TOOL, or
 * EXIT_INVALID with the list when what must match does not and that is not allowed.
 */
int open__model(const struct open_options *opt, struct opened *o);
void open__close(struct opened *o);
/* EXIT_INVALID if any comparison is invalid, else EXIT_GOOD. */
int open__exit_code(const struct an_model *model);
/* Write all of text to the file, or stdout for NULL; EXIT_GOOD or EXIT_TOOL after an error. */
int open__write(const char *path, const char *text, size_t len);

#endif /* MIGRC_ANALYSIS_OPEN_H */
