// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/open.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/json.h"
#include "analysis/sections.h"
#include "collector/err.h"

enum { OPT_BASELINE = 0x100, OPT_ARM, OPT_WORKLOAD, OPT_ALLOW };

static const struct argp_option options[] = {
	{ "database", 'd', "FILE", 0, "database to read (default: runs.db)", 0 },
	{ "baseline", OPT_BASELINE, "ARM", 0,
	 "arm to compare with (default: stock, else the first)", 0 },
	{ "arm", OPT_ARM, "ARM", 0, "compare only this arm; may be given more than once", 0 },
	{ "workload", OPT_WORKLOAD, "NAME", 0, "only this workload", 0 },
	{ "allow-mismatch", OPT_ALLOW, NULL, 0,
	  "compare runs that differ in what must match; the list is shown", 0 },
	{ 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct open_options *o = state->input;

	switch (key) {
	case 'd':
		o->db = arg;
		return 0;
	case OPT_BASELINE:
		o->baseline = arg;
		return 0;
	case OPT_ARM:
		o->arms = mem__grow(o->arms, o->nr_arms);
		o->arms[o->nr_arms++] = arg;
		return 0;
	case OPT_WORKLOAD:
		o->workload = arg;
		return 0;
	case OPT_ALLOW:
		o->allow_mismatch = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp open_argp = { .options = options, .parser = parse };

/* The list is the message: on stderr in full, whatever stdout is for. */
static int refuse(const struct open_options *opt, const struct an_compare *c)
{
	struct doc d = { .format = DOC_TEXT, .width = 80 };
	char *msg = sbuf__format("%s: runs differ in %zu thing%s that must match; record them alike, or give --allow-mismatch",
				 c->workload, c->nr_mismatches, c->nr_mismatches == 1 ? "" : "s");

	section__mismatches(&d, c);
	json__error(opt->json, EXIT_INVALID, msg);
	fputs(sbuf__str(&d.out), stderr);
	sbuf__free(&d.out);
	free(msg);
	return EXIT_INVALID;
}

int open__model(const struct open_options *opt, struct opened *o)
{
	struct an_options build = {
		.baseline = opt->baseline, .workloads = &opt->workload,
		.nr_workloads = opt->workload ? 1 : 0,
		.arms = (const char *const *)opt->arms, .nr_arms = opt->nr_arms,
	};
	char *msg = NULL;
	int err;

	*o = (struct opened){ 0 };
	err = rundb__load(opt->db ? opt->db : "runs.db", &o->db, &msg);
	if (!err)
		err = model__build(o->db, &build, &o->model, &msg);
	if (err) {
		json__error(opt->json, EXIT_TOOL, msg);
		free(msg);
		return EXIT_TOOL;
	}
	for (size_t i = 0; i < o->model->nr && !opt->allow_mismatch; i++)
		if (compare__mismatched(&o->model->compares[i]))
			return refuse(opt, &o->model->compares[i]);
	return EXIT_GOOD;
}

void open__close(struct opened *o)
{
	model__free(o->model);
	rundb__free(o->db);
	*o = (struct opened){ 0 };
}

int open__exit_code(const struct an_model *model)
{
	for (size_t i = 0; i < model->nr; i++)
		if (compare__invalid(&model->compares[i]))
			return EXIT_INVALID;
	return EXIT_GOOD;
}

/* A name that was meant for -d and given to an output would cost all runs. */
static bool is_database(const char *path)
{
	static const char magic[] = "SQLite format 3";	/* and its zero */
	char head[sizeof(magic)];
	FILE *f = fopen(path, "re");
	bool is = f && fread(head, 1, sizeof(head), f) == sizeof(head) &&
		  !memcmp(head, magic, sizeof(head));

	if (f)
		fclose(f);
	return is;
}

/*
 * To a file by way of a second one, so that a full disk does not leave half a report. A link is
 * followed, and what is not a file (a device, a pipe) is written to, not replaced.
 */
static int write_file(const char *name, const char *text, size_t len)
{
	char *real = realpath(name, NULL), *path = mem__strdup(real ? real : name);
	struct stat st;
	bool in_place = !stat(path, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
	char *tmp = sbuf__format(in_place ? "%s" : "%s.tmp", path);
	bool keep = !in_place && is_database(path);
	FILE *f = keep ? NULL : fopen(tmp, "we");
	int err = keep ? EEXIST : f ? 0 : errno;

	if (f && fwrite(text, 1, len, f) != len)
		err = errno;
	if (f && fclose(f) && !err)
		err = errno;
	if (!err && !in_place && rename(tmp, path))
		err = errno;
	if (err) {
		if (f && !in_place)
			unlink(tmp);
		err__print("%s: %s; choose another place", name, keep ?
			   "is a database, which is not written over" : strerror(err));
	}
	free(tmp);
	free(path);
	free(real);
	return err ? EXIT_TOOL : EXIT_GOOD;
}

int open__write(const char *path, const char *text, size_t len)
{
	if (path && strcmp(path, "-"))
		return write_file(path, text, len);
	if (fwrite(text, 1, len, stdout) != len || fflush(stdout)) {
		err__print("standard output: %s; write to a file instead", strerror(errno));
		return EXIT_TOOL;
	}
	return EXIT_GOOD;
}
