/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows of a run, put within the caller's transaction, whoever gathered them. 0 or a negative errno
 * after an error was printed.
 */
#ifndef MIGRC_ROWS_H
#define MIGRC_ROWS_H

#include <stdint.h>

#include "collector/counters.h"
#include "collector/facts.h"
#include "collector/perfstat.h"
#include "collector/results.h"
#include "collector/run_args.h"
#include "collector/store.h"

/* before NULL: it counted from 0 with the run. */
int rows__put_counter(struct store *s, int64_t run_id, const char *source, const char *name,
		      const int64_t *before, int64_t after);
/* Both are sorted; a name that one of them lacks (a CPU that came or went) is left out. */
int rows__put_counters(struct store *s, int64_t run_id, struct snapshot *before,
		       struct snapshot *after);
int rows__put_hist(struct store *s, int64_t run_id, const char *name, const char *unit,
		   unsigned int sub_bits, uint64_t total, uint64_t sum, uint64_t max);
int rows__put_bin(struct store *s, int64_t run_id, const char *name, unsigned int bin, uint64_t n,
		  unsigned int span);
/* Metrics, texts and histograms. */
int rows__put_results(struct store *s, int64_t run_id, const struct results *res);
int rows__put_perf(struct store *s, int64_t run_id, const struct perfstat *perf);
int rows__put_labels(struct store *s, int64_t run_id, const struct label *labels, size_t nr);
int rows__put_facts(struct store *s, int64_t run_id, const struct facts *facts);

#endif /* MIGRC_ROWS_H */
