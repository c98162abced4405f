/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters of /proc/vmstat. A key that the kernel does not have is -ENOENT, never 0. */
#ifndef WL_VMSTAT_H
#define WL_VMSTAT_H

#include <stdint.h>

struct wl_vmstat {
	char *text;
};

/* path is /proc/vmstat but in tests. 0 or -errno; free it in both cases. */
int wl_vmstat__read(struct wl_vmstat *v, const char *path);
void wl_vmstat__free(struct wl_vmstat *v);
int wl_vmstat__get(const struct wl_vmstat *v, const char *key, uint64_t *out);
/* Sum of all keys that begin with prefix; -ENOENT if there is none. */
int wl_vmstat__sum(const struct wl_vmstat *v, const char *prefix, uint64_t *out);

#endif /* WL_VMSTAT_H */
