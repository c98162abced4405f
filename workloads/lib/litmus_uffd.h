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

#endif /* WL_LITMUS_UFFD_H */
