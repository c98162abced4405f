// SPDX-License-Identifier: GPL-2.0-or-later
/* While the workload runs: its output, samples, raw events, signals, deadlines. One thread. */
#include <errno.h>
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

/* When each thing is to be done next, CLOCK_MONOTONIC. */
struct due {
	int64_t sample, drain, store, deadline, kill;
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
	struct event *bigger;
	size_t cap;

	r->received++;
	if (r->nr_events == r->cap_events) {
		cap = r->cap_events ? 2 * r->cap_events : 4096;
		bigger = realloc(r->events, cap * sizeof(*bigger));
		if (!bigger)
			return -ENOMEM;
		r->events = bigger;
		r->cap_events = cap;
	}
	r->events[r->nr_events++] = *e;
	return 0;
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

static int run__read_signals(struct run *r, struct due *due, int signal_fd)
{
	struct signalfd_siginfo info;
	ssize_t n;

	while ((n = read(signal_fd, &info, sizeof(info))) == (ssize_t)sizeof(info))
		if (info.ssi_signo != SIGCHLD)
			run__interrupt(r, due, (int)info.ssi_signo);
	return n < 0 && errno != EAGAIN && errno != EINTR ? -errno : 0;
}

/* Whatever the pipe holds now. *open is cleared at its end. */
static int run__read_output(struct run *r, bool *open)
{
	static char buf[65536];
	ssize_t n;
	int err;

	for (;;) {
		n = read(r->workload.out_fd, buf, sizeof(buf));
		if (n > 0) {
			err = output__feed(&r->output, buf, (size_t)n);
			if (err)
				return err;
			continue;
		}
		if (n < 0 && errno == EINTR)
			continue;
		if (!n)
			*open = false;
		return n < 0 && errno != EAGAIN ? -errno : 0;
	}
}

int run__finish_output(struct run *r)
{
	bool open = true;
	int err = run__read_output(r, &open);

	return err ? err : output__finish(&r->output);
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
	if (err >= 0 && now >= due->store) {
		err = run__store_samples(r);
		due->store = now + STORE_NS;
	}
	if (now >= due->deadline) {
		r->end.timed_out = true;
		workload__signal(&r->workload, SIGTERM);
		due->deadline = NEVER;
		due->kill = now + GRACE_NS;
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
	return due->kill < next ? due->kill : next;
}

/* Wait for output, a signal, or the next due time, and deal with what came. */
static int run__wait(struct run *r, struct due *due, int signal_fd, bool *output_open)
{
	struct pollfd fds[2] = {
		{ .fd = signal_fd, .events = POLLIN },
		{ .fd = *output_open ? r->workload.out_fd : -1, .events = POLLIN },
	};
	int64_t left = due__next(due) - clock__ns(CLOCK_MONOTONIC);
	struct timespec ts;
	int err = 0;

	left = left < 0 ? 0 : left > 3600 * NS_PER_S ? 3600 * NS_PER_S : left;
	ts.tv_sec = left / NS_PER_S;
	ts.tv_nsec = left % NS_PER_S;
	if (ppoll(fds, 2, &ts, NULL) < 0 && errno != EINTR)
		return -errno;
	if (fds[0].revents)
		err = run__read_signals(r, due, signal_fd);
	if (!err && fds[1].revents)
		err = run__read_output(r, output_open);
	return err ? err : run__do_due(r, due);
}

static void run__note_end(struct run *r)
{
	struct run_end *end = &r->end;

	end->wall_ns = clock__ns(CLOCK_MONOTONIC) - r->t0_ns;
	if (WIFEXITED(r->workload.status)) {
		end->has_exit_code = true;
		end->exit_code = WEXITSTATUS(r->workload.status);
	} else if (WIFSIGNALED(r->workload.status)) {
		end->has_signal = true;
		end->term_signal = WTERMSIG(r->workload.status);
	}
}

/* Until the workload has ended; after an error it is killed, so that it ends. */
static int run__until_end(struct run *r, struct due *due, int signal_fd)
{
	bool output_open = true;
	int ended, err = 0;

	for (;;) {
		ended = workload__reap(&r->workload);
		if (ended)
			break;
		if (!err) {
			err = run__wait(r, due, signal_fd, &output_open);
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

int run__loop(struct run *r)
{
	struct due due = { NEVER, NEVER, NEVER, NEVER, NEVER };
	sigset_t mask;
	int signal_fd, err;

	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGHUP);
	signal_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signal_fd < 0)
		return -errno;
	r->end.started_ns = clock__ns(CLOCK_REALTIME);
	r->t0_ns = clock__ns(CLOCK_MONOTONIC);
	if (r->o->interval_ms) {
		due.sample = r->t0_ns;
		due.store = r->t0_ns + STORE_NS;
	}
	if (r->o->events)
		due.drain = r->t0_ns + DRAIN_NS;
	if (r->o->timeout_s)
		due.deadline = r->t0_ns + r->o->timeout_s * NS_PER_S;
	err = workload__start(&r->workload);
	if (err) {
		err__print("%s: cannot run: %s; check the command", r->o->argv[0], strerror(-err));
		workload__reap(&r->workload);
		close(signal_fd);
		return err;
	}
	err = run__until_end(r, &due, signal_fd);
	close(signal_fd);
	if (err)
		err__print("record: while running: %s; the workload was ended", strerror(-err));
	return err;
}
