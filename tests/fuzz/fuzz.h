/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the fuzz targets have in common. Each is one file: LLVMFuzzerTestOneInput() parses its bytes as
 * the program parses a file, and traps where the result breaks a promise of the parser.
 */
#ifndef MIGRC_FUZZ_H
#define MIGRC_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/loglin.h"
#include "collector/results.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A promise that does not hold ends the target, as a fault would. */
#define PROMISE(condition)		\
	do {				\
		if (!(condition))	\
			abort();	\
	} while (0)

/* The input as a string of its own, so that a read beyond its end is one beyond an allocation. */
static inline char *fuzz__text(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	PROMISE(text);
	memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

/* Bins rise, lie in the layout and add up: whatever was parsed. */
static inline void fuzz__check_results(const struct results *r)
{
	for (size_t i = 0; i < r->nr_hists; i++) {
		const struct histogram *h = &r->hists[i];
		unsigned int end = 0;
		uint64_t total = 0;

		for (size_t k = 0; k < h->nr_bins; k++) {
			PROMISE(h->bins[k].bin >= end);
			end = h->bins[k].bin + (h->bins[k].span ? h->bins[k].span : 1);
			total += h->bins[k].n;
		}
		PROMISE(h->sub_bits <= 8 && end <= LOGLIN_BINS(h->sub_bits));
		PROMISE(total == h->total && total <= INT64_MAX);
	}
	for (size_t i = 0; i < r->nr_metrics; i++)
		PROMISE(r->metrics[i].value - r->metrics[i].value == 0);	/* finite */
}

#endif /* MIGRC_FUZZ_H */
