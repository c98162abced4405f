// SPDX-License-Identifier: GPL-2.0-or-later
/* Litmus tests that write page cache through a mapping, which must become writable only in time. */
#include <errno.h>
#include <fcntl.h>
#include <numaif.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "workloads/lib/litmus.h"
#include "workloads/lib/litmus_uffd.h"
#include "workloads/lib/team.h"

#define WP_FAULT	(LITMUS_BIT(LITMUS_WP) | LITMUS_BIT(LITMUS_FAULT))

static int map_other(struct litmus *l, int prot)
{
	l->other = mmap(NULL, l->page, prot, MAP_SHARED, l->fd, 0);
	return l->other == MAP_FAILED ? -errno : 0;
}

static int unmap_other(struct litmus *l)
{
	return munmap(l->other, l->page) ? -errno : 0;
}

static volatile uint64_t *other_word(struct litmus *l)
{
	return (volatile uint64_t *)l->other + LITMUS_WORD;
}

static int write_other(struct litmus *l, uint64_t value)
{
	*other_word(l) = value;
	return 0;
}

/* Writable, but without a PTE while the page is moved: its first touch is the write. */
static int prepare_untouched(struct litmus *l)
{
	return map_other(l, PROT_READ | PROT_WRITE);
}

static int write_fresh(struct litmus *l, uint64_t value)
{
	int err = map_other(l, PROT_READ | PROT_WRITE);

	return err ? err : write_other(l, value);
}

static int write_read_first(struct litmus *l, uint64_t value)
{
	int err = map_other(l, PROT_READ | PROT_WRITE);

	if (err)
		return err;
	(void)*other_word(l);
	return write_other(l, value);
}

/* Read-only with a PTE, made writable in place. */
static int prepare_readonly(struct litmus *l)
{
	int err = map_other(l, PROT_READ);

	if (!err)
		(void)*other_word(l);
	return err;
}

static int write_mprotect(struct litmus *l, uint64_t value)
{
	if (mprotect(l->other, l->page, PROT_READ | PROT_WRITE))
		return -errno;
	return write_other(l, value);
}

/* ---- by another process, whose flushes do not concern the reader's ------------------------- */

static int child_fresh(struct litmus *l)
{
	return litmus__child(l, NULL, write_fresh);
}

static int child_read_first(struct litmus *l)
{
	return litmus__child(l, NULL, write_read_first);
}

static int child_mprotect(struct litmus *l)
{
	return litmus__child(l, prepare_readonly, write_mprotect);
}

/* ---- process_vm_writev(2): the kernel faults the page in on behalf of another --------------- */

static const char *lacks_vm_writev(struct litmus *l)
{
	(void)l;
	return process_vm_writev(getpid(), NULL, 0, NULL, 0, 0) < 0 ?
		"CONFIG_CROSS_MEMORY_ATTACH" : NULL;
}

static int prepare_addressed(struct litmus *l)
{
	int err = prepare_untouched(l);

	atomic_store(&l->sh->addr, (uintptr_t)l->other);
	return err;
}

static int child_addressed(struct litmus *l)
{
	return litmus__child(l, prepare_addressed, write_other);
}

static int write_vm_writev(struct litmus *l, uint64_t value)
{
	uint64_t *to = (uint64_t *)atomic_load(&l->sh->addr) + LITMUS_WORD;
	struct iovec here = { &value, sizeof(value) }, there = { to, sizeof(value) };
	ssize_t n = process_vm_writev(l->child, &here, 1, &there, 1, 0);

	return n == sizeof(value) ? 0 : n < 0 ? -errno : -EIO;
}

/* ---- userfaultfd ---------------------------------------------------------------------------- */

static const char *lacks_uffd(struct litmus *l)
{
	struct uffdio_api api = { .api = UFFD_API };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	bool good;

	(void)l;
	if (fd < 0)
		return "CONFIG_USERFAULTFD";
	good = !ioctl(fd, UFFDIO_API, &api) && api.features & UFFD_FEATURE_MINOR_SHMEM &&
		api.features & UFFD_FEATURE_WP_HUGETLBFS_SHMEM;
	close(fd);
	return good ? NULL : "CONFIG_PTE_MARKER_UFFD_WP";
}

/* In the child, which keeps the descriptor: a mapping whose faults it could handle by itself. */
static int register_other(struct litmus *l, uint64_t mode, uint64_t features)
{
	struct uffdio_api api = { .api = UFFD_API, .features = features };
	struct uffdio_register reg = { .mode = mode };
	int err = prepare_untouched(l);

	if (err)
		return err;
	l->other_fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	reg.range.start = (uintptr_t)l->other;
	reg.range.len = l->page;
	if (l->other_fd < 0 || ioctl(l->other_fd, UFFDIO_API, &api) ||
	    ioctl(l->other_fd, UFFDIO_REGISTER, &reg))
		return -errno;
	return 0;
}

static int protect_other(struct litmus *l, uint64_t mode)
{
	struct uffdio_writeprotect wp = {
		.range = { .start = (uintptr_t)l->other, .len = l->page }, .mode = mode,
	};

	return ioctl(l->other_fd, UFFDIO_WRITEPROTECT, &wp) ? -errno : 0;
}

static int prepare_minor(struct litmus *l)
{
	return register_other(l, UFFDIO_REGISTER_MODE_MINOR, UFFD_FEATURE_MINOR_SHMEM);
}

static int write_continue(struct litmus *l, uint64_t value)
{
	struct uffdio_continue c = { .range = { .start = (uintptr_t)l->other, .len = l->page } };

	return ioctl(l->other_fd, UFFDIO_CONTINUE, &c) ? -errno : write_other(l, value);
}

static int child_continue(struct litmus *l)
{
	return litmus__child(l, prepare_minor, write_continue);
}

/* Write-protected where there is no PTE yet: a marker. */
static int prepare_protected(struct litmus *l)
{
	int err = register_other(l, UFFDIO_REGISTER_MODE_WP, UFFD_FEATURE_WP_HUGETLBFS_SHMEM);

	return err ? err : protect_other(l, UFFDIO_WRITEPROTECT_MODE_WP);
}

static int write_unprotect(struct litmus *l, uint64_t value)
{
	int err;

	(void)*other_word(l);
	err = protect_other(l, 0);
	return err ? err : write_other(l, value);
}

static int child_unprotect(struct litmus *l)
{
	return litmus__child(l, prepare_protected, write_unprotect);
}

/*
 * Protected against reads, too (RWP): no PTE that a CPU would use, but one that becomes accessible, and
 * writable with it, as soon as it is touched, or moved to where the protection is not inherited. A
 * page that is protected so when it is migrated is refused; this one is protected afterwards.
 */
static const char *lacks_rwp(struct litmus *l)
{
	(void)l;
	return litmus__uffd_has(UFFD_FEATURE_RWP | UFFD_FEATURE_RWP_ASYNC) ? NULL :
		"userfaultfd's RWP mode";
}

static int prepare_rwp(struct litmus *l)
{
	return register_other(l, UFFDIO_REGISTER_MODE_RWP,
			      UFFD_FEATURE_RWP | UFFD_FEATURE_RWP_ASYNC);
}

static int protect_read(struct litmus *l)
{
	struct uffdio_rwprotect rwp = {
		.range = { .start = (uintptr_t)l->other, .len = l->page },
		.mode = UFFDIO_RWPROTECT_MODE_RWP,
	};

	(void)*other_word(l);
	return ioctl(l->other_fd, UFFDIO_RWPROTECT, &rwp) ? -errno : 0;
}

static int write_inaccessible(struct litmus *l, uint64_t value)
{
	int err = protect_read(l);

	return err ? err : write_other(l, value);
}

static int child_inaccessible(struct litmus *l)
{
	return litmus__child(l, prepare_rwp, write_inaccessible);
}

static int write_elsewhere(struct litmus *l, uint64_t value)
{
	char *to = mmap(NULL, l->page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int err = to == MAP_FAILED ? -errno : protect_read(l);

	if (err)
		return err;
	if (mremap(l->other, l->page, l->page, MREMAP_MAYMOVE | MREMAP_FIXED, to) == MAP_FAILED)
		return -errno;
	l->other = to;
	return write_other(l, value);
}

static int child_elsewhere(struct litmus *l)
{
	return litmus__child(l, prepare_rwp, write_elsewhere);
}

/* ---- NUMA hinting: a PTE that was taken away is restored ------------------------------------ */

#define BALANCING	"/sys/kernel/debug/sched/numa_balancing/"

static const char *lacks_balancing(struct litmus *l)
{
	(void)l;
	if (access("/proc/sys/kernel/numa_balancing", W_OK))
		return "CONFIG_NUMA_BALANCING";
	return access(BALANCING "hot_threshold_ms", W_OK) ?
		"debugfs with CONFIG_SCHED_DEBUG" : NULL;
}

/* Scanned soon and all at once, and never hot: a promotion would flush. */
static int begin_balancing(struct litmus *l)
{
	static const char *const set[][2] = {
		{ BALANCING "scan_delay_ms", "1" }, { BALANCING "scan_period_min_ms", "10" },
		{ BALANCING "scan_size_mb", "1024" }, { BALANCING "hot_threshold_ms", "0" },
		{ "/proc/sys/kernel/numa_balancing", "2" },
	};
	int err = 0;

	for (unsigned int i = 0; !err && i < sizeof(set) / sizeof(set[0]); i++)
		err = litmus__set(l, set[i][0], set[i][1]);
	return err;
}

/*
 * The first read gets a read-only PTE, as the page's mark is pending. The scan takes it away, and
 * the write finds out what the hint fault puts in its place.
 */
static int write_after_hint(struct litmus *l, uint64_t value)
{
	uint64_t before, now;
	double limit;
	int err;

	if (set_mempolicy(MPOL_DEFAULT, NULL, 0))
		return -errno;
	err = map_other(l, PROT_READ | PROT_WRITE);
	if (!err)
		err = litmus__vmstat("numa_pte_updates", &before);
	if (err)
		return err;
	(void)*other_word(l);
	limit = wl_now() + 5;
	do {
		/* The scan is done by the task itself, for each so many ms that it has run. */
		double turn = wl_now() + 0.005;

		while (wl_now() < turn)
			;
		err = litmus__vmstat("numa_pte_updates", &now);
	} while (!err && now == before && wl_now() < limit);
	if (err)
		return err;
	write_other(l, value);
	return now == before ? LITMUS_MISSED : 0;
}

static int child_hint(struct litmus *l)
{
	return litmus__child(l, NULL, write_after_hint);
}

/* ---- made writable while the migration is under way ----------------------------------------- */

static const char *lacks_cpu(struct litmus *l)
{
	(void)l;
	return litmus__cpus() > LITMUS_CPU_OTHER ? NULL : "a third CPU";
}

/* All of one batch: the first page stays unmapped until the last one is, too. */
static int begin_remap(struct litmus *l)
{
	static const char c;

	for (size_t at = 0; at < l->bytes; at += l->page)
		if (pwrite(l->fd, &c, 1, (off_t)at) != 1)
			return -errno;
	return litmus__defer_syscalls(l);
}

static int write_when_unmapped(struct litmus *l, uint64_t value)
{
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC), err = 0;
	uint64_t entry = 0;

	if (fd < 0)
		return -errno;
	atomic_store(&l->sh->ready, true);
	while (!err && !litmus__entry_swapped(entry) && !atomic_load(&l->sh->over))
		err = litmus__pagemap(fd, l->other, &entry);
	close(fd);
	if (err)
		return err;
	err = write_mprotect(l, value);
	return err || litmus__entry_swapped(entry) ? err : LITMUS_MISSED;
}

static int child_remap(struct litmus *l)
{
	for (size_t at = 0; at < l->bytes; at += l->page)
		(void)*(volatile char *)(l->map + at);
	return litmus__child(l, prepare_readonly, write_when_unmapped);
}

static int move_remap(struct litmus *l)
{
	int err = litmus__ask(l, l->value);

	if (!err)
		err = litmus__await(&l->sh->ready);
	if (!err)
		err = litmus__move_to(l, 0, l->bytes, l->slow);
	atomic_store(&l->sh->over, true);
	l->moved = litmus__page_node(l) == l->slow;
	return err;
}

static int write_remap(struct litmus *l, uint64_t value)
{
	(void)value;
	return litmus__answer(l);
}

const struct litmus_test litmus_map_tests[] = {
	{ .name = "second-mapping", .prepare = prepare_untouched, .write = write_other,
	  .cleanup = unmap_other, .hooks = WP_FAULT },
	{ .name = "fresh-mapping", .write = write_fresh, .cleanup = unmap_other,
	  .hooks = WP_FAULT },
	{ .name = "fresh-read-first", .write = write_read_first, .cleanup = unmap_other,
	  .hooks = WP_FAULT },
	{ .name = "mprotect-other", .prepare = prepare_readonly, .write = write_mprotect,
	  .cleanup = unmap_other, .why = "mprotect flushes its own mm" },
	{ .name = "child-fresh", .prepare = child_fresh, .write = litmus__write_by_child,
	  .cleanup = litmus__end_child, .hooks = WP_FAULT },
	{ .name = "child-read-first", .prepare = child_read_first, .write = litmus__write_by_child,
	  .cleanup = litmus__end_child, .hooks = WP_FAULT },
	{ .name = "child-mprotect", .prepare = child_mprotect, .write = litmus__write_by_child,
	  .cleanup = litmus__end_child,
	  .hooks = LITMUS_BIT(LITMUS_WP) | LITMUS_BIT(LITMUS_MPROTECT) },
	{ .name = "child-vm-writev", .lacks = lacks_vm_writev, .prepare = child_addressed,
	  .write = write_vm_writev, .cleanup = litmus__end_child, .hooks = WP_FAULT },
	{ .name = "child-uffd-continue", .lacks = lacks_uffd, .prepare = child_continue,
	  .write = litmus__write_by_child, .cleanup = litmus__end_child,
	  .together = LITMUS_BIT(LITMUS_SHMEM) | LITMUS_BIT(LITMUS_UFFD) },
	{ .name = "child-uffd-unprotect", .lacks = lacks_uffd, .prepare = child_unprotect,
	  .write = litmus__write_by_child, .cleanup = litmus__end_child,
	  .hooks = LITMUS_BIT(LITMUS_WP) },
	{ .name = "child-uffd-rwp", .lacks = lacks_rwp, .prepare = child_inaccessible,
	  .write = litmus__write_by_child, .cleanup = litmus__end_child,
	  .hooks = LITMUS_BIT(LITMUS_WP) | LITMUS_BIT(LITMUS_UFFD) },
	{ .name = "child-uffd-rwp-mremap", .lacks = lacks_rwp, .prepare = child_elsewhere,
	  .write = litmus__write_by_child, .cleanup = litmus__end_child,
	  .hooks = LITMUS_BIT(LITMUS_WP) | LITMUS_BIT(LITMUS_UFFD) },
	{ .name = "child-numa-hint", .flags = LITMUS_RACE, .max_rounds = 20,
	  .lacks = lacks_balancing, .begin = begin_balancing, .prepare = child_hint,
	  .write = litmus__write_by_child, .cleanup = litmus__end_child,
	  .hooks = LITMUS_BIT(LITMUS_WP) | LITMUS_BIT(LITMUS_NUMA) },
	{ .name = "child-remap", .flags = LITMUS_RACE, .pages = 512, .lacks = lacks_cpu,
	  .begin = begin_remap, .prepare = child_remap, .move = move_remap, .write = write_remap,
	  .cleanup = litmus__end_child, .hooks = LITMUS_BIT(LITMUS_WP) | LITMUS_BIT(LITMUS_REMAP) },
	{ 0 }
};
