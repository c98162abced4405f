// SPDX-License-Identifier: GPL-2.0-or-later
/* A decision as text, JUnit XML, JSON and Markdown. Whatever comes from a database is escaped. */
#include <stdlib.h>
#include <string.h>

#include "analysis/doc.h"
#include "analysis/gate.h"
#include "analysis/json.h"
#include "analysis/words.h"

/* Call f with each warning of the model. */
static void each_warning(const struct gate *g, void (*f)(void *to, const char *workload,
							  const char *text), void *to)
{
	for (size_t w = 0; g->model && w < g->model->nr; w++)
		for (size_t i = 0; i < g->model->compares[w].nr_warnings; i++)
			f(to, g->model->compares[w].workload, g->model->compares[w].warnings[i]);
}

/* --- text: one line each; on a terminal wrapped under its first word ---------------------------- */

#define WORD_COLUMNS	14

static enum doc_tone state_tone(enum gate_state state)
{
	switch (state) {
	case GATE_GOOD:
		return DOC_GOOD;
	case GATE_INCONCLUSIVE:
		return DOC_WARN;
	default:
		return DOC_BAD;
	}
}

static void text_warning(void *to, const char *workload, const char *text)
{
	doc__hang(to, DOC_WARN, WORD_COLUMNS, "%-12s  %s: %s", "warning", workload, text);
}

void gate__text(const struct gate *g, struct doc *d)
{
	char *summary = gate__summary(g);

	each_warning(g, text_warning, d);
	for (size_t i = 0; i < g->nr; i++) {
		const struct gate_line *line = &g->line[i];

		doc__hang(d, state_tone(line->state), WORD_COLUMNS, "%-12s  %s%s%s%s%s: %s",
			  gate__state_name(line->state), line->workload, *line->workload ? " " : "",
			  line->arm, *line->arm ? " " : "", line->what, line->says);
	}
	doc__hang(d, state_tone(g->state), WORD_COLUMNS, "gate: %s", summary);
	free(summary);
}

/* --- JUnit ------------------------------------------------------------------------------------ */

/* XML allows of the characters below a space only these three; HTML's escapes are XML's too. */
static void attribute(struct sbuf *out, const char *name, const char *value)
{
	sbuf__addf(out, " %s=\"", name);
	sbuf__add_html(out, value);
	sbuf__add(out, "\"");
}

/* As CI systems read it: failed is worse, an error is that it cannot be told, skipped undecided. */
static const char *element(const struct gate *g, const struct gate_line *line)
{
	switch (line->state) {
	case GATE_REGRESSION:
		return "failure";
	case GATE_INVALID:
	case GATE_ERROR:
		return "error";
	case GATE_INCONCLUSIVE:
		/* If that fails the job, there must be something in the file that has failed. */
		return g->state == GATE_INCONCLUSIVE && g->exit == 1 ? "failure" : "skipped";
	default:
		return NULL;
	}
}

static size_t count(const struct gate *g, const char *name)
{
	size_t n = 0;

	for (size_t i = 0; i < g->nr; i++) {
		const char *e = element(g, &g->line[i]);

		n += e && e[0] == name[0];
	}
	return n;
}

static void testcase(const struct gate *g, const struct gate_line *line, struct sbuf *out)
{
	char *of = sbuf__format("%s%s%s", line->workload, *line->arm ? "." : "", line->arm);
	const char *kind = element(g, line);

	sbuf__add(out, "    <testcase");
	attribute(out, "classname", *of ? of : "migrc");
	attribute(out, "name", line->what);
	sbuf__add(out, ">");
	if (kind) {
		sbuf__addf(out, "<%s", kind);
		attribute(out, "message", line->says);
		sbuf__add(out, "/>");
	} else {
		sbuf__add(out, "<system-out>");
		sbuf__add_html(out, line->says);
		sbuf__add(out, "</system-out>");
	}
	sbuf__add(out, "</testcase>\n");
	free(of);
}

/* Two characters are good UTF-8 and yet not allowed in XML: U+FFFE and U+FFFF become U+FFFD. */
static void replace_noncharacters(char *s)
{
	for (; (s = strstr(s, "\xef\xbf")); s += 3)
		if ((unsigned char)s[2] > 0xbd)
			s[2] = (char)0xbd;
}

void gate__junit(const struct gate *g, struct sbuf *out)
{
	char *numbers = sbuf__format(" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\"",
				     g->nr, count(g, "failure"), count(g, "error"),
				     count(g, "skipped"));

	sbuf__addf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites%s>\n", numbers);
	sbuf__addf(out, "  <testsuite name=\"migrc gate\"%s>\n", numbers);
	for (size_t i = 0; i < g->nr; i++)
		testcase(g, &g->line[i], out);
	sbuf__add(out, "  </testsuite>\n</testsuites>\n");
	replace_noncharacters(out->s);
	free(numbers);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void json_effect(struct json *j, const struct gate_line *line)
{
	const struct an_effect *e = line->effect;

	json__str(j, "unit", line->metric->unit);
	json__str(j, "verdict", verdict__name(e->verdict));
	json__str(j, "kind", !e->has_est ? NULL : e->is_ratio ? "ratio" : "difference");
	json__bool(j, "paired", e->paired);
	json__int(j, "n_baseline", (int64_t)e->n_base);
	json__int(j, "n_arm", (int64_t)e->n_arm);
	json__num(j, "estimate", e->est);
	json__num(j, "low", e->lo);
	json__num(j, "high", e->hi);
	json__num(j, "p_adjusted", e->p_adjusted);
	json__num(j, "margin", line->metric->margin);
	json__num(j, "min_effect", line->metric->min_effect);
	json__num(j, "smallest_detectable", e->detectable);
	json__int(j, "needed", e->needed ? (int64_t)e->needed : RD_NULL);
}

static void json_warning(void *to, const char *workload, const char *text)
{
	struct json *j = to;

	json__begin(j, NULL, '{');
	json__str(j, "workload", workload);
	json__str(j, "text", text);
	json__end(j, '}');
}

void gate__json(const struct gate *g, struct sbuf *out)
{
	struct json j = { .out = out };

	json__begin(&j, NULL, '{');
	json__int(&j, "format", 1);
	json__str(&j, "tool_version", MIGRC_VERSION);
	json__str(&j, "policy", g->policy);
	json__str(&j, "result", gate__state_name(g->state));
	json__int(&j, "exit", g->exit);
	json__int(&j, "tests_in_family", (int64_t)g->tests);
	json__begin(&j, "lines", '[');
	for (size_t i = 0; i < g->nr; i++) {
		const struct gate_line *line = &g->line[i];

		json__begin(&j, NULL, '{');
		json__str(&j, "result", gate__state_name(line->state));
		json__str(&j, "workload", *line->workload ? line->workload : NULL);
		json__str(&j, "arm", *line->arm ? line->arm : NULL);
		json__str(&j, "what", line->what);
		json__str(&j, "says", line->says);
		if (line->effect)
			json_effect(&j, line);
		json__end(&j, '}');
	}
	json__end(&j, ']');
	json__begin(&j, "warnings", '[');
	each_warning(g, json_warning, &j);
	json__end(&j, ']');
	json__end(&j, '}');
	sbuf__add(out, "\n");
}

/* --- Markdown --------------------------------------------------------------------------------- */

static void md_warning(void *to, const char *workload, const char *text)
{
	doc__item(to, "%s: %s", workload, text);
}

static void md_row(struct grid *t, const struct gate_line *line)
{
	struct words_effect w = { 0 };

	grid__row(t, line->state == GATE_GOOD ? DOC_PLAIN : DOC_BAD);
	grid__cell(t, "%s", gate__state_name(line->state));
	grid__cell(t, "%s", line->workload);
	grid__cell(t, "%s", line->arm);
	grid__cell(t, "%s", line->what);
	if (!line->effect) {
		grid__cell(t, "%s", "");
		grid__cell(t, "%s", "");
		grid__cell(t, "%s", line->says);
		return;
	}
	words__effect(line->metric, (size_t)(line->effect - line->metric->effect), &w);
	grid__cell(t, "%s", w.base);
	grid__cell(t, "%s", w.value);
	grid__cell(t, "%s", line->says);
	words__effect_free(&w);
}

void gate__markdown(const struct gate *g, struct sbuf *out)
{
	static const char *const head[] = { "result", "workload", "arm", "what", "baseline", "arm's",
					    "says" };
	struct doc d = { .format = DOC_MD };
	char *summary = gate__summary(g);
	struct grid t;

	doc__heading(&d, 2, "", "migrc gate: %s", summary);
	grid__init(&t, "", "llllrrl", head);
	for (size_t i = 0; i < g->nr; i++)
		md_row(&t, &g->line[i]);
	doc__grid(&d, &t);
	doc__list_begin(&d);
	each_warning(g, md_warning, &d);
	doc__list_end(&d);
	sbuf__add(out, sbuf__str(&d.out));
	sbuf__free(&d.out);
	free(summary);
}
