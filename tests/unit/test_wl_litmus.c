// SPDX-License-Identifier: GPL-2.0-or-later
/* What the litmus tests decide without a kernel, and that their table is whole. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "workloads/lib/litmus.h"

static enum litmus_verdict judge(struct litmus_result *r, bool broken)
{
	r->broken = broken;
	return litmus__judge(r);
}

static void with_guards_it_passes_without_violations(void **state)
{
	struct litmus_result r = { .wanted = 60, .rounds = 60, .deferred = 60 };

	(void)state;
	assert_int_equal(judge(&r, false), LITMUS_OK);
	r.violations = 1;
	assert_int_equal(judge(&r, false), LITMUS_FAILED);
	r.violations = 0;
	/* A stock kernel does not say what it defers, and must pass all the same. */
	r.deferred = -1;
	assert_int_equal(judge(&r, false), LITMUS_OK);
}

static void without_a_guard_it_passes_with_violations(void **state)
{
	struct litmus_result r = { .wanted = 60, .rounds = 60, .deferred = 60 };

	(void)state;
	assert_int_equal(judge(&r, true), LITMUS_FAILED);
	r.violations = 1;
	assert_int_equal(judge(&r, true), LITMUS_OK);
	r.deferred = 0;
	assert_int_equal(judge(&r, true), LITMUS_OK);
	/* Nothing deferred, nothing to guard; a kernel that does not say is not excused. */
	r.violations = 0;
	assert_int_equal(judge(&r, true), LITMUS_NOT_DEFERRED);
	r.deferred = -1;
	assert_int_equal(judge(&r, true), LITMUS_FAILED);
}

static void what_did_not_happen_is_no_pass(void **state)
{
	struct litmus_result r = { .wanted = 60, .deferred = 60 };

	(void)state;
	for (int broken = 0; broken <= 1; broken++) {
		r.violations = 0;
		assert_int_equal(judge(&r, broken), LITMUS_NOT_MOVED);
		r.violations = 1;
		assert_int_equal(judge(&r, broken), LITMUS_NOT_MOVED);
		r.lacks = "CONFIG_X";
		assert_int_equal(judge(&r, broken), LITMUS_SKIPPED);
		r.err = -EIO;
		assert_int_equal(judge(&r, broken), LITMUS_FAILED);
		r.lacks = NULL;
		assert_int_equal(judge(&r, broken), LITMUS_FAILED);
		r.err = 0;
	}
}

static void a_race_may_not_come_about(void **state)
{
	struct litmus_result r = { .race = true, .wanted = 10, .deferred = 60 };

	(void)state;
	assert_int_equal(judge(&r, false), LITMUS_NO_RACE);
	assert_int_equal(judge(&r, true), LITMUS_NO_RACE);
	r.rounds = 1;
	assert_int_equal(judge(&r, false), LITMUS_OK);
	assert_int_equal(judge(&r, true), LITMUS_FAILED);
}

static void it_goes_on_until_enough(void **state)
{
	struct litmus_result r = { .wanted = 5 };

	(void)state;
	assert_true(litmus__goes_on(&r, 0, 0));
	assert_true(litmus__goes_on(&r, 49, 1));
	assert_false(litmus__goes_on(&r, 50, 0));
	r.rounds = 5;
	assert_false(litmus__goes_on(&r, 5, 0));
	r.race = true;
	assert_false(litmus__goes_on(&r, 5, 0));
	r.broken = true;
	assert_true(litmus__goes_on(&r, 5, 0));
	assert_false(litmus__goes_on(&r, 5, 1));
	assert_false(litmus__goes_on(&r, 50, 0));
	r.race = false;
	assert_false(litmus__goes_on(&r, 5, 0));
}

static void pagemap_entries(void **state)
{
	(void)state;
	assert_false(litmus__entry_swapped(0));
	assert_true(litmus__entry_swapped(1ULL << 62 | 0x1234));
	assert_false(litmus__entry_swapped(1ULL << 63 | 0x1234));
	assert_true(litmus__entry_pfn(1ULL << 63 | 1ULL << 61 | 1ULL << 56 | 0x1234) == 0x1234);
	assert_true(litmus__entry_pfn(1ULL << 63 | ((1ULL << 55) - 1)) == (1ULL << 55) - 1);
	/* The offset in a swap device is no frame. */
	assert_true(litmus__entry_pfn(1ULL << 62 | 0x1234) == 0);
}

static void hooks_have_names(void **state)
{
	(void)state;
	for (unsigned int a = 0; a < LITMUS_HOOKS; a++) {
		assert_non_null(litmus__hook_name(a));
		for (unsigned int b = 0; b < a; b++)
			assert_string_not_equal(litmus__hook_name(a), litmus__hook_name(b));
	}
	assert_null(litmus__hook_name(LITMUS_HOOKS));
	/* Bit 0 and the last one are what the patch says. */
	assert_string_equal(litmus__hook_name(0), "wp");
	assert_string_equal(litmus__hook_name(13), "drain");
}

static void masks_have_names(void **state)
{
	char text[64], small[8];

	(void)state;
	litmus__hook_names(0, text, sizeof(text));
	assert_string_equal(text, "");
	litmus__hook_names(LITMUS_BIT(LITMUS_WP), text, sizeof(text));
	assert_string_equal(text, "wp");
	litmus__hook_names(LITMUS_BIT(LITMUS_UFFD) | LITMUS_BIT(LITMUS_SHMEM), text, sizeof(text));
	assert_string_equal(text, "uffd+shmem");
	litmus__hook_names((1U << LITMUS_HOOKS) - 1, small, sizeof(small));
	assert_string_equal(small, "wp+faul");
}

/* Every hook has a test that must fail without it, and every test has a hook or a reason. */
static void the_table_is_whole(void **state)
{
	unsigned int hooks = 0, n = 0;

	(void)state;
	for (; litmus__test(n); n++) {
		const struct litmus_test *t = litmus__test(n);

		hooks |= t->hooks | t->together;
		assert_non_null(t->write);
		assert_true(!(t->hooks | t->together) == !!t->why);
		assert_int_equal((t->hooks | t->together) >> LITMUS_HOOKS, 0);
		assert_false(t->flags & LITMUS_ZEROES && t->flags & LITMUS_KEEPS);
		for (unsigned int i = 0; i < n; i++)
			assert_string_not_equal(t->name, litmus__test(i)->name);
	}
	assert_true(n > 30);
	assert_int_equal(hooks, (1U << LITMUS_HOOKS) - 1);
	assert_null(litmus__test(n));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(with_guards_it_passes_without_violations),
		cmocka_unit_test(without_a_guard_it_passes_with_violations),
		cmocka_unit_test(what_did_not_happen_is_no_pass),
		cmocka_unit_test(a_race_may_not_come_about),
		cmocka_unit_test(it_goes_on_until_enough), cmocka_unit_test(pagemap_entries),
		cmocka_unit_test(hooks_have_names), cmocka_unit_test(masks_have_names),
		cmocka_unit_test(the_table_is_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
