// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "collector/checks.h"

void checks__break(struct checks *c, const char *rule, const char *fmt, ...)
{
	struct broken_rule *b = NULL;
	size_t i, len;
	va_list ap;

	for (i = 0; i < c->nr; i++)
		if (!strcmp(c->broken[i].rule, rule))
			b = &c->broken[i];
	if (!b) {
		if (c->nr == CHECKS__MAX)
			return;		/* more rules than there are; the run is invalid anyway */
		b = &c->broken[c->nr++];
		b->rule = rule;
		b->detail[0] = '\0';
	}
	if (b->detail[0])
		strncat(b->detail, "; ", sizeof(b->detail) - strlen(b->detail) - 1);
	len = strlen(b->detail);
	va_start(ap, fmt);
	vsnprintf(b->detail + len, sizeof(b->detail) - len, fmt, ap);
	va_end(ap);
}

/* Whether an identity holds, counted. */
static bool checks__identity(struct checks *c, bool holds)
{
	c->identities++;
	c->identities_broken += !holds;
	return holds;
}

void checks__identities(struct checks *c, const struct probe_status *const *probes, size_t nr,
			bool events, uint64_t received)
{
	uint64_t submitted = 0;
	size_t i;

	for (i = 0; i < nr; i++) {
		const struct probe_status *p = probes[i];
		const struct probe_count *n = &p->count;

		if (p->rung == RUNG_NONE)
			continue;
		submitted += n->submitted;
		if (!checks__identity(c, n->entries == n->exits + p->in_flight + n->no_exit +
					 n->no_exit_late))
			checks__break(c, "identity",
				      "%s: %llu entries, %llu exits, %llu in flight, %llu without exit",
				      p->name, (unsigned long long)n->entries,
				      (unsigned long long)n->exits,
				      (unsigned long long)p->in_flight,
				      (unsigned long long)(n->no_exit + n->no_exit_late));
		if (events &&
		    !checks__identity(c, n->seen == n->submitted + n->skipped + n->lost))
			checks__break(c, "identity",
				      "%s: %llu seen, %llu submitted, %llu sampled out, %llu lost",
				      p->name, (unsigned long long)n->seen,
				      (unsigned long long)n->submitted,
				      (unsigned long long)n->skipped,
				      (unsigned long long)n->lost);
	}
	if (events && !checks__identity(c, received == submitted))
		checks__break(c, "identity", "ring: %llu submitted, %llu received",
			      (unsigned long long)submitted, (unsigned long long)received);
}

/*
 * A program does not run inside itself: an interrupt that hits it while it runs on the same CPU, as
 * the IPI of one flush does while another is being counted, is missed. No ring or map that is larger
 * prevents it, and in a short run one of them is already more than the share that may be lost. So
 * this many misses of a probe are stored and shown, and do not make the run invalid.
 */
#define FEW_MISSES	3

void checks__losses(struct checks *c, const struct probe_status *const *probes, size_t nr,
		    double max_share)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		const struct probe_status *p = probes[i];
		uint64_t lost = p->count.lost + p->count.maps_full + p->count.by_full;

		if (lost || p->misses > FEW_MISSES)
			lost += p->misses;
		if (p->rung == RUNG_NONE || !lost)
			continue;
		if ((double)lost > max_share * (double)(p->count.seen + lost))
			checks__break(c, "lost-events", "%s: %llu of %llu lost", p->name,
				      (unsigned long long)lost,
				      (unsigned long long)(p->count.seen + lost));
	}
}

void checks__taint(struct checks *c, unsigned long long before, unsigned long long after)
{
	static const struct {
		unsigned int bit;
		const char *what;
	} splats[] = {
		{ 4, "machine check" }, { 5, "bad page" }, { 7, "oops" }, { 9, "warning" },
		{ 14, "lockup" },
	};
	size_t i;

	for (i = 0; i < sizeof(splats) / sizeof(splats[0]); i++)
		if ((after & ~before) >> splats[i].bit & 1)
			checks__break(c, "kernel-splat", "%s, see the kernel log", splats[i].what);
}
