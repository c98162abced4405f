// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "workloads/lib/vmstat.h"

#define VMSTAT_MAX	(64 << 10)

int wl_vmstat__read(struct wl_vmstat *v, const char *path)
{
	size_t len = 0;
	ssize_t n = 0;
	int fd, err = 0;

	v->text = malloc(VMSTAT_MAX + 1);
	if (!v->text)
		return -ENOMEM;
	v->text[0] = '\0';
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while (len < VMSTAT_MAX && (n = read(fd, v->text + len, VMSTAT_MAX - len)) > 0)
		len += (size_t)n;
	if (n < 0)
		err = -errno;
	else if (len == VMSTAT_MAX)
		err = -EFBIG;
	v->text[len] = '\0';
	close(fd);
	return err;
}

void wl_vmstat__free(struct wl_vmstat *v)
{
	free(v->text);
	v->text = NULL;
}

static int add_lines(const struct wl_vmstat *v, const char *key, bool whole, uint64_t *out)
{
	size_t len = strlen(key);
	int err = -ENOENT;

	*out = 0;
	for (const char *line = v->text; line && *line; line = strchr(line, '\n')) {
		const char *sp;

		line += *line == '\n';
		sp = strchr(line, ' ');
		if (!sp || strncmp(line, key, len) || (whole && sp != line + len))
			continue;
		*out += strtoull(sp + 1, NULL, 10);
		err = 0;
	}
	return err;
}

int wl_vmstat__get(const struct wl_vmstat *v, const char *key, uint64_t *out)
{
	return add_lines(v, key, true, out);
}

int wl_vmstat__sum(const struct wl_vmstat *v, const char *prefix, uint64_t *out)
{
	return add_lines(v, prefix, false, out);
}
