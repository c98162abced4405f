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

int litmus__protect_own(struct litmus *l)
{
	return mprotect(l->map, l->bytes, PROT_READ) ? -errno : 0;
}

int litmus__unprotect_own(struct litmus *l)
{
	return mprotect(l->map, l->bytes, PROT_READ | PROT_WRITE) ? -errno : 0;
}

int litmus__write_own(struct litmus *l, uint64_t value)
{
	*litmus__own_word(l) = value;
	return 0;
}

int litmus__write_own_mprotect(struct litmus *l, uint64_t value)
{
	int err = litmus__unprotect_own(l);

	return err ? err : litmus__write_own(l, value);
}

/* Through /proc/self/mem a read-only private mapping is written as a debugger would. */
int litmus__write_force(struct litmus *l, uint64_t value)
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
const char *litmus__lacks_force(struct litmus *l)
{
	struct litmus other = *l;
	bool refused;

	other.map = mmap(NULL, l->page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (other.map == MAP_FAILED)
		return NULL;
	refused = litmus__write_force(&other, 1) == -EIO;
	munmap(other.map, l->page);
	return refused ? "proc_mem.force_override=always on the kernel's command line" : NULL;
}

/* ---- fork: read-only in both, and written when the other is gone ---------------------------- */

static int idle_child(struct litmus *l)
{
	return litmus__child_sharing(l, litmus__write_own);
}

static int write_after_child(struct litmus *l, uint64_t value)
{
	int err = litmus__end_child(l);

	return err ? err : litmus__write_own(l, value);
}

/* Both are there: the write makes a copy, in this process. */
static int write_copying(struct litmus *l, uint64_t value)
{
	return litmus__write_own(l, value);
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

	return err ? err : litmus__write_own(l, value);
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
	return access(KSM "run", W_OK) ? "CONFIG_KSM" : litmus__lacks_force(l);
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
	return litmus__protect_own(l);
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
		err = litmus__write_force(l, value);
	return err || pages ? err : LITMUS_MISSED;
}

static int cleanup_ksm(struct litmus *l)
{
	if (madvise(l->map, l->page, MADV_UNMERGEABLE) || munmap(l->other, l->page))
		return -errno;
	return litmus__unprotect_own(l);
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
	return madvise(l->map, l->bytes, MADV_COLLAPSE) ? -errno : litmus__write_own(l, value);
}

static int drop_collapsed(struct litmus *l)
{
	return madvise(l->map, l->bytes, MADV_DONTNEED) ? -errno : 0;
}

const struct litmus_test litmus_anon_tests[] = {
	{ .name = "anon-mprotect", .flags = LITMUS_ANON, .prepare = litmus__protect_own,
	  .write = litmus__write_own_mprotect, .why = "mprotect flushes its own mm" },
	{ .name = "anon-proc-mem", .flags = LITMUS_ANON, .lacks = litmus__lacks_force,
	  .prepare = litmus__protect_own, .write = litmus__write_force, .cleanup = litmus__unprotect_own, .hooks = LITMUS_BIT(LITMUS_FORCE) },
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
	{ 0 }
};
