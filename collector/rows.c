// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <string.h>

#include "collector/rows.h"

int rows__put_counter(struct store *s, int64_t run_id, const char *source, const char *name,
		      const int64_t *before, int64_t after)
{
	static const char sql[] = "INSERT INTO counter VALUES (?, ?, ?, ?, ?)";

	if (!before)
		return store__put(s, sql, "ittni", run_id, source, name, after);
	return store__put(s, sql, "ittii", run_id, source, name, *before, after);
}

int rows__put_counters(struct store *s, int64_t run_id, struct snapshot *before,
		       struct snapshot *after)
{
	size_t i = 0, j = 0;
	int c, err = 0;

	snapshot__sort(before);
	snapshot__sort(after);
	while (!err && i < before->nr && j < after->nr) {
		const struct snapshot_entry *b = &before->entry[i], *a = &after->entry[j];

		c = strcmp(b->source, a->source);
		if (!c)
			c = strcmp(b->name, a->name);
		if (!c) {
			err = rows__put_counter(s, run_id, a->source, a->name, &b->value, a->value);
			i++;
			j++;
		} else if (c < 0) {
			i++;
		} else {
			j++;
		}
	}
	return err;
}

int rows__put_hist(struct store *s, int64_t run_id, const char *name, const char *unit,
		   unsigned int sub_bits, uint64_t total, uint64_t sum, uint64_t max)
{
	static const char sql[] = "INSERT INTO histogram VALUES (?, ?, ?, ?, ?, ?, ?)";

	return store__put(s, sql, "ittiiii", run_id, name, unit, (int64_t)sub_bits, (int64_t)total,
			  (int64_t)sum, (int64_t)max);
}

int rows__put_bin(struct store *s, int64_t run_id, const char *name, unsigned int bin, uint64_t n,
		  unsigned int span)
{
	static const char sql[] = "INSERT INTO histogram_bin VALUES (?, ?, ?, ?, ?)";

	return store__put(s, sql, "itiii", run_id, name, (int64_t)bin, (int64_t)n,
			  (int64_t)(span ? span : 1));
}

static int put_result_hist(struct store *s, int64_t run_id, const struct histogram *h)
{
	static const char bins_only[] = "INSERT INTO histogram VALUES (?, ?, ?, ?, ?, NULL, NULL)";
	size_t i;
	int err;

	if (h->bins_only)
		err = store__put(s, bins_only, "ittii", run_id, h->name, h->unit,
				 (int64_t)h->sub_bits, (int64_t)h->total);
	else
		err = rows__put_hist(s, run_id, h->name, h->unit, h->sub_bits, h->total, h->sum,
				     h->max);
	for (i = 0; !err && i < h->nr_bins; i++)
		err = rows__put_bin(s, run_id, h->name, h->bins[i].bin, h->bins[i].n,
				    h->bins[i].span);
	return err;
}

int rows__put_results(struct store *s, int64_t run_id, const struct results *res)
{
	static const char metric[] = "INSERT INTO metric VALUES (?, ?, ?, ?, ?, ?)";
	static const char text[] = "INSERT INTO result_text VALUES (?, ?, ?)";
	size_t i;
	int err = 0;

	for (i = 0; !err && i < res->nr_metrics; i++)
		err = store__put(s, metric, "itdtti", run_id, res->metrics[i].name,
				 res->metrics[i].value, res->metrics[i].unit,
				 res->metrics[i].better, (int64_t)res->metrics[i].is_time);
	for (i = 0; !err && i < res->nr_texts; i++)
		err = store__put(s, text, "itt", run_id, res->texts[i].name, res->texts[i].value);
	for (i = 0; !err && i < res->nr_hists; i++)
		err = put_result_hist(s, run_id, &res->hists[i]);
	return err;
}

int rows__put_perf(struct store *s, int64_t run_id, const struct perfstat *perf)
{
	static const char sql[] = "INSERT INTO perf_event VALUES (?, ?, ?, ?, ?, ?)";
	size_t i;
	int err = 0;

	for (i = 0; !err && i < perf->nr; i++) {
		const struct perf_event *e = &perf->event[i];

		if (!e->counted)
			continue;
		if (isnan(e->share))
			err = store__put(s, sql, "ittdtn", run_id, e->name, e->event, e->value,
					 e->unit);
		else
			err = store__put(s, sql, "ittdtd", run_id, e->name, e->event, e->value,
					 e->unit, e->share);
	}
	return err;
}

int rows__put_labels(struct store *s, int64_t run_id, const struct label *labels, size_t nr)
{
	static const char sql[] = "INSERT INTO run_label VALUES (?, ?, ?)";
	size_t i;
	int err = 0;

	for (i = 0; !err && i < nr; i++)
		err = store__put(s, sql, "itt", run_id, labels[i].key, labels[i].value);
	return err;
}

int rows__put_facts(struct store *s, int64_t run_id, const struct facts *facts)
{
	static const char sql[] = "INSERT INTO fact VALUES (?, ?, ?, ?)";
	size_t i;
	int err = 0;

	for (i = 0; !err && i < facts->nr; i++)
		err = store__put(s, sql, "ittt", run_id, fact_class__name(facts->fact[i].class),
				 facts->fact[i].key, facts->fact[i].value);
	return err;
}
