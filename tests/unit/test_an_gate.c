// SPDX-License-Identifier: GPL-2.0-or-later
/* The gate, from policy file and database to exit code and every output. */
#include "tests/unit/an_world.h"

#include <errno.h>
#include <math.h>

#include "analysis/gate.h"
#include "analysis/sbuf.h"
#include "collector/cmd.h"
#include "collector/err.h"

#define RUNTIME	"[metric metric.runtime]\n"

/* A file beside the database; the caller frees the name. */
static char *put_file(const struct world *w, const char *name, const char *text)
{
	char *path = sbuf__format("%s/%s", w->dir, name);
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
	assert_int_equal(fclose(f), 0);
	return path;
}

static char *get_file(const char *path)
{
	char *text = calloc(1, 1 << 20);
	FILE *f = fopen(path, "r");

	if (!f)
		fail_msg("%s: not written", path);
	assert_non_null(text);
	assert_true(fread(text, 1, (1 << 20) - 1, f) > 0);
	fclose(f);
	return text;
}

/* The gate with that policy and up to three more arguments; what it printed in *text, if asked. */
static int gate(struct world *w, const char *policy, char **text, const char *x, const char *y,
		const char *z)
{
	char *path = put_file(w, "policy", policy), *out;
	const char *const args[] = { "--policy", path, x, y, z, NULL };
	int code = run_cmd(w, cmd_gate, args, &out);

	unlink(path);
	free(path);
	if (text)
		*text = out;
	else
		free(out);
	return code;
}

#define GATE(w, policy)	gate(w, policy, NULL, NULL, NULL, NULL)

static void has(const char *text, const char *want)
{
	if (!strstr(text, want))
		fail_msg("\"%s\" is not in:\n%.1500s", want, text);
}

/* --- the policy file -------------------------------------------------------------------------- */

static void refused(struct world *w, const char *text, int line, const char *want)
{
	char *path = put_file(w, "policy", text), *msg = NULL, *at;
	struct policy *p = NULL;

	assert_int_equal(policy__load(path, &p, &msg), -EINVAL);
	assert_null(p);
	at = sbuf__format("%s:%d: ", path, line);
	has(msg, at);
	has(msg, want);
	assert_null(strchr(msg, '\n'));
	free(at);
	free(msg);
	unlink(path);
	free(path);
}

static void test_policy_is_strict(void **state)
{
	struct world *w = *state;
	char *lots = mem__calloc(400, 1), *text;

	refused(w, "[gate]\nbasline = stock\n", 2, "unknown key \"basline\" in [gate]; the nearest known one is \"baseline\"");
	refused(w, RUNTIME "mim-effect = 2 %\n", 2, "\"min-effect\"");
	refused(w, "\n[limit]\nspread = 5 %\n", 2, "unknown section [limit]; the nearest known one is [limits]");
	refused(w, "[metrics metric.runtime]\n", 1, "[metric KEY]");
	/* A section without keys is read too, and the key of a metric is not cut. */
	refused(w, RUNTIME "[limbs]\n", 2, "[limbs]");
	refused(w, "[metric a.very.long.key.that.goes.on.and.on.and.on.and.on.and.on]\nx = 1\n", 2,
		"on.and.on.and.on.and.on]");
	refused(w, RUNTIME "[gate]\ninconclusive = passed\n", 3, "unknown value \"passed\"; the nearest known one is \"pass\"");
	refused(w, RUNTIME "better = none\n", 2, "unknown value");
	refused(w, RUNTIME "margin = 0.05\n", 2, "is not a percentage, as 5 %");
	refused(w, RUNTIME "margin = 500 %\n", 2, "out of range");
	refused(w, RUNTIME "max = 5x\n", 2, "is not a number");
	refused(w, RUNTIME "max = nan\n", 2, "is not a number");
	refused(w, RUNTIME "[limits]\nheld-memory = 64\n", 3, "is not an amount, as 64 MiB");
	refused(w, RUNTIME "[limits]\nmin-runs = 2.5\n", 3, "is not a whole number");
	refused(w, RUNTIME "primary = maybe\n", 2, "neither yes nor no");
	refused(w, RUNTIME "primary = no\n", 1, "asks for nothing");
	refused(w, RUNTIME "max = 1\nmin = 2\n", 1, "min is above max");
	refused(w, RUNTIME "max = 1\nmax = 2\n", 3, "given twice");
	refused(w, RUNTIME RUNTIME, 2, "is there twice; the first is in line 1");
	refused(w, RUNTIME "max =\n", 2, "has no value");
	refused(w, RUNTIME "[gate]\narms = ,\n", 3, "one name or more");
	refused(w, RUNTIME "[gate]\nbaseline = a, b\n", 3, "one name");
	refused(w, RUNTIME "just words\n", 2, "neither a section, a key");
	refused(w, "level = 5 %\n" RUNTIME, 1, "before the first section");
	refused(w, "[gate] level = 5 %\n" RUNTIME, 1, "nothing after it");
	refused(w, "[gate\n" RUNTIME, 1, "a name in brackets");
	refused(w, "# nothing\n", 1, "nothing to decide");
	/* An indented line is a line of its own, not more of the one before. */
	refused(w, RUNTIME "max = 1\n  max = 2\n", 3, "given twice");
	memset(lots, 'x', 399);
	text = sbuf__format("[gate]\nbaseline = %s\n" RUNTIME, lots);
	refused(w, text, 2, "longer than");
	free(text);
	free(lots);
}

static void test_policy_is_read(void **state)
{
	struct world *w = *state;
	char *msg = NULL, *path = put_file(w, "policy",
		"\xef\xbb\xbf# begins with a mark, as some editors do\n[gate]\nbaseline = stock\n"
		"arms = migrc, migrc-off other\r\nlevel=1%\n  margin = 4 %  ; a comment\n"
		"inconclusive = fail\n[limits]\nheld-memory = 2 MiB\nlost-events = 0 %\n"
		"[metric metric.runtime]\nbetter = higher\nmax = 1.5e3\nworkload = a b\n"
		"[metric x/1000]\nprimary = no\nmin = -2\nmargin = 7 %\n");
	struct policy *p;

	if (policy__load(path, &p, &msg))
		fail_msg("%s", msg);
	assert_int_equal(p->arms.nr, 3);
	assert_string_equal(p->arms.word[1], "migrc-off");
	assert_string_equal(p->baseline.word[0], "stock");
	assert_int_equal(p->inconclusive, POLICY_FAIL);
	assert_true(fabs(p->an.level - 0.01) < 1e-12 && p->an.joint);
	assert_true(p->held_memory == 2097152 && p->lost_events == 0 && isnan(p->spread));
	assert_int_equal(p->nr, 2);
	assert_string_equal(p->rules[0].workload, "a b");
	assert_true(p->rules[0].primary && p->rules[0].better == AN_HIGHER);
	assert_true(fabs(p->rules[0].margin - 0.04) < 1e-12 && p->extra[0].max == 1500);
	assert_true(isnan(p->extra[0].min) && p->rules[0].min_effect == 0.02);
	assert_true(!p->rules[1].primary && p->extra[1].min == -2);
	assert_true(fabs(p->rules[1].margin - 0.07) < 1e-12);
	policy__free(p);
	unlink(path);
	assert_int_equal(policy__load(path, &p, &msg), -ENOENT);
	has(msg, "No such file");
	free(msg);
	assert_int_equal(policy__load(w->dir, &p, &msg), -EIO);
	free(msg);
	free(path);
}

static void test_distance(void **state)
{
	(void)state;
	assert_int_equal(policy__distance("", ""), 0);
	assert_int_equal(policy__distance("", "abc"), 3);
	assert_int_equal(policy__distance("kitten", "sitting"), 3);
	assert_int_equal(policy__distance("sitting", "kitten"), 3);
	assert_int_equal(policy__distance("margin", "margin"), 0);
}

static void test_policy_fits_the_runs(void **state)
{
	struct world *w = *state;
	char *text, *json = sbuf__format("%s/json", w->dir);

	add_blocks(w, 4, 40, 40, false);
	assert_int_equal(gate(w, "\n[metric metric.runtme]\n", NULL, "--json", json, NULL), EXIT_TOOL);
	text = get_file(json);
	has(text, "policy:2: unknown metric \\\"metric.runtme\\\"; the nearest known one is \\\"metric.runtime\\\"");
	has(text, "\"exit\": 2");
	free(text);
	assert_int_equal(gate(w, "[metric vmstat.pgmigrate_success]\n", NULL, "--json", json, NULL),
			 EXIT_TOOL);
	text = get_file(json);
	has(text, "say `better = lower` or");
	free(text);
	assert_int_equal(GATE(w, RUNTIME "workload = elsewhere\n"), EXIT_TOOL);
	assert_int_equal(GATE(w, "[gate]\narms = nobody\n" RUNTIME), EXIT_TOOL);
	assert_int_equal(GATE(w, "[gate]\nworkloads = nothing\n" RUNTIME), EXIT_TOOL);
	assert_int_equal(GATE(w, "[metric vmstat.pgmigrate_success]\nbetter = lower\n"), EXIT_GOOD);
	unlink(json);
	free(json);
}

/* --- decisions -------------------------------------------------------------------------------- */

/* Normal noise of a seeded generator (Box and Muller 1958). */
static double gauss(uint64_t *state)
{
	double u[2];

	for (int i = 0; i < 2; i++) {
		*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
		u[i] = ((double)(*state >> 11) + 0.5) / 9007199254740992.0;
	}
	return sqrt(-2 * log(u[0])) * cos(6.283185307179586 * u[1]);
}

/* ABBA blocks of a fake workload, its runtime log-normal; migrc takes `factor` times as long. */
static void add_noisy(struct world *w, int blocks, double cv, double factor, uint64_t seed)
{
	uint64_t rng = seed * 2654435761u + 17;

	sql(w, "BEGIN");
	for (int b = 1; b <= blocks; b++) {
		struct run_spec a = { "stock", b, 40 * exp(cv * gauss(&rng)),
				      50 * exp(cv * gauss(&rng)), false };
		struct run_spec m = { "migrc", b, 40 * exp(cv * gauss(&rng)),
				      50 * factor * exp(cv * gauss(&rng)), false };

		add_run(w, b % 2 ? &a : &m);
		add_run(w, b % 2 ? &m : &a);
	}
	sql(w, "COMMIT");
}

static void forget_runs(struct world *w)
{
	sql(w, "PRAGMA foreign_keys = ON; DELETE FROM run");
	w->runs = 0;
}

/* 10 % slower, with a noise of 3 %: seven blocks are enough, in each of 20 experiments. */
static void test_planted_regression(void **state)
{
	struct world *w = *state;
	char *text;

	for (uint64_t seed = 1; seed <= 20; seed++) {
		add_noisy(w, 7, 0.03, 1.10, seed);
		if (gate(w, RUNTIME, &text, NULL, NULL, NULL) != EXIT_WORSE)
			fail_msg("seed %d: %s", (int)seed, text);
		has(text, "REGRESSION    w migrc metric.runtime: regressed, +");
		has(text, "gate: REGRESSION (1 of ");
		free(text);
		forget_runs(w);
	}
	/* The same as an improvement, where higher is better, is good. */
	add_noisy(w, 7, 0.03, 1.10, 1);
	assert_int_equal(GATE(w, RUNTIME "better = higher\n"), EXIT_GOOD);
}

/* Nothing changed: the gate must not call it a regression, whatever the noise happens to be. */
static void test_same_against_same(void **state)
{
	static const char policy[] =
		"[metric metric.runtime]\n[metric vmstat.nr_tlb_remote_flush/1000]\n"
		"[metric vmstat.nr_tlb_remote_flush_received/1000]\n";
	struct world *w = *state;
	int worse = 0, good = 0;

	for (uint64_t seed = 1; seed <= 100; seed++) {
		int code;

		add_noisy(w, 7, 0.03, 1, seed);
		code = GATE(w, policy);
		worse += code == EXIT_WORSE;
		good += code == EXIT_GOOD;
		assert_true(code == EXIT_GOOD || code == EXIT_INCONCLUSIVE || code == EXIT_WORSE);
		forget_runs(w);
	}
	if (worse > 5)
		fail_msg("%d of 100 are called a regression", worse);
	/* Nor is it always undecided: with this noise seven blocks can show that nothing changed. */
	assert_true(good >= 30);
}

static void test_inconclusive_says_how_many(void **state)
{
	struct world *w = *state;
	const struct an_effect *e;
	struct built b;
	char *text, *want;
	size_t needed;

	add_noisy(w, 4, 0.08, 1, 3);
	assert_int_equal(gate(w, RUNTIME, &text, NULL, NULL, NULL), EXIT_INCONCLUSIVE);
	b = build(w);
	e = effect(&b, "metric.runtime");
	needed = stats__needed(true, fmax(log1p(0.05), fabs(log(e->est))) / e->sd, 0.05, 0.8, 1000);
	assert_true(needed > 4);
	/* The default policy has two metrics more in its family, so it needs more. */
	assert_true(e->needed > needed);
	want = sbuf__format("about %zu more blocks would decide", needed - 4);
	has(text, want);
	free(want);
	free(text);
	drop(&b);
	assert_int_equal(GATE(w, "[gate]\ninconclusive = pass\n" RUNTIME), EXIT_GOOD);
	assert_int_equal(GATE(w, "[gate]\ninconclusive = fail\n" RUNTIME), EXIT_WORSE);
	forget_runs(w);
	add_noisy(w, 1, 0.01, 1, 3);
	assert_int_equal(gate(w, RUNTIME, &text, NULL, NULL, NULL), EXIT_INCONCLUSIVE);
	has(text, "one run per arm");
	has(text, "record at least 2 more");
	free(text);
}

/* The corrected p of the first verdict in a JSON file. */
static double p_of(struct world *w, const char *text)
{
	sqlite3_stmt *st = NULL;
	double p;

	assert_int_equal(sqlite3_prepare_v2(w->sq, "SELECT json_extract(?1, '$.lines[0].p_adjusted')",
					    -1, &st, NULL), SQLITE_OK);
	sqlite3_bind_text(st, 1, text, -1, SQLITE_STATIC);
	assert_int_equal(sqlite3_step(st), SQLITE_ROW);
	assert_int_equal(sqlite3_column_type(st, 0), SQLITE_FLOAT);
	p = sqlite3_column_double(st, 0);
	sqlite3_finalize(st);
	return p;
}

/* Two workloads make one decision, so they share the error that it may have. */
static void test_family_is_the_whole_gate(void **state)
{
	struct world *w = *state;
	char *text, *json = sbuf__format("%s/json", w->dir);
	double both, alone;

	add_blocks(w, 5, 40, 40, false);
	sql(w, "INSERT INTO run SELECT id + 100, uuid || 'x', arm, block, position, boot_id, 'w2', "
	    "command, state, started_ns, wall_ns, 0, NULL, 0, 0, '0.1.0' FROM run");
	sql(w, "INSERT INTO metric SELECT run_id + 100, name, value, unit, better, is_time FROM metric");
	assert_int_equal(gate(w, RUNTIME, NULL, "--json", json, NULL), EXIT_GOOD);
	text = get_file(json);
	has(text, "\"tests_in_family\": 2");
	both = p_of(w, text);
	free(text);
	assert_int_equal(gate(w, "[gate]\nworkloads = w2\n" RUNTIME, NULL, "--json", json, NULL),
			 EXIT_GOOD);
	text = get_file(json);
	has(text, "\"tests_in_family\": 1");
	assert_null(strstr(text, "\"workload\": \"w\""));
	alone = p_of(w, text);
	assert_true(fabs(both - fmin(1, 2 * alone)) < 1e-12);
	free(text);
	/* One of them has no flushes: not passed over in silence. */
	assert_int_equal(GATE(w, "[metric " REMOTE "]\n"), EXIT_TOOL);
	assert_int_equal(GATE(w, "[metric " REMOTE "]\nworkload = w\n"), EXIT_GOOD);
	unlink(json);
	free(json);
}

/* --- limits ----------------------------------------------------------------------------------- */

static void test_limits(void **state)
{
	struct world *w = *state;
	char *text;

	add_blocks(w, 7, 40, 40, false);
	sql(w, "INSERT INTO probe SELECT id, 'tlb', 'fentry', 't', 1, NULL, 1000, 990, 10, 5 FROM run");
	sql(w, "INSERT INTO sample SELECT id, 5, 'vmstat', 'nr_migrc_pending', 512 FROM run "
	    "WHERE arm = 'migrc'");
	sql(w, "INSERT INTO fact SELECT id, 'match', 'page_size', '4096' FROM run");
	assert_int_equal(GATE(w, "[limits]\nlost-events = 1 %\nheld-memory = 2 MiB\nmin-runs = 7\n"
			      "invalid-runs = 0\nspread = 5 %\nspread-growth = 3\n" RUNTIME
			      "max = 51\nmin = 40\n"), EXIT_GOOD);
	assert_int_equal(gate(w, "[limits]\nlost-events = 0.9 %\n" RUNTIME, &text, NULL, NULL, NULL),
			 EXIT_INVALID);
	has(text, "INVALID       w lost-events: 1 % in run 1, at most 0.9 % allowed");
	free(text);
	assert_int_equal(gate(w, "[limits]\nheld-memory = 1 MiB\n" RUNTIME, &text, NULL, NULL, NULL),
			 EXIT_WORSE);
	has(text, "REGRESSION    w migrc held-memory: 2 MiB at once at most, 1 MiB allowed");
	free(text);
	assert_int_equal(GATE(w, "[limits]\nmin-runs = 8\n" RUNTIME), EXIT_INCONCLUSIVE);
	assert_int_equal(GATE(w, "[limits]\nspread = 0.1 %\n" RUNTIME), EXIT_INCONCLUSIVE);
	assert_int_equal(GATE(w, RUNTIME "max = 45\n"), EXIT_WORSE);
	assert_int_equal(GATE(w, RUNTIME "min = 55\n"), EXIT_WORSE);
	assert_int_equal(gate(w, "[metric " REMOTE "]\nprimary = no\nmax = 39\n", &text, NULL, NULL, NULL),
			 EXIT_WORSE);
	has(text, "max of " REMOTE ": mean 4");
	assert_null(strstr(text, "equivalent"));
	free(text);
	sql(w, "INSERT INTO invalid VALUES (3, 'kernel-splat', 'x')");
	assert_int_equal(GATE(w, "[limits]\ninvalid-runs = 0\n" RUNTIME), EXIT_INVALID);
	assert_int_equal(GATE(w, "[limits]\ninvalid-runs = 1\n" RUNTIME), EXIT_GOOD);
	sql(w, "DELETE FROM fact WHERE key = 'page_size'");
	assert_int_equal(GATE(w, "[limits]\nheld-memory = 9 GiB\n" RUNTIME), EXIT_INVALID);
}

static void test_spread_growth(void **state)
{
	struct world *w = *state;
	char *text;

	add_blocks(w, 9, 40, 40, false);
	sql(w, "UPDATE metric SET value = value * (1 + 0.2 * ((run_id %% 4) - 1.5)) WHERE run_id IN "
	    "(SELECT id FROM run WHERE arm = 'migrc')");
	assert_int_equal(gate(w, "[limits]\nspread-growth = 2\n" RUNTIME, &text, NULL, NULL, NULL),
			 EXIT_WORSE);
	has(text, "REGRESSION    w migrc spread-growth of metric.runtime: MAD x ");
	free(text);
}

/* --- runs that may not be judged -------------------------------------------------------------- */

static void test_invalid(void **state)
{
	struct world *w = *state;
	char *text;

	add_blocks(w, 4, 40, 40, false);
	assert_int_equal(GATE(w, "[gate]\ndesign = paired\n" RUNTIME), EXIT_GOOD);
	sql(w, "UPDATE fact SET value = 'another CPU' WHERE run_id = 3");
	assert_int_equal(GATE(w, RUNTIME), EXIT_INVALID);
	assert_int_equal(gate(w, RUNTIME, &text, "--allow-mismatch", NULL, NULL), EXIT_GOOD);
	free(text);
	sql(w, "UPDATE fact SET value = 'a CPU'");
	sql(w, "UPDATE result_text SET value = 'wrong' WHERE run_id = 2");
	assert_int_equal(gate(w, RUNTIME, &text, NULL, NULL, NULL), EXIT_INVALID);
	has(text, "INVALID       w result checksum: differs between runs");
	free(text);
	sql(w, "UPDATE result_text SET value = 'abc'");
	/* A metric that one arm has lost is not a good one. */
	sql(w, "DELETE FROM metric WHERE run_id IN (SELECT id FROM run WHERE arm = 'migrc')");
	assert_int_equal(GATE(w, RUNTIME), EXIT_INVALID);
	assert_int_equal(gate(w, "[gate]\ninconclusive = pass\n" RUNTIME "max = 1000\n", &text, NULL,
			      NULL, NULL), EXIT_INVALID);
	has(text, "metric.runtime: absent (absent in this arm)");
	has(text, "max of metric.runtime: the metric is absent in this arm");
	free(text);
	sql(w, "UPDATE run SET block = NULL");
	assert_int_equal(GATE(w, "[gate]\ndesign = paired\n[metric " REMOTE "]\n"), EXIT_INVALID);
	sql(w, "UPDATE run SET state = 'failed' WHERE arm = 'migrc'");
	assert_int_equal(GATE(w, "[metric " REMOTE "]\n"), EXIT_INVALID);
	sql(w, "DELETE FROM run WHERE arm = 'migrc'");
	assert_int_equal(gate(w, "[metric " REMOTE "]\n", &text, NULL, NULL, NULL), EXIT_INVALID);
	has(text, "there is no arm to compare with stock; record both");
	free(text);
	assert_int_equal(gate(w, "[gate]\narms = stock\n[metric " REMOTE "]\n", &text, NULL, NULL,
			      NULL), EXIT_INVALID);
	has(text, "stock is the baseline itself; name an arm to compare with it");
	free(text);
}

static void test_emulated_times(void **state)
{
	struct world *w = *state;
	char *text;

	add_blocks(w, 7, 40, 4, true);
	assert_int_equal(gate(w, RUNTIME, &text, NULL, NULL, NULL), EXIT_INCONCLUSIVE);
	has(text, "not judged");
	has(text, "(emulated)");
	assert_null(strstr(text, "would"));
	free(text);
	assert_int_equal(GATE(w, "[metric " REMOTE "]\n"), EXIT_GOOD);
}

/* A tool that breaks has not found a regression, and not that all is well. */
static void test_broken_database(void **state)
{
	struct world *w = *state;
	char junk[4096], *text, *junit = sbuf__format("%s/junit", w->dir);
	FILE *f;

	assert_int_equal(GATE(w, RUNTIME), EXIT_TOOL);
	add_blocks(w, 9, 40, 80, false);
	assert_int_equal(GATE(w, "[metric " REMOTE "]\n"), EXIT_WORSE);
	sqlite3_close(w->sq);
	w->sq = NULL;
	memset(junk, 0xa5, sizeof(junk));
	f = fopen(w->path, "r+");
	assert_non_null(f);
	for (long page = 1; page < 12; page++) {
		assert_int_equal(fseek(f, page * 4096, SEEK_SET), 0);
		assert_int_equal(fwrite(junk, 1, sizeof(junk), f), sizeof(junk));
	}
	assert_int_equal(fclose(f), 0);
	assert_int_equal(gate(w, "[metric " REMOTE "]\n", NULL, "--junit", junit, NULL), EXIT_TOOL);
	text = get_file(junit);
	has(text, "errors=\"1\"");
	has(text, "malformed");
	free(text);
	assert_int_equal(truncate(w->path, 0), 0);
	assert_int_equal(GATE(w, RUNTIME), EXIT_TOOL);
	unlink(w->path);
	assert_int_equal(GATE(w, RUNTIME), EXIT_TOOL);
	/* A place that cannot be written to is an error of the tool too. */
	unlink(junit);
	free(junit);
}

static void test_unwritable_output(void **state)
{
	struct world *w = *state;

	add_blocks(w, 4, 40, 40, false);
	assert_int_equal(gate(w, RUNTIME, NULL, "--md", "/nonexistent/md", NULL), EXIT_TOOL);
}

/* --- outputs ---------------------------------------------------------------------------------- */

/* No character that XML forbids, and no & that begins nothing. */
static void check_xml_characters(const char *s)
{
	assert_null(strstr(s, "\xef\xbf\xbe"));
	assert_null(strstr(s, "\xef\xbf\xbf"));
	for (; *s; s++) {
		size_t len = strspn(s + 1, "abcdefghijklmnopqrstuvwxyz#0123456789");

		assert_true((unsigned char)*s >= ' ' || strchr("\t\n\r", *s));
		assert_true(*s != '&' || (len > 1 && s[1 + len] == ';'));
	}
}

/* Well-formed: elements nest, attributes are quoted, and no < is in one. */
static void check_xml(const char *s)
{
	char open[16][32];
	size_t depth = 0, len, elements = 0;

	check_xml_characters(s);
	for (; *s; s++) {
		if (*s != '<')
			continue;
		elements++;
		if (s[1] == '?') {
			s = strchr(s, '>');
			continue;
		}
		if (s[1] == '/') {
			assert_true(depth > 0);
			len = strlen(open[--depth]);
			assert_int_equal(strncmp(s + 2, open[depth], len), 0);
			assert_int_equal(s[2 + len], '>');
			continue;
		}
		len = strspn(++s, "abcdefghijklmnopqrstuvwxyz-");
		assert_true(len > 0 && len < 32 && depth < 16);
		snprintf(open[depth++], 32, "%.*s", (int)len, s);
		for (s += len; *s == ' '; s++) {
			s += 1 + strspn(s + 1, "abcdefghijklmnopqrstuvwxyz");
			assert_int_equal(strncmp(s, "=\"", 2), 0);
			len = strcspn(s + 2, "\"<");
			s += 2 + len;
			assert_int_equal(*s, '"');
		}
		depth -= s[0] == '/';
		assert_true(*s == '>' || (*s == '/' && s[1] == '>'));
	}
	assert_int_equal(depth, 0);
	assert_true(elements > 4);
}

static bool json_is_valid(struct world *w, const char *text)
{
	sqlite3_stmt *st = NULL;
	bool valid;

	assert_int_equal(sqlite3_prepare_v2(w->sq, "SELECT json_valid(?1) AND "
		"json_extract(?1, '$.exit') IS NOT NULL", -1, &st, NULL), SQLITE_OK);
	sqlite3_bind_text(st, 1, text, -1, SQLITE_STATIC);
	assert_int_equal(sqlite3_step(st), SQLITE_ROW);
	valid = sqlite3_column_int(st, 0);
	sqlite3_finalize(st);
	return valid;
}

/* As SQL text: what is stored has one quote. U+FFFE is good UTF-8, but not in XML. */
#define HOSTILE	"']]></error><script>alert(1)</script>\"'' & \x1b[31m\x01 \xff `rm -rf` | *x* \n" \
		"\xe2\x80\xae \xef\xbf\xbe \xef\xbf\xbf'"

static void check_hostile(const char *text)
{
	assert_null(strchr(text, '\x1b'));
	assert_null(strchr(text, '\x01'));
	assert_null(strchr(text, '\xff'));
	assert_null(strstr(text, "\xe2\x80\xae"));
}

static void outputs(struct world *w, const char *policy, int want)
{
	static const char *const kinds[] = { "--junit", "--json", "--md" };
	char *file = sbuf__format("%s/file", w->dir);

	for (size_t i = 0; i < 3; i++) {
		char *printed, *text;

		assert_int_equal(gate(w, policy, &printed, kinds[i], file, "--allow-mismatch"), want);
		text = get_file(file);
		check_hostile(printed);
		check_hostile(text);
		if (i == 0)
			check_xml(text);
		else if (i == 1)
			assert_true(json_is_valid(w, text));
		else
			assert_null(strstr(text, "<script"));
		free(printed);
		free(text);
		unlink(file);
	}
	free(file);
}

static void test_hostile_strings(void **state)
{
	struct world *w = *state;
	char *printed;
	size_t lines = 0;

	add_blocks(w, 4, 40, 40, false);
	outputs(w, RUNTIME, EXIT_GOOD);
	sql(w, "UPDATE run SET arm = %s WHERE arm = 'migrc'", HOSTILE);
	sql(w, "UPDATE run SET command = %s, boot_id = %s || id", HOSTILE, HOSTILE);
	sql(w, "UPDATE run SET workload = 'w' || %s", HOSTILE);
	sql(w, "UPDATE fact SET value = %s || run_id", HOSTILE);
	outputs(w, RUNTIME, EXIT_GOOD);
	assert_int_equal(gate(w, RUNTIME, &printed, "--allow-mismatch", NULL, NULL), EXIT_GOOD);
	for (const char *s = printed; *s; s++)
		lines += *s == '\n';
	/* The metric and the summary, and nothing that a name broke. */
	assert_int_equal(lines, 2 + (strstr(printed, "warning") != NULL));
	free(printed);
	assert_int_equal(gate(w, RUNTIME, &printed, "--explain", "metric.runtime", "--allow-mismatch"),
			 EXIT_GOOD);
	check_hostile(printed);
	free(printed);
	sql(w, "UPDATE result_text SET value = %s || run_id, name = %s", HOSTILE, HOSTILE);
	outputs(w, RUNTIME, EXIT_INVALID);
}

static void test_junit_states(void **state)
{
	struct world *w = *state;
	char *file = sbuf__format("%s/file", w->dir), *text;

	add_noisy(w, 4, 0.08, 1, 3);
	assert_int_equal(gate(w, RUNTIME, NULL, "--junit", file, NULL), EXIT_INCONCLUSIVE);
	text = get_file(file);
	has(text, "tests=\"1\" failures=\"0\" errors=\"0\" skipped=\"1\"");
	has(text, "<skipped message=\"inconclusive, ");
	free(text);
	assert_int_equal(gate(w, "[gate]\ninconclusive = fail\n" RUNTIME, NULL, "--junit", file, NULL),
			 EXIT_WORSE);
	text = get_file(file);
	has(text, "failures=\"1\" errors=\"0\" skipped=\"0\"");
	free(text);
	assert_int_equal(gate(w, RUNTIME, &text, "--junit", "-", NULL), EXIT_INCONCLUSIVE);
	check_xml(text);
	assert_null(strstr(text, "gate:"));
	free(text);
	unlink(file);
	free(file);
}

/* A factor's interval is one of factors, on every channel. */
static void test_factor(void **state)
{
	struct world *w = *state;
	char *file = sbuf__format("%s/gate.md", w->dir), *text, *md;

	add_blocks(w, 7, 4, 200, false);
	assert_int_equal(gate(w, "[metric " REMOTE "]\n", &text, "--md", file, NULL), EXIT_WORSE);
	has(text, "regressed, x 50.21 [49.71, 50.72], p < 0.0001");
	md = get_file(file);
	has(md, "regressed, x 50.21 \\[49.71, 50.72\\], p &lt; 0.0001");
	free(md);
	free(text);
	unlink(file);
	free(file);
}

/* Every number of the verdict, checked against what the statistics give for the same values. */
static void test_explain(void **state)
{
	struct world *w = *state;
	const struct an_effect *e;
	struct built b;
	char *text, *want;

	add_noisy(w, 7, 0.03, 1.10, 4);
	assert_int_equal(gate(w, RUNTIME, &text, "--explain", "metric.runtime", NULL), EXIT_WORSE);
	b = build(w);
	e = effect(&b, "metric.runtime");
	want = sbuf__format("t %.7g, standard error %.7g, df 6", log(e->est) / e->se, e->se);
	has(text, want);
	free(want);
	want = sbuf__format("p: %.7g\n", e->p);
	has(text, want);
	free(want);
	has(text, "permutation test: p 0.015625, exact");
	has(text, "p after Holm");
	has(text, "Hodges-Lehmann");
	has(text, "equivalence (two one-sided t): p ");
	has(text, "smallest detectable effect");
	has(text, "Drift over the runs of stock");
	has(text, "migrc against stock: regressed.");
	for (size_t i = 0; i < 14; i++) {
		want = sbuf__format("%.6f", log(compare__metric(&b.model->compares[0],
								"metric.runtime")->value[i]));
		has(text, want);
		free(want);
	}
	free(text);
	assert_int_equal(gate(w, RUNTIME, &text, "--explain", "metric.runtim", NULL), EXIT_TOOL);
	free(text);
	assert_int_equal(RUN(w, cmd_compare, &text, "--explain", "metric.runtime"), EXIT_GOOD);
	has(text, "p after Holm");
	free(text);
	assert_int_equal(RUN(w, cmd_compare, &text, "--explain", "nothing", "--json"), EXIT_TOOL);
	has(text, "nearest known one");
	free(text);
	drop(&b);
}

/* The marked run stays in the result; what it would be without it stands beside it. */
static void test_outliers_are_set_beside(void **state)
{
	struct world *w = *state;
	const struct an_effect *e;
	struct built b;
	char *text;

	add_blocks(w, 7, 40, 40, false);
	sql(w, "UPDATE metric SET value = value * 3 WHERE run_id = 5");
	b = build(w);
	e = effect(&b, "metric.runtime");
	assert_int_equal(e->n_base, 7);
	assert_int_equal(e->without.runs, 1);
	assert_int_equal(e->without.n_base, 6);
	assert_true(fabs(log(e->est)) > 0.1 && fabs(log(e->without.est)) < 0.03);
	assert_true(e->without.hi / e->without.lo < 1.1 && e->hi / e->lo > 1.5);
	drop(&b);
	assert_int_equal(gate(w, RUNTIME, &text, NULL, NULL, NULL), EXIT_INCONCLUSIVE);
	has(text, "without the 1 outlying run");
	free(text);
	assert_int_equal(RUN(w, cmd_report, &text, "--format", "text"), EXIT_GOOD);
	has(text, "without the 1 outlying");
	free(text);
	assert_int_equal(RUN(w, cmd_compare, &text, "--json"), EXIT_GOOD);
	has(text, "\"runs_left_out\": 1");
	free(text);
}

/* --- history ---------------------------------------------------------------------------------- */

/* Today's database beside one of before. */
static int today(struct world *w, struct world *before, const char *policy, char **text)
{
	return gate(w, policy, text, "--against", before->path, NULL);
}

static void test_history(void **state)
{
	struct world *w = *state, *before;
	void *other = NULL;
	char *text;

	assert_int_equal(setup(&other), 0);
	before = other;
	add_noisy(before, 8, 0.02, 1, 1);
	/* Of today only the arm counts; its own stock is not what it is compared with. */
	w->runs = 500;
	add_noisy(w, 6, 0.02, 1.15, 2);
	assert_int_equal(today(w, before, "[gate]\narms = migrc\n" RUNTIME, &text), EXIT_WORSE);
	has(text, "REGRESSION    w migrc metric.runtime: regressed");
	has(text, "not interleaved");
	free(text);
	assert_int_equal(today(w, before, "[gate]\narms = stock\nagainst-arm = migrc\n" RUNTIME, &text),
			 EXIT_GOOD);
	free(text);
	assert_int_equal(gate(w, "[gate]\narms = migrc\n" RUNTIME, &text, "--against", before->path,
			      "--explain=metric.runtime"), EXIT_WORSE);
	has(text, "migrc against migrc of runs.db");
	has(text, "Welch's t");
	free(text);
	/* Which arm, if there are two? */
	assert_int_equal(today(w, before, RUNTIME, &text), EXIT_TOOL);
	free(text);
	assert_int_equal(today(w, before, "[gate]\narms = migrc\nagainst-arm = none\n" RUNTIME, &text),
			 EXIT_TOOL);
	free(text);
	sql(before, "UPDATE run SET uuid = 'u-000502' WHERE id = 3");
	assert_int_equal(today(w, before, "[gate]\narms = migrc\n" RUNTIME, &text), EXIT_TOOL);
	free(text);
	sql(before, "UPDATE run SET uuid = 'u' WHERE id = 3");
	sql(before, "UPDATE fact SET value = 'another CPU'");
	assert_int_equal(today(w, before, "[gate]\narms = migrc\n" RUNTIME, &text), EXIT_INVALID);
	free(text);
	sql(before, "DELETE FROM run");
	assert_int_equal(today(w, before, "[gate]\narms = migrc\n" RUNTIME, &text), EXIT_TOOL);
	free(text);
	teardown(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WORLD_TEST(test_policy_is_strict), WORLD_TEST(test_policy_is_read),
		cmocka_unit_test(test_distance), WORLD_TEST(test_policy_fits_the_runs),
		WORLD_TEST(test_planted_regression), WORLD_TEST(test_same_against_same),
		WORLD_TEST(test_inconclusive_says_how_many),
		WORLD_TEST(test_family_is_the_whole_gate), WORLD_TEST(test_limits),
		WORLD_TEST(test_spread_growth), WORLD_TEST(test_invalid),
		WORLD_TEST(test_emulated_times), WORLD_TEST(test_broken_database),
		WORLD_TEST(test_unwritable_output), WORLD_TEST(test_hostile_strings),
		WORLD_TEST(test_junit_states), WORLD_TEST(test_explain), WORLD_TEST(test_factor),
		WORLD_TEST(test_outliers_are_set_beside), WORLD_TEST(test_history),
	};

	return cmocka_run_group_tests_name("analysis/gate", tests, NULL, NULL);
}
