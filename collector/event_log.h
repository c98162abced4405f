/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Raw events between the ring and the store. Packed ones are packed as they come, so that a long run
 * needs a few bytes of memory for each; plain ones wait as they are for the run's end.
 */
#ifndef MIGRC_EVENT_LOG_H
#define MIGRC_EVENT_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/events.h"
#include "collector/store.h"

enum event_format { EVENTS_PACKED, EVENTS_ROWS };

struct event_chunk;
struct packer;

struct event_log {
	enum event_format format;
	uint64_t received;
	struct event *events;		/* not packed yet */
	size_t nr, cap;
	struct packer *packer;
	struct event_chunk *chunks;	/* packed, not stored yet */
	size_t nr_chunks, cap_chunks;
	int64_t next_seq;		/* of the first of them */
};

void event_log__free(struct event_log *log);

/* Keep one. 0 or -ENOMEM. */
int event_log__add(struct event_log *log, const struct event *e);

/*
 * Within the caller's transaction: event_log__put_chunks() the chunks that are full,
 * event_log__put_all() what there is. They stay in the log until event_log__stored(), when the
 * transaction has been committed. 0 or a negative errno after an error was printed.
 */
int event_log__put_chunks(struct event_log *log, struct store *s, int64_t run_id);
int event_log__put_all(struct event_log *log, struct store *s, int64_t run_id);
void event_log__stored(struct event_log *log);

#endif /* MIGRC_EVENT_LOG_H */
