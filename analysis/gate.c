// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/gate.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/detail.h"
#include "analysis/words.h"
#include "collector/err.h"

static struct gate_line *add(struct gate *g, enum gate_state state, const char *workload,
			     const char *arm, const char *what, const char *fmt, ...)
	__attribute__((format(printf, 6, 7)));

static struct gate_line *add(struct gate *g, enum gate_state state, const char *workload,
			     const char *arm, const char *what, const char *fmt, ...)
{
	struct gate_line *line;
	va_list ap;

	g->line = mem__grow(g->line, g->nr);
	line = &g->line[g->nr++];
	*line = (struct gate_line){
		.state = state, .workload = mem__strdup(workload), .arm = mem__strdup(arm),
		.what = mem__strdup(what),
	};
	va_start(ap, fmt);
	line->says = sbuf__vformat(fmt, ap);
	va_end(ap);
	if (state > g->state)
		g->state = state;
	return line;
}

/* --- whether the runs may be judged ----------------------------------------------------------- */

static void check_arms(struct gate *g, const struct policy *p, const struct an_compare *c)
{
	const char *baseline = c->nr_arms ? c->arms[0].name : "the baseline";
	bool itself = false;

	for (size_t i = 0; i < p->arms.nr; i++)
		itself |= !strcmp(p->arms.word[i], baseline);
	if (c->nr_arms < 2)
		add(g, GATE_INVALID, c->workload, "", "arms",
		    itself ? "%s is the baseline itself; name an arm to compare with it" :
		    "there is no arm to compare with %s; record both", baseline);
	for (size_t i = 0; i < p->arms.nr; i++) {
		size_t a;

		for (a = 0; a < c->nr_arms; a++)
			if (!strcmp(c->arms[a].name, p->arms.word[i]))
				break;
		if (a == c->nr_arms)
			add(g, GATE_INVALID, c->workload, p->arms.word[i], "arms",
			    "this workload has no run of the arm; record it");
	}
	for (size_t a = 0; a < c->nr_arms; a++)
		if (!c->arms[a].nr_valid)
			add(g, GATE_INVALID, c->workload, c->arms[a].name, "arms",
			    "no run is valid (%zu recorded); `migrc runs` says why",
			    c->arms[a].nr_runs);
}

static void check_matches(struct gate *g, const struct an_compare *c)
{
	for (size_t i = 0; i < c->nr_mismatches; i++) {
		const struct an_mismatch *m = &c->mismatches[i];

		if (m->checksum)
			add(g, GATE_INVALID, c->workload, "", m->what,
			    "differs between runs, and equal options must give equal results: %s",
			    m->detail);
	}
}

static void check_design(struct gate *g, const struct policy *p, const struct an_compare *c)
{
	for (size_t a = 1; a < c->nr_arms && p->design == POLICY_PAIRED; a++)
		add(g, c->arms[a].paired ? GATE_GOOD : GATE_INVALID, c->workload, c->arms[a].name,
		    "design", "%s", c->arms[a].design);
}

static void check_counts(struct gate *g, const struct policy *p, const struct an_compare *c)
{
	for (size_t a = 0; a < c->nr_arms; a++) {
		const struct an_arm *arm = &c->arms[a];
		size_t invalid = arm->nr_runs - arm->nr_valid;

		if (!isnan(p->invalid_runs))
			add(g, (double)invalid > p->invalid_runs ? GATE_INVALID : GATE_GOOD,
			    c->workload, arm->name, "invalid-runs", "%zu of %zu, at most %.0f allowed",
			    invalid, arm->nr_runs, p->invalid_runs);
		if (!isnan(p->min_runs))
			add(g, (double)arm->nr_boots < p->min_runs ? GATE_INCONCLUSIVE : GATE_GOOD,
			    c->workload, arm->name, "min-runs", "%zu, at least %.0f needed",
			    arm->nr_boots, p->min_runs);
	}
}

/* The largest share over the valid runs; a probe that sends no events can lose none. */
static void check_lost(struct gate *g, const struct policy *p, const struct an_compare *c)
{
	double worst = 0;
	long long run = 0;

	if (isnan(p->lost_events))
		return;
	for (size_t i = 0; i < c->nr_runs; i++) {
		const struct rd_run *rd = c->runs[i].rd;
		double lost = 0, sent = 0;

		if (!c->runs[i].valid || c->runs[i].arm == SIZE_MAX)
			continue;
		for (size_t k = 0; k < rd->nr_probes; k++) {
			const struct rd_probe *probe = &rd->probes[k];

			lost += probe->lost != RD_NULL ? (double)probe->lost : 0;
			sent += probe->submitted != RD_NULL ? (double)probe->submitted : 0;
		}
		if (lost > worst * (lost + sent)) {
			worst = lost / (lost + sent);
			run = (long long)rd->id;
		}
	}
	if (worst > p->lost_events)
		add(g, GATE_INVALID, c->workload, "", "lost-events",
		    "%.3g %% in run %lld, at most %.3g %% allowed", worst * 100, run,
		    p->lost_events * 100);
	else
		add(g, GATE_GOOD, c->workload, "", "lost-events",
		    "%.3g %% at most, %.3g %% allowed", worst * 100, p->lost_events * 100);
}

/* --- limits of the arms ----------------------------------------------------------------------- */

static void check_held(struct gate *g, const struct policy *p, const struct an_compare *c)
{
	const struct an_metric *m = compare__metric(c, "held.max");

	for (size_t a = 0; a < c->nr_arms && !isnan(p->held_memory); a++) {
		double top = detail__held_bytes(c, a);
		char most[FMT_LEN], may[FMT_LEN];

		/* An arm without the patch holds nothing back, and has no such series. */
		if (!m || !m->arm[a].n)
			continue;
		if (isnan(top)) {
			add(g, GATE_INVALID, c->workload, c->arms[a].name, "held-memory",
			    "the page size was not recorded");
			continue;
		}
		add(g, top > p->held_memory ? GATE_REGRESSION : GATE_GOOD, c->workload,
		    c->arms[a].name, "held-memory", "%s at once at most, %s allowed",
		    fmt__unit(most, top, "bytes"), fmt__unit(may, p->held_memory, "bytes"));
	}
}

/* Spread of an arm, robust: 1.4826 MAD of the logs, which is about the coefficient of variation. */
static double robust_cv(const struct an_compare *c, const struct an_metric *m, size_t arm)
{
	double *x = mem__calloc(c->nr_runs + 1, sizeof(*x)), cv = NAN;
	size_t n = 0;

	for (size_t i = 0; i < c->nr_runs; i++)
		if (c->runs[i].valid && c->runs[i].arm == arm && !isnan(m->value[i]))
			x[n++] = m->value[i];
	if (n > 1 && !stats__log(x, n, x))
		cv = 1.4826 * stats__mad(x, n);
	free(x);
	return cv;
}

/* Too wide a spread does not make an arm worse; it makes its mean say little. */
static void check_spread(struct gate *g, const struct policy *p, const struct an_compare *c,
			 const struct an_metric *m)
{
	for (size_t a = 0; a < c->nr_arms && !isnan(p->spread); a++) {
		double cv = robust_cv(c, m, a);
		char *what;

		if (isnan(cv))
			continue;
		what = sbuf__format("spread of %s", m->key);
		add(g, cv > p->spread ? GATE_INCONCLUSIVE : GATE_GOOD, c->workload,
		    c->arms[a].name, what, "%.3g %% between runs, %.3g %% allowed", cv * 100,
		    p->spread * 100);
		free(what);
	}
	for (size_t a = 1; a < c->nr_arms && !isnan(p->spread_growth); a++) {
		const struct an_effect *e = &m->effect[a];
		bool grown = e->spread > p->spread_growth && e->p_spread <= p->an.level;
		char *what;

		if (isnan(e->p_spread))
			continue;
		what = sbuf__format("spread-growth of %s", m->key);
		add(g, grown ? GATE_REGRESSION : GATE_GOOD, c->workload, c->arms[a].name, what,
		    "MAD x %.3g, p %.2g; x %.3g allowed", e->spread, e->p_spread,
		    p->spread_growth);
		free(what);
	}
}

static void check_bound(struct gate *g, const struct an_compare *c, const struct an_metric *m,
			size_t arm, double bound, bool upper)
{
	double mean = m->arm[arm].mean;
	char *what = sbuf__format("%s of %s", upper ? "max" : "min", m->key);
	char *value = words__value(m, mean), *limit = words__value(m, bound);
	bool bad = upper ? mean > bound : mean < bound;

	if (isnan(mean))
		add(g, GATE_INVALID, c->workload, c->arms[arm].name, what,
		    "the metric is absent in this arm");
	else
		add(g, bad ? GATE_REGRESSION : GATE_GOOD, c->workload, c->arms[arm].name, what,
		    "mean %s, %s %s allowed", value, upper ? "at most" : "at least", limit);
	free(what);
	free(value);
	free(limit);
}

static void check_bounds(struct gate *g, const struct policy_rule *x, const struct an_compare *c,
			 const struct an_metric *m)
{
	for (size_t a = 1; a < c->nr_arms; a++) {
		if (!isnan(x->max))
			check_bound(g, c, m, a, x->max, true);
		if (!isnan(x->min))
			check_bound(g, c, m, a, x->min, false);
	}
}

/* --- verdicts --------------------------------------------------------------------------------- */

static enum gate_state state_of(enum an_verdict v)
{
	switch (v) {
	case AN_IMPROVED:
	case AN_EQUIVALENT:
		return GATE_GOOD;
	case AN_REGRESSED:
		return GATE_REGRESSION;
	case AN_ABSENT:
		return GATE_INVALID;
	default:
		return GATE_INCONCLUSIVE;
	}
}

static void say_needed(struct sbuf *b, const struct an_effect *e)
{
	size_t have = e->n_base < e->n_arm ? e->n_base : e->n_arm;
	size_t more = e->needed > have ? e->needed - have : 0;

	if (e->verdict != AN_INCONCLUSIVE)
		return;
	if (!e->needed)
		sbuf__add(b, "; at this spread 1000 would not decide");
	else if (have < 2)
		sbuf__addf(b, "; record at least %zu more %s", more,
			   e->paired ? "blocks" : "runs of each arm");
	else
		sbuf__addf(b, "; about %zu more %s would decide", more, e->paired ?
			   more == 1 ? "block" : "blocks" : more == 1 ? "run of each arm" :
			   "runs of each arm");
}

static void check_effect(struct gate *g, const struct an_compare *c, const struct an_metric *m,
			 size_t arm)
{
	const struct an_effect *e = &m->effect[arm];
	char *change = words__change(m, e), *range = words__interval(m, e);
	char *p = words__p(e->p_adjusted);
	struct gate_line *line;
	struct sbuf b = { 0 };

	sbuf__add(&b, verdict__name(e->verdict));
	if (e->has_est)
		sbuf__addf(&b, ", %s", change);
	if (e->has_est && !isnan(e->lo))
		sbuf__addf(&b, " %s", range);
	if (!isnan(e->p_adjusted))
		sbuf__addf(&b, ", p %s", p);
	if (e->why[0])
		sbuf__addf(&b, " (%s)", e->why);
	say_needed(&b, e);
	line = add(g, state_of(e->verdict), c->workload, c->arms[arm].name, m->key, "%s", b.s);
	line->metric = m;
	line->effect = e;
	sbuf__free(&b);
	free(change);
	free(range);
	free(p);
}

static void check_metric(struct gate *g, const struct policy *p, size_t rule,
			 const struct an_compare *c)
{
	const struct an_rule *r = &p->rules[rule];
	const struct policy_rule *x = &p->extra[rule];
	const struct an_metric *m = compare__metric(c, r->key);

	if (!m || (r->workload && strcmp(r->workload, c->workload)))
		return;
	for (size_t a = 1; a < c->nr_arms && r->primary; a++)
		check_effect(g, c, m, a);
	check_bounds(g, x, c, m);
	if (r->primary)
		check_spread(g, p, c, m);
}

static int exit_of(const struct gate *g, const struct policy *p)
{
	switch (g->state) {
	case GATE_GOOD:
		return EXIT_GOOD;
	case GATE_INCONCLUSIVE:
		return p->inconclusive == POLICY_PASS ? EXIT_GOOD :
		       p->inconclusive == POLICY_FAIL ? EXIT_WORSE : EXIT_INCONCLUSIVE;
	case GATE_REGRESSION:
		return EXIT_WORSE;
	case GATE_INVALID:
		return EXIT_INVALID;
	default:
		return EXIT_TOOL;
	}
}

void gate__decide(struct gate *g, const struct policy *p, const struct an_model *model)
{
	g->model = model;
	g->policy = p->path;
	for (size_t w = 0; w < model->nr; w++) {
		const struct an_compare *c = &model->compares[w];

		g->tests = c->family;
		check_arms(g, p, c);
		check_matches(g, c);
		check_design(g, p, c);
		check_counts(g, p, c);
		check_lost(g, p, c);
		for (size_t i = 0; i < p->nr; i++)
			check_metric(g, p, i, c);
		check_held(g, p, c);
	}
	if (!g->nr)
		add(g, GATE_INVALID, "", "", "runs", "nothing was compared; see `migrc runs`");
	g->exit = exit_of(g, p);
}

void gate__fail(struct gate *g, int exit_code, char *msg)
{
	gate__free(g);
	add(g, exit_code == EXIT_INVALID ? GATE_INVALID : GATE_ERROR, "", "", "gate", "%s", msg);
	g->exit = exit_code;
	free(msg);
}

void gate__unwritten(struct gate *g)
{
	add(g, GATE_ERROR, "", "", "output", "not all files could be written");
	g->exit = EXIT_TOOL;
}

void gate__free(struct gate *g)
{
	for (size_t i = 0; i < g->nr; i++) {
		free(g->line[i].workload);
		free(g->line[i].arm);
		free(g->line[i].what);
		free(g->line[i].says);
	}
	free(g->line);
	*g = (struct gate){ .policy = g->policy };
}

const char *gate__state_name(enum gate_state state)
{
	static const char *const names[] = {
		[GATE_GOOD] = "good", [GATE_INCONCLUSIVE] = "inconclusive",
		[GATE_REGRESSION] = "REGRESSION", [GATE_INVALID] = "INVALID", [GATE_ERROR] = "error",
	};

	return names[state];
}

char *gate__summary(const struct gate *g)
{
	size_t of = 0;

	for (size_t i = 0; i < g->nr; i++)
		of += g->line[i].state == g->state;
	return sbuf__format("%s (%zu of %zu), exit %d", gate__state_name(g->state), of, g->nr,
			    g->exit);
}
