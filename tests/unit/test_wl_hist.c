// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "workloads/lib/hist.h"
#include "workloads/lib/proto.h"
#include "workloads/lib/rng.h"

static uint64_t bins_sum(const struct wl_hist *h)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < WL_HIST_BINS; i++)
		n += h->bin[i];
	return n;
}

/* Values of all magnitudes. */
static uint64_t value(struct wl_rng *r)
{
	uint64_t v = wl_rng__next(r);

	return v >> wl_rng__below(r, 64);
}

static void totals_are_exact(void **state)
{
	uint64_t sum = 0, max = 0;
	struct wl_hist h = { 0 };
	struct wl_rng r;

	(void)state;
	wl_rng__seed(&r, 1);
	for (unsigned int i = 0; i < 50000; i++) {
		uint64_t v = value(&r) >> 20;

		wl_hist__add(&h, v);
		sum += v;
		max = v > max ? v : max;
	}
	assert_int_equal(h.total, 50000);
	assert_int_equal(bins_sum(&h), 50000);
	assert_int_equal(h.sum, sum);
	assert_int_equal(h.max, max);
}

static void every_value_is_in_its_bin(void **state)
{
	struct wl_rng r;

	(void)state;
	wl_rng__seed(&r, 2);
	for (unsigned int i = 0; i < 200000; i++) {
		uint64_t v = value(&r);
		unsigned int bin = loglin_bin(v, WL_HIST_SUBBITS);

		assert_true(bin < WL_HIST_BINS);
		assert_true(loglin_low(bin, WL_HIST_SUBBITS) <= v);
		if (bin + 1 < WL_HIST_BINS)
			assert_true(v < loglin_low(bin + 1, WL_HIST_SUBBITS));
		assert_true((double)(v - loglin_low(bin, WL_HIST_SUBBITS)) <= (double)v / 8);
	}
	assert_int_equal(loglin_bin(UINT64_MAX, WL_HIST_SUBBITS), WL_HIST_BINS - 1);
}

static void merge_is_addition(void **state)
{
	struct wl_hist a = { 0 }, b = { 0 }, all = { 0 };
	struct wl_rng r;

	(void)state;
	wl_rng__seed(&r, 3);
	for (unsigned int i = 0; i < 5000; i++) {
		uint64_t v = value(&r) >> 10;

		wl_hist__add(i % 3 ? &a : &b, v);
		wl_hist__add(&all, v);
	}
	wl_hist__merge(&a, &b);
	assert_memory_equal(&a, &all, sizeof(a));
}

static void quantiles(void **state)
{
	struct wl_hist h = { 0 };

	(void)state;
	assert_int_equal(wl_hist__quantile(&h, 0.5), 0);
	assert_true(wl_hist__mean(&h) < 0);
	for (unsigned int v = 1; v <= 1000; v++)
		wl_hist__add(&h, v);
	assert_true(wl_hist__mean(&h) == 500.5);
	assert_in_range(wl_hist__quantile(&h, 0.5), 500, 500 + 500 / 8);
	assert_in_range(wl_hist__quantile(&h, 0.99), 990, 1000);
	assert_int_equal(wl_hist__quantile(&h, 1.0), 1000);
}

/* Text of what a function printed. */
#define PRINTED(call)							\
	({								\
		char *text_ = NULL;					\
		size_t size_;						\
		FILE *f = open_memstream(&text_, &size_);		\
									\
		assert_non_null(f);					\
		call;							\
		fclose(f);						\
		text_;							\
	})

static void check_text(char *got, const char *want)
{
	assert_string_equal(got, want);
	free(got);
}

static void protocol_lines(void **state)
{
	struct wl_hist h = { 0 };

	(void)state;
	wl_hist__add(&h, 3);
	wl_hist__add(&h, 3);
	wl_hist__add(&h, 100);
	check_text(PRINTED(wl_proto__hist(f, "read_ns", "ns", &h)),
		   "migrc: hist read_ns ns 3 3 106 100 3:2 36:1\n");
	check_text(PRINTED(wl_proto__metric(f, "runtime", 1.5, "s", WL_LOWER, WL_TIME)),
		   "migrc: metric runtime 1.5 s lower time\n");
	check_text(PRINTED(wl_proto__metric(f, "lookups", 12345678901.0, "1", WL_NEITHER,
					   WL_COUNT)),
		   "migrc: metric lookups 12345678901 1 none count\n");
	check_text(PRINTED(wl_proto__text(f, "checksum", "81")), "migrc: text checksum 81\n");
}

static void protocol_escapes(void **state)
{
	(void)state;
	check_text(PRINTED(wl_proto__text(f, "A b", "x\nmigrc: text y \\\t\x01")),
		   "migrc: text a_b x\\nmigrc: text y \\\\\\t\\001\n");
	check_text(PRINTED(wl_proto__metric(f, "", 1, "a b", WL_HIGHER, WL_COUNT)),
		   "migrc: metric _ 1 a_b higher count\n");
	check_text(PRINTED(assert_true(wl_proto__metric(f, "x", 0.0 / 0.0, "s", WL_LOWER,
							WL_TIME) < 0)), "");
	check_text(PRINTED(assert_true(wl_proto__metric(f, "x", 1e308 * 10, "s", WL_LOWER,
							WL_TIME) < 0)), "");
}

static void commas(void **state)
{
	char buf[32];

	(void)state;
	assert_string_equal(wl_proto__commas(0, buf), "0");
	assert_string_equal(wl_proto__commas(999, buf), "999");
	assert_string_equal(wl_proto__commas(1000, buf), "1,000");
	assert_string_equal(wl_proto__commas(1360000, buf), "1,360,000");
	assert_string_equal(wl_proto__commas(UINT64_MAX, buf), "18,446,744,073,709,551,615");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(totals_are_exact), cmocka_unit_test(every_value_is_in_its_bin),
		cmocka_unit_test(merge_is_addition), cmocka_unit_test(quantiles),
		cmocka_unit_test(protocol_lines), cmocka_unit_test(protocol_escapes),
		cmocka_unit_test(commas),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
