/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one channel for errors. Every message to the user is one line, "migrc: <thing>: <what>;
 * <remedy>", on stderr.
 */
#ifndef MIGRC_ERR_H
#define MIGRC_ERR_H

/* Exit codes, the same in every subcommand. */
enum migrc_exit {
	EXIT_GOOD = 0,
	EXIT_WORSE = 1,		/* gate: regression; record: the workload failed */
	EXIT_TOOL = 2,		/* usage or tool error */
	EXIT_INCONCLUSIVE = 3,
	EXIT_INVALID = 4,	/* invalid runs */
	EXIT_UNSUPPORTED = 5,	/* not permitted or not supported here */
};

/*
 * Print "migrc: ", the message and a newline on stderr as one write. Control characters of the
 * message (a newline in a file name, say) are printed as '?', so that it stays one line.
 */
void err__print(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif /* MIGRC_ERR_H */
