// SPDX-License-Identifier: GPL-2.0-or-later
/* While the workload runs: its output, samples, raw events, signals, deadlines. One thread. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collector/err.h"
#include "collector/record.h"

#define NS_PER_MS	1000000LL
#define NS_PER_S	1000000000LL
#define DRAIN_NS	(20 * NS_PER_MS)
#define STORE_NS	(5 * NS_PER_S)
/* Between asking the workload to end and making it. */
#define GRACE_NS	(5 * NS_PER_S)
#define NEVER		INT64_MAX
/* A pipe that polls as writable takes so much without blocking: PIPE_BUF. */
#define OUTPUT_CHUNK	4096
#define OUTPUT_BURST	65536

/* When each thing is to be done next, CLOCK_MONOTONIC. */
struct due {
	int64_t sample, drain, store, deadline, kill, progress;
};

int64_t clock__ns(int clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (int64_t)ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

int run__keep_event(void *ctx, const struct event *e)
{
	struct run *r = ctx;

	return event_log__add(&r->events, e);
}

/* Ctrl-C and the like: passed on, the run goes on to its end as interrupted. A second one kills. */
static void run__interrupt(struct run *r, struct due *due, int sig)
{
	if (r->interrupted) {
		workload__signal(&r->workload, SIGKILL);
		return;
	}
	r->interrupted = true;
	workload__signal(&r->workload, sig);
	due->kill = clock__ns(CLOCK_MONOTONIC) + GRACE_NS;
}

static int run__read_signals(struct run *r, struct due *due)
{
	struct signalfd_siginfo info;
	ssize_t n;

	while ((n = read(r->signal_fd, &info, sizeof(info))) == (ssize_t)sizeof(info))
		if (info.ssi_signo != SIGCHLD)
			run__interrupt(r, due, (int)info.ssi_signo);
	return n < 0 && errno != EAGAIN && errno != EINTR ? -errno : 0;
}

/*
 * Can stdout take what is read next? A reader that has stopped (a pager) must stop the workload,
 * not us: there are signals and deadlines to look after.
 */
static bool run__may_pass(const struct run *r, int timeout_ms)
{
	struct pollfd out = { .fd = r->output.to_fd, .events = POLLOUT };

	return r->output.write_err || poll(&out, 1, timeout_ms) != 0;
}

/*
 * Up to *left bytes of what the pipe holds, so that a workload that prints without end leaves time
 * for the rest. *state is -EPIPE after the pipe's end, -EAGAIN when it is empty, -EBUSY when stdout
 * is in the way.
 */
static int run__read_output(struct run *r, size_t *left, int *state)
{
	char buf[OUTPUT_CHUNK];
	ssize_t n;
	int err;

	*state = 0;
	while (*left) {
		if (!run__may_pass(r, 0)) {
			*state = -EBUSY;
			return 0;
		}
		n = read(r->workload.out_fd, buf, sizeof(buf));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			*state = n ? -errno : -EPIPE;
			return *state == -EPIPE || *state == -EAGAIN ? 0 : *state;
		}
		progress__hide(&r->progress);
		err = output__feed(&r->output, buf, (size_t)n);
		if (err)
			return err;
		*left -= (size_t)n < *left ? (size_t)n : *left;
	}
	return 0;
}

/* A signal came that ends the wait for a reader of stdout. */
static bool run__told_to_end(const struct run *r)
{
	struct signalfd_siginfo info;
	bool told = false;

	while (read(r->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		told |= info.ssi_signo != SIGCHLD;
	return told;
}

/*
 * The workload has ended: what its pipe held then. One that has left a child of its own session
 * behind may print for ever: not more than a pipe holds.
 */
int run__finish_output(struct run *r)
{
	int held = fcntl(r->workload.out_fd, F_GETPIPE_SZ);
	size_t left = held > 0 ? (size_t)held : OUTPUT_BURST;
	int64_t give_up = NEVER;
	int err, state;

	if (r->interrupted || r->end.timed_out)
		give_up = clock__ns(CLOCK_MONOTONIC) + GRACE_NS;
	while (!(err = run__read_output(r, &left, &state)) && state == -EBUSY) {
		run__may_pass(r, 100);
		if (run__told_to_end(r) || clock__ns(CLOCK_MONOTONIC) >= give_up)
			r->output.write_err = -EAGAIN;	/* still read, for the results in it */
	}
	return err ? err : output__finish(&r->output);
}

/* Store what there is so far, or keep it for the end; whether to try again before. */
static bool run__keep_part(struct run *r)
{
	int err = run__store_part(r);

	if (!err || err == -EBUSY)
		return true;
	err__print("record: the run goes on; what it measures is kept in memory until its end");
	return false;
}

/* Everything whose time has come. */
static int run__do_due(struct run *r, struct due *due)
{
	int64_t now = clock__ns(CLOCK_MONOTONIC);
	int err = 0;

	if (now >= due->sample) {
		/* A round that failed is counted and told at the end; the next one is tried. */
		sampler__take(&r->sampler, now - r->t0_ns);
		due->sample += r->o->interval_ms * NS_PER_MS;
		if (due->sample < now)		/* late by more than a round: skip, do not hurry */
			due->sample = now + r->o->interval_ms * NS_PER_MS;
	}
	if (now >= due->drain) {
		err = probes__drain(r->probes, run__keep_event, r);
		due->drain = now + DRAIN_NS;
	}
	if (now >= due->store) {
		/* A full disk is no reason to end the workload: there may be room at its end. */
		due->store = run__keep_part(r) ? now + STORE_NS : NEVER;
	}
	if (now >= due->deadline) {
		r->end.timed_out = true;
		workload__signal(&r->workload, SIGTERM);
		due->deadline = NEVER;
		due->kill = now + GRACE_NS;
	}
	if (now >= due->progress) {
		progress__set(&r->progress, (uint64_t)(now - r->t0_ns));
		due->progress = now + NS_PER_S;
	}
	if (now >= due->kill) {
		workload__signal(&r->workload, SIGKILL);
		due->kill = NEVER;
	}
	return err < 0 ? err : 0;
}

static int64_t due__next(const struct due *due)
{
	int64_t next = due->sample;

	next = due->drain < next ? due->drain : next;
	next = due->store < next ? due->store : next;
	next = due->deadline < next ? due->deadline : next;
	next = due->progress < next ? due->progress : next;
	return due->kill < next ? due->kill : next;
}

/* Wait for output, a signal, or the next due time, and deal with what came. */
static int run__wait(struct run *r, struct due *due, int *output)
{
	struct pollfd fds[2] = {
		{ .fd = r->signal_fd, .events = POLLIN },
		{ .fd = r->workload.out_fd, .events = POLLIN },
	};
	int64_t left = due__next(due) - clock__ns(CLOCK_MONOTONIC);
	size_t burst = OUTPUT_BURST;
	struct timespec ts;
	int err = 0;

	if (*output == -EPIPE)
		fds[1].fd = -1;
	else if (*output == -EBUSY)
		fds[1] = (struct pollfd){ .fd = r->output.to_fd, .events = POLLOUT };
	left = left < 0 ? 0 : left > 3600 * NS_PER_S ? 3600 * NS_PER_S : left;
	ts.tv_sec = left / NS_PER_S;
	ts.tv_nsec = left % NS_PER_S;
	if (ppoll(fds, 2, &ts, NULL) < 0 && errno != EINTR)
		return -errno;
	if (fds[0].revents)
		err = run__read_signals(r, due);
	if (!err && fds[1].revents)
		err = run__read_output(r, &burst, output);
	return err ? err : run__do_due(r, due);
}

static void run__note_end(struct run *r)
{
	struct run_end *end = &r->end;

	end->wall_ns = clock__ns(CLOCK_MONOTONIC) - r->t0_ns;
	end->has_wall = true;
	if (WIFEXITED(r->workload.status)) {
		end->has_exit_code = true;
		end->exit_code = WEXITSTATUS(r->workload.status);
	} else if (WIFSIGNALED(r->workload.status)) {
		end->has_signal = true;
		end->term_signal = WTERMSIG(r->workload.status);
	}
}

/* Until the workload has ended; after an error it is killed, so that it ends. */
static int run__until_end(struct run *r, struct due *due)
{
	int output = 0, ended, err = 0;

	for (;;) {
		ended = workload__reap(&r->workload);
		if (ended)
			break;
		if (!err) {
			err = run__wait(r, due, &output);
			if (err)
				workload__signal(&r->workload, SIGKILL);
		} else {
			usleep(10000);
		}
	}
	run__note_end(r);
	/* What it left running in the background would run into the next measurement. */
	workload__signal(&r->workload, SIGKILL);
	return err ? err : ended < 0 ? ended : 0;
}

/* How long complete runs of the same workload in this database took, mean; 0 if there are none. */
static uint64_t run__expected_ns(struct run *r)
{
	sqlite3_stmt *stmt = NULL;
	int64_t ns = 0;

	if (sqlite3_prepare_v2(r->store.db, "SELECT avg(wall_ns) FROM run WHERE state = 'complete' AND "
			       "workload = (SELECT workload FROM run WHERE id = ?)", -1, &stmt,
			       NULL) == SQLITE_OK &&
	    sqlite3_bind_int64(stmt, 1, r->id) == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW)
		ns = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return ns > 0 ? (uint64_t)ns : 0;
}

int run__loop(struct run *r)
{
	struct due due = { NEVER, NEVER, NEVER, NEVER, NEVER, NEVER };
	int err;

	progress__begin(&r->progress, "running", term__redraws(STDERR_FILENO) ? run__expected_ns(r) : 0);
	r->end.started_ns = clock__ns(CLOCK_REALTIME);
	r->t0_ns = clock__ns(CLOCK_MONOTONIC);
	if (r->o->interval_ms)
		due.sample = r->t0_ns;
	if (r->o->probes.event_every)
		due.drain = r->t0_ns + DRAIN_NS;
	if (r->o->interval_ms || r->o->probes.event_every)
		due.store = r->t0_ns + STORE_NS;
	if (r->o->timeout_s)
		due.deadline = r->t0_ns + r->o->timeout_s * NS_PER_S;
	/* Nobody looks: nothing to wake up for. */
	if (r->progress.on)
		due.progress = r->t0_ns + NS_PER_S;
	err = workload__start(&r->workload);
	if (err) {
		err__print("%s: cannot run: %s; check the command", r->o->argv[0], strerror(-err));
		workload__reap(&r->workload);
		return err;
	}
	err = run__until_end(r, &due);
	progress__end(&r->progress);
	if (err)
		err__print("record: while running: %s; the workload was ended", strerror(-err));
	return err;
}
