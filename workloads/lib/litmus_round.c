// SPDX-License-Identifier: GPL-2.0-or-later
/* A litmus test's rounds: the reader, the memory under test, its demotion. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <numaif.h>

#include "workloads/lib/err.h"
#include "workloads/lib/litmus.h"
#include "workloads/lib/node.h"
#include "workloads/lib/team.h"

#define LOADS_BEFORE	50	/* loads of the reader, so that its TLB has the page */
#define LOADS_AFTER	2000	/* and after it may have seen the flag */
#define READER_STACK	65536

int litmus__pin(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) ? -errno : 0;
}

static void *reader(void *arg)
{
	struct litmus_shared *sh = arg;
	uint64_t round, value;

	/* setup has been on that CPU: it is there. */
	(void)litmus__pin(LITMUS_CPU_READER);
	while (!atomic_load_explicit(&sh->stop, memory_order_relaxed)) {
		const volatile uint64_t *data = atomic_load(&sh->data);

		if (!data) {
			atomic_fetch_add(&sh->idle, 1);
			continue;
		}
		round = atomic_load_explicit(&sh->flag, memory_order_acquire);
		value = *data;
		if (round && value != atomic_load_explicit(&sh->watch, memory_order_relaxed) &&
		    value != atomic_load_explicit(&sh->gone, memory_order_relaxed) &&
		    round == atomic_load(&sh->flag))
			atomic_fetch_add(&sh->violations, 1);
		atomic_fetch_add_explicit(&sh->loads, 1, memory_order_relaxed);
	}
	return NULL;
}

static int wait_for(const _Atomic uint64_t *counter, uint64_t n)
{
	uint64_t from = atomic_load(counter);
	double end = wl_now() + 20;

	while (atomic_load(counter) - from < n)
		if (wl_now() > end)
			return -ETIMEDOUT;
	return 0;
}

int litmus__park(struct litmus *l)
{
	atomic_store(&l->sh->data, NULL);
	return wait_for(&l->sh->idle, 2);
}

volatile uint64_t *litmus__own_word(struct litmus *l)
{
	return (volatile uint64_t *)l->map + LITMUS_WORD;
}

void litmus__unpark(struct litmus *l)
{
	atomic_store(&l->sh->data, litmus__own_word(l));
}

int litmus__pwrite(struct litmus *l, uint64_t value)
{
	ssize_t n = pwrite(l->fd, &value, sizeof(value), LITMUS_WORD * sizeof(value));

	return n == sizeof(value) ? 0 : n < 0 ? -errno : -EIO;
}

int litmus__page_node(struct litmus *l)
{
	void *addr = l->map;
	int status = -ENOENT;

	if (syscall(SYS_move_pages, 0, 1UL, &addr, NULL, &status, 0) < 0)
		return -errno;
	return status;
}

int litmus__move_to(struct litmus *l, size_t from, size_t bytes, int node)
{
	size_t n = bytes / l->page;
	int nodes[n], status[n];
	void *addr[n];

	for (size_t i = 0; i < n; i++) {
		addr[i] = l->map + from + i * l->page;
		nodes[i] = node;
	}
	/* All: other processes map it as well. */
	return move_pages(0, n, addr, nodes, status, MPOL_MF_MOVE_ALL) < 0 ? -errno : 0;
}

int litmus__demote(struct litmus *l)
{
	for (int i = 0; i < 50 && !l->moved; i++) {
		int err;

		/* The reader has just used it: without this, reclaim would keep it. */
		if (madvise(l->map, l->bytes, MADV_COLD))
			return -errno;
		err = wl_cgroup__reclaim(&l->cg, l->bytes);
		if (err && err != -EAGAIN)
			return err;
		l->moved = litmus__page_node(l) == l->slow;
	}
	return 0;
}

static int put_old(struct litmus *l, const struct litmus_test *t, uint64_t value)
{
	if (!(t->flags & LITMUS_ANON))
		return litmus__pwrite(l, value);
	*litmus__own_word(l) = value;
	return 0;
}

static void publish(struct litmus *l, uint64_t round)
{
	atomic_store_explicit(&l->sh->flag, round + 1, memory_order_release);
}

/* From the old value to the flag. */
static int round_until_flag(struct litmus *l, const struct litmus_test *t, uint64_t round)
{
	uint64_t old = 2 * round + 2;
	int err = put_old(l, t, old);

	l->value = t->flags & LITMUS_ZEROES ? 0 : t->flags & LITMUS_KEEPS ? old : old + 1;
	if (!err && t->prepare)
		err = t->prepare(l);
	atomic_store(&l->sh->watch, l->value);
	atomic_store(&l->sh->gone, t->flags & LITMUS_TAKES ? 0 : l->value);
	litmus__unpark(l);
	if (!err)
		err = wait_for(&l->sh->loads, LOADS_BEFORE);
	l->moved = false;
	if (!err)
		err = t->move ? t->move(l) : litmus__demote(l);
	if (!err && t->flags & LITMUS_KEEPS)
		publish(l, round);
	if (!err)
		err = t->write(l, l->value);
	if (!err)
		publish(l, round);
	return err;
}

/* LITMUS_MISSED: nothing went wrong, and nothing was tested. */
static int run_round(struct litmus *l, const struct litmus_test *t, uint64_t round)
{
	int err, late;

	atomic_store(&l->sh->flag, 0);
	err = round_until_flag(l, t, round);
	if (!err)
		err = wait_for(&l->sh->loads, LOADS_AFTER);
	atomic_store(&l->sh->flag, 0);
	if (t->cleanup) {
		late = t->cleanup(l);
		err = err < 0 || !late ? err : late;
	}
	late = (int)wl_node__move(l->slow, l->fast);
	if (late < 0 && err >= 0)
		err = late;
	return err || l->moved ? err : LITMUS_MISSED;
}

int litmus__map_aligned(size_t bytes, char **map)
{
	char *area = mmap(NULL, 2 * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t before;

	if (area == MAP_FAILED)
		return -errno;
	before = (bytes - (uintptr_t)area % bytes) % bytes;
	*map = area + before;
	if ((before && munmap(area, before)) || munmap(*map + bytes, bytes - before))
		return -errno;
	return 0;
}

int litmus__remap_whole(struct litmus *l, size_t bytes)
{
	if (munmap(l->map, l->bytes))
		return -errno;
	l->bytes = bytes;
	return litmus__map_aligned(bytes, &l->map);
}

static int open_memory(struct litmus *l, const struct litmus_test *t)
{
	bool anon = t->flags & LITMUS_ANON;
	int how = t->flags & (LITMUS_ANON | LITMUS_PRIVATE) ? MAP_PRIVATE : MAP_SHARED;

	l->bytes = (t->pages ? t->pages : 1) * l->page;
	l->fd = -1;
	if (!anon) {
		l->fd = memfd_create("litmus", MFD_CLOEXEC | MFD_ALLOW_SEALING);
		if (l->fd < 0 || ftruncate(l->fd, (off_t)l->bytes))
			return -errno;
	}
	l->map = mmap(NULL, l->bytes, anon ? PROT_READ | PROT_WRITE : PROT_READ,
		      how | (anon ? MAP_ANONYMOUS : 0), l->fd, 0);
	return l->map == MAP_FAILED ? -errno : 0;
}

static void close_memory(struct litmus *l)
{
	munmap(l->map, l->bytes);
	if (l->fd >= 0)
		close(l->fd);
}

static int run_rounds(struct litmus *l, const struct litmus_test *t, struct litmus_result *r)
{
	int err, late;

	/* However slow the machine is, what is deferred waits for the write, not for the timer. */
	err = litmus__set_migrc(l, "migrc_age_ms", "60000");
	if (!err && t->begin)
		err = t->begin(l);
	for (unsigned int i = 0; err >= 0; i++) {
		if (!litmus__goes_on(r, i, atomic_load(&l->sh->violations)))
			break;
		err = run_round(l, t, i);
		r->rounds += !err;
	}
	late = litmus__park(l);
	err = err < 0 || !late ? err : late;
	late = t->end ? t->end(l) : 0;
	if (err >= 0)
		err = late;
	late = litmus__restore(l);
	return err < 0 ? err : late;
}

/*
 * Only what a test maps can be demoted. With the rest of the program in the same batch there would
 * be folios that are refused, and their flush would hide a missing one: it is locked, the reader's
 * stack with it, which is kept small for that.
 */
static int start_reader(struct litmus *l, pthread_t *thread)
{
	pthread_attr_t attr;
	int err;

	memset(l->sh, 0, sizeof(*l->sh));
	err = pthread_attr_init(&attr);
	if (!err)
		err = pthread_attr_setstacksize(&attr, READER_STACK);
	if (!err)
		err = pthread_create(thread, &attr, reader, l->sh);
	if (err)
		return -err;
	pthread_attr_destroy(&attr);
	return wait_for(&l->sh->idle, 1);
}

static void run_with_reader(struct litmus *l, const struct litmus_test *t, struct litmus_result *r)
{
	pthread_t thread;

	r->err = start_reader(l, &thread);
	if (r->err)
		return;
	r->err = mlockall(MCL_CURRENT) ? -errno : open_memory(l, t);
	if (!r->err) {
		r->err = run_rounds(l, t, r);
		close_memory(l);
	}
	atomic_store(&l->sh->stop, true);
	pthread_join(thread, NULL);
	r->violations = atomic_load(&l->sh->violations);
}

void litmus__run(struct litmus *l, const struct litmus_test *t, unsigned int rounds, bool broken,
		 struct litmus_result *r)
{
	uint64_t before = 0, after = 0;

	memset(r, 0, sizeof(*r));
	r->wanted = t->max_rounds && t->max_rounds < rounds ? t->max_rounds : rounds;
	r->broken = broken;
	r->race = t->flags & LITMUS_RACE;
	r->lacks = t->lacks ? t->lacks(l) : NULL;
	if (r->lacks)
		return;
	r->deferred = litmus__vmstat("migrc_deferred", &before) ? -1 : 0;
	run_with_reader(l, t, r);
	if (!r->deferred && !litmus__vmstat("migrc_deferred", &after))
		r->deferred = (int64_t)(after - before);
}

static int enter_group(struct litmus *l, const char *cgroup_root)
{
	int err = wl_cgroup__create(&l->cg, cgroup_root);

	if (!err)
		err = wl_cgroup__join(&l->cg);
	if (err) {
		wl_err("%s: %s; mount cgroup v2 there and run it as root", cgroup_root,
		       strerror(-err));
		return WL_EXIT_UNSUPPORTED;
	}
	return 0;
}

int litmus__setup(struct litmus *l, const char *cgroup_root)
{
	unsigned long nodes = 1UL << l->fast;
	int err;

	l->page = (size_t)sysconf(_SC_PAGESIZE);
	l->sh = mmap(NULL, l->page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (l->sh == MAP_FAILED) {
		wl_err("one page: %s; free some memory", strerror(errno));
		return WL_EXIT_USAGE;
	}
	err = enter_group(l, cgroup_root);
	if (err)
		return err;
	/* Memory with a policy of its own is not scanned for hint faults, whose flushes would hide
	 * what is looked for. */
	if (set_mempolicy(MPOL_PREFERRED, &nodes, sizeof(nodes) * 8)) {
		wl_err("memory policy: %s; run it on a kernel with CONFIG_NUMA", strerror(errno));
		return WL_EXIT_UNSUPPORTED;
	}
	err = litmus__pin(LITMUS_CPU_READER);
	if (!err)
		err = litmus__pin(LITMUS_CPU_DRIVER);
	if (err) {
		wl_err("CPUs 0 and 1: %s; run it where there are two CPUs", strerror(-err));
		return WL_EXIT_UNSUPPORTED;
	}
	return 0;
}

void litmus__teardown(struct litmus *l)
{
	if (l->cg.path[0] && wl_cgroup__remove(&l->cg))
		wl_err("%s: not removed; remove it by hand", l->cg.path);
}
