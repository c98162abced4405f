// SPDX-License-Identifier: GPL-2.0-or-later
#include <ctype.h>
#include <errno.h>
#include <numaif.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "workloads/lib/err.h"
#include "workloads/lib/node.h"

#define NODE_MAX	64
#define COUNT_BATCH	4096

static int one_number(const char **s, unsigned long *out)
{
	char *end;

	if (!isdigit((unsigned char)**s))
		return -EINVAL;
	*out = strtoul(*s, &end, 10);
	*s = end;
	return *out < NODE_MAX ? 0 : -ERANGE;
}

int wl_node__parse_list(const char *s, uint64_t *mask)
{
	*mask = 0;
	while (*s && *s != '\n') {
		unsigned long lo, hi;
		int err = one_number(&s, &lo);

		if (err)
			return err;
		hi = lo;
		if (*s == '-') {
			s++;
			err = one_number(&s, &hi);
			if (err)
				return err;
		}
		if (hi < lo)
			return -EINVAL;
		for (; lo <= hi; lo++)
			*mask |= 1ULL << lo;
		if (*s == ',' && s[1])
			s++;
		else if (*s && *s != '\n')
			return -EINVAL;
	}
	return 0;
}

static int read_mask(const char *path, uint64_t *mask)
{
	char line[4096];
	FILE *f = fopen(path, "re");
	int err;

	if (!f)
		return errno == ENOENT ? -ENOSYS : -errno;
	err = fgets(line, sizeof(line), f) ? wl_node__parse_list(line, mask) : -EIO;
	fclose(f);
	return err;
}

int wl_node__masks(uint64_t *memory, uint64_t *cpu)
{
	int err = read_mask("/sys/devices/system/node/has_memory", memory);

	return err ? err : read_mask("/sys/devices/system/node/has_cpu", cpu);
}

int wl_node__pick(uint64_t memory, uint64_t cpu, int *fast, int *slow)
{
	uint64_t rest;

	if (__builtin_popcountll(memory) < 2)
		return -ENODEV;
	*fast = __builtin_ctzll(memory & cpu ? memory & cpu : memory);
	rest = memory & ~(1ULL << *fast);
	*slow = __builtin_ctzll(rest & ~cpu ? rest & ~cpu : rest);
	return 0;
}

int wl_node__choose(int *fast, int *slow)
{
	uint64_t memory, cpu;
	int err, f, s;

	err = wl_node__masks(&memory, &cpu);
	if (!err)
		err = wl_node__pick(memory, cpu, &f, &s);
	if (err == -ENODEV || err == -ENOSYS) {
		wl_err("NUMA: %s; run it on a machine or in a guest with two memory nodes",
		       err == -ENOSYS ? "this kernel is built without it"
				      : "fewer than two nodes have memory");
		return WL_EXIT_UNSUPPORTED;
	}
	if (err) {
		wl_err("NUMA: cannot read the nodes in /sys/devices/system/node: %s; "
		       "mount sysfs on /sys",
		       strerror(-err));
		return WL_EXIT_UNSUPPORTED;
	}
	if (*fast < 0)
		*fast = *slow == f ? s : f;
	if (*slow < 0)
		*slow = *fast == s ? f : s;
	if (*fast == *slow || !(memory >> *fast & 1) || !(memory >> *slow & 1)) {
		wl_err("nodes %d and %d: not two different nodes with memory; "
		       "see /sys/devices/system/node/has_memory", *fast, *slow);
		return WL_EXIT_USAGE;
	}
	return 0;
}

long wl_node__move(int from, int to)
{
	unsigned long f = 1UL << from, t = 1UL << to;
	long left = migrate_pages(0, NODE_MAX + 1, &f, &t);

	return left < 0 ? -errno : left;
}

long wl_node__count(const void *base, size_t bytes, int node)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = bytes / page;
	int status[COUNT_BATCH];
	void *addr[COUNT_BATCH];
	long on = 0;

	for (size_t at = 0; at < pages; at += COUNT_BATCH) {
		size_t n = pages - at < COUNT_BATCH ? pages - at : COUNT_BATCH;

		for (size_t i = 0; i < n; i++)
			addr[i] = (char *)base + (at + i) * page;
		if (move_pages(0, n, addr, NULL, status, 0))
			return -errno;
		for (size_t i = 0; i < n; i++)
			on += status[i] == node;
	}
	return on;
}
