// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/policy.h"

#include <errno.h>
#include <ini.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/sbuf.h"

enum kind {
	KIND_SHARE,		/* "5 %", kept as 0.05 */
	KIND_COUNT,		/* whole, from 0 */
	KIND_NUMBER,
	KIND_BYTES,		/* "64 MiB" */
	KIND_WORD,		/* one word of a policy_words */
	KIND_WORDS,		/* some, between commas or spaces */
	KIND_STRING,
	KIND_CHOICE,		/* an enum, by place in choices */
	KIND_FLAG,		/* no or yes */
};

struct key {
	const char *section, *name;
	enum kind kind;
	size_t at;		/* in struct policy, an_rule or policy_rule */
	bool of_extra;		/* in the policy_rule */
	double low, high;	/* both excluded, of a number */
	const char *choices[4];
};

#define GATE(f)		.at = offsetof(struct policy, f)
#define RULE(f)		.at = offsetof(struct an_rule, f)
#define EXTRA(f)	.at = offsetof(struct policy_rule, f), .of_extra = true
#define ABOVE(x)	.low = (x), .high = INFINITY
#define BELOW_ZERO	(-1e-300)	/* so that 0 is in */

static const struct key keys[] = {
	{ "gate", "baseline", KIND_WORD, GATE(baseline) },
	{ "gate", "arms", KIND_WORDS, GATE(arms) },
	{ "gate", "workloads", KIND_WORDS, GATE(workloads) },
	{ "gate", "against-arm", KIND_WORD, GATE(against_arm) },
	{ "gate", "design", KIND_CHOICE, GATE(design), .choices = { "any", "paired" } },
	{ "gate", "inconclusive", KIND_CHOICE, GATE(inconclusive),
	  .choices = { "exit-3", "pass", "fail" } },
	{ "gate", "confidence", KIND_SHARE, GATE(an.conf), .low = 0.5, .high = 1 },
	{ "gate", "level", KIND_SHARE, GATE(an.level), .low = 0, .high = 0.5 },
	{ "gate", "power", KIND_SHARE, GATE(an.power), .low = 0.5, .high = 1 },
	{ "gate", "margin", KIND_SHARE, GATE(an.margin), .low = 0, .high = 1 },
	{ "gate", "min-effect", KIND_SHARE, GATE(an.min_effect), .low = BELOW_ZERO, .high = 1 },
	{ "limits", "lost-events", KIND_SHARE, GATE(lost_events), ABOVE(BELOW_ZERO) },
	{ "limits", "invalid-runs", KIND_COUNT, GATE(invalid_runs), ABOVE(BELOW_ZERO) },
	{ "limits", "min-runs", KIND_COUNT, GATE(min_runs), ABOVE(0) },
	{ "limits", "spread", KIND_SHARE, GATE(spread), ABOVE(0) },
	{ "limits", "spread-growth", KIND_NUMBER, GATE(spread_growth), ABOVE(1) },
	{ "limits", "held-memory", KIND_BYTES, GATE(held_memory), ABOVE(BELOW_ZERO) },
	{ "metric", "primary", KIND_FLAG, RULE(primary) },
	{ "metric", "better", KIND_CHOICE, RULE(better), .choices = { "", "lower", "higher" } },
	{ "metric", "margin", KIND_SHARE, RULE(margin), .low = 0, .high = 1 },
	{ "metric", "min-effect", KIND_SHARE, RULE(min_effect), .low = BELOW_ZERO, .high = 1 },
	{ "metric", "max", KIND_NUMBER, EXTRA(max), ABOVE(-INFINITY) },
	{ "metric", "min", KIND_NUMBER, EXTRA(min), ABOVE(-INFINITY) },
	{ "metric", "workload", KIND_STRING, RULE(workload) },
};

#define NR_KEYS		(sizeof(keys) / sizeof(keys[0]))
/* Enums are read and written as unsigned int. */
_Static_assert(sizeof(enum an_better) == sizeof(unsigned int), "enum");
_Static_assert(sizeof(enum policy_design) == sizeof(unsigned int), "enum");

struct reader {
	FILE *f;
	struct policy *p;
	int line;
	char *section;			/* at hand; NULL before the first */
	bool known;			/* it is */
	bool seen[2][NR_KEYS];		/* [0]: of the file; [1]: of the metric at hand */
	char *msg;			/* the first error */
	int msg_line;
};

static void complain(struct reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void complain(struct reader *r, const char *fmt, ...)
{
	char *what;
	va_list ap;

	if (r->msg)
		return;
	va_start(ap, fmt);
	what = sbuf__vformat(fmt, ap);
	va_end(ap);
	r->msg = sbuf__format("%s:%d: %s", r->p->path, r->line, what);
	r->msg_line = r->line;
	free(what);
}

/* --- the nearest word ------------------------------------------------------------------------- */

size_t policy__distance(const char *x, const char *y)
{
	size_t n = strlen(x), m = strlen(y), result;
	size_t *row = mem__calloc(m + 1, sizeof(*row));

	for (size_t j = 0; j <= m; j++)
		row[j] = j;
	for (size_t i = 1; i <= n; i++) {
		size_t corner = row[0];

		row[0] = i;
		for (size_t j = 1; j <= m; j++) {
			size_t change = corner + (x[i - 1] != y[j - 1]);

			corner = row[j];
			row[j] = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;
			if (change < row[j])
				row[j] = change;
		}
	}
	result = row[m];
	free(row);
	return result;
}

struct nearest {
	const char *word, *best;
	size_t distance;
};

static void nearest__try(struct nearest *n, const char *candidate)
{
	size_t d = policy__distance(n->word, candidate);

	if (!n->best || d < n->distance) {
		n->best = candidate;
		n->distance = d;
	}
}

static const char *nearest_key(const char *section, const char *word)
{
	struct nearest n = { .word = word };

	for (size_t i = 0; i < NR_KEYS; i++)
		if (!strcmp(keys[i].section, section))
			nearest__try(&n, keys[i].name);
	return n.best;
}

/* --- values ----------------------------------------------------------------------------------- */

/* The number at the start of s and what comes after it, without the spaces between; or NULL. */
static const char *number(const char *s, double *v)
{
	char *end;

	*v = strtod(s, &end);
	if (end == s || !isfinite(*v) || strpbrk(s, "xX"))
		return NULL;
	return end + strspn(end, " \t");
}

static bool take_number(struct reader *r, const struct key *k, const char *value, double *v)
{
	static const struct { const char *name; double by; } units[] = {
		{ "B", 1 }, { "KiB", 1024 }, { "MiB", 1048576 }, { "GiB", 1073741824 },
	};
	const char *rest = number(value, v);
	double by = k->kind == KIND_SHARE ? 0.01 : 1;
	bool good = rest && !strcmp(rest, k->kind == KIND_SHARE ? "%" : "");

	for (size_t i = 0; k->kind == KIND_BYTES && rest && i < 4; i++) {
		if (strcmp(rest, units[i].name))
			continue;
		by = units[i].by;
		good = true;
	}
	if (k->kind == KIND_BYTES && rest && !*rest && *v != 0)
		good = false;
	*v *= by;
	if (good && k->kind == KIND_COUNT && *v != floor(*v))
		good = false;
	if (good && *v > k->low && *v < k->high)
		return true;
	complain(r, "%s: \"%s\" is not %s%s; see `migrc gate --help`", k->name, value,
		 k->kind == KIND_SHARE ? "a percentage, as 5 %" :
		 k->kind == KIND_BYTES ? "an amount, as 64 MiB" :
		 k->kind == KIND_COUNT ? "a whole number" : "a number",
		 good ? ", or out of range" : "");
	return false;
}

static bool take_choice(struct reader *r, const struct key *k, const char *value,
			unsigned int *choice)
{
	struct nearest n = { .word = value };

	for (unsigned int i = 0; i < 4 && k->choices[i]; i++) {
		if (!*k->choices[i])
			continue;
		nearest__try(&n, k->choices[i]);
		if (n.distance)
			continue;
		*choice = i;
		return true;
	}
	complain(r, "%s: unknown value \"%s\"; the nearest known one is \"%s\"", k->name, value,
		 n.best);
	return false;
}

static bool take_flag(struct reader *r, const struct key *k, const char *value, bool *flag)
{
	*flag = !strcmp(value, "yes");
	if (*flag || !strcmp(value, "no"))
		return true;
	complain(r, "%s: \"%s\" is neither yes nor no", k->name, value);
	return false;
}

static bool take_words(struct reader *r, const struct key *k, const char *value,
		       struct policy_words *list)
{
	list->line = r->line;
	while (*(value += strspn(value, ", \t"))) {
		size_t n = strcspn(value, ", \t");

		list->word = mem__grow(list->word, list->nr);
		list->word[list->nr++] = sbuf__format("%.*s", (int)n, value);
		value += n;
	}
	if (list->nr && (k->kind == KIND_WORDS || list->nr == 1))
		return true;
	complain(r, "%s: give %s", k->name, k->kind == KIND_WORDS ? "one name or more" : "one name");
	return false;
}

static bool take(struct reader *r, const struct key *k, const char *value)
{
	size_t last = r->p->nr - 1;
	char *base = (char *)r->p;

	if (!strcmp(k->section, "metric"))
		base = k->of_extra ? (char *)&r->p->extra[last] : (char *)&r->p->rules[last];
	base += k->at;
	switch (k->kind) {
	case KIND_CHOICE:
		return take_choice(r, k, value, (unsigned int *)base);
	case KIND_FLAG:
		return take_flag(r, k, value, (bool *)base);
	case KIND_WORD:
	case KIND_WORDS:
		return take_words(r, k, value, (struct policy_words *)base);
	case KIND_STRING:
		*(char **)base = mem__strdup(value);
		return true;
	default:
		return take_number(r, k, value, (double *)base);
	}
}

/* --- sections and keys ------------------------------------------------------------------------ */

static bool is_metric(const struct reader *r)
{
	return !strncmp(r->section, "metric ", 7);
}

static void begin_metric(struct reader *r, const char *key)
{
	struct policy *p = r->p;

	for (size_t i = 0; i < p->nr; i++)
		if (!strcmp(p->rules[i].key, key))
			complain(r, "[metric %s] is there twice; the first is in line %d", key,
				 p->extra[i].line);
	p->rules = mem__grow(p->rules, p->nr);
	p->extra = mem__grow(p->extra, p->nr);
	/* NaN: of the policy as a whole, which may not be known yet. */
	p->rules[p->nr] = (struct an_rule){ .key = mem__strdup(key), .primary = true,
					    .margin = NAN, .min_effect = NAN };
	p->extra[p->nr++] = (struct policy_rule){ r->line, NAN, NAN };
	memset(r->seen[1], 0, sizeof(r->seen[1]));
}

/* inih cuts long names and tells nothing of a section without keys, so sections are read here. */
static void begin_section(struct reader *r, const char *line)
{
	static const char *const sections[] = { "gate", "limits", "metric" };
	const char *end = strrchr(line, ']');
	struct nearest n = { 0 };

	if (!end || end[1 + strspn(end + 1, " \t\r\n")]) {
		complain(r, "a section is a name in brackets and nothing after it");
		return;
	}
	free(r->section);
	r->section = sbuf__format("%.*s", (int)(end - line) - 1, line + 1);
	r->known = true;
	if (is_metric(r) && r->section[7]) {
		begin_metric(r, r->section + 7);
		return;
	}
	if (!strcmp(r->section, sections[0]) || !strcmp(r->section, sections[1]))
		return;
	r->known = false;
	n.word = r->section;
	for (size_t i = 0; i < 3; i++)
		nearest__try(&n, sections[i]);
	complain(r, "unknown section [%s]; the nearest known one is [%s]", r->section,
		 !strcmp(n.best, "metric") ? "metric KEY" : n.best);
}

/*
 * fgets() for inih that counts lines. Leading blanks go, by which inih would take a line for the
 * continuation of the one before; so does a section, which is read here.
 */
static char *next_line(char *str, int num, void *stream)
{
	static const char mark[] = "\xef\xbb\xbf";	/* UTF-8, as some editors begin a file */
	struct reader *r = stream;
	char *start = str;
	size_t len;

	/* Only the first complaint is kept. What is no text, as a device, may have no end. */
	if (r->msg)
		return NULL;
	/* So that the last zero in it is the one that fgets() put at the end. */
	memset(str, 1, (size_t)num);
	if (!fgets(str, num, r->f))
		return NULL;
	r->line++;
	len = strlen(str);
	if (memrchr(str, '\0', (size_t)num) != str + len)
		complain(r, "a zero byte; a policy is a text file");
	if (len + 1 == (size_t)num && str[len - 1] != '\n') {
		complain(r, "the line is longer than %d characters; make it shorter", num - 3);
		/* The rest is not read. */
		strcpy(str, "\n");
	}
	if (r->line == 1 && !strncmp(str, mark, 3))
		start += 3;
	start += strspn(start, " \t");
	if (*start == '[') {
		begin_section(r, start);
		strcpy(start, "\n");
	}
	memmove(str, start, strlen(start) + 1);
	return str;
}

static int handle(void *user, const char *section, const char *name, const char *value)
{
	struct reader *r = user;
	const char *of = r->section && r->known ? is_metric(r) ? "metric" : r->section : NULL;

	(void)section;
	if (!r->section)
		complain(r, "\"%s\" stands before the first section; put it into [gate]", name);
	for (size_t i = 0; of && i < NR_KEYS; i++) {
		bool *seen = &r->seen[!strcmp(of, "metric")][i];

		if (strcmp(keys[i].section, of) || strcmp(keys[i].name, name))
			continue;
		if (*seen)
			complain(r, "%s is given twice; keep one", name);
		else if (!*value)
			complain(r, "%s has no value", name);
		else
			take(r, &keys[i], value);
		*seen = true;
		return !r->msg;
	}
	if (of)
		complain(r, "unknown key \"%s\" in [%s]; the nearest known one is \"%s\"", name,
			 r->section, nearest_key(of, name));
	return 0;
}

/* --- the whole -------------------------------------------------------------------------------- */

static void set_defaults(struct policy *p, const char *path)
{
	p->path = mem__strdup(path);
	p->an = an_default_policy;
	p->an.joint = true;
	p->lost_events = p->invalid_runs = p->min_runs = p->spread = NAN;
	p->spread_growth = p->held_memory = NAN;
}

/* What a rule leaves open is the policy's; a rule must ask for something. */
static void finish(struct reader *r)
{
	struct policy *p = r->p;

	for (size_t i = 0; i < p->nr; i++) {
		const struct policy_rule *x = &p->extra[i];

		if (isnan(p->rules[i].margin))
			p->rules[i].margin = p->an.margin;
		if (isnan(p->rules[i].min_effect))
			p->rules[i].min_effect = p->an.min_effect;
		r->line = x->line;
		if (!p->rules[i].primary && isnan(x->max) && isnan(x->min))
			complain(r, "[metric %s] asks for nothing; give max or min, or primary = yes",
				 p->rules[i].key);
		if (x->min > x->max)
			complain(r, "[metric %s]: min is above max", p->rules[i].key);
	}
	if (!p->nr)
		complain(r, "no [metric KEY] section, so there is nothing to decide; name at least one");
	p->an.rules = p->rules;
	p->an.nr_rules = p->nr;
}

int policy__load(const char *path, struct policy **out, char **msg)
{
	struct policy *p = mem__calloc(1, sizeof(*p));
	struct reader r = { .p = p };
	int err, bad_line;

	*out = NULL;
	set_defaults(p, path);
	r.f = fopen(path, "re");
	if (!r.f) {
		err = -errno;
		*msg = sbuf__format("%s: %s; give a policy file with --policy", path,
				    strerror(-err));
		goto cleanup;
	}
	bad_line = ini_parse_stream(next_line, &r, handle, &r);
	if (ferror(r.f)) {
		err = -EIO;
		free(r.msg);
		*msg = sbuf__format("%s: cannot be read; is it a file?", path);
		goto cleanup;
	}
	/* Of what inih refused and what was refused here, the first. */
	if (bad_line > 0 && (!r.msg || bad_line < r.msg_line)) {
		free(r.msg);
		r.msg = NULL;
		r.line = bad_line;
		complain(&r, "neither a section, a key with its value, nor a comment; see `migrc gate --help`");
	}
	if (!r.msg)
		finish(&r);
	err = r.msg ? -EINVAL : 0;
	*msg = r.msg;
cleanup:
	if (r.f)
		fclose(r.f);
	free(r.section);
	if (err)
		policy__free(p);
	else
		*out = p;
	return err;
}

static void free_words(struct policy_words *w)
{
	for (size_t i = 0; i < w->nr; i++)
		free(w->word[i]);
	free(w->word);
}

void policy__free(struct policy *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->nr; i++) {
		free(p->rules[i].key);
		free(p->rules[i].workload);
	}
	free(p->rules);
	free(p->extra);
	free_words(&p->baseline);
	free_words(&p->arms);
	free_words(&p->workloads);
	free_words(&p->against_arm);
	free(p->path);
	free(p);
}

/* --- against the data ------------------------------------------------------------------------- */

const struct an_metric *policy__metric(const struct an_model *model, const char *key, char **msg)
{
	struct nearest n = { .word = key };

	for (size_t w = 0; w < model->nr; w++) {
		const struct an_metric *m = compare__metric(&model->compares[w], key);

		if (m)
			return m;
		for (size_t i = 0; i < model->compares[w].nr_metrics; i++)
			nearest__try(&n, model->compares[w].metrics[i].key);
	}
	*msg = n.best ? sbuf__format("unknown metric \"%s\"; the nearest known one is \"%s\"", key,
				     n.best)
		      : sbuf__format("unknown metric \"%s\"; the runs have none at all", key);
	return NULL;
}

static int check_rule(const struct policy *p, size_t rule, const struct an_model *model, char **msg)
{
	const struct an_rule *r = &p->rules[rule];
	bool found = false;
	char *what = NULL;

	if (!policy__metric(model, r->key, &what))
		goto bad;
	for (size_t w = 0; w < model->nr; w++) {
		const struct an_compare *c = &model->compares[w];
		const struct an_metric *m = compare__metric(c, r->key);

		if (r->workload && strcmp(r->workload, c->workload))
			continue;
		found = true;
		if (!m)
			what = sbuf__format("workload %s has no %s; say `workload = NAME` in [metric %s]",
					    c->workload, r->key, r->key);
		else if (r->primary && m->better == AN_NONE)
			what = sbuf__format("which is better of %s is not known; say `better = lower` or `better = higher`",
					    r->key);
		if (what)
			goto bad;
	}
	if (found)
		return 0;
	what = sbuf__format("[metric %s]: workload %s is not one of those that are gated", r->key,
			    r->workload);
bad:
	*msg = sbuf__format("%s:%d: %s", p->path, p->extra[rule].line, what);
	free(what);
	return -ENOENT;
}

int policy__check(const struct policy *p, const struct an_model *model, char **msg)
{
	int err = 0;

	for (size_t i = 0; i < p->nr && !err; i++)
		err = check_rule(p, i, model, msg);
	return err;
}
