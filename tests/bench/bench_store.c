// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bench_store [EVENTS [ROUNDS]]: what storing raw events costs. A BPF program puts synthetic events
 * into the probes' own ring; they are drained and stored as `migrc record` does it, packed and in
 * rows, beside a loop that does nothing but run a prepared INSERT into the same table. In each round
 * all three, in an order that changes; what was stored is read back and compared. Rates are judged by
 * the time of the CPU, which what else the machine does changes little; by the clock they are shown.
 * Exit status: 0, 1 if a target is missed, 2 after an error, 5 where BPF is not permitted.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "bpf/migrc.skel.h"
#include "collector/err.h"
#include "collector/events_vtab.h"
#include "collector/probes_impl.h"
#include "collector/record.h"
#include "tests/bench/fill.skel.h"
#include "tests/bench/synthetic.h"

#define FILL_MAX	65536	/* as in fill.bpf.c */
#define FILL_RUN	1024
#define MIN_OF_BARE	0.8
#define MIN_FASTER	4.0
#define MIN_SMALLER	5.0
#define MAX_ROUNDS	99

enum way { BARE, ROWS, PACKED, NR_WAYS };

struct result {
	double wall_ns, cpu_ns, bytes;	/* of an event */
};

struct bench {
	size_t nr, rounds;
	struct event *events;		/* as they were made */
	struct probes *probes;
	struct fill_bpf *fill;
	struct event *made;		/* the map that the program reads, FILL_MAX of them */
	char dir[64], db[96];
	struct result result[NR_WAYS][MAX_ROUNDS];
};

/* --- the ring --------------------------------------------------------------------------------- */

static int bench__open_ring(struct bench *b)
{
	const struct probes_options options = { .event_every = 1, .ring_bytes = 8 << 20, .per_page = true };
	int err = probes__open(&b->probes, &options);

	if (err)
		return err;
	b->fill = fill_bpf__open();
	if (!b->fill)
		return -errno;
	err = bpf_map__reuse_fd(b->fill->maps.ring, bpf_map__fd(b->probes->maps->maps.ring));
	if (!err)
		err = fill_bpf__load(b->fill);
	if (err) {
		err__print("bpf: cannot load the program that fills the ring: %s; run as root",
			   strerror(-err));
		return err;
	}
	b->made = mmap(NULL, FILL_MAX * sizeof(*b->made), PROT_READ | PROT_WRITE, MAP_SHARED,
		       bpf_map__fd(b->fill->maps.made), 0);
	return b->made == MAP_FAILED ? -errno : 0;
}

static int bench__fill_ring(struct bench *b, const struct event *events, size_t nr)
{
	uint64_t args[12] = { 0 };
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = args, .ctx_size_in = sizeof(args));
	int err;

	memcpy(b->made, events, nr * sizeof(*events));
	for (args[0] = 0; args[0] < nr; args[0] += FILL_RUN) {
		args[1] = nr - args[0] < FILL_RUN ? nr - args[0] : FILL_RUN;
		err = bpf_prog_test_run_opts(bpf_program__fd(b->fill->progs.fill), &opts);
		if (err || opts.retval) {
			err__print("ring: filling it: %s", err ? strerror(-err) : "no room");
			return -EIO;
		}
	}
	return 0;
}

/* --- the three ways --------------------------------------------------------------------------- */

static double clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static void result__start(struct result *r)
{
	r->wall_ns -= clock_ns(CLOCK_MONOTONIC);
	r->cpu_ns -= clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static void result__stop(struct result *r)
{
	r->wall_ns += clock_ns(CLOCK_MONOTONIC);
	r->cpu_ns += clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* Nothing but SQLite: bind, step, reset, in one transaction. */
static int bench__bare(struct bench *b, struct run *r, struct result *res)
{
	static const char sql[] = "INSERT INTO event VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
	const struct event *e;
	sqlite3_stmt *stmt = NULL;
	int rc;

	result__start(res);
	rc = sqlite3_exec(r->store.db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_prepare_v2(r->store.db, sql, -1, &stmt, NULL);
	for (e = b->events; rc == SQLITE_OK && e < b->events + b->nr; e++) {
		sqlite3_bind_int64(stmt, 1, r->id);
		sqlite3_bind_int64(stmt, 2, (int64_t)e->t_ns);
		sqlite3_bind_int64(stmt, 3, e->cpu);
		sqlite3_bind_int64(stmt, 4, e->tid);
		sqlite3_bind_int64(stmt, 5, e->kind);
		sqlite3_bind_int64(stmt, 6, (int64_t)e->a);
		sqlite3_bind_int64(stmt, 7, (int64_t)e->b);
		sqlite3_bind_int64(stmt, 8, (int64_t)e->c);
		sqlite3_bind_int64(stmt, 9, (int64_t)e->d);
		rc = sqlite3_step(stmt) == SQLITE_DONE ? sqlite3_reset(stmt) : SQLITE_ERROR;
	}
	sqlite3_finalize(stmt);
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(r->store.db, "COMMIT", NULL, NULL, NULL);
	result__stop(res);
	return rc == SQLITE_OK ? 0 : -EIO;
}

/* As a run does it: out of the ring, and into the store at its end. Filling the ring is not its work. */
static int bench__record(struct bench *b, struct run *r, struct result *res)
{
	size_t at, part;
	int err = 0;

	for (at = 0; !err && at < b->nr; at += part) {
		part = b->nr - at < FILL_MAX ? b->nr - at : FILL_MAX;
		err = bench__fill_ring(b, b->events + at, part);
		if (err)
			break;
		result__start(res);
		err = probes__drain(b->probes, run__keep_event, r);
		err = err < 0 ? err : 0;
		result__stop(res);
	}
	if (!err && r->events.received != b->nr)
		err = -EPROTO;
	result__start(res);
	if (!err)
		err = store__begin(&r->store);
	if (!err)
		err = event_log__put_all(&r->events, &r->store, r->id);
	if (!err)
		err = store__commit(&r->store);
	result__stop(res);
	return err;
}

/* Every event that was made, as it was made, in its order: of rows that is their number's. */
static int bench__compare(const struct bench *b, enum way way)
{
	static const char * const sql[] = {
		[BARE] = "SELECT t_ns, cpu, tid, kind, a, b, c, d FROM event ORDER BY rowid",
		[ROWS] = "SELECT t_ns, cpu, tid, kind, a, b, c, d FROM event ORDER BY rowid",
		[PACKED] = "SELECT t_ns, cpu, tid, kind, a, b, c, d FROM events",
	};
	sqlite3_stmt *stmt = NULL;
	sqlite3 *db = NULL;
	size_t n = 0;

	if (sqlite3_open(b->db, &db) == SQLITE_OK && events_vtab__register(db) == SQLITE_OK &&
	    sqlite3_prepare_v2(db, sql[way], -1, &stmt, NULL) == SQLITE_OK)
		while (sqlite3_step(stmt) == SQLITE_ROW && n < b->nr) {
			const struct event e = {
				.t_ns = (uint64_t)sqlite3_column_int64(stmt, 0),
				.cpu = (uint32_t)sqlite3_column_int64(stmt, 1),
				.tid = (uint32_t)sqlite3_column_int64(stmt, 2),
				.kind = (uint32_t)sqlite3_column_int64(stmt, 3),
				.a = (uint64_t)sqlite3_column_int64(stmt, 4),
				.b = (uint64_t)sqlite3_column_int64(stmt, 5),
				.c = (uint64_t)sqlite3_column_int64(stmt, 6),
				.d = (uint64_t)sqlite3_column_int64(stmt, 7),
			};

			if (memcmp(&e, &b->events[n], sizeof(e)))
				break;
			n++;
		}
	if (n < b->nr || sqlite3_errcode(db) != SQLITE_DONE) {
		err__print("%s: event %zu of %zu is not what was put in: %s", b->db, n, b->nr,
			   sqlite3_errmsg(db));
		n = 0;
	}
	sqlite3_finalize(stmt);
	sqlite3_close(db);
	return n ? 0 : -EPROTO;
}

static double file_size(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : (double)st.st_size;
}

static int bench__one(struct bench *b, enum way way, size_t round)
{
	const struct run_start start = {
		.arm = "bench", .workload = "bench", .command = "bench", .tool_version = "bench",
	};
	struct run r = { .events.format = way == PACKED ? EVENTS_PACKED : EVENTS_ROWS };
	struct result *res = &b->result[way][round];
	double empty;
	int err;

	unlink(b->db);
	err = store__open(&r.store, b->db);
	if (!err)
		err = store__start_run(&r.store, &start, &r.id);
	empty = file_size(b->db);
	if (!err)
		err = way == BARE ? bench__bare(b, &r, res) : bench__record(b, &r, res);
	event_log__free(&r.events);
	if (r.store.db)
		store__close(&r.store);
	if (!err)
		err = bench__compare(b, way);
	res->wall_ns /= (double)b->nr;
	res->cpu_ns /= (double)b->nr;
	res->bytes = (file_size(b->db) - empty) / (double)b->nr;
	if (err)
		err__print("round %zu, way %d: %s", round, (int)way, strerror(-err));
	return err;
}

/* --- what came of it -------------------------------------------------------------------------- */

static int compare_doubles(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *v, size_t nr)
{
	qsort(v, nr, sizeof(*v), compare_doubles);
	return nr % 2 ? v[nr / 2] : (v[nr / 2 - 1] + v[nr / 2]) / 2;
}

enum field { WALL, CPU, BYTES };

static double result__get(const struct result *r, enum field field)
{
	return field == WALL ? r->wall_ns : field == CPU ? r->cpu_ns : r->bytes;
}

/* Median over the rounds of what an event costs one way, or by how much it costs more than another. */
static double bench__median(const struct bench *b, enum way way, int against, enum field field)
{
	double v[MAX_ROUNDS];
	size_t i;

	for (i = 0; i < b->rounds; i++) {
		v[i] = result__get(&b->result[way][i], field);
		if (against >= 0)
			v[i] = v[i] / result__get(&b->result[against][i], field);
	}
	return median(v, b->rounds);
}

/* A row of the ratios; 1 if the target is missed. */
static int print_ratio(const struct bench *b, const char *what, enum way more, enum way less,
		       enum field field, double target)
{
	double value = bench__median(b, more, (int)less, field);

	printf("| %s | %.2f ", what, value);
	if (field == CPU)
		printf("| %.2f ", bench__median(b, more, (int)less, WALL));
	else
		printf("| ");
	printf("| %.1f | %s |\n", target, value >= target ? "met" : "MISSED");
	return value < target;
}

static int bench__report(const struct bench *b)
{
	static const char * const names[] = {
		[BARE] = "bare INSERT loop", [ROWS] = "ring to rows", [PACKED] = "ring to packed",
	};
	int way, missed = 0;

	printf("%zu events, %zu rounds, medians\n\n", b->nr, b->rounds);
	printf("| | events/s of CPU time | by the clock | bytes/event |\n|---|---|---|---|\n");
	for (way = 0; way < NR_WAYS; way++)
		printf("| %s | %.0f | %.0f | %.1f |\n", names[way],
		       1e9 / bench__median(b, (enum way)way, -1, CPU),
		       1e9 / bench__median(b, (enum way)way, -1, WALL),
		       bench__median(b, (enum way)way, -1, BYTES));
	printf("\n| median of the rounds' ratios | measured | by the clock | at least | |\n"
	       "|---|---|---|---|---|\n");
	missed += print_ratio(b, "rows: rate, as part of the bare loop's", BARE, ROWS, CPU, MIN_OF_BARE);
	missed += print_ratio(b, "packed: rate, times that of rows", ROWS, PACKED, CPU, MIN_FASTER);
	missed += print_ratio(b, "packed: size, times smaller than rows", ROWS, PACKED, BYTES, MIN_SMALLER);
	printf("\nEach event was read back as it was made: %zu times %zu.\n", b->rounds * NR_WAYS, b->nr);
	return missed ? 1 : 0;
}

static int bench__run(struct bench *b)
{
	struct synthetic s;
	size_t round, i;
	int err;

	err = bench__open_ring(b);
	if (err)
		return err;
	b->events = malloc(b->nr * sizeof(*b->events));
	if (!b->events)
		return -ENOMEM;
	synthetic__begin(&s, 1);
	for (i = 0; i < b->nr; i++)
		synthetic__next(&s, &b->events[i]);
	for (round = 0; round < b->rounds; round++)
		for (i = 0; !err && i < NR_WAYS; i++)
			err = bench__one(b, (enum way)((round + (round % 2 ? NR_WAYS - 1 - i : i)) % NR_WAYS),
					 round);
	return err;
}

int main(int argc, char **argv)
{
	struct bench b = { .nr = 300000, .rounds = 7, .made = MAP_FAILED };
	int err;

	if (argc > 1)
		b.nr = strtoul(argv[1], NULL, 10);
	if (argc > 2)
		b.rounds = strtoul(argv[2], NULL, 10);
	if (b.nr < 1 || b.rounds < 1 || b.rounds > MAX_ROUNDS) {
		err__print("bench_store: usage: bench_store [EVENTS [ROUNDS]], up to %d rounds", MAX_ROUNDS);
		return EXIT_TOOL;
	}
	/* Beside the build: a real disk, where databases are. */
	snprintf(b.dir, sizeof(b.dir), MIGRC_BUILD "/bench-store-XXXXXX");
	if (!mkdtemp(b.dir)) {
		err__print("%s: %s; run it from the source tree", b.dir, strerror(errno));
		return EXIT_TOOL;
	}
	snprintf(b.db, sizeof(b.db), "%s/runs.db", b.dir);
	err = bench__run(&b);
	unlink(b.db);
	rmdir(b.dir);
	fill_bpf__destroy(b.fill);
	probes__free(b.probes);
	free(b.events);
	if (err)
		return err == -EPERM || err == -EACCES || err == -ENOENT ? EXIT_UNSUPPORTED : EXIT_TOOL;
	return bench__report(&b);
}
