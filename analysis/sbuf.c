// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/sbuf.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/err.h"
#include "collector/text.h"

static void out_of_memory(void)
{
	err__print("analysis: out of memory; give fewer runs or a larger machine");
	exit(EXIT_TOOL);
}

void *mem__calloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size ? size : 1);

	if (!p)
		out_of_memory();
	return p;
}

void *mem__realloc(void *p, size_t n, size_t size)
{
	void *q = reallocarray(p, n ? n : 1, size);

	if (!q)
		out_of_memory();
	return q;
}

char *mem__strdup(const char *s)
{
	char *copy;

	if (!s)
		return NULL;
	copy = strdup(s);
	if (!copy)
		out_of_memory();
	return copy;
}

void sbuf__free(struct sbuf *b)
{
	free(b->s);
	*b = (struct sbuf){ 0 };
}

void sbuf__addn(struct sbuf *b, const char *s, size_t n)
{
	if (b->len + n + 1 > b->cap) {
		b->cap = (b->len + n + 1) * 2;
		b->s = mem__realloc(b->s, b->cap, 1);
	}
	memcpy(b->s + b->len, s, n);
	b->len += n;
	b->s[b->len] = '\0';
}

void sbuf__add(struct sbuf *b, const char *s)
{
	sbuf__addn(b, s, strlen(s));
}

char *sbuf__vformat(const char *fmt, va_list ap)
{
	char *s;

	if (vasprintf(&s, fmt, ap) < 0)
		out_of_memory();
	return s;
}

void sbuf__addf(struct sbuf *b, const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = sbuf__vformat(fmt, ap);
	va_end(ap);
	sbuf__add(b, s);
	free(s);
}

char *sbuf__format(const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = sbuf__vformat(fmt, ap);
	va_end(ap);
	return s;
}

const char *sbuf__str(const struct sbuf *b)
{
	return b->s ? b->s : "";
}

/* Add one character, escaped; n = 0: a byte that is not UTF-8 or a character not to be shown. */
typedef void (*add_char)(struct sbuf *b, const char *s, size_t n);

static void add_each(struct sbuf *b, const char *str, add_char add)
{
	const unsigned char *s = (const unsigned char *)str;

	while (s && *s) {
		size_t n = text__utf8_len(s);

		add(b, (const char *)s, text__is_disguise(s, n) ? 0 : n);
		s += n ? n : 1;
	}
}

static void html_char(struct sbuf *b, const char *s, size_t n)
{
	unsigned char c = (unsigned char)*s;

	if (n == 0 || (n == 1 && ((c < ' ' && c != '\n' && c != '\t') || c == 0x7f)))
		sbuf__add(b, "\xef\xbf\xbd");
	else if (c == '&')
		sbuf__add(b, "&amp;");
	else if (c == '<')
		sbuf__add(b, "&lt;");
	else if (c == '>')
		sbuf__add(b, "&gt;");
	else if (c == '"')
		sbuf__add(b, "&quot;");
	else if (c == '\'')
		sbuf__add(b, "&#39;");
	else
		sbuf__addn(b, s, n);
}

void sbuf__add_html(struct sbuf *b, const char *s)
{
	add_each(b, s, html_char);
}

static void json_char(struct sbuf *b, const char *s, size_t n)
{
	unsigned char c = (unsigned char)*s;

	if (n == 0)
		sbuf__add(b, "\xef\xbf\xbd");
	else if (c == '"' || c == '\\')
		sbuf__addf(b, "\\%c", c);
	else if (n == 1 && (c < ' ' || c == 0x7f))
		sbuf__addf(b, "\\u%04x", c);
	else
		sbuf__addn(b, s, n);
}

void sbuf__add_json(struct sbuf *b, const char *s)
{
	if (!s) {
		sbuf__add(b, "null");
		return;
	}
	sbuf__add(b, "\"");
	add_each(b, s, json_char);
	sbuf__add(b, "\"");
}

void sbuf__add_json_num(struct sbuf *b, double v)
{
	char text[40];

	if (!isfinite(v)) {
		sbuf__add(b, "null");
		return;
	}
	snprintf(text, sizeof(text), "%.15g", v);
	if (strtod(text, NULL) != v)
		snprintf(text, sizeof(text), "%.17g", v);
	sbuf__add(b, text);
}

static void term_char(struct sbuf *b, const char *s, size_t n)
{
	unsigned char c = (unsigned char)*s;

	if (n == 0 || (n == 1 && (c < ' ' || c == 0x7f)))
		sbuf__add(b, "?");
	else
		sbuf__addn(b, s, n);
}

void sbuf__add_term(struct sbuf *b, const char *s)
{
	add_each(b, s, term_char);
}

/* Blocks of East Asian Wide and Fullwidth characters, and of emoji; and of those without a width. */
static const struct {
	unsigned int from, to, columns;
} widths[] = {
	{ 0x300, 0x36f, 0 }, { 0x483, 0x489, 0 }, { 0x591, 0x5bd, 0 }, { 0x610, 0x61a, 0 },
	{ 0x64b, 0x65f, 0 }, { 0x1ab0, 0x1aff, 0 }, { 0x1dc0, 0x1dff, 0 }, { 0x200b, 0x200f, 0 },
	{ 0x20d0, 0x20ff, 0 }, { 0xfe00, 0xfe0f, 0 }, { 0xfe20, 0xfe2f, 0 }, { 0xfeff, 0xfeff, 0 },
	{ 0xe0100, 0xe01ef, 0 },
	{ 0x1100, 0x115f, 2 }, { 0x2e80, 0x303e, 2 }, { 0x3041, 0xa4cf, 2 }, { 0xa960, 0xa97c, 2 },
	{ 0xac00, 0xd7a3, 2 }, { 0xf900, 0xfaff, 2 }, { 0xfe30, 0xfe6f, 2 }, { 0xff00, 0xff60, 2 },
	{ 0xffe0, 0xffe6, 2 }, { 0x1f300, 0x1f64f, 2 }, { 0x1f680, 0x1f6ff, 2 },
	{ 0x1f900, 0x1faff, 2 }, { 0x20000, 0x3fffd, 2 },
};

size_t utf8__char(const char *s, size_t *columns)
{
	size_t n = text__utf8_len((const unsigned char *)s);
	unsigned int c = (unsigned char)*s;

	*columns = 1;
	if (n < 2)
		return 1;
	c &= 0x7fu >> n;
	for (size_t i = 1; i < n; i++)
		c = c << 6 | ((unsigned char)s[i] & 0x3f);
	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++)
		if (c >= widths[i].from && c <= widths[i].to)
			*columns = widths[i].columns;
	return n;
}

size_t utf8__width(const char *s)
{
	size_t sum = 0, columns;

	while (*s) {
		s += utf8__char(s, &columns);
		sum += columns;
	}
	return sum;
}

bool utf8__may_break(const char *s)
{
	/* Numbers stay whole. */
	if (*s == '.' || *s == ',' || *s == '-')
		return s[1] && !strchr("0123456789.", s[1]);
	return *s && strchr("_/:=+", *s);
}

size_t utf8__line_len(const char *s, size_t columns)
{
	size_t i = 0, used = 0, space = 0, mark = 0, n, w;

	while (s[i]) {
		n = utf8__char(s + i, &w);
		if (used + w > columns && s[i] == ' ')
			return i;
		if (used + w > columns)
			return space && (space * 3 >= i || !mark) ? space :
			       mark ? mark : i ? i : n;
		if (s[i] == ' ')
			space = i;
		used += w;
		/* Not a lone letter or two before a mark: that would be worse to read. */
		if (utf8__may_break(s + i) && used * 3 >= columns)
			mark = i + 1;
		i += n;
	}
	return i;
}

const char *fmt__num(char *buf, double v)
{
	static const char *const suffix[] = { "", "k", "M", "G", "T", "P", "E" };
	double a = fabs(v);
	size_t i = 0;

	if (isnan(v)) {
		strcpy(buf, "absent");
		return buf;
	}
	if (isinf(v)) {
		strcpy(buf, v < 0 ? "-inf" : "inf");
		return buf;
	}
	if (a >= 9999.5)
		for (; a >= 999.95 && i < 6; i++)
			a /= 1000;
	if (i == 0 && a == floor(a))
		snprintf(buf, FMT_LEN, "%.0f", v);
	else if (i == 0 && a < 0.001)
		snprintf(buf, FMT_LEN, "%.2e", v);
	else
		snprintf(buf, FMT_LEN, "%s%.*f%s", v < 0 ? "-" : "",
			 a >= 99.995 ? 1 : a >= 0.9995 ? 2 : 4, a, suffix[i]);
	return buf;
}

const char *fmt__unit(char *buf, double v, const char *unit)
{
	static const struct { double from; const char *name; } time[] = {
		{ 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" }, { 0, "ns" },
	}, byte[] = { { 1073741824, "GiB" }, { 1048576, "MiB" }, { 1024, "KiB" }, { 0, "B" } };
	const typeof(time[0]) *scale = !strcmp(unit, "ns") ? time : !strcmp(unit,
									    "bytes") ? byte : NULL;
	char num[FMT_LEN];

	if (!scale || !isfinite(v))
		return fmt__num(buf, v);
	while (scale->from > 0 && fabs(v) < scale->from)
		scale++;
	fmt__num(num, v / (scale->from > 0 ? scale->from : 1));
	snprintf(buf, FMT_LEN, "%.20s %s", num, scale->name);
	return buf;
}

static const char *percent(char *buf, size_t len, double ratio)
{
	double p = (ratio - 1) * 100;

	/* "-0.00" would be a direction that nobody can see. */
	if (fabs(p) < 0.005)
		p = 0;
	if (isnan(ratio))
		snprintf(buf, len, "-");
	else if (isinf(ratio))
		snprintf(buf, len, "+inf");
	else if (fabs(p) >= 1e8)
		snprintf(buf, len, "%+.1e", p);
	else if (fabs(p) >= 9999.5)
		snprintf(buf, len, "%+.0fk", p / 1000);
	else
		snprintf(buf, len, "%+.*f", fabs(p) >= 999.5 ? 0 : fabs(p) < 9.995 ? 2 : 1, p);
	return buf;
}

bool fmt__is_factor(double ratio)
{
	return isfinite(ratio) && ratio >= 10;
}

const char *fmt__change(char *buf, double ratio)
{
	char num[16];

	if (fmt__is_factor(ratio))
		snprintf(buf, FMT_LEN, "x %.4g", ratio);
	else if (isnan(ratio))
		snprintf(buf, FMT_LEN, "-");
	else
		snprintf(buf, FMT_LEN, "%s %%", percent(num, sizeof(num), ratio));
	return buf;
}

/* One end of an interval, on the scale of its estimate: a reader must find the one in the other. */
static const char *range_end(char *buf, size_t len, double est, double end)
{
	if (!fmt__is_factor(est))
		return percent(buf, len, end);
	snprintf(buf, len, "%.4g", end);
	return buf;
}

const char *fmt__range(char *buf, double est, double lo, double hi)
{
	char l[12], h[12];

	if (isnan(lo) || isnan(hi))
		snprintf(buf, FMT_LEN, "-");
	else
		snprintf(buf, FMT_LEN, "[%s, %s]", range_end(l, sizeof(l), est, lo),
			 range_end(h, sizeof(h), est, hi));
	return buf;
}
