// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/xsbench.h"

/* "1,234,567" or "3.141" up to the first other character; thousands separators dropped. */
static bool number__parse(const char *s, double *out)
{
	char digits[40];
	size_t n = 0;
	char *end;

	for (s += strspn(s, " "); *s; s++) {
		if (*s == ',')
			continue;
		if (!strchr("0123456789.", *s) || n + 1 == sizeof(digits))
			break;
		digits[n++] = *s;
	}
	digits[n] = '\0';
	*out = strtod(digits, &end);
	return n && !*end;
}

/* What follows the label at the start of line, or NULL. */
static const char *after_label(const char *line, const char *label)
{
	size_t len = strlen(label);

	line += strspn(line, " ");
	return strncmp(line, label, len) ? NULL : line + len;
}

void xsbench__line(struct xsbench *x, const char *line)
{
	const char *rest;
	double v;

	if (after_label(line, "Simulation complete.")) {
		x->complete = true;
		return;
	}
	rest = after_label(line, "Lookups/s:");
	if (!rest)
		rest = after_label(line, "Total Lookups/s:");	/* its MPI variant */
	if (rest && number__parse(rest, &v)) {
		x->lookups_per_s = v;
		x->has_rate = true;
		return;
	}
	rest = after_label(line, "Runtime:");
	if (rest && strstr(rest, "seconds") && number__parse(rest, &v)) {
		x->runtime_s = v;
		x->has_runtime = true;
		return;
	}
	rest = after_label(line, "Verification checksum:");
	if (rest && sscanf(rest, " %23[0-9]", x->checksum) == 1)
		x->checksum_valid = !strstr(rest, "INVALID");
}

bool xsbench__is_success(const struct xsbench *x)
{
	return x->complete && x->has_rate;
}

int xsbench__results(const struct xsbench *x, struct results *r)
{
	int err = 0;

	if (x->has_rate)
		err = results__add_metric(r, "lookups_per_s", x->lookups_per_s, "lookups/s",
					  "higher", true);
	if (!err && x->has_runtime)
		err = results__add_metric(r, "runtime", x->runtime_s, "s", "lower", true);
	if (!err && x->checksum[0])
		err = results__add_text(r, "checksum", x->checksum);
	if (!err && x->checksum[0])
		err = results__add_text(r, "checksum_valid", x->checksum_valid ? "yes" : "no");
	return err;
}
