// SPDX-License-Identifier: GPL-2.0-or-later
#include "collector/term.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "collector/text.h"

#define NS_PER_S	1000000000LL
/* Not before, and not more often than, so many ns: a bar that flickers or is gone at once says nothing. */
#define FIRST_NS	NS_PER_S
#define EVERY_NS	(NS_PER_S / 5)
#define BAR_MAX		30

size_t term__width(int fd)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size = { 0 };
	long long n = 0;

	if (!columns || text__to_ll(columns, &n))
		n = 0;
	if (n <= 0 && !ioctl(fd, TIOCGWINSZ, &size))
		n = size.ws_col;
	if (n <= 0)
		n = 80;
	return (size_t)(n < 40 ? 40 : n > 400 ? 400 : n);
}

bool term__colour(int fd)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(fd) && !(no && *no) && term && strcmp(term, "dumb");
}

bool term__redraws(int fd)
{
	const char *term = getenv("TERM");

	return isatty(fd) && !(term && !strcmp(term, "dumb"));
}

/* --- the bar ---------------------------------------------------------------------------------- */

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

/* "75 s", "3 min", "2 h": as exact as an estimate is. */
static void duration(char *buf, size_t size, double s)
{
	if (s < 100)
		snprintf(buf, size, "%.0f s", s);
	else if (s < 100 * 60)
		snprintf(buf, size, "%.0f min", s / 60);
	else
		snprintf(buf, size, "%.0f h", s / 3600);
}

int progress__format(char *buf, size_t size, const struct progress *p, size_t width, int64_t ns)
{
	double s = (double)ns / NS_PER_S, part;
	char time[32], bar[BAR_MAX + 1];
	size_t cells, rest, full;

	if (!p->total || !p->done) {
		duration(time, sizeof(time), s);
		return snprintf(buf, size, "%.*s: %s", (int)width - 10, p->what, time);
	}
	part = p->done < p->total ? (double)p->done / (double)p->total : 1;
	duration(time, sizeof(time), s / part - s);
	rest = strlen(p->what) + sizeof(": [] 100 %, 99 min left");
	cells = rest + 4 > width ? 0 : width - rest > BAR_MAX ? BAR_MAX : width - rest;
	full = (size_t)(part * (double)cells);
	memset(bar, '#', full);
	memset(bar + full, '.', cells - full);
	bar[cells] = '\0';
	return snprintf(buf, size, "%.*s: %s%s%s%3.0f %%, %s left", (int)width - 26, p->what,
			cells ? "[" : "", bar, cells ? "] " : "", part * 100, time);
}

void progress__begin(struct progress *p, const char *what, uint64_t total)
{
	*p = (struct progress){
		.what = what, .total = total, .start_ns = now_ns(),
		.on = term__redraws(STDERR_FILENO),
	};
}

static void progress__draw(struct progress *p, int64_t now)
{
	size_t width = term__width(STDERR_FILENO) - 1;
	char line[512];
	int n = progress__format(line, sizeof(line), p, width, now - p->start_ns);

	/* Without escape sequences, so that it is right on every terminal. */
	fprintf(stderr, "\r%s%*s", line, (size_t)n < p->drawn ? (int)p->drawn - n : 0, "");
	fflush(stderr);
	p->drawn = (size_t)n > p->drawn ? (size_t)n : p->drawn;
	p->drawn_ns = now;
}

void progress__set(struct progress *p, uint64_t done)
{
	int64_t now;

	if (!p || !p->on)
		return;
	p->done = done;
	now = now_ns();
	if (now - p->start_ns >= FIRST_NS && now - p->drawn_ns >= EVERY_NS)
		progress__draw(p, now);
}

int progress__again(void *p)
{
	struct progress *bar = p;

	progress__set(bar, bar->done);
	return 0;
}

void progress__hide(struct progress *p)
{
	if (!p || !p->drawn)
		return;
	fprintf(stderr, "\r%*s\r", (int)p->drawn, "");
	fflush(stderr);
	p->drawn = 0;
	p->drawn_ns = 0;
}

void progress__end(struct progress *p)
{
	progress__hide(p);
	p->on = false;
}
