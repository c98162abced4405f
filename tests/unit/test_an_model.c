// SPDX-License-Identifier: GPL-2.0-or-later
/* Reader, model and outputs on databases that the tests build from the schema itself. */
#include "tests/unit/an_world.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "analysis/plot.h"
#include "analysis/sbuf.h"
#include "analysis/words.h"
#include "bpf/loglin.h"
#include "collector/cmd.h"
#include "collector/err.h"

/* --- verdicts --------------------------------------------------------------------------------- */

static void test_improved_and_paired(void **state)
{
	struct world *w = *state;
	const struct an_effect *e;
	struct built b;

	add_blocks(w, 7, 40, 4, false);
	b = build(w);
	assert_int_equal(b.model->nr, 1);
	assert_string_equal(b.model->compares[0].arms[0].name, "stock");
	assert_true(b.model->compares[0].arms[1].paired);
	assert_int_equal(b.model->compares[0].family, 3);
	e = effect(&b, REMOTE);
	assert_int_equal(e->verdict, AN_IMPROVED);
	assert_true(e->is_ratio && e->paired && e->n_base == 7);
	assert_true(fabs(e->est - 0.1) < 0.005 && e->lo < 0.1 && e->hi > 0.1);
	/* 2 % faster, but Holm and the interval decide, not the eye. */
	e = effect(&b, "metric.runtime");
	assert_true(e->verdict == AN_IMPROVED || e->verdict == AN_EQUIVALENT);
	assert_true(compare__metric(&b.model->compares[0], "metric.runtime")->primary);
	assert_int_equal(words__overall(&b.model->compares[0], 1), AN_IMPROVED);
	drop(&b);
}

static void test_regressed(void **state)
{
	struct world *w = *state;
	struct built b;

	add_blocks(w, 7, 4, 40, false);
	b = build(w);
	assert_int_equal(effect(&b, REMOTE)->verdict, AN_REGRESSED);
	assert_int_equal(words__overall(&b.model->compares[0], 1), AN_REGRESSED);
	drop(&b);
}

static void test_equivalent(void **state)
{
	struct world *w = *state;
	struct built b;

	add_blocks(w, 9, 40, 40, false);
	b = build(w);
	assert_int_equal(effect(&b, REMOTE)->verdict, AN_EQUIVALENT);
	drop(&b);
}

static void test_emulated_times_are_not_judged(void **state)
{
	struct world *w = *state;
	const struct an_effect *e;
	struct built b;

	add_blocks(w, 7, 40, 4, true);
	b = build(w);
	e = effect(&b, "metric.runtime");
	assert_int_equal(e->verdict, AN_NOT_JUDGED);
	assert_string_equal(e->why, "emulated");
	assert_true(e->has_est && isnan(e->p_adjusted));
	assert_false(compare__metric(&b.model->compares[0], "metric.runtime")->primary);
	assert_int_equal(b.model->compares[0].family, 2);
	assert_int_equal(effect(&b, REMOTE)->verdict, AN_IMPROVED);
	drop(&b);
}

static void test_one_run_per_arm(void **state)
{
	struct world *w = *state;
	const struct an_effect *e;
	struct built b;

	add_blocks(w, 1, 40, 4, false);
	b = build(w);
	e = effect(&b, REMOTE);
	assert_int_equal(e->verdict, AN_INCONCLUSIVE);
	assert_string_equal(e->why, "one run per arm");
	assert_true(e->has_est && e->est < 0.11 && isnan(e->lo));
	drop(&b);
}

/* Without spread t has no answer; the permutation test's floor keeps three runs from a verdict. */
static void test_no_spread(void **state)
{
	struct world *w = *state;
	struct run_spec a = { "stock", 0, 40, 50, false }, m = { "migrc", 0, 20, 50, false };
	const struct an_effect *e;
	struct built b;

	for (int i = 0; i < 3; i++) {
		add_run(w, &a);
		add_run(w, &m);
	}
	b = build(w);
	e = effect(&b, REMOTE);
	assert_true(e->degenerate && e->lo == e->hi);
	assert_true(fabs(e->p - 0.1) < 1e-9);
	assert_int_equal(e->verdict, AN_INCONCLUSIVE);
	assert_int_equal(effect(&b, "metric.runtime")->verdict, AN_EQUIVALENT);
	drop(&b);
}

static void test_zero_counters_are_differences(void **state)
{
	struct world *w = *state;
	const struct an_effect *e;
	struct built b;

	add_blocks(w, 5, 40, 4, false);
	for (int id = 1; id <= w->runs; id++) {
		sql(w, "INSERT INTO counter VALUES (%d, 'vmstat', 'pgpromote_success', 9, 9)", id);
		sql(w, "INSERT INTO counter VALUES (%d, 'vmstat', 'pgmigrate_fail', 0, %d)", id, id % 3);
	}
	b = build(w);
	e = effect(&b, "vmstat.pgpromote_success");
	assert_true(!e->is_ratio && e->est == 0);
	assert_int_equal(e->verdict, AN_EQUIVALENT);
	assert_false(effect(&b, "vmstat.pgmigrate_fail")->is_ratio);
	drop(&b);
}

static void test_absent_is_not_zero(void **state)
{
	struct world *w = *state;
	const struct an_effect *e;
	char *text;
	struct built b;

	add_blocks(w, 4, 40, 4, false);
	sql(w, "INSERT INTO counter SELECT id, 'vmstat', 'migrc_deferred', 0, 500 + id FROM run "
	    "WHERE arm = 'migrc'");
	b = build(w);
	e = effect(&b, "vmstat.migrc_deferred");
	assert_int_equal(e->verdict, AN_ABSENT);
	assert_string_equal(e->why, "absent in the baseline");
	assert_true(isnan(compare__mean(&b.model->compares[0], 0, "vmstat.migrc_deferred")));
	assert_null(compare__metric(&b.model->compares[0], "held.max"));
	drop(&b);
	assert_int_equal(RUN(w, cmd_compare, &text, "-a"), 0);
	assert_non_null(strstr(text, "absent"));
	free(text);
}

/* What the probes told by reason and class: units, directions, and what is of one process alone. */
static void test_probes_by_class(void **state)
{
	static const char * const lower[] = {
		"bpf.flush.calls.migration", "bpf.flush.ns.migration", "bpf.migrate_pages.ns.demotion",
		"bpf.migrate_pages.flushes.demotion", "bpf.mm_flush.calls", "bpf.migrc_wait.calls",
	};
	struct world *w = *state;
	const struct an_compare *c;
	const struct an_metric *m;
	struct built b;

	add_blocks(w, 4, 40, 4, false);
	for (size_t i = 0; i < sizeof(lower) / sizeof(lower[0]); i++)
		sql(w, "INSERT INTO counter SELECT id, 'bpf', '%s', NULL, 500 + id FROM run", lower[i] + 4);
	sql(w, "INSERT INTO counter SELECT id, 'bpf', 'migrc_defer', NULL, 5 FROM run");
	sql(w, "INSERT INTO histogram SELECT id, 'migrc_held_age_ms', 'ms', 3, 2, 9, 5 FROM run");
	sql(w, "INSERT INTO histogram_bin SELECT id, 'migrc_held_age_ms', 4, 2, 1 FROM run");
	sql(w, "INSERT INTO histogram SELECT id, 'wp_fault_ns@xs', 'ns', 3, 2, 9, 5 FROM run");
	sql(w, "INSERT INTO histogram_bin SELECT id, 'wp_fault_ns@xs', 4, 2, 1 FROM run");
	b = build(w);
	c = &b.model->compares[0];
	for (size_t i = 0; i < sizeof(lower) / sizeof(lower[0]); i++) {
		m = compare__metric(c, lower[i]);
		assert_non_null(m);
		assert_int_equal(m->better, AN_LOWER);
		assert_int_equal(m->is_time, strstr(lower[i], ".ns") != NULL);
		assert_string_equal(m->unit, m->is_time ? "ns" : "count");
	}
	assert_int_equal(compare__metric(c, "bpf.migrc_defer")->better, AN_NONE);
	m = compare__metric(c, "hist.migrc_held_age_ms.p50");
	assert_non_null(m);
	assert_true(m->is_time && m->better == AN_NONE);
	assert_null(compare__metric(c, "hist.wp_fault_ns@xs.p50"));
	drop(&b);
}

/* --- what is excluded, what must match -------------------------------------------------------- */

static void test_invalid_runs_are_counted(void **state)
{
	struct world *w = *state;
	struct built b;
	char *why, *text;

	add_blocks(w, 5, 40, 4, false);
	sql(w, "INSERT INTO invalid VALUES (1, 'lost-events', '17 of 900'), (1, 'identity', 'x')");
	sql(w, "UPDATE run SET state = 'interrupted' WHERE id = 4");
	sql(w, "UPDATE counter SET after_value = 99999999 WHERE run_id = 1");
	b = build(w);
	assert_int_equal(b.model->compares[0].arms[0].nr_runs, 5);
	assert_int_equal(b.model->compares[0].arms[0].nr_valid, 3);
	why = run__why_invalid(b.model->compares[0].runs[0].rd);
	assert_string_equal(why, "identity: x; lost-events: 17 of 900");
	free(why);
	assert_true(compare__mean(&b.model->compares[0], 0, REMOTE) < 50);
	assert_true(b.model->compares[0].arms[1].paired);
	assert_int_equal(b.model->compares[0].arms[1].blocks_complete, 3);
	assert_int_equal(effect(&b, REMOTE)->n_base, 3);
	drop(&b);
	assert_int_equal(RUN(w, cmd_compare, &text, "--workload", "w"), 0);
	assert_non_null(strstr(text, "Run 1 of stock is left out: identity: x; lost-events: 17 of 900"));
	free(text);
	sql(w, "UPDATE run SET state = 'failed' WHERE arm = 'migrc'");
	assert_int_equal(RUN(w, cmd_compare, &text, "--json"), EXIT_INVALID);
	free(text);
}

static void test_mismatch_is_refused(void **state)
{
	struct world *w = *state;
	char *text;

	add_blocks(w, 4, 40, 4, false);
	sql(w, "UPDATE fact SET value = 'another CPU' WHERE run_id = 3");
	assert_int_equal(RUN(w, cmd_compare, &text, "--json"), EXIT_INVALID);
	assert_non_null(strstr(text, "\"exit\": 4"));
	free(text);
	assert_int_equal(RUN(w, cmd_compare, &text, "--allow-mismatch"), 0);
	assert_non_null(strstr(text, "another CPU"));
	free(text);
	/* Only one run has it at all: also a difference. */
	sql(w, "UPDATE fact SET value = 'a CPU'");
	assert_int_equal(RUN(w, cmd_compare, &text, "-a"), 0);
	free(text);
	sql(w, "INSERT INTO fact VALUES (2, 'match', 'thp', 'never')");
	assert_int_equal(RUN(w, cmd_report, &text, "--format", "text"), EXIT_INVALID);
	assert_string_equal(text, "");
	free(text);
	/* A fact of another class may differ. */
	sql(w, "UPDATE fact SET class = 'drift' WHERE key = 'thp'");
	assert_int_equal(RUN(w, cmd_compare, &text, "-a"), 0);
	free(text);
}

static void test_rungs_must_match(void **state)
{
	struct world *w = *state;
	char *text;

	add_blocks(w, 4, 40, 4, false);
	sql(w, "INSERT INTO probe SELECT id, 'tlb', 'fentry', 't', 1, NULL, 9, NULL, 0, 10 FROM run");
	sql(w, "INSERT INTO probe SELECT id, 'migrc_release', "
	    "CASE arm WHEN 'stock' THEN 'none' ELSE 'fentry' END, 't', arm <> 'stock', NULL, 9, NULL, 0, 10 FROM run");
	assert_int_equal(RUN(w, cmd_compare, &text, "-a"), 0);
	free(text);
	/* Whichever arm is read first. */
	assert_int_equal(RUN(w, cmd_compare, &text, "-a", "--baseline", "migrc"), 0);
	free(text);
	sql(w, "UPDATE probe SET rung = 'kprobe' WHERE run_id = 2 AND name = 'tlb'");
	assert_int_equal(RUN(w, cmd_compare, &text, "-a"), EXIT_INVALID);
	free(text);
	assert_int_equal(RUN(w, cmd_compare, &text, "-a", "--allow-mismatch"), 0);
	free(text);
	/* A probe that one arm has and the other has not is a cost of one arm, core or not. */
	sql(w, "UPDATE probe SET rung = 'fentry' WHERE name = 'tlb'");
	sql(w, "INSERT INTO probe SELECT id, 'munmap', "
	    "CASE arm WHEN 'stock' THEN 'none' ELSE 'fentry' END, 't', 0, NULL, 9, NULL, 0, 10 FROM run");
	assert_int_equal(RUN(w, cmd_compare, &text, "-a"), EXIT_INVALID);
	free(text);
}

/* A kernel that changes a checksum is wrong: no option makes that good. */
static void test_checksum_is_loud(void **state)
{
	struct world *w = *state;
	char *text;

	add_blocks(w, 4, 40, 4, false);
	sql(w, "UPDATE result_text SET value = 'zzz' WHERE run_id = 6");
	assert_int_equal(RUN(w, cmd_compare, &text, "--allow-mismatch"), EXIT_INVALID);
	assert_non_null(strstr(text, "INVALID"));
	assert_non_null(strstr(text, "zzz"));
	free(text);
	assert_int_equal(RUN(w, cmd_report, &text, "--format", "md"), EXIT_INVALID);
	assert_non_null(strstr(text, "INVALID: result checksum differs"));
	free(text);
}

/* --- design ----------------------------------------------------------------------------------- */

static void test_unpaired_is_said(void **state)
{
	struct world *w = *state;
	struct run_spec a = { "stock", 0, 40, 50, false }, m = { "migrc", 0, 4, 50, false };
	bool warned = false;
	struct built b;

	for (int i = 0; i < 8; i++) {
		a.flush += i * 0.1;
		m.flush += i * 0.01;
		add_run(w, i < 4 ? &a : &m);
	}
	b = build(w);
	assert_false(b.model->compares[0].arms[1].paired);
	assert_non_null(strstr(b.model->compares[0].arms[1].design, "unpaired"));
	for (size_t i = 0; i < b.model->compares[0].nr_warnings; i++)
		warned |= strstr(b.model->compares[0].warnings[i], "not interleaved") != NULL;
	assert_true(warned);
	assert_non_null(strstr(b.model->compares[0].arms[1].design, "have no blocks"));
	drop(&b);
}

static void test_blocks_without_valid_runs(void **state)
{
	struct world *w = *state;
	struct built b;

	add_blocks(w, 4, 40, 4, false);
	sql(w, "UPDATE run SET state = 'failed'");
	b = build(w);
	assert_string_equal(b.model->compares[0].arms[1].design,
			    "unpaired: no run of a block is valid");
	drop(&b);
}

/* Runs of one boot are one value: n counts boots. */
static void test_boot_is_the_unit(void **state)
{
	struct world *w = *state;
	struct built b;

	add_blocks(w, 6, 40, 4, false);
	sql(w, "UPDATE run SET block = NULL");
	sql(w, "UPDATE run SET boot_id = arm || (id %% 2)");
	b = build(w);
	assert_int_equal(b.model->compares[0].arms[0].nr_valid, 6);
	assert_int_equal(b.model->compares[0].arms[0].nr_boots, 2);
	assert_int_equal(effect(&b, REMOTE)->n_base, 2);
	drop(&b);
	/* A boot that two arms share cannot be averaged away; it is warned about. */
	sql(w, "UPDATE run SET boot_id = 'same'");
	b = build(w);
	assert_int_equal(b.model->compares[0].arms[0].nr_boots, 6);
	assert_true(b.model->compares[0].nr_warnings > 0);
	assert_non_null(strstr(b.model->compares[0].warnings[0], "share a boot"));
	drop(&b);
}

static void test_baseline_and_arms(void **state)
{
	struct world *w = *state;
	struct run_spec off = { "migrc-off", 0, 39, 50, false };
	char *text;

	add_blocks(w, 4, 40, 4, false);
	add_run(w, &off);
	assert_int_equal(RUN(w, cmd_compare, &text, "--baseline", "migrc-off", "--arm", "migrc"),
			 0);
	assert_non_null(strstr(text, "migrc against migrc-off"));
	assert_null(strstr(text, "stock"));
	free(text);
	assert_int_equal(RUN(w, cmd_compare, &text, "--json", "--arm", "nobody"), EXIT_TOOL);
	assert_non_null(strstr(text, "arm nobody: no run of it"));
	free(text);
	assert_int_equal(RUN(w, cmd_compare, &text, "--json", "--workload", "none"), EXIT_TOOL);
	free(text);
}

/* --- files ------------------------------------------------------------------------------------ */

static int load_error(const char *path, const char *want)
{
	struct rundb *db = NULL;
	char *msg = NULL;
	int err = rundb__load(path, &db, &msg);

	assert_null(db);
	assert_non_null(msg);
	if (!strstr(msg, want))
		fail_msg("\"%s\" does not say \"%s\"", msg, want);
	free(msg);
	return err;
}

static void write_bytes(const char *path, long at, const char *bytes, size_t n)
{
	FILE *f = fopen(path, at < 0 ? "w" : "r+");

	assert_non_null(f);
	assert_int_equal(fseek(f, at < 0 ? 0 : at, SEEK_SET), 0);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

static void test_bad_files(void **state)
{
	struct world *w = *state;
	char junk[4096], *text;

	assert_int_equal(load_error("/nonexistent/runs.db", "No such file"), -ENOENT);
	sql(w, "PRAGMA user_version = 99");
	assert_int_equal(load_error(w->path, "schema version 99"), -EPROTO);
	sql(w, "PRAGMA user_version = 1; PRAGMA application_id = 7");
	assert_int_equal(load_error(w->path, "not a migrc database"), -EPROTO);
	sql(w, "PRAGMA application_id = 0x4d494752");
	add_blocks(w, 9, 40, 4, false);
	sqlite3_close(w->sq);
	w->sq = NULL;
	/* Torn pages in the middle: an error with exit code 2, never a verdict. */
	memset(junk, 0xa5, sizeof(junk));
	for (long page = 1; page < 12; page++)
		write_bytes(w->path, page * 4096, junk, sizeof(junk));
	assert_int_equal(load_error(w->path, "malformed"), -EIO);
	assert_int_equal(RUN(w, cmd_compare, &text, "--json"), EXIT_TOOL);
	assert_non_null(strstr(text, "\"exit\": 2"));
	free(text);
	write_bytes(w->path, -1, junk, sizeof(junk));
	assert_int_equal(load_error(w->path, "not a migrc database"), -EPROTO);
	write_bytes(w->path, -1, "", 0);
	assert_int_equal(load_error(w->path, "not a migrc database"), -EPROTO);
}

/* A writer that was killed in the midst of a transaction: what was whole before is read. */
static void test_killed_writer(void **state)
{
	struct world *w = *state;
	char journal[256];
	struct built b;
	int status;
	pid_t pid;

	add_blocks(w, 3, 40, 4, false);
	sqlite3_close(w->sq);
	w->sq = NULL;
	pid = fork();
	if (!pid) {
		sqlite3 *sq;

		/* So small a cache that changed pages are in the file before the commit. */
		if (sqlite3_open(w->path, &sq) ||
		    sqlite3_exec(sq, "PRAGMA cache_size = 1; BEGIN IMMEDIATE; UPDATE run SET arm = 'x'; "
				 "UPDATE counter SET after_value = 0; UPDATE fact SET value = 'y'; "
				 "UPDATE metric SET unit = hex(zeroblob(9999))", NULL, NULL, NULL))
			_exit(1);
		kill(getpid(), SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	snprintf(journal, sizeof(journal), "%s-journal", w->path);
	assert_int_equal(access(journal, F_OK), 0);
	b = build(w);
	assert_int_equal(b.db->nr, 6);
	for (size_t i = 0; i < b.db->nr; i++)
		assert_string_not_equal(b.db->runs[i].arm, "x");
	drop(&b);
}

/* A file without the schema's constraints may hold NULL wherever it likes. */
static void test_nulls(void **state)
{
	static const char *const columns[][2] = {
		{ "run", "arm" }, { "run", "state" }, { "run", "boot_id" }, { "run", "command" },
		{ "counter", "name" }, { "counter", "source" }, { "metric", "name" },
		{ "metric", "unit" }, { "result_text", "name" }, { "fact", "class" },
		{ "fact", "key" }, { "fact", "value" },
	};
	struct world *w = *state;
	char *text;
	int code;

	add_blocks(w, 3, 40, 4, false);
	sql(w, "PRAGMA foreign_keys = OFF; PRAGMA legacy_alter_table = ON; DROP VIEW run_validity");
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		const char *table = columns[i][0];

		sql(w, "CREATE TABLE loose AS SELECT * FROM %s; DROP TABLE %s; "
		    "ALTER TABLE loose RENAME TO %s; UPDATE %s SET %s = NULL WHERE rowid %% 2",
		    table, table, table, table, columns[i][1]);
		code = RUN(w, cmd_report, &text, "--format", "text", "--allow-mismatch");
		assert_true(code == EXIT_GOOD || code == EXIT_INVALID);
		free(text);
	}
}

/* A report is written to where a link points, and into what is not a file; neither is replaced. */
static void test_output_is_not_replaced(void **state)
{
	struct world *w = *state;
	char link[256], file[256], *text;
	struct stat st;

	add_blocks(w, 3, 40, 4, false);
	snprintf(link, sizeof(link), "%s/link", w->dir);
	snprintf(file, sizeof(file), "%s/file", w->dir);
	write_bytes(file, -1, "old", 3);
	assert_int_equal(symlink("file", link), 0);
	assert_int_equal(RUN(w, cmd_report, &text, "--format", "md", "-o", link), EXIT_GOOD);
	free(text);
	assert_int_equal(lstat(link, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(stat(file, &st), 0);
	assert_true(st.st_size > 100);
	unlink(link);
	assert_int_equal(symlink("/dev/null", link), 0);
	assert_int_equal(RUN(w, cmd_report, &text, "--format", "md", "-o", link), EXIT_GOOD);
	free(text);
	assert_int_equal(stat("/dev/null", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	unlink(link);
	unlink(file);
}

static void test_no_runs(void **state)
{
	struct world *w = *state;
	char *text;

	assert_int_equal(RUN(w, cmd_compare, &text, "--json"), EXIT_TOOL);
	assert_non_null(strstr(text, "no runs"));
	free(text);
	assert_int_equal(RUN(w, cmd_report, &text, "--format", "html"), 0);
	assert_non_null(strstr(text, "The database has no runs"));
	assert_non_null(strstr(text, "</html>"));
	free(text);
	assert_int_equal(RUN(w, cmd_report, &text, "--format", "json"), 0);
	free(text);
	assert_int_equal(run_cmd(w, cmd_runs, (const char *const[]){ NULL }, &text), 0);
	assert_non_null(strstr(text, "No runs yet"));
	free(text);
}

static void test_one_run(void **state)
{
	struct world *w = *state;
	struct run_spec a = { "only", 0, 40, 50, false };
	char *text;

	add_run(w, &a);
	assert_int_equal(RUN(w, cmd_compare, &text, "-a"), 0);
	assert_non_null(strstr(text, "only alone"));
	free(text);
	assert_int_equal(RUN(w, cmd_report, &text, "--format", "text"), 0);
	assert_non_null(strstr(text, "One arm only"));
	free(text);
	assert_int_equal(RUN(w, cmd_show, &text, "1"), 0);
	assert_non_null(strstr(text, "nr_tlb_remote_flush"));
	free(text);
	assert_int_equal(RUN(w, cmd_show, &text, "u-000001", "--json"), 0);
	free(text);
	assert_int_equal(RUN(w, cmd_show, &text, "77", "--json"), EXIT_TOOL);
	free(text);
}

static void check_width(const char *text)
{
	for (const char *line = text; *line; ) {
		size_t n = strcspn(line, "\n");
		char *copy = strndup(line, n);

		assert_non_null(copy);
		if (utf8__width(copy) > 80)
			fail_msg("%zu columns: %s", utf8__width(copy), copy);
		free(copy);
		line += n + (line[n] == '\n');
	}
}

static void test_two_hundred_runs(void **state)
{
	struct world *w = *state;
	char *text;

	sql(w, "BEGIN");
	add_blocks(w, 100, 40, 4, false);
	sql(w, "COMMIT");
	assert_int_equal(RUN(w, cmd_compare, &text, "-a"), 0);
	assert_non_null(strstr(text, "paired by block: 100 complete of 100"));
	check_width(text);
	free(text);
	assert_int_equal(RUN(w, cmd_report, &text, "--format", "html"), 0);
	assert_non_null(strstr(text, "</html>"));
	free(text);
	assert_int_equal(run_cmd(w, cmd_runs, (const char *const[]){ NULL }, &text), 0);
	check_width(text);
	free(text);
}

/* --- outputs ---------------------------------------------------------------------------------- */

/* As SQL text: what is stored has one quote. */
#define HOSTILE	"'</script><script>alert(1)</script>\"'' & \x1b[31m\x01 \xff `rm -rf` | *x* \xe2\x80\xae'"

static void add_hostile(struct world *w)
{
	add_blocks(w, 4, 40, 4, false);
	sql(w, "UPDATE run SET arm = %s WHERE arm = 'migrc'", HOSTILE);
	sql(w, "UPDATE run SET command = %s, boot_id = %s || id", HOSTILE, HOSTILE);
	sql(w, "UPDATE run SET workload = 'w' || %s", HOSTILE);
	sql(w, "UPDATE fact SET value = %s", HOSTILE);
	sql(w, "INSERT INTO run_label SELECT id, %s, %s FROM run", HOSTILE, HOSTILE);
	sql(w, "INSERT INTO metric SELECT id, %s, 3, %s, 'none', 0 FROM run", HOSTILE, HOSTILE);
	sql(w, "INSERT INTO invalid VALUES (1, %s, %s)", HOSTILE, HOSTILE);
	sql(w, "INSERT INTO probe SELECT id, %s, 'none', %s, 0, %s, NULL, NULL, NULL, NULL FROM run",
	    HOSTILE, HOSTILE, HOSTILE);
	sql(w, "INSERT INTO histogram SELECT id, %s, %s, 3, 2, 9, 5 FROM run", HOSTILE, HOSTILE);
	sql(w, "INSERT INTO histogram_bin SELECT id, %s, 4, 2, 1 FROM run", HOSTILE);
}

static void test_hostile_strings(void **state)
{
	static const char *const formats[] = { "html", "text", "md", "json" };
	struct world *w = *state;
	char *text;

	add_hostile(w);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(RUN(w, cmd_report, &text, "--format", formats[i]), 0);
		assert_true(strlen(text) > 500);
		if (strchr(text, '\x1b'))
			fail_msg("%s: an escape in: %.80s", formats[i], strchr(text, '\x1b') - 40);
		assert_null(strchr(text, '\x01'));
		assert_null(strchr(text, '\xff'));
		assert_null(strstr(text, "\xe2\x80\xae"));
		if (i == 0 || i == 2)
			assert_null(strstr(text, "<script"));
		free(text);
	}
	assert_int_equal(RUN(w, cmd_compare, &text, "-a"), 0);
	assert_null(strchr(text, '\x1b'));
	check_width(text);
	free(text);
	assert_int_equal(RUN(w, cmd_show, &text, "2"), 0);
	assert_null(strchr(text, '\x1b'));
	free(text);
}

/* Every id in the page is there once, and every reference leads to one. */
static void test_html_ids(void **state)
{
	struct world *w = *state;
	char *text, *page, *at;

	add_blocks(w, 4, 40, 4, false);
	sql(w, "INSERT INTO run SELECT id + 100, uuid || 'x', arm, block, position, boot_id, 'w2', "
	    "command, state, started_ns, wall_ns, 0, NULL, 0, 0, '0.1.0' FROM run");
	assert_int_equal(RUN(w, cmd_report, &text, "--format", "html"), 0);
	page = text;
	for (at = page; (at = strstr(at, " id=")); ) {
		char needle[80], quote = at[4];
		const char *end = strchr(at + 5, quote), *again;

		assert_non_null(end);
		snprintf(needle, sizeof(needle), "%.*s", (int)(end - at + 1), at);
		again = strstr(end, needle);
		if (again)
			fail_msg("id twice: %s", needle);
		at += 5;
	}
	assert_null(strstr(page, "http-equiv=\"refresh"));
	assert_null(strstr(page, "src="));
	free(text);
}

static void test_without_gnuplot(void **state)
{
	struct world *w = *state;
	char *text, *path = strdup(getenv("PATH") ? getenv("PATH") : "");

	add_blocks(w, 4, 40, 4, false);
	setenv("PATH", w->dir, 1);
	assert_int_equal(RUN(w, cmd_report, &text, "--format", "html"), 0);
	setenv("PATH", path, 1);
	assert_non_null(strstr(text, "gnuplot is not installed"));
	assert_non_null(strstr(text, "Runs, in order"));
	assert_null(strstr(text, "<svg"));
	free(text);
	free(path);
}

static void test_embedding(void **state)
{
	static const char svg[] =
		"<?xml version=\"1.0\"?>\n<svg width=\"9\" viewBox=\"0 0 9 9\">\n<title>f</title>\n"
		"<desc>x</desc><g id=\"canvas\"><use xlink:href='#gpPt1'/><path id='gpPt1' "
		"color=\"black\" stroke=\"black\" fill='black'/></g></svg>\n";
	char *a = plot__embed(svg, "A < B", 1), *b = plot__embed(svg, "A < B", 2);

	(void)state;
	assert_non_null(a);
	assert_int_equal(strncmp(a, "<svg", 4), 0);
	assert_non_null(strstr(a, "aria-label=\"A &lt; B\""));
	assert_non_null(strstr(a, "href='#p1-gpPt1'"));
	assert_non_null(strstr(b, "id='p2-gpPt1'"));
	assert_null(strstr(a, "black"));
	assert_non_null(strstr(a, "viewBox=\"0 0 9 9\""));
	assert_null(plot__embed("no picture", "t", 1));
	free(a);
	free(b);
}

static void test_json_reads_back(void **state)
{
	struct world *w = *state;
	sqlite3_stmt *st = NULL;
	char *text;

	add_hostile(w);
	assert_int_equal(RUN(w, cmd_compare, &text, "--json"), 0);
	/* SQLite's own parser is the judge. */
	assert_int_equal(sqlite3_prepare_v2(w->sq, "SELECT json_valid(?1), "
		"json_extract(?1, '$.comparisons[0].arms[0].arm'), "
		"json_array_length(?1, '$.comparisons[0].runs')", -1, &st, NULL), SQLITE_OK);
	sqlite3_bind_text(st, 1, text, -1, SQLITE_STATIC);
	assert_int_equal(sqlite3_step(st), SQLITE_ROW);
	assert_int_equal(sqlite3_column_int(st, 0), 1);
	assert_string_equal((const char *)sqlite3_column_text(st, 1), "stock");
	assert_int_equal(sqlite3_column_int(st, 2), 8);
	sqlite3_finalize(st);
	free(text);
}

static void test_numbers(void **state)
{
	char b[FMT_LEN];

	(void)state;
	assert_string_equal(fmt__num(b, NAN), "absent");
	assert_string_equal(fmt__num(b, 0), "0");
	assert_string_equal(fmt__num(b, 23456), "23.46k");
	assert_string_equal(fmt__num(b, -1.5e9), "-1.50G");
	assert_string_equal(fmt__unit(b, 2500, "ns"), "2.50 us");
	assert_string_equal(fmt__unit(b, 3145728, "bytes"), "3 MiB");
	assert_string_equal(fmt__change(b, 0.066), "-93.4 %");
	assert_string_equal(fmt__change(b, 14.2), "x 14.2");
	assert_string_equal(fmt__change(b, NAN), "-");
	assert_string_equal(fmt__change(b, 0.99999), "+0.00 %");
	assert_string_equal(fmt__change(b, 2.5e7), "x 2.5e+07");
	assert_string_equal(fmt__range(b, 0.3, 0.05, 1.5), "[-95.0, +50.0]");
	assert_string_equal(fmt__range(b, 9.9, 0, INFINITY), "[-100.0, +inf]");
	assert_string_equal(fmt__range(b, 9.9, 1, 2e7), "[+0.00, +2.0e+09]");
	/* Beside "x 50.34" percentages would be of another scale. */
	assert_string_equal(fmt__range(b, 50.34, 50.0312, 50.6512), "[50.03, 50.65]");
	assert_string_equal(fmt__range(b, 10, 0.5, 2e7), "[0.5, 2e+07]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD_TEST(test_improved_and_paired), WORLD_TEST(test_regressed),
		WORLD_TEST(test_equivalent), WORLD_TEST(test_emulated_times_are_not_judged),
		WORLD_TEST(test_one_run_per_arm), WORLD_TEST(test_no_spread),
		WORLD_TEST(test_zero_counters_are_differences), WORLD_TEST(test_absent_is_not_zero),
		WORLD_TEST(test_probes_by_class),
		WORLD_TEST(test_invalid_runs_are_counted), WORLD_TEST(test_mismatch_is_refused),
		WORLD_TEST(test_rungs_must_match), WORLD_TEST(test_checksum_is_loud),
		WORLD_TEST(test_unpaired_is_said), WORLD_TEST(test_boot_is_the_unit),
		WORLD_TEST(test_blocks_without_valid_runs),
		WORLD_TEST(test_baseline_and_arms), WORLD_TEST(test_bad_files),
		WORLD_TEST(test_killed_writer), WORLD_TEST(test_nulls),
		WORLD_TEST(test_output_is_not_replaced),
		WORLD_TEST(test_no_runs), WORLD_TEST(test_one_run),
		WORLD_TEST(test_two_hundred_runs),
		WORLD_TEST(test_hostile_strings), WORLD_TEST(test_html_ids),
		WORLD_TEST(test_without_gnuplot), cmocka_unit_test(test_embedding),
		WORLD_TEST(test_json_reads_back), cmocka_unit_test(test_numbers),
	};

	return cmocka_run_group_tests_name("analysis/model", tests, NULL, NULL);
}
