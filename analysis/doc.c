// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/doc.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/style.h"
#include "analysis/textgrid.h"

static const char *const tone_class[] = {
	[DOC_PLAIN] = "plain", [DOC_GOOD] = "good", [DOC_BAD] = "bad", [DOC_WARN] = "warn",
	[DOC_MUTED] = "muted",
};

static const char *const tone_sgr[] = {
	[DOC_PLAIN] = "", [DOC_GOOD] = "\033[32m", [DOC_BAD] = "\033[31;1m",
	[DOC_WARN] = "\033[33m", [DOC_MUTED] = "\033[2m",
};

#define FORMAT(s, fmt)				\
	do {					\
		va_list ap_;			\
		va_start(ap_, fmt);		\
		s = sbuf__vformat(fmt, ap_);	\
		va_end(ap_);			\
	} while (0)

/* Markdown text in one line: what could be markup is escaped, as HTML entities or by backslash. */
static void add_md(struct sbuf *b, const char *s)
{
	struct sbuf html = { 0 };

	sbuf__add_html(&html, s);
	for (const char *c = sbuf__str(&html); *c; c++) {
		if (*c == '\n' || *c == '\t')
			sbuf__add(b, " ");
		else if (strchr("\\`*_[]|#~", *c) && !(*c == '#' && c > html.s && c[-1] == '&'))
			sbuf__addf(b, "\\%c", *c);
		else
			sbuf__addn(b, c, 1);
	}
	sbuf__free(&html);
}

static void add_text(struct doc *d, const char *s)
{
	if (d->format == DOC_HTML)
		sbuf__add_html(&d->out, s);
	else if (d->format == DOC_MD)
		add_md(&d->out, s);
	else
		sbuf__add_term(&d->out, s);
}

void doc__tone_on(struct doc *d, enum doc_tone tone)
{
	if (d->colour)
		sbuf__add(&d->out, tone_sgr[tone]);
}

void doc__tone_off(struct doc *d, enum doc_tone tone)
{
	if (d->colour && tone != DOC_PLAIN)
		sbuf__add(&d->out, "\033[0m");
}

/* Terminal text wrapped to the width, every line after the first indented. */
static void add_wrapped(struct doc *d, const char *s, size_t indent)
{
	struct sbuf clean = { 0 };
	const char *p;
	bool first = true;

	sbuf__add_term(&clean, s);
	for (p = sbuf__str(&clean); *p; first = false) {
		size_t n = utf8__line_len(p, d->width - (first ? 0 : indent));

		sbuf__addf(&d->out, "%*s", first ? 0 : (int)indent, "");
		sbuf__addn(&d->out, p, n);
		sbuf__add(&d->out, "\n");
		for (p += n; *p == ' '; p++)
			;
	}
	sbuf__free(&clean);
}

void doc__open(struct doc *d, const char *title)
{
	if (d->format != DOC_HTML)
		return;
	sbuf__add(&d->out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		  "<meta name=\"color-scheme\" content=\"light dark\">\n"
		  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		  "style-src 'unsafe-inline'; img-src data:\">\n<title>");
	sbuf__add_html(&d->out, title);
	sbuf__add(&d->out, "</title>\n<style>\n");
	sbuf__add(&d->out, style_css);
	sbuf__add(&d->out, "</style>\n</head>\n<body>\n<main>\n");
}

void doc__heading(struct doc *d, int level, const char *id, const char *fmt, ...)
{
	static const char marks[] = "==-";
	char *s;

	FORMAT(s, fmt);
	if (d->format == DOC_HTML) {
		sbuf__addf(&d->out, "<h%d", level);
		if (*id) {
			sbuf__add(&d->out, " id=\"");
			sbuf__add_html(&d->out, id);
			sbuf__add(&d->out, "\"");
		}
		sbuf__add(&d->out, ">");
		add_text(d, s);
		sbuf__addf(&d->out, "</h%d>\n", level);
	} else if (d->format == DOC_MD) {
		sbuf__addf(&d->out, "\n%.*s ", level, "######");
		add_text(d, s);
		sbuf__add(&d->out, "\n\n");
	} else {
		size_t n;

		sbuf__add(&d->out, "\n");
		add_wrapped(d, s, 0);
		n = utf8__width(s);
		for (size_t i = 0; level <= 3 && i < (n < d->width ? n : d->width); i++)
			sbuf__addn(&d->out, &marks[level - 1], 1);
		if (level <= 3)
			sbuf__add(&d->out, "\n");
	}
	free(s);
}

void doc__para(struct doc *d, enum doc_tone tone, const char *fmt, ...)
{
	char *s;

	FORMAT(s, fmt);
	if (d->format == DOC_HTML) {
		sbuf__addf(&d->out, "<p class=\"%s\">", tone_class[tone]);
		add_text(d, s);
		sbuf__add(&d->out, "</p>\n");
	} else if (d->format == DOC_MD) {
		sbuf__add(&d->out, tone == DOC_BAD || tone == DOC_WARN ? "> " : "");
		add_text(d, s);
		sbuf__add(&d->out, "\n\n");
	} else {
		doc__tone_on(d, tone);
		add_wrapped(d, s, 0);
		doc__tone_off(d, tone);
		if (!*s)
			sbuf__add(&d->out, "\n");
	}
	free(s);
}

void doc__hang(struct doc *d, enum doc_tone tone, size_t indent, const char *fmt, ...)
{
	char *s;

	FORMAT(s, fmt);
	doc__tone_on(d, tone);
	add_wrapped(d, s, indent);
	doc__tone_off(d, tone);
	free(s);
}

void doc__list_begin(struct doc *d)
{
	if (d->format == DOC_HTML)
		sbuf__add(&d->out, "<ul>\n");
}

void doc__list_end(struct doc *d)
{
	if (d->format == DOC_HTML)
		sbuf__add(&d->out, "</ul>\n");
	else if (d->format == DOC_MD)
		sbuf__add(&d->out, "\n");
}

void doc__link(struct doc *d, const char *id, const char *fmt, ...)
{
	char *s;

	FORMAT(s, fmt);
	if (d->format == DOC_HTML) {
		sbuf__add(&d->out, "<li><a href=\"#");
		sbuf__add_html(&d->out, id);
		sbuf__add(&d->out, "\">");
		add_text(d, s);
		sbuf__add(&d->out, "</a></li>\n");
	} else {
		doc__item(d, "%s", s);
	}
	free(s);
}

void doc__item(struct doc *d, const char *fmt, ...)
{
	char *s, *bullet;

	FORMAT(s, fmt);
	if (d->format == DOC_HTML) {
		sbuf__add(&d->out, "<li>");
		add_text(d, s);
		sbuf__add(&d->out, "</li>\n");
	} else if (d->format == DOC_MD) {
		sbuf__add(&d->out, "- ");
		add_text(d, s);
		sbuf__add(&d->out, "\n");
	} else {
		bullet = sbuf__format("  * %s", s);
		add_wrapped(d, bullet, 4);
		free(bullet);
	}
	free(s);
}

void doc__pre(struct doc *d, const char *text)
{
	/*
	 * In Markdown too: an HTML block ends at its end tag alone, a fence at backticks in the
	 * text.
	 */
	if (d->format != DOC_TEXT) {
		sbuf__add(&d->out, d->format == DOC_HTML ? "<pre tabindex=\"0\">" : "<pre>\n");
		sbuf__add_html(&d->out, text);
		sbuf__add(&d->out, d->format == DOC_HTML ? "</pre>\n" : "\n</pre>\n\n");
		return;
	}
	for (const char *p = text; *p; ) {
		size_t n = strcspn(p, "\n");
		char *line = sbuf__format("%.*s", (int)n, p);

		sbuf__add(&d->out, "    ");
		sbuf__add_term(&d->out, line);
		sbuf__add(&d->out, "\n");
		free(line);
		p += n + (p[n] == '\n');
	}
}

void doc__fold_begin(struct doc *d, bool is_long, const char *fmt, ...)
{
	char *s;

	FORMAT(s, fmt);
	if (d->format == DOC_HTML) {
		sbuf__addf(&d->out, "<details%s>\n<summary>", is_long ? " class=\"long\"" : "");
		add_text(d, s);
		sbuf__add(&d->out, "</summary>\n");
	} else if (d->format == DOC_MD) {
		sbuf__add(&d->out, "**");
		add_text(d, s);
		sbuf__add(&d->out, "**\n\n");
	} else {
		sbuf__add(&d->out, "\n");
		add_wrapped(d, s, 2);
	}
	free(s);
}

void doc__fold_end(struct doc *d)
{
	if (d->format == DOC_HTML)
		sbuf__add(&d->out, "</details>\n");
}

/* --- figures ---------------------------------------------------------------------------------- */

void doc__figures_begin(struct doc *d, bool small)
{
	if (d->format == DOC_HTML)
		sbuf__addf(&d->out, "<div class=\"figures%s\">\n", small ? " small" : "");
}

void doc__figures_end(struct doc *d)
{
	if (d->format == DOC_HTML)
		sbuf__add(&d->out, "</div>\n");
}

void doc__figure(struct doc *d, struct plot *plot, const char *fmt, ...)
{
	char *s;

	FORMAT(s, fmt);
	if (d->format != DOC_HTML) {
		free(s);
		plot__free(plot);
		return;
	}
	d->figures = mem__grow(d->figures, d->nr_figures);
	d->figures[d->nr_figures++] = (struct doc_figure){ d->out.len, plot, s };
}

static void add_figure(struct doc *d, size_t i, const char *svg, const char *why)
{
	const struct doc_figure *f = &d->figures[i];

	if (!svg) {
		doc__para(d, DOC_WARN, "Plot missing (%s): %s.", f->plot->title, why);
		return;
	}
	sbuf__addf(&d->out, "<figure id=\"figure-%zu\">\n<figcaption><strong>", i + 1);
	sbuf__add_html(&d->out, f->plot->title);
	sbuf__add(&d->out, "</strong> ");
	sbuf__add_html(&d->out, f->caption);
	sbuf__add(&d->out, "</figcaption>\n");
	sbuf__add(&d->out, svg);
	sbuf__add(&d->out, "\n</figure>\n");
}

/* One gnuplot draws all figures: starting it costs more than most plots do. */
static void place_figures(struct doc *d)
{
	struct plot **plots = mem__calloc(d->nr_figures, sizeof(*plots));
	const char **why = mem__calloc(d->nr_figures, sizeof(*why));
	char **svg = mem__calloc(d->nr_figures, sizeof(*svg));
	struct sbuf page = d->out;
	size_t at = 0;

	for (size_t i = 0; i < d->nr_figures; i++)
		plots[i] = d->figures[i].plot;
	plot__render(plots, d->nr_figures, svg, why);
	d->out = (struct sbuf){ 0 };
	for (size_t i = 0; i < d->nr_figures; i++) {
		sbuf__addn(&d->out, page.s + at, d->figures[i].at - at);
		at = d->figures[i].at;
		add_figure(d, i, svg[i], why[i]);
		free(svg[i]);
		free(d->figures[i].caption);
		plot__free(plots[i]);
	}
	sbuf__addn(&d->out, page.s + at, page.len - at);
	sbuf__free(&page);
	free(d->figures);
	free(plots);
	free(svg);
	free(why);
	d->figures = NULL;
	d->nr_figures = 0;
}

void doc__close(struct doc *d)
{
	if (d->format != DOC_HTML)
		return;
	sbuf__add(&d->out, "</main>\n</body>\n</html>\n");
	if (d->nr_figures)
		place_figures(d);
}

/* --- tables ----------------------------------------------------------------------------------- */

void grid__init(struct grid *g, const char *caption, const char *align, const char *const *head)
{
	*g = (struct grid){
		.caption = caption, .cols = strlen(align), .align = align, .head = head,
	};
}

void grid__row(struct grid *g, enum doc_tone tone)
{
	g->tone = mem__grow(g->tone, g->rows);
	g->tone[g->rows++] = tone;
}

void grid__cell(struct grid *g, const char *fmt, ...)
{
	char *s;

	FORMAT(s, fmt);
	g->cell = mem__grow(g->cell, g->nr);
	g->cell[g->nr++] = s;
}

const char *grid__at(const struct grid *g, size_t row, size_t col)
{
	size_t i = row * g->cols + col;

	return i < g->nr ? g->cell[i] : "";
}

void grid__bar(const char *cell, double *from, double *to)
{
	char *rest;
	double begin = strtod(cell, &rest), end = begin + strtod(rest, NULL);

	*from = begin < 0 ? 0 : begin > 1 ? 1 : begin;
	*to = end < *from ? *from : end > 1 ? 1 : end;
}

static void html_cell(struct doc *d, const struct grid *g, size_t row, size_t col)
{
	const char *s = grid__at(g, row, col);
	double from, to;

	if (g->align[col] == 'b') {
		grid__bar(s, &from, &to);
		/* What is there is seen, however short. */
		if (to > from)
			sbuf__addf(&d->out, "<td class=\"bar\" style=\"--from:%.2f%%;--to:%.2f%%\">",
				   from * 100, fmax(to * 100, from * 100 + 0.6));
		else
			sbuf__add(&d->out, "<td>");
		sbuf__add(&d->out, "</td>");
		return;
	}
	sbuf__add(&d->out, col == 0 ? "<th scope=\"row\"" : "<td");
	sbuf__add(&d->out, g->align[col] == 'r' ? " class=\"num\">" : ">");
	sbuf__add_html(&d->out, s);
	sbuf__add(&d->out, col == 0 ? "</th>" : "</td>");
}

static void html_grid(struct doc *d, const struct grid *g)
{
	sbuf__add(&d->out, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"");
	sbuf__add_html(&d->out, g->caption);
	/* The span stays in the window when a wide table is scrolled. */
	sbuf__add(&d->out, "\">\n<table>\n<caption><span>");
	sbuf__add_html(&d->out, g->caption);
	sbuf__add(&d->out, "</span></caption>\n<thead><tr>");
	for (size_t c = 0; c < g->cols; c++) {
		sbuf__addf(&d->out, "<th scope=\"col\"%s>", g->align[c] == 'r' ? " class=\"num\"" :
			   "");
		sbuf__add_html(&d->out, g->head[c]);
		sbuf__add(&d->out, "</th>");
	}
	sbuf__add(&d->out, "</tr></thead>\n<tbody>\n");
	for (size_t r = 0; r < g->rows; r++) {
		sbuf__addf(&d->out, "<tr class=\"%s\">", tone_class[g->tone[r]]);
		for (size_t c = 0; c < g->cols; c++)
			html_cell(d, g, r, c);
		sbuf__add(&d->out, "</tr>\n");
	}
	sbuf__add(&d->out, "</tbody>\n</table>\n</div>\n");
}

static void md_grid(struct doc *d, const struct grid *g)
{
	sbuf__add(&d->out, "|");
	for (size_t c = 0; c < g->cols; c++) {
		if (g->align[c] == 'b')
			continue;
		sbuf__add(&d->out, " ");
		add_text(d, g->head[c]);
		sbuf__add(&d->out, " |");
	}
	sbuf__add(&d->out, "\n|");
	for (size_t c = 0; c < g->cols; c++)
		if (g->align[c] != 'b')
			sbuf__add(&d->out, g->align[c] == 'r' ? " ---: |" : " --- |");
	for (size_t r = 0; r < g->rows; r++) {
		sbuf__add(&d->out, "\n|");
		for (size_t c = 0; c < g->cols; c++) {
			if (g->align[c] == 'b')
				continue;
			sbuf__add(&d->out, " ");
			add_text(d, grid__at(g, r, c));
			sbuf__add(&d->out, " |");
		}
	}
	sbuf__add(&d->out, "\n\n");
}

void doc__grid(struct doc *d, struct grid *g)
{
	if (g->rows && d->captions && d->format != DOC_HTML) {
		if (d->format == DOC_TEXT)
			sbuf__add(&d->out, "\n");
		doc__para(d, DOC_MUTED, "%s:", g->caption);
	}
	if (g->rows && d->format == DOC_HTML)
		html_grid(d, g);
	else if (g->rows && d->format == DOC_MD)
		md_grid(d, g);
	else if (g->rows)
		textgrid__write(d, g);
	for (size_t i = 0; i < g->nr; i++)
		free(g->cell[i]);
	free(g->cell);
	free(g->tone);
	*g = (struct grid){ 0 };
}
