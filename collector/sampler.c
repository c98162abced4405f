// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collector/sampler.h"
#include "collector/text.h"

static const char * const vmstat_names[] = {
	"nr_migrc_pending", "pgmigrate_success", "pgpromote_success", "pgdemote_kswapd",
	"pgdemote_direct", "nr_tlb_remote_flush", "nr_tlb_remote_flush_received",
};

static int read_file_into(const char *path, struct snapshot *s)
{
	char *text;
	int err;

	err = text__read_file(path, &text, NULL);
	if (err)
		return err;
	err = strcmp(path, "/proc/vmstat") ? zoneinfo__parse(text, s)
					   : vmstat__parse(text, "vmstat", s);
	free(text);
	return err;
}

static int sampler__read(struct snapshot *s)
{
	int err = read_file_into("/proc/vmstat", s);

	return err ? err : read_file_into("/proc/zoneinfo", s);
}

static int sampler__add_series(struct sampler *s, const struct snapshot_entry *e)
{
	struct series *bigger = realloc(s->series, (s->nr_series + 1) * sizeof(*bigger));

	if (!bigger)
		return -ENOMEM;
	s->series = bigger;
	strcpy(bigger[s->nr_series].source, e->source);
	strcpy(bigger[s->nr_series].name, e->name);
	s->nr_series++;
	return 0;
}

/* Zones without a page have no series. */
static int sampler__add_zones(struct sampler *s, const struct snapshot *now)
{
	char present[72], *slash;
	const struct snapshot_entry *e, *p;
	size_t i;
	int err = 0;

	for (i = 0; !err && i < now->nr; i++) {
		e = &now->entry[i];
		slash = strrchr(e->name, '/');
		if (strcmp(e->source, "zone") || !strcmp(slash, "/present"))
			continue;
		strcpy(present, e->name);
		strcpy(present + (slash - e->name), "/present");
		p = snapshot__find(now, "zone", present);
		if (p && p->value > 0)
			err = sampler__add_series(s, e);
	}
	return err;
}

int sampler__init(struct sampler *s)
{
	const struct snapshot_entry *e;
	struct snapshot now = { 0 };
	size_t i;
	int err;

	memset(s, 0, sizeof(*s));
	err = sampler__read(&now);
	for (i = 0; !err && i < sizeof(vmstat_names) / sizeof(vmstat_names[0]); i++) {
		e = snapshot__find(&now, "vmstat", vmstat_names[i]);
		if (e)
			err = sampler__add_series(s, e);
	}
	if (!err)
		err = sampler__add_zones(s, &now);
	snapshot__free(&now);
	return err;
}

static int sampler__reserve(struct sampler *s, size_t more)
{
	size_t cap = s->cap ? s->cap : 1024;
	struct sample *bigger;

	while (cap < s->nr + more)
		cap *= 2;
	if (cap == s->cap)
		return 0;
	bigger = realloc(s->sample, cap * sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	s->sample = bigger;
	s->cap = cap;
	return 0;
}

int sampler__take(struct sampler *s, int64_t t_ns)
{
	const struct snapshot_entry *e;
	struct snapshot now = { 0 };
	unsigned int i;
	int err;

	s->taken++;
	err = sampler__read(&now);
	if (!err)
		err = sampler__reserve(s, s->nr_series);
	for (i = 0; !err && i < s->nr_series; i++) {
		e = snapshot__find(&now, s->series[i].source, s->series[i].name);
		if (e)
			s->sample[s->nr++] = (struct sample){ t_ns, e->value, i };
	}
	snapshot__free(&now);
	if (err)
		s->failed++;
	return err;
}

void sampler__clear(struct sampler *s)
{
	s->nr = 0;
}

void sampler__free(struct sampler *s)
{
	free(s->series);
	free(s->sample);
	memset(s, 0, sizeof(*s));
}
