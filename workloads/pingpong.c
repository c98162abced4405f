// SPDX-License-Identifier: GPL-2.0-or-later
/* pingpong: moves itself between two nodes and back while its threads work on the memory. */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "workloads/lib/backing.h"
#include "workloads/lib/err.h"
#include "workloads/lib/node.h"
#include "workloads/lib/opt.h"
#include "workloads/lib/proto.h"
#include "workloads/lib/relax.h"
#include "workloads/lib/team.h"

#define SIZE_MAX_BYTES	(1ULL << 46)
/* Each thread has a word of its own in every page, so that it knows what must stand there. */
#define THREADS_MAX	512

const char *argp_program_version = "pingpong (migrc) " MIGRC_VERSION;

static struct {
	uint64_t bytes, rounds;
	double seconds;
	unsigned int threads;
	int from, to;
} conf = {
	.bytes = 96 << 20,
	.from = -1,
	.to = -1,
};

struct thread {
	uint64_t accesses;
	uint64_t bad_page, want, got;
	bool failed;
} __attribute__((aligned(64)));

struct pingpong {
	unsigned char *base;
	size_t page;
	uint64_t pages;
	struct thread *thread;
	atomic_bool stop;
};

struct total {
	uint64_t rounds, moves, moved, left;
	double move_s, seconds;
};

enum { OPT_ROUNDS = 256, OPT_SECONDS, OPT_FROM, OPT_TO };

static const struct argp_option options[] = {
	{ "threads", 't', "N", 0,
	  "Threads, each pinned to a CPU (default: one for each CPU but one, which moves)", 0 },
	{ "size", 's', "SIZE", 0, "Memory, MiB or with K, M, G (default: 96)", 0 },
	{ "rounds", OPT_ROUNDS, "N", 0, "Rounds, each there and back", 0 },
	{ "seconds", OPT_SECONDS, "S", 0, "Or: begin rounds for so long (default: 10)", 0 },
	{ "from", OPT_FROM, "NODE", 0, "First node (default: first with CPUs and memory)", 0 },
	{ "to", OPT_TO, "NODE", 0, "Other node (default: first without CPUs, else the second)", 0 },
	{ 0 }
};

static const char doc[] =
	"Move the whole process from one memory node to another and back, as migratepages(8) does, "
	"while threads read and write its memory."
	"\vEvery thread checks that it finds in each page what it wrote there last; if not, exit "
	"code 1.\n\n"
	"EXAMPLES:\n"
	"  pingpong --seconds 20                       96 MiB, a thread on each CPU but one\n"
	"  pingpong -t 4 -s 64 --rounds 50             fixed work\n"
	"  pingpong --from 0 --to 1 -s 256 --seconds 30";

static error_t parse(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case 't':
		conf.threads = (unsigned int)wl_opt__u64("--threads", arg, 1, THREADS_MAX);
		break;
	case 's':
		conf.bytes = wl_opt__size("--size", arg, 4096, SIZE_MAX_BYTES);
		break;
	case OPT_ROUNDS:
		conf.rounds = wl_opt__u64("--rounds", arg, 1, UINT32_MAX);
		break;
	case OPT_SECONDS:
		conf.seconds = wl_opt__double("--seconds", arg, 0.001, 1e9);
		break;
	case OPT_FROM:
		conf.from = (int)wl_opt__u64("--from", arg, 0, 63);
		break;
	case OPT_TO:
		conf.to = (int)wl_opt__u64("--to", arg, 0, 63);
		break;
	case ARGP_KEY_ARG:
		wl_opt__stray(arg);
	case ARGP_KEY_END:
		if (conf.rounds && conf.seconds > 0) {
			wl_err("--rounds and --seconds: only one can end the run; leave one out");
			exit(WL_EXIT_USAGE);
		}
		break;
	default:
		(void)state;
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* Counts up its own word of every page, over and over. */
static void touch(void *arg, unsigned int index)
{
	struct pingpong *pp = arg;
	struct thread *t = &pp->thread[index];

	for (uint64_t pass = 0; !t->failed; pass++) {
		for (uint64_t p = 0; p < pp->pages; p++) {
			volatile uint64_t *at =
				(volatile uint64_t *)(pp->base + p * pp->page) + index;
			uint64_t got = *at;

			if (got != pass) {
				t->bad_page = p;
				t->want = pass;
				t->got = got;
				t->failed = true;
				return;
			}
			*at = pass + 1;
			t->accesses += 2;
			if (p & 63)
				continue;
			if (atomic_load_explicit(&pp->stop, memory_order_relaxed))
				return;
			wl_relax();
		}
	}
}

/* 0, or the exit code. */
static int move_error(const char *what, int from, int to, long err)
{
	wl_err("%s from node %d to %d: %s; %s", what, from, to, strerror((int)-err),
	       err == -EPERM || err == -EACCES ? "run it as root" :
	       err == -ENOSYS ? "use a kernel with CONFIG_NUMA and CONFIG_MIGRATION" :
	       "see that both nodes are allowed in its cpuset and have room");
	return err == -EPERM || err == -EACCES || err == -ENOSYS ? WL_EXIT_UNSUPPORTED
								  : WL_EXIT_USAGE;
}

static int move_once(struct pingpong *pp, struct total *total, int from, int to)
{
	long before, after, left;
	double begin;

	before = wl_node__count(pp->base, conf.bytes, to);
	if (before < 0)
		return move_error("move_pages", from, to, before);
	begin = wl_now();
	left = wl_node__move(from, to);
	total->move_s += wl_now() - begin;
	if (left < 0)
		return move_error("migrate_pages", from, to, left);
	after = wl_node__count(pp->base, conf.bytes, to);
	if (after < 0)
		return move_error("move_pages", from, to, after);
	total->moves++;
	total->moved += after > before ? (uint64_t)(after - before) : 0;
	total->left += (uint64_t)left;
	return 0;
}

static int rounds_run(struct pingpong *pp, struct total *total)
{
	double begin = wl_now(), end = begin + (conf.seconds > 0 ? conf.seconds : 10);
	int ret = 0;

	while (!ret && (conf.rounds ? total->rounds < conf.rounds : wl_now() < end)) {
		ret = move_once(pp, total, conf.from, conf.to);
		if (!ret)
			ret = move_once(pp, total, conf.to, conf.from);
		if (!ret)
			total->rounds++;
	}
	total->seconds = wl_now() - begin;
	return ret;
}

/* 0, or the exit code if a thread found something that it had not written. */
static int check(const struct pingpong *pp, uint64_t *accesses)
{
	int ret = 0;

	*accesses = 0;
	for (unsigned int i = 0; i < conf.threads; i++) {
		const struct thread *t = &pp->thread[i];

		*accesses += t->accesses;
		if (t->failed) {
			wl_err("memory: page %" PRIu64 " held %" PRIu64 " where thread %u had "
			       "written %" PRIu64 "; do not trust this kernel with data",
			       t->bad_page, t->got, i, t->want);
			ret = WL_EXIT_FAILED;
		}
	}
	return ret;
}

static void print_result(const struct total *t, uint64_t accesses)
{
	double rate = t->move_s > 0 ? (double)t->moved / t->move_s : 0;
	char buf[32];

	printf("Nodes:       %d and %d, %" PRIu64 " MiB, %u threads\n", conf.from, conf.to,
	       conf.bytes >> 20, conf.threads);
	printf("Rounds:      %" PRIu64 " in %.3f seconds\n", t->rounds, t->seconds);
	printf("Moved:       %s pages\n", wl_proto__commas(t->moved, buf));
	printf("Moved/s:     %s while moving\n", wl_proto__commas((uint64_t)rate, buf));
	printf("Not moved:   %s pages\n", wl_proto__commas(t->left, buf));
	wl_proto__metric(stdout, "rounds", (double)t->rounds, "rounds",
			 conf.rounds ? WL_NEITHER : WL_HIGHER, conf.rounds ? WL_COUNT : WL_TIME);
	wl_proto__metric(stdout, "runtime", t->seconds, "s",
			 conf.rounds ? WL_LOWER : WL_NEITHER, WL_TIME);
	wl_proto__metric(stdout, "pages_moved_per_s", rate, "pages/s", WL_HIGHER, WL_TIME);
	wl_proto__metric(stdout, "pages_moved", (double)t->moved, "pages", WL_NEITHER, WL_COUNT);
	wl_proto__metric(stdout, "pages_not_moved", (double)t->left, "pages", WL_LOWER, WL_COUNT);
	wl_proto__metric(stdout, "accesses_per_s", (double)accesses / t->seconds, "1/s", WL_HIGHER,
			 WL_TIME);
}

static int run(struct pingpong *pp)
{
	struct total total = { 0 };
	struct wl_team team;
	uint64_t accesses;
	int err, ret;

	err = wl_team__start(&team, conf.threads, true, touch, pp);
	if (!err) {
		err = wl_team__pin_driver(conf.threads);
		if (err)
			wl_team__join(&team);
	}
	if (err) {
		wl_err("threads: cannot start %u: %s; lower -t", conf.threads, strerror(-err));
		return WL_EXIT_USAGE;
	}
	wl_team__go(&team);
	ret = rounds_run(pp, &total);
	atomic_store(&pp->stop, true);
	wl_team__join(&team);
	if (!ret)
		ret = check(pp, &accesses);
	if (!ret)
		print_result(&total, accesses);
	return ret;
}

int main(int argc, char **argv)
{
	static const struct argp argp = { options, parse, NULL, doc, NULL, NULL, NULL };
	struct wl_backing_opts opts = { .kind = WL_BACKING_ANON };
	struct pingpong pp = { 0 };
	struct wl_backing mem;
	int err, ret;

	argp_err_exit_status = WL_EXIT_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	if (!conf.threads)
		conf.threads = wl_team__beside_driver(THREADS_MAX);
	ret = wl_node__choose(&conf.from, &conf.to);
	if (ret)
		return ret;
	err = wl_backing__open(&mem, &opts, conf.bytes);
	if (err) {
		wl_backing__error(&opts, conf.bytes, err, "lower -s");
		return WL_EXIT_USAGE;
	}
	memset(mem.base, 0, mem.bytes);
	pp.base = mem.base;
	pp.page = (size_t)sysconf(_SC_PAGESIZE);
	pp.pages = conf.bytes / pp.page;
	pp.thread = aligned_alloc(64, conf.threads * sizeof(*pp.thread));
	if (pp.thread) {
		memset(pp.thread, 0, conf.threads * sizeof(*pp.thread));
		ret = run(&pp);
	} else {
		wl_backing__error(&opts, conf.threads * sizeof(*pp.thread), -ENOMEM, "lower -t");
		ret = WL_EXIT_USAGE;
	}
	free(pp.thread);
	wl_backing__close(&mem);
	return ret;
}
