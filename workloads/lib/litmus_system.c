// SPDX-License-Identifier: GPL-2.0-or-later
/* What the litmus tests read and change of the machine. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "workloads/lib/litmus.h"
#include "workloads/lib/vmstat.h"

/* System call, NUMA misplaced and demotion: 1 << 3, 5 and 8 of enum migrate_reason. */
#define DEFERRING_REASONS	"296"

int litmus__write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	err = write(fd, text, strlen(text)) < 0 ? -errno : 0;
	close(fd);
	return err;
}

static int read_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, text, size - 1);
	err = n < 0 ? -errno : 0;
	text[n > 0 ? n : 0] = '\0';
	close(fd);
	return err;
}

int litmus__read_u64(const char *path, uint64_t *value)
{
	char text[64], *end;
	int err = read_text(path, text, sizeof(text));

	if (err)
		return err;
	*value = strtoull(text, &end, 0);
	return end == text ? -EINVAL : 0;
}

int litmus__set(struct litmus *l, const char *path, const char *value)
{
	struct litmus_knob *k = &l->knobs[l->nr_knobs];
	int err;

	if (l->nr_knobs == sizeof(l->knobs) / sizeof(l->knobs[0]) ||
	    strlen(path) >= sizeof(k->path))
		return -ENOSPC;
	err = read_text(path, k->old, sizeof(k->old));
	if (!err)
		err = litmus__write_file(path, value);
	if (err)
		return err;
	strcpy(k->path, path);
	l->nr_knobs++;
	return 0;
}

int litmus__set_migrc(struct litmus *l, const char *name, const char *value)
{
	char path[64];

	if (access("/proc/sys/vm/migrc", F_OK))
		return 0;
	snprintf(path, sizeof(path), "/proc/sys/vm/%s", name);
	return litmus__set(l, path, value);
}

int litmus__restore(struct litmus *l)
{
	int err = 0;

	while (l->nr_knobs) {
		const struct litmus_knob *k = &l->knobs[--l->nr_knobs];
		int one = litmus__write_file(k->path, k->old);

		err = err ? err : one;
	}
	return err;
}

bool litmus__comparing(void)
{
	uint64_t on;

	return !litmus__read_u64("/proc/sys/vm/migrc_debug_compare", &on) && on;
}

int litmus__vmstat(const char *key, uint64_t *value)
{
	struct wl_vmstat v;
	int err = wl_vmstat__read(&v, "/proc/vmstat");

	if (!err)
		err = wl_vmstat__get(&v, key, value);
	wl_vmstat__free(&v);
	return err;
}

int litmus__pagemap(int fd, const void *addr, uint64_t *entry)
{
	off_t at = (off_t)((uintptr_t)addr / (size_t)sysconf(_SC_PAGESIZE) * sizeof(*entry));
	ssize_t n = pread(fd, entry, sizeof(*entry), at);

	return n == sizeof(*entry) ? 0 : n < 0 ? -errno : -EIO;
}

int litmus__defer_syscalls(struct litmus *l)
{
	return litmus__set_migrc(l, "migrc_reasons", DEFERRING_REASONS);
}

unsigned int litmus__cpus(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n > 0 ? (unsigned int)n : 1;
}
