// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/loglin.h"
#include "collector/results.h"
#include "collector/text.h"

/* The array of nr with room for one more, or NULL; arrays grow by powers of two. */
static void *grown(void *array, size_t nr, size_t size)
{
	if (nr & (nr - 1) || (!nr && array))
		return array;
	return realloc(array, (nr ? 2 * nr : 1) * size);
}

static const char *better__find(const char *word)
{
	static const char * const words[] = { "higher", "lower", "none" };
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(words[i], word))
			return words[i];
	return NULL;
}

int results__add_metric(struct results *r, const char *name, double value, const char *unit,
			const char *better, bool is_time)
{
	struct metric *m;
	size_t i;

	better = better__find(better);
	if (!text__is_name(name) || strlen(name) >= sizeof(m->name) || !isfinite(value) ||
	    strlen(unit) >= sizeof(m->unit) || !better)
		return -EINVAL;
	for (i = 0; i < r->nr_metrics; i++)
		if (!strcmp(r->metrics[i].name, name))
			return -EEXIST;
	m = grown(r->metrics, r->nr_metrics, sizeof(*m));
	if (!m)
		return -ENOMEM;
	r->metrics = m;
	m = &r->metrics[r->nr_metrics++];
	strcpy(m->name, name);
	strcpy(m->unit, unit);
	m->value = value;
	m->better = better;
	m->is_time = is_time;
	return 0;
}

int results__add_text(struct results *r, const char *name, const char *value)
{
	struct result_text *t;
	char *copy;
	size_t i;

	if (!text__is_name(name) || strlen(name) >= sizeof(t->name))
		return -EINVAL;
	for (i = 0; i < r->nr_texts; i++)
		if (!strcmp(r->texts[i].name, name))
			return -EEXIST;
	t = grown(r->texts, r->nr_texts, sizeof(*t));
	if (!t)
		return -ENOMEM;
	r->texts = t;
	copy = strdup(value);
	if (!copy)
		return -ENOMEM;
	t = &r->texts[r->nr_texts++];
	strcpy(t->name, name);
	t->value = copy;
	return 0;
}

static unsigned int bin__end(const struct hist_bin *b)
{
	return b->bin + (b->span ? b->span : 1);
}

/* Do bins rise, exist in the layout, and add up? */
static bool histogram__is_sound(const struct histogram *h)
{
	uint64_t total = 0;
	size_t i;

	if (h->sub_bits > 8 || h->total > INT64_MAX || h->sum > INT64_MAX || h->max > INT64_MAX)
		return false;
	for (i = 0; i < h->nr_bins; i++) {
		if (h->bins[i].bin >= LOGLIN_BINS(h->sub_bits) ||
		    h->bins[i].span > LOGLIN_BINS(h->sub_bits) - h->bins[i].bin || !h->bins[i].n ||
		    h->bins[i].n > h->total - total ||
		    (i && h->bins[i].bin < bin__end(&h->bins[i - 1])))
			return false;
		total += h->bins[i].n;
	}
	if (total != h->total)
		return false;
	return !total || h->bins_only ||
	       loglin_bin(h->max, h->sub_bits) == h->bins[h->nr_bins - 1].bin;
}

int results__add_hist(struct results *r, struct histogram *h)
{
	struct histogram *bigger;
	int err = 0;
	size_t i;

	if (!text__is_name(h->name) || !histogram__is_sound(h))
		err = -EINVAL;
	for (i = 0; !err && i < r->nr_hists; i++)
		if (!strcmp(r->hists[i].name, h->name))
			err = -EEXIST;
	if (err)
		goto cleanup;
	bigger = grown(r->hists, r->nr_hists, sizeof(*h));
	if (!bigger) {
		err = -ENOMEM;
		goto cleanup;
	}
	r->hists = bigger;
	r->hists[r->nr_hists++] = *h;
	return 0;
cleanup:
	free(h->bins);
	h->bins = NULL;
	return err;
}

static int results__parse_metric(struct results *r, const char *rest)
{
	char name[RESULT_NAME_MAX], number[48], unit[32], better[8], kind[8], extra;
	double value;
	char *end;

	if (sscanf(rest, "%63s %47s %31s %7s %7s %c", name, number, unit, better, kind, &extra) != 5)
		return -EINVAL;
	errno = 0;
	value = strtod(number, &end);
	if (*end || errno == ERANGE || (strcmp(kind, "time") && strcmp(kind, "count")))
		return -EINVAL;
	return results__add_metric(r, name, value, unit, better, !strcmp(kind, "time"));
}

static int results__parse_text(struct results *r, const char *rest)
{
	char name[RESULT_NAME_MAX];
	int used = 0;

	if (sscanf(rest, "%63s %n", name, &used) != 1 || !used || !rest[used])
		return -EINVAL;
	return results__add_text(r, name, rest + used);
}

/* BIN:N BIN:N ... into h->bins. */
static int histogram__parse_bins(struct histogram *h, const char *rest)
{
	struct hist_bin bin = { 0 }, *bigger;
	unsigned long long n;
	int used;

	while (rest[strspn(rest, " ")]) {
		used = 0;
		if (sscanf(rest, " %u:%llu%n", &bin.bin, &n, &used) != 2 || !used ||
		    (rest[used] && rest[used] != ' '))
			return -EINVAL;
		bin.n = n;
		bigger = grown(h->bins, h->nr_bins, sizeof(bin));
		if (!bigger)
			return -ENOMEM;
		h->bins = bigger;
		h->bins[h->nr_bins++] = bin;
		rest += used;
	}
	return 0;
}

static int results__parse_hist(struct results *r, const char *rest)
{
	static const char prefix[] = "workload.";
	struct histogram h = { 0 };
	char name[RESULT_NAME_MAX];
	unsigned long long total, sum, max;
	int used = 0;
	int err;

	if (sscanf(rest, "%63s %31s %u %llu %llu %llu%n", name, h.unit, &h.sub_bits, &total, &sum,
		   &max, &used) != 6 || !used)
		return -EINVAL;
	snprintf(h.name, sizeof(h.name), "%s%s", prefix, name);
	h.total = total;
	h.sum = sum;
	h.max = max;
	err = histogram__parse_bins(&h, rest + used);
	if (err) {
		free(h.bins);
		return err;
	}
	return results__add_hist(r, &h);
}

int results__parse_line(struct results *r, const char *line)
{
	static const struct {
		const char *word;
		int (*parse)(struct results *r, const char *rest);
	} kinds[] = {
		{ "metric ", results__parse_metric },
		{ "text ", results__parse_text },
		{ "hist ", results__parse_hist },
	};
	size_t i;
	int err;

	if (strncmp(line, RESULTS__PREFIX, strlen(RESULTS__PREFIX)))
		return 0;
	line += strlen(RESULTS__PREFIX);
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strncmp(line, kinds[i].word, strlen(kinds[i].word)))
			continue;
		err = kinds[i].parse(r, line + strlen(kinds[i].word));
		return err ? err : 1;
	}
	return -EINVAL;
}

void results__free(struct results *r)
{
	size_t i;

	for (i = 0; i < r->nr_texts; i++)
		free(r->texts[i].value);
	for (i = 0; i < r->nr_hists; i++)
		free(r->hists[i].bins);
	free(r->metrics);
	free(r->texts);
	free(r->hists);
	memset(r, 0, sizeof(*r));
}
