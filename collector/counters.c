// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/counters.h"
#include "collector/text.h"

int snapshot__add(struct snapshot *s, const char *source, const char *name, int64_t value)
{
	struct snapshot_entry *e;
	size_t cap;

	if (strlen(source) >= sizeof(e->source) || strlen(name) >= sizeof(e->name))
		return -ENAMETOOLONG;
	if (s->nr == s->cap) {
		cap = s->cap ? 2 * s->cap : 256;
		e = realloc(s->entry, cap * sizeof(*e));
		if (!e)
			return -ENOMEM;
		s->entry = e;
		s->cap = cap;
	}
	e = &s->entry[s->nr++];
	strcpy(e->source, source);
	strcpy(e->name, name);
	e->value = value;
	return 0;
}

static int entry_cmp(const void *a, const void *b)
{
	const struct snapshot_entry *x = a, *y = b;
	int c = strcmp(x->source, y->source);

	return c ? c : strcmp(x->name, y->name);
}

void snapshot__sort(struct snapshot *s)
{
	if (s->nr)
		qsort(s->entry, s->nr, sizeof(*s->entry), entry_cmp);
}

const struct snapshot_entry *snapshot__find(const struct snapshot *s, const char *source,
					    const char *name)
{
	size_t i;

	for (i = 0; i < s->nr; i++)
		if (!strcmp(s->entry[i].name, name) && !strcmp(s->entry[i].source, source))
			return &s->entry[i];
	return NULL;
}

void snapshot__free(struct snapshot *s)
{
	free(s->entry);
	memset(s, 0, sizeof(*s));
}

int vmstat__parse(char *text, const char *source, struct snapshot *s)
{
	char *line, *value;
	long long v;
	int err;

	while ((line = text__next_line(&text))) {
		/* A copy that was sent by mail or pasted. */
		line[strcspn(line, "\r")] = '\0';
		value = strchr(line, ' ');
		if (!value)
			return -EINVAL;
		*value++ = '\0';
		err = text__to_ll(value, &v);
		if (!err)
			err = snapshot__add(s, source, line, v);
		if (err)
			return err;
	}
	return 0;
}

/* The columns of one row: its per-CPU counts, up to the description. */
static int interrupts__parse_row(const char *row, char *columns, struct snapshot *s)
{
	char name[72];
	long long total = 0, v;
	char *word, *save = NULL;
	int cpu = 0;
	int err;

	for (word = strtok_r(columns, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		if (text__to_ll(word, &v))
			break;
		snprintf(name, sizeof(name), "%s/cpu%d", row, cpu++);
		err = snapshot__add(s, "interrupts", name, v);
		if (err)
			return err;
		if (__builtin_add_overflow(total, v, &total))
			return -ERANGE;
	}
	return cpu ? snapshot__add(s, "interrupts", row, total) : -EINVAL;
}

/* Which of the rows that are kept: by its name on x86, elsewhere (IPI0, ...) by what it says. */
static const char *interrupts__row(const char *name, const char *rest)
{
	static const struct {
		const char *row, *says;
	} rows[] = {
		{ "TLB", NULL }, { "CAL", "Function call interrupts" },
		{ "RES", "Rescheduling interrupts" },
		/* What a wake-up from within a BPF program would be. */
		{ "IWI", "IRQ work interrupts" },
	};
	bool is_ipi = !strncmp(name, "IPI", 3);
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strcmp(name, rows[i].row) ||
		    (is_ipi && rows[i].says && strstr(rest, rows[i].says)))
			return rows[i].row;
	return NULL;
}

int interrupts__parse(char *text, struct snapshot *s)
{
	char *line, *colon;
	const char *row;
	int err;

	while ((line = text__next_line(&text))) {
		line += strspn(line, " ");
		colon = strchr(line, ':');
		if (!colon)
			continue;
		*colon = '\0';
		row = interrupts__row(line, colon + 1);
		if (!row)
			continue;
		err = interrupts__parse_row(row, colon + 1, s);
		if (err)
			return err;
	}
	return 0;
}

int psi__parse(char *text, const char *resource, struct snapshot *s)
{
	char *line, *total, *space;
	char name[72];
	long long v;
	int err;

	while ((line = text__next_line(&text))) {
		total = strstr(line, " total=");
		space = strchr(line, ' ');
		if (!total || text__to_ll(total + strlen(" total="), &v))
			return -EINVAL;
		*space = '\0';
		snprintf(name, sizeof(name), "%s.%s", resource, line);
		err = snapshot__add(s, "psi", name, v);
		if (err)
			return err;
	}
	return 0;
}

/* One line inside a zone: keep free, present and what the patch adds. No scanf(): a sampler does
 * this many times a second. */
static int zoneinfo__parse_line(const char *line, const char *zone, struct snapshot *s)
{
	static const struct {
		const char *start, *key;
	} wanted[] = {
		{ "pages free ", "free" }, { "present ", "present" },
		{ "nr_migrc_pending ", "migrc_pending" }, { "migrc_pending ", "migrc_pending" },
	};
	char name[72];
	long long v;
	size_t i, len;

	line += strspn(line, " ");
	for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		len = strlen(wanted[i].start);
		if (strncmp(line, wanted[i].start, len))
			continue;
		if (text__to_ll(line + len, &v))
			return -EINVAL;
		snprintf(name, sizeof(name), "%s/%s", zone, wanted[i].key);
		return snapshot__add(s, "zone", name, v);
	}
	return 0;
}

int zoneinfo__parse(char *text, struct snapshot *s)
{
	char zone[48] = "", type[24];
	unsigned int node;
	char *line;
	int err;

	while ((line = text__next_line(&text))) {
		if (*line == 'N' && sscanf(line, "Node %u, zone %23s", &node, type) == 2) {
			snprintf(zone, sizeof(zone), "node%u/%s", node, type);
			continue;
		}
		if (!zone[0])
			return -EINVAL;
		err = zoneinfo__parse_line(line, zone, s);
		if (err)
			return err;
	}
	return 0;
}

typedef int (*parse_fn)(char *text, const char *arg, struct snapshot *s);

/* Read path and have its text parsed, with arg; a file that is not there is no error. */
static int read_with(const char *path, parse_fn parse, const char *arg, struct snapshot *s)
{
	char *text;
	int err;

	err = text__read_file(path, &text, NULL);
	if (err)
		return err == -ENOENT || err == -EOPNOTSUPP ? 0 : err;
	err = parse(text, arg, s);
	free(text);
	return err;
}

static int parse_interrupts(char *text, const char *arg, struct snapshot *s)
{
	(void)arg;
	return interrupts__parse(text, s);
}

int counters__read(struct snapshot *s)
{
	static const char * const pressure[] = { "cpu", "memory", "io" };
	char path[96], source[16];
	unsigned int node;
	size_t i;
	int err;

	err = read_with("/proc/vmstat", vmstat__parse, "vmstat", s);
	if (!err)
		err = read_with("/proc/interrupts", parse_interrupts, NULL, s);
	for (i = 0; !err && i < sizeof(pressure) / sizeof(pressure[0]); i++) {
		snprintf(path, sizeof(path), "/proc/pressure/%s", pressure[i]);
		err = read_with(path, psi__parse, pressure[i], s);
	}
	for (node = 0; !err && node < 1024; node++) {
		snprintf(path, sizeof(path), "/sys/devices/system/node/node%u/numastat", node);
		if (access(path, R_OK)) {
			if (node >= 64)
				break;
			continue;	/* node numbers may have holes */
		}
		snprintf(source, sizeof(source), "node%u", node);
		err = read_with(path, vmstat__parse, source, s);
	}
	return err;
}

int counters__fold(void)
{
	char byte;
	int fd, err = 0;

	fd = open("/proc/sys/vm/stat_refresh", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (read(fd, &byte, 1) < 0)
		err = -errno;
	close(fd);
	return err;
}

int vmstat__read_one(const char *name, int64_t *value)
{
	const struct snapshot_entry *e;
	struct snapshot s = { 0 };
	int err;

	err = read_with("/proc/vmstat", vmstat__parse, "vmstat", &s);
	if (!err) {
		e = snapshot__find(&s, "vmstat", name);
		if (e)
			*value = e->value;
		else
			err = -ENOENT;
	}
	snapshot__free(&s);
	return err;
}
