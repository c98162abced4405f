// SPDX-License-Identifier: GPL-2.0-or-later
/* What a run gathered, into the tables of collector/schema.sql. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collector/err.h"
#include "collector/record.h"
#include "collector/rows.h"

#define NR(array) (sizeof(array) / sizeof((array)[0]))

static int put_counters(struct run *r)
{
	return rows__put_counters(&r->store, r->id, &r->before, &r->after);
}

/* What the workload said, and rusage. */
static int put_results(struct run *r)
{
	return rows__put_results(&r->store, r->id, &r->output.results);
}

static int put_instrument(struct run *r, const char *name, uint64_t value)
{
	static const char sql[] = "INSERT INTO instrument VALUES (?, ?, ?)";

	return store__put(&r->store, sql, "iti", r->id, name, (int64_t)value);
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
		{ "received", (int64_t)r->events.received },
		{ "samples_taken", (int64_t)r->sampler.taken },
		{ "samples_failed", (int64_t)r->sampler.failed },
		{ "edge_pgmigrate_success", r->edge_migrated },
		{ "identities_checked", r->checks.identities },
		{ "identities_broken", r->checks.identities_broken },
	};
	size_t i;
	int err = 0;

	for (i = 0; !err && i < NR(rows); i++)
		err = put_instrument(r, rows[i].name, (uint64_t)rows[i].value);
	return err;
}

/* Parts in a million: an interval's ends may be negative. */
static int put_one_calibration(struct run *r, const char *what, const struct calibrate_cost *c)
{
	const struct {
		const char *end;
		double value;
	} rows[] = { { "", c->est }, { "_low", c->lo }, { "_high", c->hi } };
	char name[64];
	size_t i;
	int err = 0;

	for (i = 0; !err && i < NR(rows); i++) {
		snprintf(name, sizeof(name), "calibrated_%s%s_ppm", what, rows[i].end);
		/* The interval of two pairs may be as wide as the logarithm goes. */
		err = put_instrument(r, name, (uint64_t)(int64_t)
				     fmax(fmin(rows[i].value * 1e6, 1e15), -1e6));
	}
	return err;
}

static int put_calibration(struct run *r)
{
	const struct calibration *c = &r->o->cost;
	int err;

	if (!c->pairs)
		return 0;
	err = put_instrument(r, "calibrated_pairs", c->pairs);
	if (!err && c->has_wall)
		err = put_one_calibration(r, "wall", &c->wall);
	if (!err && c->has_cpu)
		err = put_one_calibration(r, "cpu", &c->cpu);
	return err;
}

static int put_labels_and_facts(struct run *r)
{
	int err = rows__put_labels(&r->store, r->id, r->o->labels, r->o->nr_labels);

	return err ? err : rows__put_facts(&r->store, r->id, &r->facts);
}

static int put_events(struct run *r)
{
	return event_log__put_all(&r->events, &r->store, r->id);
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

int run__store_part(struct run *r)
{
	int err;

	store__hurry(&r->store, true);
	err = store__begin(&r->store);
	if (!err)
		err = put_samples(r);
	if (!err)
		err = event_log__put_chunks(&r->events, &r->store, r->id);
	if (!err)
		err = store__commit(&r->store);
	if (err) {
		store__rollback(&r->store);
	} else {
		r->parts_stored = true;
		sampler__clear(&r->sampler);
		event_log__stored(&r->events);
	}
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
		put_labels_and_facts, put_counters, run__put_probes, put_results, put_perf,
		put_samples, put_cost, put_calibration, put_events, put_invalid,
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
