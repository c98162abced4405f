// SPDX-License-Identifier: GPL-2.0-or-later
/* Litmus tests of anonymous memory that is swapped out and in. What was swapped in is clean: both rules defer it. */
#include <errno.h>
#include <fcntl.h>
#include <numaif.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/swap.h>
#include <sys/uio.h>
#include <unistd.h>

#include "workloads/lib/litmus.h"
#include "workloads/lib/litmus_uffd.h"
#include "workloads/lib/team.h"

#define SWAP_DEVICE	"/dev/ram0"
#define SWAP_BYTES	(8UL << 20)

/* A RAM disk that nobody uses: without a single byte in its beginning. */
static const char *lacks_swap(struct litmus *l)
{
	int fd = open(SWAP_DEVICE, O_RDWR | O_EXCL | O_CLOEXEC);
	char head[65536], *swap = head + l->page - 10;
	bool used = false;
	ssize_t n;

	if (fd < 0)
		return errno == EBUSY ? "an unused " SWAP_DEVICE : "CONFIG_BLK_DEV_RAM";
	n = read(fd, head, l->page);
	close(fd);
	if (n != (ssize_t)l->page)
		return "a readable " SWAP_DEVICE;
	if (!memcmp(swap, "SWAPSPACE2", 10))
		return NULL;
	for (ssize_t i = 0; i < n; i++)
		used |= head[i];
	return used ? "an unused " SWAP_DEVICE : NULL;
}

static const char *lacks_swap_force(struct litmus *l)
{
	const char *lacks = lacks_swap(l);

	return lacks ? lacks : litmus__lacks_force(l);
}

/* The header of include/linux/swap.h, as mkswap writes it. */
static int make_swap(struct litmus *l)
{
	uint32_t info[3] = { 1, (uint32_t)(SWAP_BYTES / l->page) - 1, 0 };
	int fd = open(SWAP_DEVICE, O_RDWR | O_EXCL | O_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	if (pwrite(fd, info, sizeof(info), 1024) != sizeof(info) ||
	    pwrite(fd, "SWAPSPACE2", 10, (off_t)l->page - 10) != 10 || fsync(fd))
		err = -errno;
	close(fd);
	return err;
}

static int begin_swap(struct litmus *l)
{
	int err = make_swap(l);

	if (!err && swapon(SWAP_DEVICE, 0))
		err = -errno;
	return err;
}

static int end_swap(struct litmus *l)
{
	(void)l;
	return swapoff(SWAP_DEVICE) ? -errno : 0;
}

/* Swapped out and read again: read-only and clean, so that it is deferred under both rules. */
static int prepare_clean(struct litmus *l)
{
	if (madvise(l->map, l->bytes, MADV_PAGEOUT) || mprotect(l->map, l->bytes, PROT_READ))
		return -errno;
	for (size_t at = 0; at < l->bytes; at += l->page)
		(void)*(volatile char *)(l->map + at);
	return 0;
}

static int write_swapped(struct litmus *l, uint64_t value)
{
	if (madvise(l->map, l->bytes, MADV_PAGEOUT))
		return -errno;
	return litmus__write_own_mprotect(l, value);
}

/*
 * The race that do_swap_page() guards. Reclaim unmaps many folios before it flushes for all of
 * them. One that turns out to have another reference stays in the swap cache, and may be faulted
 * in, and written, while its old translations are there:
 *
 *	reader		driver				child: memory.reclaim
 *	------		------				---------------------
 *	reads source	(page demoted, flush deferred)
 *							PTE becomes a swap entry, not flushed yet
 *			sees the swap entry, writes:
 *			swap cache, exclusive
 *	reads source?					writes the other pages out; flushes
 *
 * To get that far the page must be exclusive, clean and read-only in a writable mapping: swapped
 * in (clean), shared with the child by its fork (read-only), and then unshared by a pin for
 * reading. As the oldest of the test's pages it is the first of them to be unmapped.
 */
static const char *lacks_swap_race(struct litmus *l)
{
	if (process_vm_readv(getpid(), NULL, 0, NULL, 0, 0) < 0)
		return "CONFIG_CROSS_MEMORY_ATTACH";
	return litmus__cpus() > LITMUS_CPU_OTHER ? lacks_swap(l) : "a third CPU";
}

/* Exclusive again, but still read-only. */
static int unshare_first(struct litmus *l)
{
	uint64_t word;
	struct iovec to = { &word, sizeof(word) };
	struct iovec from = { (void *)(uintptr_t)litmus__own_word(l), sizeof(word) };

	return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == sizeof(word) ? 0 : -errno;
}

/*
 * Reclaim takes a list's 64 pages in helpings of 1, 1, 3, 7, 13 and so on, each half as careful as the
 * last, and flushes after each. Only in a large helping is there time before the flush, but those
 * before it would flush the reader's CPU for pages of its own process: what they take, the oldest
 * pages of the list, is therefore the child's. Younger ones make up the number.
 */
#define HELPING_FIRST	13U	/* pages in the helpings before */
#define HELPING_LIST	64U

static int touch_on(struct litmus *l, unsigned int pages, char **area)
{
	unsigned long nodes = 1UL << l->slow;
	size_t bytes = pages * l->page;

	*area = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (*area == MAP_FAILED || mbind(*area, bytes, MPOL_BIND, &nodes, 64, 0))
		return -errno;
	for (size_t at = 0; at < bytes; at += l->page)
		(*area)[at] = 1;
	return 0;
}

static int age_first(struct litmus *l)
{
	return touch_on(l, HELPING_FIRST, &l->other);
}

static int reclaim_helpings(struct litmus *l, uint64_t value)
{
	unsigned int rest = HELPING_LIST - HELPING_FIRST - (unsigned int)(l->bytes / l->page);
	char *young;
	int err = touch_on(l, rest, &young);

	(void)value;
	if (!err)
		err = litmus__write_file("/proc/self/clear_refs", "2");
	if (!err)
		err = wl_cgroup__reclaim(&l->cg, HELPING_LIST * l->page);
	atomic_store(&l->sh->go, true);
	return err == -EAGAIN ? 0 : err;
}

static int prepare_swap_race(struct litmus *l)
{
	int err;

	for (size_t at = l->page; at < l->bytes; at += l->page)
		*(volatile char *)(l->map + at) = 1;
	if (madvise(l->map, l->bytes, MADV_PAGEOUT))
		return -errno;
	for (size_t at = 0; at < l->bytes; at += l->page)
		(void)*(volatile char *)(l->map + at);
	err = litmus__child(l, age_first, reclaim_helpings);
	/* After that fork, which shares it. */
	if (!err)
		err = unshare_first(l);
	return err || !pipe2(l->pipe, O_CLOEXEC) ? err : -errno;
}

/* In one batch and in order. Reclaim, asked again, would begin to swap, and flush for it. */
static int move_swap_race(struct litmus *l)
{
	int err = madvise(l->map, l->bytes, MADV_COLD) ? -errno : 0;

	if (!err)
		err = litmus__move_to(l, 0, l->bytes, l->slow);
	l->moved = litmus__page_node(l) == l->slow;
	return err;
}

static int begin_swap_race(struct litmus *l)
{
	int err = litmus__defer_syscalls(l);

	return err ? err : begin_swap(l);
}

/* Writes as soon as reclaim has unmapped the page. */
static int write_unmapped(struct litmus *l, uint64_t value, litmus_write_fn *write)
{
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC), err;
	struct iovec first = { l->map, l->page };
	double limit = wl_now() + 120;
	uint64_t entry = 0;

	/* The other reference. */
	if (fd < 0 || vmsplice(l->pipe[1], &first, 1, 0) != (ssize_t)l->page)
		return -errno;
	/* As if it had not been read lately: all pages in one go. This does not flush. */
	err = litmus__write_file("/proc/self/clear_refs", "2");
	if (!err)
		err = litmus__ask(l, 0);
	while (!err && !litmus__entry_swapped(entry) && !atomic_load(&l->sh->go))
		err = wl_now() > limit ? -ETIMEDOUT : litmus__pagemap(fd, l->map, &entry);
	if (!err)
		err = write(l, value);
	close(fd);
	return err || litmus__entry_swapped(entry) ? err : LITMUS_MISSED;
}

static int write_swap_race(struct litmus *l, uint64_t value)
{
	return write_unmapped(l, value, litmus__write_own);
}

static int cleanup_swap_race(struct litmus *l)
{
	int err, late;

	err = l->child ? litmus__answer(l) : 0;
	late = litmus__end_child(l);
	close(l->pipe[0]);
	close(l->pipe[1]);
	return err ? err : late;
}

/*
 * The same race, but what is written is elsewhere by then: UFFDIO_MOVE takes the swap entry to a
 * mapping with an anon_vma of its own, which does not know that the page's old place is kept.
 */
static const char *lacks_move_race(struct litmus *l)
{
	const char *lacks = litmus__lacks_move(0, "UFFDIO_MOVE");

	return lacks ? lacks : lacks_swap_race(l);
}

static int begin_move_race(struct litmus *l)
{
	int err = begin_swap_race(l);

	l->other = mmap(NULL, l->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!err && l->other == MAP_FAILED)
		err = -errno;
	if (!err)
		err = litmus__uffd_open(l, 0);
	return err ? err : litmus__uffd_register(l, l->other, UFFDIO_REGISTER_MODE_MISSING);
}

static int write_moved(struct litmus *l, uint64_t value)
{
	struct uffdio_move move = {
		.dst = (uintptr_t)l->other, .src = (uintptr_t)l->map, .len = l->page,
	};

	if (ioctl(l->other_fd, UFFDIO_MOVE, &move))
		return errno == EAGAIN ? LITMUS_MISSED : -errno;
	((volatile uint64_t *)l->other)[LITMUS_WORD] = value;
	return 0;
}

static int write_move_race(struct litmus *l, uint64_t value)
{
	return write_unmapped(l, value, write_moved);
}

static int cleanup_move_race(struct litmus *l)
{
	int err = cleanup_swap_race(l);

	return err ? err : litmus__drop_moved(l);
}

static int end_move_race(struct litmus *l)
{
	int err = litmus__end_move(l);

	return err ? err : end_swap(l);
}

const struct litmus_test litmus_swap_tests[] = {
	{ .name = "swap-proc-mem", .flags = LITMUS_ANON, .lacks = lacks_swap_force,
	  .begin = begin_swap, .prepare = prepare_clean, .write = litmus__write_force,
	  .cleanup = litmus__unprotect_own, .end = end_swap, .hooks = LITMUS_BIT(LITMUS_FORCE) },
	{ .name = "swap-out", .flags = LITMUS_ANON, .lacks = lacks_swap, .begin = begin_swap,
	  .prepare = prepare_clean, .write = write_swapped, .end = end_swap,
	  .why = "reclaim flushes what it unmaps" },
	{ .name = "swap-race", .flags = LITMUS_ANON | LITMUS_RACE, .pages = 32,
	  .lacks = lacks_swap_race, .begin = begin_swap_race, .prepare = prepare_swap_race,
	  .move = move_swap_race, .write = write_swap_race, .cleanup = cleanup_swap_race,
	  .end = end_swap, .hooks = LITMUS_BIT(LITMUS_SWAPIN) },
	{ .name = "uffd-move-swap", .flags = LITMUS_ANON | LITMUS_RACE | LITMUS_TAKES, .pages = 32,
	  .lacks = lacks_move_race, .begin = begin_move_race, .prepare = prepare_swap_race,
	  .move = move_swap_race, .write = write_move_race, .cleanup = cleanup_move_race,
	  .end = end_move_race, .hooks = LITMUS_BIT(LITMUS_UFFD) },
	{ 0 }
};
