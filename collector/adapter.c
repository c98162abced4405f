// SPDX-License-Identifier: GPL-2.0-or-later
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/adapter.h"
#include "collector/text.h"

/* --- rules ------------------------------------------------------------------------------------ */

static bool unit__is_time(const char *unit)
{
	static const char * const units[] = { "ns", "us", "ms", "s", "sec", "seconds", "min" };
	size_t i, len = strlen(unit);

	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(unit, units[i]))
			return true;
	return len > 2 && !strcmp(unit + len - 2, "/s");
}

/* Cut ":UNIT:BETTER" off the end; a pattern may have colons of its own. */
static void rule__cut_unit(struct metric_rule *rule, char *pattern)
{
	static const char * const words[] = { "higher", "lower", "none" };
	char *better = strrchr(pattern, ':'), *unit;
	size_t i;

	rule->better = "none";
	if (!better)
		return;
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(better + 1, words[i]))
			continue;
		*better = '\0';
		unit = strrchr(pattern, ':');
		*better = ':';
		if (!unit || strlen(unit + 1) - strlen(better) >= sizeof(rule->unit))
			return;
		*better = '\0';
		strcpy(rule->unit, unit + 1);
		*unit = '\0';
		rule->better = words[i];
		return;
	}
}

static int rule__parse(struct metric_rule *rule, const char *arg, char *why, size_t size)
{
	const char *equals = strchr(arg, '=');
	char *pattern;
	int rc;

	memset(rule, 0, sizeof(*rule));
	if (!equals || equals == arg || !equals[1] ||
	    (size_t)(equals - arg) >= sizeof(rule->name)) {
		snprintf(why, size, "not NAME=REGEX[:UNIT:higher|lower|none]");
		return -EINVAL;
	}
	memcpy(rule->name, arg, (size_t)(equals - arg));
	if (!text__is_name(rule->name)) {
		snprintf(why, size, "its NAME is not of [a-z0-9_./-]");
		return -EINVAL;
	}
	pattern = strdup(equals + 1);
	if (!pattern)
		return -ENOMEM;
	rule__cut_unit(rule, pattern);
	rule->is_time = unit__is_time(rule->unit);
	rc = regcomp(&rule->regex, pattern, REG_EXTENDED);
	if (rc)
		regerror(rc, &rule->regex, why, size);
	free(pattern);
	return rc ? -EINVAL : 0;
}

int metric_rules__add(struct metric_rules *r, const char *arg, char *why, size_t size)
{
	struct metric_rule *bigger, rule;
	size_t i;
	int err;

	err = rule__parse(&rule, arg, why, size);
	if (err)
		return err;
	for (i = 0; !err && i < r->nr; i++)
		if (!strcmp(r->rule[i].name, rule.name))
			err = -EEXIST;
	bigger = err ? NULL : realloc(r->rule, (r->nr + 1) * sizeof(*bigger));
	if (!bigger) {
		regfree(&rule.regex);
		snprintf(why, size, "its NAME is there already");
		return err ? err : -ENOMEM;
	}
	r->rule = bigger;
	r->rule[r->nr++] = rule;
	return 0;
}

void metric_rules__free(struct metric_rules *r)
{
	size_t i;

	for (i = 0; i < r->nr; i++)
		regfree(&r->rule[i].regex);
	free(r->rule);
	memset(r, 0, sizeof(*r));
}

/* "1,234.5" up to the first other character; false if that is no number. */
static bool number__read(const char *s, size_t len, double *out)
{
	char digits[64], *end;
	size_t i, n = 0;

	for (i = 0; i < len && n + 1 < sizeof(digits); i++)
		if (s[i] != ',' || i + 1 == len || !isdigit((unsigned char)s[i + 1]))
			digits[n++] = s[i];
	digits[n] = '\0';
	*out = strtod(digits, &end);
	return end != digits && isfinite(*out);
}

static void rule__match(const struct metric_rule *rule, const char *line, double *value, bool *found)
{
	regmatch_t match[2];
	const regmatch_t *m;
	double v;

	if (regexec(&rule->regex, line, 2, match, 0))
		return;
	m = rule->regex.re_nsub && match[1].rm_so >= 0 ? &match[1] : &match[0];
	if (!number__read(line + m->rm_so, (size_t)(m->rm_eo - m->rm_so), &v))
		return;
	*value = v;
	*found = true;
}

/* --- adapters --------------------------------------------------------------------------------- */

static const char * const kind_names[] = { "auto", "xsbench", "pmbench", "none" };

bool adapter_kind__find(const char *name, enum adapter_kind *kind)
{
	size_t i;

	for (i = 0; i < sizeof(kind_names) / sizeof(kind_names[0]); i++) {
		if (strcmp(kind_names[i], name))
			continue;
		*kind = (enum adapter_kind)i;
		return true;
	}
	return false;
}

const char *adapter_kind__name(enum adapter_kind kind)
{
	return kind_names[kind];
}

int adapter__init(struct adapter *a, enum adapter_kind wanted, const struct metric_rules *rules)
{
	memset(a, 0, sizeof(*a));
	a->wanted = wanted;
	pmbench__init(&a->pmbench);
	if (!rules || !rules->nr)
		return 0;
	a->rules = rules;
	a->value = calloc(rules->nr, sizeof(*a->value));
	a->found = calloc(rules->nr, sizeof(*a->found));
	return a->value && a->found ? 0 : -ENOMEM;
}

int adapter__line(struct adapter *a, const char *line)
{
	size_t i;
	int err = 0;

	if (a->rules && strlen(line) <= ADAPTER__LINE_MAX)
		for (i = 0; i < a->rules->nr; i++)
			rule__match(&a->rules->rule[i], line, &a->value[i], &a->found[i]);
	if (a->wanted == ADAPTER_AUTO || a->wanted == ADAPTER_XSBENCH)
		xsbench__line(&a->xsbench, line);
	if (a->wanted == ADAPTER_AUTO || a->wanted == ADAPTER_PMBENCH)
		err = pmbench__line(&a->pmbench, line);
	return err;
}

enum adapter_kind adapter__kind(const struct adapter *a, const struct results *r)
{
	if (a->wanted != ADAPTER_AUTO)
		return a->wanted;
	if (r->nr_metrics || r->nr_texts || r->nr_hists)
		return ADAPTER_NONE;
	if (xsbench__is_success(&a->xsbench))
		return ADAPTER_XSBENCH;
	return a->pmbench.seen ? ADAPTER_PMBENCH : ADAPTER_NONE;
}

bool adapter__is_success(const struct adapter *a, enum adapter_kind kind)
{
	return (kind == ADAPTER_XSBENCH && xsbench__is_success(&a->xsbench)) ||
	       (kind == ADAPTER_PMBENCH && pmbench__is_success(&a->pmbench));
}

int adapter__results(struct adapter *a, enum adapter_kind kind, struct results *r)
{
	size_t i;
	int err = 0;

	for (i = 0; !err && a->rules && i < a->rules->nr; i++) {
		const struct metric_rule *rule = &a->rules->rule[i];

		if (a->found[i])
			err = results__add_metric(r, rule->name, a->value[i], rule->unit,
						  rule->better, rule->is_time);
	}
	if (err)
		return err;
	if (kind == ADAPTER_XSBENCH)
		return xsbench__results(&a->xsbench, r);
	return kind == ADAPTER_PMBENCH ? pmbench__results(&a->pmbench, r) : 0;
}

void adapter__free(struct adapter *a)
{
	free(a->value);
	free(a->found);
	pmbench__free(&a->pmbench);
	memset(a, 0, sizeof(*a));
}
