/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs of before as the baseline of today's: two databases become one comparison. */
#ifndef MIGRC_ANALYSIS_HISTORY_H
#define MIGRC_ANALYSIS_HISTORY_H

#include "analysis/rundb.h"

/*
 * Leave in db its runs of `arm`, and move those that `from` has of `stored` in the same workloads
 * into it, before them and under another name: *name, "ARM of FILE" with the last part of path (to
 * be freed). Blocks are dropped, for those of two plans are not pairs. 0; -ENOENT: one of the two
 * has no run of its arm; -EEXIST: a run is in both. Then *msg (to be freed) says so in one line, and
 * both databases are only fit to be freed.
 */
int history__join(struct rundb *db, const char *arm, struct rundb *from, const char *stored,
		  const char *path, char **name, char **msg);

#endif /* MIGRC_ANALYSIS_HISTORY_H */
