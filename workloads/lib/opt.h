/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Strict parsing of option arguments. The wl_opt__parse_*() return 0, -EINVAL (not such a value at
 * all) or -ERANGE (outside of [min, max]); the others print one line naming option, argument and
 * what would be good, and exit with WL_EXIT_USAGE: for argp parsers only.
 */
#ifndef WL_OPT_H
#define WL_OPT_H

#include <stdint.h>

int wl_opt__parse_u64(const char *s, uint64_t min, uint64_t max, uint64_t *out);
int wl_opt__parse_double(const char *s, double min, double max, double *out);
/* A size in bytes, rounded up to whole pages: "64" is 64 MiB; "512K", "64M", "2G" as they say. */
int wl_opt__parse_size(const char *s, uint64_t min, uint64_t max, uint64_t *out);
/* Index of s in a NULL-terminated list, or -EINVAL. */
int wl_opt__parse_name(const char *s, const char *const *names);

uint64_t wl_opt__u64(const char *opt, const char *arg, uint64_t min, uint64_t max);
double wl_opt__double(const char *opt, const char *arg, double min, double max);
uint64_t wl_opt__size(const char *opt, const char *arg, uint64_t min, uint64_t max);
int wl_opt__name(const char *opt, const char *arg, const char *const *names);
/* For an argument that is not an option's: no program takes any. */
void wl_opt__stray(const char *arg) __attribute__((noreturn));

#endif /* WL_OPT_H */
