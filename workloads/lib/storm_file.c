// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "workloads/lib/storm.h"
#include "workloads/lib/team.h"

#define PAGEMAP_PRESENT	(1ULL << 63)
#define PAGEMAP_PFN	((1ULL << 55) - 1)

static int put_text(const char *path, const char *text)
{
	int err, fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	err = write(fd, text, strlen(text)) < 0 ? -errno : 0;
	close(fd);
	return err;
}

int storm_file__put(const char *path, const char *fmt, ...)
{
	char text[128];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return put_text(path, text);
}

int storm_file__put_surely(double seconds, const char *path, const char *text)
{
	double end = wl_now() + seconds;
	int err;

	for (;;) {
		err = put_text(path, text);
		if (!err || err == -ENOENT || err == -EINVAL || wl_now() > end)
			return err;
		usleep(20000);
	}
}

int storm_file__line(const char *path, char line[STORM_LINE])
{
	int err, fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, line, STORM_LINE - 1);
	err = n > 0 ? 0 : n < 0 ? -errno : -EIO;
	close(fd);
	line[n > 0 ? n : 0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	return err;
}

int storm_file__u64(const char *path, uint64_t *out)
{
	char text[STORM_LINE];
	int err = storm_file__line(path, text);

	if (!err)
		*out = strtoull(text, NULL, 10);
	return err;
}

bool storm_file__is(const char *path, const char *text)
{
	char now[STORM_LINE];

	return !storm_file__line(path, now) && !strcmp(now, text);
}

int storm_file__pfn(pid_t pid, uint64_t addr, uint64_t *pfn)
{
	char path[64];
	uint64_t entry = 0;
	int fd, err = 0;

	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (pread(fd, &entry, sizeof(entry), (off_t)(addr / ARENA_PAGE * sizeof(entry))) !=
	    sizeof(entry))
		err = -EIO;
	close(fd);
	if (!err && (!(entry & PAGEMAP_PRESENT) || !(entry & PAGEMAP_PFN)))
		err = -ENOENT;
	*pfn = entry & PAGEMAP_PFN;
	return err;
}
