// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Litmus tests of what lives and dies around a stale translation: the address, the other process,
 * the source, its memory block, the generation itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
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
	if (pwrite(l->other_fd, &value, sizeof(value), LITMUS_WORD * sizeof(value)) != sizeof(value))
		return -errno;
	return 0;
}

static int map_at(struct litmus *l, int fd)
{
	return mmap(l->map, l->page, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) == l->map ? 0 : -errno;
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
	return mremap(p, l->page, l->page, MREMAP_MAYMOVE | MREMAP_FIXED, l->map) == l->map ? 0 : -errno;
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

#define TAKEN_BYTES	(4UL << 20)

/* What is freed next is allocated first: among so much there is the source, if it was freed. */
static int take_memory(struct litmus *l, uint64_t value)
{
	(void)value;
	l->other = mmap(NULL, TAKEN_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (l->other == MAP_FAILED)
		return -errno;
	memset(l->other, 0xff, TAKEN_BYTES);
	return 0;
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

/* Flushes while pages are demoted, one after the other: some are in flight when a page is added. */
static int flush_on_and_on(struct litmus *l, uint64_t value)
{
	int fd = open(DRAIN, O_WRONLY | O_CLOEXEC), err = 0;

	(void)value;
	if (fd < 0)
		return -errno;
	atomic_store(&l->sh->ready, true);
	while (!err && !atomic_load(&l->sh->over))
		err = pwrite(fd, "1", 1, 0) == 1 ? 0 : -errno;
	close(fd);
	return err;
}

static int child_flushing(struct litmus *l)
{
	int err = litmus__child(l, NULL, flush_on_and_on);

	if (!err)
		err = litmus__ask(l, 0);
	while (!err && !atomic_load(&l->sh->ready))
		;
	return err;
}

static int end_flushing(struct litmus *l)
{
	int err, late;

	atomic_store(&l->sh->over, true);
	err = litmus__answer(l);
	late = litmus__end_child(l);
	err = err ? err : late;
	late = give_memory(l);
	return err ? err : late;
}

/* ---- two writers, one flush ------------------------------------------------------------------ */

static int write_second_page(struct litmus *l, uint64_t value)
{
	ssize_t n;

	atomic_store(&l->sh->ready, true);
	while (!atomic_load(&l->sh->go))
		;
	n = pwrite(l->fd, &value, sizeof(value), (off_t)l->page);
	return n == sizeof(value) ? 0 : n < 0 ? -errno : -EIO;
}

static int begin_two(struct litmus *l)
{
	static const char c;

	return pwrite(l->fd, &c, 1, (off_t)l->page) == 1 ? 0 : -errno;
}

static int child_second(struct litmus *l)
{
	int err;

	(void)*(volatile char *)(l->map + l->page);
	err = litmus__child(l, NULL, write_second_page);
	return err ? err : litmus__ask(l, 0);
}

/* The child's write flushes for both pages; this one comes while that is in flight, or about. */
static int write_behind(struct litmus *l, uint64_t value)
{
	unsigned long long turn;
	int err;

	while (!atomic_load(&l->sh->ready))
		;
	atomic_store(&l->sh->go, true);
	/* From at once to 300 us later, another one in each round. */
	turn = wl_now_ns() + value % 31 * 10000;
	while (wl_now_ns() < turn)
		;
	err = litmus__pwrite(l, value);
	return err;
}

static int end_two(struct litmus *l)
{
	int err = l->child ? litmus__answer(l) : 0, late = litmus__end_child(l);

	return err ? err : late;
}

/* ---- the source's memory block is taken offline ---------------------------------------------- */

#define BLOCKS	"/sys/devices/system/memory/"

static int block_state(uint64_t block, const char *state)
{
	char path[96];

	snprintf(path, sizeof(path), BLOCKS "memory%" PRIu64 "/state", block);
	return litmus__write_file(path, state);
}

/* Number of the block that the page under test is in. */
static int page_block(struct litmus *l, uint64_t *block)
{
	char text[32] = "0x";
	uint64_t bytes, entry;
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC), err;
	int size = open(BLOCKS "block_size_bytes", O_RDONLY | O_CLOEXEC);

	err = fd < 0 || size < 0 || read(size, text + 2, sizeof(text) - 3) <= 0 ? -errno : 0;
	if (!err)
		err = litmus__pagemap(fd, l->map, &entry);
	close(fd);
	close(size);
	if (err)
		return err;
	if (sscanf(text, "%" SCNx64, &bytes) != 1 || !litmus__entry_pfn(entry))
		return -EIO;
	*block = litmus__entry_pfn(entry) * l->page / bytes;
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

/* On the slow node, which has blocks without a page that cannot move; the pending set is empty. */
static int prepare_block(struct litmus *l)
{
	int err = litmus__move_to(l, l->bytes, l->slow);

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
	err = litmus__move_to(l, l->bytes, l->fast);
	l->moved = litmus__page_node(l) == l->fast;
	return err;
}

/*
 * EBUSY says that something in the block cannot be moved. If it goes without what was held, then that
 * was the source.
 */
static int write_offline(struct litmus *l, uint64_t value)
{
	uint64_t block = atomic_load(&l->sh->addr);
	int err = block_state(block, "offline");

	if (err == -EBUSY) {
		if (access(DRAIN, W_OK) || litmus__write_file(DRAIN, "1"))
			return LITMUS_MISSED;
		err = block_state(block, "offline");
		if (err == -EBUSY)
			return LITMUS_MISSED;
		atomic_fetch_add(&l->sh->violations, 1);
	}
	if (!err)
		err = block_state(block, "online");
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
	{ .name = "source-reuse", .flags = LITMUS_KEEPS, .write = take_memory,
	  .cleanup = give_memory, .hooks = LITMUS_BIT(LITMUS_EARLY) },
	{ .name = "source-reuse-race", .flags = LITMUS_KEEPS, .lacks = lacks_migrc,
	  .prepare = child_flushing, .write = take_memory, .cleanup = end_flushing,
	  .hooks = LITMUS_BIT(LITMUS_EARLY) },
	{ .name = "two-writers", .pages = 2, .lacks = lacks_migrc, .begin = begin_two,
	  .prepare = child_second, .write = write_behind, .cleanup = end_two,
	  .hooks = LITMUS_BIT(LITMUS_INFLIGHT) },
	{ .name = "memory-offline", .max_rounds = 5, .lacks = lacks_offline,
	  .begin = litmus__defer_syscalls, .prepare = prepare_block, .move = move_from_block,
	  .write = write_offline, .hooks = LITMUS_BIT(LITMUS_DRAIN) },
	{ 0 }
};
