// SPDX-License-Identifier: GPL-2.0-or-later
/* What a reader must be told beside the numbers: drift, outliers, disagreement, what is missing. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/effect.h"
#include "analysis/sbuf.h"
#include "analysis/words.h"

#define DRIFT_LEVEL	0.05
#define SPREAD_LEVEL	0.05

static void warn_of_arm(struct an_compare *c, const struct an_metric *m, size_t arm)
{
	const struct an_summary *s = &m->arm[arm];

	double slope = s->trend_log ? expm1(s->trend.slope) * 100 : s->trend.slope;

	if (s->has_trend && s->trend.p <= DRIFT_LEVEL)
		compare__warn(c, sbuf__format("%s drifts over the runs of %s (Kendall tau %+.2f, p %.2g, %+.2g%s per run)",
					      m->label, c->arms[arm].name, s->trend.tau, s->trend.p,
					      slope, s->trend_log ? " %" : ""));
	if (s->outliers)
		compare__warn(c, sbuf__format("%s of %s has %zu outlier%s (marked, not removed)",
					      m->label,
					      c->arms[arm].name, s->outliers,
					      s->outliers == 1 ? "" : "s"));
	if (s->n && s->missing)
		compare__warn(c, sbuf__format("%s is absent in %zu of %zu valid runs of %s",
					      m->label,
					      s->missing, s->n + s->missing, c->arms[arm].name));
}

/* The result without the marked runs, beside that with them. */
static void warn_of_outliers(struct an_compare *c, const struct an_metric *m, size_t arm)
{
	const struct an_effect *e = &m->effect[arm];
	const struct an_without *w = &e->without;
	struct an_effect alone = *e;
	char *full = words__change(m, e), *range = words__interval(m, e), *change, *narrow;

	alone.est = w->est;
	alone.lo = w->lo;
	alone.hi = w->hi;
	change = words__change(m, &alone);
	narrow = words__interval(m, &alone);
	compare__warn(c, sbuf__format("%s, %s: %s %s with all runs, %s %s without the %zu outlying run%s%s",
				      m->label, c->arms[arm].name, full, range, change, narrow,
				      w->runs, w->runs == 1 ? "" : "s", w->differs ?
				      ": whether there is a change hangs on them" : ""));
	free(full);
	free(range);
	free(change);
	free(narrow);
}

static void warn_of_effect(struct an_compare *c, const struct an_metric *m, size_t arm)
{
	const struct an_effect *e = &m->effect[arm];

	if (e->disagree)
		compare__warn(c, sbuf__format("%s, %s: the t interval and the rank interval disagree on whether there is a change; look at the runs",
					      m->label, c->arms[arm].name));
	if (e->without.runs)
		warn_of_outliers(c, m, arm);
	if (e->p_spread <= SPREAD_LEVEL)
		compare__warn(c, sbuf__format("%s, %s: the spread between runs changed (MAD x %.3g, p %.2g)",
					      m->label, c->arms[arm].name, e->spread, e->p_spread));
}

/* A question that was meant to be answered and cannot be: say so, and why. */
static void warn_of_missing(struct an_compare *c)
{
	const struct an_metric *pages = compare__metric(c, "vmstat.pgmigrate_success");
	bool moved = false;

	for (size_t a = 0; a < c->nr_arms && pages; a++)
		moved |= pages->arm[a].max > 0;
	if (!compare__metric(c, "vmstat.nr_tlb_remote_flush"))
		compare__warn(c, mem__strdup("remote TLB flushes are absent: these kernels do not count them (CONFIG_DEBUG_TLBFLUSH), so nothing is said about them"));
	if (!pages)
		compare__warn(c, mem__strdup("migrated pages are absent: these kernels do not count them, so there is no rate per migrated page"));
	else if (!moved)
		compare__warn(c, mem__strdup("no run migrated a page, so there is no rate per migrated page and nothing that deferral could change"));
}

/* perf scales up what it did not count all the time: that is an estimate, and worth a word. */
static void warn_of_multiplexing(struct an_compare *c)
{
	double least = 1;
	const char *name = NULL;

	for (size_t i = 0; i < c->nr_runs; i++) {
		const struct rd_run *rd = c->runs[i].rd;

		for (size_t k = 0; c->runs[i].valid && k < rd->nr_perf; k++) {
			if (!(rd->perf[k].share < least))
				continue;
			least = rd->perf[k].share;
			name = rd->perf[k].name;
		}
	}
	if (name)
		compare__warn(c, sbuf__format("perf shared counters between events: %s was counted %.3g %% of the time and scaled up",
					      name, least * 100));
}

/* A count of interrupts that is low because the hypervisor did the work is no gain of an arm. */
static void warn_of_hidden_interrupts(struct an_compare *c)
{
	if (!compare__metric(c, "interrupts.TLB") && !compare__metric(c, "interrupts.CAL"))
		return;
	for (size_t i = 0; i < c->nr_runs; i++) {
		const char *offer = run__fact(c->runs[i].rd, "paravirt_tlb_flush");

		if (!c->runs[i].valid || !offer || strcmp(offer, "offered"))
			continue;
		compare__warn(c, mem__strdup("the hypervisor offers to flush TLBs of virtual CPUs that do not run (paravirt_tlb_flush): such flushes raise no interrupt, so the TLB and CAL rows of /proc/interrupts show fewer flushes than there were; nr_tlb_remote_flush counts them"));
		return;
	}
}

void effect__warn(struct an_compare *c)
{
	warn_of_missing(c);
	warn_of_multiplexing(c);
	warn_of_hidden_interrupts(c);
	for (size_t i = 0; i < c->nr_metrics && c->metrics[i].primary; i++) {
		for (size_t a = 0; a < c->nr_arms; a++)
			warn_of_arm(c, &c->metrics[i], a);
		for (size_t a = 1; a < c->nr_arms; a++)
			warn_of_effect(c, &c->metrics[i], a);
	}
}
