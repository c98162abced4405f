// SPDX-License-Identifier: GPL-2.0-or-later
/* Tables on a terminal: what fits, what is shortened, and that names stay apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/doc.h"
#include "analysis/textgrid.h"

#define LONG	"a-very-long-name-that-somebody-thought-of-and-that-does-not-fit-anywhere-"

static void shortened(const char *const *names, size_t nr, size_t columns, char **out)
{
	names__shorten(names, nr, columns, out);
	for (size_t i = 0; i < nr; i++) {
		if (utf8__width(names[i]) > columns)
			assert_true(utf8__width(out[i]) <= columns);
		else
			assert_string_equal(out[i], names[i]);
		for (size_t k = 0; k < i; k++)
			assert_int_equal(!strcmp(out[i], out[k]), !strcmp(names[i], names[k]));
	}
}

static void free_all(char **s, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		free(s[i]);
}

static void test_ends_are_kept(void **state)
{
	static const char *const names[] = { "stock", LONG "one", LONG "two", LONG "one" };
	char *out[4];

	(void)state;
	shortened(names, 4, 12, out);
	assert_string_equal(out[1], "a-ver..e-one");
	free_all(out, 4);
}

static void test_same_ends(void **state)
{
	static const char *const names[] = {
		"begin-" LONG "a-end", "begin-" LONG "b-end", "begin-" LONG "c-end",
		/* what the first is shortened to is a name too */
		"begi..-end", "begin-" LONG "a-end",
	};
	char *out[5];

	(void)state;
	shortened(names, 5, 10, out);
	assert_string_equal(out[3], "begi..-end");
	assert_string_equal(out[0], "begin-a-~2");
	assert_string_equal(out[1], "begin-a-~3");
	free_all(out, 5);
}

static void test_hundred_alike(void **state)
{
	const char *names[100];
	char *out[100];

	(void)state;
	for (size_t i = 0; i < 100; i++)
		names[i] = sbuf__format("begin %s %zu %s end", LONG, i, LONG);
	shortened(names, 100, 8, out);
	free_all(out, 100);
	free_all((char **)names, 100);
}

static void test_widths(void **state)
{
	size_t columns;

	(void)state;
	assert_int_equal(utf8__width("stock"), 5);
	assert_int_equal(utf8__width("\xe6\xbc\xa2\xe5\xad\x97"), 4);		/* two ideographs */
	assert_int_equal(utf8__width("e\xcc\x81"), 1);			/* e, acute accent */
	assert_int_equal(utf8__width("\xf0\x9f\x98\x80"), 2);			/* an emoji */
	assert_int_equal(utf8__width("\xff\xfe"), 2);				/* no UTF-8 */
	assert_int_equal(utf8__char("\xe6\xbc\xa2x", &columns), 3);
	assert_int_equal(columns, 2);
}

static void test_lines(void **state)
{
	(void)state;
	assert_int_equal(utf8__line_len("short", 10), 5);
	assert_int_equal(utf8__line_len("two words", 8), 3);
	/* not one word alone before a long one that can be broken */
	assert_int_equal(utf8__line_len("a: begin-of-more", 12), 12);
	assert_int_equal(utf8__line_len("exactly ten", 7), 7);
	assert_int_equal(utf8__line_len("pages_per_call", 8), 6);		/* pages_ */
	assert_int_equal(utf8__line_len("unbreakable", 4), 4);
	assert_int_equal(utf8__line_len("\xe6\xbc\xa2", 1), 3);		/* one at least */
	assert_int_equal(utf8__line_len("12345-67890", 8), 8);		/* numbers stay whole */
}

/* Every line of the text is at most so wide; how many there are. */
static size_t check_lines(const char *text, size_t width)
{
	size_t lines = 0;

	for (const char *s = text; *s; lines++) {
		size_t n = strcspn(s, "\n");
		char *line = sbuf__format("%.*s", (int)n, s);

		if (utf8__width(line) > width)
			fail_msg("%zu columns: %s", utf8__width(line), line);
		free(line);
		s += n + (s[n] == '\n');
	}
	return lines;
}

static char *table(size_t width, const char *align, const char *const *head, size_t rows,
		   const char *const *cells)
{
	struct doc d = { .format = DOC_TEXT, .width = width };
	struct grid g;

	grid__init(&g, "", align, head);
	for (size_t r = 0; r < rows; r++) {
		grid__row(&g, DOC_PLAIN);
		for (size_t c = 0; c < strlen(align); c++)
			grid__cell(&g, "%s", cells[r * strlen(align) + c]);
	}
	doc__grid(&d, &g);
	return d.out.s;
}

static void test_fits(void **state)
{
	static const char *const head[] = { "run", "arm", "value", "says" };
	static const char *const cells[] = { "1", "stock", "12.5 us", "valid" };
	char *text = table(80, "rnrl", head, 1, cells);

	(void)state;
	assert_string_equal(text, "\nrun  arm      value  says\n  1  stock  12.5 us  valid\n");
	free(text);
}

static void test_hostile_fits(void **state)
{
	static const char *const head[] = { LONG "x", LONG "y", LONG LONG, "\xe6\xbc\xa2\xe5\xad\x97" };
	static const char *const cells[] = {
		LONG LONG LONG, LONG "p", "123456.7 s", "text with \033[31mescapes\nand more " LONG,
		LONG LONG LONG "2", LONG "q", "1", "\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2 " LONG,
	};
	static const size_t widths[] = { 40, 80, 132 };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		char *text = table(widths[i], "mnrl", head, 2, cells);

		check_lines(text, widths[i]);
		assert_null(strchr(text, '\033'));
		/* Numbers stay whole where there is any room. */
		assert_true(widths[i] < 80 || strstr(text, "123456.7 s"));
		/* and below, what was shortened */
		if (widths[i] >= 80 && !strstr(text, "-p: a-very-long-name"))
			fail_msg("no legend: %s", text);
		free(text);
	}
}

/* Eleven columns of numbers: narrower than their heads and cells want it. */
static void test_no_room(void **state)
{
	const char *head[11], *cells[11];
	char *text;

	(void)state;
	for (size_t i = 0; i < 11; i++) {
		head[i] = "a long head";
		cells[i] = "1234567.8 ms";
	}
	text = table(80, "rrrrrrrrrrr", head, 1, cells);
	check_lines(text, 80);
	free(text);
}

static void test_wide_has_no_legend(void **state)
{
	static const char *const head[] = { "arm" };
	static const char *const cells[] = { LONG };
	char *text = table(200, "n", head, 1, cells);

	(void)state;
	assert_string_equal(text, "\narm\n" LONG "\n");
	free(text);
}

static void test_long_legend_ends(void **state)
{
	static const char *const head[] = { "arm" };
	const char *cells[30];
	char *text;

	(void)state;
	for (size_t i = 0; i < 30; i++)
		cells[i] = sbuf__format(LONG LONG "%zu", i);
	text = table(60, "n", head, 30, cells);
	check_lines(text, 60);
	assert_non_null(strstr(text, "18 more names were shortened"));
	free(text);
	free_all((char **)cells, 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ends_are_kept),
		cmocka_unit_test(test_same_ends),
		cmocka_unit_test(test_hundred_alike),
		cmocka_unit_test(test_widths),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_fits),
		cmocka_unit_test(test_hostile_fits),
		cmocka_unit_test(test_no_room),
		cmocka_unit_test(test_wide_has_no_legend),
		cmocka_unit_test(test_long_legend_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
