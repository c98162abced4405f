/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Databases of invented runs, built from the schema itself, for the tests of analysis/. */
#ifndef MIGRC_TEST_AN_WORLD_H
#define MIGRC_TEST_AN_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/model.h"

static const char schema[] =
#include "collector/schema.sql.h"
;

#define REMOTE	"vmstat.nr_tlb_remote_flush/1000"

/* A database under construction, in a directory of its own. */
struct world {
	char dir[64], path[96], out[96];
	sqlite3 *sq;
	int runs;
};

static inline int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	const char *tmp = getenv("TMPDIR");

	assert_non_null(w);
	snprintf(w->dir, sizeof(w->dir), "%.32s/migrc-an-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(w->dir));
	snprintf(w->path, sizeof(w->path), "%s/runs.db", w->dir);
	snprintf(w->out, sizeof(w->out), "%s/out", w->dir);
	assert_int_equal(sqlite3_open(w->path, &w->sq), SQLITE_OK);
	assert_int_equal(sqlite3_exec(w->sq, schema, NULL, NULL, NULL), SQLITE_OK);
	/* No test cuts the power. */
	assert_int_equal(sqlite3_exec(w->sq, "PRAGMA synchronous = OFF", NULL, NULL, NULL), SQLITE_OK);
	*state = w;
	return 0;
}

static inline int teardown(void **state)
{
	struct world *w = *state;

	sqlite3_close(w->sq);
	unlink(w->path);
	unlink(w->out);
	rmdir(w->dir);
	free(w);
	return 0;
}

static inline void sql(struct world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static inline void sql(struct world *w, const char *fmt, ...)
{
	char *text, *msg = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = sqlite3_vmprintf(fmt, ap);	/* of printf's conversions, plain ones only */
	va_end(ap);
	if (sqlite3_exec(w->sq, text, NULL, NULL, &msg) != SQLITE_OK)
		fail_msg("%s: %s", text, msg);
	sqlite3_free(text);
}

struct run_spec {
	const char *arm;
	int block;		/* 0: none */
	double flush;		/* remote flushes per 1000 migrated pages */
	double runtime;		/* seconds */
	bool emulated;
};

/* One valid run with the counters that the primary metrics need; returns its id. */
static inline int add_run(struct world *w, const struct run_spec *s)
{
	int id = ++w->runs;
	char block[16] = "NULL";

	if (s->block)
		snprintf(block, sizeof(block), "%d", s->block);
	sql(w, "INSERT INTO run VALUES (%d, 'u-%06d', '%s', %s, %d, 'boot-%d', 'w', 'run it', "
	    "'complete', %d, 1000000000, 0, NULL, 0, %d, '0.1.0')", id, id, s->arm, block, id, id,
	    id,
	    s->emulated);
	sql(w, "INSERT INTO counter VALUES (%d, 'vmstat', 'pgmigrate_success', 5, 100005)", id);
	sql(w, "INSERT INTO counter VALUES (%d, 'vmstat', 'nr_tlb_remote_flush', 7, %d)", id,
	    7 + (int)(s->flush * 100));
	sql(w, "INSERT INTO counter VALUES (%d, 'vmstat', 'nr_tlb_remote_flush_received', 0, %d)", id,
	    (int)(s->flush * 300));
	sql(w, "INSERT INTO metric VALUES (%d, 'runtime', %.9f, 's', 'lower', 1)", id, s->runtime);
	sql(w, "INSERT INTO result_text VALUES (%d, 'checksum', 'abc')", id);
	sql(w, "INSERT INTO fact VALUES (%d, 'match', 'cpu_model', 'a CPU')", id);
	return id;
}

/*
 * n blocks of stock and migrc in alternating order, with noise of 1 % that is the same each time.
 */
static inline void add_blocks(struct world *w, int n, double stock, double migrc, bool emulated)
{
	static const double noise[] = { 1.01, 0.992, 1.004, 0.989, 1.007, 0.996, 1.002, 0.999,
					1.011 };

	for (int b = 1; b <= n; b++) {
		struct run_spec a = { "stock", b, stock * noise[b % 9], 50 * noise[(b + 3) % 9],
				      emulated };
		struct run_spec m = { "migrc", b, migrc * noise[(b + 5) % 9],
				     49 * noise[(b + 7) % 9],
				      emulated };

		add_run(w, b % 2 ? &a : &m);
		add_run(w, b % 2 ? &m : &a);
	}
}

struct built {
	struct rundb *db;
	struct an_model *model;
};

static inline struct built build(struct world *w)
{
	struct an_options opt = { 0 };
	struct built b = { 0 };
	char *msg = NULL;

	if (rundb__load(w->path, &b.db, &msg) || model__build(b.db, &opt, &b.model, &msg))
		fail_msg("%s", msg);
	return b;
}

static inline void drop(struct built *b)
{
	model__free(b->model);
	rundb__free(b->db);
}

static inline const struct an_effect *effect(const struct built *b, const char *key)
{
	const struct an_metric *m = compare__metric(&b->model->compares[0], key);

	assert_non_null(m);
	return &m->effect[1];
}

/* Run a command with its stdout in w->out; argv ends with NULL. What it printed in *text. */
static inline int run_cmd(struct world *w, int (*cmd)(int, char **), const char *const *args, char **text)
{
	char *argv[16] = { "migrc test", "-d", w->path };
	int argc = 3, code, saved, fd;
	size_t n;
	FILE *f;

	for (; *args; args++)
		argv[argc++] = (char *)*args;
	fflush(stdout);
	saved = dup(1);
	fd = open(w->out, O_RDWR | O_CREAT | O_TRUNC, 0600);
	assert_true(saved >= 0 && fd >= 0);
	dup2(fd, 1);
	code = cmd(argc, argv);
	fflush(stdout);
	dup2(saved, 1);
	close(saved);
	close(fd);
	*text = calloc(1, 1 << 24);
	f = fopen(w->out, "r");
	assert_true(*text && f);
	n = fread(*text, 1, (1 << 24) - 1, f);
	(*text)[n] = '\0';
	fclose(f);
	return code;
}

#define RUN(w, cmd, text, ...) run_cmd(w, cmd, (const char *const[]){ __VA_ARGS__, NULL }, text)

#define WORLD_TEST(f)	cmocka_unit_test_setup_teardown(f, setup, teardown)

#endif /* MIGRC_TEST_AN_WORLD_H */
