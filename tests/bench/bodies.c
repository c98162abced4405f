// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bodies operations|ROUNDS [COMMAND...]: what the probes' programs cost, or programs that do nothing
 * in their places. They are attached, counting as they do without raw events, and with the kernel's
 * statistics of run times on or off ("+stats").
 *
 * operations: all probes, and one at a time makes the events, so that there is a value for each and not only their
 * mean: an interrupt in the midst of a program is in one of them. Prints
 *	body ARM PROBE PROGRAM VALUES MEDIAN	run time of a program (entry or exit) by the statistics,
 *						which is to the next reading of their clock
 *	operation ARM NAME RUNS MEDIAN		time of an operation, in which programs have run so often
 * ROUNDS: in each all the arms take turns with each of the commands, in another order each time. Prints
 *	workload ARM NAME ROUND RUNS TIME	time of a command, in which programs have run so often
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

#include <bpf/bpf.h>

#include "collector/probes.h"
#include "tests/bench/clock.skel.h"

#define REPETITIONS	51
#define SETTLE_US	500000
#define NR(array)	(sizeof(array) / sizeof((array)[0]))

static const struct arm {
	const char *name;
	enum probes_mode mode;
	bool stats;
	bool workloads;		/* takes part in the rounds */
	bool per_page;		/* in these with the probes that run for each page */
} arms[] = {
	{ "none", PROBES_NONE, false, true, false },
	{ "empty", PROBES_EMPTY, false, true, false },
	{ "empty+stats", PROBES_EMPTY, true, false, false },
	{ "probes", PROBES_ALL, false, true, false },
	{ "probes+stats", PROBES_ALL, true, true, false },
	{ "probes+pages", PROBES_ALL, false, true, true },
};

enum operation { WRITE_FAULT, MIGRATION, UNMAPPING, NR_OPERATIONS };

static const char * const operation_names[NR_OPERATIONS] = {
	"write_fault", "migration", "unmapping",
};

/* A program: run time so far, and what each operation took for a run. */
struct body {
	uint64_t ns, runs;
	double each[REPETITIONS * NR_OPERATIONS];
	size_t nr;
};

struct bench {
	struct probes *probes;
	struct body body[NR_PROBES][2];
	double took[NR_OPERATIONS][REPETITIONS];
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

/* What the programs have run since the last reading, all probes together; kept by program too. */
static int bench__read_bodies(struct bench *b, bool keep, uint64_t *runs)
{
	const struct probe_status *s;
	unsigned int id, i;
	int err = probes__collect(b->probes);

	for (*runs = 0, id = 0; !err && id < NR_PROBES; id++) {
		s = probes__status(b->probes, (enum probe_id)id);
		for (i = 0; i < 2; i++) {
			struct body *body = &b->body[id][i];
			uint64_t ran = s->program[i].runs - body->runs;

			if (keep && ran)
				body->each[body->nr++] =
					(double)(s->program[i].ns - body->ns) / (double)ran;
			*runs += ran;
			body->ns = s->program[i].ns;
			body->runs = s->program[i].runs;
		}
	}
	return err;
}

static int bench__repeat(struct bench *b, size_t n)
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
		b->took[op][n] = now_ns() - start;
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

static void bench__print(struct bench *b, const struct arm *arm)
{
	unsigned int i, id;

	for (id = 0; id < NR_PROBES; id++) {
		for (i = 0; i < 2; i++) {
			struct body *body = &b->body[id][i];

			if (body->nr)
				printf("body %s %s %s %zu %.0f\n", arm->name, probe_specs[id].name,
				       i ? "entry" :
				       probe_specs[id].rungs[0].entry_prog ? "exit" : "alone", body->nr,
				       median(body->each, body->nr));
		}
	}
	for (i = 0; i < NR_OPERATIONS; i++)
		printf("operation %s %s %llu %.0f\n", arm->name, operation_names[i],
		       (unsigned long long)b->runs[i], median(b->took[i], REPETITIONS));
}

static int bench__attach(struct bench *b, const struct arm *arm, bool per_page)
{
	struct probes_options options = {
		.ring_bytes = 4096, .mode = arm->mode, .no_stats = !arm->stats, .per_page = per_page,
	};
	int err = probes__open(&b->probes, &options);

	if (err)
		return err;
	probes__attach(b->probes);
	probes__record(b->probes, true);
	memset(b->body, 0, sizeof(b->body));
	return 0;
}

static void bench__detach(struct bench *b)
{
	probes__detach(b->probes);
	probes__free(b->probes);
	b->probes = NULL;
}

static int bench__operations(struct bench *b, const struct arm *arm)
{
	size_t i;
	int err = bench__attach(b, arm, true);

	if (err)
		return err;
	for (i = 0; !err && i < REPETITIONS; i++)
		err = bench__repeat(b, i);
	if (!err)
		bench__print(b, arm);
	bench__detach(b);
	return err;
}

/* One write fault's run time of a program by the statistics. */
static int clock_once(const struct bpf_program *prog, double *took)
{
	struct bpf_prog_info before = { 0 }, after = { 0 };
	__u32 len = sizeof(before);
	int fd = bpf_program__fd(prog), err;
	volatile char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				   -1, 0);

	if (page == MAP_FAILED)
		return -errno;
	err = page[0] || bpf_obj_get_info_by_fd(fd, &before, &len);
	page[0] = 1;
	len = sizeof(after);
	err = err || bpf_obj_get_info_by_fd(fd, &after, &len) || after.run_cnt == before.run_cnt;
	if (!err)
		*took = (double)(after.run_time_ns - before.run_time_ns) /
			(double)(after.run_cnt - before.run_cnt);
	munmap((void *)page, 4096);
	return err ? -EIO : 0;
}

/* What a program costs that reads the clock and does nothing else. */
static int print_clock(void)
{
	int stats = bpf_enable_stats(BPF_STATS_RUN_TIME), err = stats < 0 ? -errno : 0;
	struct clock_bpf *clock = err ? NULL : clock_bpf__open_and_load();
	double each[2][REPETITIONS];
	size_t i;

	if (!clock || clock_bpf__attach(clock))
		err = err ? err : -errno;
	for (i = 0; !err && i < REPETITIONS; i++) {
		err = clock_once(clock->progs.clock_exit, &each[0][i]);
		if (!err)
			err = clock_once(clock->progs.clock_entry, &each[1][i]);
	}
	for (i = 0; !err && i < 2; i++)
		printf("body clock+stats - %s %d %.0f\n", i ? "entry" : "exit", REPETITIONS,
		       median(each[i], REPETITIONS));
	clock_bpf__destroy(clock);
	if (stats >= 0)
		close(stats);
	return err;
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

/* All commands with one arm. */
static int bench__workloads(struct bench *b, const struct arm *arm, size_t round, char **commands)
{
	uint64_t runs = 0;
	double took;
	int err = bench__attach(b, arm, arm->per_page);

	if (err)
		return err;
	for (; !err && *commands; commands++) {
		/* What the kernel still does for the programs before, it does now: idle time is free. */
		usleep(SETTLE_US);
		err = bench__read_bodies(b, false, &runs);
		if (!err)
			err = time_command(*commands, &took);
		if (!err)
			err = bench__read_bodies(b, false, &runs);
		if (!err)
			printf("workload %s %.*s %zu %llu %.3f\n", arm->name,
			       (int)strcspn(*commands, " "), *commands, round,
			       (unsigned long long)runs, took);
		fflush(stdout);
	}
	bench__detach(b);
	return err;
}

/* Each round begins with another arm, so that none has always the same one before it. */
static int bench__rounds(struct bench *b, size_t rounds, char **commands)
{
	size_t round, i;
	int err = 0;
	double took;

	/* Once in vain: the first of its kind reads its files and fills the kernel's caches. */
	for (i = 0; !err && commands[i]; i++)
		err = time_command(commands[i], &took);
	for (round = 0; round < rounds; round++) {
		for (i = 0; !err && i < NR(arms); i++) {
			const struct arm *arm = &arms[(round + (round & 1 ? NR(arms) - i : i)) % NR(arms)];

			if (arm->workloads)
				err = bench__workloads(b, arm, round, commands);
		}
	}
	return err;
}

int main(int argc, char **argv)
{
	static struct bench b;
	size_t i, rounds = argc < 2 ? 0 : strtoul(argv[1], NULL, 10);
	int err = 0;

	if (argc < 2 || (!rounds && strcmp(argv[1], "operations"))) {
		fputs("usage: bodies operations|ROUNDS [COMMAND...]\n", stderr);
		return 2;
	}
	if (rounds) {
		err = bench__rounds(&b, rounds, argv + 2);
	} else {
		err = print_clock();
		if (!err)
			err = bench__start_sibling(&b);
		for (i = 0; !err && i < NR(arms); i++)
			err = bench__operations(&b, &arms[i]);
	}
	if (err)
		fprintf(stderr, "bodies: %s\n", strerror(-err));
	return err ? 2 : 0;
}
