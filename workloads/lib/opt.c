// SPDX-License-Identifier: GPL-2.0-or-later
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "workloads/lib/err.h"
#include "workloads/lib/opt.h"

/* Leading decimal digits: strtoull() alone takes blanks and signs, and turns -1 into 2^64-1. */
static int digits(const char *s, uint64_t *out, const char **end)
{
	unsigned long long v;
	char *e;

	if (!isdigit((unsigned char)*s))
		return -EINVAL;
	errno = 0;
	v = strtoull(s, &e, 10);
	if (errno == ERANGE)
		return -ERANGE;
	*out = v;
	*end = e;
	return 0;
}

/* "-5" is a number, so a range error tells more than "not a number". */
static int negative(const char *s)
{
	return s[0] == '-' && s[1] && s[1 + strspn(s + 1, "0123456789")] == '\0';
}

int wl_opt__parse_u64(const char *s, uint64_t min, uint64_t max, uint64_t *out)
{
	const char *end;
	uint64_t v;
	int err;

	if (negative(s))
		return -ERANGE;
	err = digits(s, &v, &end);
	if (err)
		return err;
	if (*end)
		return -EINVAL;
	if (v < min || v > max)
		return -ERANGE;
	*out = v;
	return 0;
}

int wl_opt__parse_double(const char *s, double min, double max, double *out)
{
	char *end;
	double v;

	if (!isdigit((unsigned char)*s) && *s != '.' && *s != '-')
		return -EINVAL;
	errno = 0;
	v = strtod(s, &end);
	if (end == s || *end || isnan(v))
		return -EINVAL;
	if (errno == ERANGE || isinf(v) || v < min || v > max)
		return -ERANGE;
	*out = v;
	return 0;
}

int wl_opt__parse_size(const char *s, uint64_t min, uint64_t max, uint64_t *out)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), v;
	static const char suffix[] = "KMGT";
	unsigned int shift = 20;
	const char *end, *at;
	int err;

	if (negative(s))
		return -ERANGE;
	err = digits(s, &v, &end);
	if (err)
		return err;
	if (*end) {
		at = strchr(suffix, toupper((unsigned char)*end));
		if (!at || end[1])
			return -EINVAL;
		shift = 10 * (unsigned int)(at - suffix + 1);
	}
	if (v > (UINT64_MAX - page) >> shift)
		return -ERANGE;
	v = (v << shift) + page - 1;
	v -= v % page;
	if (v < min || v > max)
		return -ERANGE;
	*out = v;
	return 0;
}

int wl_opt__parse_name(const char *s, const char *const *names)
{
	for (int i = 0; names[i]; i++)
		if (!strcmp(s, names[i]))
			return i;
	return -EINVAL;
}

uint64_t wl_opt__u64(const char *opt, const char *arg, uint64_t min, uint64_t max)
{
	uint64_t v;
	int err = wl_opt__parse_u64(arg, min, max, &v);

	if (!err)
		return v;
	wl_err("%s %s: %s; give a whole number from %" PRIu64 " to %" PRIu64, opt, arg,
	       err == -ERANGE ? "out of range" : "not a number", min, max);
	exit(WL_EXIT_USAGE);
}

double wl_opt__double(const char *opt, const char *arg, double min, double max)
{
	double v;
	int err = wl_opt__parse_double(arg, min, max, &v);

	if (!err)
		return v;
	wl_err("%s %s: %s; give a number from %g to %g", opt, arg,
	       err == -ERANGE ? "out of range" : "not a number", min, max);
	exit(WL_EXIT_USAGE);
}

uint64_t wl_opt__size(const char *opt, const char *arg, uint64_t min, uint64_t max)
{
	uint64_t v;
	int err = wl_opt__parse_size(arg, min, max, &v);

	if (!err)
		return v;
	wl_err("%s %s: %s; give a size from %" PRIu64 "K to %" PRIu64 "G"
	       " (a number alone is MiB, or end it with K, M, G or T)",
	       opt, arg, err == -ERANGE ? "out of range" : "not a size", min >> 10, max >> 30);
	exit(WL_EXIT_USAGE);
}

int wl_opt__name(const char *opt, const char *arg, const char *const *names)
{
	int i = wl_opt__parse_name(arg, names);
	char list[256] = "";
	size_t len = 0;

	if (i >= 0)
		return i;
	for (i = 0; names[i] && len < sizeof(list); i++)
		len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s", i ? ", " : "",
					names[i]);
	wl_err("%s %s: unknown; give one of %s", opt, arg, list);
	exit(WL_EXIT_USAGE);
}

void wl_opt__stray(const char *arg)
{
	wl_err("%s: not an option; see --help", arg);
	exit(WL_EXIT_USAGE);
}
