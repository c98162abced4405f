// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "analysis/explain.h"
#include "analysis/json.h"
#include "analysis/open.h"
#include "analysis/sections.h"
#include "analysis/words.h"
#include "collector/cmd.h"
#include "collector/cmdline.h"
#include "collector/err.h"
#include "collector/term.h"

struct compare_options {
	struct open_options open;
	bool all;
	const char *explain;	/* a metric's key */
};

static const char doc[] =
	"Compare the arms of a database with the baseline, workload by workload.\v"
	"Examples:\n"
	"  migrc compare                            all workloads of runs.db\n"
	"  migrc compare -d lab.db --baseline migrc-off --arm migrc\n"
	"  migrc compare --json | jq '.comparisons[].arms'\n"
	"  migrc compare --explain metric.runtime   every number behind one verdict\n\n"
	"Exit status: 0 compared (whatever the verdict); 2 usage or tool error; 4 runs invalid, their "
	"results differ, or what must match does not. Regressions are for the gate to fail.";

static const struct argp_option options[] = {
	{ "json", 'j', NULL, 0, "JSON, with every number", 1 },
	{ "explain", 'e', "METRIC", 0,
	  "every number behind one verdict; METRIC as the JSON has it: metric.runtime", 1 },
	{ "all", 'a', NULL, 0, "all metrics: rates, probes, histogram percentiles", 1 },
	{ 0 }
};

static const struct argp_child children[] = { { &open_argp, 0, NULL, 0 }, { 0 } };

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct compare_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->open;
		return 0;
	case 'j':
		o->open.json = true;
		return 0;
	case 'a':
		o->all = true;
		return 0;
	case 'e':
		o->explain = arg;
		return 0;
	case ARGP_KEY_ARG:
		return cmdline__error(state, "%s: not an option; the database is given with -d", arg);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void compare_text(struct doc *d, const struct an_compare *c, bool all)
{
	section__table(d, c, all);
	section__mismatches(d, c);
	doc__para(d, DOC_PLAIN, "%s", "");
	for (size_t i = 0; i < c->nr_warnings; i++)
		doc__para(d, DOC_WARN, "Warning: %s.", c->warnings[i]);
	for (size_t a = 0; a < c->nr_arms; a++) {
		char *valid = words__validity(c, a);

		doc__para(d, DOC_PLAIN, "%s%s%s.", valid, a ? "; " : "", a ? c->arms[a].design :
			  "");
		free(valid);
	}
	section__recording_costs(d, c);
	for (size_t i = 0; i < c->nr_runs; i++) {
		char *why = run__why_invalid(c->runs[i].rd);

		if (why && c->runs[i].arm != SIZE_MAX)
			doc__para(d, DOC_WARN, "Run %lld of %s is left out: %s.",
				  (long long)c->runs[i].rd->id, c->runs[i].rd->arm, why);
		free(why);
	}
}

static int print_text(const struct an_model *model, bool all)
{
	struct doc d = { .format = DOC_TEXT, .width = term__width(STDOUT_FILENO),
			 .colour = term__colour(STDOUT_FILENO) };
	int code;

	for (size_t i = 0; i < model->nr; i++)
		if (model->compares[i].nr_arms)
			compare_text(&d, &model->compares[i], all);
	for (size_t i = 0; i < model->nr; i++)
		section__summary(&d, &model->compares[i]);
	code = open__write(NULL, sbuf__str(&d.out), d.out.len);
	sbuf__free(&d.out);
	return code;
}

static int print_json(const struct an_model *model)
{
	struct sbuf b = { 0 };
	int code;

	json__model(&b, model);
	code = open__write(NULL, b.s, b.len);
	sbuf__free(&b);
	return code;
}

static int print_explained(const struct an_model *model, const struct compare_options *opt)
{
	struct doc d = { .format = DOC_TEXT, .width = term__width(STDOUT_FILENO),
			 .colour = term__colour(STDOUT_FILENO) };
	char *msg = NULL;
	int code;

	if (explain__model(&d, model, opt->explain, &msg)) {
		json__error(opt->open.json, EXIT_TOOL, msg);
		free(msg);
		return EXIT_TOOL;
	}
	code = open__write(NULL, sbuf__str(&d.out), d.out.len);
	sbuf__free(&d.out);
	return code;
}

int cmd_compare(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options, .parser = parse, .doc = doc, .children = children,
	};
	struct compare_options opt = { 0 };
	struct opened o = { 0 };
	int code;

	if (cmdline__parse(&argp, argc, argv, 0, &opt))
		return EXIT_TOOL;
	code = open__model(&opt.open, &o);
	if (code)
		goto cleanup;
	if (!o.db->nr) {
		json__error(opt.open.json, EXIT_TOOL,
			    "the database has no runs; make some with `migrc record`");
		code = EXIT_TOOL;
		goto cleanup;
	}
	if (opt.explain)
		code = print_explained(o.model, &opt);
	else
		code = opt.open.json ? print_json(o.model) : print_text(o.model, opt.all);
	if (!code)
		code = open__exit_code(o.model);
cleanup:
	open__close(&o);
	free(opt.open.arms);
	return code;
}
