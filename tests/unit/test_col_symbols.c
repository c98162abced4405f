// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "collector/symbols.h"

static const char kallsyms[] =
	"ffffffff81000000 T _text\n"
	"ffffffff81000100 t do_wp_page\n"
	"ffffffff81000200 t do_wp_page.part.0\n"
	"ffffffff81000300 t do_wp_page.cold\n"
	"ffffffff81000400 T try_to_migrate_one\n"
	"ffffffff81000500 t flush_all.isra.0\n"
	"ffffffff81000600 t flush_all.constprop.0.isra.0\n"
	"ffffffff81000700 t flush_all.isra.0.cold\n"
	"ffffffff81000800 t in_module\t[mod]\n"
	"ffffffff81000900 t x_do_wp_page.isra.0\n"
	"ffffffff81000a00 t do_wp_page.llvm.123\n"
	"ffffffff81000b00 t do_wp_page.coldness\n"
	"ffffffff81000c00 T migrate_pages";

static void test_has(void **state)
{
	(void)state;
	assert_true(symbols__has(kallsyms, "do_wp_page"));
	assert_true(symbols__has(kallsyms, "in_module"));
	assert_true(symbols__has(kallsyms, "migrate_pages"));	/* the text's last, no newline */
	assert_false(symbols__has(kallsyms, "try_to_migrate"));	/* only a longer one */
	assert_false(symbols__has(kallsyms, "wp_page"));
	assert_false(symbols__has(kallsyms, "flush_all"));
	assert_false(symbols__has(NULL, "do_wp_page"));
}

static void test_twins(void **state)
{
	char buf[200], small[24];

	(void)state;
	assert_int_equal(symbols__twins(kallsyms, "do_wp_page", buf, sizeof(buf)), 1);
	assert_string_equal(buf, "do_wp_page.part.0, do_wp_page.cold");
	assert_int_equal(symbols__twins(kallsyms, "flush_all", buf, sizeof(buf)), 2);
	assert_string_equal(buf, "flush_all.isra.0, flush_all.constprop.0.isra.0, "
			    "flush_all.isra.0.cold");
	assert_int_equal(symbols__twins(kallsyms, "migrate_pages", buf, sizeof(buf)), 0);
	assert_string_equal(buf, "");
	assert_int_equal(symbols__twins(NULL, "do_wp_page", buf, sizeof(buf)), 0);
	assert_string_equal(buf, "");
	/* Cut, and still counted. */
	assert_int_equal(symbols__twins(kallsyms, "flush_all", small, sizeof(small)), 2);
	assert_string_equal(small, "flush_all.isra.0, flush");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_has), cmocka_unit_test(test_twins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
