// SPDX-License-Identifier: GPL-2.0-or-later
/* Pages whose content is known: what a check finds, and what the locks keep apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "workloads/lib/arena.h"

#define PAGES	8

static struct arena_page table[PAGES];
static uint64_t text[ARENA_WORDS];

static struct arena fresh(uint32_t kinds)
{
	memset(table, 0, sizeof(table));
	return (struct arena){ .page = table, .pages = PAGES, .key = 77, .kinds = kinds };
}

static bool whole(const struct arena *a, uint32_t page, uint64_t state, struct arena_finding *f)
{
	return arena__check(a, page, state, text, 0, ARENA_WORDS, f);
}

static void every_wrong_word_is_found(void **state)
{
	struct arena a = fresh(0);
	uint64_t at = arena_state__next(arena_state__next(0));
	struct arena_finding f;

	(void)state;
	arena__fill(&a, 3, at, text);
	assert_true(whole(&a, 3, at, &f));
	for (uint32_t w = 0; w < ARENA_WORDS; w++) {
		text[w] ^= 1ULL << (w % 64);
		assert_false(whole(&a, 3, at, &f));
		assert_int_equal(f.page, 3);
		assert_int_equal(f.word, w);
		assert_int_equal(f.got, text[w]);
		text[w] ^= 1ULL << (w % 64);
		assert_int_equal(f.want, text[w]);
	}
}

static void another_page_version_or_arena_is_wrong(void **state)
{
	struct arena a = fresh(0), b = fresh(0);
	struct arena_finding f;

	(void)state;
	b.key = 78;
	arena__fill(&a, 3, 8, text);
	assert_false(whole(&a, 4, 8, &f));
	assert_false(whole(&b, 3, 8, &f));
	assert_false(whole(&a, 3, 16, &f));
	assert_int_equal(arena__stale_version(&a, &f), 2);
	text[f.word]++;
	assert_false(whole(&a, 3, 16, &f));
	assert_int_equal(arena__stale_version(&a, &f), UINT64_MAX);
}

static void zeroes(void **state)
{
	struct arena a = fresh(0);
	struct arena_finding f;
	uint64_t half = arena_state__half_zeroed(8), zero = arena_state__zeroed(half);

	(void)state;
	arena__fill(&a, 1, 8, text);
	memset(text + ARENA_WORDS / 2, 0, ARENA_PAGE / 2);
	assert_true(whole(&a, 1, half, &f));
	assert_false(whole(&a, 1, zero, &f));
	assert_false(whole(&a, 1, 8, &f));
	memset(text, 0, sizeof(text));
	assert_true(whole(&a, 1, zero, &f));
	assert_false(whole(&a, 1, half, &f));
	/* A new version is whole again. */
	assert_int_equal(arena_state__next(zero), 12);
	assert_int_not_equal(arena__word(&a, 1, 12, ARENA_WORDS - 1), 0);
}

static void kinds_repeat(void **state)
{
	struct arena a = fresh(4);
	struct arena_finding f;

	(void)state;
	arena__fill(&a, 0, 4 * 1, text);
	assert_true(whole(&a, 5, 4 * 5, &f));
	assert_false(whole(&a, 5, 4 * 6, &f));
}

static void locks(void **state)
{
	struct arena a = fresh(0);

	(void)state;
	assert_true(arena__try_read(&a, 2));
	assert_true(arena__try_read(&a, 2));
	assert_false(arena__try_write(&a, 2));
	assert_false(arena__try_write_range(&a, 0, 4));
	arena__end_read(&a, 2);
	assert_false(arena__try_write(&a, 2));
	arena__end_read(&a, 2);
	assert_true(arena__try_write(&a, 2));
	assert_false(arena__try_read(&a, 2));
	assert_false(arena__try_read_range(&a, 0, 4));
	/* What a failed range took, it gave back. */
	assert_true(arena__try_write(&a, 0));
	assert_true(arena__try_write(&a, 1));
	arena__end_write(&a, 2, 44);
	assert_int_equal(arena__state(&a, 2), 44);
	assert_true(arena__try_read_range(&a, 2, 6));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_wrong_word_is_found),
		cmocka_unit_test(another_page_version_or_arena_is_wrong),
		cmocka_unit_test(zeroes),
		cmocka_unit_test(kinds_repeat),
		cmocka_unit_test(locks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
