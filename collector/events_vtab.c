// SPDX-License-Identifier: GPL-2.0-or-later
#ifdef MIGRC_LOADABLE
#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT1
#else
#include <sqlite3.h>
#endif

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collector/events_vtab.h"
#include "collector/pack.h"
#include "collector/probe_specs.h"

#define NR(array) (sizeof(array) / sizeof((array)[0]))

enum { COL_RUN, COL_T_NS, COL_CPU, COL_TID, COL_KIND, COL_NAME, COL_A, COL_B, COL_C, COL_D };

static const char declaration[] =
	"CREATE TABLE x(run_id INTEGER, t_ns INTEGER, cpu INTEGER, tid INTEGER, kind INTEGER, "
	"name TEXT, a INTEGER, b INTEGER, c INTEGER, d INTEGER)";

/*
 * Constraints that spare unpacking: how they choose chunks and rows, by the number of their
 * parameter, once or twice. They may let through too much, for SQLite looks at each row again.
 */
static const struct term {
	int column;
	unsigned char op;
	const char *chunks, *rows;
} terms[] = {
	{ COL_RUN, SQLITE_INDEX_CONSTRAINT_EQ, "run_id = ?%d", "run_id = ?%d" },
	{ COL_T_NS, SQLITE_INDEX_CONSTRAINT_EQ, "first_ns <= ?%d AND last_ns >= ?%d", "t_ns = ?%d" },
	{ COL_T_NS, SQLITE_INDEX_CONSTRAINT_GE, "last_ns >= ?%d", "t_ns >= ?%d" },
	{ COL_T_NS, SQLITE_INDEX_CONSTRAINT_GT, "last_ns > ?%d", "t_ns > ?%d" },
	{ COL_T_NS, SQLITE_INDEX_CONSTRAINT_LE, "first_ns <= ?%d", "t_ns <= ?%d" },
	{ COL_T_NS, SQLITE_INDEX_CONSTRAINT_LT, "first_ns < ?%d", "t_ns < ?%d" },
	{ COL_KIND, SQLITE_INDEX_CONSTRAINT_EQ, "kinds & ?%d", "kind = ?%d" },
	{ COL_NAME, SQLITE_INDEX_CONSTRAINT_EQ, "kinds & ?%d", NULL },
};

/* What a plan of ours brings down from the whole table; the run is the smallest part. */
#define COST_ALL	1e7

struct table {
	sqlite3_vtab base;
	sqlite3 *db;
};

struct cursor {
	sqlite3_vtab_cursor base;
	sqlite3_stmt *chunks, *rows;	/* rows: once there is no further chunk */
	struct unpacker *unpacker;
	struct event *events;		/* of the chunk at hand */
	size_t nr, at;
	int64_t run_id, rowid;
	uint64_t kinds;			/* those that are asked for: pack__kind_bit() */
	unsigned int columns;		/* that are used: bits of enum pack_column */
	bool eof;
};

static __thread unsigned long unpacked;

unsigned long events_vtab__unpacked(void)
{
	return unpacked;
}

static int table__connect(sqlite3 *db, void *aux, int argc, const char *const *argv,
			  sqlite3_vtab **out, char **error)
{
	struct table *t;
	int rc;

	(void)aux;
	(void)argc;
	(void)argv;
	(void)error;
	rc = sqlite3_declare_vtab(db, declaration);
	if (rc != SQLITE_OK)
		return rc;
	t = sqlite3_malloc(sizeof(*t));
	if (!t)
		return SQLITE_NOMEM;
	memset(t, 0, sizeof(*t));
	t->db = db;
	*out = &t->base;
	return SQLITE_OK;
}

static int table__disconnect(sqlite3_vtab *vtab)
{
	sqlite3_free(vtab);
	return SQLITE_OK;
}

static int table__error(struct table *t, int rc, char *text)
{
	sqlite3_free(t->base.zErrMsg);
	t->base.zErrMsg = text;
	return text ? rc : SQLITE_NOMEM;
}

/* --- planning --------------------------------------------------------------------------------- */

/* A plan's number has a bit for each of the terms it uses, and beyond these one for each column. */
#define COLUMNS_SHIFT	NR(terms)

static unsigned int columns_used(uint64_t used)
{
	static const unsigned char pack_column[] = {
		[COL_T_NS] = PACK_T_NS, [COL_CPU] = PACK_CPU, [COL_TID] = PACK_TID,
		[COL_KIND] = PACK_KIND, [COL_NAME] = PACK_KIND, [COL_A] = PACK_A, [COL_B] = PACK_B,
		[COL_C] = PACK_C, [COL_D] = PACK_D,
	};
	unsigned int bits = 0, col;

	for (col = COL_T_NS; col < NR(pack_column); col++)
		if (used & 1U << col)
			bits |= 1U << pack_column[col];
	return bits;
}

static int table__best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	int i, nr = 0;
	size_t term;

	(void)vtab;
	info->estimatedCost = COST_ALL;
	/* In the order of the terms: so are the arguments, which are bound by number. */
	for (term = 0; term < NR(terms); term++) {
		for (i = 0; i < info->nConstraint; i++) {
			const struct sqlite3_index_constraint *c = &info->aConstraint[i];

			if (!c->usable || c->iColumn != terms[term].column ||
			    c->op != terms[term].op ||
			    (c->iColumn == COL_NAME &&
			     strcmp(sqlite3_vtab_collation(info, i), "BINARY")))
				continue;
			info->aConstraintUsage[i].argvIndex = ++nr;
			info->idxNum |= 1 << term;
			info->estimatedCost /= terms[term].column == COL_RUN ? 8 : 2;
			break;
		}
	}
	info->idxNum |= (int)(columns_used(info->colUsed) << COLUMNS_SHIFT);
	info->estimatedRows = (sqlite3_int64)info->estimatedCost;
	return SQLITE_OK;
}

/* --- reading ---------------------------------------------------------------------------------- */

static void cursor__end(struct cursor *c)
{
	sqlite3_finalize(c->chunks);
	sqlite3_finalize(c->rows);
	c->chunks = c->rows = NULL;
	c->nr = c->at = 0;
}

static int cursor__open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **out)
{
	struct cursor *c = sqlite3_malloc(sizeof(*c));

	(void)vtab;
	if (!c)
		return SQLITE_NOMEM;
	memset(c, 0, sizeof(*c));
	*out = &c->base;
	return SQLITE_OK;
}

static int cursor__close(sqlite3_vtab_cursor *base)
{
	struct cursor *c = (struct cursor *)base;

	cursor__end(c);
	unpacker__free(c->unpacker);
	free(c->events);
	sqlite3_free(c);
	return SQLITE_OK;
}

static struct table *cursor__table(const struct cursor *c)
{
	return (struct table *)c->base.pVtab;
}

/* The kinds that equal what was asked for: by number, or by name. All of them if it is neither. */
static uint64_t kinds_of(const struct term *term, sqlite3_value *value)
{
	uint64_t kind;

	if (term->column == COL_KIND) {
		if (sqlite3_value_type(value) != SQLITE_INTEGER)
			return INT64_MAX;
		return sqlite3_value_int64(value) < 0 ? 0 :
		       pack__kind_bit((uint64_t)sqlite3_value_int64(value));
	}
	if (sqlite3_value_type(value) != SQLITE_TEXT)
		return INT64_MAX;
	for (kind = 0; kind < NR_PROBES; kind++)
		if (!strcmp(probe_specs[kind].name, (const char *)sqlite3_value_text(value)))
			return pack__kind_bit(kind);
	return 0;
}

/* SELECT WHERE the terms of the plan; NULL without memory. */
static char *make_sql(bool of_chunks, int plan)
{
	sqlite3_str *sql = sqlite3_str_new(NULL);
	const char *condition, *word = " WHERE ";
	size_t term;
	int nr = 0;

	sqlite3_str_appendall(sql, of_chunks ?
		"SELECT run_id, seq, events, data FROM main.event_chunk" :
		"SELECT run_id, t_ns, cpu, tid, kind, a, b, c, d FROM main.event");
	for (term = 0; term < NR(terms); term++) {
		if (!(plan & 1 << term))
			continue;
		nr++;
		condition = of_chunks ? terms[term].chunks : terms[term].rows;
		if (!condition)
			continue;
		sqlite3_str_appendall(sql, word);
		sqlite3_str_appendf(sql, condition, nr, nr);
		word = " AND ";
	}
	sqlite3_str_appendall(sql, of_chunks ? " ORDER BY run_id, seq" : "");
	return sqlite3_str_finish(sql);
}

static int bind(sqlite3_stmt *stmt, bool of_chunks, int plan, sqlite3_value **argv)
{
	int i = 0, nr = sqlite3_bind_parameter_count(stmt), rc = SQLITE_OK;
	size_t term;

	for (term = 0; rc == SQLITE_OK && term < NR(terms); term++) {
		if (!(plan & 1 << term))
			continue;
		if (++i > nr)
			break;
		if (of_chunks && (terms[term].column == COL_KIND || terms[term].column == COL_NAME))
			rc = sqlite3_bind_int64(stmt, i,
						(sqlite3_int64)kinds_of(&terms[term], argv[i - 1]));
		else
			rc = sqlite3_bind_value(stmt, i, argv[i - 1]);
	}
	return rc;
}

/* NULL in *stmt, and no error, if the database has no such table: it is of an older schema. */
static int prepare(struct table *t, bool of_chunks, int plan, sqlite3_value **argv,
		   sqlite3_stmt **stmt)
{
	const char *table = of_chunks ? "event_chunk" : "event";
	char *sql;
	int rc;

	if (sqlite3_table_column_metadata(t->db, "main", table, NULL, NULL, NULL, NULL, NULL, NULL))
		return SQLITE_OK;
	sql = make_sql(of_chunks, plan);
	if (!sql)
		return SQLITE_NOMEM;
	rc = sqlite3_prepare_v2(t->db, sql, -1, stmt, NULL);
	sqlite3_free(sql);
	if (rc == SQLITE_OK)
		rc = bind(*stmt, of_chunks, plan, argv);
	return rc == SQLITE_OK ? rc : table__error(t, rc, sqlite3_mprintf("%s", sqlite3_errmsg(t->db)));
}

/* Unpack the chunk that the statement is at. */
static int cursor__unpack(struct cursor *c)
{
	struct table *t = cursor__table(c);
	int64_t seq = sqlite3_column_int64(c->chunks, 1), nr = sqlite3_column_int64(c->chunks, 2);
	const char *why;

	if (!c->unpacker)
		c->unpacker = unpacker__new();
	if (!c->events)
		c->events = calloc(PACK__MAX_EVENTS, sizeof(*c->events));
	if (!c->unpacker || !c->events)
		return SQLITE_NOMEM;
	unpacked++;
	c->run_id = sqlite3_column_int64(c->chunks, 0);
	if (unpacker__unpack(c->unpacker, sqlite3_column_blob(c->chunks, 3),
			     (size_t)sqlite3_column_bytes(c->chunks, 3), nr < 0 ? 0 : (size_t)nr,
			     c->columns, c->events, &why))
		return table__error(t, SQLITE_CORRUPT_VTAB, sqlite3_mprintf(
			"events: run %lld, chunk %lld: damaged: %s; leave it out by its run_id or its time",
			(long long)c->run_id, (long long)seq, why));
	c->nr = (size_t)nr;
	c->at = 0;
	return SQLITE_OK;
}

/* On to the next event that may be wanted, from c->at on. */
static int cursor__settle(struct cursor *c)
{
	int rc;

	for (;;) {
		for (; c->at < c->nr; c->at++)
			if (c->kinds & pack__kind_bit(c->events[c->at].kind))
				return SQLITE_OK;
		rc = c->chunks ? sqlite3_step(c->chunks) : SQLITE_DONE;
		if (rc == SQLITE_DONE)
			break;
		if (rc != SQLITE_ROW)
			return table__error(cursor__table(c), rc, sqlite3_mprintf("%s",
					    sqlite3_errmsg(cursor__table(c)->db)));
		rc = cursor__unpack(c);
		if (rc != SQLITE_OK)
			return rc;
	}
	sqlite3_finalize(c->chunks);
	c->chunks = NULL;
	c->nr = c->at = 0;
	rc = c->rows ? sqlite3_step(c->rows) : SQLITE_DONE;
	c->eof = rc != SQLITE_ROW;
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK :
	       table__error(cursor__table(c), rc,
			    sqlite3_mprintf("%s", sqlite3_errmsg(cursor__table(c)->db)));
}

static int cursor__filter(sqlite3_vtab_cursor *base, int plan, const char *text, int argc,
			  sqlite3_value **argv)
{
	struct cursor *c = (struct cursor *)base;
	struct table *t = cursor__table(c);
	size_t term;
	int rc, i;

	(void)text;
	(void)argc;
	cursor__end(c);
	c->rowid = 1;
	c->eof = false;
	c->kinds = INT64_MAX;
	c->columns = (unsigned int)plan >> COLUMNS_SHIFT;
	for (term = 0, i = 0; term < NR(terms); term++) {
		if (!(plan & 1 << term))
			continue;
		if (terms[term].column == COL_KIND || terms[term].column == COL_NAME)
			c->kinds &= kinds_of(&terms[term], argv[i]);
		i++;
	}
	rc = prepare(t, true, plan, argv, &c->chunks);
	if (rc == SQLITE_OK)
		rc = prepare(t, false, plan, argv, &c->rows);
	return rc == SQLITE_OK ? cursor__settle(c) : rc;
}

static int cursor__next(sqlite3_vtab_cursor *base)
{
	struct cursor *c = (struct cursor *)base;

	c->rowid++;
	c->at++;
	return cursor__settle(c);
}

static int cursor__eof(sqlite3_vtab_cursor *base)
{
	return ((struct cursor *)base)->eof;
}

static int cursor__rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid)
{
	*rowid = ((struct cursor *)base)->rowid;
	return SQLITE_OK;
}

static void result__name(sqlite3_context *ctx, uint64_t kind)
{
	if (kind < NR_PROBES)
		sqlite3_result_text(ctx, probe_specs[kind].name, -1, SQLITE_STATIC);
	else
		sqlite3_result_null(ctx);
}

static void result__packed(sqlite3_context *ctx, const struct cursor *c, int column)
{
	const struct event *e = &c->events[c->at];
	const int64_t values[] = {
		[COL_RUN] = c->run_id, [COL_T_NS] = (int64_t)e->t_ns, [COL_CPU] = e->cpu,
		[COL_TID] = e->tid, [COL_KIND] = e->kind, [COL_A] = (int64_t)e->a,
		[COL_B] = (int64_t)e->b, [COL_C] = (int64_t)e->c, [COL_D] = (int64_t)e->d,
	};

	if (column == COL_NAME)
		result__name(ctx, e->kind);
	else
		sqlite3_result_int64(ctx, values[column]);
}

static int cursor__column(sqlite3_vtab_cursor *base, sqlite3_context *ctx, int column)
{
	const struct cursor *c = (const struct cursor *)base;

	if (c->at < c->nr)
		result__packed(ctx, c, column);
	else if (column == COL_NAME)
		result__name(ctx, (uint64_t)sqlite3_column_int64(c->rows, COL_KIND));
	else
		sqlite3_result_value(ctx, sqlite3_column_value(c->rows, column < COL_NAME ? column :
							       column - 1));
	return SQLITE_OK;
}

int events_vtab__register(sqlite3 *db)
{
	/* No xCreate: the table is there wherever the module is, and nowhere else. */
	static const sqlite3_module module = {
		.iVersion = 1, .xConnect = table__connect, .xBestIndex = table__best_index,
		.xDisconnect = table__disconnect, .xOpen = cursor__open, .xClose = cursor__close,
		.xFilter = cursor__filter, .xNext = cursor__next, .xEof = cursor__eof,
		.xColumn = cursor__column, .xRowid = cursor__rowid,
	};

	return sqlite3_create_module_v2(db, "events", &module, NULL, NULL);
}

#ifdef MIGRC_LOADABLE
/* The name by which SQLite looks for it in migrc_events.so. */
__attribute__((visibility("default")))
int sqlite3_migrcevents_init(sqlite3 *db, char **error, const sqlite3_api_routines *api);

int sqlite3_migrcevents_init(sqlite3 *db, char **error, const sqlite3_api_routines *api)
{
	(void)error;
	SQLITE_EXTENSION_INIT2(api);
	return events_vtab__register(db);
}
#endif
