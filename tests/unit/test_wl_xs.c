// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "workloads/lib/xs_core.h"

static const struct xs_conf base = {
	.size = XS_SMALL,
	.gridpoints = 40,
	.particles = 500,
	.lookups = 10,
	.threads = 1,
	.backing = { .kind = WL_BACKING_ANON, .dir = "/tmp" },
};

static uint64_t checksum(const struct xs_conf *conf)
{
	struct xs_result res;
	struct xs x;

	assert_int_equal(xs__build(&x, conf), 0);
	assert_int_equal(xs__run(&x, &res), 0);
	assert_int_equal(res.lookups, conf->particles * conf->lookups);
	xs__free(&x);
	return res.checksum;
}

static void checksum_is_independent_of_threads(void **state)
{
	uint64_t want = checksum(&base);
	struct xs_conf conf = base;

	(void)state;
	for (conf.threads = 2; conf.threads <= 9; conf.threads += 7)
		assert_true(checksum(&conf) == want);
}

/* A thread that changes the first channel of all points, on and on. */
static struct {
	pthread_t thread;
	atomic_bool stop;
	struct xs_point *points;
	uint64_t n;
} spoiler;

static void *spoil(void *arg)
{
	(void)arg;
	for (double d = 1; !atomic_load(&spoiler.stop); d++)
		for (uint64_t i = 0; i < spoiler.n; i++)
			spoiler.points[i].xs[0] = d;
	return NULL;
}

/* More than one pass of whole particles, by more threads than one: the checksum of one pass. */
static void passes_give_the_checksum_of_one(void **state)
{
	struct xs_conf conf = base;
	struct xs_result res;
	uint64_t want;
	struct xs x;

	(void)state;
	conf.threads = 3;
	conf.particles = 33;
	want = checksum(&conf);
	conf.seconds = 0.2;
	assert_int_equal(xs__build(&x, &conf), 0);
	assert_int_equal(xs__run(&x, &res), 0);
	assert_true(res.checksum == want);
	assert_true(res.passes > 1);
	assert_int_equal(res.lookups, res.passes * conf.particles * conf.lookups);
	xs__free(&x);
}

/* Content that changes between the passes is an error. */
static void passes_see_a_change(void **state)
{
	struct xs_conf conf = base;
	struct xs_result res;
	struct xs x;

	(void)state;
	conf.particles = 1;
	conf.seconds = 0.2;
	assert_int_equal(xs__build(&x, &conf), 0);
	spoiler.points = (struct xs_point *)x.grid;
	spoiler.n = x.points;
	assert_int_equal(pthread_create(&spoiler.thread, NULL, spoil, NULL), 0);
	assert_int_equal(xs__run(&x, &res), -EBADMSG);
	atomic_store(&spoiler.stop, true);
	pthread_join(spoiler.thread, NULL);
	xs__free(&x);
}

static void checksum_is_independent_of_backing(void **state)
{
	static const enum wl_backing_kind kinds[] = { WL_BACKING_ANON, WL_BACKING_FILE,
						      WL_BACKING_MEMFD };
	uint64_t want = checksum(&base);

	(void)state;
	for (unsigned int i = 0; i < 6; i++) {
		struct xs_conf conf = base;

		conf.backing.kind = kinds[i / 2];
		conf.backing.protect = i % 2;
		assert_true(checksum(&conf) == want);
	}
}

static void checksum_depends_on_the_options(void **state)
{
	struct xs_conf conf[5] = { base, base, base, base, base };
	uint64_t sum[5];

	(void)state;
	conf[1].gridpoints++;
	conf[2].particles++;
	conf[3].lookups++;
	conf[4].size = XS_LARGE;
	for (unsigned int i = 0; i < 5; i++) {
		sum[i] = checksum(&conf[i]);
		for (unsigned int j = 0; j < i; j++)
			assert_true(sum[i] != sum[j]);
	}
}

/*
 * Equal checksums are to mean equal memory: one changed bit in the grids must show. Not the very
 * lowest: what a sum rounds off is lost.
 */
static void checksum_sees_a_changed_bit(void **state)
{
	struct xs_result good, bad;
	struct xs_conf conf = base;
	struct xs x;

	(void)state;
	conf.gridpoints = 2;
	assert_int_equal(xs__build(&x, &conf), 0);
	assert_int_equal(xs__run(&x, &good), 0);
	for (unsigned int n = 0; n < x.nuclides; n += 13) {
		/* A 2^-28 part of one cross section. */
		unsigned char *at = x.mem.base + n * 2 * sizeof(struct xs_point) +
				    sizeof(double) + 3;

		*at ^= 1;
		assert_int_equal(xs__run(&x, &bad), 0);
		assert_true(bad.checksum != good.checksum);
		*at ^= 1;
	}
	xs__free(&x);
}

static void grids_are_sorted_and_complete(void **state)
{
	struct xs_conf conf = base;
	double sum = 0, union_sum = 0;
	struct xs x;

	(void)state;
	assert_int_equal(xs__build(&x, &conf), 0);
	assert_int_equal(x.points, 68 * 40);
	for (uint64_t i = 0; i < x.points; i++) {
		if (i % 40)
			assert_true(x.grid[i - 1].energy <= x.grid[i].energy);
		if (i)
			assert_true(x.energy[i - 1] <= x.energy[i]);
		sum += x.grid[i].energy;
		union_sum += x.energy[i];
	}
	assert_true(sum - union_sum < 1e-9 && union_sum - sum < 1e-9);
	xs__free(&x);
}

/* The index row of an energy holds, for every nuclide, the point just below it. */
static void index_is_what_a_search_finds(void **state)
{
	struct xs_conf conf = base;
	struct xs x;

	(void)state;
	assert_int_equal(xs__build(&x, &conf), 0);
	for (uint64_t i = 0; i < x.points; i++) {
		for (unsigned int n = 0; n < x.nuclides; n++) {
			const struct xs_point *pt = x.grid + n * conf.gridpoints;
			uint32_t want = 0;

			while (want + 2 < conf.gridpoints && pt[want + 1].energy <= x.energy[i])
				want++;
			assert_int_equal(x.index[i * x.nuclides + n], want);
		}
	}
	xs__free(&x);
}

static void search_finds_the_last_below(void **state)
{
	struct xs_conf conf = base;
	struct xs x;

	(void)state;
	assert_int_equal(xs__build(&x, &conf), 0);
	assert_int_equal(xs__search(&x, -1.0), 0);
	assert_int_equal(xs__search(&x, 2.0), x.points - 1);
	for (uint64_t i = 0; i + 1 < x.points; i++) {
		assert_int_equal(xs__search(&x, x.energy[i]), i);
		assert_int_equal(xs__search(&x, (x.energy[i] + x.energy[i + 1]) / 2), i);
	}
	xs__free(&x);
}

static void materials_hold_distinct_nuclides(void **state)
{
	struct xs_conf conf = base;
	struct xs x;

	(void)state;
	conf.size = XS_LARGE;
	conf.gridpoints = 2;
	assert_int_equal(xs__build(&x, &conf), 0);
	assert_int_equal(x.material[0].n, 321);
	for (unsigned int m = 0; m < XS_MATERIALS; m++) {
		char seen[355] = { 0 };

		for (unsigned int i = 0; i < x.material[m].n; i++) {
			assert_true(x.material[m].nuclide[i] < 355);
			assert_false(seen[x.material[m].nuclide[i]]++);
		}
	}
	xs__free(&x);
}

static void sizes_are_those_of_the_original(void **state)
{
	struct xs_conf conf = base;
	uint64_t bytes;

	(void)state;
	conf.gridpoints = 11303;
	assert_int_equal(xs__bytes(&conf, &bytes), 0);
	/* It prints "Allocated 240 MB" for small. */
	assert_int_equal(bytes >> 20, 240);
	conf.gridpoints = UINT64_MAX / 100;
	assert_int_equal(xs__bytes(&conf, &bytes), -EOVERFLOW);
	conf.particles = UINT64_MAX / 2;
	assert_int_equal(xs__lookups(&conf, &bytes), -EOVERFLOW);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(checksum_is_independent_of_threads),
		cmocka_unit_test(passes_give_the_checksum_of_one),
		cmocka_unit_test(passes_see_a_change),
		cmocka_unit_test(checksum_is_independent_of_backing),
		cmocka_unit_test(checksum_depends_on_the_options),
		cmocka_unit_test(checksum_sees_a_changed_bit),
		cmocka_unit_test(grids_are_sorted_and_complete),
		cmocka_unit_test(index_is_what_a_search_finds),
		cmocka_unit_test(search_finds_the_last_below),
		cmocka_unit_test(materials_hold_distinct_nuclides),
		cmocka_unit_test(sizes_are_those_of_the_original),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
