// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collector/err.h"
#include "collector/event_log.h"
#include "collector/pack.h"

struct event_chunk {
	struct pack_info info;
	uint32_t events;
	void *data;
	size_t size;
};

void event_log__stored(struct event_log *log)
{
	size_t i;

	for (i = 0; i < log->nr_chunks; i++)
		free(log->chunks[i].data);
	log->next_seq += (int64_t)log->nr_chunks;
	log->nr_chunks = 0;
}

void event_log__free(struct event_log *log)
{
	event_log__stored(log);
	free(log->chunks);
	free(log->events);
	packer__free(log->packer);
	memset(log, 0, sizeof(*log));
}

/* The events so far become a chunk. */
static int event_log__pack(struct event_log *log)
{
	struct event_chunk chunk = { .events = (uint32_t)log->nr }, *bigger;
	const void *data;
	size_t cap;
	int err;

	if (!log->packer)
		log->packer = packer__new();
	if (!log->packer)
		return -ENOMEM;
	err = packer__pack(log->packer, log->events, log->nr, &data, &chunk.size, &chunk.info);
	if (err)
		return err;
	if (log->nr_chunks == log->cap_chunks) {
		cap = log->cap_chunks ? 2 * log->cap_chunks : 64;
		bigger = realloc(log->chunks, cap * sizeof(*bigger));
		if (!bigger)
			return -ENOMEM;
		log->chunks = bigger;
		log->cap_chunks = cap;
	}
	chunk.data = malloc(chunk.size);
	if (!chunk.data)
		return -ENOMEM;
	memcpy(chunk.data, data, chunk.size);
	log->chunks[log->nr_chunks++] = chunk;
	log->nr = 0;
	return 0;
}

static int event_log__grow(struct event_log *log)
{
	size_t cap = log->cap ? 2 * log->cap : PACK__MAX_EVENTS;
	struct event *bigger = realloc(log->events, cap * sizeof(*bigger));

	if (!bigger)
		return -ENOMEM;
	log->events = bigger;
	log->cap = cap;
	return 0;
}

int event_log__add(struct event_log *log, const struct event *e)
{
	int err = 0;

	if (log->format == EVENTS_PACKED && log->nr == PACK__MAX_EVENTS)
		err = event_log__pack(log);
	if (!err && log->nr == log->cap)
		err = event_log__grow(log);
	if (err)
		return err;
	log->received++;
	log->events[log->nr++] = *e;
	return 0;
}

int event_log__put_chunks(struct event_log *log, struct store *s, int64_t run_id)
{
	static const char sql[] = "INSERT INTO event_chunk VALUES (?, ?, ?, ?, ?, ?, ?)";
	const struct event_chunk *c;
	int64_t seq = log->next_seq;
	int err = 0;

	for (c = log->chunks; !err && c < log->chunks + log->nr_chunks; c++)
		err = store__put(s, sql, "iiiiiib", run_id, seq++, (int64_t)c->events,
				 c->info.first_ns, c->info.last_ns, (int64_t)c->info.kinds, c->data,
				 c->size);
	return err;
}

static int put_rows(struct event_log *log, struct store *s, int64_t run_id)
{
	static const char sql[] = "INSERT INTO event VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
	const struct event *e;
	int err = 0;

	for (e = log->events; !err && e < log->events + log->nr; e++)
		err = store__put(s, sql, "iiiiiiiii", run_id, (int64_t)e->t_ns, (int64_t)e->cpu,
				 (int64_t)e->tid, (int64_t)e->kind, (int64_t)e->a, (int64_t)e->b,
				 (int64_t)e->c, (int64_t)e->d);
	return err;
}

int event_log__put_all(struct event_log *log, struct store *s, int64_t run_id)
{
	int err;

	if (log->format == EVENTS_ROWS)
		return put_rows(log, s, run_id);
	err = log->nr ? event_log__pack(log) : 0;
	if (err) {
		err__print("raw events: %s; free some memory", strerror(-err));
		return err;
	}
	return event_log__put_chunks(log, s, run_id);
}
