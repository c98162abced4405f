// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cost: what single operations of memory management cost, in units of the clock. In a guest whose
 * clock counts instructions (a plan with `icount on`) the unit is the instruction, of all CPUs, and
 * what is measured can be told apart to a few of them.
 *
 * The first part runs alone: faults, write(2), mprotect(2), fork(2). With them in between, a page of
 * other memory has just been migrated, so that with migrc something is pending meanwhile. The second
 * part migrates, while readers on all other CPUs have the translations in their TLBs.
 *
 * Readers wait in a loop of PAUSE, at which an emulator in one thread goes on to the next CPU: they
 * add next to nothing to what the clock counts, but for the IPIs that they get.
 *
 * What is told is the median of many repetitions: timer ticks fall on a few of them only.
 */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <numaif.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "workloads/lib/cgroup.h"
#include "workloads/lib/err.h"
#include "workloads/lib/node.h"
#include "workloads/lib/opt.h"
#include "workloads/lib/proto.h"
#include "workloads/lib/relax.h"
#include "workloads/lib/sample.h"
#include "workloads/lib/team.h"
#include "workloads/lib/vmstat.h"

#define VMSTAT_FILE	"/proc/vmstat"
#define DRAIN_FILE	"/proc/sys/vm/migrc_drain"
/* Pages of one round of single operations, and of the smaller of two calls whose costs differ. */
#define PAGES		512
#define SMALL		128
/* What fault-around maps at once. */
#define AROUND		16
/* Migrations: pages of a call (one batch of the kernel's), calls of a round. */
#define MOVE_PAGES	512
#define MOVE_SMALL	128
#define MOVES		8
#define DEMOTE_PAGES	2048
#define HELD_PAGES	16

const char *argp_program_version = "cost (migrc) " MIGRC_VERSION;

static struct {
	unsigned int rounds, readers;
	bool instructions;
	const char *only, *cgroup_root;
	int fast, slow;
} conf = { .rounds = 10, .cgroup_root = "/sys/fs/cgroup", .fast = -1, .slow = -1 };

struct cost {
	double clock;			/* what reading the clock twice costs */
	size_t page;
	cpu_set_t cpus;			/* that this process may run on */
	char *held;			/* other memory, which is migrated before each operation */
	int held_fd, held_node;
	uint64_t held_min;		/* least that was pending after an operation */
	bool held_known;
	struct wl_cgroup cg;
	const volatile char *watch;	/* what the readers read, and how many pages */
	_Atomic uint64_t watch_pages;
	_Atomic uint64_t sweep;		/* the sweep that is asked for, and who has done it */
	_Atomic uint64_t swept[WL_TEAM_MAX];
	atomic_bool stop;
};

struct op {
	const char *name, *what;
	int (*round)(struct cost *c, struct wl_sample *s);	/* 0 or -errno */
	bool readers;			/* in the second part */
};

enum { OPT_INSTRUCTIONS = 256, OPT_ROUNDS, OPT_CGROUP, OPT_FAST, OPT_SLOW, OPT_ONLY };

static const struct argp_option options[] = {
	{ "instructions", OPT_INSTRUCTIONS, NULL, 0,
	  "The clock counts instructions: see that it does, and give counts instead of times", 0 },
	{ "rounds", OPT_ROUNDS, "N", 0, "Repetitions of each operation's round (default: 10)", 0 },
	{ "readers", 't', "N", 0, "Readers while it migrates (default: one for each other CPU)", 0 },
	{ "only", OPT_ONLY, "NAME", 0, "Measure this operation alone", 0 },
	{ "cgroup-root", OPT_CGROUP, "DIR", 0, "cgroup v2 to make a group in "
	  "(default: /sys/fs/cgroup)", 0 },
	{ "fast", OPT_FAST, "NODE", 0, "Node to work on (default: first with CPUs)", 0 },
	{ "slow", OPT_SLOW, "NODE", 0, "Node to migrate to (default: first without CPUs)", 0 },
	{ 0 }
};

static const char doc[] =
	"Measure what single operations of memory management cost: write faults, write(2), "
	"mprotect(2), fork(2), migration of pages by move_pages(2) and by demotion."
	"\vNeeds root, two memory tiers with demotion enabled, and cgroup v2.\n\n"
	"EXAMPLES:\n"
	"  cost                                        times, on whatever machine\n"
	"  cost --instructions                         in a guest with a clock of instructions\n"
	"  cost --instructions --only wp_reuse_anon";

static error_t parse(int key, char *arg, struct argp_state *state)
{
	(void)state;
	switch (key) {
	case OPT_INSTRUCTIONS:
		conf.instructions = true;
		break;
	case OPT_ROUNDS:
		conf.rounds = (unsigned int)wl_opt__u64("--rounds", arg, 1, 1000000);
		break;
	case 't':
		conf.readers = (unsigned int)wl_opt__u64("--readers", arg, 1, WL_TEAM_MAX);
		break;
	case OPT_ONLY:
		conf.only = arg;
		break;
	case OPT_CGROUP:
		conf.cgroup_root = arg;
		break;
	case OPT_FAST:
		conf.fast = (int)wl_opt__u64("--fast", arg, 0, 63);
		break;
	case OPT_SLOW:
		conf.slow = (int)wl_opt__u64("--slow", arg, 0, 63);
		break;
	case ARGP_KEY_ARG:
		wl_opt__stray(arg);
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* --- the clock --------------------------------------------------------------------------------*/

static uint64_t now(void)
{
	struct timespec ts;

	/* Raw: nobody corrects its rate. */
	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static int add(struct cost *c, struct wl_sample *s, uint64_t begin, uint64_t end, double units)
{
	return wl_sample__add(s, ((double)(end - begin) - c->clock) / units);
}

static int round_clock(struct cost *c, struct wl_sample *s)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < PAGES; i++) {
		uint64_t begin = now();

		err = add(c, s, begin, now(), 1);
	}
	return err;
}

/* Two instructions, so many times. -ENOSYS where we do not know how. */
static int loop(uint64_t times)
{
#ifdef __x86_64__
	asm volatile("1: dec %0\n\tjnz 1b" : "+r" (times) : : "cc");
	return 0;
#else
	(void)times;
	return -ENOSYS;
#endif
}

/* The shortest of some runs of a known number of instructions, against the clock: 0 or exit code. */
static int instructions_check(struct cost *c)
{
	const uint64_t times = 100000;
	double least = 0, want = 2.0 * (double)times;

	for (unsigned int i = 0; i < 20; i++) {
		uint64_t begin = now(), end;

		if (loop(times)) {
			wl_err("--instructions: not on this architecture; leave it out");
			return WL_EXIT_UNSUPPORTED;
		}
		end = now();
		if (!i || (double)(end - begin) - c->clock < least)
			least = (double)(end - begin) - c->clock;
	}
	if (least > 0.999 * want && least < 1.001 * want)
		return 0;
	wl_err("--instructions: %.0f instructions took %.0f ns; boot with `icount on`, or leave it out",
	       want, least);
	return WL_EXIT_UNSUPPORTED;
}

/* --- memory -----------------------------------------------------------------------------------*/

static int map_anon(struct cost *c, size_t pages, char **out)
{
	char *p = mmap(NULL, pages * c->page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);

	if (p == MAP_FAILED)
		return -errno;
	*out = p;
	if (madvise(p, pages * c->page, MADV_NOHUGEPAGE) && errno != EINVAL)
		return -errno;
	return 0;
}

static int map_file(struct cost *c, int fd, size_t pages, int prot, char **out)
{
	char *p = mmap(NULL, pages * c->page, prot, MAP_SHARED, fd, 0);

	*out = p;
	return p == MAP_FAILED ? -errno : 0;
}

static int unmap(struct cost *c, char *base, size_t pages)
{
	return munmap(base, pages * c->page) ? -errno : 0;
}

/* A file in memory; filled by write(2) if asked. */
static int open_file(struct cost *c, size_t pages, bool fill, int *fd)
{
	char buf[4096] = "migrc";

	*fd = memfd_create("migrc-cost", MFD_CLOEXEC);
	if (*fd < 0)
		return -errno;
	if (ftruncate(*fd, (off_t)(pages * c->page)))
		return -errno;
	for (size_t at = 0; fill && at < pages * c->page; at += sizeof(buf))
		if (pwrite(*fd, buf, sizeof(buf), (off_t)at) != sizeof(buf))
			return -errno;
	return 0;
}

static void write_all(struct cost *c, char *base, size_t pages)
{
	for (size_t i = 0; i < pages; i++)
		((volatile char *)base)[i * c->page] = 1;
}

/* A write to each page, each measured: a fault each. */
static int write_each(struct cost *c, struct wl_sample *s, char *base)
{
	int err = 0;

	for (size_t i = 0; !err && i < PAGES; i++) {
		volatile char *at = base + i * c->page;
		uint64_t begin = now();

		*at = 1;
		err = add(c, s, begin, now(), 1);
	}
	return err;
}

static int move(struct cost *c, char *base, size_t pages, int node)
{
	void *at[MOVE_PAGES];
	int nodes[MOVE_PAGES] = { 0 }, status[MOVE_PAGES];

	for (size_t i = 0; i < pages; i++) {
		at[i] = base + i * c->page;
		nodes[i] = node;
	}
	if (move_pages(0, pages, at, nodes, status, MPOL_MF_MOVE) < 0)
		return -errno;
	for (size_t i = 0; i < pages; i++)
		if (status[i] != node)
			return status[i] < 0 ? status[i] : -EIO;
	return 0;
}

/* Other memory goes to the other node: with migrc, and if the mask allows it, it is pending then. */
static int hold(struct cost *c)
{
	c->held_node = c->held_node == conf.fast ? conf.slow : conf.fast;
	for (size_t i = 0; i < HELD_PAGES; i++)
		(void)((const volatile char *)c->held)[i * c->page];
	return move(c, c->held, HELD_PAGES, c->held_node);
}

static int held_note(struct cost *c)
{
	struct wl_vmstat v = { 0 };
	uint64_t n;
	int err = wl_vmstat__read(&v, VMSTAT_FILE);

	if (!err && !wl_vmstat__get(&v, "nr_migrc_pending", &n)) {
		c->held_min = c->held_known && c->held_min < n ? c->held_min : n;
		c->held_known = true;
	}
	wl_vmstat__free(&v);
	return err;
}

/* What is pending is released, if this kernel has such a thing. */
static int drain(void)
{
	int err = 0, fd = open(DRAIN_FILE, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	if (write(fd, "1", 1) != 1)
		err = -errno;
	close(fd);
	return err;
}

/* --- alone ------------------------------------------------------------------------------------*/

static int round_fault_anon(struct cost *c, struct wl_sample *s)
{
	char *base;
	int err = map_anon(c, PAGES, &base);

	if (!err)
		err = write_each(c, s, base);
	return err ? err : unmap(c, base, PAGES);
}

/* A child that waits until its end of the pipe is closed, or not at all. */
static int child_start(int pipe_fd[2], bool waits, pid_t *pid)
{
	char end;

	if (pipe(pipe_fd))
		return -errno;
	*pid = fork();
	if (*pid < 0)
		return -errno;
	if (*pid)
		return 0;
	close(pipe_fd[1]);
	if (waits)
		(void)!read(pipe_fd[0], &end, 1);
	_exit(0);
}

static int child_end(const int pipe_fd[2], pid_t pid)
{
	close(pipe_fd[0]);
	close(pipe_fd[1]);
	return waitpid(pid, NULL, 0) < 0 ? -errno : 0;
}

/* fork(2) makes the PTEs read-only; when the child has gone, the page is nobody else's. */
static int round_wp_reuse(struct cost *c, struct wl_sample *s)
{
	int err, pipe_fd[2];
	pid_t pid;
	char *base;

	err = map_anon(c, PAGES, &base);
	if (err)
		return err;
	write_all(c, base, PAGES);
	err = child_start(pipe_fd, false, &pid);
	if (!err)
		err = child_end(pipe_fd, pid);
	if (!err)
		err = write_each(c, s, base);
	return err ? err : unmap(c, base, PAGES);
}

/* While the child is there, the page is shared: copied. */
static int round_wp_copy(struct cost *c, struct wl_sample *s)
{
	int err, more, pipe_fd[2];
	pid_t pid;
	char *base;

	err = map_anon(c, PAGES, &base);
	if (err)
		return err;
	write_all(c, base, PAGES);
	err = child_start(pipe_fd, true, &pid);
	if (err)
		return err;
	err = write_each(c, s, base);
	more = child_end(pipe_fd, pid);
	err = err ? err : more;
	return err ? err : unmap(c, base, PAGES);
}

/* Faults of a shared mapping of a file, which has its pages already or not. */
static int shmem_faults(struct cost *c, struct wl_sample *s, bool fill)
{
	char *base = MAP_FAILED;
	int fd, err;

	err = open_file(c, PAGES, fill, &fd);
	if (!err)
		err = map_file(c, fd, PAGES, PROT_READ | PROT_WRITE, &base);
	if (!err)
		err = write_each(c, s, base);
	if (base != MAP_FAILED)
		unmap(c, base, PAGES);
	if (fd >= 0)
		close(fd);
	return err;
}

static int round_fault_shmem_new(struct cost *c, struct wl_sample *s)
{
	return shmem_faults(c, s, false);
}

static int round_fault_shmem_cached(struct cost *c, struct wl_sample *s)
{
	return shmem_faults(c, s, true);
}

/* A read fault maps what is around as well. */
static int round_fault_around(struct cost *c, struct wl_sample *s)
{
	char *base = MAP_FAILED;
	int fd, err;

	err = open_file(c, PAGES, true, &fd);
	if (!err)
		err = map_file(c, fd, PAGES, PROT_READ | PROT_WRITE, &base);
	for (size_t i = 0; !err && i < PAGES; i += AROUND) {
		uint64_t begin = now();

		(void)((const volatile char *)base)[i * c->page];
		err = add(c, s, begin, now(), 1);
	}
	if (base != MAP_FAILED)
		unmap(c, base, PAGES);
	if (fd >= 0)
		close(fd);
	return err;
}

static int round_pwrite(struct cost *c, struct wl_sample *s)
{
	char buf[4096] = "again";
	int fd, err;

	err = open_file(c, PAGES, true, &fd);
	for (size_t i = 0; !err && i < PAGES; i++) {
		uint64_t begin = now();
		ssize_t n = pwrite(fd, buf, sizeof(buf), (off_t)(i * c->page));

		err = n == sizeof(buf) ? add(c, s, begin, now(), 1) : -EIO;
	}
	if (fd >= 0)
		close(fd);
	return err;
}

/* Half of a page becomes zeroes. */
static int round_punch(struct cost *c, struct wl_sample *s)
{
	int fd, err;

	err = open_file(c, PAGES, true, &fd);
	for (size_t i = 0; !err && i < PAGES; i++) {
		uint64_t begin = now();

		if (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			      (off_t)(i * c->page), (off_t)c->page / 2))
			err = -errno;
		else
			err = add(c, s, begin, now(), 1);
	}
	if (fd >= 0)
		close(fd);
	return err;
}

static int timed_mprotect(struct cost *c, char *base, size_t pages, int prot, uint64_t *took)
{
	uint64_t begin = now();

	if (mprotect(base, pages * c->page, prot))
		return -errno;
	*took = now() - begin;
	return 0;
}

/* To PROT and back, with SMALL and with PAGES pages: the difference is what a page costs. */
static int mprotect_pages(struct cost *c, struct wl_sample *s, bool measure_back)
{
	static const size_t sizes[] = { SMALL, PAGES };
	uint64_t took[2] = { 0 }, back[2] = { 0 };
	char *base;
	int err = 0;

	for (unsigned int i = 0; !err && i < 2; i++) {
		err = map_anon(c, sizes[i], &base);
		if (err)
			break;
		write_all(c, base, sizes[i]);
		err = timed_mprotect(c, base, sizes[i], PROT_READ, &took[i]);
		if (!err)
			err = timed_mprotect(c, base, sizes[i], PROT_READ | PROT_WRITE, &back[i]);
		if (!err)
			err = unmap(c, base, sizes[i]);
	}
	if (err)
		return err;
	if (measure_back)
		return wl_sample__add(s, ((double)back[1] - (double)back[0]) / (PAGES - SMALL));
	return wl_sample__add(s, ((double)took[1] - (double)took[0]) / (PAGES - SMALL));
}

static int round_mprotect_ro(struct cost *c, struct wl_sample *s)
{
	return mprotect_pages(c, s, false);
}

static int round_mprotect_rw(struct cost *c, struct wl_sample *s)
{
	return mprotect_pages(c, s, true);
}

/* fork(2) until the child is waited for: its end belongs to it, and its CPU is this one. */
static int timed_fork(struct cost *c, size_t pages, uint64_t *took)
{
	uint64_t begin;
	pid_t pid;
	char *base;
	int err = map_anon(c, pages, &base);

	if (err)
		return err;
	write_all(c, base, pages);
	begin = now();
	pid = fork();
	if (!pid)
		_exit(0);
	if (pid < 0 || waitpid(pid, NULL, 0) < 0)
		return -errno;
	*took = now() - begin;
	return unmap(c, base, pages);
}

static int round_fork(struct cost *c, struct wl_sample *s)
{
	uint64_t few, many;
	int err = timed_fork(c, SMALL, &few);

	if (!err)
		err = timed_fork(c, PAGES, &many);
	return err ? err : wl_sample__add(s, ((double)many - (double)few) / (PAGES - SMALL));
}

static int round_fork_call(struct cost *c, struct wl_sample *s)
{
	uint64_t took;
	int err = timed_fork(c, 1, &took);

	return err ? err : wl_sample__add(s, (double)took);
}

/* --- readers ----------------------------------------------------------------------------------*/

static void reader_main(void *arg, unsigned int index)
{
	struct cost *c = arg;
	uint64_t done = 0;

	while (!atomic_load_explicit(&c->stop, memory_order_relaxed)) {
		uint64_t sweep = atomic_load_explicit(&c->sweep, memory_order_acquire);

		if (sweep == done) {
			wl_relax();
			continue;
		}
		done = sweep;
		for (size_t i = 0; i < c->watch_pages; i++)
			(void)c->watch[i * c->page];
		atomic_store_explicit(&c->swept[index], sweep, memory_order_release);
	}
}

/* Each reader, and the caller, reads every page once: all their TLBs have the translations then. */
static void sweep(struct cost *c, const char *base, size_t pages)
{
	uint64_t n;

	c->watch = base;
	c->watch_pages = pages;
	n = atomic_fetch_add(&c->sweep, 1) + 1;
	for (size_t i = 0; i < pages; i++)
		(void)((const volatile char *)base)[i * c->page];
	for (unsigned int i = 0; i < conf.readers; i++)
		while (atomic_load_explicit(&c->swept[i], memory_order_acquire) != n)
			wl_relax();
}

/* --- migration --------------------------------------------------------------------------------*/

enum kind { KIND_TMPFS, KIND_ANON, KIND_ANON_RO };

struct memory {
	char *base;
	size_t pages;
	int fd;
};

static int memory_get(struct cost *c, struct memory *m, enum kind kind, size_t pages)
{
	int err;

	*m = (struct memory){ .base = MAP_FAILED, .pages = pages, .fd = -1 };
	if (kind == KIND_TMPFS) {
		err = open_file(c, pages, true, &m->fd);
		return err ? err : map_file(c, m->fd, pages, PROT_READ, &m->base);
	}
	err = map_anon(c, pages, &m->base);
	if (err)
		return err;
	write_all(c, m->base, pages);
	if (kind == KIND_ANON_RO && mprotect(m->base, pages * c->page, PROT_READ))
		return -errno;
	return 0;
}

static void memory_put(struct cost *c, struct memory *m)
{
	if (m->base != MAP_FAILED)
		unmap(c, m->base, m->pages);
	if (m->fd >= 0)
		close(m->fd);
}

/*
 * There and back, again and again, then release what is pending: what a page costs, everything in
 * it, the readers' sweeps as well (ten instructions of each a page).
 */
static int move_all(struct cost *c, struct wl_sample *s, enum kind kind)
{
	struct memory m;
	uint64_t begin = 0;
	int err = memory_get(c, &m, kind, MOVE_PAGES);

	if (!err) {
		sweep(c, m.base, MOVE_PAGES);
		begin = now();
	}
	for (unsigned int i = 0; !err && i < MOVES; i++) {
		err = move(c, m.base, MOVE_PAGES, i % 2 ? conf.fast : conf.slow);
		if (!err)
			sweep(c, m.base, MOVE_PAGES);
	}
	if (!err)
		err = drain();
	if (!err)
		err = add(c, s, begin, now(), MOVES * MOVE_PAGES);
	memory_put(c, &m);
	return err;
}

static int round_move_tmpfs(struct cost *c, struct wl_sample *s)
{
	return move_all(c, s, KIND_TMPFS);
}

static int round_move_anon(struct cost *c, struct wl_sample *s)
{
	return move_all(c, s, KIND_ANON);
}

static int round_move_anon_ro(struct cost *c, struct wl_sample *s)
{
	return move_all(c, s, KIND_ANON_RO);
}

/* The call alone: two sizes of it, their difference. */
static int round_move_call(struct cost *c, struct wl_sample *s)
{
	static const size_t sizes[] = { MOVE_SMALL, MOVE_PAGES };
	double took[2] = { 0 };
	struct memory m;
	int err = memory_get(c, &m, KIND_TMPFS, MOVE_PAGES);

	for (unsigned int i = 0; !err && i < 4; i++) {
		uint64_t begin;

		sweep(c, m.base, MOVE_PAGES);
		begin = now();
		err = move(c, m.base, sizes[i / 2], i % 2 ? conf.fast : conf.slow);
		took[i / 2] += (double)(now() - begin);
	}
	memory_put(c, &m);
	if (!err)
		err = drain();
	return err ? err : wl_sample__add(s, (took[1] - took[0]) / (2 * (MOVE_PAGES - MOVE_SMALL)));
}

/* The first write(2) to a file of which pages have just been migrated. */
static int round_pwrite_after_move(struct cost *c, struct wl_sample *s)
{
	struct memory m;
	uint64_t begin;
	char buf[4096] = "after";
	int err = memory_get(c, &m, KIND_TMPFS, MOVE_SMALL);

	if (!err) {
		sweep(c, m.base, MOVE_SMALL);
		err = move(c, m.base, MOVE_SMALL, conf.slow);
	}
	if (!err) {
		begin = now();
		err = pwrite(m.fd, buf, sizeof(buf), 0) == sizeof(buf) ? 0 : -EIO;
		if (!err)
			err = add(c, s, begin, now(), 1);
	}
	memory_put(c, &m);
	return err;
}

static int demoted(uint64_t *n)
{
	struct wl_vmstat v = { 0 };
	int err = wl_vmstat__read(&v, VMSTAT_FILE);

	if (!err)
		err = wl_vmstat__sum(&v, "pgdemote_", n);
	wl_vmstat__free(&v);
	return err;
}

/* memory.reclaim, with what it leaves pending released at its end: what a demoted page costs. */
static int demote(struct cost *c, struct wl_sample *s, enum kind kind)
{
	uint64_t before = 0, after = 0, begin, end = 0;
	struct memory m;
	int err = memory_get(c, &m, kind, DEMOTE_PAGES);

	if (!err) {
		/* MADV_COLD ages what is mapped only. */
		sweep(c, m.base, DEMOTE_PAGES);
		err = madvise(m.base, DEMOTE_PAGES * c->page, MADV_COLD) ? -errno : 0;
	}
	if (!err) {
		sweep(c, m.base, DEMOTE_PAGES);
		err = demoted(&before);
	}
	if (!err) {
		begin = now();
		err = wl_cgroup__reclaim(&c->cg, DEMOTE_PAGES / 16 * 15 * c->page);
		if (err == -EAGAIN)	/* it got less: counted as it is */
			err = 0;
		if (!err)
			err = drain();
		end = now();
	}
	if (!err)
		err = demoted(&after);
	if (!err)
		err = after > before ? add(c, s, begin, end, (double)(after - before)) : -ENODATA;
	memory_put(c, &m);
	return err;
}

static int round_demote_tmpfs(struct cost *c, struct wl_sample *s)
{
	return demote(c, s, KIND_TMPFS);
}

static int round_demote_anon(struct cost *c, struct wl_sample *s)
{
	return demote(c, s, KIND_ANON);
}

static int round_demote_anon_ro(struct cost *c, struct wl_sample *s)
{
	return demote(c, s, KIND_ANON_RO);
}

/* --- all of them ------------------------------------------------------------------------------*/

static const struct op ops[] = {
	{ "clock", "reading the clock twice", round_clock, false },
	{ "fault_anon", "write fault, new anonymous page", round_fault_anon, false },
	{ "wp_reuse_anon", "write fault after a fork, page reused", round_wp_reuse, false },
	{ "wp_copy_anon", "write fault after a fork, page copied", round_wp_copy, false },
	{ "fault_shmem_new", "write fault, shared file, new page", round_fault_shmem_new, false },
	{ "fault_shmem_cached", "write fault, shared file, page cached", round_fault_shmem_cached, false },
	{ "fault_shmem_around", "read fault, shared file, maps 16 pages", round_fault_around, false },
	{ "pwrite_4k", "pwrite(2) of a page to tmpfs", round_pwrite, false },
	{ "punch_half_page", "fallocate(2), zeroes half a page", round_punch, false },
	{ "mprotect_ro", "mprotect(2) to read-only, a page", round_mprotect_ro, false },
	{ "mprotect_rw", "mprotect(2) to writable, a page", round_mprotect_rw, false },
	{ "fork_page", "fork(2), exit and wait, a page", round_fork, false },
	{ "fork_call", "fork(2), exit and wait, a call", round_fork_call, false },
	{ "move_tmpfs", "move_pages(2) of read-only tmpfs, a page", round_move_tmpfs, true },
	{ "move_tmpfs_call", "the same, the call alone", round_move_call, true },
	{ "move_anon", "move_pages(2) of writable memory, a page", round_move_anon, true },
	{ "move_anon_ro", "move_pages(2) of read-only memory, a page", round_move_anon_ro, true },
	{ "demote_tmpfs", "demotion of read-only tmpfs, a page", round_demote_tmpfs, true },
	{ "demote_anon", "demotion of writable memory, a page", round_demote_anon, true },
	{ "demote_anon_ro", "demotion of read-only memory, a page", round_demote_anon_ro, true },
	{ "pwrite_after_move", "first pwrite(2) after a migration", round_pwrite_after_move, true },
};

static void print_op(const struct op *op, const struct wl_median *m, size_t nr)
{
	const char *unit = conf.instructions ? "insn" : "ns";
	char name[64];

	printf("%-20s %10.1f %s  [%.1f, %.1f], %zu values: %s\n", op->name, m->median, unit, m->low,
	       m->high, nr, op->what);
	snprintf(name, sizeof(name), "cost_%s", op->name);
	wl_proto__metric(stdout, name, m->median, unit, WL_LOWER,
			 conf.instructions ? WL_COUNT : WL_TIME);
}

/* 0 or the exit code. */
static int op_run(struct cost *c, const struct op *op)
{
	struct wl_sample s = { 0 };
	struct wl_median m;
	int err = 0;

	/* The first round has caches to fill and is left out. */
	for (unsigned int i = 0; !err && i <= conf.rounds; i++) {
		if (!op->readers)
			err = hold(c);
		if (!err)
			err = op->round(c, &s);
		if (!err && !op->readers)
			err = held_note(c);
		if (!i)
			wl_sample__free(&s);
	}
	if (!err)
		err = wl_sample__median(&s, &m);
	if (!err) {
		print_op(op, &m, s.nr);
		if (op->round == round_clock)
			c->clock = m.median;
	}
	wl_sample__free(&s);
	if (!err)
		return 0;
	wl_err("%s: %s; run it as root where nodes %d and %d have room, with demotion enabled",
	       op->name, strerror(-err), conf.fast, conf.slow);
	return WL_EXIT_USAGE;
}

static bool wanted(const struct op *op)
{
	return op->round == round_clock || !conf.only || !strcmp(conf.only, op->name);
}

static int run_part(struct cost *c, bool readers)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < sizeof(ops) / sizeof(ops[0]); i++) {
		if (ops[i].readers != readers || !wanted(&ops[i]))
			continue;
		ret = op_run(c, &ops[i]);
		if (!ret && ops[i].round == round_clock && conf.instructions)
			ret = instructions_check(c);
	}
	return ret;
}

static int run_with_readers(struct cost *c)
{
	struct wl_team team;
	int err, ret;

	err = sched_setaffinity(0, sizeof(c->cpus), &c->cpus) ? -errno : 0;
	if (!err)
		err = wl_team__start(&team, conf.readers, true, reader_main, c);
	if (!err) {
		err = wl_team__pin_driver(conf.readers);
		if (err)
			wl_team__join(&team);
	}
	if (err) {
		wl_err("threads: cannot start %u: %s; lower -t", conf.readers, strerror(-err));
		return WL_EXIT_USAGE;
	}
	wl_team__go(&team);
	ret = run_part(c, true);
	atomic_store(&c->stop, true);
	wl_team__join(&team);
	return ret;
}

/* Own group, own CPU, the memory to be held. 0 or the exit code. */
static int setup(struct cost *c)
{
	int err;

	c->page = (size_t)sysconf(_SC_PAGESIZE);
	c->held_node = conf.fast;
	err = wl_cgroup__create(&c->cg, conf.cgroup_root);
	if (!err)
		err = wl_cgroup__join(&c->cg);
	if (err) {
		wl_err("%s: %s: %s; run it as root, with a cgroup v2 there", conf.cgroup_root,
		       c->cg.failed, strerror(-err));
		return WL_EXIT_UNSUPPORTED;
	}
	err = sched_getaffinity(0, sizeof(c->cpus), &c->cpus) ? -errno : 0;
	if (!err)
		err = wl_team__pin_driver(conf.readers);
	if (!err)
		err = open_file(c, HELD_PAGES, true, &c->held_fd);
	if (!err)
		err = map_file(c, c->held_fd, HELD_PAGES, PROT_READ, &c->held);
	if (!err)
		return 0;
	wl_err("memory: %s; free some", strerror(-err));
	return WL_EXIT_USAGE;
}

static int check_only(void)
{
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		if (!conf.only || !strcmp(conf.only, ops[i].name))
			return 0;
	wl_err("--only: no operation '%s'; a run without it lists them", conf.only);
	return WL_EXIT_USAGE;
}

int main(int argc, char **argv)
{
	static const struct argp argp = { options, parse, NULL, doc, NULL, NULL, NULL };
	static struct cost c = { .held_fd = -1 };
	int ret, err;

	argp_err_exit_status = WL_EXIT_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	if (!conf.readers)
		conf.readers = wl_team__beside_driver(WL_TEAM_MAX);
	ret = check_only();
	if (!ret)
		ret = wl_node__choose(&conf.fast, &conf.slow);
	if (ret)
		return ret;
	ret = setup(&c);
	if (!ret)
		ret = run_part(&c, false);
	if (!ret)
		ret = run_with_readers(&c);
	if (!ret && c.held_known)
		wl_proto__metric(stdout, "pending_beside", (double)c.held_min, "pages", WL_NEITHER,
				 WL_COUNT);
	err = wl_cgroup__remove(&c.cg);
	if (!ret && err) {
		wl_err("%s: cannot remove the group: %s; move its processes out and rmdir it",
		       c.cg.path, strerror(-err));
		ret = WL_EXIT_USAGE;
	}
	return ret;
}
