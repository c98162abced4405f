// SPDX-License-Identifier: GPL-2.0-or-later
/* What the report adds to the comparison: details of the runs, sentences, figures, its parts. */
#include "tests/unit/an_world.h"

#include <math.h>

#include "analysis/detail.h"
#include "analysis/plot.h"
#include "analysis/sbuf.h"
#include "analysis/words.h"
#include "bpf/loglin.h"
#include "collector/cmd.h"
#include "collector/err.h"

/* --- histograms of an arm --------------------------------------------------------------------- */

static void add_hist(struct world *w, int run, const char *name, unsigned int sub_bits,
		     unsigned int bin, int n, int max)
{
	sql(w, "INSERT INTO histogram VALUES (%d, '%s', 'ns', %u, %d, NULL, %d)", run, name, sub_bits, n,
	    max);
	sql(w, "INSERT INTO histogram_bin VALUES (%d, '%s', %u, %d, 1)", run, name, bin, n);
}

static void test_histograms_are_added(void **state)
{
	static const char *const names[] = { "a_ns", "b_ns", NULL };
	struct world *w = *state;
	const struct an_compare *c;
	struct detail_dist d;
	struct built b;

	add_blocks(w, 2, 40, 4, false);		/* runs 1 and 4 are of stock, 2 and 3 of migrc */
	add_hist(w, 1, "a_ns", 3, loglin_bin(100, 3), 98, 103);
	add_hist(w, 4, "a_ns", 5, loglin_bin(100, 5), 1, 101);
	add_hist(w, 4, "b_ns", 3, loglin_bin(9000, 3), 1, 9000);
	add_hist(w, 2, "a_ns", 3, loglin_bin(5, 3), 7, 5);
	sql(w, "INSERT INTO invalid VALUES (2, 'lost-events', 'x')");
	b = build(w);
	c = &b.model->compares[0];
	assert_true(detail__dist(c, 0, names, &d));
	assert_int_equal(d.total, 100);
	assert_int_equal(d.runs, 3);
	assert_int_equal(d.h.sub_bits, 3);
	/* 99 of 100 are at most 103; the largest is known exactly. */
	assert_true(d.cut[0].lo <= 100 && d.cut[0].hi >= 100);
	assert_true(d.cut[1].hi < 104);
	assert_true(d.cut[2].est > 8000);
	assert_true(d.cut[3].est == 9000);
	detail__dist_free(&d);
	/* The only run of migrc that has one is invalid. */
	assert_false(detail__dist(c, 1, names, &d));
	drop(&b);
}

/* A source that is coarser than the layout: no estimate is made of what is not known. */
static void test_coarse_counts_stay_coarse(void **state)
{
	static const char *const names[] = { "a_ns", NULL };
	struct world *w = *state;
	struct detail_dist d;
	struct built b;

	add_blocks(w, 1, 40, 4, false);
	sql(w, "INSERT INTO histogram VALUES (1, 'a_ns', 'ns', 3, 9, NULL, NULL)");
	sql(w, "INSERT INTO histogram_bin VALUES (1, 'a_ns', 40, 9, 8)");
	b = build(w);
	assert_true(detail__dist(&b.model->compares[0], 0, names, &d));
	assert_true(d.cut[0].coarse);
	assert_true(d.span && d.span[40] == 8);
	detail__dist_free(&d);
	drop(&b);
}

/* --- interrupts by CPU ------------------------------------------------------------------------ */

static void test_interrupts_by_cpu(void **state)
{
	struct world *w = *state;
	struct detail_cpus cpus;
	struct built b;

	add_blocks(w, 2, 40, 4, false);
	sql(w, "INSERT INTO counter SELECT id, 'interrupts', 'TLB/cpu0', 5, 5 + id * 10 FROM run");
	sql(w, "INSERT INTO counter VALUES (1, 'interrupts', 'TLB/cpu2', 0, 30)");
	/* Names that are none of a CPU, and one that no memory would be enough for. */
	sql(w, "INSERT INTO counter VALUES (1, 'interrupts', 'TLB/cpu', 0, 1)");
	sql(w, "INSERT INTO counter VALUES (1, 'interrupts', 'TLB/cpu7x', 0, 1)");
	sql(w, "INSERT INTO counter VALUES (1, 'interrupts', 'TLB/cpu99999999999', 0, 1)");
	sql(w, "INSERT INTO counter VALUES (1, 'interrupts', 'CAL/cpu5', 0, 1)");
	b = build(w);
	detail__cpus(&b.model->compares[0], &cpus);
	assert_string_equal(cpus.row, "TLB");
	assert_int_equal(cpus.nr, 3);
	assert_true(detail__cpu_mean(&b.model->compares[0], &cpus, 0, 0) == 25);	/* 10, 40 */
	assert_true(detail__cpu_mean(&b.model->compares[0], &cpus, 1, 0) == 25);	/* 20, 30 */
	assert_true(isnan(detail__cpu_mean(&b.model->compares[0], &cpus, 0, 1)));
	assert_true(detail__cpu_mean(&b.model->compares[0], &cpus, 0, 2) == 30);
	detail__cpus_free(&cpus);
	drop(&b);
}

/* --- sentences -------------------------------------------------------------------------------- */

static void has(const char *text, const char *what)
{
	if (!strstr(text, what))
		fail_msg("\"%s\" is not in: %.2000s", what, text);
}

static void lacks(const char *text, const char *what)
{
	if (strstr(text, what))
		fail_msg("\"%s\" is in: %.400s", what, strstr(text, what));
}

static void test_headline(void **state)
{
	struct world *w = *state;
	struct built b;
	char *s;

	/* The flushes get better and the time worse: the loss comes first. */
	add_blocks(w, 7, 40, 4, false);
	sql(w, "UPDATE metric SET value = value * 1.3 WHERE run_id IN (SELECT id FROM run WHERE arm = 'migrc')");
	b = build(w);
	s = words__headline(&b.model->compares[0], 1);
	has(s, "migrc against stock: regressed: runtime +2");
	has(s, " (95 % interval [");
	has(s, "; improved: remote TLB flushes per 1000 migrated -9");
	assert_true(strstr(s, "regressed") < strstr(s, "improved"));
	free(s);
	drop(&b);
}

static char *belief_of(struct world *w, bool *doubt)
{
	struct built b = build(w);
	char *s = words__belief(&b.model->compares[0], doubt);

	drop(&b);
	return s;
}

static void test_belief(void **state)
{
	struct world *w = *state;
	bool doubt;
	char *s;

	add_blocks(w, 7, 40, 4, false);
	s = belief_of(w, &doubt);
	has(s, "Yes");
	has(s, "14 valid runs in 14 boots");
	assert_false(doubt);
	free(s);
	sql(w, "INSERT INTO invalid VALUES (1, 'kernel-splat', 'x')");
	sql(w, "INSERT INTO probe VALUES (2, 'wp', 'fentry', 'f', 1, NULL, 5, 4, 1, NULL)");
	sql(w, "INSERT INTO probe VALUES (3, 'mm', 'none', 'f', 1, 'why', NULL, NULL, NULL, NULL)");
	s = belief_of(w, &doubt);
	has(s, "With care");
	has(s, "1 invalid run left out");
	has(s, "events lost");
	has(s, "probes missing");
	assert_true(doubt);
	free(s);
	sql(w, "UPDATE result_text SET value = 'other' WHERE run_id = 4");
	s = belief_of(w, &doubt);
	has(s, "Believe it? No");
	assert_true(doubt);
	free(s);
}

static void test_belief_of_drift_and_of_one(void **state)
{
	struct world *w = *state;
	bool doubt;
	char *s;

	add_blocks(w, 1, 40, 4, true);
	s = belief_of(w, &doubt);
	has(s, "an arm has a single boot");
	has(s, "emulated: counts are judged, times are not");
	free(s);
	add_blocks(w, 8, 40, 4, true);
	sql(w, "UPDATE counter SET after_value = 7 + 1000 * run_id WHERE name = 'nr_tlb_remote_flush'");
	s = belief_of(w, &doubt);
	has(s, "drift over the runs of an arm");
	free(s);
}

/* No more digits than a reader has a use for. */
static void test_detectable(void **state)
{
	static const struct { double effect; bool is_ratio; const char *says; } cases[] = {
		{ 0.12, true, "+12.0 / -10.7 %" }, { 0.0361, true, "+3.61 / -3.48 %" },
		{ 0.12, false, "+12.0 / -12.0 %" }, { 6.49, true, "+649 / -86.6 %" },
		{ 0.00021, true, "+0.02 / -0.02 %" }, { 0.00004, true, "< 0.01 %" },
		{ 0, true, "-" }, { NAN, true, "-" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct an_effect e = { .detectable = cases[i].effect, .is_ratio = cases[i].is_ratio };
		char *s = words__detectable(&e);

		assert_string_equal(s, cases[i].says);
		free(s);
	}
}

/* --- figures ---------------------------------------------------------------------------------- */

static struct plot *line(const char *title)
{
	struct plot *p = plot__new(title, "time", "s", "pages", "pages");
	struct plot_series *s = plot__series(p, "an arm", PLOT_LINE, 0);

	plot__point(s, 0, 1);
	plot__point(s, 2, 30000);
	return p;
}

static void test_axes_have_units(void **state)
{
	struct plot *p = line("t");
	const char *why;
	char *svg;

	(void)state;
	plot__render(&p, 1, &svg, &why);
	if (!svg)
		fail_msg("%s", why);
	has(svg, "time (s)");
	/* Large numbers are divided, and the axis says by what. */
	has(svg, "pages (x 1000, pages)");
	has(svg, "an arm");
	free(svg);
	plot__free(p);
}

/* gnuplot ends at a plot that it cannot draw; the others are drawn all the same. */
static void test_one_bad_plot(void **state)
{
	struct plot *p[4] = { line("a"), line("b"), line("c"), line("d") };
	const char *why[4];
	char *svg[4];

	(void)state;
	/* Nothing above 0 on a logarithmic axis is an error to gnuplot. */
	p[1]->y.log = true;
	for (size_t i = 0; i < p[1]->series[0].nr; i++)
		p[1]->series[0].y[i] = -1;
	plot__render(p, 4, svg, why);
	assert_true(svg[0] && svg[2] && svg[3]);
	assert_null(svg[1]);
	assert_string_equal(why[1], "gnuplot failed");
	has(svg[2], "id=\"p3-");
	for (size_t i = 0; i < 4; i++) {
		free(svg[i]);
		plot__free(p[i]);
	}
}

static void test_long_and_hostile_labels(void **state)
{
	struct plot *p = plot__new("t", "a quantity whose name is much longer than the axis is wide, by far",
				   "unit", "`id`\"; system \"id", "1/s");
	struct plot_series *s = plot__series(p, "an arm with a name of more letters than a key has", PLOT_DOTS, 9);
	const char *why;
	char *svg;

	(void)state;
	plot__point(s, 1, 1);
	plot__tick(p, "a category with a long name");
	plot__tick(p, "two");
	plot__render(&p, 1, &svg, &why);
	assert_non_null(svg);
	has(svg, ".. (unit)");
	has(svg, "?id??; system ?id (1/s)");
	lacks(svg, "letters than a key has");
	lacks(svg, "a long name");
	free(svg);
	plot__free(p);
}

/* --- the report ------------------------------------------------------------------------------- */

static void add_mechanism(struct world *w)
{
	add_blocks(w, 4, 40, 4, false);
	sql(w, "INSERT INTO counter SELECT id, 'vmstat', 'migrc_deferred', 0, 30000 FROM run WHERE arm = 'migrc'");
	sql(w, "INSERT INTO counter SELECT id, 'vmstat', 'migrc_noflush', 0, 10000 FROM run WHERE arm = 'migrc'");
	sql(w, "INSERT INTO counter SELECT id, 'vmstat', 'migrc_refused_writable', 0, 20000 FROM run WHERE arm = 'migrc'");
	sql(w, "INSERT INTO counter SELECT id, 'vmstat', 'migrc_refused_large', 0, 0 FROM run WHERE arm = 'migrc'");
	sql(w, "INSERT INTO counter SELECT id, 'vmstat', 'migrc_released_fault', 0, 3000 FROM run WHERE arm = 'migrc'");
	sql(w, "INSERT INTO counter SELECT id, 'bpf', 'flush.calls.munmap', NULL, 500 FROM run");
	sql(w, "INSERT INTO counter SELECT id, 'bpf', 'flush.ns.munmap', NULL, 500000 FROM run");
	sql(w, "INSERT INTO counter SELECT id, 'interrupts', 'TLB/cpu0', 0, 77 FROM run");
	sql(w, "INSERT INTO sample SELECT id, 0, 'vmstat', 'nr_migrc_pending', 64 FROM run WHERE arm = 'migrc'");
	sql(w, "INSERT INTO fact SELECT id, 'drift', 'uptime_s', id FROM run");
	sql(w, "INSERT INTO run_label SELECT id, 'plan', 'demo' FROM run");
	for (int id = 1; id <= 8; id++) {
		add_hist(w, id, "wp_fault_ns", 3, loglin_bin(2000, 3), 1000, 2040);
		add_hist(w, id, "migrc_held_age_ms", 3, loglin_bin(300, 3), 10, 301);
	}
}

/* Where what must stand in this order stands. */
static void in_order(const char *text, const char *const *what)
{
	const char *at = text;

	for (; *what; what++) {
		const char *next = strstr(at, *what);

		if (!next)
			fail_msg("\"%s\" is not there, or before what must come first", *what);
		at = next;
	}
}

static const char *const parts[] = {
	"migrc against stock: improved", "Believe it?", "Primary metrics", "L1TF:",
	"needing a flush", "refused: mapped writable", "refused for no",
	"were avoided", "a write fault", "Mechanism", "Outcome", "Held memory", "age at release",
	"Latencies", "write fault", "Flushes by caller", "munmap, mremap, brk", "IPIs by CPU", "Runs, in order",
	"Drift over the runs", "What the instrument cost", "Machine facts", "Facts that may drift", "Run 1: stock, valid",
	"Counters that changed", "Method", "Welch", "How to reproduce", "migrc record --arm stock --block 1 --workload w -- run it",
	"--allow-mismatch -o report.html", NULL
};

/* Of a rest that rounds to nothing no "most" is said. */
static void test_refusals_worth_telling(void **state)
{
	struct world *w = *state;
	char *text;

	add_mechanism(w);
	assert_int_equal(RUN(w, cmd_report, &text, "--format", "md", "--allow-mismatch"), 0);
	has(text, "; most of the others were refused because of: mapped writable");
	free(text);
	sql(w, "UPDATE counter SET after_value = 3 WHERE name = 'migrc_refused_writable'");
	assert_int_equal(RUN(w, cmd_report, &text, "--format", "md", "--allow-mismatch"), 0);
	lacks(text, "most of the others");
	free(text);
}

/* The arms differ in more than the mechanism: what it cannot have done is not said to be its work. */
static void test_no_more_than_deferral_explains(void **state)
{
	struct world *w = *state;
	char *text;

	add_mechanism(w);
	assert_int_equal(RUN(w, cmd_report, &text, "--format", "md", "--allow-mismatch"), 0);
	has(text, "were avoided");
	lacks(text, "Deferral explains at most");
	free(text);
	sql(w, "UPDATE counter SET after_value = 3 WHERE name = 'migrc_deferred'");
	assert_int_equal(RUN(w, cmd_report, &text, "--format", "md", "--allow-mismatch"), 0);
	has(text, "Deferral explains at most 3 of these");
	free(text);
	sql(w, "UPDATE counter SET after_value = 0 WHERE name = 'migrc_deferred'");
	assert_int_equal(RUN(w, cmd_report, &text, "--format", "md", "--allow-mismatch"), 0);
	lacks(text, "were avoided");
	free(text);
}

static void test_all_parts_in_order(void **state)
{
	static const char *const formats[] = { "html", "text", "md" };
	struct world *w = *state;
	char *text;

	add_mechanism(w);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(RUN(w, cmd_report, &text, "--format", formats[i], "--allow-mismatch"), 0);
		in_order(text, parts);
		free(text);
		assert_int_equal(RUN(w, cmd_report, &text, "--format", formats[i], "--no-records"), 0);
		lacks(text, "Run 1: stock, valid");
		has(text, "--no-records -o report.html");
		free(text);
	}
}

/* What is to be copied into a shell does there what it says, whatever arms are called. */
static void test_commands_of_hostile_names(void **state)
{
	struct world *w = *state;
	const char *arm = "it's; reboot\n#";
	char *text;

	add_mechanism(w);
	sql(w, "UPDATE run SET arm = 'it''s; reboot' || char(10) || '#' WHERE arm = 'migrc'");
	sql(w, "UPDATE run_label SET value = 'demo' || char(10) || 'reboot'");
	assert_int_equal(RUN(w, cmd_report, &text, "--format", "html", "--allow-mismatch", "--arm", "stock", "--arm",
			     arm, "--workload", "w"), 0);
	has(text, "migrc record --arm &#39;it&#39;\\&#39;&#39;s; reboot\n#&#39; --block 1");
	has(text, "--arm stock --arm &#39;it&#39;\\&#39;&#39;s; reboot\n#&#39; --workload w");
	has(text, "# arm it&#39;s; reboot #: kernel");
	has(text, "# the plan of the lab that made them: demo reboot\n");
	free(text);
}

static void test_json_has_the_details(void **state)
{
	static const char *const asked[][2] = {
		{ "$.comparisons[0].latencies[1].key", "write_fault" },
		{ "$.comparisons[0].latencies[1].arms[1].n", "4000.0" },
		{ "$.comparisons[0].interrupts_by_cpu.row", "TLB" },
		{ "$.comparisons[0].interrupts_by_cpu.arms[0].mean[0]", "77.0" },
		{ "$.comparisons[0].doubt", "0" },
	};
	struct world *w = *state;
	char *text;

	add_mechanism(w);
	assert_int_equal(RUN(w, cmd_report, &text, "--format", "json"), 0);
	has(text, "\"headline\": \"migrc against stock: improved: ");
	has(text, "\"belief\": \"Believe it? ");
	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		sqlite3_stmt *st = NULL;

		assert_int_equal(sqlite3_prepare_v2(w->sq, "SELECT CAST(json_extract(?1, ?2) AS TEXT)",
						    -1, &st, NULL), SQLITE_OK);
		sqlite3_bind_text(st, 1, text, -1, SQLITE_STATIC);
		sqlite3_bind_text(st, 2, asked[i][0], -1, SQLITE_STATIC);
		assert_int_equal(sqlite3_step(st), SQLITE_ROW);
		if (!sqlite3_column_text(st, 0))
			fail_msg("%s is not there", asked[i][0]);
		assert_true(atof((const char *)sqlite3_column_text(st, 0)) == atof(asked[i][1]));
		assert_int_equal(((const char *)sqlite3_column_text(st, 0))[0], asked[i][1][0]);
		sqlite3_finalize(st);
	}
	free(text);
}

/* How much memory a page is, is known or not; it is not taken to be that of most machines. */
static void test_held_memory_needs_the_page_size(void **state)
{
	struct world *w = *state;
	char *text;

	add_mechanism(w);
	sql(w, "INSERT INTO fact SELECT id, 'match', 'page_size', '65536' FROM run");
	assert_int_equal(RUN(w, cmd_report, &text, "--format", "md", "--no-records"), 0);
	has(text, "| migrc | 64 | 64 | 4 MiB | 4 |");
	free(text);
	/* The run that held most may be that of which it is not known. */
	sql(w, "DELETE FROM fact WHERE key = 'page_size' AND run_id = (SELECT max(id) FROM run WHERE arm = 'migrc')");
	assert_int_equal(RUN(w, cmd_report, &text, "--format", "md", "--no-records", "--allow-mismatch"), 0);
	has(text, "| migrc | 64 | 64 | unknown | 4 |");
	has(text, "The page size was not recorded with every run");
	free(text);
}

/* A loss is told where the winners are, and as loud. */
static void test_losers_are_told(void **state)
{
	struct world *w = *state;
	char *text;

	add_blocks(w, 7, 40, 4, false);
	sql(w, "INSERT INTO metric SELECT id, 'max_rss', CASE arm WHEN 'migrc' THEN 900 ELSE 500 END + id %% 3, 'KiB', 'lower', 0 FROM run");
	assert_int_equal(RUN(w, cmd_report, &text, "--format", "html", "--no-records"), 0);
	has(text, "<p class=\"bad\">Worse in migrc (1): max_rss +7");
	has(text, "<p class=\"good\">Better in migrc (");
	has(text, "<tr class=\"bad\"><th scope=\"row\">max_rss");
	free(text);
}

/* "x 50.0 [+4890, +4910]" would have to be worked out: every output stays on one scale. */
static void test_factors_have_intervals_of_factors(void **state)
{
	static const char *const formats[][3] = {
		{ "html", "x 50.21 (95 % interval [49.71, 50.72])", "x 50.21</td><td class=\"num\">[49.71, 50.72]" },
		{ "text", "interval [49.71, 50.72])", "x 50.21  [49.71, 50.72]" },
		{ "md", "interval \\[49.71, 50.72\\])", "x 50.21 | \\[49.71, 50.72\\]" },
	};
	struct world *w = *state;
	char *text;

	add_blocks(w, 7, 4, 200, false);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(RUN(w, cmd_report, &text, "--format", formats[i][0]), 0);
		has(text, formats[i][1]);
		has(text, formats[i][2]);
		lacks(text, "[+4");
		free(text);
	}
	assert_int_equal(RUN(w, cmd_compare, &text, "--arm", "migrc"), 0);
	has(text, "x 50.21  [49.71, 50.72]");
	lacks(text, "[+4");
	free(text);
	assert_int_equal(RUN(w, cmd_compare, &text, "--explain", REMOTE), 0);
	has(text, "Student's t of pairs: x 50.21 [49.71, 50.72]");
	has(text, "Hodges-Lehmann: x ");
	lacks(text, "[+4");
	free(text);
}

/* What was posted is of deferral: beside an arm that does not defer it would mislead. */
static void test_published_beside_deferral_only(void **state)
{
	struct world *w = *state;
	char *text;

	add_blocks(w, 3, 40, 4, false);
	assert_int_equal(RUN(w, cmd_report, &text, "--format", "text", "--no-records"), 0);
	has(text, "-94.3 %");
	free(text);
	sql(w, "UPDATE run SET arm = 'unbatched' WHERE arm = 'migrc'");
	assert_int_equal(RUN(w, cmd_report, &text, "--format", "text", "--no-records"), 0);
	lacks(text, "-94.3 %");
	free(text);
}

static void test_one_figure_each(void **state)
{
	struct world *w = *state;
	char *text;
	size_t n = 0;

	add_mechanism(w);
	assert_int_equal(RUN(w, cmd_report, &text, "--format", "html"), 0);
	lacks(text, "Plot missing");
	for (const char *at = text; (at = strstr(at, "<figure id=")); at++)
		n++;
	assert_true(n >= 8);
	has(text, "Held folios over time");
	has(text, "Age of a held folio at release");
	has(text, "Flushes by class of the caller");
	has(text, "Interrupts by CPU");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD_TEST(test_histograms_are_added), WORLD_TEST(test_coarse_counts_stay_coarse),
		WORLD_TEST(test_interrupts_by_cpu), WORLD_TEST(test_headline), WORLD_TEST(test_belief),
		WORLD_TEST(test_belief_of_drift_and_of_one),
		cmocka_unit_test(test_detectable), cmocka_unit_test(test_axes_have_units), cmocka_unit_test(test_one_bad_plot),
		cmocka_unit_test(test_long_and_hostile_labels),
		WORLD_TEST(test_all_parts_in_order), WORLD_TEST(test_commands_of_hostile_names),
		WORLD_TEST(test_json_has_the_details),
		WORLD_TEST(test_no_more_than_deferral_explains), WORLD_TEST(test_refusals_worth_telling),
		WORLD_TEST(test_held_memory_needs_the_page_size), WORLD_TEST(test_losers_are_told), WORLD_TEST(test_published_beside_deferral_only),
		WORLD_TEST(test_factors_have_intervals_of_factors), WORLD_TEST(test_one_figure_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
