// SPDX-License-Identifier: GPL-2.0-or-later
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "workloads/lib/proto.h"

static void word(FILE *f, const char *s, int is_name)
{
	if (!*s)
		fputc('_', f);
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;
		int ok = c < 0x80 && (isalnum(c) || strchr(is_name ? "_./-" : "_./-%", c));

		if (is_name && ok)
			c = (unsigned char)tolower(c);
		fputc(ok ? c : '_', f);
	}
}

int wl_proto__metric(FILE *f, const char *name, double value, const char *unit,
		     enum wl_better better, enum wl_kind kind)
{
	static const char *const betters[] = { "higher", "lower", "none" };

	if (!isfinite(value))
		return -EINVAL;
	fputs("migrc: metric ", f);
	word(f, name, 1);
	fprintf(f, " %.15g ", value);
	word(f, unit, 0);
	fprintf(f, " %s %s\n", betters[better], kind == WL_TIME ? "time" : "count");
	return 0;
}

void wl_proto__text(FILE *f, const char *name, const char *value)
{
	fputs("migrc: text ", f);
	word(f, name, 1);
	fputc(' ', f);
	for (; *value; value++) {
		unsigned char c = (unsigned char)*value;

		if (c == '\\')
			fputs("\\\\", f);
		else if (c == '\n')
			fputs("\\n", f);
		else if (c == '\t')
			fputs("\\t", f);
		else if (c < 0x20 || c == 0x7f)
			fprintf(f, "\\%03o", (unsigned int)c);
		else
			fputc(c, f);
	}
	fputc('\n', f);
}

void wl_proto__hist(FILE *f, const char *name, const char *unit, const struct wl_hist *h)
{
	fputs("migrc: hist ", f);
	word(f, name, 1);
	fputc(' ', f);
	word(f, unit, 0);
	fprintf(f, " %d %" PRIu64 " %" PRIu64 " %" PRIu64, WL_HIST_SUBBITS, h->total, h->sum,
		h->max);
	for (unsigned int i = 0; i < WL_HIST_BINS; i++)
		if (h->bin[i])
			fprintf(f, " %u:%" PRIu64, i, h->bin[i]);
	fputc('\n', f);
}

const char *wl_proto__commas(uint64_t v, char buf[32])
{
	char digits[24];
	int n = snprintf(digits, sizeof(digits), "%" PRIu64, v), o = 0;

	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			buf[o++] = ',';
		buf[o++] = digits[i];
	}
	buf[o] = '\0';
	return buf;
}
