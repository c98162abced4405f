/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Command lines of the subcommands: argp, with errors of one line. */
#ifndef MIGRC_CMDLINE_H
#define MIGRC_CMDLINE_H

#include <argp.h>

/*
 * argp_parse() as every subcommand wants it: 0, or an error after it was printed in one line; argp
 * itself adds a second one that repeats what `--help` is for. A parser that refuses something
 * returns cmdline__error(), or EINVAL after a message of its own.
 */
int cmdline__parse(const struct argp *argp, int argc, char **argv, unsigned int flags, void *input);

/* Print "migrc NAME: ", the message and where to read more; returns EINVAL. */
error_t cmdline__error(const struct argp_state *state, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif /* MIGRC_CMDLINE_H */
