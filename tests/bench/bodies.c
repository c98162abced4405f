// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bodies none|empty|all [COMMAND...]: what the probes' programs cost, or programs that do nothing in
 * their places: attached once, counting as they do without raw events.
 * One operation at a time makes the events, so that there is a value for each and not only their mean:
 * an interrupt in the midst of a program is in one of them. Prints
 *	body MODE PROBE VALUES MEDIAN	run time of a program, by the kernel's own statistics, the
 *					reading of the clock included
 *	operation MODE NAME RUNS MEDIAN	time of an operation, in which programs have run so often
 *	workload MODE NAME RUNS TIME	time of a command, in which programs have run so often
 * in ns of the kernel's clock. In a guest that counts instructions a nanosecond is an instruction.
 */
#include <errno.h>
#include <numaif.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "collector/probes.h"

#define ROUNDS		51
#define REPETITIONS	2

enum operation { WRITE_FAULT, MIGRATION, UNMAPPING, NR_OPERATIONS };

static const char * const operation_names[NR_OPERATIONS] = {
	"write_fault", "migration", "unmapping",
};

/* One probe's programs: run time so far, and what each operation took for a run. */
struct body {
	uint64_t ns, runs;
	double each[ROUNDS * NR_OPERATIONS];
	size_t nr;
};

struct bench {
	struct probes *probes;
	struct body body[NR_PROBES];
	double took[NR_OPERATIONS][ROUNDS];
	uint64_t runs[NR_OPERATIONS];	/* of programs, in the last one of its kind */
	sem_t go, done;
	cpu_set_t cpus;			/* where it may run */
};

/* Has the memory in use on another CPU: else there is no flush to be sent. */
static void *sibling(void *arg)
{
	struct bench *b = arg;

	for (;;) {
		sem_wait(&b->go);
		sem_post(&b->done);
	}
	return NULL;
}

static int pin(pthread_t thread, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return -pthread_setaffinity_np(thread, sizeof(set), &set);
}

static int bench__start_sibling(struct bench *b)
{
	pthread_t thread;
	int err;

	if (sem_init(&b->go, 0, 0) || sem_init(&b->done, 0, 0) ||
	    sched_getaffinity(0, sizeof(b->cpus), &b->cpus))
		return -errno;
	err = pin(pthread_self(), 0);
	if (!err)
		err = -pthread_create(&thread, NULL, sibling, b);
	return err ? err : pin(thread, 1);
}

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

/* Move a page to a node. 0 or a negative errno. */
static int move_to(void *page, int node)
{
	int status = -1;

	if (move_pages(0, 1, &page, &node, &status, MPOL_MF_MOVE) < 0)
		return -errno;
	return status == node ? 0 : status < 0 ? status : -EIO;
}

static int operate(enum operation op, volatile char *page, size_t size)
{
	switch (op) {
	case WRITE_FAULT:
		page[0] = 1;	/* the page of zeroes is mapped there */
		return 0;
	case MIGRATION:
		return move_to((void *)page, 1);	/* from node 0, where it was touched */
	default:
		return munmap((void *)page, size) ? -errno : 0;
	}
}

/* What the programs have run since the last reading, all probes together; kept by probe too. */
static int bench__read_bodies(struct bench *b, bool keep, uint64_t *runs)
{
	const struct probe_status *s;
	unsigned int id;
	int err = probes__collect(b->probes);

	for (*runs = 0, id = 0; !err && id < NR_PROBES; id++) {
		struct body *body = &b->body[id];
		uint64_t ran;

		s = probes__status(b->probes, (enum probe_id)id);
		if (s->body_ns == UINT64_MAX)
			continue;
		ran = s->body_runs - body->runs;
		if (keep && ran)
			body->each[body->nr++] = (double)(s->body_ns - body->ns) / (double)ran;
		*runs += ran;
		body->ns = s->body_ns;
		body->runs = s->body_runs;
	}
	return err;
}

static int bench__round(struct bench *b, size_t round)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *page = mmap(NULL, size, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned int op;
	uint64_t runs;
	double start;
	int err;

	if (page == MAP_FAILED)
		return -errno;
	err = page[0];
	for (op = 0; !err && op < NR_OPERATIONS; op++) {
		sem_post(&b->go);
		sem_wait(&b->done);
		err = bench__read_bodies(b, false, &runs);
		if (err)
			break;
		start = now_ns();
		err = operate((enum operation)op, page, size);
		b->took[op][round] = now_ns() - start;
		if (!err)
			err = bench__read_bodies(b, true, &b->runs[op]);
	}
	return err;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, size_t nr)
{
	qsort(values, nr, sizeof(*values), by_value);
	return values[nr / 2];
}

static void bench__print(struct bench *b, const char *mode)
{
	unsigned int i;

	for (i = 0; i < NR_PROBES; i++)
		if (b->body[i].nr)
			printf("body %s %s %zu %.0f\n", mode,
			       probes__status(b->probes, (enum probe_id)i)->name, b->body[i].nr,
			       median(b->body[i].each, b->body[i].nr));
	for (i = 0; i < NR_OPERATIONS; i++)
		printf("operation %s %s %llu %.0f\n", mode, operation_names[i],
		       (unsigned long long)b->runs[i], median(b->took[i], ROUNDS));
}

/* The time of one command, which the shell runs; pm works for a fixed time, so that of an access. 0 or
 * a negative errno. */
static int time_command(const char *command, double *took)
{
	double start = now_ns(), rate = 0;
	FILE *out = popen(command, "r");
	char line[512];

	if (!out)
		return -errno;
	while (fgets(line, sizeof(line), out))
		if (!strncmp(command, "pm ", 3))
			sscanf(line, "migrc: metric accesses_per_s %lf", &rate);
	if (pclose(out))
		return -ECANCELED;
	*took = rate > 0 ? 1e9 / rate : now_ns() - start;
	return 0;
}

static int bench__workloads(struct bench *b, const char *mode, char **commands)
{
	uint64_t runs;
	double took;
	int i, err = sched_setaffinity(0, sizeof(b->cpus), &b->cpus) ? -errno : 0;

	for (; !err && *commands; commands++)
		for (i = 0; !err && i < REPETITIONS; i++) {
			err = bench__read_bodies(b, false, &runs);
			if (!err)
				err = time_command(*commands, &took);
			if (!err)
				err = bench__read_bodies(b, false, &runs);
			if (!err)
				printf("workload %s %.*s %llu %.3f\n", mode,
				       (int)strcspn(*commands, " "), *commands,
				       (unsigned long long)runs, took);
			fflush(stdout);
		}
	return err;
}

static int bench__run(struct bench *b, const char *mode, char **commands)
{
	struct probes_options options = { .ring_bytes = 4096 };
	size_t i;
	int err;

	options.mode = !strcmp(mode, "all") ? PROBES_ALL :
		       !strcmp(mode, "empty") ? PROBES_EMPTY : PROBES_NONE;
	err = probes__open(&b->probes, &options);
	if (err)
		return err;
	probes__attach(b->probes);
	err = bench__start_sibling(b);
	if (!err)
		err = probes__record(b->probes, true);
	for (i = 0; !err && i < ROUNDS; i++)
		err = bench__round(b, i);
	if (!err)
		bench__print(b, mode);
	fflush(stdout);
	if (!err)
		err = bench__workloads(b, mode, commands);
	probes__detach(b->probes);
	probes__free(b->probes);
	return err;
}

int main(int argc, char **argv)
{
	static struct bench b;
	int err;

	if (argc < 2 || (strcmp(argv[1], "all") && strcmp(argv[1], "empty") && strcmp(argv[1], "none"))) {
		fputs("usage: bodies none|empty|all [COMMAND...]\n", stderr);
		return 2;
	}
	err = bench__run(&b, argv[1], argv + 2);
	if (err)
		fprintf(stderr, "bodies: %s\n", strerror(-err));
	return err ? 2 : 0;
}
