// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/output.h"

int output__init(struct output *o, int to_fd, enum adapter_kind adapter,
		 const struct metric_rules *rules)
{
	memset(o, 0, sizeof(*o));
	o->to_fd = to_fd;
	return adapter__init(&o->adapter, adapter, rules);
}

static bool output__is_protocol(const struct output *o)
{
	return !strncmp(o->line, RESULTS__PREFIX, strlen(RESULTS__PREFIX));
}

/* Could the line so far be the start of a protocol line? */
static bool output__may_be_protocol(const struct output *o)
{
	size_t n = strlen(RESULTS__PREFIX);

	return !o->too_long && !strncmp(o->line, RESULTS__PREFIX, o->len < n ? o->len : n);
}

/* A reader of ours that has gone away does not stop the measurement: noted, reported at the end. */
static void output__pass(struct output *o)
{
	ssize_t n;

	while (!o->write_err && o->passed < o->len) {
		n = write(o->to_fd, o->line + o->passed, o->len - o->passed);
		if (n >= 0)
			o->passed += (size_t)n;
		else if (errno != EINTR)
			o->write_err = -errno;
	}
	o->passed = o->len;
}

/* A whole line is there, with its newline if it had one. */
static int output__end_line(struct output *o)
{
	size_t len = o->len;
	int kind = 0;

	if (len && o->line[len - 1] == '\n')
		len--;
	if (!o->too_long) {
		char end = o->line[len];

		o->line[len] = '\0';
		/* A result with a NUL in it is not what was meant, whatever stands before that. */
		kind = strlen(o->line) < len && output__is_protocol(o) ? -EINVAL :
		       results__parse_line(&o->results, o->line);
		if (kind == 0)
			kind = adapter__line(&o->adapter, o->line);
		if (kind < 0 && kind != -ENOMEM && !o->nr_bad++)
			strncat(o->first_bad, o->line, sizeof(o->first_bad) - 1);
		o->line[len] = end;
	}
	if (kind <= 0)
		output__pass(o);
	o->len = 0;
	o->passed = 0;
	o->too_long = false;
	return kind == -ENOMEM ? kind : 0;
}

/* Add to the line at hand; one that is too long goes on its way and starts anew, unparsed. */
static int output__append(struct output *o, const char *data, size_t len)
{
	size_t cap = o->cap ? o->cap : 4096;
	char *bigger;

	if (o->len + len > OUTPUT__LINE_MAX) {
		o->too_long = true;
		output__pass(o);
		o->len = 0;
		o->passed = 0;
	}
	while (cap < o->len + len + 1)
		cap *= 2;
	if (cap != o->cap) {
		bigger = realloc(o->line, cap);
		if (!bigger)
			return -ENOMEM;
		o->line = bigger;
		o->cap = cap;
	}
	memcpy(o->line + o->len, data, len);
	o->len += len;
	return 0;
}

int output__feed(struct output *o, const char *data, size_t len)
{
	const char *newline;
	size_t part;
	int err;

	while (len) {
		newline = memchr(data, '\n', len);
		part = newline ? (size_t)(newline - data) + 1 : len;
		err = output__append(o, data, part);
		if (!err && newline)
			err = output__end_line(o);
		else if (!err && !output__may_be_protocol(o))
			output__pass(o);
		if (err)
			return err;
		data += part;
		len -= part;
	}
	return 0;
}

int output__finish(struct output *o)
{
	return o->len ? output__end_line(o) : 0;
}

void output__free(struct output *o)
{
	free(o->line);
	adapter__free(&o->adapter);
	results__free(&o->results);
	memset(o, 0, sizeof(*o));
}
