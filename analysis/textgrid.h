/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables on a terminal: columns that fit its width, whatever names they hold. */
#ifndef MIGRC_ANALYSIS_TEXTGRID_H
#define MIGRC_ANALYSIS_TEXTGRID_H

#include "analysis/doc.h"

/*
 * Write a table that has rows. Its cells are escaped in place. Names that were shortened are given
 * in full below it.
 */
void textgrid__write(struct doc *d, struct grid *g);

/*
 * Shorten nr names to so many columns: in the middle, as ends tell names apart; where that makes two
 * different names the same, by a number. The same name becomes the same. In *out new strings, which
 * the caller frees.
 */
void names__shorten(const char *const *names, size_t nr, size_t columns, char **out);

#endif /* MIGRC_ANALYSIS_TEXTGRID_H */
