// SPDX-License-Identifier: GPL-2.0-or-later
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/perfstat.h"
#include "collector/text.h"

#define NOT_COUNTED	"<not counted>"
#define NOT_SUPPORTED	"<not supported>"
/* Most fields of a -x line that matter: value, unit, event, time it ran, percent. */
#define MAX_FIELDS	5

const struct perf_event *perfstat__find(const struct perfstat *p, const char *name)
{
	size_t i;

	for (i = 0; i < p->nr; i++)
		if (!strcmp(p->event[i].name, name))
			return &p->event[i];
	return NULL;
}

void perfstat__free(struct perfstat *p)
{
	free(p->event);
	memset(p, 0, sizeof(*p));
}

static int perfstat__add(struct perfstat *p, const struct perf_event *event)
{
	struct perf_event *bigger;

	if (perfstat__find(p, event->name))
		return -EEXIST;
	bigger = realloc(p->event, (p->nr + 1) * sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	p->event = bigger;
	p->event[p->nr++] = *event;
	return 0;
}

/* The name is what is compared until somebody gives it another; false where it does not fit. */
static bool event__set_name(struct perf_event *e, const char *name)
{
	if (!*name || strlen(name) >= sizeof(e->name))
		return false;
	strcpy(e->name, name);
	text__make_printable(e->name);
	strcpy(e->event, e->name);
	return true;
}

/*
 * A number in whatever language: "85,647,229", "85.647.229", "0,61". A count has no decimals, so
 * each separator in it must part three digits; otherwise the last separator is the decimal point.
 * Some languages group by a narrow space, which is several bytes that are no ASCII.
 */
static bool grouped__parse(const char *s, bool decimals, double *out)
{
	const unsigned char *c = (const unsigned char *)s, *last = NULL;
	size_t n = 0, since = 0, nr_groups = 0;
	char digits[64], *end;

	for (; *c; c++)
		if (!isdigit(*c))
			last = c;
	for (c = (const unsigned char *)s; *c; c++) {
		if (n + 2 >= sizeof(digits) || !(isdigit(*c) || strchr(".,'", *c) || *c & 0x80))
			return false;
		if (isdigit(*c)) {
			digits[n++] = (char)*c;
			since++;
		} else if (decimals && c == last) {
			digits[n++] = '.';
			nr_groups = 0;
		} else if (since) {
			if (since > 3 || (nr_groups && since != 3))
				return false;
			nr_groups++;
			since = 0;
		}
	}
	digits[n] = '\0';
	*out = strtod(digits, &end);
	return n && !*end && isfinite(*out) && (!nr_groups || since == 3 || decimals);
}

/* --- text for people -------------------------------------------------------------------------- */

/* " Performance counter stats for 'true' (5 runs):" */
static bool plain__title(struct perfstat *p, const char *line)
{
	static const char title[] = "Performance counter stats for ";
	const char *from, *to;

	if (strncmp(line, title, strlen(title)))
		return false;
	from = line + strlen(title);
	to = strrchr(from, '\'');
	if (*from == '\'' && to > from && strncmp(from, "'system wide'", 13)) {
		snprintf(p->command, sizeof(p->command), "%.*s", (int)(to - from - 1), from + 1);
		text__make_printable(p->command);
	}
	from = to ? strchr(to, '(') : NULL;
	if (from && sscanf(from, "(%u runs)", &p->runs) == 1 && !p->runs)
		p->runs = 1;
	return true;
}

/* "(66.7%)" of an event that was not counted all the time; "( +- 0.5% )" is something else. */
static double plain__share(const char *line)
{
	const char *open;
	double share = 1, v;
	char *end;

	for (open = strchr(line, '('); open; open = strchr(open + 1, '(')) {
		if (!isdigit((unsigned char)open[1]))
			continue;
		v = strtod(open + 1, &end);
		if (*end == ',')	/* a decimal comma */
			v += strtod(end + 1, &end) / 100;
		if (!strncmp(end, "%)", 2) && v <= 100)
			share = v / 100;
	}
	return share;
}

/* "12.3 seconds time elapsed", also "12.3 +- 0.1 seconds time elapsed". */
static bool plain__time(struct perfstat *p, const char *value, const char *rest)
{
	static const char * const words[] = { "seconds time elapsed", "seconds user", "seconds sys" };
	double *const to[] = { &p->elapsed_s, &p->user_s, &p->system_s };
	const char *at;
	double v;
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		at = strstr(rest, words[i]);
		if (!at || (at != rest && strncmp(rest, "+-", 2)))
			continue;
		if (grouped__parse(value, true, &v))
			*to[i] = v;
		return true;
	}
	return false;
}

/* [UNIT] EVENT of a value; false if there is more, or less. */
static bool plain__words(char *rest, struct perf_event *e)
{
	char *save = NULL, *first = strtok_r(rest, " \t", &save);
	char *second = first ? strtok_r(NULL, " \t", &save) : NULL;

	if (!first || strtok_r(NULL, " \t", &save))
		return false;
	if (second && strlen(first) >= sizeof(e->unit))
		return false;
	if (second)
		strcpy(e->unit, first);
	text__make_printable(e->unit);
	return event__set_name(e, second ? second : first);
}

/* One line of the text for people; lines that say nothing to us are passed over. */
static int plain__line(struct perfstat *p, char *line)
{
	static const char * const none[] = { NOT_COUNTED, NOT_SUPPORTED };
	struct perf_event e = { .share = plain__share(line) };
	char *rest;
	size_t i;

	if (plain__title(p, line))
		return 0;
	line[strcspn(line, "#(")] = '\0';
	for (i = 0; i < 2; i++)
		if (!strncmp(line, none[i], strlen(none[i])))
			return plain__words(line + strlen(none[i]), &e) ? perfstat__add(p, &e) : 0;
	rest = line + strcspn(line, " \t");
	if (!isdigit((unsigned char)*line) || !*rest)
		return 0;
	*rest++ = '\0';
	rest += strspn(rest, " \t");
	if (plain__time(p, line, rest) || !plain__words(rest, &e))
		return 0;
	e.counted = true;
	if (!grouped__parse(line, e.unit[0], &e.value))
		return 0;
	return perfstat__add(p, &e);
}

/* --- lines with a separator (-x) -------------------------------------------------------------- */

/* Is it a line of -x? Its separator then, else 0. */
static char separated__find(const char *line)
{
	static const char * const none[] = { NOT_COUNTED, NOT_SUPPORTED };
	size_t n = strspn(line, "0123456789.,"), tabs = 0, i;
	const char *c;

	for (i = 0; i < 2; i++)
		if (!strncmp(line, none[i], strlen(none[i])))
			n = strlen(none[i]);
	if (!n || !line[n] || line[n] == ' ')
		return 0;
	for (c = line; *c; c++)
		tabs += *c == '\t';
	if (line[n] == '\t')
		return tabs >= 4 ? '\t' : 0;
	if (line[n] != ',' && line[n - 1] == ',')	/* "12,,event" and "0.58,msec,event" */
		return ',';
	return ispunct((unsigned char)line[n]) ? line[n] : 0;
}

/* The first fields of a line; an event's own commas stand between slashes. */
static size_t separated__split(char *line, char separator, char **field)
{
	bool inside = false;
	size_t n = 0;
	char *c;

	field[n++] = line;
	for (c = line; *c; c++) {
		if (*c == '/' && n == 3)
			inside = !inside;
		if (*c != separator || inside)
			continue;
		*c = '\0';
		if (n == MAX_FIELDS)
			break;
		field[n++] = c + 1;
	}
	return n;
}

/* value;unit;event;time it ran;percent;... */
static int separated__line(struct perfstat *p, char *line, char separator)
{
	struct perf_event e = { .share = NAN };
	char *field[MAX_FIELDS];
	size_t n = separated__split(line, separator, field);
	double percent;
	char *end;

	if (n < 3)
		return 0;
	/* By interval a time comes first, so that the value is where the unit should be. */
	if (isdigit((unsigned char)field[1][0]) || field[1][0] == '<')
		return -EEXIST;
	if (strlen(field[1]) >= sizeof(e.unit) || !event__set_name(&e, field[2]))
		return 0;
	strcpy(e.unit, field[1]);
	text__make_printable(e.unit);
	e.value = strtod(field[0], &end);
	e.counted = field[0][0] != '<' && end != field[0] && !*end && isfinite(e.value) &&
		    e.value >= 0;
	if (!e.counted && field[0][0] != '<')
		return 0;
	if (n == MAX_FIELDS) {
		percent = strtod(field[4], &end);
		if (end != field[4] && !*end && percent >= 0 && percent <= 100)
			e.share = percent / 100;
	}
	return perfstat__add(p, &e);
}

int perfstat__parse(char *text, struct perfstat *p)
{
	char *line, separator;
	int err = 0;

	memset(p, 0, sizeof(*p));
	p->elapsed_s = p->user_s = p->system_s = NAN;
	p->runs = 1;
	while (!err && (line = text__next_line(&text))) {
		line += strspn(line, " \t");
		line[strcspn(line, "\r")] = '\0';
		separator = separated__find(line);
		err = separator ? separated__line(p, line, separator) : plain__line(p, line);
	}
	return !err && !p->nr ? -EINVAL : err;
}
