/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lines on stdout that `migrc record` stores; print them when the workload is over:
 *
 *	migrc: metric NAME VALUE UNIT higher|lower|none time|count
 *	migrc: text NAME VALUE
 *	migrc: hist NAME UNIT SUBBITS TOTAL SUM MAX BIN:N ...
 *
 * Names and units are made to fit one word: letters become small, anything outside of
 * [a-z0-9_./-] (units: [A-Za-z0-9_./%-]) becomes '_'. A text's control characters and backslashes
 * are written as \n, \t, \\ or \OOO, so that a value can never forge another line.
 */
#ifndef WL_PROTO_H
#define WL_PROTO_H

#include <stdint.h>
#include <stdio.h>

#include "workloads/lib/hist.h"

enum wl_better { WL_HIGHER, WL_LOWER, WL_NEITHER };
enum wl_kind { WL_TIME, WL_COUNT };

/* -EINVAL, and no line, for a value that is not finite. */
int wl_proto__metric(FILE *f, const char *name, double value, const char *unit,
		     enum wl_better better, enum wl_kind kind);
void wl_proto__text(FILE *f, const char *name, const char *value);
void wl_proto__hist(FILE *f, const char *name, const char *unit, const struct wl_hist *h);
/* The number with thousands separators, whatever the locale: 1234567 -> "1,234,567". */
const char *wl_proto__commas(uint64_t v, char buf[32]);

#endif /* WL_PROTO_H */
