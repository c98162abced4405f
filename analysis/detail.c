// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/detail.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/sbuf.h"
#include "bpf/loglin.h"

#define MAX_CPUS	8192	/* more than any kernel has: a damaged name must not take the memory */

const struct detail_cut detail_cuts[DETAIL_CUTS] = {
	{ "p50", 0.5 }, { "p99", 0.99 }, { "p99.9", 0.999 }, { "max", 1 },
};

const struct detail_latency detail_latencies[] = {
	{ "flush", "TLB flush", { "tlbbatch_flush_ns", "mm_flush_ns" } },
	{ "write_fault", "write fault (do_wp_page)", { "wp_fault_ns" } },
	{ "write_fault_waited", "wait of a write fault for a flush", { "wp_fault_waited_ns" } },
	{ "allocation", "allocation in direct reclaim", { "direct_reclaim_ns" } },
};
const size_t detail_nr_latencies = sizeof(detail_latencies) / sizeof(detail_latencies[0]);

bool detail__counts(const struct an_compare *c, size_t run)
{
	return c->runs[run].valid && c->runs[run].arm != SIZE_MAX;
}

/* --- histograms ------------------------------------------------------------------------------- */

/* Counts of a source that was coarser than the layout stay as wide as they are. */
static bool keep_spans(struct detail_dist *d, const struct rd_hist *h)
{
	if (h->sub_bits != d->h.sub_bits)
		return false;
	if (!d->span)
		d->h.span = d->span = mem__calloc(d->h.nr, sizeof(*d->span));
	for (unsigned int k = 0; k < h->nr; k++)
		if (h->n[k] && h->span[k] > d->span[k])
			d->span[k] = h->span[k];
	return true;
}

static bool add_hist(struct detail_dist *d, const struct rd_hist *h)
{
	struct histo one = { h->sub_bits, h->nr, h->n, (uint64_t)(h->max > 0 ? h->max : 0), NULL };

	if ((h->span && !keep_spans(d, h)) || histo__add(&d->h, d->bins, &one))
		return false;
	d->runs++;
	return true;
}

/* Call for each histogram that is to be added; false ends it. */
static bool each_hist(const struct an_compare *c, size_t arm, const char *const *names,
		      struct detail_dist *d, bool (*call)(struct detail_dist *d,
							  const struct rd_hist *h))
{
	for (size_t i = 0; i < c->nr_runs; i++) {
		if (!detail__counts(c, i) || c->runs[i].arm != arm)
			continue;
		for (size_t k = 0; names[k]; k++) {
			const struct rd_hist *h = run__hist(c->runs[i].rd, names[k]);

			if (h && !call(d, h))
				return false;
		}
	}
	return true;
}

static bool coarsest(struct detail_dist *d, const struct rd_hist *h)
{
	if (!d->unit || h->sub_bits < d->h.sub_bits)
		d->h.sub_bits = h->sub_bits;
	d->unit = h->unit;
	return true;
}

bool detail__dist(const struct an_compare *c, size_t arm, const char *const *names,
		  struct detail_dist *out)
{
	*out = (struct detail_dist){ 0 };
	each_hist(c, arm, names, out, coarsest);
	if (!out->unit)
		return false;
	out->h.nr = LOGLIN_BINS(out->h.sub_bits);
	out->h.n = out->bins = mem__calloc(out->h.nr, sizeof(*out->bins));
	if (!each_hist(c, arm, names, out, add_hist) || !(out->total = histo__total(&out->h))) {
		detail__dist_free(out);
		return false;
	}
	for (size_t k = 0; k < DETAIL_CUTS; k++)
		histo__percentile(&out->h, detail_cuts[k].q, &out->cut[k]);
	return true;
}

void detail__dist_free(struct detail_dist *dist)
{
	free(dist->bins);
	free(dist->span);
	*dist = (struct detail_dist){ 0 };
}

/* --- interrupts by CPU ------------------------------------------------------------------------ */

/* Number of the CPU in "ROW/cpuN"; SIZE_MAX for every other name. */
static size_t cpu_of(const struct rd_counter *n, const char *row)
{
	size_t len = strlen(row);
	unsigned long cpu;
	char *end;

	if (strcmp(n->source, "interrupts") || strncmp(n->name, row, len) ||
	    strncmp(n->name + len, "/cpu", 4))
		return SIZE_MAX;
	cpu = strtoul(n->name + len + 4, &end, 10);
	return *end || end == n->name + len + 4 || cpu >= MAX_CPUS ? SIZE_MAX : cpu;
}

static size_t count_cpus(const struct an_compare *c, const char *row)
{
	size_t nr = 0;

	for (size_t i = 0; i < c->nr_runs; i++) {
		const struct rd_run *rd = c->runs[i].rd;

		for (size_t k = 0; k < rd->nr_counters && detail__counts(c, i); k++) {
			size_t cpu = cpu_of(&rd->counters[k], row);

			nr = cpu != SIZE_MAX && cpu >= nr ? cpu + 1 : nr;
		}
	}
	return nr;
}

void detail__cpus(const struct an_compare *c, struct detail_cpus *out)
{
	*out = (struct detail_cpus){ .row = "TLB", .nr = count_cpus(c, "TLB") };
	if (!out->nr)
		*out = (struct detail_cpus){ .row = "CAL", .nr = count_cpus(c, "CAL") };
	out->value = mem__calloc(c->nr_runs * out->nr, sizeof(*out->value));
	for (size_t i = 0; i < c->nr_runs * out->nr; i++)
		out->value[i] = NAN;
	for (size_t i = 0; i < c->nr_runs; i++) {
		const struct rd_run *rd = c->runs[i].rd;

		for (size_t k = 0; k < rd->nr_counters; k++) {
			const struct rd_counter *n = &rd->counters[k];
			size_t cpu = cpu_of(n, out->row);

			if (cpu < out->nr && n->after >= n->before)
				out->value[i * out->nr + cpu] = (double)n->after - (double)n->before;
		}
	}
}

void detail__cpus_free(struct detail_cpus *cpus)
{
	free(cpus->value);
	*cpus = (struct detail_cpus){ 0 };
}

double detail__cpu_mean(const struct an_compare *c, const struct detail_cpus *cpus, size_t arm,
			size_t cpu)
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < c->nr_runs; i++) {
		double v = cpus->value[i * cpus->nr + cpu];

		if (!detail__counts(c, i) || c->runs[i].arm != arm || isnan(v))
			continue;
		sum += v;
		n++;
	}
	return n ? sum / (double)n : NAN;
}

double detail__held_bytes(const struct an_compare *c, size_t arm)
{
	const struct an_metric *m = compare__metric(c, "held.max");
	double top = NAN;

	for (size_t i = 0; m && i < c->nr_runs; i++) {
		double size;

		if (!detail__counts(c, i) || c->runs[i].arm != arm || isnan(m->value[i]))
			continue;
		size = run__page_size(c->runs[i].rd);
		if (isnan(size))
			return NAN;
		top = fmax(top, m->value[i] * size);
	}
	return top;
}
