// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "collector/checks.h"

/* A timed probe and a tracepoint, whose counts add up; both with raw events. */
struct fixture {
	struct probe_status timed, tracepoint;
	const struct probe_status *all[2];
	struct checks checks;
};

static void setup(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	f->timed.name = "timed";
	f->timed.rung = RUNG_FENTRY;
	f->timed.count = (struct probe_count){
		.entries = 1000, .exits = 998, .seen = 990, .submitted = 985, .lost = 5,
	};
	f->timed.in_flight = 2;
	f->tracepoint.name = "tp";
	f->tracepoint.rung = RUNG_TRACEPOINT;
	f->tracepoint.count = (struct probe_count){ .seen = 10, .submitted = 10 };
	f->all[0] = &f->timed;
	f->all[1] = &f->tracepoint;
}

static void test_identities_hold(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	checks__identities(&f.checks, f.all, 2, true, 995);
	assert_int_equal(f.checks.nr, 0);
	assert_int_equal(f.checks.identities, 5);
	assert_int_equal(f.checks.identities_broken, 0);
}

static void assert_identity_broken(struct fixture *f, bool events, uint64_t received,
				   const char *part)
{
	f->checks.identities = f->checks.identities_broken = 0;
	checks__identities(&f->checks, f->all, 2, events, received);
	assert_int_equal(f->checks.identities, events ? 5 : 2);
	assert_int_equal(f->checks.identities_broken, 1);
	assert_int_equal(f->checks.nr, 1);
	assert_string_equal(f->checks.broken[0].rule, "identity");
	assert_non_null(strstr(f->checks.broken[0].detail, part));
}

static void test_identities_broken(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	f.timed.in_flight = 1;
	assert_identity_broken(&f, false, 0, "timed: 1000 entries");
	setup(&f);
	f.timed.count.no_exit = 1;
	assert_identity_broken(&f, false, 0, "1 without exit");
	setup(&f);
	f.timed.count.skipped = 1;
	assert_identity_broken(&f, true, 995, "1 sampled out");
	setup(&f);
	f.tracepoint.count.submitted = 9;
	assert_identity_broken(&f, true, 994, "tp: 10 seen");
	setup(&f);
	assert_identity_broken(&f, true, 994, "995 submitted, 994 received");
}

/* Calls whose return was never seen, and events that sampling left out, are accounted for. */
static void test_identities_of_exceptions(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	f.timed.count.entries += 5;
	f.timed.count.no_exit = 3;
	f.timed.count.no_exit_late = 2;
	f.timed.count.seen += 7;
	f.timed.count.skipped = 7;
	checks__identities(&f.checks, f.all, 2, true, 995);
	assert_int_equal(f.checks.nr, 0);
}

/* Aggregated: nothing enters the ring, so only entries and exits count. */
static void test_identities_aggregated(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	f.timed.count.submitted = f.timed.count.lost = f.tracepoint.count.submitted = 0;
	checks__identities(&f.checks, f.all, 2, false, 0);
	assert_int_equal(f.checks.nr, 0);
}

/* What is not attached has no counts that could add up. */
static void test_not_attached(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	f.timed.rung = RUNG_NONE;
	f.timed.in_flight = 77;
	checks__identities(&f.checks, f.all, 2, true, 10);
	checks__losses(&f.checks, f.all, 2, 0);
	assert_int_equal(f.checks.nr, 0);
}

static void test_losses(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	checks__losses(&f.checks, f.all, 2, 0.01);	/* 5 of 995 */
	assert_int_equal(f.checks.nr, 0);
	checks__losses(&f.checks, f.all, 2, 0.001);
	assert_int_equal(f.checks.nr, 1);
	assert_string_equal(f.checks.broken[0].rule, "lost-events");
	setup(&f);
	f.tracepoint.misses = 3;			/* a few skipped runs are nobody's fault */
	checks__losses(&f.checks, f.all, 2, 0.05);
	assert_int_equal(f.checks.nr, 0);
	f.tracepoint.misses = 4;			/* more are losses as others are */
	checks__losses(&f.checks, f.all, 2, 0.05);
	assert_int_equal(f.checks.nr, 1);
	assert_non_null(strstr(f.checks.broken[0].detail, "tp: 4 of 14"));
	setup(&f);
	f.tracepoint.misses = 1;			/* and beside other losses they count, too */
	f.tracepoint.count.lost = 1;
	checks__losses(&f.checks, f.all, 2, 0.05);
	assert_non_null(strstr(f.checks.broken[0].detail, "tp: 2 of 12"));
}

static void test_taint(void **state)
{
	struct checks c = { .nr = 0 };

	(void)state;
	checks__taint(&c, 1 << 9, 1 << 9);		/* warned before the run */
	checks__taint(&c, 0, 1 << 12 | 1 << 13);	/* modules of elsewhere */
	assert_int_equal(c.nr, 0);
	checks__taint(&c, 0, 1 << 9 | 1 << 14);
	assert_int_equal(c.nr, 1);
	assert_string_equal(c.broken[0].rule, "kernel-splat");
	assert_non_null(strstr(c.broken[0].detail, "warning"));
	assert_non_null(strstr(c.broken[0].detail, "lockup"));
}

/* Details that do not fit are cut, not written past their end. */
static void test_long_details(void **state)
{
	struct checks c = { .nr = 0 };
	int i;

	(void)state;
	for (i = 0; i < 200; i++)
		checks__break(&c, "identity", "detail number %d", i);
	assert_int_equal(c.nr, 1);
	assert_true(strlen(c.broken[0].detail) < sizeof(c.broken[0].detail));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_identities_hold),
		cmocka_unit_test(test_identities_broken),
		cmocka_unit_test(test_identities_of_exceptions),
		cmocka_unit_test(test_identities_aggregated),
		cmocka_unit_test(test_not_attached),
		cmocka_unit_test(test_losses),
		cmocka_unit_test(test_taint),
		cmocka_unit_test(test_long_details),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
