// SPDX-License-Identifier: GPL-2.0-or-later
#include "analysis/history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/sbuf.h"

static bool has_arm(const struct rundb *db, const char *arm)
{
	for (size_t i = 0; i < db->nr; i++)
		if (!strcmp(db->runs[i].arm, arm))
			return true;
	return false;
}

static const struct rd_run *twin(const struct rundb *db, const struct rd_run *run)
{
	for (size_t i = 0; i < db->nr; i++)
		if (!strcmp(db->runs[i].uuid, run->uuid))
			return &db->runs[i];
	return NULL;
}

static int check(const struct rundb *db, const char *arm, const struct rundb *from,
		 const char *stored, const char *path, char **msg)
{
	if (!has_arm(db, arm)) {
		*msg = sbuf__format("arm %s: no run of it; `migrc runs` lists what there is", arm);
		return -ENOENT;
	}
	if (!has_arm(from, stored)) {
		*msg = sbuf__format("%s: no run of arm %s; `migrc runs -d` lists what there is",
				    path, stored);
		return -ENOENT;
	}
	for (size_t i = 0; i < db->nr; i++) {
		if (strcmp(db->runs[i].arm, arm) || !twin(from, &db->runs[i]))
			continue;
		*msg = sbuf__format("%s: run %s is in both databases; compare with runs of before, and add today's afterwards",
				    path, db->runs[i].uuid);
		return -EEXIST;
	}
	return 0;
}

/* Move the runs of that workload and arm from one array to the end of another. */
static void move(struct rundb *to, struct rundb *from, const char *workload, const char *arm)
{
	size_t kept = 0;

	for (size_t i = 0; i < from->nr; i++) {
		struct rd_run *r = &from->runs[i];

		if (strcmp(r->workload, workload) || strcmp(r->arm, arm)) {
			from->runs[kept++] = *r;
			continue;
		}
		to->runs = mem__grow(to->runs, to->nr);
		to->runs[to->nr] = *r;
		to->runs[to->nr++].block = RD_NULL;
	}
	from->nr = kept;
}

static void rename_from(struct rundb *db, size_t first, const char *name)
{
	for (size_t i = first; i < db->nr; i++) {
		free(db->runs[i].arm);
		db->runs[i].arm = mem__strdup(name);
	}
}

int history__join(struct rundb *db, const char *arm, struct rundb *from, const char *stored,
		  const char *path, char **name, char **msg)
{
	const char *slash = strrchr(path, '/');
	int err = check(db, arm, from, stored, path, msg);
	struct rundb *joined, left;

	if (err)
		return err;
	*name = sbuf__format("%s of %s", stored, slash ? slash + 1 : path);
	joined = mem__calloc(1, sizeof(*joined));
	for (size_t i = 0; i < db->nr; ) {
		char *workload;
		size_t first = joined->nr;

		if (strcmp(db->runs[i].arm, arm)) {
			i++;
			continue;
		}
		/* The runs of a workload stay together, as rundb__load() has them. */
		workload = mem__strdup(db->runs[i].workload);
		move(joined, from, workload, stored);
		rename_from(joined, first, *name);
		move(joined, db, workload, arm);
		free(workload);
	}
	left = *db;
	*db = *joined;
	*joined = left;
	rundb__free(joined);
	return 0;
}
