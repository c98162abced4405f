// SPDX-License-Identifier: GPL-2.0-or-later
/* What a run gathered, into the tables of collector/schema.sql. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "collector/err.h"
#include "collector/record.h"
#include "collector/rows.h"

static int put_counters(struct run *r)
{
	return rows__put_counters(&r->store, r->id, &r->before, &r->after);
}

static int put_bpf(struct run *r, const char *name, uint64_t value)
{
	return rows__put_counter(&r->store, r->id, "bpf", name, NULL, (int64_t)value);
}

/* PREFIX.NAME for each name that counted something, and PREFIX for all of them. */
static int put_by_name(struct run *r, const char *prefix, const uint64_t *n, size_t nr,
		       const char *const *names, size_t nr_names, bool total)
{
	char name[96];
	uint64_t sum = 0;
	size_t i;
	int err = 0;

	for (i = 0; !err && i < nr; i++) {
		sum += n[i];
		if (i < nr_names)
			snprintf(name, sizeof(name), "%s.%s", prefix, names[i]);
		else
			snprintf(name, sizeof(name), "%s.%zu", prefix, i);
		if (i < nr_names || n[i])
			err = put_bpf(r, name, n[i]);
	}
	return err || !total ? err : put_bpf(r, prefix, sum);
}

#define NR(array) (sizeof(array) / sizeof((array)[0]))

/* Order of enum migrate_reason, enum tlb_flush_reason, and the patch's triggers. */
static const char * const migrate_reasons[] = {
	"compaction", "memory_failure", "memory_hotplug", "syscall", "mempolicy_mbind",
	"numa_misplaced", "contig_range", "longterm_pin", "demotion", "damon",
};
static const char * const tlb_reasons[] = {
	"task_switch", "remote_shootdown", "local_shootdown", "local_mm_shootdown",
	"remote_send_ipi",
};
static const char * const triggers[] = {
	"flush", "fault", "write", "alloc", "cap", "timer", "drain",
};

static bool attached(const struct run *r, enum probe_id id)
{
	return probes__status(r->probes, id)->rung != RUNG_NONE;
}

/* NAME.calls and NAME.ns of a timed function. */
static int put_timed(struct run *r, const char *name, enum probe_id id, enum hist_id hist)
{
	const struct probe_count *n = &probes__status(r->probes, id)->count;
	char full[64];
	int err;

	if (!attached(r, id))
		return 0;
	snprintf(full, sizeof(full), "%s.calls", name);
	err = put_bpf(r, full, n->entries + n->maps_full);
	snprintf(full, sizeof(full), "%s.ns", name);
	return err ? err : put_bpf(r, full, probes__hist(r->probes, hist)->sum);
}

static int put_probe_counters(struct run *r)
{
	const struct counters *c = probes__counters(r->probes);
	int err = 0;

	if (attached(r, PROBE_MIGRATE)) {
		err = put_by_name(r, "migrate.calls", c->migrate_calls, NR(c->migrate_calls),
				  migrate_reasons, NR(migrate_reasons), true);
		if (!err)
			err = put_by_name(r, "migrate.succeeded", c->migrate_succeeded,
					  NR(c->migrate_succeeded), migrate_reasons,
					  NR(migrate_reasons), true);
		if (!err)
			err = put_by_name(r, "migrate.failed", c->migrate_failed,
					  NR(c->migrate_failed), migrate_reasons,
					  NR(migrate_reasons), true);
	}
	if (!err && attached(r, PROBE_TLB_FLUSH))
		err = put_by_name(r, "tlb_flush", c->tlb_flush, NR(c->tlb_flush), tlb_reasons,
				  NR(tlb_reasons), false);
	if (!err)
		err = put_timed(r, "migrate_pages", PROBE_MIGRATE_PAGES, HIST_MIGRATE_PAGES_NS);
	if (!err)
		err = put_timed(r, "try_to_migrate", PROBE_TRY_TO_MIGRATE, HIST_TRY_TO_MIGRATE_NS);
	if (!err)
		err = put_timed(r, "tlbbatch_flush", PROBE_TLBBATCH_FLUSH, HIST_TLBBATCH_FLUSH_NS);
	if (!err && attached(r, PROBE_TLBBATCH_FLUSH))
		err = put_bpf(r, "tlbbatch_flush.cpus",
			      probes__hist(r->probes, HIST_TLBBATCH_FLUSH_CPUS)->sum);
	if (!err)
		err = put_timed(r, "wp_fault", PROBE_WP_FAULT, HIST_WP_FAULT_NS);
	if (!err && attached(r, PROBE_MIGRC_RELEASE))
		err = put_by_name(r, "migrc_release.calls", c->release_calls, NR(c->release_calls),
				  triggers, NR(triggers), false);
	return err ? err : put_timed(r, "migrc_release", PROBE_MIGRC_RELEASE,
				     HIST_MIGRC_RELEASE_NS);
}

static int put_probe_hists(struct run *r)
{
	static const enum probe_id owner[NR_HISTS] = {
		[HIST_MIGRATE_PAGES_PER_CALL] = PROBE_MIGRATE,
		[HIST_MIGRATE_PAGES_NS] = PROBE_MIGRATE_PAGES,
		[HIST_TRY_TO_MIGRATE_NS] = PROBE_TRY_TO_MIGRATE,
		[HIST_TLBBATCH_FLUSH_NS] = PROBE_TLBBATCH_FLUSH,
		[HIST_TLBBATCH_FLUSH_CPUS] = PROBE_TLBBATCH_FLUSH,
		[HIST_WP_FAULT_NS] = PROBE_WP_FAULT,
		[HIST_MIGRC_RELEASE_NS] = PROBE_MIGRC_RELEASE,
	};
	unsigned int id, bin;
	int err = 0;

	for (id = 0; !err && id < NR_HISTS; id++) {
		const struct hist *h = probes__hist(r->probes, (enum hist_id)id);
		const char *name = hist__name((enum hist_id)id);

		if (!attached(r, owner[id]))
			continue;
		err = rows__put_hist(&r->store, r->id, name, hist__unit((enum hist_id)id),
				     HIST_SUB_BITS, h->total, h->sum, h->max);
		for (bin = 0; !err && bin < HIST_BINS; bin++)
			if (h->bin[bin])
				err = rows__put_bin(&r->store, r->id, name, bin, h->bin[bin], 1);
	}
	return err;
}

/* What the workload said, and rusage. */
static int put_results(struct run *r)
{
	return rows__put_results(&r->store, r->id, &r->output.results);
}

static int put_probes(struct run *r)
{
	static const char sql[] = "INSERT INTO probe (run_id, name, rung, target, core, why) "
				  "VALUES (?, ?, ?, ?, ?, ?)";
	unsigned int id;
	int err = 0;

	for (id = 0; !err && id < NR_PROBES; id++) {
		const struct probe_status *s = probes__status(r->probes, (enum probe_id)id);

		err = store__put(&r->store, sql, "itttit", r->id, s->name, rung__name(s->rung),
				 s->target, (int64_t)s->core, s->why[0] ? s->why : NULL);
		if (err || s->rung == RUNG_NONE)
			continue;
		err = store__put(&r->store,
				 "UPDATE probe SET seen = ? WHERE run_id = ? AND name = ?",
				 "iit", (int64_t)s->count.seen, r->id, s->name);
		if (!err && r->o->events)
			err = store__put(&r->store, "UPDATE probe SET submitted = ?, lost = ? "
					 "WHERE run_id = ? AND name = ?", "iiit",
					 (int64_t)s->count.submitted, (int64_t)s->count.lost, r->id,
					 s->name);
		if (!err && s->body_ns != UINT64_MAX)
			err = store__put(&r->store, "UPDATE probe SET body_ns = ? "
					 "WHERE run_id = ? AND name = ?", "iit",
					 (int64_t)s->body_ns, r->id, s->name);
	}
	return err;
}

static int put_instrument(struct run *r, const char *name, uint64_t value)
{
	static const char sql[] = "INSERT INTO instrument VALUES (?, ?, ?)";

	return store__put(&r->store, sql, "iti", r->id, name, (int64_t)value);
}

/* Sums over the probes, and NAME.PROBE of each timed one. */
static int put_accounting(struct run *r)
{
	uint64_t sum[8] = { 0 };
	static const char * const names[8] = {
		"entries", "exits", "in_flight", "unmatched", "nested", "clock_backwards",
		"maps_full", "recursion_misses",
	};
	char name[64];
	unsigned int id, i;
	int err = 0;

	for (id = 0; !err && id < NR_PROBES; id++) {
		const struct probe_status *s = probes__status(r->probes, (enum probe_id)id);
		const uint64_t of_probe[8] = {
			s->count.entries, s->count.exits, s->in_flight, s->count.unmatched,
			s->count.nested, s->count.clock_backwards, s->count.maps_full, s->misses,
		};

		for (i = 0; !err && i < NR(names); i++) {
			sum[i] += of_probe[i];
			snprintf(name, sizeof(name), "%s.%s", names[i], s->name);
			if (of_probe[i])
				err = put_instrument(r, name, of_probe[i]);
		}
	}
	for (i = 0; !err && i < NR(names); i++)
		err = put_instrument(r, names[i], sum[i]);
	return err;
}

static int put_lost_by_cpu(struct run *r)
{
	const struct probe_lost *lost;
	char name[64];
	size_t i, nr;
	int err = 0;

	lost = probes__lost(r->probes, &nr);
	for (i = 0; !err && i < nr; i++) {
		snprintf(name, sizeof(name), "lost.%s.cpu%u",
			 probes__status(r->probes, lost[i].probe)->name, lost[i].cpu);
		err = put_instrument(r, name, lost[i].lost);
	}
	return err;
}

static int put_cost(struct run *r)
{
	const struct {
		const char *name;
		int64_t value;
	} rows[] = {
		{ "attach_ns", r->attach_ns },
		{ "detach_ns", r->detach_ns },
		{ "drain_ns", r->drain_ns },
		{ "collector_cpu_ns", r->cpu_ns },
		{ "received", (int64_t)r->received },
		{ "samples_taken", (int64_t)r->sampler.taken },
		{ "samples_failed", (int64_t)r->sampler.failed },
		{ "edge_pgmigrate_success", r->edge_migrated },
		{ "cpu_mask_errors",
		  (int64_t)probes__status(r->probes, PROBE_TLBBATCH_FLUSH)->count.mask_error },
	};
	size_t i;
	int err = 0;

	for (i = 0; !err && i < NR(rows); i++)
		err = put_instrument(r, rows[i].name, (uint64_t)rows[i].value);
	return err;
}

static int put_labels_and_facts(struct run *r)
{
	int err = rows__put_labels(&r->store, r->id, r->o->labels, r->o->nr_labels);

	return err ? err : rows__put_facts(&r->store, r->id, &r->facts);
}

static int put_events(struct run *r)
{
	static const char sql[] = "INSERT INTO event VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
	const struct event *e;
	int err = 0;

	for (e = r->events; !err && e < r->events + r->nr_events; e++)
		err = store__put(&r->store, sql, "iiiiiiiii", r->id, (int64_t)e->t_ns,
				 (int64_t)e->cpu, (int64_t)e->tid, (int64_t)e->kind, (int64_t)e->a,
				 (int64_t)e->b, (int64_t)e->c, (int64_t)e->d);
	return err;
}

static int put_samples(struct run *r)
{
	static const char sql[] = "INSERT INTO sample VALUES (?, ?, ?, ?, ?)";
	const struct sample *s = r->sampler.sample;
	size_t i;
	int err = 0;

	for (i = 0; !err && i < r->sampler.nr; i++)
		err = store__put(&r->store, sql, "iitti", r->id, s[i].t_ns,
				 r->sampler.series[s[i].series].source,
				 r->sampler.series[s[i].series].name, s[i].value);
	return err;
}

int run__store_samples(struct run *r)
{
	int err;

	store__hurry(&r->store, true);
	err = store__begin(&r->store);
	if (!err)
		err = put_samples(r);
	if (!err)
		err = store__commit(&r->store);
	if (err)
		store__rollback(&r->store);
	else
		sampler__clear(&r->sampler);
	store__hurry(&r->store, false);
	return err;
}

/* Its events, and how many were asked for: what is not among them could not be counted. */
static int put_perf(struct run *r)
{
	int err;

	if (r->perf_list->scope == PERF_OFF)
		return 0;
	err = put_instrument(r, "perf_events_asked", r->perf_list->nr);
	return err ? err : rows__put_perf(&r->store, r->id, &r->perf.stat);
}

static int put_invalid(struct run *r)
{
	size_t i;
	int err = 0;

	for (i = 0; !err && i < r->checks.nr; i++)
		err = store__put(&r->store, "INSERT INTO invalid VALUES (?, ?, ?)", "itt", r->id,
				 r->checks.broken[i].rule, r->checks.broken[i].detail);
	return err;
}

int run__store_end(struct run *r)
{
	int (*const put[])(struct run *r) = {
		put_labels_and_facts, put_counters, put_probe_counters, put_probe_hists,
		put_results, put_perf, put_samples, put_probes, put_accounting, put_lost_by_cpu, put_cost,
		put_events, put_invalid,
	};
	size_t i;
	int err;

	err = store__begin(&r->store);
	for (i = 0; !err && i < NR(put); i++)
		err = put[i](r);
	if (!err)
		err = store__end_run(&r->store, r->id, &r->end);
	if (!err)
		err = store__commit(&r->store);
	if (err)
		store__rollback(&r->store);
	return err;
}
