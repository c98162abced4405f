/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Small texts: whole files of procfs and sysfs, lines, quoting. */
#ifndef MIGRC_TEXT_H
#define MIGRC_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* More is no text of anybody: a device without end, or a file taken for another. */
#define TEXT_MAX	((size_t)64 << 20)

/* The whole file as a string that the caller frees. Returns 0 or a negative errno, -EFBIG above TEXT_MAX. */
int text__read_file(const char *path, char **out, size_t *len);

/* First line of a file without its newline; "" and a negative errno where it cannot be read. */
int text__first_line(const char *path, char *buf, size_t size);

/* Walk the lines of *cursor in place: each call ends a line with NUL and returns it, then NULL. */
char *text__next_line(char **cursor);

/* Whole-string integer: 0, -EINVAL (not a number, or something after it), -ERANGE. */
int text__to_ll(const char *s, long long *out);

/*
 * The command line, so that a shell reads back the same arguments: words of safe characters as they
 * are, others in single quotes. A string that the caller frees; NULL without memory.
 */
char *text__quote_argv(int argc, char *const *argv);

/* Does name consist of one or more of [a-z0-9_./-]? */
bool text__is_name(const char *name);

/* Length of the well-formed UTF-8 sequence at s (RFC 3629), 0 if there is none. */
size_t text__utf8_len(const unsigned char *s);
/* C1 controls and the characters that turn the direction of text, which can disguise it. */
bool text__is_disguise(const unsigned char *s, size_t n);
/* What must not reach a terminal from another's text (the above, controls, no UTF-8) becomes '?'. */
void text__make_printable(char *line);

#endif /* MIGRC_TEXT_H */
