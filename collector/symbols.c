// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <string.h>

#include "collector/symbols.h"

/* The next place from `at` on where a symbol of the text begins with name; NULL: none. */
static const char *next_symbol(const char *text, const char *at, const char *name)
{
	while ((at = strstr(at, name))) {
		/* A line is "address type name", with "\t[module]" behind a module's. */
		if (at > text && at[-1] == ' ')
			return at;
		at++;
	}
	return NULL;
}

bool symbols__has(const char *text, const char *name)
{
	const char *at = text;
	size_t len = strlen(name);

	while (at && (at = next_symbol(text, at, name))) {
		if (strchr("\t\n", at[len]))	/* its end, or that of the text */
			return true;
		at += len;
	}
	return false;
}

/* Is this what the compiler puts behind a name? *apart: called by others than NAME. */
static bool is_twin(const char *suffix, bool *apart)
{
	static const char * const kinds[] = { ".isra.", ".constprop.", ".part." };
	size_t i;

	*apart = false;
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strncmp(suffix, kinds[i], strlen(kinds[i])))
			*apart = true;
	if (*apart) {
		/* The cold part of a twin belongs to the twin. */
		const char *cold = strstr(suffix, ".cold");

		if (cold && cold < suffix + strcspn(suffix, "\t\n"))
			*apart = false;
		return true;
	}
	return !strncmp(suffix, ".cold", 5) && strchr("\t\n.", suffix[5]);
}

size_t symbols__twins(const char *text, const char *name, char *buf, size_t size)
{
	const char *at = text;
	size_t nr = 0, used = 0, len = strlen(name);
	bool apart;

	buf[0] = '\0';
	while (at && (at = next_symbol(text, at, name))) {
		int symbol_len = (int)strcspn(at, "\t\n");

		if (is_twin(at + len, &apart)) {
			nr += apart;
			if (used < size)
				used += (size_t)snprintf(buf + used, size - used, "%s%.*s",
							 used ? ", " : "", symbol_len, at);
		}
		at += symbol_len;
	}
	return nr;
}
