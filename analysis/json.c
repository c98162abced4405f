// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/detail.h"
#include "analysis/words.h"
#include "collector/err.h"

static void lead(struct json *j, const char *key)
{
	sbuf__add(j->out, j->comma ? ",\n" : "\n");
	j->comma = true;
	if (key) {
		sbuf__add_json(j->out, key);
		sbuf__add(j->out, ": ");
	}
}

void json__begin(struct json *j, const char *key, char bracket)
{
	if (j->out->len)
		lead(j, key);
	sbuf__addn(j->out, &bracket, 1);
	j->comma = false;
}

void json__end(struct json *j, char bracket)
{
	sbuf__addn(j->out, &bracket, 1);
	j->comma = true;
}

void json__str(struct json *j, const char *key, const char *value)
{
	lead(j, key);
	sbuf__add_json(j->out, value);
}

void json__num(struct json *j, const char *key, double value)
{
	lead(j, key);
	sbuf__add_json_num(j->out, value);
}

void json__int(struct json *j, const char *key, int64_t value)
{
	lead(j, key);
	if (value == RD_NULL)
		sbuf__add(j->out, "null");
	else
		sbuf__addf(j->out, "%" PRId64, value);
}

void json__bool(struct json *j, const char *key, bool value)
{
	lead(j, key);
	sbuf__add(j->out, value ? "true" : "false");
}

static void texts(struct json *j, const char *key, const struct rd_text *t, size_t nr)
{
	json__begin(j, key, '{');
	for (size_t i = 0; i < nr; i++)
		json__str(j, t[i].key, t[i].value);
	json__end(j, '}');
}

static void run_measured(struct json *j, const struct rd_run *run)
{
	json__begin(j, "counters", '[');
	for (size_t i = 0; i < run->nr_counters; i++) {
		const struct rd_counter *n = &run->counters[i];

		json__begin(j, NULL, '{');
		json__str(j, "source", n->source);
		json__str(j, "name", n->name);
		json__int(j, "before", n->has_before ? n->before : RD_NULL);
		json__int(j, "after", n->after);
		json__end(j, '}');
	}
	json__end(j, ']');
	json__begin(j, "histograms", '[');
	for (size_t i = 0; i < run->nr_hists; i++) {
		const struct rd_hist *h = &run->hists[i];

		json__begin(j, NULL, '{');
		json__str(j, "name", h->name);
		json__str(j, "unit", h->unit);
		json__int(j, "sub_bits", h->sub_bits);
		json__int(j, "total", h->total);
		json__int(j, "sum", h->sum);
		json__int(j, "max", h->max);
		json__begin(j, "bins", '[');
		for (unsigned int k = 0; k < h->nr; k++) {
			if (!h->n[k])
				continue;
			json__begin(j, NULL, '[');
			json__int(j, NULL, k);
			json__int(j, NULL, (int64_t)h->n[k]);
			if (h->span && h->span[k])
				json__int(j, NULL, h->span[k]);
			json__end(j, ']');
		}
		json__end(j, ']');
		json__end(j, '}');
	}
	json__end(j, ']');
}

static void run_perf(struct json *j, const struct rd_run *run)
{
	json__begin(j, "perf_events", '[');
	for (size_t i = 0; i < run->nr_perf; i++) {
		const struct rd_perf *p = &run->perf[i];

		json__begin(j, NULL, '{');
		json__str(j, "name", p->name);
		json__str(j, "event", p->event);
		json__num(j, "value", p->value);
		json__str(j, "unit", p->unit);
		json__num(j, "running_share", p->share);
		json__end(j, '}');
	}
	json__end(j, ']');
}

static void run_instrument(struct json *j, const struct rd_run *run)
{
	json__begin(j, "probes", '[');
	for (size_t i = 0; i < run->nr_probes; i++) {
		const struct rd_probe *p = &run->probes[i];

		json__begin(j, NULL, '{');
		json__str(j, "name", p->name);
		json__str(j, "rung", p->rung);
		json__str(j, "target", p->target);
		json__bool(j, "core", p->core);
		json__str(j, "why", p->why);
		json__int(j, "seen", p->seen);
		json__int(j, "submitted", p->submitted);
		json__int(j, "lost", p->lost);
		json__int(j, "body_ns", p->body_ns);
		json__end(j, '}');
	}
	json__end(j, ']');
	json__begin(j, "instrument", '{');
	for (size_t i = 0; i < run->nr_instrument; i++)
		json__int(j, run->instrument[i].name, run->instrument[i].value);
	json__end(j, '}');
}

static void run_metrics(struct json *j, const struct rd_run *run)
{
	json__begin(j, "metrics", '[');
	for (size_t i = 0; i < run->nr_metrics; i++) {
		const struct rd_metric *m = &run->metrics[i];

		json__begin(j, NULL, '{');
		json__str(j, "name", m->name);
		json__num(j, "value", m->value);
		json__str(j, "unit", m->unit);
		json__str(j, "better", m->better);
		json__bool(j, "is_time", m->is_time);
		json__end(j, '}');
	}
	json__end(j, ']');
}

void json__run(struct json *j, const struct rd_run *run, bool full)
{
	char *why = run__why_invalid(run);

	json__begin(j, NULL, '{');
	json__int(j, "run", run->id);
	json__str(j, "uuid", run->uuid);
	json__str(j, "arm", run->arm);
	json__int(j, "block", run->block);
	json__int(j, "position", run->position);
	json__str(j, "boot_id", run->boot_id);
	json__str(j, "workload", run->workload);
	json__str(j, "command", run->command);
	json__str(j, "state", run->state);
	json__bool(j, "valid", !why);
	json__str(j, "why_invalid", why);
	json__int(j, "started_ns", run->started_ns);
	json__int(j, "wall_ns", run->wall_ns);
	json__int(j, "exit_code", run->exit_code);
	json__int(j, "term_signal", run->term_signal);
	json__bool(j, "timed_out", run->timed_out);
	json__bool(j, "emulated", run->emulated);
	json__str(j, "tool_version", run->tool_version);
	if (full) {
		texts(j, "labels", run->labels, run->nr_labels);
		texts(j, "facts", run->facts, run->nr_facts);
		texts(j, "results", run->results, run->nr_results);
		texts(j, "rules_broken", run->invalid, run->nr_invalid);
		run_metrics(j, run);
		run_measured(j, run);
		run_perf(j, run);
		run_instrument(j, run);
	}
	json__end(j, '}');
	free(why);
}

static void without(struct json *j, const struct an_without *w)
{
	if (!w->runs) {
		json__str(j, "without_outliers", NULL);
		return;
	}
	json__begin(j, "without_outliers", '{');
	json__int(j, "runs_left_out", (int64_t)w->runs);
	json__num(j, "estimate", w->est);
	json__num(j, "low", w->lo);
	json__num(j, "high", w->hi);
	json__num(j, "p", w->p);
	json__bool(j, "differs", w->differs);
	json__end(j, '}');
}

static void effect(struct json *j, const struct an_compare *c, const struct an_metric *m,
		   size_t arm)
{
	const struct an_effect *e = &m->effect[arm];

	json__begin(j, NULL, '{');
	json__str(j, "arm", c->arms[arm].name);
	json__str(j, "verdict", verdict__name(e->verdict));
	json__str(j, "why", e->why[0] ? e->why : NULL);
	json__str(j, "kind", !e->has_est ? NULL : e->is_ratio ? "ratio" : "difference");
	json__bool(j, "paired", e->paired);
	json__int(j, "n_baseline", (int64_t)e->n_base);
	json__int(j, "n_arm", (int64_t)e->n_arm);
	json__num(j, "estimate", e->est);
	json__num(j, "low", e->lo);
	json__num(j, "high", e->hi);
	json__num(j, "se", e->se);
	json__num(j, "df", e->df);
	json__num(j, "p", e->p);
	json__num(j, "p_adjusted", e->p_adjusted);
	json__num(j, "p_permutation", e->p_perm);
	json__num(j, "p_equivalence", e->p_tost);
	json__num(j, "rank_estimate", e->hl_est);
	json__num(j, "rank_low", e->hl_lo);
	json__num(j, "rank_high", e->hl_hi);
	json__num(j, "rank_confidence", e->hl_conf);
	json__num(j, "smallest_detectable", e->detectable);
	json__int(j, "needed", e->needed ? (int64_t)e->needed : RD_NULL);
	without(j, &e->without);
	json__num(j, "spread_ratio", e->spread);
	json__num(j, "p_spread", e->p_spread);
	json__end(j, '}');
}

static const char *better_name(enum an_better b)
{
	return b == AN_LOWER ? "lower" : b == AN_HIGHER ? "higher" : "none";
}

static void metric(struct json *j, const struct an_compare *c, const struct an_metric *m)
{
	json__begin(j, NULL, '{');
	json__str(j, "key", m->key);
	json__str(j, "label", m->label);
	json__str(j, "unit", m->unit);
	json__str(j, "better", better_name(m->better));
	json__bool(j, "primary", m->primary);
	json__bool(j, "is_time", m->is_time);
	json__num(j, "margin", m->margin);
	json__num(j, "min_effect", m->min_effect);
	json__num(j, "published_ratio", m->published);
	json__begin(j, "arms", '[');
	for (size_t a = 0; a < c->nr_arms; a++) {
		const struct an_summary *s = &m->arm[a];

		json__begin(j, NULL, '{');
		json__str(j, "arm", c->arms[a].name);
		json__int(j, "n", (int64_t)s->n);
		json__int(j, "missing", (int64_t)s->missing);
		json__num(j, "mean", s->mean);
		json__num(j, "median", s->median);
		json__num(j, "sd", s->sd);
		json__num(j, "min", s->min);
		json__num(j, "max", s->max);
		json__int(j, "outliers", (int64_t)s->outliers);
		json__num(j, "p_drift", s->has_trend ? s->trend.p : __builtin_nan(""));
		json__num(j, "tau_drift", s->has_trend ? s->trend.tau : __builtin_nan(""));
		/* Per run: a part of the value, where it is positive in all runs; else a difference. */
		json__num(j, "slope_drift", !s->has_trend ? __builtin_nan("") : s->trend_log ?
			  expm1(s->trend.slope) : s->trend.slope);
		json__end(j, '}');
	}
	json__end(j, ']');
	json__begin(j, "runs", '[');
	for (size_t i = 0; i < c->nr_runs; i++)
		json__num(j, NULL, m->value[i]);
	json__end(j, ']');
	json__begin(j, "effects", '[');
	for (size_t a = 1; a < c->nr_arms; a++)
		effect(j, c, m, a);
	json__end(j, ']');
	json__end(j, '}');
}

static void arms(struct json *j, const struct an_compare *c)
{
	json__begin(j, "arms", '[');
	for (size_t a = 0; a < c->nr_arms; a++) {
		char *text = a ? words__arm_verdict(c, a) : NULL;
		char *headline = a ? words__headline(c, a) : NULL;

		json__begin(j, NULL, '{');
		json__str(j, "arm", c->arms[a].name);
		json__bool(j, "baseline", a == 0);
		json__int(j, "runs", (int64_t)c->arms[a].nr_runs);
		json__int(j, "valid", (int64_t)c->arms[a].nr_valid);
		json__int(j, "boots", (int64_t)c->arms[a].nr_boots);
		json__str(j, "design", c->arms[a].design);
		json__str(j, "verdict", a ? verdict__name(words__overall(c, a)) : NULL);
		json__str(j, "sentence", text);
		json__str(j, "headline", headline);
		json__end(j, '}');
		free(headline);
		free(text);
	}
	json__end(j, ']');
}

/* --- what the report works out beside its metrics ---------------------------------------------- */

static void dist(struct json *j, const struct an_compare *c, size_t arm,
		 const struct detail_dist *d)
{
	json__begin(j, NULL, '{');
	json__str(j, "arm", c->arms[arm].name);
	json__int(j, "histograms", (int64_t)d->runs);
	json__str(j, "unit", d->unit);
	json__num(j, "n", (double)d->total);
	for (size_t k = 0; k < DETAIL_CUTS; k++) {
		json__begin(j, detail_cuts[k].name, '{');
		json__num(j, "estimate", d->cut[k].coarse ? __builtin_nan("") : d->cut[k].est);
		json__num(j, "low", d->cut[k].lo);
		json__num(j, "high", d->cut[k].hi);
		json__end(j, '}');
	}
	json__end(j, '}');
}

static void latencies(struct json *j, const struct an_compare *c)
{
	json__begin(j, "latencies", '[');
	for (size_t k = 0; k < detail_nr_latencies; k++) {
		json__begin(j, NULL, '{');
		json__str(j, "key", detail_latencies[k].key);
		json__str(j, "label", detail_latencies[k].label);
		json__begin(j, "arms", '[');
		for (size_t a = 0; a < c->nr_arms; a++) {
			struct detail_dist d;

			if (!detail__dist(c, a, detail_latencies[k].names, &d))
				continue;
			dist(j, c, a, &d);
			detail__dist_free(&d);
		}
		json__end(j, ']');
		json__end(j, '}');
	}
	json__end(j, ']');
}

/* By arm the mean of each CPU; what each run had is among its counters. */
static void interrupts(struct json *j, const struct an_compare *c)
{
	struct detail_cpus cpus;

	detail__cpus(c, &cpus);
	json__begin(j, "interrupts_by_cpu", '{');
	json__str(j, "row", cpus.nr ? cpus.row : NULL);
	json__begin(j, "arms", '[');
	for (size_t a = 0; a < c->nr_arms; a++) {
		json__begin(j, NULL, '{');
		json__str(j, "arm", c->arms[a].name);
		json__begin(j, "mean", '[');
		for (size_t cpu = 0; cpu < cpus.nr; cpu++)
			json__num(j, NULL, detail__cpu_mean(c, &cpus, a, cpu));
		json__end(j, ']');
		json__end(j, '}');
	}
	json__end(j, ']');
	json__end(j, '}');
	detail__cpus_free(&cpus);
}

static void belief(struct json *j, const struct an_compare *c)
{
	bool doubt;
	char *text = words__belief(c, &doubt), *bits = words__ad_bits(c);

	json__str(j, "belief", text);
	json__bool(j, "doubt", doubt);
	json__str(j, "ad_bits", bits);
	free(text);
	free(bits);
}

static void compare(struct json *j, const struct an_compare *c)
{
	json__begin(j, NULL, '{');
	json__str(j, "workload", c->workload);
	json__bool(j, "emulated", c->emulated);
	json__bool(j, "invalid", compare__invalid(c));
	json__int(j, "tests_in_family", (int64_t)c->family);
	arms(j, c);
	belief(j, c);
	json__begin(j, "warnings", '[');
	for (size_t i = 0; i < c->nr_warnings; i++)
		json__str(j, NULL, c->warnings[i]);
	json__end(j, ']');
	json__begin(j, "mismatches", '[');
	for (size_t i = 0; i < c->nr_mismatches; i++) {
		json__begin(j, NULL, '{');
		json__str(j, "what", c->mismatches[i].what);
		json__str(j, "detail", c->mismatches[i].detail);
		json__bool(j, "result", c->mismatches[i].checksum);
		json__end(j, '}');
	}
	json__end(j, ']');
	json__begin(j, "runs", '[');
	for (size_t i = 0; i < c->nr_runs; i++)
		json__run(j, c->runs[i].rd, true);
	json__end(j, ']');
	json__begin(j, "metrics", '[');
	for (size_t i = 0; i < c->nr_metrics; i++)
		metric(j, c, &c->metrics[i]);
	json__end(j, ']');
	latencies(j, c);
	interrupts(j, c);
	json__end(j, '}');
}

void json__model(struct sbuf *out, const struct an_model *model)
{
	struct json j = { .out = out };

	json__begin(&j, NULL, '{');
	json__int(&j, "format", 1);
	json__str(&j, "tool_version", MIGRC_VERSION);
	json__begin(&j, "comparisons", '[');
	for (size_t i = 0; i < model->nr; i++)
		compare(&j, &model->compares[i]);
	json__end(&j, ']');
	json__end(&j, '}');
	sbuf__add(out, "\n");
}

void json__error(bool as_json, int exit_code, const char *msg)
{
	struct sbuf b = { 0 };

	if (!as_json) {
		err__print("%s", msg);
		return;
	}
	sbuf__add(&b, "{\"error\": ");
	sbuf__add_json(&b, msg);
	sbuf__addf(&b, ", \"exit\": %d}\n", exit_code);
	fputs(b.s, stdout);
	sbuf__free(&b);
}
