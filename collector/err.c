// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdarg.h>
#include <stdio.h>

#include "collector/err.h"
#include "collector/text.h"

void err__print(const char *fmt, ...)
{
	char line[2048];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	text__make_printable(line);
	fflush(stdout);
	fprintf(stderr, "migrc: %s\n", line);
}
