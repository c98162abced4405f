// SPDX-License-Identifier: GPL-2.0-or-later
/* What the probes counted, into the tables of collector/schema.sql. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "collector/record.h"
#include "collector/rows.h"

#define NR(array) (sizeof(array) / sizeof((array)[0]))

/* --- counters --------------------------------------------------------------------------------- */

static int put_bpf(struct run *r, const char *name, uint64_t value)
{
	return rows__put_counter(&r->store, r->id, "bpf", name, NULL, (int64_t)value);
}

static bool attached(const struct run *r, enum probe_id id)
{
	return probes__attached(r->probes) & 1U << id;
}

/* Names of an enum of the kernel: by its own types, else the ones known here. */
struct names {
	const char *kernel_enum, *prefix;
	const char *const *known;
	size_t nr_known;
};

static const char * const migrate_reasons[] = {
	"compaction", "memory_failure", "memory_hotplug", "syscall", "mempolicy_mbind",
	"numa_misplaced", "contig_range", "longterm_pin", "demotion", "damon",
};
static const char * const migrate_modes[] = { "async", "sync_light", "sync" };
static const char * const tlb_reasons[] = {
	"task_switch", "remote_shootdown", "local_shootdown", "local_mm_shootdown",
	"remote_send_ipi",
};
static const char * const triggers[] = {
	"flush", "fault", "write", "alloc", "cap", "timer", "drain",
};

static const struct names reason_names = { "migrate_reason", "MR_", migrate_reasons,
					   NR(migrate_reasons) };
static const struct names mode_names = { "migrate_mode", "MIGRATE_", migrate_modes,
					 NR(migrate_modes) };
static const struct names tlb_names = { NULL, NULL, tlb_reasons, NR(tlb_reasons) };
static const struct names trigger_names = { "migrc_trigger", "MIGRC_BY_", triggers, NR(triggers) };
static const struct names refusal_names = { "migrc_refusal", "MIGRC_REFUSE_", NULL, 0 };

#define MAX_NAMES 16

/* PREFIX.NAME for each name and for what counted without one, and PREFIX for all if total. */
static int put_by_name(struct run *r, const char *prefix, const uint64_t *n, size_t nr,
		       const struct names *names, bool total)
{
	char found[MAX_NAMES][ENUM_NAME_SIZE] = { { 0 } };
	size_t i, nr_found = 0;
	uint64_t sum = 0;
	char name[96];
	int err = 0;

	if (names->kernel_enum)
		nr_found = probes__enum_names(r->probes, names->kernel_enum, names->prefix, found,
					      nr < MAX_NAMES ? nr : MAX_NAMES);
	for (i = 0; !err && i < nr; i++) {
		/* The kernel's enums end in a number of values, which is none. */
		const char *text = i < nr_found && strcmp(found[i], "types") ? found[i] :
				   !nr_found && i < names->nr_known ? names->known[i] : "";

		sum += n[i];
		if (!*text && !n[i])
			continue;
		if (*text)
			snprintf(name, sizeof(name), "%s.%s", prefix, text);
		else
			snprintf(name, sizeof(name), "%s.%zu", prefix, i);
		err = put_bpf(r, name, n[i]);
	}
	return err || !total ? err : put_bpf(r, prefix, sum);
}

/* Counters by a name, each if the probes that count it are attached. */
static int put_named(struct run *r)
{
	const struct counters *c = probes__counters(r->probes);
	const uint32_t on = probes__attached(r->probes);
	/* The tracepoint of the timed call counts what it flushed. */
	const uint32_t call = 1U << PROBE_MIGRATE | 1U << PROBE_MIGRATE_PAGES;
	const uint32_t timed = call | 1U << PROBE_TLBBATCH_FLUSH;
	const struct {
		const char *prefix;
		const uint64_t *n;
		size_t nr;
		const struct names *names;
		bool total;
		uint32_t needs;
	} rows[] = {
#define ROW(field)	c->field, NR(c->field)
		{ "migrate.calls", ROW(migrate_calls), &reason_names, true, 1U << PROBE_MIGRATE },
		{ "migrate.succeeded", ROW(migrate_succeeded), &reason_names, true,
		  1U << PROBE_MIGRATE },
		{ "migrate.failed", ROW(migrate_failed), &reason_names, true, 1U << PROBE_MIGRATE },
		{ "migrate_pages.ns", ROW(call_ns), &reason_names, true,
		  1U << PROBE_MIGRATE_PAGES },
		{ "migrate_pages.mode", ROW(call_modes), &mode_names, false, call },
		{ "migrate_pages.flushes", ROW(call_flushes), &reason_names, true, timed },
		{ "migrate_pages.targets", ROW(call_targets), &reason_names, true, timed },
		{ "tlb_flush", ROW(tlb_flush), &tlb_names, false, 1U << PROBE_TLB_FLUSH },
		{ "migrc_release.calls", ROW(release_calls), &trigger_names, false,
		  1U << PROBE_MIGRC_RELEASE },
		{ "migrc_release.folios", ROW(freed), &trigger_names, true,
		  1U << PROBE_MIGRC_FREED },
		{ "migrc_wait.calls", ROW(waits), &trigger_names, true, 1U << PROBE_MIGRC_WAIT },
		{ "migrc_refuse", ROW(refused), &refusal_names, true, 1U << PROBE_MIGRC_REFUSE },
#undef ROW
	};
	size_t i;
	int err = 0;

	for (i = 0; !err && i < NR(rows); i++)
		if ((on & rows[i].needs) == rows[i].needs)
			err = put_by_name(r, rows[i].prefix, rows[i].n, rows[i].nr, rows[i].names,
					  rows[i].total);
	return err;
}

/* NAME.calls and, where it is timed, NAME.ns. migrate_pages has its time by reason, above. */
static int put_calls(struct run *r)
{
	static const struct {
		enum probe_id id;
		unsigned int hist, nr_hists;	/* 0: not timed here */
	} rows[] = {
		{ PROBE_MIGRATE_PAGES, 0, 0 },
		{ PROBE_TRY_TO_MIGRATE, HIST_TRY_TO_MIGRATE_NS, 1 },
		{ PROBE_TLBBATCH_FLUSH, HIST_TLBBATCH_FLUSH_NS, NR_CLASSES },
		{ PROBE_MM_FLUSH, HIST_MM_FLUSH_NS, NR_CLASSES },
		{ PROBE_WP_FAULT, HIST_WP_FAULT_NS, 1 },
		{ PROBE_MUNMAP, 0, 0 },
		{ PROBE_DIRECT_RECLAIM, HIST_DIRECT_RECLAIM_NS, 1 },
		{ PROBE_MEMCG_RECLAIM, HIST_MEMCG_RECLAIM_NS, 1 },
		{ PROBE_MIGRC_RELEASE, HIST_MIGRC_RELEASE_NS, 1 },
	};
	const struct hist *hists = probes__hists(r->probes);
	char name[64];
	unsigned int k;
	uint64_t ns;
	size_t i;
	int err = 0;

	for (i = 0; !err && i < NR(rows); i++) {
		const struct probe_status *s = probes__status(r->probes, rows[i].id);

		if (!attached(r, rows[i].id))
			continue;
		snprintf(name, sizeof(name), "%s.calls", s->name);
		err = put_bpf(r, name, s->count.entries + s->count.maps_full);
		for (ns = 0, k = 0; k < rows[i].nr_hists; k++)
			ns += hists[rows[i].hist + k].sum;
		snprintf(name, sizeof(name), "%s.ns", s->name);
		if (!err && rows[i].nr_hists)
			err = put_bpf(r, name, ns);
	}
	return err;
}

/* Flushes of both functions on whose behalf: how many, their time, other CPUs that they named. */
static int put_classes(struct run *r)
{
	const struct counters *c = probes__counters(r->probes);
	const struct hist *hists = probes__hists(r->probes);
	const uint32_t on = probes__attached(r->probes);
	unsigned int class;
	char name[64];
	int err = 0;

	if (!attached(r, PROBE_TLBBATCH_FLUSH) || !attached(r, PROBE_MM_FLUSH))
		return 0;
	for (class = 0; !err && class < NR_CLASSES; class++) {
		const struct hist *batch = &hists[HIST_TLBBATCH_FLUSH_NS + class];
		const struct hist *mm = &hists[HIST_MM_FLUSH_NS + class];
		const char *text = flush_class__name((enum flush_class)class);

		if (!flush_class__is_told((enum flush_class)class, on))
			continue;
		snprintf(name, sizeof(name), "flush.calls.%s", text);
		err = put_bpf(r, name, batch->total + mm->total);
		snprintf(name, sizeof(name), "flush.ns.%s", text);
		if (!err)
			err = put_bpf(r, name, batch->sum + mm->sum);
		snprintf(name, sizeof(name), "flush.targets.%s", text);
		if (!err)
			err = put_bpf(r, name, c->flush_targets[FLUSHER_TLBBATCH][class] +
					      c->flush_targets[FLUSHER_MM][class]);
	}
	return err;
}

static int put_single(struct run *r)
{
	const struct counters *c = probes__counters(r->probes);
	int err = 0;

	if (attached(r, PROBE_TLBBATCH_FLUSH)) {
		const struct hist *cpus = probes__hists(r->probes) + HIST_TLBBATCH_FLUSH_CPUS;
		uint64_t sum = 0;
		int class;

		for (class = 0; class < NR_CLASSES; class++)
			sum += cpus[class].sum;
		err = put_bpf(r, "tlbbatch_flush.cpus", sum);
	}
	if (!err && attached(r, PROBE_WP_FAULT) && attached(r, PROBE_MIGRC_RELEASE))
		err = put_bpf(r, "wp_fault.waited", c->wp_waited);
	if (!err && attached(r, PROBE_MIGRC_WAIT))
		err = put_bpf(r, "migrc_wait.ns", probes__hists(r->probes)[HIST_MIGRC_WAIT_NS].sum);
	if (!err && attached(r, PROBE_MIGRC_DEFER))
		err = put_bpf(r, "migrc_defer",
			      probes__status(r->probes, PROBE_MIGRC_DEFER)->count.seen);
	return err;
}

/* --- histograms ------------------------------------------------------------------------------- */

static int put_hist(struct run *r, const char *name, const char *unit, const struct hist *h)
{
	unsigned int bin;
	int err;

	err = rows__put_hist(&r->store, r->id, name, unit, HIST_SUB_BITS, h->total, h->sum, h->max);
	for (bin = 0; !err && bin < HIST_BINS; bin++)
		if (h->bin[bin])
			err = rows__put_bin(&r->store, r->id, name, bin, h->bin[bin], 1);
	return err;
}

static int put_hists(struct run *r)
{
	struct stored_hist h;
	size_t i;
	int made, err = 0;

	for (i = 0; !err; i++) {
		made = stored_hist__make(&h, i, probes__hists(r->probes),
					 probes__attached(r->probes));
		if (made == -ERANGE)
			break;
		if (!made)
			err = put_hist(r, h.name, h.unit, &h.hist);
	}
	return err;
}

/* NAME@COMM or NAME@TGID. */
static int put_split(struct run *r)
{
	const struct split_hist *s;
	char name[80], buf[48];
	uint32_t tgid;
	size_t i, nr;
	int err = 0;

	s = probes__split(r->probes, &nr);
	for (i = 0; !err && i < nr; i++) {
		hist__name(s[i].key.hist, buf, sizeof(buf));
		memcpy(&tgid, s[i].key.who, sizeof(tgid));
		if (r->o->probes.by == BY_TGID)
			snprintf(name, sizeof(name), "%s@%u",
				 hist__name(s[i].key.hist, buf, sizeof(buf)), tgid);
		else
			snprintf(name, sizeof(name), "%s@%.16s",
				 hist__name(s[i].key.hist, buf, sizeof(buf)), s[i].key.who);
		err = put_hist(r, name, hist__unit(s[i].key.hist), &s[i].hist);
	}
	return err;
}

/* --- the instrument --------------------------------------------------------------------------- */

/* Why a probe is not on its best rung, and what it does not see; NULL: nothing to say. */
static const char *coverage(const struct probe_status *s, char *buf, size_t size)
{
	if (!s->twins[0])
		return s->why[0] ? s->why : NULL;
	snprintf(buf, size, "%s%s%s: %s", s->why, s->why[0] ? "; " : "",
		 s->partial ? "calls of these are not seen" : "parts of it", s->twins);
	return buf;
}

static int put_probe(struct run *r, const struct probe_status *s)
{
	static const char sql[] = "INSERT INTO probe (run_id, name, rung, target, core, why) "
				  "VALUES (?, ?, ?, ?, ?, ?)";
	char why[sizeof(s->why) + sizeof(s->twins) + 40];
	int err;

	err = store__put(&r->store, sql, "itttit", r->id, s->name, rung__name(s->rung), s->target,
			 (int64_t)s->core, coverage(s, why, sizeof(why)));
	if (err || s->rung == RUNG_NONE)
		return err;
	err = store__put(&r->store, "UPDATE probe SET seen = ? WHERE run_id = ? AND name = ?",
			 "iit", (int64_t)s->count.seen, r->id, s->name);
	if (!err && r->o->probes.event_every)
		err = store__put(&r->store, "UPDATE probe SET submitted = ?, lost = ? "
				 "WHERE run_id = ? AND name = ?", "iiit",
				 (int64_t)s->count.submitted, (int64_t)s->count.lost, r->id,
				 s->name);
	if (!err && s->body_ns != UINT64_MAX)
		err = store__put(&r->store, "UPDATE probe SET body_ns = ? "
				 "WHERE run_id = ? AND name = ?", "iit", (int64_t)s->body_ns,
				 r->id, s->name);
	return err;
}

static int put_status(struct run *r)
{
	unsigned int id;
	int err = 0;

	for (id = 0; !err && id < NR_PROBES; id++)
		err = put_probe(r, probes__status(r->probes, (enum probe_id)id));
	return err;
}

static int put_instrument(struct run *r, const char *name, uint64_t value)
{
	static const char sql[] = "INSERT INTO instrument VALUES (?, ?, ?)";

	return store__put(&r->store, sql, "iti", r->id, name, (int64_t)value);
}

/* Sums over the probes, and NAME.PROBE of each that is not 0. */
static int put_accounting(struct run *r)
{
	static const char * const names[] = {
		"entries", "exits", "in_flight", "no_exit", "unmatched", "nested",
		"clock_backwards", "maps_full", "recursion_misses", "cpu_mask_errors", "split_full",
		"sampled_out", "body_runs",
	};
	uint64_t sum[NR(names)] = { 0 };
	char name[64];
	unsigned int id, i;
	int err = 0;

	for (id = 0; !err && id < NR_PROBES; id++) {
		const struct probe_status *s = probes__status(r->probes, (enum probe_id)id);
		const struct probe_count *n = &s->count;
		const uint64_t of_probe[NR(names)] = {
			n->entries, n->exits, s->in_flight, n->no_exit + n->no_exit_late,
			n->unmatched, n->nested, n->clock_backwards, n->maps_full, s->misses,
			n->mask_error, n->by_full, n->skipped, s->body_runs,
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

int run__put_probes(struct run *r)
{
	int (*const put[])(struct run *r) = {
		put_named, put_calls, put_classes, put_single, put_hists, put_split, put_status,
		put_accounting, put_lost_by_cpu,
	};
	size_t i;
	int err = 0;

	for (i = 0; !err && i < NR(put); i++)
		err = put[i](r);
	return err;
}
