// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/text.h"

int text__read_file(const char *path, char **out, size_t *len)
{
	size_t size = 4096, used = 0;
	char *buf = NULL, *bigger;
	int fd, err = 0;
	ssize_t n;

	*out = NULL;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	do {
		if (!buf || used + 1 >= size) {
			size *= 2;
			bigger = realloc(buf, size);
			if (!bigger) {
				err = -ENOMEM;
				goto cleanup;
			}
			buf = bigger;
		}
		n = read(fd, buf + used, size - used - 1);
		if (n < 0 && errno != EINTR) {
			err = -errno;
			goto cleanup;
		}
		if (n > 0)
			used += (size_t)n;
		if (used > TEXT_MAX) {
			err = -EFBIG;
			goto cleanup;
		}
	} while (n);
	buf[used] = '\0';
	*out = buf;
	buf = NULL;
	if (len)
		*len = used;
cleanup:
	close(fd);
	free(buf);
	return err;
}

int text__first_line(const char *path, char *buf, size_t size)
{
	char *text;
	int err;

	buf[0] = '\0';
	err = text__read_file(path, &text, NULL);
	if (err)
		return err;
	text[strcspn(text, "\n")] = '\0';
	err = strlen(text) < size ? 0 : -ENOSPC;
	strncat(buf, text, size - 1);
	free(text);
	return err;
}

char *text__next_line(char **cursor)
{
	char *line = *cursor;
	char *end;

	if (!line || !*line)
		return NULL;
	end = strchr(line, '\n');
	if (end)
		*end++ = '\0';
	*cursor = end;
	return line;
}

int text__to_ll(const char *s, long long *out)
{
	char *end;

	errno = 0;
	*out = strtoll(s, &end, 10);
	if (errno == ERANGE)
		return -ERANGE;
	return end == s || *end ? -EINVAL : 0;
}

static bool is_shell_safe(const char *word)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				   "_-./,:=+@%^";

	return *word && !word[strspn(word, safe)];
}

/* Append word, quoted, to to; the caller made room: 4 bytes a character, 3 for quotes and NUL. */
static char *put_quoted(char *to, const char *word)
{
	if (is_shell_safe(word))
		return stpcpy(to, word);
	*to++ = '\'';
	for (; *word; word++) {
		if (*word == '\'')
			to = stpcpy(to, "'\\''");
		else
			*to++ = *word;
	}
	*to++ = '\'';
	*to = '\0';
	return to;
}

char *text__quote_argv(int argc, char *const *argv)
{
	char *out, *to;
	size_t size = 1;
	int i;

	for (i = 0; i < argc; i++)
		size += 4 * strlen(argv[i]) + 4;
	out = malloc(size);
	if (!out)
		return NULL;
	out[0] = '\0';
	to = out;
	for (i = 0; i < argc; i++) {
		if (i)
			*to++ = ' ';
		to = put_quoted(to, argv[i]);
	}
	return out;
}

bool text__is_name(const char *name)
{
	return *name && !name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_./-")];
}

size_t text__utf8_len(const unsigned char *s)
{
	uint32_t c;
	size_t n;

	if (s[0] < 0x80)
		return 1;
	if (s[0] >= 0xc2 && s[0] <= 0xdf)
		n = 2;
	else if ((s[0] & 0xf0) == 0xe0)
		n = 3;
	else if (s[0] >= 0xf0 && s[0] <= 0xf4)
		n = 4;
	else
		return 0;
	c = s[0] & (0x7f >> n);
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if ((n == 3 && c < 0x800) || (n == 4 && c < 0x10000) || c > 0x10ffff ||
	    (c >= 0xd800 && c <= 0xdfff))
		return 0;
	return n;
}

bool text__is_disguise(const unsigned char *s, size_t n)
{
	if (n == 2)
		return s[0] == 0xc2 && s[1] < 0xa0;
	if (n == 3 && s[0] == 0xe2)
		return (s[1] == 0x80 && s[2] >= 0xaa && s[2] <= 0xae) ||
		       (s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9);
	return false;
}

void text__make_printable(char *line)
{
	unsigned char *s = (unsigned char *)line;
	size_t n;

	for (; *s; s += n) {
		n = text__utf8_len(s);
		if (!n || (n == 1 && (*s < ' ' || *s == 0x7f)) || text__is_disguise(s, n)) {
			n = n ? n : 1;
			memset(s, '?', n);
		}
	}
}
