// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "collector/sha256.h"
#include "collector/text.h"

static void assert_quoted(char *const *argv, int argc, const char *expected)
{
	char *quoted = text__quote_argv(argc, argv);

	assert_non_null(quoted);
	assert_string_equal(quoted, expected);
	free(quoted);
}

static void test_quote(void **state)
{
	char *plain[] = { "xs", "-g", "800", "--out=a/b.txt" };
	char *hard[] = { "sh", "-c", "echo 'it''s' \"$HOME\"", "" };
	char *quote[] = { "a'b" };

	(void)state;
	assert_quoted(plain, 4, "xs -g 800 --out=a/b.txt");
	assert_quoted(hard, 4, "sh -c 'echo '\\''it'\\'''\\''s'\\'' \"$HOME\"' ''");
	assert_quoted(quote, 1, "'a'\\''b'");
}

/* A real shell reads back what was quoted. */
static void test_quote_through_shell(void **state)
{
	char *argv[] = { "printf", "%s|", "a b", "it's", "$x `y` \\", "two\nlines", "*?[~#!", "" };
	char *quoted = text__quote_argv(8, argv);
	char out[256] = "";
	size_t n;
	FILE *f;

	(void)state;
	assert_non_null(quoted);
	f = popen(quoted, "r");
	assert_non_null(f);
	n = fread(out, 1, sizeof(out) - 1, f);
	out[n] = '\0';
	assert_int_equal(pclose(f), 0);
	assert_string_equal(out, "a b|it's|$x `y` \\|two\nlines|*?[~#!||");
	free(quoted);
}

static void test_to_ll(void **state)
{
	long long v;

	(void)state;
	assert_int_equal(text__to_ll("-42", &v), 0);
	assert_int_equal(v, -42);
	assert_int_equal(text__to_ll("", &v), -EINVAL);
	assert_int_equal(text__to_ll("1x", &v), -EINVAL);
	assert_int_equal(text__to_ll("9223372036854775808", &v), -ERANGE);
}

static void test_names(void **state)
{
	(void)state;
	assert_true(text__is_name("lookups_per_s"));
	assert_true(text__is_name("a.b/c-0"));
	assert_false(text__is_name(""));
	assert_false(text__is_name("Upper"));
	assert_false(text__is_name("a b"));
}

static void test_lines(void **state)
{
	char text[] = "one\n\nthree";
	char *at = text;

	(void)state;
	assert_string_equal(text__next_line(&at), "one");
	assert_string_equal(text__next_line(&at), "");
	assert_string_equal(text__next_line(&at), "three");
	assert_null(text__next_line(&at));
}

static void test_read_file(void **state)
{
	char line[16];
	char *text;

	(void)state;
	assert_int_equal(text__read_file("/nonexistent/file", &text, NULL), -ENOENT);
	assert_null(text);
	assert_int_equal(text__read_file("/dev/zero", &text, NULL), -EFBIG);
	assert_null(text);
	assert_int_equal(text__first_line("/proc/sys/kernel/ostype", line, sizeof(line)), 0);
	assert_string_equal(line, "Linux");
}

static void test_make_printable(void **state)
{
	char line[] = "a\033[31m\n\xc2\x9b" "b\xff\xe2\x80\xae\x7f\xc3\xa9";

	(void)state;
	text__make_printable(line);
	assert_string_equal(line, "a?[31m???b?????\xc3\xa9");
}

/* The examples of FIPS 180-4. */
static void test_sha256(void **state)
{
	static const struct {
		const char *text, *hex;
	} known[] = {
		{ "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
		{ "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
		{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
	};
	char hex[SHA256__HEX_SIZE];
	struct sha256 sha;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		sha256__init(&sha);
		sha256__add(&sha, known[i].text, strlen(known[i].text));
		sha256__hex(&sha, hex);
		assert_string_equal(hex, known[i].hex);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quote),
		cmocka_unit_test(test_quote_through_shell),
		cmocka_unit_test(test_to_ll),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_read_file),
		cmocka_unit_test(test_make_printable),
		cmocka_unit_test(test_sha256),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
