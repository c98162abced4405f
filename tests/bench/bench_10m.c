// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bench_10m [EVENTS]: can a database with 10 million raw events be lived with? Eight runs, two arms of
 * four, each with its share of synthetic events and what else a run of minutes has; then `migrc show`,
 * `compare` and `report`, five times each, packed and in rows. The fastest of the times is shown, by the
 * clock and of the CPU, and the largest memory. The CPU's is judged: on a machine that does nothing
 * else it is the clock's, on a busy one that says nothing. Exit status: 0, 1 if a target is missed, 2
 * after an error.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collector/err.h"
#include "collector/event_log.h"
#include "tests/bench/synthetic.h"

#define MIGRC		MIGRC_BUILD "/migrc"
#define IMPORT		"tests/fixtures/import/"
#define NR_RUNS		8
#define NR_SERIES	8
#define NR_ROUNDS	5000	/* of samples: ten a second, for 500 s */
#define REPEAT		5
#define MAX_S		2.0
#define MAX_MIB		200.0
#define MAX_WORDS	16

struct bench {
	size_t nr;
	char dir[64], db[96], report[96];
	int missed;
};

struct cost {
	double s, cpu_s, mib;
};

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static double seconds(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec / 1e6;
}

/* Run a command with its output thrown away. 0, or -EIO if it does not end well. */
static int run_command(const char *const *words, struct cost *cost)
{
	struct rusage usage;
	double start = now_s();
	int status, null;
	pid_t pid = fork();

	if (!pid) {
		null = open("/dev/null", O_WRONLY);
		dup2(null, STDOUT_FILENO);
		execv(words[0], (char *const *)words);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) != pid)
		return -errno;
	cost->s = now_s() - start;
	cost->cpu_s = seconds(&usage.ru_utime) + seconds(&usage.ru_stime);
	cost->mib = (double)usage.ru_maxrss / 1024;
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	err__print("%s %s: ended with status %d", words[0], words[1], status);
	return -EIO;
}

/* --- the database ----------------------------------------------------------------------------- */

/* What a run has beside its events, of the fixtures; the xsbench of both arms is the same. */
static int import_run(const struct bench *b, int i)
{
	const char *which = i % 2 ? IMPORT "published-after" : IMPORT "published-before";
	char block[16], perf[96], vmstat[96];
	const char *const words[] = {
		MIGRC, "import", "-o", b->db, "--arm", i % 2 ? "migrc" : "stock", "--block", block,
		"--perf-stat", perf, "--vmstat", vmstat, "--xsbench", IMPORT "xsbench.txt", NULL,
	};
	struct cost cost;

	snprintf(block, sizeof(block), "%d", 1 + i / 2);
	snprintf(perf, sizeof(perf), "%s.perf", which);
	snprintf(vmstat, sizeof(vmstat), "%s.vmstat", which);
	return run_command(words, &cost);
}

static int add_samples(struct store *s, int64_t run_id)
{
	static const char sql[] = "INSERT INTO sample VALUES (?, ?, 'zone', ?, ?)";
	char name[48];
	int64_t t, value = 1000000;
	int series, err = 0;

	for (series = 0; !err && series < NR_SERIES; series++) {
		snprintf(name, sizeof(name), "node%d/Normal/%s", series / 4,
			 (const char *const[]){ "free", "migrc_pending", "low", "high" }[series % 4]);
		for (t = 0; !err && t < NR_ROUNDS; t++) {
			value += t * 7919 % 2001 - 1000;
			err = store__put(s, sql, "iiti", run_id, t * 100000000, name, value);
		}
	}
	return err;
}

static int add_events(struct store *s, int64_t run_id, enum event_format format, size_t nr)
{
	struct event_log log = { .format = format };
	struct synthetic synthetic;
	struct event e;
	int err = 0;

	synthetic__begin(&synthetic, (uint64_t)run_id);
	while (!err && nr--) {
		synthetic__next(&synthetic, &e);
		err = event_log__add(&log, &e);
	}
	if (!err)
		err = event_log__put_all(&log, s, run_id);
	event_log__free(&log);
	return err;
}

static int make_database(const struct bench *b, enum event_format format)
{
	struct store s;
	int i, err = 0;

	unlink(b->db);
	for (i = 0; !err && i < NR_RUNS; i++)
		err = import_run(b, i);
	if (!err)
		err = store__open(&s, b->db);
	if (err)
		return err;
	for (i = 0; !err && i < NR_RUNS; i++) {
		err = store__begin(&s);
		if (!err)
			err = add_samples(&s, i + 1);
		if (!err)
			err = add_events(&s, i + 1, format, b->nr / NR_RUNS);
		if (!err)
			err = store__commit(&s);
	}
	store__close(&s);
	return err;
}

/* --- what is asked of it ---------------------------------------------------------------------- */

static int measure(struct bench *b, const char *format, const char *const *args, bool judged)
{
	const char *words[MAX_WORDS] = { MIGRC, args[0], "-d", b->db };
	struct cost best = { 1e9, 1e9, 0 }, cost;
	bool met;
	int i, err = 0;

	for (i = 1; args[i]; i++)
		words[3 + i] = args[i];
	for (i = 0; !err && i < REPEAT; i++) {
		err = run_command(words, &cost);
		best.s = cost.s < best.s ? cost.s : best.s;
		best.cpu_s = cost.cpu_s < best.cpu_s ? cost.cpu_s : best.cpu_s;
		best.mib = cost.mib > best.mib ? cost.mib : best.mib;
	}
	if (err)
		return err;
	met = best.cpu_s < MAX_S && best.mib < MAX_MIB;
	b->missed += judged && !met;
	printf("| %s | migrc %s%s%s | %.2f | %.2f | %.0f | %s |\n", format, args[0],
	       judged ? "" : " ", judged ? "" : args[1], best.s, best.cpu_s, best.mib,
	       !judged ? "" : met ? "met" : "MISSED");
	fflush(stdout);
	return 0;
}

static int bench__format(struct bench *b, enum event_format format)
{
	const char *name = format == EVENTS_PACKED ? "packed" : "rows";
	const struct {
		const char *words[4];
		bool judged;
	} commands[] = {
		{ { "show", "1" }, true },
		{ { "compare" }, true },
		{ { "report", "-o", b->report }, true },
		{ { "sql", "SELECT count(*), avg(a) FROM events WHERE run_id = 1 AND name = 'wp_fault'" },
		  false },
	};
	struct stat st;
	size_t i;
	int err = make_database(b, format);

	if (!err && !stat(b->db, &st))
		printf("| %s | (the file: %.0f MiB) | | | | |\n", name, (double)st.st_size / (1 << 20));
	for (i = 0; !err && i < sizeof(commands) / sizeof(commands[0]); i++)
		err = measure(b, name, commands[i].words, commands[i].judged);
	return err;
}

int main(int argc, char **argv)
{
	struct bench b = { .nr = 10000000 };
	int err;

	if (argc > 1)
		b.nr = strtoul(argv[1], NULL, 10);
	if (b.nr < NR_RUNS) {
		err__print("bench_10m: usage: bench_10m [EVENTS], at least %d", NR_RUNS);
		return EXIT_TOOL;
	}
	snprintf(b.dir, sizeof(b.dir), MIGRC_BUILD "/bench-10m-XXXXXX");
	if (!mkdtemp(b.dir)) {
		err__print("%s: %s; run it from the source tree", b.dir, strerror(errno));
		return EXIT_TOOL;
	}
	snprintf(b.db, sizeof(b.db), "%s/runs.db", b.dir);
	snprintf(b.report, sizeof(b.report), "%s/report.html", b.dir);
	printf("%zu events in %d runs; under %.0f s of the CPU and %.0f MiB\n\n"
	       "| events | command | s by the clock | CPU s | MiB | |\n"
	       "|---|---|---|---|---|---|\n", b.nr, NR_RUNS, MAX_S, MAX_MIB);
	err = bench__format(&b, EVENTS_PACKED);
	if (!err)
		err = bench__format(&b, EVENTS_ROWS);
	unlink(b.report);
	unlink(b.db);
	rmdir(b.dir);
	return err ? EXIT_TOOL : b.missed ? EXIT_WORSE : EXIT_GOOD;
}
