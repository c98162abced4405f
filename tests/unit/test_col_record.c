// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `migrc record` as a program, on this machine. What it needs of the kernel (the right to use BPF,
 * BTF) may be missing here, in a container say; the tests that need it are skipped then, and say so.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "bpf/events.h"
#include "collector/events_vtab.h"

#define MIGRC MIGRC_BUILD "/migrc"
#define MAX_ARGS 24

struct world {
	char dir[64], db[96], out[96], err[96];
	int out_fd;			/* its stdout, if not the file out */
	bool ignore_children;
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	if (!w)
		return -1;
	strcpy(w->dir, "/tmp/migrc-record-XXXXXX");
	if (!mkdtemp(w->dir))
		return -1;
	snprintf(w->db, sizeof(w->db), "%s/runs.db", w->dir);
	snprintf(w->out, sizeof(w->out), "%s/out", w->dir);
	snprintf(w->err, sizeof(w->err), "%s/err", w->dir);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", w->dir);
	free(w);
	return system(command);
}

/* Start `migrc record -o DB --missing-probes=warn ARGS...`, its output in files. */
static pid_t start(struct world *w, const char *const *args)
{
	const char *argv[MAX_ARGS + 6] = { MIGRC, "record", "-o", w->db, "--missing-probes=warn" };
	int n = 5, fd;
	pid_t pid;

	for (; *args; args++) {
		assert_true(n < MAX_ARGS + 5);
		argv[n++] = *args;
	}
	pid = fork();
	if (pid)
		return pid;
	fd = open(w->out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	dup2(w->out_fd ? w->out_fd : fd, STDOUT_FILENO);
	fd = open(w->err, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	dup2(fd, STDERR_FILENO);
	if (w->ignore_children)
		signal(SIGCHLD, SIG_IGN);
	execv(MIGRC, (char *const *)argv);
	_exit(99);
}

/* Wait for it; its exit status. Skips the test where the kernel does not let us trace. */
static int finish(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 5)
		skip();
	return WEXITSTATUS(status);
}

static int wait_for(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return status;
}

static void assert_file_has(const char *path, const char *text)
{
	char buf[8192];
	FILE *f = fopen(path, "r");
	size_t n;

	assert_non_null(f);
	n = fread(buf, 1, sizeof(buf) - 1, f);
	buf[n] = '\0';
	fclose(f);
	if (!strstr(buf, text))
		fail_msg("%s does not have '%s' but: %s", path, text, buf);
}

/* -1 while there is no such table or row. */
static int64_t query(const struct world *w, const char *sql)
{
	sqlite3_stmt *stmt = NULL;
	sqlite3 *sq = NULL;
	int64_t value = -1;

	if (!sqlite3_open_v2(w->db, &sq, SQLITE_OPEN_READONLY, NULL) && !events_vtab__register(sq) &&
	    !sqlite3_prepare_v2(sq, sql, -1, &stmt, NULL) && sqlite3_step(stmt) == SQLITE_ROW)
		value = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	sqlite3_close(sq);
	return value;
}

static void wait_until_running(const struct world *w, pid_t pid)
{
	int i, status;

	for (i = 0; i < 600; i++) {
		if (query(w, "SELECT count(*) FROM run WHERE state = 'running'") == 1)
			return;
		if (waitpid(pid, &status, WNOHANG) == pid) {
			if (WIFEXITED(status) && WEXITSTATUS(status) == 5)
				skip();
			fail_msg("record ended before it ran");
		}
		usleep(100000);
	}
	fail_msg("record did not begin within a minute");
}

static void test_complete(void **state)
{
	static const char * const args[] = {
		"--arm", "stock", "--block", "2", "--position", "5", "--workload", "hello",
		"--label", "who=me", "--fact", "match:accelerator=tcg", "--interval", "50", "--", "sh",
		"-c", "echo hello; echo 'migrc: metric m 2.5 s lower time'; sleep 0.3", NULL,
	};
	struct world *w = *state;

	assert_int_equal(finish(start(w, args)), 0);
	assert_file_has(w->out, "hello\n");
	assert_int_equal(query(w, "SELECT count(*) FROM run WHERE state = 'complete' AND exit_code = 0 "
			       "AND emulated AND block = 2 AND position = 5 AND workload = 'hello' "
			       "AND wall_ns > 300000000"), 1);
	assert_int_equal(query(w, "SELECT count(*) FROM metric WHERE name = 'm' AND value = 2.5"), 1);
	assert_int_equal(query(w, "SELECT count(*) FROM run_label WHERE value = 'me'"), 1);
	assert_int_equal(query(w, "SELECT count(*) FROM fact WHERE key = 'accelerator' "
			       "AND value = 'tcg'"), 1);
	assert_true(query(w, "SELECT count(DISTINCT t_ns) FROM sample") >= 3);
	assert_true(query(w, "SELECT count(*) FROM counter WHERE source = 'vmstat'") > 50);
	assert_int_equal(query(w, "SELECT count(*) FROM probe"), NR_PROBES);
	assert_int_equal(query(w, "SELECT valid FROM run_validity"), 1);
}

/* Nobody in particular, with the two capabilities that tracing needs and no other. */
static void test_two_capabilities(void **state)
{
	struct world *w = *state;
	char command[1024];
	int status;

	if (geteuid())
		skip();
	chmod(w->dir, 0777);
	snprintf(command, sizeof(command), "setpriv --reuid=65534 --regid=65534 --clear-groups "
		 "--inh-caps=-all,+bpf,+perfmon --ambient-caps=-all,+bpf,+perfmon "
		 "%s record -o %s --missing-probes=warn -- true > %s 2>&1", MIGRC, w->db, w->out);
	status = system(command);
	if (WIFEXITED(status) && (WEXITSTATUS(status) == 5 || WEXITSTATUS(status) == 127))
		skip();
	assert_int_equal(status, 0);
	assert_int_equal(query(w, "SELECT rung = 'tracepoint' FROM probe WHERE name = 'migrate'"), 1);
	assert_int_equal(query(w, "SELECT count(*) FROM probe WHERE body_ns IS NOT NULL"), 0);
}

/* What the parent of the workload still may, and what the workload itself may. */
static void test_privileges_are_dropped(void **state)
{
	static const char * const args[] = {
		"--", "sh", "-c",
		"c() { sed -n 's/^CapEff:.//p' /proc/$1/status; }; "
		"echo migrc: text parent $(c $PPID); echo migrc: text own $(c self)", NULL,
	};
	struct world *w = *state;

	assert_int_equal(finish(start(w, args)), 0);
	/* Not one of these: DAC_OVERRIDE, DAC_READ_SEARCH, FOWNER, CHOWN, KILL are bits 0 to 5. */
	assert_int_equal(query(w, "SELECT count(*) FROM result_text WHERE name = 'parent' "
			       "AND value LIKE '00000000000000__'"), 1);
	if (!geteuid())
		assert_int_equal(query(w, "SELECT count(*) FROM result_text WHERE name = 'own' "
				       "AND value NOT LIKE '00000000000000__'"), 1);
}

/* Raw events add up, stored as well. */
static void test_events(void **state)
{
	static const char * const args[] = {
		"--events=all", "--event-format=rows", "--", "sh", "-c",
		"for i in 1 2 3 4 5 6 7 8 9; do cat /dev/null; done", NULL,
	};
	static const char * const packed[] = {
		"--events=all", "--interval", "0", "--", "sh", "-c",
		"for i in 1 2 3 4 5 6 7 8 9; do cat /dev/null; done", NULL,
	};
	struct world *w = *state;

	assert_int_equal(finish(start(w, args)), 0);
	assert_int_equal(query(w, "SELECT (SELECT count(*) FROM event) = "
			       "(SELECT value FROM instrument WHERE name = 'received')"), 1);
	assert_int_equal(query(w, "SELECT (SELECT coalesce(sum(seen - lost), 0) FROM probe) = "
			       "(SELECT count(*) FROM event)"), 1);
	assert_int_equal(query(w, "SELECT count(*) FROM invalid WHERE rule = 'identity'"), 0);
	assert_int_equal(query(w, "SELECT count(*) FROM event_chunk"), 0);
	/* Packed, unless told otherwise: as many as were received, in the virtual table too. */
	assert_int_equal(finish(start(w, packed)), 0);
	assert_int_equal(query(w, "SELECT count(*) FROM event WHERE run_id = 2"), 0);
	assert_int_equal(query(w, "SELECT (SELECT count(*) FROM events WHERE run_id = 2) = "
			       "(SELECT value FROM instrument WHERE name = 'received' AND run_id = 2)"), 1);
	assert_int_equal(query(w, "SELECT (SELECT coalesce(sum(seen - lost), 0) FROM probe WHERE run_id = 2) "
			       "= (SELECT coalesce(sum(events), 0) FROM event_chunk)"), 1);
}

static void test_failed(void **state)
{
	static const char * const args[] = { "--", "sh", "-c", "exit 7", NULL };
	struct world *w = *state;

	assert_int_equal(finish(start(w, args)), 1);
	assert_int_equal(query(w, "SELECT count(*) FROM run WHERE state = 'failed' AND exit_code = 7"), 1);
	assert_int_equal(query(w, "SELECT count(*) FROM invalid WHERE rule = 'workload-failed'"), 1);
	assert_file_has(w->err, "exit status 7");
}

/* The whole group goes, and what it printed before is there. */
static void test_timeout(void **state)
{
	static const char * const args[] = {
		"--timeout", "1", "--", "sh", "-c",
		"echo 'migrc: metric m 1 s lower time'; sleep 77 & sleep 77", NULL,
	};
	struct world *w = *state;

	assert_int_equal(finish(start(w, args)), 1);
	assert_int_equal(query(w, "SELECT count(*) FROM run WHERE state = 'failed' AND timed_out "
			       "AND term_signal = 15"), 1);
	assert_int_equal(query(w, "SELECT count(*) FROM metric WHERE name = 'm'"), 1);
}

/* What it left in the background is gone with it, and does not keep the run waiting. */
static void test_left_behind(void **state)
{
	static const char * const args[] = {
		"--", "sh", "-c", "trap '' TERM; sleep 79 & echo $!", NULL,
	};
	struct world *w = *state;
	char pid[32] = "";
	FILE *f;
	int i;

	assert_int_equal(finish(start(w, args)), 0);
	assert_true(query(w, "SELECT wall_ns FROM run") < 70000000000);
	f = fopen(w->out, "r");
	assert_non_null(f);
	assert_non_null(fgets(pid, sizeof(pid), f));
	fclose(f);
	for (i = 0; i < 100 && !kill(atoi(pid), 0); i++)
		usleep(50000);
	assert_int_equal(kill(atoi(pid), 0), -1);
}

static void test_interrupted(void **state)
{
	static const char * const args[] = { "--", "sleep", "77", NULL };
	struct world *w = *state;
	pid_t pid = start(w, args);

	wait_until_running(w, pid);
	usleep(300000);
	assert_int_equal(kill(pid, SIGINT), 0);
	assert_int_equal(finish(pid), 1);
	assert_int_equal(query(w, "SELECT count(*) FROM run WHERE state = 'interrupted' "
			       "AND term_signal = 2"), 1);
	assert_true(query(w, "SELECT count(*) FROM counter") > 50);
	assert_int_equal(query(w, "SELECT valid FROM run_validity"), 0);
}

/* kill -9: that run is left as running, the earlier one is whole, the next one works. */
static void test_killed(void **state)
{
	static const char * const good[] = { "--", "true", NULL };
	static const char * const args[] = { "--interval", "20", "--", "sleep", "77", NULL };
	struct world *w = *state;
	int status;
	pid_t pid;

	assert_int_equal(finish(start(w, good)), 0);
	pid = start(w, args);
	wait_until_running(w, pid);
	usleep(300000);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(query(w, "SELECT count(*) FROM run WHERE state = 'running'"), 1);
	assert_int_equal(query(w, "SELECT count(*) FROM run JOIN run_validity ON run_id = id "
			       "WHERE valid"), 1);
	assert_int_equal(finish(start(w, good)), 0);
	assert_int_equal(query(w, "SELECT count(*) FROM run WHERE state = 'complete'"), 2);
}

/* Printing without end, into a reader that does not read: the deadline holds all the same. */
static void test_reader_stops(void **state)
{
	static const char * const args[] = {
		"--timeout", "1", "--", "sh", "-c", "echo 'migrc: metric m 1 s lower time'; exec yes",
		NULL,
	};
	struct world *w = *state;
	int fds[2], i, status;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	w->out_fd = fds[1];
	pid = start(w, args);
	close(fds[1]);
	for (i = 0; i < 300 && !waitpid(pid, &status, WNOHANG); i++)
		usleep(100000);
	close(fds[0]);
	if (i == 300) {
		kill(pid, SIGKILL);
		fail_msg("still there after 30 s");
	}
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 5)
		skip();
	assert_int_equal(WEXITSTATUS(status), 1);
	assert_int_equal(query(w, "SELECT count(*) FROM run WHERE timed_out AND wall_ns < 9000000000"), 1);
	assert_int_equal(query(w, "SELECT count(*) FROM metric WHERE name = 'm'"), 1);
	assert_file_has(w->err, "stdout: ");
}

/* A child that has left the group and prints for ever does not keep the run from ending. */
static void test_chatter_left_behind(void **state)
{
	static const char * const args[] = {
		"--", "sh", "-c", "setsid timeout 60 yes & sleep 0.3", NULL,
	};
	struct world *w = *state;

	w->out_fd = open("/dev/null", O_WRONLY);
	alarm(30);
	assert_int_equal(finish(start(w, args)), 0);
	alarm(0);
	close(w->out_fd);
}

/* As started by nohup, and by a parent that does not care for its children. */
static void test_inherited_dispositions(void **state)
{
	static const char * const args[] = { "--", "sleep", "2", NULL };
	struct world *w = *state;
	pid_t pid;

	signal(SIGHUP, SIG_IGN);
	w->ignore_children = true;
	pid = start(w, args);
	signal(SIGHUP, SIG_DFL);
	wait_until_running(w, pid);
	assert_int_equal(kill(pid, SIGHUP), 0);
	assert_int_equal(finish(pid), 0);
	assert_int_equal(query(w, "SELECT count(*) FROM run WHERE state = 'complete'"), 1);
}

/* Stored, but invalid. */
static void test_invalid(void **state)
{
	static const char * const args[] = { "--", "sh", "-c", "echo 'migrc: metric'", NULL };
	struct world *w = *state;

	assert_int_equal(finish(start(w, args)), 4);
	assert_int_equal(query(w, "SELECT count(*) FROM run JOIN invalid ON run_id = id "
			       "WHERE state = 'complete' AND rule = 'protocol'"), 1);
}

/* Skips the test where the shell lacks sqlite3. */
static void need_sqlite3(void)
{
	if (system("command -v sqlite3 >/dev/null"))
		skip();
}

/* Record a run that the database does not take at its end; the one that it is in instead becomes w->db. */
static void record_rescued(struct world *w, const char *const *args)
{
	char command[256];
	int status;

	setenv("TMPDIR", w->dir, 1);
	setenv("DB", w->db, 1);
	setenv("ERR", w->err, 1);
	status = finish(start(w, args));
	unsetenv("TMPDIR");
	assert_int_equal(status, 2);
	assert_file_has(w->err, "it is stored in ");
	snprintf(command, sizeof(command), "mv %s/migrc-run-*.db %s", w->dir, w->db);
	assert_int_equal(system(command), 0);
	assert_int_equal(query(w, "SELECT count(*) FROM run WHERE state = 'complete'"), 1);
	assert_int_equal(query(w, "SELECT count(*) FROM metric WHERE name = 'm' AND value = 7"), 1);
	/* Each round of samples, however many a busy machine let us take. */
	assert_int_equal(query(w, "SELECT count(DISTINCT t_ns) - (SELECT value FROM instrument WHERE "
			       "name = 'samples_taken') FROM sample"), 0);
}

/*
 * The database goes away under the run, as on a full disk: the run is whole in another. The table of
 * samples is what is missed first, while the workload runs, which must not end it: it goes on until
 * that was said, which may take its time on a busy machine.
 */
static void test_rescue(void **state)
{
	static const char * const good[] = { "--", "true", NULL };
	static const char * const args[] = {
		"--interval", "20", "--", "sh", "-c",
		"i=0; until grep -q 'the run goes on' $ERR || [ $i -ge 600 ]; do sleep 0.1; i=$((i + 1)); done; "
		"sleep 0.3; echo 'migrc: metric m 7 s lower time'", NULL,
	};
	struct world *w = *state;
	char command[256];

	need_sqlite3();
	assert_int_equal(finish(start(w, good)), 0);
	snprintf(command, sizeof(command), "sqlite3 %s 'DROP TABLE sample'", w->db);
	assert_int_equal(system(command), 0);
	record_rescued(w, args);
	assert_file_has(w->err, "the run goes on");
	assert_true(query(w, "SELECT count(DISTINCT t_ns) FROM sample") > 2);
}

/* It goes away after it has taken the first samples: they follow the run. */
static void test_rescue_parts(void **state)
{
	static const char * const args[] = {
		"--interval", "20", "--", "sh", "-c",
		"sql() { sqlite3 -cmd '.timeout 20000' $DB \"$1\"; }; i=0; "
		"until [ $(sql 'SELECT count(*) FROM sample') -gt 0 ] || [ $i -ge 600 ]; do sleep 0.1; i=$((i + 1)); "
		"done; sql 'DROP TABLE fact'; sleep 0.3; echo 'migrc: metric m 7 s lower time'", NULL,
	};
	struct world *w = *state;

	need_sqlite3();
	record_rescued(w, args);
	assert_true(query(w, "SELECT max(t_ns) FROM sample") > 5000000000);
	assert_true(query(w, "SELECT min(t_ns) FROM sample") < 5000000000);
}

/* The real XSBench ends with 1 and INVALID CHECKSUM for any options but its defaults. */
static void test_xsbench(void **state)
{
	static const char * const args[] = {
		"--", "sh", "-c", "cat tests/fixtures/import/xsbench.txt; exit 1", NULL,
	};
	static const char * const other[] = {
		"--adapter", "none", "--", "sh", "-c", "cat tests/fixtures/import/xsbench.txt; exit 1",
		NULL,
	};
	static const char * const own[] = {
		"--", "sh", "-c", "cat tests/fixtures/import/xsbench.txt; "
		"echo 'migrc: metric m 1 s lower time'; exit 1", NULL,
	};
	struct world *w = *state;

	assert_int_equal(finish(start(w, args)), 0);
	assert_file_has(w->out, "INVALID CHECKSUM");
	assert_int_equal(query(w, "SELECT count(*) FROM run WHERE state = 'complete' AND exit_code = 1"), 1);
	assert_int_equal(query(w, "SELECT value FROM metric WHERE name = 'lookups_per_s'"), 696504);
	assert_int_equal(query(w, "SELECT value FROM result_text WHERE name = 'checksum'"), 73089);
	assert_int_equal(query(w, "SELECT count(*) FROM metric WHERE name = 'wall_time'"), 1);
	assert_int_equal(finish(start(w, other)), 1);
	assert_int_equal(finish(start(w, own)), 1);
	assert_int_equal(query(w, "SELECT count(*) FROM run WHERE state = 'failed'"), 2);
	assert_int_equal(query(w, "SELECT count(*) FROM metric WHERE name = 'lookups_per_s'"), 1);
}

static void test_pmbench(void **state)
{
	static const char * const args[] = {
		"--", "cat", "tests/fixtures/import/pmbench.txt", NULL,
	};
	static const char * const hangs[] = {
		"--timeout", "1", "--", "sh", "-c",
		"sed '/TLB info/q' tests/fixtures/import/pmbench.txt; sleep 77", NULL,
	};
	static const char * const early[] = {
		"--timeout", "1", "--", "sh", "-c",
		"sed '/Starting main/q' tests/fixtures/import/pmbench.txt; sleep 77", NULL,
	};
	static const char * const cut[] = {
		"--", "sh", "-c", "sed '/Total samples: 81788/d' tests/fixtures/import/pmbench.txt; "
		"echo 'Total samples: 7'", NULL,
	};
	struct world *w = *state;

	assert_int_equal(finish(start(w, args)), 0);
	assert_int_equal(query(w, "SELECT sum(total) FROM histogram WHERE name LIKE 'workload.%_ns'"),
			 8181177 + 8178823);
	assert_int_equal(query(w, "SELECT count(*) FROM metric WHERE name = 'accesses_per_s'"), 1);
	/* Hung after its result: the result counts, the time does not. */
	assert_int_equal(finish(start(w, hangs)), 0);
	assert_int_equal(query(w, "SELECT count(*) FROM run JOIN metric ON run_id = id WHERE timed_out "
			       "AND state = 'complete' AND wall_ns IS NULL AND name = 'accesses_per_s'"), 1);
	assert_int_equal(query(w, "SELECT count(*) FROM metric WHERE run_id = 2 AND name = 'wall_time'"), 0);
	assert_int_equal(finish(start(w, early)), 1);
	assert_int_equal(finish(start(w, cut)), 4);
	assert_int_equal(query(w, "SELECT count(*) FROM invalid WHERE rule = 'workload-result'"), 1);
}

static void test_metric_regex(void **state)
{
	static const char * const args[] = {
		"--metric-regex", "rate=rate: *([0-9.,]+) req:1/s:higher", "--metric-regex",
		"rows=[0-9]+ rows", "--", "sh", "-c", "echo 'rate: 1 req'; echo 'rate:  12,345.5 req, 77 rows'",
		NULL,
	};
	static const char * const missing[] = {
		"--metric-regex", "rate=rate: ([0-9]+)", "--", "echo", "nothing", NULL,
	};
	static const char * const bad[] = { "--metric-regex", "rate=(", "--", "true", NULL };
	static const char * const none[] = { "--adapter", "xsbench", "--", "true", NULL };
	struct world *w = *state;

	assert_int_equal(finish(start(w, args)), 0);
	assert_int_equal(query(w, "SELECT count(*) FROM metric WHERE name = 'rate' AND value = 12345.5 "
			       "AND unit = '1/s' AND better = 'higher' AND is_time"), 1);
	assert_int_equal(query(w, "SELECT count(*) FROM metric WHERE name = 'rows' AND value = 77 "
			       "AND unit = '' AND better = 'none' AND NOT is_time"), 1);
	assert_int_equal(finish(start(w, missing)), 4);
	assert_file_has(w->err, "rate: no line of the output matches");
	assert_int_equal(finish(start(w, bad)), 2);
	assert_file_has(w->err, "--metric-regex: 'rate=(': ");
	assert_int_equal(finish(start(w, none)), 4);
	assert_file_has(w->err, "no result of xsbench");
}

static int in_path(const char *program)
{
	char command[64];

	snprintf(command, sizeof(command), "command -v %s >/dev/null", program);
	return !system(command);
}

/* Software events, by the real perf; what this machine has no PMU for is absent, not 0. */
static void test_perf(void **state)
{
	static const char * const args[] = {
		"--perf", "--perf-event", "clock=cpu-clock", "--perf-event", "none=no_such_event_at_all",
		"--", "sh", "-c", "for i in 1 2 3 4 5; do cat /dev/null; done", NULL,
	};
	static const char * const unknown[] = {
		"--perf-event", "a;b", "--", "true", NULL,
	};
	struct world *w = *state;

	assert_int_equal(finish(start(w, unknown)), 2);
	assert_file_has(w->err, "--perf-event: 'a;b'");
	if (!in_path("perf") || system("perf stat -e task-clock true 2>/dev/null"))
		skip();
	assert_int_equal(finish(start(w, args)), 0);
	assert_int_equal(query(w, "SELECT count(*) FROM perf_event WHERE name = 'clock' AND "
			       "event LIKE 'cpu-clock%' AND unit = 'msec' AND value > 0 AND "
			       "running_share = 1"), 1);
	/* Those of the children too: a process has a hundred faults or so. */
	assert_true(query(w, "SELECT value FROM perf_event WHERE name = 'page-faults'") > 200);
	assert_int_equal(query(w, "SELECT count(*) FROM perf_event WHERE name = 'none'"), 0);
	assert_int_equal(query(w, "SELECT value FROM instrument WHERE name = 'perf_events_asked'"), 14);
	assert_file_has(w->err, "are absent: ");
}

/* What a machine with a PMU prints, recorded: counters shared between events, some not counted. */
static void test_perf_recorded(void **state)
{
	static const char * const args[] = {
		"--perf=system", "--perf-event", "raw=cpu/event=0x1,umask=0x2/u", "--", "true", NULL,
	};
	char path[4096];
	struct world *w = *state;
	char *before = strdup(getenv("PATH"));

	snprintf(path, sizeof(path), "tests/fixtures/perf:%s", before);
	setenv("PATH", path, 1);
	setenv("FAKE_PERF", "tests/fixtures/import/perf-x-semicolon.csv", 1);
	assert_int_equal(finish(start(w, args)), 0);
	assert_int_equal(query(w, "SELECT count(*) FROM perf_event WHERE name = 'raw' AND "
			       "event = 'cpu/event=0x1,umask=0x2/u' AND value = 1234567 AND "
			       "running_share BETWEEN 0.333 AND 0.334"), 1);
	assert_int_equal(query(w, "SELECT count(*) FROM perf_event WHERE name = 'itlb.itlb_flush' AND "
			       "value = 85647229 AND running_share BETWEEN 0.66669 AND 0.66671"), 1);
	assert_int_equal(query(w, "SELECT count(*) FROM perf_event WHERE name IN "
			       "('tlb_flush.stlb_any', 'dTLB-load-misses')"), 0);
	/* One that this machine does not know leaves the others as they are. */
	setenv("FAKE_PERF_UNKNOWN", "itlb", 1);
	assert_int_equal(finish(start(w, args)), 0);
	assert_int_equal(query(w, "SELECT count(*) FROM perf_event WHERE run_id = 2 AND name = 'raw'"), 1);
	assert_file_has(w->err, "itlb.itlb_flush");
	setenv("FAKE_PERF_UNKNOWN", ".", 1);
	assert_int_equal(WEXITSTATUS(wait_for(start(w, args))), 5);
	assert_file_has(w->err, "counts none of the events here: event syntax error");
	unsetenv("FAKE_PERF_UNKNOWN");
	setenv("PATH", "tests/fixtures/store", 1);
	assert_int_equal(WEXITSTATUS(wait_for(start(w, (const char *const[]){
		"--perf", "--", "/bin/true", NULL }))), 5);
	assert_file_has(w->err, "perf: not found; install the package linux-perf");
	assert_int_equal(query(w, "SELECT count(*) FROM run"), 2);
	setenv("PATH", before, 1);
	free(before);
}

/* Whenever it comes, the run is there to show for it, or nothing was begun. */
static void test_interrupted_early(void **state)
{
	static const char * const args[] = { "--", "sleep", "77", NULL };
	struct world *w = *state;
	int i, status, stored = 0;
	pid_t pid;

	for (i = 0; i < 12; i++) {
		pid = start(w, args);
		usleep((useconds_t)(i * i * 1500));
		assert_int_equal(kill(pid, SIGINT), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		if (WIFEXITED(status) && WEXITSTATUS(status) == 5)
			skip();
		if (WIFSIGNALED(status))
			continue;
		assert_int_equal(WEXITSTATUS(status), 1);
		assert_file_has(w->err, "interrupted; stored");
		stored++;
	}
	assert_true(stored > 0);
	assert_int_equal(query(w, "SELECT count(*) FROM run WHERE state = 'interrupted'"), stored);
}

static void test_command_not_found(void **state)
{
	static const char * const args[] = { "--", "no-such-program-here", NULL };
	struct world *w = *state;

	assert_int_equal(finish(start(w, args)), 2);
	assert_file_has(w->err, "migrc: no-such-program-here: command not found;");
	assert_int_equal(access(w->db, F_OK), -1);
}

static void test_usage(void **state)
{
	static const char * const none[] = { NULL };
	static const char * const number[] = { "--timeout", "soon", "--", "true", NULL };
	static const char * const word[] = { "--events=some", "--", "true", NULL };
	static const char * const fact[] = { "--fact", "accelerator=tcg", "--", "true", NULL };
	static const char * const ring[] = { "--ring-kb", "5", "--", "true", NULL };
	struct world *w = *state;

	assert_int_equal(finish(start(w, none)), 2);
	assert_file_has(w->err, "no command");
	assert_int_equal(finish(start(w, number)), 2);
	assert_file_has(w->err, "--timeout: 'soon'");
	assert_int_equal(finish(start(w, word)), 2);
	assert_int_equal(finish(start(w, fact)), 2);
	assert_int_equal(finish(start(w, ring)), 2);
	assert_int_equal(access(w->db, F_OK), -1);
}

static void test_not_permitted(void **state)
{
	struct world *w = *state;
	int status;
	pid_t pid;

	assert_int_equal(chmod(w->dir, 0777), 0);
	pid = fork();
	if (!pid) {
		if (!getuid() && setuid(65534))
			_exit(99);
		/* The binary's folder may be closed to others; then there is nothing to test. */
		if (access(MIGRC, X_OK))
			_exit(98);
		pid = start(w, (const char *const[]){ "--", "true", NULL });
		waitpid(pid, &status, 0);
		_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 97);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 98)
		skip();
	assert_int_equal(WEXITSTATUS(status), 5);
	assert_file_has(w->err, "; ");
	assert_int_equal(access(w->db, F_OK), -1);
}

int main(void)
{
	/* Started in the background this is ignored, and would be by what is interrupted here. */
	signal(SIGINT, SIG_DFL);

	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_complete, setup, teardown),
		cmocka_unit_test_setup_teardown(test_two_capabilities, setup, teardown),
		cmocka_unit_test_setup_teardown(test_privileges_are_dropped, setup, teardown),
		cmocka_unit_test_setup_teardown(test_events, setup, teardown),
		cmocka_unit_test_setup_teardown(test_failed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_timeout, setup, teardown),
		cmocka_unit_test_setup_teardown(test_left_behind, setup, teardown),
		cmocka_unit_test_setup_teardown(test_interrupted, setup, teardown),
		cmocka_unit_test_setup_teardown(test_killed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_reader_stops, setup, teardown),
		cmocka_unit_test_setup_teardown(test_chatter_left_behind, setup, teardown),
		cmocka_unit_test_setup_teardown(test_inherited_dispositions, setup, teardown),
		cmocka_unit_test_setup_teardown(test_invalid, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rescue, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rescue_parts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_xsbench, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pmbench, setup, teardown),
		cmocka_unit_test_setup_teardown(test_metric_regex, setup, teardown),
		cmocka_unit_test_setup_teardown(test_perf, setup, teardown),
		cmocka_unit_test_setup_teardown(test_perf_recorded, setup, teardown),
		cmocka_unit_test_setup_teardown(test_interrupted_early, setup, teardown),
		cmocka_unit_test_setup_teardown(test_command_not_found, setup, teardown),
		cmocka_unit_test_setup_teardown(test_usage, setup, teardown),
		cmocka_unit_test_setup_teardown(test_not_permitted, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
