/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What of userfaultfd's interface is younger than the headers of the oldest distribution we build on. */
#ifndef WL_LITMUS_UFFD_H
#define WL_LITMUS_UFFD_H

#include <linux/userfaultfd.h>
#include <stdbool.h>
#include <stdint.h>

#ifndef UFFD_FEATURE_MOVE
#define UFFD_FEATURE_MOVE		(1 << 16)
#define UFFDIO_MOVE			_IOWR(UFFDIO, 0x05, struct uffdio_move)

struct uffdio_move {
	__u64 dst, src, len, mode;
	__s64 move;		/* bytes moved, or -errno */
};
#endif

#ifndef UFFD_FEATURE_RWP
#define UFFD_FEATURE_RWP		(1 << 17)
#define UFFD_FEATURE_RWP_ASYNC		(1 << 18)
#define UFFDIO_REGISTER_MODE_RWP	((__u64)1 << 3)
#define UFFDIO_RWPROTECT_MODE_RWP	((__u64)1 << 0)
#define UFFDIO_RWPROTECT		_IOWR(UFFDIO, 0x09, struct uffdio_rwprotect)

struct uffdio_rwprotect {
	struct uffdio_range range;
	__u64 mode;
};
#endif

/* Has this kernel all of these UFFD_FEATURE_*? Not without CONFIG_USERFAULTFD. */
bool litmus__uffd_has(uint64_t features);

struct litmus;

/*
 * What a test that writes where UFFDIO_MOVE has taken the page lacks, or NULL; what: if the kernel has not
 * these features. Its write waits for the move's own flush, after which nobody can read the source, but
 * not for that of the generation: --compare, which looks then, would see what it wrote.
 */
const char *litmus__lacks_move(uint64_t features, const char *what);
/* 0 or -errno: l->other_fd, and an area of the size of the memory under test registered with it. */
int litmus__uffd_open(struct litmus *l, uint64_t features);
int litmus__uffd_register(struct litmus *l, char *start, uint64_t mode);
/* Empties both areas after a move, so that the next one finds the second without pages. */
int litmus__drop_moved(struct litmus *l);
/* Gives up l->other, where pages were moved to, and l->other_fd. */
int litmus__end_move(struct litmus *l);

#endif /* WL_LITMUS_UFFD_H */
