/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the terminal is like, and a bar that says how far something is. */
#ifndef MIGRC_TERM_H
#define MIGRC_TERM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Columns to write for: what COLUMNS says, else the terminal's own width, else 80. Never less than
 * 40, which tables need, nor more than 400.
 */
size_t term__width(int fd);

/* Whether it may have colour: a terminal, NO_COLOR not set, TERM not dumb. */
bool term__colour(int fd);
/* A terminal that shows a line which is written over: not a log behind a serial line (TERM=dumb). */
bool term__redraws(int fd);

/*
 * A bar on stderr: nothing of it is seen unless that is a terminal and it takes longer than a
 * second. It stays on one line, which is wiped before anything else is printed: by
 * progress__hide() in between, by progress__end() in the end.
 */
struct progress {
	const char *what;	/* printable, a word or two */
	uint64_t total;		/* 0: not known, only the time is shown */
	uint64_t done;
	int64_t start_ns, drawn_ns;
	size_t drawn;		/* columns on the line now */
	bool on;
};

void progress__begin(struct progress *p, const char *what, uint64_t total);
/* So much of the total is done; cheap enough for every step. NULL is no bar. */
void progress__set(struct progress *p, uint64_t done);
/* No further than before, but time has passed: of the type of sqlite3_progress_handler(). */
#define PROGRESS__SQL_OPS	200000		/* how often: some ten times a second */
int progress__again(void *p);
void progress__hide(struct progress *p);
void progress__end(struct progress *p);

/* The line, without what makes it a line: for a width of so many columns, after ns. */
int progress__format(char *buf, size_t size, const struct progress *p, size_t width, int64_t ns);

#endif /* MIGRC_TERM_H */
