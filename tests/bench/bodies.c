// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bodies MODE: run time of a probe's programs, MODE all, or of programs that do nothing in their
 * places, MODE empty, by the kernel's own statistics. One operation at a time makes the events, and
 * the statistics are read after each, so that there is a value for each and not only their mean: an
 * interrupt in the midst of a program is in one of them. Prints for each probe that ran: "body MODE
 * PROBE OPERATIONS MEDIAN MIN MAX", in ns of the kernel's clock for one run of a program, the reading
 * of the clock included. In a guest that counts instructions a nanosecond is an instruction.
 */
#include <errno.h>
#include <numaif.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collector/probes.h"

#define OPERATIONS 301

/* One probe's programs: run time so far, and what each operation took for a run. */
struct body {
	uint64_t ns, runs;
	double each[OPERATIONS];
	size_t nr;
};

/* Move a page to a node. 0 or a negative errno. */
static int move_to(void *page, int node)
{
	int status = -1;

	if (move_pages(0, 1, &page, &node, &status, MPOL_MF_MOVE) < 0)
		return -errno;
	return status == node ? 0 : status < 0 ? status : -EIO;
}

/* A write to the page of zeroes that a read has mapped, a migration, an unmapping. */
static int operate(int node)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *page = mmap(NULL, size, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int err;

	if (page == MAP_FAILED)
		return -errno;
	err = page[0];
	page[0] = 1;
	err = move_to((void *)page, node);
	if (munmap((void *)page, size) && !err)
		err = -errno;
	return err;
}

static int read_bodies(struct probes *p, struct body *bodies, bool keep)
{
	const struct probe_status *s;
	unsigned int id;
	int err = probes__collect(p);

	for (id = 0; !err && id < NR_PROBES; id++) {
		struct body *b = &bodies[id];

		s = probes__status(p, (enum probe_id)id);
		if (s->body_ns == UINT64_MAX)
			return -EOPNOTSUPP;
		if (keep && s->body_runs > b->runs)
			b->each[b->nr++] = (double)(s->body_ns - b->ns) /
					   (double)(s->body_runs - b->runs);
		b->ns = s->body_ns;
		b->runs = s->body_runs;
	}
	return err;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void print_bodies(struct probes *p, struct body *bodies, const char *mode)
{
	unsigned int id;

	for (id = 0; id < NR_PROBES; id++) {
		struct body *b = &bodies[id];

		if (!b->nr)
			continue;
		qsort(b->each, b->nr, sizeof(b->each[0]), by_value);
		printf("body %s %s %zu %.0f %.0f %.0f\n", mode,
		       probes__status(p, (enum probe_id)id)->name, b->nr, b->each[b->nr / 2],
		       b->each[0], b->each[b->nr - 1]);
	}
}

static int measure(const char *mode)
{
	const struct probes_options options = {
		.ring_bytes = 4096, .mode = strcmp(mode, "empty") ? PROBES_ALL : PROBES_EMPTY,
	};
	static struct body bodies[NR_PROBES];
	struct probes *p;
	int i, err;

	err = probes__open(&p, &options);
	if (err)
		return err;
	probes__attach(p);
	err = probes__record(p, true);
	for (i = 0; !err && i < OPERATIONS; i++) {
		err = read_bodies(p, bodies, i > 0);
		if (!err)
			err = operate(i & 1);
	}
	if (!err)
		print_bodies(p, bodies, mode);
	probes__detach(p);
	probes__free(p);
	return err;
}

int main(int argc, char **argv)
{
	int err;

	if (argc != 2 || (strcmp(argv[1], "all") && strcmp(argv[1], "empty"))) {
		fputs("usage: bodies all|empty\n", stderr);
		return 2;
	}
	err = measure(argv[1]);
	if (err)
		fprintf(stderr, "bodies: %s\n", strerror(-err));
	return err ? 2 : 0;
}
