// SPDX-License-Identifier: GPL-2.0-or-later
#include "collector/cmdline.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "collector/text.h"

/*
 * Where argp would go on with "Try `... --help'", it writes to err_stream, and nothing if that is
 * NULL; getopt has printed its own line by then.
 */
static error_t quiet(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	if (key != ARGP_KEY_INIT)
		return ARGP_ERR_UNKNOWN;
	state->err_stream = NULL;
	state->child_inputs[0] = state->input;
	return 0;
}

int cmdline__parse(const struct argp *argp, int argc, char **argv, unsigned int flags, void *input)
{
	const struct argp_child children[] = { { argp, 0, NULL, 0 }, { 0 } };
	const struct argp root = { .parser = quiet, .children = children };
	int next = argc, err = argp_parse(&root, argc, argv, flags, &next, input);

	if (!err && next < argc) {
		fprintf(stderr, "%s: %s: one argument too many; see `%s --help`\n", argv[0],
			argv[next], argv[0]);
		return EINVAL;
	}
	return err;
}

error_t cmdline__error(const struct argp_state *state, const char *fmt, ...)
{
	char line[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	text__make_printable(line);
	fflush(stdout);
	fprintf(stderr, "%s: %s; see `%s --help`\n", state->name, line, state->name);
	return EINVAL;
}
