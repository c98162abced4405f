/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A cgroup v2 of one's own: made, entered, reclaimed from, left and removed. */
#ifndef WL_CGROUP_H
#define WL_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

#define WL_CGROUP_PATH	4096

struct wl_cgroup {
	char path[WL_CGROUP_PATH];	/* "" when there is none */
	char home[WL_CGROUP_PATH];	/* where the process was before */
	bool joined;
	const char *failed;		/* the step that went wrong, for the message */
};

/*
 * A new group under root, with the memory controller, and a memory.reclaim to write to. -ENOTSUP:
 * root is not on a cgroup2 filesystem; -EOPNOTSUPP is the same number. -ENOSYS: no memory
 * controller or no memory.reclaim there. Else -errno of the step in ->failed.
 */
int wl_cgroup__create(struct wl_cgroup *cg, const char *root);
/* This whole process goes into the group; what it allocates from now on is charged there. */
int wl_cgroup__join(struct wl_cgroup *cg);
/* Asks the kernel to reclaim that much. -EAGAIN: it got less; -EINTR: a signal came. */
int wl_cgroup__reclaim(const struct wl_cgroup *cg, uint64_t bytes);
/* Back to where the process was, and no group left. */
int wl_cgroup__remove(struct wl_cgroup *cg);
/* Path of the cgroup v2 in the text of /proc/PID/cgroup ("0::PATH"); -ENOENT if it has none. */
int wl_cgroup__parse_home(const char *text, char *out, size_t size);

#endif /* WL_CGROUP_H */
