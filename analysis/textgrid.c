// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/textgrid.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define GAP		2	/* between columns */
#define BAR_CELLS	20
#define NAME_LEAST	10	/* a name keeps so many columns as long as there is room */
#define PART_LEAST	14	/* so does the longest part of a text */
#define LEAST		4	/* and any column, where there is none */
#define HEAD_LINES	3
#define NAME_LINES	3	/* of a name that may take a few; */
#define NAME_WHOLE	60	/* but one of so many columns, as our own are, is never shortened */
#define LEGEND_MAX	12

/* --- names ------------------------------------------------------------------------------------ */

/* Bytes of the end of s that fit in so many columns. */
static const char *tail_of(const char *s, size_t columns)
{
	size_t width = utf8__width(s), w;

	while (width > columns) {
		s += utf8__char(s, &w);
		width -= w;
	}
	return s;
}

static size_t head_len(const char *s, size_t columns)
{
	size_t i = 0, used = 0, w, n;

	while (s[i]) {
		n = utf8__char(s + i, &w);
		if (used + w > columns)
			break;
		used += w;
		i += n;
	}
	return i;
}

/* "begin..end" in so many columns; the n-th that looks like that: "begin~n". */
static char *shorten(const char *s, size_t columns, size_t nth)
{
	size_t head = columns > 2 ? (columns - 2) / 2 : 0;
	char *number, *out;

	if (nth < 2)
		return columns <= LEAST ? sbuf__format("%.*s", (int)head_len(s, columns), s) :
		       sbuf__format("%.*s..%s", (int)head_len(s, head), s,
				    tail_of(s, columns - 2 - head));
	number = sbuf__format("~%zu", nth);
	head = strlen(number) < columns ? columns - strlen(number) : 0;
	out = sbuf__format("%.*s%s", (int)head_len(s, head), s, number);
	free(number);
	return out;
}

/* Whether a name among the first done ones, or one that stays as it is, already looks like this. */
static bool is_taken(const char *const *names, size_t nr, char *const *out, size_t done,
		     const char *candidate)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(i < done ? out[i] : names[i], candidate))
			return true;
	return false;
}

void names__shorten(const char *const *names, size_t nr, size_t columns, char **out)
{
	for (size_t i = 0; i < nr; i++) {
		size_t same = 0;

		while (strcmp(names[same], names[i]))
			same++;
		if (same < i || utf8__width(names[i]) <= columns) {
			out[i] = mem__strdup(same < i ? out[same] : names[i]);
			continue;
		}
		for (size_t nth = 1; ; nth++) {
			out[i] = shorten(names[i], columns, nth);
			if (!is_taken(names, nr, out, i, out[i]))
				break;
			free(out[i]);
		}
	}
}

/* --- widths ----------------------------------------------------------------------------------- */

/* Longest part of a text that is not broken for want of a space or mark, as the line breaker does. */
static size_t longest_part(const char *s)
{
	size_t most = 0, part = 0, w;

	while (*s) {
		const char *next = s + utf8__char(s, &w);

		part = *s == ' ' ? 0 : part + w;
		most = part > most ? part : most;
		if (utf8__may_break(s))
			part = 0;
		s = next;
	}
	return most;
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* What a column takes if it may, without its head in one line, and to be read without pain. */
struct column {
	size_t width, cells, least;
};

static void column__measure(struct column *col, const struct grid *g, size_t c)
{
	size_t cells = 0, part = 0, head = smaller(longest_part(g->head[c]), NAME_LEAST);

	if (g->align[c] == 'b') {
		*col = (struct column){ BAR_CELLS, BAR_CELLS, BAR_CELLS / 2 };
		return;
	}
	for (size_t r = 0; r < g->rows; r++) {
		const char *cell = grid__at(g, r, c);

		cells = larger(cells, utf8__width(cell));
		part = larger(part, longest_part(cell));
	}
	col->width = larger(cells, utf8__width(g->head[c]));
	if (g->align[c] == 'r')
		part = smaller(cells, BAR_CELLS);
	else if (g->align[c] == 'n')
		part = smaller(cells, NAME_LEAST);
	else
		part = smaller(part, PART_LEAST);
	col->cells = larger(cells, head);
	col->least = smaller(larger(part, head), col->width);
}

/* How far a column may be narrowed: first heads are wrapped, then cells, then whatever it takes. */
static size_t least_of(const struct column *col, int pass)
{
	return pass == 0 ? col->cells : pass == 1 ? col->least : LEAST;
}

/* The widest columns give way to the page. */
static void fit_columns(const struct doc *d, const struct grid *g, struct column *col)
{
	size_t total = 0;

	for (size_t c = 0; c < g->cols; c++) {
		column__measure(&col[c], g, c);
		total += col[c].width + (c ? GAP : 0);
	}
	for (int pass = 0; pass < 3; pass++) {
		while (total > d->width) {
			size_t widest = SIZE_MAX;

			for (size_t c = 0; c < g->cols; c++)
				if (col[c].width > least_of(&col[c], pass) &&
				    (widest == SIZE_MAX || col[c].width > col[widest].width))
					widest = c;
			if (widest == SIZE_MAX)
				break;
			col[widest].width--;
			total--;
		}
	}
}

/* --- cells ------------------------------------------------------------------------------------ */

static void replace(char **cell, char *by)
{
	free(*cell);
	*cell = by;
}

static char *clean(const char *s)
{
	struct sbuf b = { 0 };

	sbuf__add(&b, "");
	sbuf__add_term(&b, s);
	return b.s;
}

/* Cells and heads as they may be written: widths must be those of that. */
static char **clean_grid(struct grid *g)
{
	char **head = mem__calloc(g->cols, sizeof(*head));

	for (size_t i = 0; i < g->nr; i++)
		replace(&g->cell[i], clean(g->cell[i]));
	for (size_t c = 0; c < g->cols; c++)
		head[c] = clean(g->head[c]);
	g->head = (const char *const *)head;
	return head;
}

/* What was shortened, for the lines below the table; the strings belong to it. */
struct legend {
	char **brief, **full;
	size_t nr;
};

static void legend__add(struct legend *l, char *brief, char *full)
{
	for (size_t i = 0; i < l->nr; i++) {
		if (strcmp(l->brief[i], brief) || strcmp(l->full[i], full))
			continue;
		free(brief);
		free(full);
		return;
	}
	l->brief = mem__grow(l->brief, l->nr);
	l->full = mem__grow(l->full, l->nr);
	l->brief[l->nr] = brief;
	l->full[l->nr++] = full;
}

static void legend__write(struct legend *l, struct doc *d)
{
	for (size_t i = 0; i < l->nr; i++) {
		if (i < LEGEND_MAX)
			doc__para(d, DOC_MUTED, "%s: %s", l->brief[i], l->full[i]);
		free(l->brief[i]);
		free(l->full[i]);
	}
	if (l->nr > LEGEND_MAX)
		doc__para(d, DOC_MUTED, "%zu more names were shortened; JSON has them in full.",
			  l->nr - LEGEND_MAX);
	free(l->brief);
	free(l->full);
}

/* Shorten nr strings that lie step apart to so many columns. */
static void shorten_all(char **s, size_t nr, size_t step, size_t columns, struct legend *l)
{
	const char **in = mem__calloc(nr, sizeof(*in));
	char **out = mem__calloc(nr, sizeof(*out));

	for (size_t i = 0; i < nr; i++)
		in[i] = s[i * step];
	names__shorten(in, nr, columns, out);
	for (size_t i = 0; i < nr; i++) {
		char *full = s[i * step];

		if (strcmp(full, out[i]))
			legend__add(l, mem__strdup(out[i]), mem__strdup(full));
		s[i * step] = out[i];
	}
	for (size_t i = 0; i < nr; i++)
		free((char *)in[i]);
	free(in);
	free(out);
}

static void shorten_names(struct grid *g, char **head, const struct column *col, struct legend *l)
{
	size_t narrowest = SIZE_MAX;

	for (size_t c = 0; c < g->cols; c++) {
		size_t whole_rows = g->cols && c < g->nr ? (g->nr - c - 1) / g->cols + 1 : 0;

		if (utf8__width(head[c]) > HEAD_LINES * col[c].width)
			narrowest = smaller(narrowest, col[c].width);
		if (!whole_rows)
			continue;
		if (g->align[c] == 'n')
			shorten_all(g->cell + c, whole_rows, g->cols, col[c].width, l);
		if (g->align[c] == 'm')
			shorten_all(g->cell + c, whole_rows, g->cols,
				    larger(NAME_LINES * col[c].width, NAME_WHOLE), l);
	}
	/* Together, so that two arms' heads do not become the same. */
	if (narrowest != SIZE_MAX)
		shorten_all(head, g->cols, 1, (HEAD_LINES - 1) * narrowest, l);
}

/* --- rows ------------------------------------------------------------------------------------- */

/* One row, as many lines as its longest cell takes. cells are consumed as they are written. */
static void text_row(struct doc *d, const struct grid *g, const struct column *col,
		     const char **cells)
{
	bool more = true;

	while (more) {
		struct sbuf line = { 0 };

		more = false;
		for (size_t c = 0; c < g->cols; c++) {
			size_t n = utf8__line_len(cells[c], col[c].width), width;
			char *part = sbuf__format("%.*s", (int)n, cells[c]);
			int pad;

			width = utf8__width(part);
			pad = width < col[c].width ? (int)(col[c].width - width) : 0;
			sbuf__addf(&line, "%*s%*s%s%*s", c ? GAP : 0, "",
				   g->align[c] == 'r' ? pad : 0, "", part,
				   g->align[c] == 'r' ? 0 : pad, "");
			free(part);
			for (cells[c] += n; *cells[c] == ' '; cells[c]++)
				;
			more |= *cells[c] != '\0';
		}
		while (line.len && line.s[line.len - 1] == ' ')
			line.s[--line.len] = '\0';
		sbuf__addf(&d->out, "%s\n", sbuf__str(&line));
		sbuf__free(&line);
	}
}

/* Dots up to where the bar begins: a row of a table does not keep leading spaces. */
static void draw_bar(char *bar, const char *cell, size_t width)
{
	size_t begin, end;
	double from, to;

	grid__bar(cell, &from, &to);
	begin = (size_t)(from * (double)width + 0.5);
	end = (size_t)(to * (double)width + 0.5);
	if (!(to > from))
		return;
	/* What is there is seen, however small. */
	end = end ? end : 1;
	begin = begin < end ? begin : end - 1;
	memset(bar, '.', begin);
	memset(bar + begin, '#', end - begin);
}

static void write_row(struct doc *d, const struct grid *g, const struct column *col, size_t row)
{
	const char **cells = mem__calloc(g->cols, sizeof(*cells));
	char (*bars)[BAR_CELLS + 1] = mem__calloc(g->cols, sizeof(*bars));

	for (size_t c = 0; c < g->cols; c++) {
		cells[c] = grid__at(g, row, c);
		if (g->align[c] != 'b')
			continue;
		draw_bar(bars[c], cells[c], col[c].width);
		cells[c] = bars[c];
	}
	doc__tone_on(d, g->tone[row]);
	text_row(d, g, col, cells);
	doc__tone_off(d, g->tone[row]);
	free(bars);
	free(cells);
}

void textgrid__write(struct doc *d, struct grid *g)
{
	const char **cells = mem__calloc(g->cols, sizeof(*cells));
	struct column *col = mem__calloc(g->cols, sizeof(*col));
	char **head = clean_grid(g);
	struct legend legend = { 0 };

	fit_columns(d, g, col);
	shorten_names(g, head, col, &legend);
	sbuf__add(&d->out, "\n");
	for (size_t c = 0; c < g->cols; c++)
		cells[c] = head[c];
	text_row(d, g, col, cells);
	for (size_t r = 0; r < g->rows; r++)
		write_row(d, g, col, r);
	legend__write(&legend, d);
	for (size_t c = 0; c < g->cols; c++)
		free(head[c]);
	free(head);
	free(col);
	free(cells);
}
