// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdarg.h>
#include <stdio.h>

#include "collector/err.h"

void err__print(const char *fmt, ...)
{
	char line[2048];
	va_list ap;
	char *c;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	for (c = line; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	fflush(stdout);
	fprintf(stderr, "migrc: %s\n", line);
}
