// SPDX-License-Identifier: GPL-2.0-or-later
/* Litmus tests of anonymous memory. What was written is dirty: it is deferred under `ro` only. */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <numaif.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workloads/lib/litmus.h"
#include "workloads/lib/team.h"

static int protect_own(struct litmus *l)
{
	return mprotect(l->map, l->bytes, PROT_READ) ? -errno : 0;
}

static int unprotect_own(struct litmus *l)
{
	return mprotect(l->map, l->bytes, PROT_READ | PROT_WRITE) ? -errno : 0;
}

static int write_own(struct litmus *l, uint64_t value)
{
	*litmus__own_word(l) = value;
	return 0;
}

static int write_own_mprotect(struct litmus *l, uint64_t value)
{
	int err = unprotect_own(l);

	return err ? err : write_own(l, value);
}

/* Through /proc/self/mem a read-only private mapping is written as a debugger would. */
static int write_force(struct litmus *l, uint64_t value)
{
	int err = 0, fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (pwrite(fd, &value, sizeof(value), (off_t)(uintptr_t)litmus__own_word(l)) < 0)
		err = -errno;
	close(fd);
	return err;
}

/* A kernel may refuse it to who is no debugger, or to everybody. */
static const char *lacks_force(struct litmus *l)
{
	struct litmus other = *l;
	bool refused;

	other.map = mmap(NULL, l->page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (other.map == MAP_FAILED)
		return NULL;
	refused = write_force(&other, 1) == -EIO;
	munmap(other.map, l->page);
	return refused ? "proc_mem.force_override=always on the kernel's command line" : NULL;
}

/* ---- fork: read-only in both, and written when the other is gone ---------------------------- */

static int idle_child(struct litmus *l)
{
	return litmus__child_sharing(l, write_own);
}

static int write_after_child(struct litmus *l, uint64_t value)
{
	int err = litmus__end_child(l);

	return err ? err : write_own(l, value);
}

/* Both are there: the write makes a copy, in this process. */
static int write_copying(struct litmus *l, uint64_t value)
{
	return write_own(l, value);
}

/* ---- userfaultfd: write protection of one's own --------------------------------------------- */

static const char *lacks_uffd(struct litmus *l)
{
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	(void)l;
	if (fd < 0)
		return "CONFIG_USERFAULTFD";
	close(fd);
	return NULL;
}

static int uffd_protect(struct litmus *l, uint64_t mode)
{
	struct uffdio_writeprotect wp = {
		.range = { .start = (uintptr_t)l->map, .len = l->bytes }, .mode = mode,
	};

	return ioctl(l->other_fd, UFFDIO_WRITEPROTECT, &wp) ? -errno : 0;
}

static int begin_uffd(struct litmus *l)
{
	struct uffdio_api api = { .api = UFFD_API, .features = UFFD_FEATURE_PAGEFAULT_FLAG_WP };
	struct uffdio_register reg = {
		.range = { .start = (uintptr_t)l->map, .len = l->bytes },
		.mode = UFFDIO_REGISTER_MODE_WP,
	};

	l->other_fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	if (l->other_fd < 0 || ioctl(l->other_fd, UFFDIO_API, &api) ||
	    ioctl(l->other_fd, UFFDIO_REGISTER, &reg))
		return -errno;
	return 0;
}

static int prepare_uffd(struct litmus *l)
{
	return uffd_protect(l, UFFDIO_WRITEPROTECT_MODE_WP);
}

static int write_uffd(struct litmus *l, uint64_t value)
{
	int err = uffd_protect(l, 0);

	return err ? err : write_own(l, value);
}

static int end_uffd(struct litmus *l)
{
	return close(l->other_fd) ? -errno : 0;
}

/* ---- KSM: merged with a twin, and parted again ---------------------------------------------- */

#define KSM	"/sys/kernel/mm/ksm/"

/* With --compare there is a second one to the destination: it cannot be merged or collapsed. */
static const char *lacks_sole_reference(void)
{
	return litmus__comparing() ?
		"a sole reference to the destination, which the comparison holds, too" : NULL;
}

static const char *lacks_ksm(struct litmus *l)
{
	if (lacks_sole_reference())
		return lacks_sole_reference();
	return access(KSM "run", W_OK) ? "CONFIG_KSM" : lacks_force(l);
}

static int begin_ksm(struct litmus *l)
{
	int err = litmus__set(l, KSM "sleep_millisecs", "1");

	if (!err)
		err = litmus__set(l, KSM "run", "1");
	return err;
}

static int prepare_ksm(struct litmus *l)
{
	l->other = mmap(NULL, l->page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (l->other == MAP_FAILED || mlock(l->other, l->page))
		return -errno;
	memcpy(l->other, l->map, l->page);
	return protect_own(l);
}

static int merged(uint64_t *pages)
{
	return litmus__read_u64(KSM "pages_sharing", pages);
}

static int write_ksm(struct litmus *l, uint64_t value)
{
	double limit = wl_now() + 10;
	uint64_t pages = 0;
	int err = 0;

	if (munlock(l->other, l->page) || madvise(l->map, l->page, MADV_MERGEABLE) ||
	    madvise(l->other, l->page, MADV_MERGEABLE))
		return -errno;
	while (!err && !pages && wl_now() < limit)
		err = merged(&pages);
	/* Not by mprotect(2), which flushes: the write itself must part them. */
	if (!err)
		err = write_force(l, value);
	return err || pages ? err : LITMUS_MISSED;
}

static int cleanup_ksm(struct litmus *l)
{
	if (madvise(l->map, l->page, MADV_UNMERGEABLE) || munmap(l->other, l->page))
		return -errno;
	return unprotect_own(l);
}

/* ---- swap ----------------------------------------------------------------------------------- */

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

	return lacks ? lacks : lacks_force(l);
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
	return write_own_mprotect(l, value);
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

static int write_swap_race(struct litmus *l, uint64_t value)
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
		write_own(l, value);
	close(fd);
	return err || litmus__entry_swapped(entry) ? err : LITMUS_MISSED;
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

/* ---- a huge page takes the page's place, as khugepaged would do ------------------------------ */

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE	25
#endif
#define HUGE_BYTES	(2UL << 20)

static const char *lacks_thp(struct litmus *l)
{
	(void)l;
	if (lacks_sole_reference())
		return lacks_sole_reference();
	return access("/sys/kernel/mm/transparent_hugepage", F_OK) ?
		"CONFIG_TRANSPARENT_HUGEPAGE" : NULL;
}

static int begin_collapse(struct litmus *l)
{
	int err = litmus__remap_whole(l, HUGE_BYTES);

	return err ? err : litmus__defer_syscalls(l);
}

/* Read-only: every page has been in the table of a child. */
static int share_all(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	return pid < 0 || waitpid(pid, NULL, 0) != pid ? -errno : 0;
}

/* The first page is read-only since then; the others are written again. */
static int prepare_collapse(struct litmus *l)
{
	int err = share_all();

	for (size_t at = l->page; at < l->bytes; at += l->page)
		*(volatile char *)(l->map + at) = 1;
	return err;
}

static int move_first(struct litmus *l)
{
	int err = litmus__move_to(l, 0, l->page, l->slow);

	l->moved = litmus__page_node(l) == l->slow;
	return err;
}

static int write_collapsed(struct litmus *l, uint64_t value)
{
	return madvise(l->map, l->bytes, MADV_COLLAPSE) ? -errno : write_own(l, value);
}

static int drop_collapsed(struct litmus *l)
{
	return madvise(l->map, l->bytes, MADV_DONTNEED) ? -errno : 0;
}

const struct litmus_test litmus_anon_tests[] = {
	{ .name = "anon-mprotect", .flags = LITMUS_ANON, .prepare = protect_own,
	  .write = write_own_mprotect, .why = "mprotect flushes its own mm" },
	{ .name = "anon-proc-mem", .flags = LITMUS_ANON, .lacks = lacks_force,
	  .prepare = protect_own, .write = write_force, .cleanup = unprotect_own, .hooks = LITMUS_BIT(LITMUS_FORCE) },
	{ .name = "fork-reuse", .flags = LITMUS_ANON, .prepare = idle_child,
	  .write = write_after_child, .hooks = LITMUS_BIT(LITMUS_WP) },
	{ .name = "fork-copy", .flags = LITMUS_ANON, .prepare = idle_child, .write = write_copying,
	  .cleanup = litmus__end_child, .why = "the copying fault flushes the address" },
	{ .name = "uffd-unprotect", .flags = LITMUS_ANON, .lacks = lacks_uffd, .begin = begin_uffd,
	  .prepare = prepare_uffd, .write = write_uffd, .end = end_uffd,
	  .why = "it flushes its own mm, as mprotect does" },
	{ .name = "ksm", .flags = LITMUS_ANON, .max_rounds = 10, .lacks = lacks_ksm,
	  .begin = begin_ksm, .prepare = prepare_ksm, .write = write_ksm, .cleanup = cleanup_ksm,
	  .why = "merging flushes the address" },
	{ .name = "collapse", .flags = LITMUS_ANON, .max_rounds = 20, .lacks = lacks_thp,
	  .begin = begin_collapse, .prepare = prepare_collapse, .move = move_first,
	  .write = write_collapsed, .cleanup = drop_collapsed,
	  .why = "collapsing flushes the whole range" },
	{ .name = "swap-proc-mem", .flags = LITMUS_ANON, .lacks = lacks_swap_force,
	  .begin = begin_swap, .prepare = prepare_clean, .write = write_force,
	  .cleanup = unprotect_own, .end = end_swap, .hooks = LITMUS_BIT(LITMUS_FORCE) },
	{ .name = "swap-out", .flags = LITMUS_ANON, .lacks = lacks_swap, .begin = begin_swap,
	  .prepare = prepare_clean, .write = write_swapped, .end = end_swap,
	  .why = "reclaim flushes what it unmaps" },
	{ .name = "swap-race", .flags = LITMUS_ANON | LITMUS_RACE, .pages = 32,
	  .lacks = lacks_swap_race, .begin = begin_swap_race, .prepare = prepare_swap_race,
	  .move = move_swap_race, .write = write_swap_race, .cleanup = cleanup_swap_race,
	  .end = end_swap, .hooks = LITMUS_BIT(LITMUS_SWAPIN) },
	{ 0 }
};
