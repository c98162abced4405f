// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "workloads/lib/err.h"

void wl_err(const char *fmt, ...)
{
	va_list ap;

	/* What was printed before must not appear after the error when both go to one file. */
	fflush(stdout);
	fprintf(stderr, "migrc: %s: ", program_invocation_short_name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}
