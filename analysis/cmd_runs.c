// SPDX-License-Identifier: GPL-2.0-or-later
/* migrc runs and migrc show: what is stored, without judging it. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "analysis/json.h"
#include "analysis/open.h"
#include "analysis/sections.h"
#include "collector/cmd.h"
#include "collector/cmdline.h"
#include "collector/err.h"
#include "collector/term.h"

struct runs_options {
	const char *db;
	const char *run;	/* show only */
	const char *list;	/* runs only: what, or NULL */
	bool show, json;
};

enum { OPT_LIST = 0x100 };

static const struct argp_option options[] = {
	{ "database", 'd', "FILE", 0, "Database to read (runs.db)", 0 },
	{ "json", 'j', NULL, 0, "Print JSON, with every value", 0 },
	{ 0 }
};

static const struct argp_option runs_options[] = {
	{ "database", 'd', "FILE", 0, "Database to read (runs.db)", 0 },
	{ "json", 'j', NULL, 0, "Print JSON", 0 },
	{ "list", OPT_LIST, "arm|workload|run|metric", 0,
	  "Only their names, one a line, each once: for scripts, and completion in the shell", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct runs_options *o = state->input;

	switch (key) {
	case 'd':
		o->db = arg;
		return 0;
	case 'j':
		o->json = true;
		return 0;
	case OPT_LIST:
		if (!rundb__lists(arg))
			return cmdline__error(state, "--list: '%s' is none of arm, workload, run, metric",
					      arg);
		o->list = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (!o->show || o->run)
			return cmdline__error(state, "%s: one argument too many", arg);
		o->run = arg;
		return 0;
	case ARGP_KEY_END:
		if (o->show && !o->run)
			return cmdline__error(state, "which run? `migrc runs` lists them");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int load(const struct runs_options *opt, struct rundb **db)
{
	char *msg = NULL;

	if (!rundb__load(opt->db ? opt->db : "runs.db", db, &msg))
		return EXIT_GOOD;
	json__error(opt->json, EXIT_TOOL, msg);
	free(msg);
	return EXIT_TOOL;
}

/* Which rules it broke, not how: that takes lines, and `migrc show` has them. */
static char *validity(const struct rd_run *run)
{
	struct sbuf b = { 0 };

	if (run->emulated)
		sbuf__add(&b, "emulated, ");
	sbuf__add(&b, run__valid(run) ? "valid" : "invalid:");
	if (strcmp(run->state, "complete"))
		sbuf__addf(&b, " state %s%s", run->state, run->nr_invalid ? "," : "");
	for (size_t i = 0; i < run->nr_invalid; i++)
		sbuf__addf(&b, "%s %s", i ? "," : "", run->invalid[i].key);
	return b.s;
}

static void runs_row(struct grid *g, const struct rd_run *run)
{
	time_t started = (time_t)(run->started_ns / 1000000000);
	char when[32] = "?", wall[FMT_LEN], *words = validity(run);
	struct tm tm;

	if (gmtime_r(&started, &tm))
		strftime(when, sizeof(when), "%m-%d %H:%M", &tm);
	grid__row(g, run__valid(run) ? DOC_PLAIN : DOC_WARN);
	grid__cell(g, "%" PRId64, run->id);
	grid__cell(g, "%s", run->workload);
	grid__cell(g, "%s", run->arm);
	if (run->block == RD_NULL)
		grid__cell(g, "-");
	else
		grid__cell(g, "%" PRId64, run->block);
	grid__cell(g, "%s", when);
	grid__cell(g, "%s", run->wall_ns == RD_NULL ? "-" : fmt__unit(wall, (double)run->wall_ns,
								      "ns"));
	grid__cell(g, "%s", words);
	free(words);
}

static void list(const struct rundb *db, bool as_json, struct sbuf *out)
{
	static const char *const head[] = { "run", "workload", "arm", "block", "started (UTC)",
					   "wall",
					    "validity" };
	struct doc d = { .format = DOC_TEXT, .width = term__width(STDOUT_FILENO),
			 .colour = term__colour(STDOUT_FILENO) };
	struct json j = { .out = out };
	struct grid g;

	if (as_json) {
		json__begin(&j, NULL, '[');
		for (size_t i = 0; i < db->nr; i++)
			json__run(&j, &db->runs[i], false);
		json__end(&j, ']');
		sbuf__add(out, "\n");
		return;
	}
	grid__init(&g, "Runs", "rnnrlrl", head);
	for (size_t i = 0; i < db->nr; i++)
		runs_row(&g, &db->runs[i]);
	if (!db->nr)
		doc__para(&d, DOC_PLAIN, "No runs yet; `migrc record` makes them.");
	doc__grid(&d, &g);
	*out = d.out;
}

static int print_names(const struct runs_options *opt, struct sbuf *out)
{
	char *msg = NULL;

	if (!rundb__names(opt->db ? opt->db : "runs.db", opt->list, out, &msg))
		return open__write(NULL, sbuf__str(out), out->len);
	err__print("%s", msg);
	free(msg);
	return EXIT_TOOL;
}

int cmd_runs(int argc, char **argv)
{
	static const struct argp argp = {
		.options = runs_options, .parser = parse,
		.doc = "List the runs of a database.\v"
		       "Examples:\n"
		       "  migrc runs -d out/runs.db\n"
		       "  migrc runs --json | jq '.[] | select(.valid | not) | .why_invalid'\n"
		       "  migrc runs --list arm         names of the arms, one a line\n\n"
		       "Exit status: 0 listed; 2 usage or tool error.",
	};
	struct runs_options opt = { 0 };
	struct sbuf out = { 0 };
	struct rundb *db = NULL;
	int code;

	if (cmdline__parse(&argp, argc, argv, 0, &opt))
		return EXIT_TOOL;
	code = opt.list ? print_names(&opt, &out) : load(&opt, &db);
	if (!code && !opt.list) {
		list(db, opt.json, &out);
		code = open__write(NULL, sbuf__str(&out), out.len);
	}
	sbuf__free(&out);
	rundb__free(db);
	return code;
}

/* By number, or by the start of its uuid if that is unique. */
static const struct rd_run *find_run(const struct rundb *db, const char *word)
{
	const struct rd_run *found = NULL;
	char *end;
	long long id;

	errno = 0;
	id = strtoll(word, &end, 10);
	for (size_t i = 0; i < db->nr; i++)
		if (!errno && *word && !*end && db->runs[i].id == id)
			return &db->runs[i];
	for (size_t i = 0; i < db->nr; i++) {
		if (strlen(word) < 4 || strncmp(db->runs[i].uuid, word, strlen(word)))
			continue;
		if (found)
			return NULL;
		found = &db->runs[i];
	}
	return found;
}

static int show(const struct rundb *db, const struct runs_options *opt)
{
	struct doc d = { .format = DOC_TEXT, .width = term__width(STDOUT_FILENO),
			 .colour = term__colour(STDOUT_FILENO) };
	const struct rd_run *run = find_run(db, opt->run);
	struct json j = { .out = &d.out };
	char *msg;
	int code;

	if (!run) {
		msg = sbuf__format("run %s: not in the database, or not unique; `migrc runs` lists them",
				   opt->run);
		json__error(opt->json, EXIT_TOOL, msg);
		free(msg);
		return EXIT_TOOL;
	}
	if (opt->json) {
		json__run(&j, run, true);
		sbuf__add(&d.out, "\n");
	} else {
		section__record(&d, run);
	}
	code = open__write(NULL, sbuf__str(&d.out), d.out.len);
	sbuf__free(&d.out);
	return code;
}

int cmd_show(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options, .parser = parse, .args_doc = "RUN",
		.doc = "Show one run in full; RUN is its number or the start of its uuid.\v"
		       "Examples:\n"
		       "  migrc show 3\n"
		       "  migrc show -d out/runs.db 8f1c0003 --json\n\n"
		       "Exit status: 0 shown; 2 usage or tool error.",
	};
	struct runs_options opt = { .show = true };
	struct rundb *db = NULL;
	int code;

	if (cmdline__parse(&argp, argc, argv, 0, &opt))
		return EXIT_TOOL;
	code = load(&opt, &db);
	if (!code)
		code = show(db, &opt);
	rundb__free(db);
	return code;
}
