// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "workloads/lib/backing.h"
#include "workloads/lib/err.h"

const char *const wl_backing_names[] = { "anon", "file", "memfd", NULL };

int wl_memory_available(uint64_t *bytes)
{
	FILE *f = fopen("/proc/meminfo", "re");
	bool found = false;
	char line[256];
	uint64_t kib;

	if (!f)
		return -errno;
	*bytes = 0;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "MemAvailable: %" SCNu64, &kib) == 1) {
			*bytes += kib << 10;
			found = true;
		} else if (sscanf(line, "SwapFree: %" SCNu64, &kib) == 1) {
			*bytes += kib << 10;
		}
	}
	fclose(f);
	return found ? 0 : -ENODATA;
}

/*
 * Overcommit would let mmap(2) succeed and the OOM killer end the run in its middle, so ask first.
 * Not being able to ask is no reason to refuse.
 */
static int check_room(const struct wl_backing *b)
{
	bool in_memory = true;
	struct statfs fs;
	uint64_t avail;

	if (b->opts.kind == WL_BACKING_FILE) {
		if (fstatfs(b->fd, &fs))
			return -errno;
		in_memory = fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC;
		/* A tmpfs without a size limit has no blocks at all. */
		if (fs.f_blocks && fs.f_bavail < b->bytes / (uint64_t)fs.f_bsize)
			return -ENOSPC;
	}
	if (in_memory && !wl_memory_available(&avail) && avail < b->bytes)
		return -ENOMEM;
	return 0;
}

static int open_file(struct wl_backing *b)
{
	char path[4096];

	if (b->opts.kind == WL_BACKING_MEMFD) {
		b->fd = memfd_create("migrc-workload", MFD_CLOEXEC);
		return b->fd < 0 ? -errno : 0;
	}
	if (snprintf(path, sizeof(path), "%s/migrc-XXXXXX", b->opts.dir) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	b->fd = mkostemp(path, O_CLOEXEC);
	if (b->fd < 0)
		return -errno;
	return unlink(path) ? -errno : 0;
}

static int map(struct wl_backing *b, int prot)
{
	int flags = b->fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
	void *p = mmap(NULL, b->bytes, prot, flags, b->fd, 0);

	if (p == MAP_FAILED)
		return -errno;
	b->base = p;
	/* EINVAL: a kernel without huge pages, where the default holds anyway. */
	if (madvise(p, b->bytes, b->opts.thp ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) &&
	    (errno != EINVAL || b->opts.thp))
		return -errno;
	return 0;
}

static bool filled_by_write(const struct wl_backing *b)
{
	return b->fd >= 0 && b->opts.protect;
}

int wl_backing__open(struct wl_backing *b, const struct wl_backing_opts *opts, uint64_t bytes)
{
	int err = 0;

	memset(b, 0, sizeof(*b));
	b->opts = *opts;
	b->fd = -1;
	if (bytes > (uint64_t)INT64_MAX)
		return -ENOMEM;
	b->bytes = bytes;
	if (opts->kind != WL_BACKING_ANON)
		err = open_file(b);
	if (!err)
		err = check_room(b);
	if (!err && b->fd >= 0 && ftruncate(b->fd, (off_t)bytes))
		err = -errno;
	/* Filling through a mapping reports a full filesystem by SIGBUS: find out now. */
	if (!err && b->fd >= 0 && !filled_by_write(b))
		err = -posix_fallocate(b->fd, 0, (off_t)bytes);
	if (!err && !filled_by_write(b))
		err = map(b, PROT_READ | PROT_WRITE);
	if (err)
		wl_backing__close(b);
	return err;
}

int wl_backing__put(struct wl_backing *b, uint64_t off, const void *buf, size_t len)
{
	if (off > b->bytes || len > b->bytes - off)
		return -ERANGE;
	if (!filled_by_write(b)) {
		memcpy(b->base + off, buf, len);
		return 0;
	}
	while (len) {
		ssize_t n = pwrite(b->fd, buf, len, (off_t)off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		buf = (const char *)buf + n;
		off += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

int wl_backing__seal(struct wl_backing *b)
{
	if (filled_by_write(b))
		return map(b, PROT_READ);
	if (b->opts.protect && mprotect(b->base, b->bytes, PROT_READ))
		return -errno;
	return 0;
}

void wl_backing__close(struct wl_backing *b)
{
	if (b->base)
		munmap(b->base, b->bytes);
	if (b->fd >= 0)
		close(b->fd);
	b->base = NULL;
	b->fd = -1;
}

void wl_backing__error(const struct wl_backing_opts *opts, uint64_t bytes, int err,
		       const char *smaller)
{
	const char *what = opts->kind == WL_BACKING_FILE ? opts->dir : wl_backing_names[opts->kind];
	uint64_t avail = 0, mib = (bytes + (1 << 20) - 1) >> 20;

	if (err == -ENOMEM && !wl_memory_available(&avail))
		wl_err("memory: %" PRIu64 " MiB needed, %" PRIu64 " MiB available; %s", mib,
		       avail >> 20, smaller);
	else if (err == -ENOMEM)
		wl_err("memory: %" PRIu64 " MiB needed, not available; %s", mib, smaller);
	else if (err == -ENOSPC)
		wl_err("%s: no space for a file of %" PRIu64 " MiB; %s, or give another folder "
		       "with --dir", what, mib, smaller);
	else if (opts->kind == WL_BACKING_FILE)
		wl_err("%s: cannot make a file there: %s; give a writable folder with --dir", what,
		       strerror(-err));
	else if (opts->thp && err == -EINVAL)
		wl_err("--thp: this kernel has no transparent huge pages; leave it out");
	else
		wl_err("%s: cannot get %" PRIu64 " MiB: %s; %s", what, mib, strerror(-err),
		       smaller);
}
