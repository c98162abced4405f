// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * UFFDIO_MOVE of several pages at once: the new address of the first is mapped while the old one is
 * not flushed yet. Who writes at the new address must not be missed by who still reads at the old.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "workloads/lib/litmus.h"
#include "workloads/lib/litmus_uffd.h"
#include "workloads/lib/relax.h"
#include "workloads/lib/team.h"

#define TABLE_BYTES	(2UL << 20)	/* of one page table: what is moved at once */
#define PAUSE_S		0.0002		/* between tries: a fault is far shorter, the move not */

bool litmus__uffd_has(uint64_t features)
{
	struct uffdio_api api = { .api = UFFD_API };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	bool good;

	if (fd < 0)
		return false;
	good = !ioctl(fd, UFFDIO_API, &api) && (api.features & features) == features;
	close(fd);
	return good;
}

const char *litmus__lacks_move(uint64_t features, const char *what)
{
	if (litmus__comparing())
		return "a flush of the generation before the write: the move's own is enough";
	if (litmus__cpus() <= LITMUS_CPU_OTHER)
		return "a third CPU";
	return litmus__uffd_has(UFFD_FEATURE_MOVE | features) ? NULL : what;
}

int litmus__uffd_open(struct litmus *l, uint64_t features)
{
	struct uffdio_api api = { .api = UFFD_API, .features = features };

	l->other_fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	return l->other_fd < 0 || ioctl(l->other_fd, UFFDIO_API, &api) ? -errno : 0;
}

int litmus__uffd_register(struct litmus *l, char *start, uint64_t mode)
{
	struct uffdio_register reg = {
		.range = { .start = (uintptr_t)start, .len = l->bytes }, .mode = mode,
	};

	return ioctl(l->other_fd, UFFDIO_REGISTER, &reg) ? -errno : 0;
}

int litmus__drop_moved(struct litmus *l)
{
	return madvise(l->map, l->bytes, MADV_DONTNEED) ||
		madvise(l->other, l->bytes, MADV_DONTNEED) ? -errno : 0;
}

int litmus__end_move(struct litmus *l)
{
	return munmap(l->other, l->bytes) || close(l->other_fd) ? -errno : 0;
}

/* That several pages are moved at once no feature tells; a kernel with RWP does it. */
static const char *lacks_move(struct litmus *l)
{
	(void)l;
	return litmus__lacks_move(UFFD_FEATURE_RWP, "UFFDIO_MOVE of several pages at once");
}

/* Moves all pages as soon as it is told to go, until it is told that it is over. */
static void *mover(void *arg)
{
	struct litmus *l = arg;

	/* setup has seen that this CPU is there. */
	(void)litmus__pin(LITMUS_CPU_OTHER);
	while (!atomic_load(&l->sh->over)) {
		struct uffdio_move move = {
			.dst = (uintptr_t)l->other, .src = (uintptr_t)l->map, .len = l->bytes,
		};

		if (!atomic_load(&l->sh->go)) {
			wl_relax();
			continue;
		}
		l->helper_err = ioctl(l->other_fd, UFFDIO_MOVE, &move) ? -errno : 0;
		atomic_store(&l->sh->go, false);
	}
	return NULL;
}

/* A missing page of the second area is an error to who touches it, so that he can try again. */
static int begin_move(struct litmus *l)
{
	int err = litmus__remap_whole(l, TABLE_BYTES);

	if (!err)
		err = litmus__map_aligned(TABLE_BYTES, &l->other);
	if (!err)
		err = litmus__uffd_open(l, UFFD_FEATURE_PAGEFAULT_FLAG_WP | UFFD_FEATURE_SIGBUS);
	if (err)
		return err;
	l->fd = memfd_create("litmus-value", MFD_CLOEXEC);
	if (l->fd < 0)
		return -errno;
	err = litmus__uffd_register(l, l->map, UFFDIO_REGISTER_MODE_WP);
	if (!err)
		err = litmus__uffd_register(l, l->other, UFFDIO_REGISTER_MODE_MISSING);
	if (!err)
		err = litmus__defer_syscalls(l);
	atomic_store(&l->sh->go, false);
	atomic_store(&l->sh->over, false);
	return err ? err : -pthread_create(&l->helper, NULL, mover, l);
}

/* Every page is there and, as moving wants it, in a writable area; read-only by its protection. */
static int prepare_move(struct litmus *l)
{
	struct uffdio_writeprotect wp = {
		.range = { .start = (uintptr_t)l->map, .len = l->bytes },
		.mode = UFFDIO_WRITEPROTECT_MODE_WP,
	};

	for (size_t at = l->page; at < l->bytes; at += l->page)
		*(volatile char *)(l->map + at) = 1;
	return ioctl(l->other_fd, UFFDIO_WRITEPROTECT, &wp) ? -errno : 0;
}

static int demote_first(struct litmus *l)
{
	int err = litmus__move_to(l, 0, l->page, l->slow);

	l->moved = litmus__page_node(l) == l->slow;
	return err;
}

/*
 * By read(2) into it, which fails where a store would have to be caught. Not all the time: who is in
 * the fault when the mover takes the page table's lock waits there for all that the mover does.
 */
static int write_moving(struct litmus *l, uint64_t value)
{
	char *to = l->other + LITMUS_WORD * sizeof(value);
	bool moving;
	double turn;
	ssize_t n;

	if (pwrite(l->fd, &value, sizeof(value), 0) != sizeof(value))
		return -EIO;
	atomic_store(&l->sh->go, true);
	do {
		turn = wl_now() + PAUSE_S;
		while (wl_now() < turn)
			;
		moving = atomic_load(&l->sh->go);
		n = pread(l->fd, to, sizeof(value), 0);
	} while (n < 0 && errno == EFAULT && moving);
	return n == sizeof(value) && moving ? 0 : LITMUS_MISSED;
}

/* The flag does not wait for the mover to end; here are the pages that it moved, and what was read
 * where they had been. */
static int cleanup_move(struct litmus *l)
{
	while (atomic_load(&l->sh->go))
		wl_relax();
	if (l->helper_err)
		return l->helper_err;
	return litmus__drop_moved(l);
}

static int end_move(struct litmus *l)
{
	atomic_store(&l->sh->over, true);
	pthread_join(l->helper, NULL);
	return litmus__end_move(l);
}

const struct litmus_test litmus_uffd_tests[] = {
	{ .name = "uffd-move", .flags = LITMUS_ANON | LITMUS_RACE | LITMUS_TAKES,
	  .lacks = lacks_move, .begin = begin_move, .prepare = prepare_move, .move = demote_first,
	  .write = write_moving, .cleanup = cleanup_move, .end = end_move,
	  .hooks = LITMUS_BIT(LITMUS_UFFD) },
	{ 0 }
};
