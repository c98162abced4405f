// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/words.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/sbuf.h"

char *words__value(const struct an_metric *m, double v)
{
	char buf[FMT_LEN];

	return mem__strdup(fmt__unit(buf, v, m->unit));
}

char *words__label(const struct an_metric *m)
{
	bool own = strcmp(m->unit, "ns") && strcmp(m->unit, "bytes") && strcmp(m->unit, "count") &&
		   *m->unit;

	return own ? sbuf__format("%s (%s)", m->label, m->unit) : mem__strdup(m->label);
}

static char *difference(const struct an_metric *m, double v)
{
	char buf[FMT_LEN];

	return sbuf__format("%s%s", v > 0 ? "+" : "", fmt__unit(buf, v, m->unit));
}

char *words__change(const struct an_metric *m, const struct an_effect *e)
{
	char buf[FMT_LEN];

	if (!e->has_est)
		return mem__strdup("-");
	if (e->is_ratio)
		return mem__strdup(fmt__change(buf, e->est));
	return difference(m, e->est);
}

char *words__interval(const struct an_metric *m, const struct an_effect *e)
{
	char buf[FMT_LEN], *lo, *hi, *s;

	if (!e->has_est || isnan(e->lo))
		return mem__strdup("-");
	if (e->is_ratio)
		return mem__strdup(fmt__range(buf, e->est, e->lo, e->hi));
	lo = difference(m, e->lo);
	hi = difference(m, e->hi);
	s = sbuf__format("[%s, %s]", lo, hi);
	free(lo);
	free(hi);
	return s;
}

char *words__p(double p)
{
	char buf[FMT_LEN];

	if (isnan(p))
		return mem__strdup("-");
	return mem__strdup(p < 0.0001 ? "< 0.0001" : fmt__num(buf, p));
}

/* As a sentence needs it: with the unit that the head of a table's column says. */
static char *interval_in_sentence(const struct an_compare *c, const struct an_metric *m,
				  const struct an_effect *e)
{
	char *range = words__interval(m, e), *s;

	s = sbuf__format("%.0f %% interval %s%s", c->policy->conf * 100, range,
			 e->is_ratio && !fmt__is_factor(e->est) ? " %" : "");
	free(range);
	return s;
}

/* Three digits, and no more than two of them behind the point. */
static const char *part(char *buf, double percent)
{
	snprintf(buf, FMT_LEN, "%.*f", percent < 9.995 ? 2 : percent < 99.95 ? 1 : 0, percent);
	return buf;
}

char *words__detectable(const struct an_effect *e)
{
	double up = e->detectable * 100;
	char more[FMT_LEN], less[FMT_LEN];

	/* Without any spread everything would be seen, which says nothing. */
	if (!isfinite(up) || up < 1e-6)
		return mem__strdup("-");
	if (up < 0.005)
		return mem__strdup("< 0.01 %");
	/* A ratio's spread is on logs: what is seen upwards and downwards is not the same part. */
	return sbuf__format("+%s / -%s %%", part(more, up),
			    part(less, e->is_ratio ? up / (100 + up) * 100 : up));
}

char *words__verdict(const struct an_effect *e)
{
	if (e->why[0] && e->verdict == AN_NOT_JUDGED)
		return sbuf__format("%s: %s", verdict__name(e->verdict), e->why);
	return mem__strdup(verdict__name(e->verdict));
}

enum an_verdict words__overall(const struct an_compare *c, size_t arm)
{
	bool have[AN_ABSENT + 1] = { false };

	for (size_t i = 0; i < c->nr_metrics && c->metrics[i].primary; i++)
		have[c->metrics[i].effect[arm].verdict] = true;
	if (have[AN_REGRESSED])
		return AN_REGRESSED;
	if (have[AN_IMPROVED])
		return AN_IMPROVED;
	if (have[AN_INCONCLUSIVE])
		return AN_INCONCLUSIVE;
	if (have[AN_EQUIVALENT])
		return AN_EQUIVALENT;
	return have[AN_NOT_JUDGED] ? AN_NOT_JUDGED : AN_ABSENT;
}

static void add_metric_sentence(struct sbuf *b, const struct an_compare *c,
				const struct an_metric *m, const struct an_effect *e)
{
	char *change = words__change(m, e), *range = interval_in_sentence(c, m, e);
	char *p = words__p(e->p_adjusted);

	sbuf__addf(b, " %s: ", m->label);
	if (e->has_est)
		sbuf__addf(b, "%s, ", change);
	if (e->has_est && !isnan(e->lo))
		sbuf__addf(b, "%s, ", range);
	if (!isnan(e->p_adjusted))
		sbuf__addf(b, "p %s%s after Holm: ", *p == '<' ? "" : "= ", p);
	sbuf__addf(b, "%s%s%s%s", verdict__name(e->verdict), e->why[0] ? " (" : "", e->why,
		   e->why[0] ? ")" : "");
	sbuf__add(b, ".");
	free(change);
	free(range);
	free(p);
}

void words__effect(const struct an_metric *m, size_t arm, struct words_effect *w)
{
	const struct an_effect *e = &m->effect[arm];

	w->label = words__label(m);
	w->base = words__value(m, m->arm[0].mean);
	w->value = words__value(m, m->arm[arm].mean);
	w->change = words__change(m, e);
	w->range = words__interval(m, e);
	w->verdict = words__verdict(e);
}

void words__effect_free(struct words_effect *w)
{
	free(w->label);
	free(w->base);
	free(w->value);
	free(w->change);
	free(w->range);
	free(w->verdict);
}

/* What all primary metrics of an arm that cannot be judged have in common, NULL if nothing. */
static const char *common_reason(const struct an_compare *c, size_t arm)
{
	const char *why = NULL;

	for (size_t i = 0; i < c->nr_metrics && c->metrics[i].primary; i++) {
		const struct an_effect *e = &c->metrics[i].effect[arm];

		if (e->verdict == AN_ABSENT)
			continue;
		if (!e->why[0] || (why && strcmp(why, e->why)))
			return NULL;
		why = e->why;
	}
	return why;
}

char *words__arm_verdict(const struct an_compare *c, size_t arm)
{
	const char *why = common_reason(c, arm);
	enum an_verdict v = words__overall(c, arm);
	struct sbuf b = { 0 };
	bool mixed = false;

	for (size_t i = 0; i < c->nr_metrics && c->metrics[i].primary; i++)
		mixed |= v == AN_REGRESSED && c->metrics[i].effect[arm].verdict == AN_IMPROVED;
	sbuf__addf(&b, "%s against %s: %s%s%s%s.", c->arms[arm].name, c->arms[0].name,
		   compare__invalid(c) ? "INVALID, and on these runs " : "",
		   mixed ? "mixed: some improved, some regressed" : verdict__name(v),
		   why && v == AN_INCONCLUSIVE ? ": " : "", why && v == AN_INCONCLUSIVE ? why : "");
	for (size_t i = 0; i < c->nr_metrics && c->metrics[i].primary; i++)
		add_metric_sentence(&b, c, &c->metrics[i], &c->metrics[i].effect[arm]);
	return b.s;
}

static void add_headline(struct sbuf *b, const struct an_compare *c, const struct an_metric *m,
			 const struct an_effect *e, bool first)
{
	char *change = words__change(m, e), *range = interval_in_sentence(c, m, e);

	sbuf__addf(b, "%s%s", first ? "" : ", ", m->label);
	if (e->has_est)
		sbuf__addf(b, " %s", change);
	if (e->has_est && !isnan(e->lo))
		sbuf__addf(b, " (%s)", range);
	else if (e->why[0])
		sbuf__addf(b, " (%s)", e->why);
	free(change);
	free(range);
}

char *words__headline(const struct an_compare *c, size_t arm)
{
	static const enum an_verdict order[] = {
		AN_REGRESSED, AN_IMPROVED, AN_INCONCLUSIVE, AN_EQUIVALENT, AN_NOT_JUDGED, AN_ABSENT,
	};
	struct sbuf b = { 0 };
	size_t said = 0;

	sbuf__addf(&b, "%s against %s: %s", c->arms[arm].name, c->arms[0].name,
		   compare__invalid(c) ? "INVALID, and on these runs " : "");
	for (size_t v = 0; v < sizeof(order) / sizeof(order[0]); v++) {
		bool first = true;

		for (size_t i = 0; i < c->nr_metrics && c->metrics[i].primary; i++) {
			const struct an_effect *e = &c->metrics[i].effect[arm];

			if (e->verdict != order[v])
				continue;
			if (first)
				sbuf__addf(&b, "%s%s: ", said++ ? "; " : "",
					   verdict__name(order[v]));
			add_headline(&b, c, &c->metrics[i], e, first);
			first = false;
		}
	}
	sbuf__add(&b, said ? "." : "nothing to judge: no primary metric was recorded.");
	return b.s;
}

/* --- whether to believe it -------------------------------------------------------------------- */

static void doubt_if(struct sbuf *b, bool is, const char *what)
{
	if (is)
		sbuf__addf(b, "%s%s", b->len ? ", " : "", what);
}

/* What speaks against the runs: left out, lost, alone, of several kinds. */
static void doubt_runs(struct sbuf *b, const struct an_compare *c)
{
	size_t left_out = 0, few = SIZE_MAX;
	bool unpaired = false, lost = false, lacks = false;

	for (size_t a = 0; a < c->nr_arms; a++) {
		left_out += c->arms[a].nr_runs - c->arms[a].nr_valid;
		few = c->arms[a].nr_boots < few ? c->arms[a].nr_boots : few;
		unpaired |= a && !c->arms[a].paired;
	}
	for (size_t i = 0; i < c->nr_runs; i++) {
		const struct rd_run *rd = c->runs[i].rd;

		for (size_t k = 0; c->runs[i].valid && k < rd->nr_probes; k++) {
			lost |= rd->probes[k].lost != RD_NULL && rd->probes[k].lost > 0;
			lacks |= rd->probes[k].core && !strcmp(rd->probes[k].rung, "none");
		}
	}
	doubt_if(b, few <= 1, "an arm has a single boot");
	doubt_if(b, few > 1 && few < 4, "fewer than four boots of an arm");
	doubt_if(b, unpaired && few > 1, "not paired by block");
	if (left_out)
		sbuf__addf(b, "%s%zu invalid run%s left out", b->len ? ", " : "", left_out,
			   left_out == 1 ? "" : "s");
	doubt_if(b, lost, "events lost");
	doubt_if(b, lacks, "probes missing");
}

/* What speaks against the values of primary metrics. */
static void doubt_values(struct sbuf *b, const struct an_compare *c)
{
	bool drift = false, disagree = false, hangs = false;

	for (size_t i = 0; i < c->nr_metrics && c->metrics[i].primary; i++) {
		for (size_t a = 0; a < c->nr_arms; a++) {
			const struct an_summary *s = &c->metrics[i].arm[a];
			const struct an_effect *e = &c->metrics[i].effect[a];

			drift |= s->has_trend && s->trend.p <= 0.05;
			disagree |= a && e->disagree;
			hangs |= a && e->without.runs && e->without.differs;
		}
	}
	doubt_if(b, drift, "drift over the runs of an arm");
	doubt_if(b, disagree, "t and ranks disagree");
	doubt_if(b, hangs, "a conclusion hangs on outlying runs");
}

char *words__belief(const struct an_compare *c, bool *doubt)
{
	struct sbuf b = { 0 };
	size_t valid = 0, boots = 0;
	char *s;

	for (size_t a = 0; a < c->nr_arms; a++) {
		valid += c->arms[a].nr_valid;
		boots += c->arms[a].nr_boots;
	}
	doubt_if(&b, compare__mismatched(c), "the runs differ in what must match");
	doubt_runs(&b, c);
	doubt_values(&b, c);
	*doubt = b.len || compare__invalid(c);
	s = sbuf__format("Believe it? %s%s%s; %zu valid run%s in %zu boot%s%s.",
			 compare__invalid(c) ? "No: results differ or an arm has no valid run" :
			 b.len ? "With care: " : "Yes: nothing that was looked for speaks against it",
			 compare__invalid(c) && b.len ? ", " : "", sbuf__str(&b), valid,
			 valid == 1 ? "" : "s", boots, boots == 1 ? "" : "s",
			 c->emulated ? ", emulated: counts are judged, times are not" : "");
	sbuf__free(&b);
	return s;
}

char *words__validity(const struct an_compare *c, size_t arm)
{
	const struct an_arm *a = &c->arms[arm];

	return sbuf__format("%s: %zu of %zu run%s valid, %zu boot%s", a->name, a->nr_valid,
			    a->nr_runs,
			    a->nr_runs == 1 ? "" : "s", a->nr_boots, a->nr_boots == 1 ? "" : "s");
}

/* The fact that all runs agree on; NULL if it is absent or they do not. */
static const char *common_fact(const struct an_compare *c, const char *key)
{
	const char *value = NULL;

	for (size_t i = 0; i < c->nr_runs; i++) {
		const char *v = run__fact(c->runs[i].rd, key);

		if (!c->runs[i].valid || c->runs[i].arm == SIZE_MAX)
			continue;
		if (!v || (value && strcmp(v, value)))
			return NULL;
		value = v;
	}
	return value;
}

char *words__ad_bits(const struct an_compare *c)
{
	const char *l1tf = common_fact(c, "l1tf");
	const char *bits = common_fact(c, "ad_bits_in_migration_entries");
	const char *means;

	if (bits && !strcmp(bits, "yes"))
		means = "This machine keeps the accessed and dirty bits in migration entries: a page that was ever written stays dirty when it is moved, so the rule \"read-only and clean\" finds little to defer in memory that is written, anonymous memory above all; a rule that accepts dirty read-only pages is needed for that. File pages that are only read are clean, here too.";
	else if (bits && !strcmp(bits, "no"))
		means = "This machine drops the dirty bit in migration entries: a page that was promoted comes back read-only and clean, so the rule \"read-only and clean\" finds a good part of later demotions, growing with time.";
	else
		means = "Whether this machine keeps the accessed and dirty bits in migration entries was not recorded or differs between runs; it decides how much the rule \"read-only and clean\" can defer.";
	return sbuf__format("L1TF: %s. Accessed and dirty bits kept in migration entries: %s. %s",
			    l1tf ? l1tf : "not recorded, or differing", bits ? bits : "unknown",
			    means);
}

/* ", wall time +0.12 % (95 % interval -0.30 to +0.55 %)", or nothing. */
static void add_cost(struct sbuf *b, const struct rd_run *run, const char *what, const char *label)
{
	static const char *const ends[] = { "", "_low", "_high" };
	double percent[3];
	char name[64];

	for (size_t i = 0; i < 3; i++) {
		int64_t ppm;

		snprintf(name, sizeof(name), "calibrated_%s%s_ppm", what, ends[i]);
		ppm = run__instrument(run, name);
		if (ppm == RD_NULL)
			return;
		percent[i] = (double)ppm / 1e4;
	}
	sbuf__addf(b, "%s %s %+.2f %% (95 %% interval %+.2f to %+.2f %%)", b->len ? "," : "", label,
		   percent[0], percent[1], percent[2]);
}

char *words__recording_cost(const struct rd_run *run)
{
	int64_t pairs = run__instrument(run, "calibrated_pairs");
	struct sbuf b = { 0 };
	char *text;

	if (pairs == RD_NULL)
		return NULL;
	add_cost(&b, run, "wall", "wall time");
	add_cost(&b, run, "cpu", "CPU time of the command");
	text = sbuf__format("Recording cost, by %" PRId64 " pairs of runs with and without it:%s.",
			    pairs, b.len ? sbuf__str(&b) : " not told, a run took no time");
	sbuf__free(&b);
	return text;
}
