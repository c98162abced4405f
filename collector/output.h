/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The workload's stdout on its way through: protocol lines are kept, all else is passed on as it
 * comes, so that progress without newlines is seen at once. Adapters look at the lines in passing.
 */
#ifndef MIGRC_OUTPUT_H
#define MIGRC_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "collector/adapter.h"
#include "collector/results.h"

/* A histogram of the finest layout with every bin in use fits. */
#define OUTPUT__LINE_MAX (1U << 20)

struct output {
	int to_fd;		/* where the rest goes */
	char *line;		/* the line at hand */
	size_t len, cap;
	size_t passed;		/* bytes of it that were passed on */
	bool too_long;		/* it outgrew OUTPUT__LINE_MAX: passed on, not parsed */
	int write_err;		/* first error of writing to to_fd, a negative errno; 0: none */
	unsigned int nr_bad;	/* malformed protocol lines */
	char first_bad[200];
	struct results results;
	struct adapter adapter;
};

/* 0 or -ENOMEM. */
int output__init(struct output *o, int to_fd, enum adapter_kind adapter,
		 const struct metric_rules *rules);
/* 0 or -ENOMEM. */
int output__feed(struct output *o, const char *data, size_t len);
/* The stream has ended: a last line without newline counts. 0 or -ENOMEM. */
int output__finish(struct output *o);
void output__free(struct output *o);

#endif /* MIGRC_OUTPUT_H */
