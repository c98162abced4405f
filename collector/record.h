/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `migrc record`: its options, and how one run is made and put into the store. */
#ifndef MIGRC_RECORD_H
#define MIGRC_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/calibrate.h"
#include "collector/checks.h"
#include "collector/counters.h"
#include "collector/event_log.h"
#include "collector/facts.h"
#include "collector/output.h"
#include "collector/perfrun.h"
#include "collector/probes.h"
#include "collector/run_args.h"
#include "collector/sampler.h"
#include "collector/store.h"
#include "collector/term.h"
#include "collector/workload.h"

struct record_options {
	const char *db, *arm, *workload;
	bool has_block, has_position, missing_is_error, emulated;
	long long block, position;
	unsigned int interval_ms, timeout_s;	/* timeout 0: none */
	struct probes_options probes;
	enum event_format event_format;
	double max_lost_share;
	unsigned int calibrate;		/* pairs of runs for the cost of recording; 0: none */
	struct calibration cost;	/* what they came to */
	struct label *labels;
	size_t nr_labels;
	struct facts facts;		/* of --fact: they win over the machine's own */
	enum adapter_kind adapter;
	struct metric_rules rules;	/* of --metric-regex */
	struct perf_list perf;
	int argc;			/* the command */
	char **argv;
};

/* EXIT_GOOD, or the exit code to end with after an error was printed. */
int record_options__parse(struct record_options *o, int argc, char **argv);
void record_options__free(struct record_options *o);

/* Everything about one run, on its way from the machine into the store. */
struct run {
	const struct record_options *o;
	struct store store;
	int64_t id;
	struct facts facts;
	struct probes *probes;
	struct workload workload;
	struct output output;
	struct perf_list *perf_list;	/* the options', with what perf knows marked */
	struct perfrun perf;
	struct sampler sampler;
	struct snapshot before, after;
	struct checks checks;
	struct run_end end;
	struct progress progress;	/* of the time that runs of this workload took before */
	int64_t t0_ns;			/* CLOCK_MONOTONIC at the start */
	int64_t edge_migrated;		/* pages migrated while counting began and ended */
	int64_t attach_ns, detach_ns, drain_ns, cpu_ns;
	unsigned long long taint_before;
	struct event_log events;
	bool parts_stored;		/* samples or events, while the workload ran */
	bool interrupted, emulated;
	enum adapter_kind adapter;	/* whose output it was */
	int signal_fd;			/* of the signals that are blocked meanwhile */
};

int64_t clock__ns(int clock);

/*
 * run_store.c: samples and packed events so far in a transaction of their own, all else at the end in
 * another. What could not be stored is kept for the end; -EBUSY, without a message: another program
 * holds the database.
 */
int run__store_part(struct run *r);
int run__store_end(struct run *r);

/* run_store_probes.c: what the probes counted, and whether it adds up; part of the latter. */
int run__put_probes(struct run *r);

/* run_loop.c: let the workload go, look after it until it has ended. r->end tells how. 0 or a
 * negative errno after an error was printed; the workload has ended then too. */
int run__loop(struct run *r);
/* Read what the workload left in its pipe. */
int run__finish_output(struct run *r);
/* Keep raw events; for probes__drain(). */
int run__keep_event(void *ctx, const struct event *e);

#endif /* MIGRC_RECORD_H */
