// SPDX-License-Identifier: GPL-2.0-or-later
/* `migrc record`: run a command with the probes attached, store one run. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "collector/calibrate.h"
#include "collector/cmd.h"
#include "collector/err.h"
#include "collector/privileges.h"
#include "collector/record.h"
#include "collector/text.h"

/* Events may be under way when the last program is detached: rounds and time to wait for them. */
#define SETTLE_ROUNDS	10
#define SETTLE_US	20000

static unsigned long long taint__read(void)
{
	char line[64];

	if (text__first_line("/proc/sys/kernel/tainted", line, sizeof(line)))
		return 0;
	return strtoull(line, NULL, 10);
}

/* A command that is not there is told before anything is attached or stored. */
static int check_command(const char *program)
{
	if (!*program) {
		err__print("record: the command is an empty word; give a program after --");
		return EXIT_TOOL;
	}
	switch (workload__find(program)) {
	case 0:
		return EXIT_GOOD;
	case -ENOENT:
		err__print("%s: command not found; check its name and PATH", program);
		return EXIT_TOOL;
	default:
		err__print("%s: is not an executable file; check its permissions", program);
		return EXIT_TOOL;
	}
}

/* Errors of the machine end in 5, the tool's own in 2. */
static int exit_code(int err)
{
	return err == -EPERM || err == -EACCES || err == -ENOENT || err == -ENOSYS ?
	       EXIT_UNSUPPORTED : EXIT_TOOL;
}

static int run__attach(struct run *r)
{
	int64_t start = clock__ns(CLOCK_MONOTONIC);
	const struct probe_status *s;
	int rc = EXIT_GOOD;
	unsigned int id;

	probes__attach(r->probes);
	r->attach_ns = clock__ns(CLOCK_MONOTONIC) - start;
	for (id = 0; id < NR_PROBES; id++) {
		s = probes__status(r->probes, (enum probe_id)id);
		if (s->rung != RUNG_NONE || !s->core)
			continue;
		if (r->o->missing_is_error) {
			err__print("%s: cannot be traced: %s; see `migrc doctor`, or go on without it "
				   "by --missing-probes=warn", s->target, s->why);
			rc = EXIT_UNSUPPORTED;
		} else {
			err__print("%s: cannot be traced, going on without it: %s; see `migrc doctor`",
				   s->target, s->why);
		}
	}
	return rc;
}

/* Facts of the machine, then the user's over them. */
static int run__collect_facts(struct run *r)
{
	const struct facts *given = &r->o->facts;
	const char *accelerator;
	size_t i;
	int err;

	err = facts__collect(&r->facts);
	for (i = 0; !err && i < given->nr; i++)
		err = facts__set(&r->facts, given->fact[i].class, given->fact[i].key,
				 given->fact[i].value);
	if (!err && r->o->perf.scope != PERF_OFF)
		err = facts__set(&r->facts, FACT_MATCH, "perf_scope",
				 r->o->perf.scope == PERF_SYSTEM ? "system" : "task");
	accelerator = facts__get(&r->facts, "accelerator");
	r->emulated = r->o->emulated || (accelerator && !strcmp(accelerator, "tcg"));
	if (err)
		err__print("machine facts: %s; mount /proc and /sys", strerror(-err));
	return err;
}

/* The row that says that a run is under way. */
static int run__announce(struct run *r)
{
	char *command = text__quote_argv(r->o->argc, r->o->argv);
	struct run_start start = {
		.arm = r->o->arm, .workload = r->o->workload, .command = command,
		.tool_version = MIGRC_VERSION, .has_block = r->o->has_block, .block = r->o->block,
		.has_position = r->o->has_position, .position = r->o->position,
		.started_ns = clock__ns(CLOCK_REALTIME), .emulated = r->emulated,
	};
	int err = command ? store__start_run(&r->store, &start, &r->id) : -ENOMEM;

	free(command);
	return err;
}

static int64_t migrated(const struct snapshot *s)
{
	const struct snapshot_entry *e = snapshot__find(s, "vmstat", "pgmigrate_success");

	return e ? e->value : 0;
}

/*
 * Read the counters and switch the probes on or off, with the counters read again on the far side
 * of the switch: what was migrated in between is the probes' to count or not.
 *
 *	start:	read vmstat, switch on, read all (before)
 *	end:	read all (after), switch off, read vmstat
 */
static int run__switch(struct run *r, bool on)
{
	int64_t other = 0;
	int err;

	/* Node counters lag by CPU until folded; where that cannot be asked for, they lag. */
	counters__fold();
	if (on) {
		vmstat__read_one("pgmigrate_success", &other);
		probes__record(r->probes, true);
		err = counters__read(&r->before);
		r->edge_migrated += migrated(&r->before) - other;
	} else {
		err = counters__read(&r->after);
		probes__record(r->probes, false);
		vmstat__read_one("pgmigrate_success", &other);
		r->edge_migrated += other - migrated(&r->after);
	}
	if (err)
		err__print("counters: %s; mount /proc and /sys", strerror(-err));
	return err;
}

/* Detach, then empty the ring and read the counts until they agree: a program that was in the midst
 * of its work on another CPU has then ended. */
static int run__collect(struct run *r)
{
	const struct counters *c = probes__counters(r->probes);
	int64_t start = clock__ns(CLOCK_MONOTONIC);
	uint64_t submitted;
	int round, id, err;

	probes__detach(r->probes);
	r->detach_ns = clock__ns(CLOCK_MONOTONIC) - start;
	start = clock__ns(CLOCK_MONOTONIC);
	for (round = 0; round < SETTLE_ROUNDS; round++) {
		err = probes__drain(r->probes, run__keep_event, r);
		if (err >= 0)
			err = probes__collect(r->probes);
		if (err)
			break;
		for (submitted = 0, id = 0; id < NR_PROBES; id++)
			submitted += c->probe[id].submitted;
		if (submitted == r->events.received)
			break;
		usleep(SETTLE_US);
	}
	r->drain_ns = clock__ns(CLOCK_MONOTONIC) - start;
	if (err)
		err__print("bpf: cannot read the counts: %s; see `migrc doctor`", strerror(-err));
	return err;
}

/* What a program that does not know migrc said of itself. */
static int run__add_results(struct run *r)
{
	struct adapter *a = &r->output.adapter;
	int err;

	r->adapter = adapter__kind(a, &r->output.results);
	err = adapter__results(a, r->adapter, &r->output.results);
	if (err == -EINVAL) {
		checks__break(&r->checks, "workload-result", "output of %s that does not add up",
			      adapter_kind__name(r->adapter));
		err = 0;
	}
	/* The time of a program that hung after its result is the time limit's, not its own. */
	if (r->end.timed_out && adapter__is_success(a, r->adapter))
		r->end.has_wall = false;
	return err;
}

/* Time, memory and faults of the workload, beside what it says of itself. */
static int run__add_usage(struct run *r)
{
	const struct rusage *u = &r->workload.usage;
	const struct {
		const char *name, *unit, *better;
		double value;
		bool is_time;
	} rows[] = {
		{ "wall_time", "s", "lower", (double)r->end.wall_ns / 1e9, true },
		{ "user_time", "s", "lower", (double)u->ru_utime.tv_sec +
		  (double)u->ru_utime.tv_usec / 1e6, true },
		{ "system_time", "s", "lower", (double)u->ru_stime.tv_sec +
		  (double)u->ru_stime.tv_usec / 1e6, true },
		{ "max_rss", "KiB", "none", (double)u->ru_maxrss, false },
		{ "minor_faults", "faults", "none", (double)u->ru_minflt, false },
		{ "major_faults", "faults", "none", (double)u->ru_majflt, false },
		{ "voluntary_switches", "switches", "none", (double)u->ru_nvcsw, false },
		{ "involuntary_switches", "switches", "none", (double)u->ru_nivcsw, false },
	};
	size_t i;
	int err = 0;

	for (i = r->end.has_wall ? 0 : 1; !err && i < sizeof(rows) / sizeof(rows[0]); i++) {
		err = results__add_metric(&r->output.results, rows[i].name, rows[i].value,
					  rows[i].unit, rows[i].better, rows[i].is_time);
		if (err == -EEXIST)	/* the workload's own of that name is the better one */
			err = 0;
	}
	return err;
}

/*
 * Exit status 0, or what a program is known for: XSBench's 1 for a checksum that it does not know,
 * and pmbench, which may hang when all is done.
 */
static bool run__did_its_work(struct run *r)
{
	const struct run_end *end = &r->end;
	bool success = adapter__is_success(&r->output.adapter, r->adapter);

	if (end->timed_out)
		return success && r->adapter == ADAPTER_PMBENCH;
	return end->has_exit_code &&
	       (!end->exit_code || (end->exit_code == 1 && success &&
				    r->adapter == ADAPTER_XSBENCH));
}

/* What was asked for and is not in the output of a workload that ended well. */
static void run__judge_output(struct run *r)
{
	const struct adapter *a = &r->output.adapter;
	size_t i;

	if (r->adapter != ADAPTER_NONE && !adapter__is_success(a, r->adapter))
		checks__break(&r->checks, "workload-result", "no result of %s in the output",
			      adapter_kind__name(r->adapter));
	for (i = 0; i < r->o->rules.nr; i++)
		if (!a->found[i])
			checks__break(&r->checks, "workload-result",
				      "%s: no line of the output matches its regex",
				      r->o->rules.rule[i].name);
}

/* Did the workload do its work? If not, the rule that it broke. */
static void run__judge_workload(struct run *r)
{
	const struct run_end *end = &r->end;
	const struct output *out = &r->output;

	if (out->nr_bad)
		checks__break(&r->checks, "protocol", "%u malformed result lines, the first: %s",
			      out->nr_bad, out->first_bad);
	if (r->interrupted) {
		r->end.state = "interrupted";
		return;
	}
	if (run__did_its_work(r)) {
		r->end.state = "complete";
		run__judge_output(r);
		return;
	}
	r->end.state = "failed";
	if (end->timed_out)
		checks__break(&r->checks, "workload-failed", "ended by the timeout after %u s",
			      r->o->timeout_s);
	else if (end->has_signal)
		checks__break(&r->checks, "workload-failed", "killed by signal %d (%s)",
			      end->term_signal, strsignal(end->term_signal));
	else
		checks__break(&r->checks, "workload-failed", "exit status %d", end->exit_code);
}

static void run__check(struct run *r)
{
	const struct probe_status *probes[NR_PROBES];
	int id;

	for (id = 0; id < NR_PROBES; id++)
		probes[id] = probes__status(r->probes, (enum probe_id)id);
	checks__identities(&r->checks, probes, NR_PROBES, r->o->probes.event_every,
			   r->events.received);
	checks__losses(&r->checks, probes, NR_PROBES, r->o->max_lost_share);
	checks__taint(&r->checks, r->taint_before, taint__read());
	run__judge_workload(r);
}

/* From here on the run is in the store; whatever goes wrong, what was measured follows it there. */
static int run__measure(struct run *r)
{
	int err, more;

	r->taint_before = taint__read();
	err = run__switch(r, true);
	/* perf says itself what is wrong: without its events the run is still worth its time. */
	if (!err && r->perf.pid)
		perfrun__enable(&r->perf);
	if (!err)
		err = run__loop(r);
	more = run__switch(r, false);
	err = err ? err : more;
	if (r->perf.pid)
		perfrun__finish(&r->perf, r->perf_list);
	more = run__collect(r);
	err = err ? err : more;
	more = run__finish_output(r);
	if (!more)
		more = run__add_results(r);
	if (!more)
		more = run__add_usage(r);
	if (more)
		err__print("results of the workload: %s; the run is stored without some of them",
			   strerror(-more));
	err = err ? err : more;
	if (r->output.write_err)
		err__print("stdout: %s; the workload's output is incomplete there",
			   strerror(-r->output.write_err));
	r->cpu_ns = clock__ns(CLOCK_PROCESS_CPUTIME_ID);
	run__check(r);
	return err;
}

static void run__print_end(const struct run *r)
{
	size_t i;

	if (r->interrupted)
		err__print("run %lld: interrupted; stored with what was measured",
			   (long long)r->id);
	for (i = 0; i < r->checks.nr; i++)
		err__print("run %lld: invalid: %s: %s", (long long)r->id, r->checks.broken[i].rule,
			   r->checks.broken[i].detail);
	if (r->sampler.failed)
		err__print("run %lld: %llu of %llu samples could not be taken", (long long)r->id,
			   (unsigned long long)r->sampler.failed,
			   (unsigned long long)r->sampler.taken);
}

static void run__free(struct run *r)
{
	workload__free(&r->workload);
	perfrun__free(&r->perf);
	probes__free(r->probes);
	store__close(&r->store);
	output__free(&r->output);
	sampler__free(&r->sampler);
	snapshot__free(&r->before);
	snapshot__free(&r->after);
	facts__free(&r->facts);
	event_log__free(&r->events);
	if (r->signal_fd >= 0)
		close(r->signal_fd);
}

/* Everything before the workload may start. An exit code. */
static int run__prepare(struct run *r)
{
	int err;

	r->events.format = r->o->event_format;
	err = probes__open(&r->probes, &r->o->probes);
	if (err)
		return exit_code(err);
	if (store__open(&r->store, r->o->db) || run__collect_facts(r))
		return EXIT_TOOL;
	if (r->o->interval_ms) {
		err = sampler__init(&r->sampler);
		if (err) {
			err__print("/proc/vmstat, /proc/zoneinfo: %s; mount /proc, or use --interval 0",
				   strerror(-err));
			return EXIT_TOOL;
		}
	}
	err = run__attach(r);
	if (err)
		return err;
	err = workload__fork(&r->workload, r->o->argv);
	if (err) {
		err__print("%s: cannot fork: %s; free some memory or processes", r->o->argv[0],
			   strerror(-err));
		return EXIT_TOOL;
	}
	err = r->perf_list->scope == PERF_OFF ? 0 :
	      perfrun__start(&r->perf, r->perf_list, r->workload.pid);
	if (err)
		return exit_code(err);
	/* Everything that needs them is open, and the workload has its own. */
	err = privileges__drop();
	if (err)
		err__print("capabilities: cannot be given up: %s; the run goes on with them",
			   strerror(-err));
	return run__announce(r) ? EXIT_TOOL : EXIT_GOOD;
}

/* An empty file for a database in dir; path receives it. */
static int rescue__file(char *path, size_t size, const char *dir)
{
	int fd, n = snprintf(path, size, "%s/migrc-run-XXXXXX.db", dir);

	if (n < 0 || (size_t)n >= size)
		return -ENAMETOOLONG;
	fd = mkstemps(path, 3);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

/*
 * What the first database took while the workload ran, where the run's number was id. Often it can
 * be read still: a full disk is no obstacle to that.
 */
static void rescue__copy_parts(struct run *r, const char *first, int64_t id)
{
	static const char * const copies[] = {
		"INSERT INTO sample SELECT %lld, t_ns, source, name, value FROM first.sample "
		"WHERE run_id = %lld",
		"INSERT INTO event_chunk SELECT %lld, seq, events, first_ns, last_ns, kinds, data "
		"FROM first.event_chunk WHERE run_id = %lld",
	};
	char *sql = sqlite3_mprintf("ATTACH %Q AS first", first);
	int rc = sql ? sqlite3_exec(r->store.db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
	size_t i;

	for (i = 0; rc == SQLITE_OK && i < sizeof(copies) / sizeof(copies[0]); i++) {
		sqlite3_free(sql);
		sql = sqlite3_mprintf(copies[i], (long long)r->id, (long long)id);
		rc = sql ? sqlite3_exec(r->store.db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
	}
	sqlite3_free(sql);
	if (rc != SQLITE_OK)
		err__print("%s: what it had taken of the run before cannot be read: %s; it stays there, in "
			   "run %lld", r->o->db, sqlite3_errmsg(r->store.db), (long long)id);
}

/* The run into an empty database at path. 0 or a negative errno. */
static int rescue__to(struct run *r, const char *path)
{
	char *first = strdup(r->store.path ? r->store.path : r->o->db);
	const int64_t first_id = r->id;
	int err = first ? 0 : -ENOMEM;

	store__close(&r->store);
	if (!err)
		err = store__open(&r->store, path);
	if (!err)
		err = run__announce(r);
	if (!err)
		err = run__store_end(r);
	if (!err && r->parts_stored)
		rescue__copy_parts(r, first, first_id);
	free(first);
	return err;
}

/*
 * The database does not take the run (no space, a lock that stays): a database of its own elsewhere
 * may, and what was measured is not lost. The row in the first one stays as `running`.
 */
static void run__rescue(struct run *r)
{
	const char *tmp = getenv("TMPDIR");
	const char *const dirs[] = { tmp && *tmp ? tmp : "/tmp", "/var/tmp", "." };
	char path[4096];
	size_t i;

	for (i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		if (rescue__file(path, sizeof(path), dirs[i]))
			continue;
		if (!rescue__to(r, path)) {
			err__print("%s: does not take the run; it is stored in %s instead, read it there "
				   "with -d", r->o->db, path);
			return;
		}
		unlink(path);
	}
	err__print("%s: does not take the run, nor does any folder for temporary files: the run is "
		   "lost; free some space and record again", r->o->db);
}

static int run__do(struct run *r)
{
	int rc, err;

	rc = run__prepare(r);
	if (rc)
		return rc;
	err = run__measure(r);
	if (run__store_end(r)) {
		run__rescue(r);
		err = -EIO;
	}
	run__print_end(r);
	if (err)
		return EXIT_TOOL;
	if (strcmp(r->end.state, "complete"))
		return EXIT_WORSE;
	return r->checks.nr ? EXIT_INVALID : EXIT_GOOD;
}

/* They come through a descriptor while the workload runs, and wait until then. */
static int run__block_signals(struct run *r)
{
	struct sigaction hangup;
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGQUIT);
	/* Under nohup the run outlives its terminal. */
	if (sigaction(SIGHUP, NULL, &hangup) || hangup.sa_handler != SIG_IGN)
		sigaddset(&mask, SIGHUP);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	signal(SIGPIPE, SIG_IGN);
	/* Whoever started us may have ignored it: then there would be nobody to wait for. */
	signal(SIGCHLD, SIG_DFL);
	r->signal_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (r->signal_fd >= 0)
		return EXIT_GOOD;
	err__print("record: signals: %s; close some files", strerror(errno));
	return EXIT_TOOL;
}

/* Nothing begun; signals wait from here on until somebody reads them. 0 or the exit code. */
static int run__init(struct run *r, struct record_options *options)
{
	*r = (struct run){ .o = options, .signal_fd = -1, .perf_list = &options->perf,
			   .workload = { .go_fd = -1, .exec_fd = -1, .out_fd = -1 } };
	perfrun__init(&r->perf);
	return run__block_signals(r);
}

static int run__record(struct run *r)
{
	if (output__init(&r->output, STDOUT_FILENO, r->o->adapter, &r->o->rules)) {
		err__print("record: %s; free some memory", strerror(ENOMEM));
		return EXIT_TOOL;
	}
	return run__do(r);
}

/* One run more, in a process of its own. */
static int record_again(const struct record_options *o)
{
	struct record_options options = *o;
	struct run run;
	int rc = run__init(&run, &options);

	if (!rc)
		rc = run__record(&run);
	run__free(&run);
	return rc;
}

int cmd_record(int argc, char **argv)
{
	struct record_options options = { 0 };
	struct run run;
	/* First, so that nobody's Ctrl-C is lost: it waits until there is a run to mark by it. */
	int rc = run__init(&run, &options);

	if (!rc)
		rc = record_options__parse(&options, argc, argv);
	if (!rc)
		rc = check_command(options.argv[0]);
	if (!rc && options.calibrate)
		rc = calibrate__run(&options, options.calibrate, record_again, &options.cost);
	if (!rc)
		rc = run__record(&run);
	run__free(&run);
	record_options__free(&options);
	return rc;
}
