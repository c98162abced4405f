// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "bpf/loglin.h"
#include "collector/pmbench.h"
#include "collector/text.h"

#define TEXT "tests/fixtures/import/pmbench.txt"
#define XML "tests/fixtures/import/pmbench.xml"

/* The lines of a file, up to the first one that begins with until (NULL: all). */
static void feed(struct pmbench *p, const char *path, const char *until)
{
	char *text, *cursor, *line;

	assert_int_equal(text__read_file(path, &text, NULL), 0);
	cursor = text;
	while ((line = text__next_line(&cursor))) {
		if (until && !strncmp(line, until, strlen(until)))
			break;
		assert_int_equal(pmbench__line(p, line), 0);
	}
	free(text);
}

static const struct metric *metric(const struct results *r, const char *name)
{
	for (size_t i = 0; i < r->nr_metrics; i++)
		if (!strcmp(r->metrics[i].name, name))
			return &r->metrics[i];
	return NULL;
}

static void assert_metric(const struct results *r, const char *name, double value)
{
	const struct metric *m = metric(r, name);

	if (!m || fabs(m->value - value) > 1e-9 * value)
		fail_msg("%s is %.15g, not %.15g", name, m ? m->value : NAN, value);
}

/* What both samples say: one run, written down twice. */
static void assert_histograms(const struct results *r)
{
	const struct histogram *h = &r->hists[0];

	assert_int_equal(r->nr_hists, 2);
	assert_string_equal(h->name, "workload.read_ns");
	assert_true(h->bins_only);
	assert_int_equal(h->total, 8181177);
	assert_int_equal(h->bins[0].bin, 0);
	assert_int_equal(h->bins[0].n, 8152786);
	assert_int_equal(loglin_low(h->bins[0].span, PMBENCH__SUB_BITS), 256);
	assert_int_equal(loglin_low(h->bins[1].bin, PMBENCH__SUB_BITS), 256);
	assert_int_equal(h->bins[1].span, 1);
	assert_int_equal(h->bins[1].n, 4457);
	assert_int_equal(loglin_low(h->bins[3].bin, PMBENCH__SUB_BITS), 256 + 2 * 16);
	assert_int_equal(h->bins[3].n, 6059);
	h = &r->hists[1];
	assert_string_equal(h->name, "workload.write_ns");
	assert_int_equal(h->total, 8178823);
	assert_int_equal(loglin_low(h->bins[h->nr_bins - 1].bin, PMBENCH__SUB_BITS), 1 << 23);
	assert_int_equal(h->bins[h->nr_bins - 1].span, 16);
	assert_int_equal(h->bins[h->nr_bins - 1].n, 2);
	assert_metric(r, "accesses", 7660000 + 8700000);
	assert_metric(r, "access_latency",
		      (0.2596 * 7660000 + 0.2282 * 8700000) / 16360000 * 1000);
}

static void test_text(void **state)
{
	struct results r = { 0 };
	struct pmbench p;

	(void)state;
	pmbench__init(&p);
	feed(&p, TEXT, NULL);
	assert_true(pmbench__is_success(&p));
	assert_int_equal(pmbench__results(&p, &r), 0);
	assert_histograms(&r);
	assert_metric(&r, "accesses_per_s", 7660000 / 2.005 + 8700000 / 2.005);
	assert_metric(&r, "runtime", 2.005);
	results__free(&r);
	pmbench__free(&p);
}

static void test_xml(void **state)
{
	struct results r = { 0 };
	struct pmbench p;
	size_t len;
	char *text;

	(void)state;
	assert_int_equal(text__read_file(XML, &text, &len), 0);
	pmbench__init(&p);
	assert_int_equal(pmbench__xml(&p, text, len), 0);
	assert_true(pmbench__is_success(&p));
	assert_int_equal(pmbench__results(&p, &r), 0);
	assert_histograms(&r);
	/* It does not tell how long it took: no rate, rather than one by the time asked for. */
	assert_null(metric(&r, "accesses_per_s"));
	results__free(&r);
	pmbench__free(&p);
	/* Cut short. */
	pmbench__init(&p);
	assert_int_equal(pmbench__xml(&p, text, len / 2), -EINVAL);
	assert_false(pmbench__is_success(&p));
	pmbench__free(&p);
	free(text);
}

/* Both on one stream (-f /dev/stdout): every thing once. */
static void test_both(void **state)
{
	struct results r = { 0 };
	struct pmbench p;

	(void)state;
	pmbench__init(&p);
	feed(&p, TEXT, NULL);
	feed(&p, XML, NULL);
	assert_int_equal(pmbench__results(&p, &r), 0);
	assert_histograms(&r);
	results__free(&r);
	pmbench__free(&p);
}

/* It hung while it looked at the caches: rate and count are there, latencies are not. */
static void test_hang(void **state)
{
	struct results r = { 0 };
	struct pmbench p;

	(void)state;
	pmbench__init(&p);
	feed(&p, TEXT, " -- TLB info");
	assert_true(pmbench__is_success(&p));
	assert_int_equal(pmbench__results(&p, &r), 0);
	assert_metric(&r, "accesses_per_s", 7660000 / 2.005 + 8700000 / 2.005);
	assert_null(metric(&r, "access_latency"));
	assert_int_equal(r.nr_hists, 0);
	results__free(&r);
	pmbench__free(&p);
	/* One of its threads is still at it. */
	pmbench__init(&p);
	feed(&p, TEXT, "[2] Benchmark done");
	assert_false(pmbench__is_success(&p));
	pmbench__free(&p);
}

static void test_does_not_add_up(void **state)
{
	static const char * const lines[] = {
		"2^(08,09) ns: 10  [1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]",
		"2^(08,09) ns: 10  [1, 2, 3, 4]",
		"2^(08,09) ns: 10  [1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]",
		"2^(08,09) ns: 18446744073709551615",
		"2^(09,08) ns: 10", "2^(70,71) ns: 10",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct results r = { 0 };
		struct pmbench p;

		pmbench__init(&p);
		assert_int_equal(pmbench__line(&p, "Read:"), 0);
		assert_int_equal(pmbench__line(&p, lines[i]), 0);
		assert_int_equal(pmbench__line(&p, "Total samples: 0"), 0);
		if (pmbench__results(&p, &r) != -EINVAL)
			fail_msg("'%s' is taken for a bucket", lines[i]);
		results__free(&r);
		pmbench__free(&p);
	}
}

/* No entities: they could grow without end. */
static void test_entities(void **state)
{
	static const char text[] = "<!DOCTYPE x [<!ENTITY a \"b\">]><pmbenchmark>&a;</pmbenchmark>";
	struct pmbench p;

	(void)state;
	pmbench__init(&p);
	assert_int_equal(pmbench__xml(&p, text, strlen(text)), -EINVAL);
	pmbench__free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_xml),
		cmocka_unit_test(test_both),
		cmocka_unit_test(test_hang),
		cmocka_unit_test(test_does_not_add_up),
		cmocka_unit_test(test_entities),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
