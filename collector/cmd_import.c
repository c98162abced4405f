// SPDX-License-Identifier: GPL-2.0-or-later
/* `migrc import`: make a run from what others posted, or what was measured without migrc. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "collector/cmd.h"
#include "collector/cmdline.h"
#include "collector/err.h"
#include "collector/pmbench.h"
#include "collector/rows.h"
#include "collector/text.h"
#include "collector/xsbench.h"

/* Files to read, in the order in which they are read: who is first gives a metric its value. */
enum file_kind {
	FILE_XSBENCH, FILE_PMBENCH, FILE_PERF, FILE_BEFORE, FILE_AFTER, FILE_DIFFERENCE, NR_FILES
};

enum {
	OPT_ARM = 256, OPT_BLOCK, OPT_POSITION, OPT_WORKLOAD, OPT_COMMAND, OPT_LABEL, OPT_FACT,
	OPT_EMULATED, OPT_FILE,		/* and one for each kind of file */
};

struct import_options {
	const char *db, *arm, *workload, *command;
	const char *file[NR_FILES];
	bool has_block, has_position, emulated;
	long long block, position;
	struct label *labels;
	size_t nr_labels;
	struct facts facts;
};

struct import {
	const struct import_options *o;
	struct results results;
	struct perfstat perf;
	struct snapshot before, after, difference;
};

static const char * const kind_names[NR_FILES] = {
	"xsbench", "pmbench", "perf-stat", "vmstat-before", "vmstat-after", "vmstat",
};

static const struct argp_option options[] = {
	{ "output", 'o', "FILE", 0, "Database to add the run to (runs.db)", 0 },
	{ "arm", OPT_ARM, "NAME", 0, "Arm of the comparison; must be given", 0 },
	{ "block", OPT_BLOCK, "N", 0, "Block of the plan", 0 },
	{ "position", OPT_POSITION, "N", 0, "Place in the plan's order of boots", 0 },
	{ "workload", OPT_WORKLOAD, "NAME", 0,
	  "Runs are compared within one (the program that perf ran, else xsbench, pmbench or import)", 0 },
	{ "command", OPT_COMMAND, "TEXT", 0, "The command line that was run (what perf says)", 0 },
	{ "label", OPT_LABEL, "KEY=VALUE", 0, "Store a label with the run; may be repeated", 0 },
	{ "fact", OPT_FACT, "CLASS:KEY=VALUE", 0,
	  "Store a machine fact of class match, drift or arm; may be repeated", 0 },
	{ "emulated", OPT_EMULATED, NULL, 0, "Its times are not to be judged", 0 },
	{ "perf-stat", OPT_FILE + FILE_PERF, "FILE", 0, "Output of perf stat, plain or by -x", 1 },
	{ "vmstat-before", OPT_FILE + FILE_BEFORE, "FILE", 0, "/proc/vmstat before the workload", 1 },
	{ "vmstat-after", OPT_FILE + FILE_AFTER, "FILE", 0, "/proc/vmstat after it", 1 },
	{ "vmstat", OPT_FILE + FILE_DIFFERENCE, "FILE", 0, "Or the differences of the two", 1 },
	{ "xsbench", OPT_FILE + FILE_XSBENCH, "FILE", 0, "Output of XSBench", 1 },
	{ "pmbench", OPT_FILE + FILE_PMBENCH, "FILE", 0, "Output of pmbench, text or XML", 1 },
	{ 0 },
};

static const char doc[] =
	"Make a run from files: output of perf stat, /proc/vmstat, XSBench, pmbench. FILE may be - for "
	"standard input. What the files do not tell is absent; each import counts as a boot of its own.\v"
	"Examples:\n"
	"  migrc import --arm stock --perf-stat before.txt --vmstat before.vmstat\n"
	"  perf stat -x, -o p.csv -- XSBench -s large > x.txt\n"
	"  migrc import --arm migrc --block 2 --perf-stat p.csv --xsbench x.txt\n\n"
	"Exit status: 0 stored; 2 an error of usage or of the tool, nothing was stored.";

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct import_options *o = state->input;

	if (key >= OPT_FILE && key < OPT_FILE + NR_FILES) {
		o->file[key - OPT_FILE] = arg;
		return 0;
	}
	switch (key) {
	case 'o':
		o->db = arg;
		return 0;
	case OPT_ARM:
		o->arm = arg;
		return 0;
	case OPT_BLOCK:
		o->has_block = true;
		return run_args__number("block", arg, 0, INT_MAX, &o->block);
	case OPT_POSITION:
		o->has_position = true;
		return run_args__number("position", arg, 0, INT_MAX, &o->position);
	case OPT_WORKLOAD:
		o->workload = arg;
		return 0;
	case OPT_COMMAND:
		o->command = arg;
		return 0;
	case OPT_LABEL:
		return labels__add(&o->labels, &o->nr_labels, arg);
	case OPT_FACT:
		return run_args__fact(&o->facts, arg);
	case OPT_EMULATED:
		o->emulated = true;
		return 0;
	case ARGP_KEY_ARG:
		return cmdline__error(state, "%s: not an option; files are given with --perf-stat and "
				      "the like", arg);
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static int options__check(const struct import_options *o)
{
	int kind, files = 0;

	for (kind = 0; kind < NR_FILES; kind++)
		files += !!o->file[kind];
	if (!o->arm || !*o->arm || (o->workload && !*o->workload)) {
		err__print("import: %s; give --arm NAME", o->arm ? "an empty name" : "no arm");
		return EXIT_TOOL;
	}
	if (!files) {
		err__print("import: no file; give --perf-stat, --vmstat, --xsbench or --pmbench");
		return EXIT_TOOL;
	}
	if (!o->file[FILE_BEFORE] != !o->file[FILE_AFTER]) {
		err__print("import: --vmstat-before and --vmstat-after belong together; give both, or "
			   "their difference with --vmstat");
		return EXIT_TOOL;
	}
	if (o->file[FILE_BEFORE] && o->file[FILE_DIFFERENCE]) {
		err__print("import: --vmstat is instead of --vmstat-before and --vmstat-after; leave "
			   "one of them out");
		return EXIT_TOOL;
	}
	return EXIT_GOOD;
}

/* --- reading ---------------------------------------------------------------------------------- */

static int read_xsbench(struct import *im, char *text, size_t len)
{
	struct xsbench x = { 0 };
	char *line;

	(void)len;
	while ((line = text__next_line(&text))) {
		line[strcspn(line, "\r")] = '\0';
		xsbench__line(&x, line);
	}
	if (!xsbench__is_success(&x)) {
		err__print("%s: no \"Simulation complete.\" with a rate of lookups; give the whole "
			   "output of XSBench", im->o->file[FILE_XSBENCH]);
		return -EPROTO;
	}
	return xsbench__results(&x, &im->results);
}

static int read_pmbench(struct import *im, char *text, size_t len)
{
	struct pmbench p;
	char *line;
	int err = 0;

	pmbench__init(&p);
	if (text[strspn(text, " \t\r\n")] == '<')
		err = pmbench__xml(&p, text, len);
	else
		while (!err && (line = text__next_line(&text))) {
			line[strcspn(line, "\r")] = '\0';
			err = pmbench__line(&p, line);
		}
	if (err == -EINVAL || (!err && !pmbench__is_success(&p))) {
		err__print("%s: no result of pmbench; give its whole text, or what -f wrote",
			   im->o->file[FILE_PMBENCH]);
		err = -EPROTO;
	}
	if (!err)
		err = pmbench__results(&p, &im->results);
	if (err == -EINVAL) {
		err__print("%s: a histogram that does not add up; give an output that was not cut",
			   im->o->file[FILE_PMBENCH]);
		err = -EPROTO;
	}
	pmbench__free(&p);
	return err;
}

/* A time of perf as a metric, beside what the workload says of itself. */
static int add_time(struct import *im, const char *name, double seconds)
{
	int err = isnan(seconds) ? 0 : results__add_metric(&im->results, name, seconds, "s", "lower",
							   true);

	return err == -EEXIST ? 0 : err;
}

static int read_perf(struct import *im, char *text, size_t len)
{
	int err = perfstat__parse(text, &im->perf);

	(void)len;
	if (err == -EINVAL || err == -EEXIST) {
		err__print(err == -EINVAL ?
			   "%s: no event with a count in it; give the output of perf stat" :
			   "%s: an event is there twice; give totals, not by interval or CPU",
			   im->o->file[FILE_PERF]);
		return -EPROTO;
	}
	if (!err)
		err = add_time(im, "wall_time", im->perf.elapsed_s);
	if (!err)
		err = add_time(im, "user_time", im->perf.user_s);
	return err ? err : add_time(im, "system_time", im->perf.system_s);
}

/* The first name that is there a second time, as in two copies in one file; NULL if none is. */
static const char *find_twice(struct snapshot *s)
{
	size_t i;

	snapshot__sort(s);
	for (i = 1; i < s->nr; i++)
		if (!strcmp(s->entry[i - 1].name, s->entry[i].name))
			return s->entry[i].name;
	return NULL;
}

static int read_vmstat(const char *file, char *text, struct snapshot *to)
{
	int err = vmstat__parse(text, "vmstat", to);
	const char *twice;

	if (err == -EINVAL || err == -ERANGE || err == -ENAMETOOLONG || (!err && !to->nr)) {
		err__print("%s: not lines of a name and a number; give a copy of /proc/vmstat", file);
		return -EPROTO;
	}
	twice = err ? NULL : find_twice(to);
	if (!twice)
		return err;
	err__print("%s: %s is there twice; give one copy of /proc/vmstat", file, twice);
	return -EPROTO;
}

static int read_text(struct import *im, enum file_kind kind, char *text, size_t len)
{
	switch (kind) {
	case FILE_XSBENCH:
		return read_xsbench(im, text, len);
	case FILE_PMBENCH:
		return read_pmbench(im, text, len);
	case FILE_PERF:
		return read_perf(im, text, len);
	case FILE_BEFORE:
		return read_vmstat(im->o->file[kind], text, &im->before);
	case FILE_AFTER:
		return read_vmstat(im->o->file[kind], text, &im->after);
	default:
		return read_vmstat(im->o->file[kind], text, &im->difference);
	}
}

/* Events, of which a boot never counts back. */
static int check_order(const struct import *im)
{
	static const char * const events[] = { "pgfault", "pgfree", "pgmigrate_success" };
	const struct snapshot_entry *b, *a;
	size_t i;

	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		b = snapshot__find(&im->before, "vmstat", events[i]);
		a = snapshot__find(&im->after, "vmstat", events[i]);
		if (!b || !a || a->value >= b->value)
			continue;
		err__print("%s: %s is lower than in %s: swapped, or of two boots; give the two of "
			   "one run in their order", im->o->file[FILE_AFTER], events[i],
			   im->o->file[FILE_BEFORE]);
		return -EPROTO;
	}
	return 0;
}

static int import__read(struct import *im)
{
	const char *name;
	size_t len;
	char *text;
	int kind, err = 0;

	for (kind = 0; !err && kind < NR_FILES; kind++) {
		name = im->o->file[kind];
		if (!name)
			continue;
		err = text__read_file(strcmp(name, "-") ? name : "/dev/stdin", &text, &len);
		if (err) {
			err__print("%s: %s; give a file that can be read with --%s", name,
				   strerror(-err), kind_names[kind]);
			return err;
		}
		err = read_text(im, (enum file_kind)kind, text, len);
		if (err && err != -EPROTO)
			err__print("%s: %s; give its --%s anew", name, strerror(-err),
				   kind_names[kind]);
		free(text);
	}
	return err ? err : check_order(im);
}

/* --- storing ---------------------------------------------------------------------------------- */

/* What perf says was run, else what kind of workload it was. */
static void import__name(const struct import *im, char *workload, size_t size)
{
	const struct import_options *o = im->o;
	size_t len = strcspn(im->perf.command, " ");
	const char *word = im->perf.command, *c;

	if (o->workload) {
		snprintf(workload, size, "%s", o->workload);
		return;
	}
	for (c = word; c < im->perf.command + len; c++)
		if (*c == '/')
			word = c + 1;
	len -= (size_t)(word - im->perf.command);
	if (len)
		snprintf(workload, size, "%.*s", (int)len, word);
	else
		snprintf(workload, size, "%s", o->file[FILE_XSBENCH] ? "xsbench" :
			 o->file[FILE_PMBENCH] ? "pmbench" : "import");
}

static int put_differences(struct store *s, int64_t id, const struct snapshot *d)
{
	const int64_t zero = 0;
	size_t i;
	int err = 0;

	for (i = 0; !err && i < d->nr; i++)
		err = rows__put_counter(s, id, d->entry[i].source, d->entry[i].name, &zero,
					d->entry[i].value);
	return err;
}

/* Which files it came from, and how many runs perf had averaged. */
static int put_origin(const struct import *im, struct store *s, int64_t id)
{
	char kinds[128] = "", runs[16];
	struct label origin[] = { { "imported", kinds }, { "perf_runs", runs } };
	int kind;

	for (kind = 0; kind < NR_FILES; kind++)
		if (im->o->file[kind])
			snprintf(kinds + strlen(kinds), sizeof(kinds) - strlen(kinds), "%s%s",
				 *kinds ? "," : "", kind_names[kind]);
	snprintf(runs, sizeof(runs), "%u", im->perf.runs);
	return rows__put_labels(s, id, origin, im->perf.runs > 1 ? 2 : 1);
}

static int import__put(struct import *im, struct store *s, int64_t id)
{
	const struct import_options *o = im->o;
	int err = put_origin(im, s, id);

	if (!err)
		err = rows__put_labels(s, id, o->labels, o->nr_labels);
	if (!err)
		err = rows__put_facts(s, id, &o->facts);
	if (!err)
		err = rows__put_counters(s, id, &im->before, &im->after);
	if (!err)
		err = put_differences(s, id, &im->difference);
	if (!err)
		err = rows__put_results(s, id, &im->results);
	return err ? err : rows__put_perf(s, id, &im->perf);
}

/* In one transaction: an import is in the store whole, or not at all. */
static int import__store(struct import *im, const char *workload)
{
	const struct import_options *o = im->o;
	struct timespec now;
	struct run_start start = {
		.arm = o->arm, .workload = workload, .tool_version = MIGRC_VERSION,
		.command = o->command ? o->command : *im->perf.command ? im->perf.command : workload,
		.has_block = o->has_block, .block = o->block, .has_position = o->has_position,
		.position = o->position, .emulated = o->emulated, .imported = true,
	};
	struct run_end end = { .state = "complete" };
	struct store s;
	int64_t id;
	int err = store__open(&s, o->db);

	if (err)
		return err;
	clock_gettime(CLOCK_REALTIME, &now);
	start.started_ns = end.started_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	end.has_wall = !isnan(im->perf.elapsed_s) && im->perf.elapsed_s < 1e9;
	end.wall_ns = end.has_wall ? llround(im->perf.elapsed_s * 1e9) : 0;
	err = store__begin(&s);
	if (!err)
		err = store__put_run(&s, &start, &id);
	if (!err)
		err = import__put(im, &s, id);
	if (!err)
		err = store__end_run(&s, id, &end);
	if (!err)
		err = store__commit(&s);
	if (err)
		store__rollback(&s);
	else
		printf("run %lld: %s, arm %s, imported into %s\n", (long long)id, workload, o->arm,
		       o->db);
	store__close(&s);
	return err;
}

int cmd_import(int argc, char **argv)
{
	static const struct argp argp = { options, parse_option, NULL, doc, NULL, NULL, NULL };
	struct import_options o = { .db = "runs.db" };
	struct import im = { .o = &o, .perf = { .elapsed_s = NAN, .runs = 1 } };
	char workload[128];
	int rc;

	rc = cmdline__parse(&argp, argc, argv, 0, &o) ? EXIT_TOOL : options__check(&o);
	if (!rc && import__read(&im))
		rc = EXIT_TOOL;
	if (!rc) {
		import__name(&im, workload, sizeof(workload));
		text__make_printable(workload);
		rc = import__store(&im, workload) ? EXIT_TOOL : EXIT_GOOD;
	}
	results__free(&im.results);
	perfstat__free(&im.perf);
	snapshot__free(&im.before);
	snapshot__free(&im.after);
	snapshot__free(&im.difference);
	labels__free(o.labels, o.nr_labels);
	facts__free(&o.facts);
	return rc;
}
