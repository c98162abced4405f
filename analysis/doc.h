/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A document in one of three formats, written front to back: headings, paragraphs, tables, figures.
 * All text that goes in is plain text and is escaped here, for the format at hand: nothing that a
 * database holds can become markup or a terminal escape. Sections are written once, for all.
 */
#ifndef MIGRC_ANALYSIS_DOC_H
#define MIGRC_ANALYSIS_DOC_H

#include <stdarg.h>
#include <stdbool.h>

#include "analysis/plot.h"
#include "analysis/sbuf.h"

enum doc_format { DOC_TEXT, DOC_MD, DOC_HTML };

/* How a callout or a table row is marked; never by colour alone: the words say it too. */
enum doc_tone { DOC_PLAIN, DOC_GOOD, DOC_BAD, DOC_WARN, DOC_MUTED };

/* A figure: where in the page it goes once all are drawn, in one go, when the page is closed. */
struct doc_figure {
	size_t at;
	struct plot *plot;
	char *caption;
};

struct doc {
	enum doc_format format;
	size_t width;		/* columns, text only */
	bool colour;		/* text only */
	bool captions;		/* of tables: HTML always has them */
	struct sbuf out;
	size_t nr_figures;
	struct doc_figure *figures;
};

/*
 * title and the rest are plain text; an empty id is none. Only HTML has a frame to open and close.
 */
void doc__open(struct doc *d, const char *title);
void doc__close(struct doc *d);
void doc__heading(struct doc *d, int level, const char *id, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* An empty one is an empty line. */
void doc__para(struct doc *d, enum doc_tone tone, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Terminal only: lines after the first begin in column indent. */
void doc__hang(struct doc *d, enum doc_tone tone, size_t indent, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void doc__item(struct doc *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Colour of what follows, where there is colour. */
void doc__tone_on(struct doc *d, enum doc_tone tone);
void doc__tone_off(struct doc *d, enum doc_tone tone);
void doc__list_begin(struct doc *d);
void doc__list_end(struct doc *d);
/* Preformatted: commands. Lines are not wrapped. */
void doc__pre(struct doc *d, const char *text);
/*
 * What is folded in HTML; text and Markdown show it in full. On paper it is unfolded unless it is
 * long; then paper says that it is left out.
 */
void doc__fold_begin(struct doc *d, bool is_long, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void doc__fold_end(struct doc *d);
/* HTML only, others drop it: what a figure shows stands in a table beside it. Takes the plot. */
void doc__figure(struct doc *d, struct plot *plot, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Figures between the two stand beside each other where there is room; small: more of them. */
void doc__figures_begin(struct doc *d, bool small);
void doc__figures_end(struct doc *d);
/* An item that leads to a heading of this document. */
void doc__link(struct doc *d, const char *id, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* A table under construction: cells come row by row, left to right. */
struct grid {
	const char *caption;
	size_t cols, nr;	/* nr: cells so far */
	const char *const *head;
	/*
	 * By column: 'l' text, 'r' numbers, 'b' a bar, its cell where it begins and how long it is,
	 * 0..1 each. On a terminal 'n' is a name, which is shortened to one line, 'm' one that may take a few.
	 */
	const char *align;
	char **cell;
	size_t rows;
	enum doc_tone *tone;	/* by row */
};

void grid__init(struct grid *g, const char *caption, const char *align, const char *const *head);
void grid__row(struct grid *g, enum doc_tone tone);
void grid__cell(struct grid *g, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The cell's text, "" if there is none; where a bar begins and ends, within 0..1. */
const char *grid__at(const struct grid *g, size_t row, size_t col);
void grid__bar(const char *cell, double *from, double *to);
/* Write the table and free it. A table without rows writes nothing. */
void doc__grid(struct doc *d, struct grid *g);

#endif /* MIGRC_ANALYSIS_DOC_H */
