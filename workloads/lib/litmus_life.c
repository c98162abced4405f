// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Litmus tests of what lives and dies around a stale translation: the address, the other process,
 * the source, its memory block, the generation itself, the machine.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <numaif.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "workloads/lib/litmus.h"
#include "workloads/lib/team.h"

#define DRAIN	"/proc/sys/vm/migrc_drain"

/* ---- the address is used for something else ------------------------------------------------- */

/* Another file, with the new value where the old one has the old. */
static int make_substitute(struct litmus *l, uint64_t value)
{
	l->other_fd = memfd_create("litmus-substitute", MFD_CLOEXEC);
	if (l->other_fd < 0 || ftruncate(l->other_fd, (off_t)l->page))
		return -errno;
	if (pwrite(l->other_fd, &value, sizeof(value), LITMUS_WORD * sizeof(value)) < 0)
		return -errno;
	return 0;
}

static int map_at(struct litmus *l, int fd)
{
	void *p = mmap(l->map, l->page, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0);

	return p == MAP_FAILED ? -errno : 0;
}

static int write_map_fixed(struct litmus *l, uint64_t value)
{
	int err = make_substitute(l, value);

	return err ? err : map_at(l, l->other_fd);
}

/* The reader looks away while there is nothing, but comes back with the TLB that it had. */
static int write_munmap(struct litmus *l, uint64_t value)
{
	int err = make_substitute(l, value);

	if (!err)
		err = litmus__park(l);
	if (!err && munmap(l->map, l->page))
		err = -errno;
	if (!err)
		err = map_at(l, l->other_fd);
	litmus__unpark(l);
	return err;
}

static int write_mremap(struct litmus *l, uint64_t value)
{
	int err = make_substitute(l, value);
	void *p;

	if (err)
		return err;
	p = mmap(NULL, l->page, PROT_READ, MAP_SHARED, l->other_fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	(void)*((volatile uint64_t *)p + LITMUS_WORD);
	p = mremap(p, l->page, l->page, MREMAP_MAYMOVE | MREMAP_FIXED, l->map);
	return p == MAP_FAILED ? -errno : 0;
}

static int map_again(struct litmus *l)
{
	int err = map_at(l, l->fd);

	close(l->other_fd);
	return err;
}

/* ---- another process that has read the page goes, with its folios pending ------------------- */

static int read_by_child(struct litmus *l)
{
	l->other = mmap(NULL, l->page, PROT_READ, MAP_SHARED, l->fd, 0);
	if (l->other == MAP_FAILED)
		return -errno;
	(void)*((volatile uint64_t *)l->other + LITMUS_WORD);
	return 0;
}

static int child_reading(struct litmus *l)
{
	return litmus__child(l, read_by_child, litmus__pwrite);
}

static int write_after_exit(struct litmus *l, uint64_t value)
{
	int err = litmus__end_child(l);

	return err ? err : litmus__pwrite(l, value);
}

/* A new image, which says nothing and ends. */
static int exec_self(struct litmus *l, uint64_t value)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	(void)l;
	(void)value;
	if (null < 0 || dup2(null, STDOUT_FILENO) < 0)
		return -errno;
	execl("/proc/self/exe", "litmus", "--list", NULL);
	return -errno;
}

static int child_executing(struct litmus *l)
{
	return litmus__child(l, read_by_child, exec_self);
}

static int write_after_exec(struct litmus *l, uint64_t value)
{
	int err = litmus__ask(l, value);

	return err ? err : write_after_exit(l, value);
}

/* ---- the source is given to somebody else --------------------------------------------------- */

#define TAKEN_BYTES	(32UL << 20)
#define TAKEN_STEP	(1UL << 20)

static int page_pfn(struct litmus *l, uint64_t *pfn)
{
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC), err;
	uint64_t entry;

	if (fd < 0)
		return -errno;
	err = litmus__pagemap(fd, l->map, &entry);
	close(fd);
	*pfn = err ? 0 : litmus__entry_pfn(entry);
	return err || *pfn ? err : -EIO;
}

static int move_noting_source(struct litmus *l)
{
	uint64_t pfn;
	int err = page_pfn(l, &pfn);

	atomic_store(&l->sh->addr, pfn);
	return err ? err : litmus__demote(l);
}

/* 1 if the source is among the pages at p. */
static int has_source(struct litmus *l, int fd, const char *p)
{
	uint64_t entry, pfn = atomic_load(&l->sh->addr);
	int err = 0;

	for (size_t at = 0; at < TAKEN_STEP && !err; at += l->page) {
		err = litmus__pagemap(fd, p + at, &entry);
		if (!err && litmus__entry_pfn(entry) == pfn)
			return 1;
	}
	return err;
}

/* Until the source is found, if it was freed. */
static int take_memory(struct litmus *l, uint64_t value)
{
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC), found = 0;

	(void)value;
	l->other = mmap(NULL, TAKEN_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			0);
	if (fd < 0 || l->other == MAP_FAILED)
		return -errno;
	for (size_t at = 0; at < TAKEN_BYTES && !found; at += TAKEN_STEP) {
		memset(l->other + at, 0xff, TAKEN_STEP);
		found = has_source(l, fd, l->other + at);
	}
	close(fd);
	return found < 0 ? found : 0;
}

static int give_memory(struct litmus *l)
{
	return munmap(l->other, TAKEN_BYTES) ? -errno : 0;
}

static const char *lacks_migrc(struct litmus *l)
{
	(void)l;
	if (litmus__cpus() <= LITMUS_CPU_OTHER)
		return "a third CPU";
	return access(DRAIN, W_OK) ? "CONFIG_MIGRC" : NULL;
}

/* Flushes for the second page, while the first one is on its way. */
static int flush_once(struct litmus *l, uint64_t value)
{
	unsigned long long turn;

	atomic_store(&l->sh->ready, true);
	while (!atomic_load(&l->sh->go))
		;
	turn = wl_now_ns() + value * 37 % 31 * 20000;
	while (wl_now_ns() < turn)
		;
	return litmus__write_file(DRAIN, "1");
}

static int begin_second_page(struct litmus *l)
{
	static const char c;
	int err = pwrite(l->fd, &c, 1, (off_t)l->page) == 1 ? 0 : -errno;

	return err ? err : litmus__defer_syscalls(l);
}

static int child_flushing(struct litmus *l)
{
	int err;

	(void)*(volatile char *)(l->map + l->page);
	err = litmus__child(l, NULL, flush_once);
	return err ? err : litmus__ask(l, l->value);
}

static int move_in_flight(struct litmus *l)
{
	uint64_t pfn;
	int err = page_pfn(l, &pfn);

	atomic_store(&l->sh->addr, pfn);
	if (!err)
		err = litmus__move_to(l, l->page, l->page, l->slow);
	if (!err)
		err = litmus__await(&l->sh->ready);
	atomic_store(&l->sh->go, true);
	if (!err)
		err = litmus__move_to(l, 0, l->page, l->slow);
	l->moved = litmus__page_node(l) == l->slow;
	return err;
}

static int end_flushing(struct litmus *l)
{
	int err = l->child ? litmus__answer(l) : 0, late;

	late = litmus__end_child(l);
	err = err ? err : late;
	late = give_memory(l);
	return err ? err : late;
}

/* ---- two writers, one flush ------------------------------------------------------------------ */

/* The first writer, by a mapping: write(2) would keep the second one from the file. */
static int map_second_page(struct litmus *l)
{
	l->other = mmap(NULL, l->page, PROT_READ | PROT_WRITE, MAP_SHARED, l->fd, (off_t)l->page);
	return l->other == MAP_FAILED ? -errno : 0;
}

static int write_second_page(struct litmus *l, uint64_t value)
{
	atomic_store(&l->sh->ready, true);
	while (!atomic_load(&l->sh->go))
		;
	*(volatile uint64_t *)l->other = value;
	return 0;
}

static int child_second(struct litmus *l)
{
	int err;

	(void)*(volatile char *)(l->map + l->page);
	err = litmus__child(l, map_second_page, write_second_page);
	return err ? err : litmus__ask(l, 0);
}

/* Sleeping, for the child to have a CPU: until its flush has begun, or 20 ms. */
static int await_flush(uint64_t before)
{
	double limit = wl_now() + 0.02;
	uint64_t now = before;
	int err = 0;

	while (!err && now == before && wl_now() < limit) {
		usleep(100);
		err = litmus__vmstat("migrc_flushes", &now);
	}
	return err;
}

/*
 * The child's write flushes for both pages. This one comes when that flush has begun, or, in every
 * other round, at any time in its first 3 ms.
 */
static int write_behind(struct litmus *l, uint64_t value)
{
	uint64_t round = value / 2, before;
	int err = litmus__vmstat("migrc_flushes", &before);

	if (!err)
		err = litmus__await(&l->sh->ready);
	atomic_store(&l->sh->go, true);
	if (!err && round % 2)
		err = await_flush(before);
	else
		usleep((useconds_t)(round * 37 % 31 * 100));
	return err ? err : litmus__pwrite(l, value);
}

static int end_two(struct litmus *l)
{
	int err = l->child ? litmus__answer(l) : 0, late = litmus__end_child(l);

	return err ? err : late;
}

/* ---- the source's memory block is taken offline ---------------------------------------------- */

#define BLOCKS		"/sys/devices/system/memory/"
#define FILL_BYTES	(256UL << 20)
#define FILL_STEP	(4UL << 20)
#define OFFLINE_TRIES	5
#define OFFLINE_PAUSE_US	20000

static int block_state(uint64_t block, const char *state)
{
	char path[96];

	snprintf(path, sizeof(path), BLOCKS "memory%" PRIu64 "/state", block);
	return litmus__write_file(path, state);
}

/* Number of the block that the page under test is in. */
static int page_block(struct litmus *l, uint64_t *block)
{
	char text[32];
	uint64_t bytes, pfn;
	int fd = open(BLOCKS "block_size_bytes", O_RDONLY | O_CLOEXEC), err;
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return -EIO;
	text[n] = '\0';
	/* Hexadecimal, and does not say so. */
	bytes = strtoull(text, NULL, 16);
	err = page_pfn(l, &pfn);
	if (err || !bytes)
		return err ? err : -EIO;
	*block = pfn * l->page / bytes;
	return 0;
}

static const char *lacks_offline(struct litmus *l)
{
	uint64_t removable;

	(void)l;
	if (litmus__read_u64(BLOCKS "memory0/removable", &removable) || !removable)
		return "CONFIG_MEMORY_HOTREMOVE";
	return NULL;
}

/* For what is used up on the slow node, see prepare_block(). */
static int begin_offline(struct litmus *l)
{
	unsigned long nodes = 1UL << l->slow;

	l->bad_blocks = 0;
	l->filled = 0;
	l->other = mmap(NULL, FILL_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			0);
	if (l->other == MAP_FAILED || mbind(l->other, FILL_BYTES, MPOL_BIND, &nodes, 64, 0))
		return -errno;
	return litmus__defer_syscalls(l);
}

static int end_offline(struct litmus *l)
{
	return munmap(l->other, FILL_BYTES) ? -errno : 0;
}

/*
 * On the slow node, with an empty pending set. Blocks that two nodes share, that have a hole or a
 * page that cannot move are no use: what is free there is used up, until the page gets another
 * place.
 */
static int prepare_block(struct litmus *l)
{
	uint64_t block;
	int err;

	(void)*litmus__own_word(l);
	err = litmus__move_to(l, 0, l->page, l->slow);
	if (!err)
		err = page_block(l, &block);
	while (!err && l->bad_blocks >> block % 64 & 1 && l->filled < FILL_BYTES) {
		err = litmus__move_to(l, 0, l->page, l->fast);
		memset(l->other + l->filled, 1, FILL_STEP);
		l->filled += FILL_STEP;
		if (!err)
			err = litmus__move_to(l, 0, l->page, l->slow);
		if (!err)
			err = page_block(l, &block);
	}
	if (!err && !access(DRAIN, W_OK))
		err = litmus__write_file(DRAIN, "1");
	return err;
}

static int move_from_block(struct litmus *l)
{
	uint64_t block;
	int err = page_block(l, &block);

	if (err)
		return err;
	atomic_store(&l->sh->addr, block);
	err = litmus__move_to(l, 0, l->bytes, l->fast);
	l->moved = litmus__page_node(l) == l->fast;
	return err;
}

/*
 * EBUSY says that something in the block cannot be moved. What another migration has in its hands, a
 * demotion by kswapd to this node for one, is gone the next time.
 */
static int offline_patiently(uint64_t block)
{
	int err = block_state(block, "offline");

	for (int i = 0; err == -EBUSY && i < OFFLINE_TRIES; i++) {
		usleep(OFFLINE_PAUSE_US);
		err = block_state(block, "offline");
	}
	return err;
}

/* If it goes without what was held, and only then, that was the source. */
static int write_offline(struct litmus *l, uint64_t value)
{
	uint64_t block = atomic_load(&l->sh->addr);
	int err = offline_patiently(block);

	if (err == -EBUSY && !access(DRAIN, W_OK)) {
		err = litmus__write_file(DRAIN, "1");
		if (!err)
			err = block_state(block, "offline");
		if (!err)
			atomic_fetch_add(&l->sh->violations, 1);
	}
	if (err == -EBUSY || err == -EINVAL) {
		l->bad_blocks |= 1ULL << block % 64;
		return LITMUS_MISSED;
	}
	if (!err)
		err = block_state(block, "online");
	return err ? err : litmus__pwrite(l, value);
}

/* ---- the machine sleeps ----------------------------------------------------------------------- */

#define PM_TEST		"/sys/power/pm_test"
#define PM_TEST_DELAY	"/sys/module/suspend/parameters/pm_test_delay"

static const char *lacks_suspend(struct litmus *l)
{
	return access(PM_TEST, W_OK) ? "CONFIG_PM_DEBUG" : lacks_migrc(l);
}

/* As far as freezing all tasks, and back after a second. */
static int begin_suspend(struct litmus *l)
{
	int err = litmus__write_file(PM_TEST, "freezer");

	return err ? err : litmus__set(l, PM_TEST_DELAY, "1");
}

static int end_suspend(struct litmus *l)
{
	(void)l;
	return litmus__write_file(PM_TEST, "none");
}

static int read_held(uint64_t *pending, uint64_t *drained)
{
	int err = litmus__vmstat("nr_migrc_pending", pending);

	return err ? err : litmus__vmstat("migrc_released_drain", drained);
}

/* What is held must be given back before the machine sleeps, which may be for days. */
static int write_after_suspend(struct litmus *l, uint64_t value)
{
	uint64_t pending, drained, pending_then, drained_then;
	int err = read_held(&pending, &drained);

	if (!err && !pending)
		return LITMUS_MISSED;
	if (!err)
		err = litmus__write_file("/sys/power/state", "freeze");
	if (!err)
		err = read_held(&pending_then, &drained_then);
	if (!err && drained_then == drained) {
		if (!pending_then)
			return LITMUS_MISSED;	/* somebody else's flush came first */
		atomic_fetch_add(&l->sh->violations, 1);
	}
	return err ? err : litmus__pwrite(l, value);
}

const struct litmus_test litmus_life_tests[] = {
	{ .name = "map-fixed", .write = write_map_fixed, .cleanup = map_again,
	  .why = "zapping flushes" },
	{ .name = "munmap", .write = write_munmap, .cleanup = map_again, .why = "zapping flushes" },
	{ .name = "mremap", .write = write_mremap, .cleanup = map_again, .why = "zapping flushes" },
	{ .name = "child-exit", .prepare = child_reading, .write = write_after_exit,
	  .hooks = LITMUS_BIT(LITMUS_SHMEM) },
	{ .name = "child-exec", .prepare = child_executing, .write = write_after_exec,
	  .hooks = LITMUS_BIT(LITMUS_SHMEM) },
	{ .name = "source-reuse", .flags = LITMUS_KEEPS, .move = move_noting_source,
	  .write = take_memory, .cleanup = give_memory, .hooks = LITMUS_BIT(LITMUS_EARLY) },
	{ .name = "source-reuse-race", .flags = LITMUS_KEEPS | LITMUS_RACE, .pages = 2,
	  .lacks = lacks_migrc, .begin = begin_second_page, .prepare = child_flushing,
	  .move = move_in_flight, .write = take_memory, .cleanup = end_flushing,
	  .hooks = LITMUS_BIT(LITMUS_EARLY) },
	{ .name = "two-writers", .flags = LITMUS_RACE, .pages = 2, .lacks = lacks_migrc,
	  .begin = begin_second_page, .prepare = child_second, .write = write_behind,
	  .cleanup = end_two,
	  .hooks = LITMUS_BIT(LITMUS_INFLIGHT) },
	{ .name = "memory-offline", .max_rounds = 5, .lacks = lacks_offline,
	  .begin = begin_offline, .prepare = prepare_block, .move = move_from_block,
	  .write = write_offline, .end = end_offline, .hooks = LITMUS_BIT(LITMUS_DRAIN) },
	{ .name = "suspend", .max_rounds = 3, .lacks = lacks_suspend, .begin = begin_suspend,
	  .write = write_after_suspend, .end = end_suspend, .hooks = LITMUS_BIT(LITMUS_DRAIN) },
	{ 0 }
};
