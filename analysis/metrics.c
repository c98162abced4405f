// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/histo.h"
#include "analysis/sbuf.h"

const struct metrics_name metrics_refused[] = {
	{ "migrc_refused_writable", "mapped writable" },
	{ "migrc_refused_dirty", "read-only but dirty" },
	{ "migrc_refused_protnone", "hint-faulted (PROT_NONE) where another mapping was accessible" },
	{ "migrc_refused_file", "file or device pages whose writes cannot be caught" },
	{ "migrc_refused_large", "large folio" },
	{ "migrc_refused_cap", "the node's cap was reached" },
	{ "migrc_refused_pressure", "memory pressure" },
	{ "migrc_refused_other", "another reason" },
};
const size_t metrics_nr_refused = sizeof(metrics_refused) / sizeof(metrics_refused[0]);

const struct metrics_name metrics_released[] = {
	{ "migrc_released_flush", "a flush that happened anyway (free)" },
	{ "migrc_released_fault", "a write fault" },
	{ "migrc_released_write", "write(2) or truncation" },
	{ "migrc_released_alloc", "the allocator, short of pages" },
	{ "migrc_released_cap", "the cap of the node" },
	{ "migrc_released_timer", "the age timer" },
	{ "migrc_released_drain", "a drain or switching off" },
};
const size_t metrics_nr_released = sizeof(metrics_released) / sizeof(metrics_released[0]);

#define NOT_PUBLISHED	NAN
/* Migrated pages of the posted evaluation: its per-page ratios are ours, by division. */
#define PUB_MIGRATED	(30825530.0 / 26835314.0)

/*
 * Counters of /proc/vmstat worth a line. The published ratios are after / before of the table that
 * was posted with version 5 of the series (QEMU/KVM, one run each).
 */
static const struct vmstat_def {
	const char *name, *label;
	enum an_group group;
	enum an_better better;
	bool primary;		/* its rate per 1000 migrated pages is */
	double published;
} vmstat_defs[] = {
	{ "nr_tlb_remote_flush", "remote TLB flushes", AN_FLUSH, AN_LOWER, true,
	  198290.0 / 3031412.0 },
	{ "nr_tlb_remote_flush_received", "remote TLB flushes received", AN_FLUSH, AN_LOWER, true,
	  2820156.0 / 45234862.0 },
	{ "nr_tlb_local_flush_all", "local full flushes", AN_FLUSH, AN_LOWER, false,
	  92048.0 / 216584.0 },
	{ "nr_tlb_local_flush_one", "local one-page flushes", AN_FLUSH, AN_LOWER, false,
	  741401.0 / 740940.0 },
	{ "pgmigrate_success", "pages migrated", AN_MIGRATION, AN_NONE, false, PUB_MIGRATED },
	{ "pgmigrate_fail", "page migrations failed", AN_MIGRATION, AN_LOWER, false,
	 NOT_PUBLISHED },
	{ "numa_pages_migrated", "pages migrated by NUMA balancing", AN_MIGRATION, AN_NONE, false,
	  14897064.0 / 12790664.0 },
	{ "pgdemote_kswapd", "demoted by kswapd", AN_MIGRATION, AN_NONE, false, NOT_PUBLISHED },
	{ "pgdemote_direct", "demoted by direct reclaim", AN_MIGRATION, AN_NONE, false,
	  NOT_PUBLISHED },
	{ "pgdemote_khugepaged", "demoted by khugepaged", AN_MIGRATION, AN_NONE, false,
	  NOT_PUBLISHED },
	{ "pgpromote_success", "promoted", AN_MIGRATION, AN_NONE, false, NOT_PUBLISHED },
	{ "numa_hint_faults", "NUMA hint faults", AN_MIGRATION, AN_NONE, false, NOT_PUBLISHED },
};

#define NR_VMSTAT_DEFS	(sizeof(vmstat_defs) / sizeof(vmstat_defs[0]))

static struct an_metric *metric__get(struct an_compare *c, const char *key)
{
	struct an_metric *m;

	for (size_t i = 0; i < c->nr_metrics; i++)
		if (!strcmp(c->metrics[i].key, key))
			return &c->metrics[i];
	c->metrics = mem__grow(c->metrics, c->nr_metrics);
	m = &c->metrics[c->nr_metrics++];
	*m = (struct an_metric){ .key = mem__strdup(key), .published = NAN };
	m->value = mem__calloc(c->nr_runs, sizeof(*m->value));
	m->outlier = mem__calloc(c->nr_runs, sizeof(*m->outlier));
	for (size_t i = 0; i < c->nr_runs; i++)
		m->value[i] = NAN;
	return m;
}

/* What a metric is, apart from its values; key, label and unit are copied. */
struct spec {
	const char *label, *unit;
	enum an_group group;
	enum an_better better;
	bool is_time;
};

static struct an_metric *put(struct an_compare *c, size_t run, const char *key,
			     const struct spec *spec, double value)
{
	struct an_metric *m = metric__get(c, key);

	if (!m->label) {
		m->label = mem__strdup(spec->label);
		m->unit = mem__strdup(spec->unit);
		m->group = spec->group;
		m->better = spec->better;
		m->is_time = spec->is_time;
	}
	m->value[run] = value;
	return m;
}

static double migrated(const struct an_compare *c, size_t run)
{
	return run__delta(c->runs[run].rd, "vmstat", "pgmigrate_success");
}

/*
 * value per 1000 migrated pages beside the value itself: arms migrate different amounts. A run that
 * migrated nothing has no such rate. Returns NULL then.
 */
static struct an_metric *put_rate(struct an_compare *c, size_t run, const char *key,
				  const struct spec *spec, double value)
{
	double pages = migrated(c, run);
	char *rate_key, *label;
	struct an_metric *m;
	struct spec rate = *spec;

	if (!(pages > 0) || isnan(value))
		return NULL;
	rate_key = sbuf__format("%s/1000", key);
	label = sbuf__format("%s per 1000 migrated", spec->label);
	rate.label = label;
	m = put(c, run, rate_key, &rate, value / pages * 1000);
	m->per_1000 = true;
	free(rate_key);
	free(label);
	return m;
}

static void collect_vmstat(struct an_compare *c, const struct vmstat_def *def)
{
	struct spec spec = { def->label, "count", def->group, def->better, false };
	char *key = sbuf__format("vmstat.%s", def->name);

	for (size_t i = 0; i < c->nr_runs; i++) {
		double v = run__delta(c->runs[i].rd, "vmstat", def->name);
		struct an_metric *m;

		if (isnan(v))
			continue;
		put(c, i, key, &spec, v)->published = def->published;
		m = def->group == AN_FLUSH ? put_rate(c, i, key, &spec, v) : NULL;
		if (m) {
			m->primary = def->primary;
			m->published = def->published / PUB_MIGRATED;
		}
	}
	free(key);
}

/* The patch's counters: one line each, and rates, by the names that the kernel gives. */
static void collect_patch_counter(struct an_compare *c, const char *name, const char *label)
{
	struct spec spec = { label, "count", AN_DEFERRAL, AN_NONE, false };
	char *key = sbuf__format("vmstat.%s", name);

	for (size_t i = 0; i < c->nr_runs; i++) {
		double v = run__delta(c->runs[i].rd, "vmstat", name);

		if (isnan(v))
			continue;
		put(c, i, key, &spec, v);
		put_rate(c, i, key, &spec, v);
	}
	free(key);
}

/* A reason that the kernel at hand does not have has refused nothing. */
static double sum_present(double sum, double more)
{
	return isnan(more) ? sum : sum + more;
}

/* Sums of the patch's counters; absent where the kernel does not count deferrals. */
static void collect_eligible(struct an_compare *c)
{
	static const char *const able[] = { "migrc_refused_cap", "migrc_refused_pressure" };
	static const struct spec needing = { "folios needing a flush", "count", AN_DEFERRAL,
					    AN_NONE,
					     false };
	static const struct spec eligible = { "folios eligible", "count", AN_DEFERRAL, AN_NONE,
					     false };

	for (size_t i = 0; i < c->nr_runs; i++) {
		const struct rd_run *rd = c->runs[i].rd;
		double all = run__delta(rd, "vmstat", "migrc_deferred"), some = all;

		if (isnan(all))
			continue;
		for (size_t k = 0; k < metrics_nr_refused; k++)
			all = sum_present(all, run__delta(rd, "vmstat", metrics_refused[k].name));
		for (size_t k = 0; k < sizeof(able) / sizeof(able[0]); k++)
			some = sum_present(some, run__delta(rd, "vmstat", able[k]));
		put(c, i, "migrc.needing", &needing, all);
		put_rate(c, i, "migrc.needing", &needing, all);
		put(c, i, "migrc.eligible", &eligible, some);
		put_rate(c, i, "migrc.eligible", &eligible, some);
	}
}

static void collect_patch(struct an_compare *c)
{
	collect_eligible(c);
	collect_patch_counter(c, "migrc_deferred", "folios deferred");
	collect_patch_counter(c, "migrc_noflush", "folios with nothing stale");
	for (size_t k = 0; k < metrics_nr_refused; k++) {
		char *label = sbuf__format("refused: %s", metrics_refused[k].label);

		collect_patch_counter(c, metrics_refused[k].name, label);
		free(label);
	}
	for (size_t k = 0; k < metrics_nr_released; k++) {
		char *label = sbuf__format("released by %s", metrics_released[k].label);

		collect_patch_counter(c, metrics_released[k].name, label);
		free(label);
	}
	/* Batches, not folios: not a part of the sums above. */
	collect_patch_counter(c, "migrc_refused_nomem", "batches without memory to defer");
	collect_patch_counter(c, "migrc_flushes", "flushes that deferral paid itself");
	collect_patch_counter(c, "migrc_waits", "writers that had to wait");
}

static void collect_held(struct an_compare *c)
{
	static const struct spec max = { "held folios, most at once", "count", AN_HELD, AN_LOWER,
					false };
	static const struct spec mean = { "held folios, mean over time", "count", AN_HELD, AN_LOWER,
					  false };

	for (size_t i = 0; i < c->nr_runs; i++) {
		const struct rd_series *s = run__series(c->runs[i].rd, "vmstat",
							"nr_migrc_pending");
		double top = 0, sum = 0;

		if (!s || !s->nr)
			continue;
		for (size_t k = 0; k < s->nr; k++) {
			top = fmax(top, (double)s->point[k].value);
			sum += (double)s->point[k].value;
		}
		put(c, i, "held.max", &max, top);
		put(c, i, "held.mean", &mean, sum / s->nr);
	}
}

static bool ends_with(const char *s, const char *tail)
{
	size_t n = strlen(s), m = strlen(tail);

	return n >= m && !strcmp(s + n - m, tail);
}

/* Of the probes' counters: PROBE.ns, and PROBE.ns.REASON or .CLASS. */
static bool is_time(const char *name)
{
	return ends_with(name, ".ns") || strstr(name, ".ns.");
}

/* Flushes, what they interrupt, and faults and waits that they cause: fewer are better. */
static bool is_flush(const char *name)
{
	static const char *const starts[] = {
		"tlb", "mm_flush", "flush.", "wp_fault", "migrc_wait", "migrate_pages.flushes",
		"migrate_pages.targets",
	};

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (!strncmp(name, starts[i], strlen(starts[i])))
			return true;
	return false;
}

static void collect_probes(struct an_compare *c)
{
	for (size_t i = 0; i < c->nr_runs; i++) {
		const struct rd_run *rd = c->runs[i].rd;

		for (size_t k = 0; k < rd->nr_counters; k++) {
			const char *name = rd->counters[k].name;
			bool ns = is_time(name);
			bool flush = is_flush(name);
			struct spec spec = { name, ns ? "ns" : "count", AN_PROBE,
					     ns || flush ? AN_LOWER : AN_NONE, ns };
			char *key;
			double v;

			if (strcmp(rd->counters[k].source, "bpf"))
				continue;
			v = run__delta(rd, "bpf", name);
			if (isnan(v))
				continue;
			key = sbuf__format("bpf.%s", name);
			put(c, i, key, &spec, v);
			put_rate(c, i, key, &spec, v);
			free(key);
		}
	}
}

/*
 * Rows of /proc/interrupts, stored whole ("TLB") or by CPU ("TLB.0", "TLB/cpu0"): the whole row if
 * it is there, else the sum of its parts.
 */
static double interrupt_row(const struct rd_run *rd, const char *row)
{
	double whole = run__delta(rd, "interrupts", row), sum = NAN;
	size_t len = strlen(row);

	if (!isnan(whole))
		return whole;
	for (size_t k = 0; k < rd->nr_counters; k++) {
		const struct rd_counter *n = &rd->counters[k];

		if (strcmp(n->source, "interrupts") || strncmp(n->name, row, len) ||
		    !strchr("./:", n->name[len]) || !n->name[len])
			continue;
		sum = (isnan(sum) ? 0 : sum) + run__delta(rd, "interrupts", n->name);
	}
	return sum;
}

static void collect_interrupts(struct an_compare *c)
{
	static const struct { const char *row, *key; struct spec spec; } rows[] = {
		{ "TLB", "interrupts.TLB",
		  { "TLB shootdown interrupts", "count", AN_FLUSH, AN_LOWER, false } },
		{ "CAL", "interrupts.CAL",
		  { "function call interrupts", "count", AN_FLUSH, AN_LOWER, false } },
	};

	for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
		for (size_t i = 0; i < c->nr_runs; i++) {
			double v = interrupt_row(c->runs[i].rd, rows[r].row);

			if (isnan(v))
				continue;
			put(c, i, rows[r].key, &rows[r].spec, v);
			put_rate(c, i, rows[r].key, &rows[r].spec, v);
		}
	}
}

/*
 * Events of the evaluation that was posted with version 5 of the series, after / before as in
 * vmstat_defs; the rest of what perf counts is shown as it is.
 */
static const struct perf_def {
	const char *name;
	double published;
} perf_defs[] = {
	{ "itlb.itlb_flush", 5240261.0 / 85647229.0 },
	{ "tlb_flush.dtlb_thread", 271581774.0 / 480981504.0 },
	{ "tlb_flush.stlb_any", 243149389.0 / 323937200.0 },
	{ "dTLB-load-misses", 234502983364.0 / 238381632579.0 },
	{ "dTLB-store-misses", 395673680.0 / 601514255.0 },
	{ "iTLB-load-misses", 1620215163.0 / 2974157461.0 },
};

static const struct perf_def *perf_def__find(const char *name)
{
	for (size_t i = 0; i < sizeof(perf_defs) / sizeof(perf_defs[0]); i++)
		if (!strcmp(perf_defs[i].name, name))
			return &perf_defs[i];
	return NULL;
}

/* Times are perf's clocks; it gives them a unit, and counts none. */
static void collect_perf(struct an_compare *c, size_t run, const struct rd_perf *p)
{
	const struct perf_def *def = perf_def__find(p->name);
	bool ms = !strcmp(p->unit, "msec");
	struct spec spec = { p->name, ms ? "ns" : p->unit[0] ? p->unit : "count", AN_FLUSH,
			     def || ms ? AN_LOWER : AN_NONE, ms };
	double v = ms ? p->value * 1e6 : p->value;
	char *key = sbuf__format("perf.%s", p->name);
	struct an_metric *m;

	m = put(c, run, key, &spec, v);
	if (def)
		m->published = def->published;
	m = def ? put_rate(c, run, key, &spec, v) : NULL;
	if (m)
		m->published = def->published / PUB_MIGRATED;
	free(key);
}

static void collect_hist(struct an_compare *c, size_t run, const struct rd_hist *rh)
{
	static const struct { const char *name; double q; } cuts[] = {
		{ "p50", 0.5 }, { "p99", 0.99 }, { "p99.9", 0.999 }, { "max", 1 },
	};
	struct histo h = { rh->sub_bits, rh->nr, rh->n, (uint64_t)(rh->max > 0 ? rh->max : 0),
			   rh->span };

	if (strchr(rh->name, '@'))
		return;		/* of one comm or process: for `migrc show`, not for comparing arms */
	for (size_t k = 0; k < sizeof(cuts) / sizeof(cuts[0]); k++) {
		/* In ms: how old what was held became, which is neither good nor bad by itself. */
		bool ns = !strcmp(rh->unit, "ns"), ms = !strcmp(rh->unit, "ms");
		struct histo_pct pct;
		struct spec spec = { NULL, rh->unit, AN_LATENCY, ns ? AN_LOWER : AN_NONE,
				     ns || ms };
		char *key, *label;

		if (histo__percentile(&h, cuts[k].q, &pct) || pct.coarse)
			continue;
		key = sbuf__format("hist.%s.%s", rh->name, cuts[k].name);
		label = sbuf__format("%s %s", rh->name, cuts[k].name);
		spec.label = label;
		put(c, run, key, &spec, pct.est);
		free(key);
		free(label);
	}
}

static bool has_metric(const struct rd_run *rd, const char *metric)
{
	for (size_t k = 0; k < rd->nr_metrics; k++)
		if (!strcmp(rd->metrics[k].name, metric))
			return true;
	return false;
}

static void collect_outcome(struct an_compare *c)
{
	static const struct spec wall = { "wall time", "ns", AN_OUTCOME, AN_LOWER, true };

	for (size_t i = 0; i < c->nr_runs; i++) {
		const struct rd_run *rd = c->runs[i].rd;

		for (size_t k = 0; k < rd->nr_metrics; k++) {
			const struct rd_metric *s = &rd->metrics[k];
			struct spec spec = {
				s->name, s->unit, AN_OUTCOME,
				!strcmp(s->better, "lower") ? AN_LOWER :
				!strcmp(s->better, "higher") ? AN_HIGHER : AN_NONE, s->is_time,
			};
			char *key = sbuf__format("metric.%s", s->name);

			put(c, i, key, &spec, isfinite(s->value) ? s->value : NAN);
			free(key);
		}
		/* The same clock under another name, where the collector stored it as a result. */
		if (rd->wall_ns != RD_NULL && !has_metric(rd, "wall_time"))
			put(c, i, "run.wall", &wall, (double)rd->wall_ns);
	}
}

/* Times that the collector takes of every workload: not what the workload is for. */
static bool is_usage(const struct an_metric *m)
{
	return !strcmp(m->key, "metric.user_time") || !strcmp(m->key, "metric.system_time") ||
	       !strcmp(m->key, "metric.wall_time");
}

/*
 * The workload's main time: what it calls runtime or elapsed, else its first rate, else its first
 * time, else the wall clock. By name alone, so before any value is seen.
 */
static struct an_metric *main_time(struct an_compare *c)
{
	struct an_metric *rate = NULL, *time = NULL, *wall = NULL;

	for (size_t i = 0; i < c->nr_metrics; i++) {
		struct an_metric *m = &c->metrics[i];

		if (!strcmp(m->key, "run.wall") || !strcmp(m->key, "metric.wall_time"))
			wall = m;
		if (strncmp(m->key, "metric.", 7) || !m->is_time || m->better == AN_NONE ||
		    is_usage(m))
			continue;
		if (!strncmp(m->key, "metric.runtime", 14) || !strncmp(m->key, "metric.elapsed",
								       14))
			return m;
		if (m->better == AN_HIGHER && !rate)
			rate = m;
		if (m->better == AN_LOWER && !time)
			time = m;
	}
	return rate ? rate : time ? time : wall;
}

/* Primary before explanatory, then by group; a stable order keeps what was collected together. */
static void sort_metrics(struct an_compare *c)
{
	for (size_t i = 1; i < c->nr_metrics; i++) {
		struct an_metric m = c->metrics[i];
		size_t k = i;

		while (k && (c->metrics[k - 1].primary < m.primary ||
			     (c->metrics[k - 1].primary == m.primary &&
			      c->metrics[k - 1].group > m.group))) {
			c->metrics[k] = c->metrics[k - 1];
			k--;
		}
		c->metrics[k] = m;
	}
}

static const struct an_rule *rule_of(const struct an_compare *c, const struct an_metric *m)
{
	for (size_t i = 0; i < c->policy->nr_rules; i++) {
		const struct an_rule *r = &c->policy->rules[i];

		if (!strcmp(r->key, m->key) && (!r->workload || !strcmp(r->workload, c->workload)))
			return r;
	}
	return NULL;
}

/* A policy with rules names its primary metrics itself, all of them. */
static void apply_policy(struct an_compare *c)
{
	for (size_t i = 0; i < c->nr_metrics; i++) {
		struct an_metric *m = &c->metrics[i];
		const struct an_rule *r = rule_of(c, m);

		m->margin = r ? r->margin : c->policy->margin;
		m->min_effect = r ? r->min_effect : c->policy->min_effect;
		if (c->policy->nr_rules)
			m->primary = r && r->primary;
		if (r && r->better != AN_NONE)
			m->better = r->better;
	}
}

void metrics__collect(struct an_compare *c)
{
	struct an_metric *m;

	collect_outcome(c);
	for (size_t d = 0; d < NR_VMSTAT_DEFS; d++)
		collect_vmstat(c, &vmstat_defs[d]);
	for (size_t i = 0; i < c->nr_runs; i++)
		for (size_t k = 0; k < c->runs[i].rd->nr_perf; k++)
			collect_perf(c, i, &c->runs[i].rd->perf[k]);
	collect_interrupts(c);
	collect_patch(c);
	collect_held(c);
	collect_probes(c);
	for (size_t i = 0; i < c->nr_runs; i++)
		for (size_t k = 0; k < c->runs[i].rd->nr_hists; k++)
			collect_hist(c, i, &c->runs[i].rd->hists[k]);
	m = main_time(c);
	if (m && !c->emulated)
		m->primary = true;
	apply_policy(c);
	sort_metrics(c);
}
