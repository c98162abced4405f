/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Plots: gnuplot draws them in a temporary directory, all of a page at once, and what comes back is
 * made fit to stand inside a page: ids are unique, black becomes the colour of the text, so that
 * dark mode works.
 */
#ifndef MIGRC_ANALYSIS_PLOT_H
#define MIGRC_ANALYSIS_PLOT_H

#include <stdbool.h>
#include <stddef.h>

enum plot_style {
	PLOT_LINE,
	PLOT_STEP,
	PLOT_DOTS,
	PLOT_CROSSES,
	PLOT_TREND,	/* a dashed line through what the dots of its colour do */
	PLOT_MEAN,	/* a thick line where the middle of the dots is */
};

struct plot_series {
	char *label;		/* NULL: not in the key */
	enum plot_style style;
	unsigned int colour;	/* number of the arm: colour, dash and mark follow from it */
	size_t nr;
	double *x, *y;		/* NaN: the line is broken here */
};

/* What an axis shows: every axis has a quantity and a unit. */
struct plot_axis {
	char *quantity, *unit;
	bool log;
	bool whole;	/* whole numbers only */
};

struct plot {
	char *title;
	struct plot_axis x, y;
	bool from_zero;		/* y; it always is unless y is logarithmic */
	bool small;		/* one of many beside each other: no key */
	size_t nr_ticks;
	char **tick;		/* names on the x axis, at 0, 1, ...; none: numbers */
	size_t nr;
	struct plot_series *series;
};

/* An empty plot, freed by plot__free(); all text is copied. */
struct plot *plot__new(const char *title, const char *x, const char *x_unit, const char *y,
		       const char *y_unit);
void plot__tick(struct plot *p, const char *name);
/* A new, empty series; label is copied. Valid until the next call. */
struct plot_series *plot__series(struct plot *p, const char *label, enum plot_style style,
				 unsigned int colour);
void plot__point(struct plot_series *s, double x, double y);
void plot__free(struct plot *p);
/* Points in all series. */
size_t plot__points(const struct plot *p);

/*
 * The plots as <svg> elements in svg[0..nr-1], each to be freed. svg[i] NULL: why[i] (not to be
 * freed) says what is missing. The ids of plot i are made unique by its number.
 */
void plot__render(struct plot *const *plots, size_t nr, char **svg, const char **why);

/* Only for tests: what plot__render() does to gnuplot's output. */
char *plot__embed(const char *svg, const char *title, unsigned int number);

#endif /* MIGRC_ANALYSIS_PLOT_H */
