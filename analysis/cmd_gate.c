// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/explain.h"
#include "analysis/gate.h"
#include "analysis/history.h"
#include "analysis/open.h"
#include "collector/cmd.h"
#include "collector/cmdline.h"
#include "collector/err.h"
#include "collector/term.h"

enum { OPT_POLICY = 0x200, OPT_JUNIT, OPT_JSON, OPT_MD, OPT_AGAINST, OPT_EXPLAIN };

struct gate_options {
	struct open_options open;
	const char *policy, *junit, *json, *md, *against, *explain;
};

static const char doc[] =
	"Decide by a policy file whether the arms of a database are good enough, for CI.\v"
	"Examples:\n"
	"  migrc gate --policy gate.policy\n"
	"  migrc gate -d out/runs.db --policy gate.policy --junit gate.xml --md gate.md\n"
	"  migrc gate --policy gate.policy --against main.db    runs of before as baseline\n"
	"  migrc gate --policy gate.policy --explain metric.runtime\n\n"
	"The policy, with every key there is (what is not given has the value shown, or is not asked):\n"
	"  [gate]\n"
	"  baseline = stock          # else the first arm\n"
	"  arms = migrc              # else all others\n"
	"  workloads = xs, cycle     # else all\n"
	"  against-arm = migrc       # the arm of --against's database; else the same arm\n"
	"  design = any              # paired: runs that are not in ABBA blocks are invalid\n"
	"  inconclusive = exit-3     # or pass (exit 0), or fail (exit 1)\n"
	"  confidence = 95 %\n"
	"  level = 5 %               # of all metrics, arms and workloads together (Holm)\n"
	"  power = 80 %              # of the number of runs that would decide\n"
	"  margin = 5 %              # a change within it is none, if that can be shown\n"
	"  min-effect = 2 %          # a smaller change is no regression\n"
	"  [limits]\n"
	"  lost-events = 0.1 %       # of a run; more: invalid\n"
	"  invalid-runs = 1          # of an arm; more: invalid\n"
	"  min-runs = 5              # of an arm; fewer: inconclusive\n"
	"  spread = 10 %             # of a primary metric between runs; more: inconclusive\n"
	"  spread-growth = 2         # times the baseline's, if significant; more: regression\n"
	"  held-memory = 64 MiB      # at once, by any arm; more: regression\n"
	"  [metric metric.runtime]   # one section a metric; `migrc compare --json` has the keys\n"
	"  better = lower            # or higher; else as the metric says itself\n"
	"  margin = 5 %\n"
	"  min-effect = 2 %\n"
	"  max = 60                  # of an arm's mean, in the metric's unit; more: regression\n"
	"  min = 1\n"
	"  workload = xs             # else all\n"
	"  primary = yes             # no: only max and min count\n\n"
	"Exit status: 0 good; 1 regression; 2 usage or tool error; 3 inconclusive; 4 runs invalid, "
	"their results differ, or what must match does not.";

static const struct argp_option options[] = {
	{ "policy", OPT_POLICY, "FILE", 0, "what to ask (required; see below)", 1 },
	{ "junit", OPT_JUNIT, "FILE", 0, "write JUnit XML; -: on standard output, without the lines", 1 },
	{ "json", OPT_JSON, "FILE", 0, "write JSON", 1 },
	{ "md", OPT_MD, "FILE", 0, "write Markdown, for a job summary", 1 },
	{ "against", OPT_AGAINST, "DB", 0,
	  "compare with the runs of the same arm (or against-arm) stored there", 1 },
	{ "explain", OPT_EXPLAIN, "METRIC", 0, "print every number behind its verdicts first", 1 },
	{ 0 }
};

static const struct argp_child children[] = { { &open_argp, 0, NULL, 0 }, { 0 } };

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct gate_options *o = state->input;
	const char **file = key == OPT_POLICY ? &o->policy : key == OPT_JUNIT ? &o->junit :
			    key == OPT_JSON ? &o->json : key == OPT_MD ? &o->md :
			    key == OPT_AGAINST ? &o->against :
			    key == OPT_EXPLAIN ? &o->explain : NULL;

	if (file) {
		*file = arg;
		return 0;
	}
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->open;
		return 0;
	case ARGP_KEY_ARG:
		return cmdline__error(state, "%s: not an option; the database is given with -d", arg);
	case ARGP_KEY_END:
		if (!o->policy)
			return cmdline__error(state, "no policy; give a file with --policy");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* Everything that a decision is made from. */
struct inputs {
	struct policy *policy;
	struct rundb *db, *history;
	struct an_model *model;
	char *stored;		/* the baseline's name in --against */
};

static void inputs__free(struct inputs *in)
{
	model__free(in->model);
	rundb__free(in->db);
	rundb__free(in->history);
	policy__free(in->policy);
	free(in->stored);
}

/* The one arm that is compared with those of before; NULL and *msg if it is not clear which. */
static const char *todays_arm(const struct inputs *in, const struct an_options *o, char **msg)
{
	const char *arm = o->nr_arms == 1 ? o->arms[0] : NULL;

	for (size_t i = 0; i < in->db->nr && !o->nr_arms; i++) {
		if (arm && strcmp(arm, in->db->runs[i].arm)) {
			arm = NULL;
			break;
		}
		arm = in->db->runs[i].arm;
	}
	if (!arm)
		*msg = mem__strdup("--against compares one arm; name it with --arm or with arms = NAME in the policy");
	return arm;
}

static int join_history(struct inputs *in, const struct gate_options *opt, struct an_options *o,
			char **msg)
{
	const struct policy_words *stored = &in->policy->against_arm;
	const char *arm = todays_arm(in, o, msg);
	char *today;
	int err;

	if (!arm || rundb__load_checked(opt->against, &in->history, msg))
		return EXIT_TOOL;
	/* The run that has it may be among those that go. */
	today = mem__strdup(arm);
	err = history__join(in->db, today, in->history, stored->nr ? stored->word[0] : today,
			    opt->against, &in->stored, msg);
	free(today);
	o->baseline = in->stored;
	o->arms = NULL;
	o->nr_arms = 0;
	return err ? EXIT_TOOL : EXIT_GOOD;
}

/* What was selected on the command line counts more than the policy. */
static struct an_options selection(const struct gate_options *opt, const struct policy *p)
{
	const struct open_options *line = &opt->open;
	struct an_options o = { .policy = &p->an };

	o.baseline = line->baseline ? line->baseline : p->baseline.nr ? p->baseline.word[0] : NULL;
	o.arms = (const char *const *)(line->nr_arms ? line->arms : (const char **)p->arms.word);
	o.nr_arms = line->nr_arms ? line->nr_arms : p->arms.nr;
	if (line->workload) {
		o.workloads = &line->workload;
		o.nr_workloads = 1;
	} else {
		o.workloads = (const char *const *)p->workloads.word;
		o.nr_workloads = p->workloads.nr;
	}
	return o;
}

/* The list is the message; what must match does not, so nothing is compared. */
static char *refusal(const struct an_model *model)
{
	struct sbuf b = { 0 };

	for (size_t w = 0; w < model->nr; w++) {
		const struct an_compare *c = &model->compares[w];

		for (size_t i = 0; i < c->nr_mismatches; i++) {
			if (c->mismatches[i].checksum)
				continue;
			sbuf__addf(&b, "%s%s: %s differs: %s", b.len ? "; " : "", c->workload,
				   c->mismatches[i].what, c->mismatches[i].detail);
		}
	}
	if (b.len)
		sbuf__add(&b, "; record them alike, or give --allow-mismatch");
	return b.s;
}

/* EXIT_GOOD with a model that may be judged; else the exit code and *msg. */
static int prepare(struct inputs *in, const struct gate_options *opt, char **msg)
{
	struct an_options o;
	int code;

	if (policy__load(opt->policy, &in->policy, msg))
		return EXIT_TOOL;
	o = selection(opt, in->policy);
	if (rundb__load_checked(opt->open.db ? opt->open.db : "runs.db", &in->db, msg))
		return EXIT_TOOL;
	if (!in->db->nr) {
		*msg = mem__strdup("the database has no runs; make some with `migrc record`");
		return EXIT_TOOL;
	}
	code = opt->against ? join_history(in, opt, &o, msg) : EXIT_GOOD;
	if (code)
		return code;
	if (model__build(in->db, &o, &in->model, msg) ||
	    policy__check(in->policy, in->model, msg))
		return EXIT_TOOL;
	*msg = opt->open.allow_mismatch ? NULL : refusal(in->model);
	return *msg ? EXIT_INVALID : EXIT_GOOD;
}

static int explain(const struct inputs *in, const char *key, char **msg)
{
	struct doc d = { .format = DOC_TEXT, .width = term__width(STDOUT_FILENO),
			 .colour = term__colour(STDOUT_FILENO) };
	int code = EXIT_TOOL;

	if (!explain__model(&d, in->model, key, msg))
		code = open__write(NULL, sbuf__str(&d.out), d.out.len);
	sbuf__free(&d.out);
	return code;
}

/* All files that were asked for, also after an error: an old one must not stand for this run. */
static int write_all(const struct gate *g, const struct gate_options *opt)
{
	const struct {
		const char *file;
		void (*put)(const struct gate *g, struct sbuf *out);
	} outputs[] = {
		{ opt->junit, gate__junit }, { opt->json, gate__json }, { opt->md, gate__markdown },
	};
	int code = EXIT_GOOD;

	for (size_t i = 0; i < sizeof(outputs) / sizeof(outputs[0]); i++) {
		struct sbuf b = { 0 };

		if (!outputs[i].file)
			continue;
		outputs[i].put(g, &b);
		if (open__write(outputs[i].file, b.s, b.len))
			code = EXIT_TOOL;
		sbuf__free(&b);
	}
	return code;
}

/* One of the files is standard output; then nothing else may be on it. */
static bool stdout_is_taken(const struct gate_options *opt)
{
	const char *const files[] = { opt->junit, opt->json, opt->md };

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (files[i] && !strcmp(files[i], "-"))
			return true;
	return false;
}

static int print_text(const struct gate *g)
{
	/* In a log or for grep a line is a line, however long. */
	struct doc d = { .format = DOC_TEXT, .colour = term__colour(STDOUT_FILENO),
			 .width = isatty(STDOUT_FILENO) ? term__width(STDOUT_FILENO) : SIZE_MAX };
	int code;

	gate__text(g, &d);
	code = open__write(NULL, d.out.s, d.out.len);
	sbuf__free(&d.out);
	return code;
}

int cmd_gate(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options, .parser = parse, .doc = doc, .children = children,
	};
	struct gate_options opt = { 0 };
	struct inputs in = { 0 };
	struct gate g = { 0 };
	char *msg = NULL;
	int code;
	bool text;

	if (cmdline__parse(&argp, argc, argv, 0, &opt)) {
		free(opt.open.arms);
		return EXIT_TOOL;
	}
	g.policy = opt.policy;
	code = prepare(&in, &opt, &msg);
	if (!code && opt.explain)
		code = explain(&in, opt.explain, &msg);
	text = !code && !stdout_is_taken(&opt);
	if (!code) {
		gate__decide(&g, in.policy, in.model);
	} else {
		if (msg)
			err__print("%s", msg);
		gate__fail(&g, code, msg ? msg : mem__strdup("the output could not be written"));
	}
	/* Before the text, whose last line says what the exit status is. */
	if (write_all(&g, &opt))
		gate__unwritten(&g);
	code = g.exit;
	if (text && print_text(&g))
		code = EXIT_TOOL;
	gate__free(&g);
	inputs__free(&in);
	free(opt.open.arms);
	return code;
}
