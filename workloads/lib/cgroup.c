// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "workloads/lib/cgroup.h"

static bool is_cgroup2(const char *path)
{
	struct statfs fs;

	return !statfs(path, &fs) && fs.f_type == CGROUP2_SUPER_MAGIC;
}

static int join_path(char out[WL_CGROUP_PATH], const char *dir, const char *name)
{
	int n = snprintf(out, WL_CGROUP_PATH, "%s/%s", dir, name);

	return n < 0 || n >= WL_CGROUP_PATH ? -ENAMETOOLONG : 0;
}

static int write_to(const char *dir, const char *name, const char *text)
{
	char path[WL_CGROUP_PATH];
	int fd, err = join_path(path, dir, name);

	if (err)
		return err;
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	/* One write: it is a command, not data to be completed by a second one. */
	/* memory.reclaim is interrupted by any task work: what io_uring leaves behind is some, no signal. */
	do {
		err = write(fd, text, strlen(text)) < 0 ? -errno : 0;
	} while (err == -EINTR);
	close(fd);
	return err;
}

static int read_text(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, buf, size - 1);
	err = n < 0 ? -errno : 0;
	buf[n > 0 ? n : 0] = '\0';
	close(fd);
	return err;
}

int wl_cgroup__parse_home(const char *text, char *out, size_t size)
{
	const char *line = strncmp(text, "0::", 3) ? strstr(text, "\n0::") : text;
	size_t len;

	if (!line)
		return -ENOENT;
	line += *line == '\n';
	line += strlen("0::");
	len = strcspn(line, "\n");
	if (!len || len >= size)
		return -ENOENT;
	memcpy(out, line, len);
	out[len] = '\0';
	return 0;
}

/*
 * The path in /proc/self/cgroup is relative to the top of the mount, and root may be any folder
 * below: the top is the last cgroup2 folder on the way up.
 */
static int find_home(struct wl_cgroup *cg, const char *root)
{
	char top[WL_CGROUP_PATH], up[WL_CGROUP_PATH], text[WL_CGROUP_PATH], path[WL_CGROUP_PATH];
	int err;

	if (!realpath(root, top))
		return -errno;
	for (;;) {
		char *slash;

		memcpy(up, top, sizeof(up));
		slash = strrchr(up, '/');
		if (!slash || slash == up)
			break;
		*slash = '\0';
		if (!is_cgroup2(up))
			break;
		memcpy(top, up, sizeof(top));
	}
	err = read_text("/proc/self/cgroup", text, sizeof(text));
	if (!err)
		err = wl_cgroup__parse_home(text, path, sizeof(path));
	if (!err)
		err = join_path(cg->home, top, path + (path[0] == '/'));
	return err;
}

static int enable_memory(const char *root)
{
	char path[WL_CGROUP_PATH], text[WL_CGROUP_PATH];
	int err = join_path(path, root, "cgroup.controllers");

	if (!err)
		err = read_text(path, text, sizeof(text));
	if (err)
		return err;
	if (!strstr(text, "memory"))
		return -ENOSYS;
	return write_to(root, "cgroup.subtree_control", "+memory");
}

static int create_steps(struct wl_cgroup *cg, const char *root)
{
	char path[WL_CGROUP_PATH], name[64];
	int err;

	cg->failed = "finding the group of this process";
	err = find_home(cg, root);
	if (err)
		return err;
	cg->failed = "enabling the memory controller";
	err = enable_memory(root);
	if (err)
		return err;
	cg->failed = "creating a group";
	snprintf(name, sizeof(name), "migrc-cycle-%d", (int)getpid());
	err = join_path(path, root, name);
	if (err)
		return err;
	if (mkdir(path, 0755))
		return -errno;
	memcpy(cg->path, path, sizeof(cg->path));
	cg->failed = "opening memory.reclaim";
	err = join_path(path, cg->path, "memory.reclaim");
	if (!err && access(path, W_OK))
		err = errno == ENOENT ? -ENOSYS : -errno;
	return err;
}

int wl_cgroup__create(struct wl_cgroup *cg, const char *root)
{
	int err;

	memset(cg, 0, sizeof(*cg));
	if (!is_cgroup2(root))
		return -ENOTSUP;
	err = create_steps(cg, root);
	if (err && cg->path[0]) {
		rmdir(cg->path);
		cg->path[0] = '\0';
	}
	return err;
}

int wl_cgroup__join(struct wl_cgroup *cg)
{
	int err = write_to(cg->path, "cgroup.procs", "0");

	cg->failed = "entering the group";
	cg->joined = !err;
	return err;
}

int wl_cgroup__reclaim(const struct wl_cgroup *cg, uint64_t bytes)
{
	char text[64];
	int err;

	/*
	 * All of the effort on the anonymous lists, where shmem is too; before 6.9 the file takes
	 * no such argument.
	 */
	snprintf(text, sizeof(text), "%" PRIu64 " swappiness=200", bytes);
	err = write_to(cg->path, "memory.reclaim", text);
	if (err != -EINVAL)
		return err;
	snprintf(text, sizeof(text), "%" PRIu64, bytes);
	return write_to(cg->path, "memory.reclaim", text);
}

int wl_cgroup__remove(struct wl_cgroup *cg)
{
	int err = 0;

	if (cg->joined)
		err = write_to(cg->home, "cgroup.procs", "0");
	if (!err)
		cg->joined = false;
	if (!err && cg->path[0] && rmdir(cg->path))
		err = -errno;
	if (!err)
		cg->path[0] = '\0';
	return err;
}
