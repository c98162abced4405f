/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adapter for the output of the real XSBench (version 20). It exits 1 with INVALID CHECKSUM for any
 * options but its defaults: such a run is good if it said that it was complete and told its rate.
 */
#ifndef MIGRC_XSBENCH_H
#define MIGRC_XSBENCH_H

#include <stdbool.h>

#include "collector/results.h"

struct xsbench {
	bool complete;		/* "Simulation complete." */
	bool has_rate, has_runtime;
	double lookups_per_s;
	double runtime_s;
	char checksum[24];	/* "" if none was printed */
	bool checksum_valid;
};

/* One line of output, without its newline. Lines of other programs change nothing. */
void xsbench__line(struct xsbench *x, const char *line);
/* Did it finish its work, whatever its exit code? */
bool xsbench__is_success(const struct xsbench *x);
/* Add lookups_per_s, runtime, and texts checksum, checksum_valid. 0 or as results__add_*(). */
int xsbench__results(const struct xsbench *x, struct results *r);

#endif /* MIGRC_XSBENCH_H */
