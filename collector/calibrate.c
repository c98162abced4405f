// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/stats.h"
#include "collector/calibrate.h"
#include "collector/err.h"
#include "collector/record.h"

#define CONFIDENCE 0.95

int calibrate__cost(const struct calibrate_times *bare, const struct calibrate_times *with, size_t nr,
		    double (*get)(const struct calibrate_times *t), struct calibrate_cost *out)
{
	struct stats_est est;
	double *log_ratio;
	size_t i;
	int err = 0;

	log_ratio = calloc(nr ? nr : 1, sizeof(*log_ratio));
	if (!log_ratio)
		return -ENOMEM;
	for (i = 0; !err && i < nr; i++) {
		if (!(get(&bare[i]) > 0) || !(get(&with[i]) > 0))
			err = -EDOM;
		else
			log_ratio[i] = log(get(&with[i]) / get(&bare[i]));
	}
	if (!err)
		err = stats__paired_t(log_ratio, nr, CONFIDENCE, &est);
	if (!err)
		*out = (struct calibrate_cost){ expm1(est.est), expm1(est.lo), expm1(est.hi) };
	free(log_ratio);
	return err;
}

/* The times of the newest run of a database. */
static int read_times(const char *path, struct calibrate_times *out)
{
	static const char sql[] =
		"SELECT wall_ns, (SELECT sum(value) * 1e9 FROM metric WHERE run_id = id AND name IN "
		"('user_time', 'system_time')) FROM run ORDER BY id DESC LIMIT 1";
	sqlite3_stmt *stmt = NULL;
	sqlite3 *db = NULL;
	int err = -EIO;

	if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
	    sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK &&
	    sqlite3_step(stmt) == SQLITE_ROW) {
		out->wall = sqlite3_column_double(stmt, 0);
		out->cpu = sqlite3_column_double(stmt, 1);
		err = 0;
	}
	sqlite3_finalize(stmt);
	sqlite3_close(db);
	return err;
}

/* One run in a process of its own, which leaves nothing attached. An exit code. */
static int run_one(const struct record_options *options, const char *db, bool bare,
		   int (*record)(const struct record_options *o))
{
	struct record_options o = *options;
	int status;
	pid_t pid;

	o.db = db;
	if (bare) {
		o.probes.mode = PROBES_NONE;
		o.interval_ms = 0;
		o.perf.scope = PERF_OFF;
	}
	fflush(NULL);
	pid = fork();
	if (pid < 0) {
		err__print("calibrate: cannot fork: %s; free some memory or processes",
			   strerror(errno));
		return EXIT_TOOL;
	}
	if (!pid)
		exit(record(&o));
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status)) {
		err__print("calibrate: a run was killed; see the kernel log");
		return EXIT_TOOL;
	}
	return WEXITSTATUS(status);
}

static double wall_of(const struct calibrate_times *t)
{
	return t->wall;
}

static double cpu_of(const struct calibrate_times *t)
{
	return t->cpu;
}

/* Print the cost of one time; whether there is one. */
static bool find_cost(const char *what, const struct calibrate_times *bare,
		      const struct calibrate_times *with, size_t nr,
		      double (*get)(const struct calibrate_times *t), struct calibrate_cost *c)
{
	int err = calibrate__cost(bare, with, nr, get, c);

	if (err)
		printf("calibrate: %s: not told: %s\n", what,
		       err == -EDOM ? "a run took no time" : strerror(-err));
	else
		printf("calibrate: %s: %+.2f %% (95 %% interval %+.2f to %+.2f %%, %zu pairs)\n", what,
		       c->est * 100, c->lo * 100, c->hi * 100, nr);
	return !err;
}

/* The caller has them blocked: one that came between two runs waits. */
static bool told_to_end(void)
{
	sigset_t pending;

	return !sigpending(&pending) &&
	       (sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1 ||
		sigismember(&pending, SIGHUP) == 1 || sigismember(&pending, SIGQUIT) == 1);
}

/* Pairs in turn bare first and bare last, so that a drift falls on both alike. */
static int run_pairs(const struct record_options *o, const char *db, struct calibrate_times *bare,
		     struct calibrate_times *with, size_t nr,
		     int (*record)(const struct record_options *o))
{
	struct calibrate_times *times;
	bool is_bare;
	size_t i;
	int rc;

	for (i = 0; i < 2 * nr; i++) {
		is_bare = (i % 4 == 0) || (i % 4 == 3);
		times = is_bare ? &bare[i / 2] : &with[i / 2];
		rc = told_to_end() ? EXIT_WORSE : run_one(o, db, is_bare, record);
		if (rc)
			return rc;
		if (read_times(db, times)) {
			err__print("%s: cannot be read back; free some space there", db);
			return EXIT_TOOL;
		}
	}
	return EXIT_GOOD;
}

/* The database, and what SQLite may have left beside it. */
static void remove_db(const char *db)
{
	static const char * const tails[] = { "", "-wal", "-shm", "-journal" };
	char path[4200];
	size_t i;

	for (i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
		snprintf(path, sizeof(path), "%s%s", db, tails[i]);
		unlink(path);
	}
}

int calibrate__run(const struct record_options *o, size_t nr,
		   int (*record)(const struct record_options *o), struct calibration *out)
{
	const char *tmp = getenv("TMPDIR");
	struct calibrate_times *bare = calloc(nr, sizeof(*bare));
	struct calibrate_times *with = calloc(nr, sizeof(*with));
	char db[4096];
	int fd = -1, rc = EXIT_TOOL;

	snprintf(db, sizeof(db), "%s/migrc-calibrate-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (bare && with)
		fd = mkstemp(db);
	if (fd < 0) {
		err__print("calibrate: %s: %s; set TMPDIR to a folder with space", db,
			   strerror(errno));
		goto cleanup;
	}
	close(fd);
	rc = run_pairs(o, db, bare, with, nr, record);
	if (!rc) {
		out->has_wall = find_cost("wall time", bare, with, nr, wall_of, &out->wall);
		out->has_cpu = find_cost("CPU time of the command", bare, with, nr, cpu_of,
					 &out->cpu);
		out->pairs = nr;
	}
	remove_db(db);
cleanup:
	free(bare);
	free(with);
	return rc;
}
