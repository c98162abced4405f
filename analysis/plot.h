/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Plots: gnuplot draws them in a temporary directory, and what comes back is made fit to stand
 * inside a page: ids are unique, black becomes the colour of the text, so that dark mode works.
 */
#ifndef MIGRC_ANALYSIS_PLOT_H
#define MIGRC_ANALYSIS_PLOT_H

#include <stdbool.h>
#include <stddef.h>

enum plot_style { PLOT_LINE, PLOT_STEP, PLOT_DOTS, PLOT_CROSSES };

struct plot_series {
	char *label;		/* NULL: not in the key */
	enum plot_style style;
	unsigned int colour;	/* number of the arm: colour, dash and mark follow from it */
	size_t nr;
	double *x, *y;
};

struct plot {
	const char *title, *xlabel, *ylabel;	/* axes: quantity and unit */
	bool log_x, from_zero;
	size_t nr;
	struct plot_series *series;
};

/* A new, empty series; label is copied. Valid until the next call. */
struct plot_series *plot__series(struct plot *p, const char *label, enum plot_style style,
				 unsigned int colour);
void plot__point(struct plot_series *s, double x, double y);
void plot__free(struct plot *p);
/* Points in all series. */
size_t plot__points(const struct plot *p);

/*
 * The plot as an <svg> element, to be freed. NULL: *why (not to be freed) says what is missing.
 * number makes its ids unique among the plots of a page.
 */
char *plot__svg(const struct plot *p, unsigned int number, const char **why);

/* Only for tests: what plot__svg() does to gnuplot's output. */
char *plot__embed(const char *svg, const char *title, unsigned int number);

#endif /* MIGRC_ANALYSIS_PLOT_H */
