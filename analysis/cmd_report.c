// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/json.h"
#include "analysis/open.h"
#include "analysis/sections.h"
#include "analysis/words.h"
#include "collector/cmd.h"
#include "collector/cmdline.h"
#include "collector/err.h"
#include "collector/term.h"
#include "collector/text.h"

enum format { FORMAT_HTML, FORMAT_TEXT, FORMAT_MD, FORMAT_JSON };

static const char *const format_names[] = { "html", "text", "md", "json" };

struct report_options {
	struct open_options open;
	const char *output;
	enum format format;
	bool no_records;
};

enum { OPT_NO_RECORDS = 0x200 };

static const char doc[] =
	"Write the report of a database: verdict, why, mechanism beside outcome, every run.\v"
	"Examples:\n"
	"  migrc report -o report.html              one self-contained page of runs.db\n"
	"  migrc report -d lab.db --format text     the same on the terminal\n"
	"  migrc report --format md --no-records >> \"$GITHUB_STEP_SUMMARY\"\n\n"
	"Plots need gnuplot; without it the tables stay and the page says what is missing.\n\n"
	"Exit status: 0 written (whatever the verdict); 2 usage or tool error; 4 runs invalid, their "
	"results differ, or what must match does not (then nothing is written).";

static const struct argp_option options[] = {
	{ "output", 'o', "FILE", 0, "write here (default: standard output)", 1 },
	{ "format", 'f', "html|text|md|json", 0, "format to write (html)", 1 },
	{ "no-records", OPT_NO_RECORDS, NULL, 0,
	  "leave out each run's full record, which is most of a long report", 1 },
	{ 0 }
};

static const struct argp_child children[] = { { &open_argp, 0, NULL, 0 }, { 0 } };

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct report_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->open;
		return 0;
	case 'o':
		o->output = arg;
		return 0;
	case 'f':
		for (size_t i = 0; i < sizeof(format_names) / sizeof(format_names[0]); i++) {
			if (strcmp(arg, format_names[i]))
				continue;
			o->format = (enum format)i;
			o->open.json = o->format == FORMAT_JSON;
			return 0;
		}
		return cmdline__error(state, "%s: no such format; html, text, md and json are", arg);
	case OPT_NO_RECORDS:
		o->no_records = true;
		return 0;
	case ARGP_KEY_ARG:
		return cmdline__error(state, "%s: not an option; the database is given with -d", arg);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void report_compare(struct doc *d, const struct section *s, bool records)
{
	char id[32];

	snprintf(id, sizeof(id), "workload-%u", s->number);
	doc__heading(d, 2, id, "%s%s", s->c->workload, s->c->emulated ? " (emulated)" : "");
	section__verdict(d, s);
	if (!s->c->nr_arms)
		return;
	section__why(d, s);
	section__mechanism(d, s);
	section__outcome(d, s);
	section__held(d, s);
	section__latency(d, s);
	section__classes(d, s);
	section__cpus(d, s);
	section__runs(d, s);
	section__dots(d, s);
	section__instrument(d, s);
	section__facts(d, s);
	if (records)
		section__records(d, s);
}

/* Several workloads: what each came to, before any of them in full. */
static void contents(struct doc *d, const struct an_model *model)
{
	if (model->nr < 2)
		return;
	doc__list_begin(d);
	for (size_t i = 0; i < model->nr; i++) {
		const struct an_compare *c = &model->compares[i];
		char id[32];

		snprintf(id, sizeof(id), "workload-%zu", i + 1);
		if (c->nr_arms < 2)
			doc__link(d, id, "%s: one arm only", c->workload);
		for (size_t a = 1; a < c->nr_arms; a++)
			doc__link(d, id, "%s: %s against %s: %s%s", c->workload, c->arms[a].name,
				  c->arms[0].name, compare__invalid(c) ? "INVALID, " : "",
				  verdict__name(words__overall(c, a)));
	}
	doc__list_end(d);
}

/* The command that writes this report again, with what was given to choose and to allow; NULL without memory. */
static char *own_command(const struct report_options *opt)
{
	const struct open_options *o = &opt->open;
	const char **argv = calloc(16 + 2 * o->nr_arms, sizeof(*argv));
	char *command;
	int n = 0;

	if (!argv)
		return NULL;
	argv[n++] = "migrc";
	argv[n++] = "report";
	argv[n++] = "-d";
	argv[n++] = o->db ? o->db : "runs.db";
	if (o->baseline) {
		argv[n++] = "--baseline";
		argv[n++] = o->baseline;
	}
	for (size_t i = 0; i < o->nr_arms; i++) {
		argv[n++] = "--arm";
		argv[n++] = o->arms[i];
	}
	if (o->workload) {
		argv[n++] = "--workload";
		argv[n++] = o->workload;
	}
	if (o->allow_mismatch)
		argv[n++] = "--allow-mismatch";
	if (opt->no_records)
		argv[n++] = "--no-records";
	argv[n++] = "-o";
	argv[n++] = "report.html";
	command = text__quote_argv(n, (char *const *)argv);
	free(argv);
	return command;
}

static void report(struct doc *d, const struct an_model *model, const struct report_options *opt)
{
	char *command = own_command(opt);

	doc__open(d, "migrc report");
	doc__heading(d, 1, "", "migrc: does deferring TLB flushes at migration pay here?");
	if (!model->nr)
		doc__para(d, DOC_WARN, "The database has no runs. Make some with `migrc record`.");
	contents(d, model);
	for (size_t i = 0; i < model->nr; i++) {
		struct section s = { &model->compares[i], (unsigned int)i + 1 };

		report_compare(d, &s, !opt->no_records);
	}
	section__method(d, model->nr ? model->compares[0].policy : &an_default_policy);
	doc__heading(d, 2, "reproduce", "How to reproduce");
	for (size_t i = 0; i < model->nr; i++) {
		struct section s = { &model->compares[i], (unsigned int)i + 1 };

		section__reproduce(d, &s);
	}
	doc__pre(d, command ? command : "migrc report");
	doc__para(d, DOC_MUTED, "Written by migrc %s.", MIGRC_VERSION);
	doc__close(d);
	free(command);
}

static int write_report(const struct an_model *model, const struct report_options *opt)
{
	static const enum doc_format formats[] = {
		[FORMAT_HTML] = DOC_HTML, [FORMAT_TEXT] = DOC_TEXT, [FORMAT_MD] = DOC_MD,
		[FORMAT_JSON] = DOC_TEXT,
	};
	struct doc d = { .format = formats[opt->format], .width = 80, .captions = true,
			 .colour = opt->format == FORMAT_TEXT && !opt->output && term__colour(STDOUT_FILENO) };
	int code;

	if (opt->format == FORMAT_JSON)
		json__model(&d.out, model);
	else
		report(&d, model, opt);
	code = open__write(opt->output, sbuf__str(&d.out), d.out.len);
	sbuf__free(&d.out);
	return code;
}

int cmd_report(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options, .parser = parse, .doc = doc, .children = children,
	};
	struct report_options opt = { 0 };
	struct opened o = { 0 };
	int code;

	if (cmdline__parse(&argp, argc, argv, 0, &opt))
		return EXIT_TOOL;
	code = open__model(&opt.open, &o);
	if (!code)
		code = write_report(o.model, &opt);
	if (!code) {
		code = open__exit_code(o.model);
		if (code == EXIT_INVALID && opt.output)
			err__print("%s: is written, of runs that are not valid; it says why at the top",
				   opt.output);
	}
	open__close(&o);
	free(opt.open.arms);
	return code;
}
