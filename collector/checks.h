/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rules that make a run invalid, as far as one run can tell. Pure: numbers in, verdicts out. */
#ifndef MIGRC_CHECKS_H
#define MIGRC_CHECKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/probes.h"

struct broken_rule {
	const char *rule;
	char detail[400];
};

#define CHECKS__MAX 16

struct checks {
	struct broken_rule broken[CHECKS__MAX];
	size_t nr;
	unsigned int identities, identities_broken;	/* checked, and of these broken */
};

/* Note that a rule is broken; a second time adds to its detail. */
void checks__break(struct checks *c, const char *rule, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * identity: entries = exits + in flight + without exit, of each timed probe; seen = submitted +
 * sampled out + lost, of each probe with raw events; received = submitted, over all. received is
 * what came out of the ring.
 */
void checks__identities(struct checks *c, const struct probe_status *const *probes, size_t nr,
			bool events, uint64_t received);

/* lost-events: events lost and program runs skipped, over max_share of all that a probe saw. */
void checks__losses(struct checks *c, const struct probe_status *const *probes, size_t nr,
		    double max_share);

/* kernel-splat: a warning, an oops, a lockup, a bad page tainted the kernel during the run. */
void checks__taint(struct checks *c, unsigned long long before, unsigned long long after);

#endif /* MIGRC_CHECKS_H */
