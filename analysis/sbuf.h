/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Growing strings and the way numbers, times and hostile text are written in every output. Memory
 * that cannot be had ends the program with a message and exit code 2: nothing here returns NULL.
 */
#ifndef MIGRC_ANALYSIS_SBUF_H
#define MIGRC_ANALYSIS_SBUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

void *mem__calloc(size_t n, size_t size);
void *mem__realloc(void *p, size_t n, size_t size);
char *mem__strdup(const char *s);	/* NULL gives NULL */

/* Make room for one more element of an array that doubles at powers of two. */
#define mem__grow(array, nr) \
	((nr) & ((nr) - 1) ? (array) : mem__realloc((array), (nr) ? 2 * (nr) : 1, sizeof(*(array))))

struct sbuf {
	char *s;	/* NUL-terminated once anything was added; NULL before */
	size_t len, cap;
};

void sbuf__free(struct sbuf *b);
void sbuf__add(struct sbuf *b, const char *s);
void sbuf__addn(struct sbuf *b, const char *s, size_t n);
void sbuf__addf(struct sbuf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The string, "" if nothing was added. */
const char *sbuf__str(const struct sbuf *b);
/* As sbuf__addf() into a new string, which the caller frees. */
char *sbuf__format(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *sbuf__vformat(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));

/* HTML text or attribute value: & < > " ' escaped, control characters and bad UTF-8 replaced. */
void sbuf__add_html(struct sbuf *b, const char *s);
/* JSON string with its quotes; bad UTF-8 becomes U+FFFD. */
void sbuf__add_json(struct sbuf *b, const char *s);
/* JSON number that reads back as the same double; NaN and infinities become null. */
void sbuf__add_json_num(struct sbuf *b, double v);
/* Terminal text: control characters and bad UTF-8 become '?', so that no escape sequence passes. */
void sbuf__add_term(struct sbuf *b, const char *s);
/* Columns that UTF-8 text takes on a terminal; most characters one, ideographs two, accents none. */
size_t utf8__width(const char *s);
/* The first character: its bytes (1 for what is no UTF-8) and, in *columns, its columns. */
size_t utf8__char(const char *s, size_t *columns);
/*
 * Bytes of s that fit in so many columns, at least one character: up to a space if there is one,
 * else behind a mark that words are made of parts with, else wherever it is.
 */
bool utf8__may_break(const char *s);	/* behind its first character, one of those marks */
size_t utf8__line_len(const char *s, size_t columns);

#define FMT_LEN	32

/*
 * Humane numbers, written into buf[FMT_LEN], which is returned. num: four significant digits, k/M/G
 * from 10 000; "absent" for NaN. unit: as num, but ns become us, ms, s and bytes KiB, MiB, GiB.
 * change: a ratio as "+12.3 %", or "x 14.2" where it is a factor, from 10 on. range: the ends of its
 * interval on the same scale: "[-95.6, -93.1]" in per cent, "[13.9, 14.5]" beside a factor.
 */
const char *fmt__num(char *buf, double v);
const char *fmt__unit(char *buf, double v, const char *unit);
const char *fmt__change(char *buf, double ratio);
bool fmt__is_factor(double ratio);
const char *fmt__range(char *buf, double est, double lo, double hi);

#endif /* MIGRC_ANALYSIS_SBUF_H */
