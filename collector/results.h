/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a workload says of itself: metrics, texts and histograms, from the protocol lines on its
 * stdout:
 *
 *	migrc: metric NAME VALUE UNIT higher|lower|none time|count
 *	migrc: text NAME VALUE
 *	migrc: hist NAME UNIT SUBBITS TOTAL SUM MAX BIN:N BIN:N ...
 */
#ifndef MIGRC_RESULTS_H
#define MIGRC_RESULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RESULT_NAME_MAX 64
#define RESULTS__PREFIX "migrc: "

struct metric {
	char name[RESULT_NAME_MAX];
	double value;
	char unit[32];
	const char *better;	/* higher, lower, none */
	bool is_time;
};

struct result_text {
	char name[RESULT_NAME_MAX];
	char *value;
};

struct hist_bin {
	unsigned int bin;
	unsigned int span;	/* bins that n covers from this one on; 0 is 1 */
	uint64_t n;
};

struct histogram {
	char name[RESULT_NAME_MAX + 16];
	char unit[32];
	unsigned int sub_bits;
	uint64_t total, sum, max;
	bool bins_only;		/* sum and max are not told */
	struct hist_bin *bins;	/* those that are not empty, in rising order */
	size_t nr_bins;
};

struct results {
	struct metric *metrics;
	size_t nr_metrics;
	struct result_text *texts;
	size_t nr_texts;
	struct histogram *hists;
	size_t nr_hists;
};

/*
 * One line of output, without its newline. 1: a protocol line, stored. 0: another line. -EINVAL: a
 * protocol line that is malformed (also: a histogram whose bins do not add up to its total).
 * -EEXIST: its name was there already. -ENOMEM.
 */
int results__parse_line(struct results *r, const char *line);

/* Names must be new (-EEXIST) and of [a-z0-9_./-] (-EINVAL), as must all that was parsed. */
int results__add_metric(struct results *r, const char *name, double value, const char *unit,
			const char *better, bool is_time);
int results__add_text(struct results *r, const char *name, const char *value);
/* Takes over h->bins, also on error. */
int results__add_hist(struct results *r, struct histogram *h);

void results__free(struct results *r);

#endif /* MIGRC_RESULTS_H */
