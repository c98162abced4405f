// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/loglin.h"
#include "collector/pmbench.h"

#define MAX_BINS (64U << PMBENCH__SUB_BITS)

void pmbench__init(struct pmbench *p)
{
	memset(p, 0, sizeof(*p));
	p->kind = -1;
}

void pmbench__free(struct pmbench *p)
{
	free(p->hist[PMBENCH_READ].bins);
	free(p->hist[PMBENCH_WRITE].bins);
	free(p->xml);
	pmbench__init(p);
}

/* --- histograms ------------------------------------------------------------------------------- */

static int hist__add(struct histogram *h, unsigned int bin, unsigned int span, uint64_t n)
{
	struct hist_bin *bigger;

	if (!n)
		return 0;
	if (h->nr_bins >= MAX_BINS || n > INT64_MAX - h->total)
		return -EINVAL;
	if (!(h->nr_bins & (h->nr_bins - 1))) {
		bigger = realloc(h->bins, (h->nr_bins ? 2 * h->nr_bins : 1) * sizeof(*bigger));
		if (!bigger)
			return -ENOMEM;
		h->bins = bigger;
	}
	h->bins[h->nr_bins++] = (struct hist_bin){ .bin = bin, .span = span, .n = n };
	h->total += n;
	return 0;
}

/* The counts of its sixteenths where they are told and add up, else one count for all of it. */
int pmbench__bucket(struct pmbench *p, int kind, const struct pmbench_bucket *b)
{
	struct histogram *h = &p->hist[kind];
	unsigned int first, end, i;
	uint64_t sum = 0;
	int err = 0;

	if (b->lo >= b->hi || b->hi > 63 || (b->lo && b->lo < PMBENCH__SUB_BITS) ||
	    b->hi < PMBENCH__SUB_BITS)
		return -EINVAL;
	first = b->lo ? loglin_bin(1ULL << b->lo, PMBENCH__SUB_BITS) : 0;
	end = loglin_bin(1ULL << b->hi, PMBENCH__SUB_BITS);
	for (i = 0; i < b->nr_sub; i++)
		if (__builtin_add_overflow(sum, b->sub[i], &sum))
			return -EINVAL;
	if (!b->nr_sub)
		return hist__add(h, first, end - first, b->count);
	if (sum != b->count || b->nr_sub != PMBENCH__SUB_COUNTS ||
	    end - first != PMBENCH__SUB_COUNTS)
		return -EINVAL;
	for (i = 0; !err && i < b->nr_sub; i++)
		err = hist__add(h, first + i, 1, b->sub[i]);
	return err;
}

/* --- text ------------------------------------------------------------------------------------- */

/* "2^(08,09) ns: 581  [233, 128, ...]" or without the brackets. */
static int text__bucket(struct pmbench *p, const char *line)
{
	struct pmbench_bucket b = { 0 };
	int used = 0, err;

	if (sscanf(line, "2^(%2u,%2u) ns: %" SCNu64 "%n", &b.lo, &b.hi, &b.count, &used) != 3)
		return 0;
	line += used;
	line += strspn(line, " ");
	if (*line == '[') {
		do {
			if (b.nr_sub == PMBENCH__SUB_COUNTS ||
			    sscanf(line + 1, " %" SCNu64 "%n", &b.sub[b.nr_sub], &used) != 1)
				break;
			b.nr_sub++;
			line += 1 + used;
		} while (*line == ',');
		if (*line != ']')
			b.nr_sub = 1;		/* which no bucket has */
	}
	err = pmbench__bucket(p, p->kind, &b);
	if (err == -EINVAL)
		p->nr_bad++;
	return err == -ENOMEM ? err : 0;
}

/* Lines of the histogram section; p->kind says which histogram. */
static int text__histogram(struct pmbench *p, const char *line)
{
	uint64_t total;

	if (!strcmp(line, "Read:") || !strcmp(line, "Write:")) {
		p->kind = *line == 'R' ? PMBENCH_READ : PMBENCH_WRITE;
		return 0;
	}
	if (p->kind < 0 || p->has_hist[p->kind])
		return 0;
	if (sscanf(line, "Total samples: %" SCNu64, &total) != 1)
		return text__bucket(p, line);
	if (total != p->hist[p->kind].total)
		p->nr_bad++;
	p->has_hist[p->kind] = true;
	p->kind = -1;
	return 0;
}

/* Threads begin, and end with what they did. */
static bool text__thread(struct pmbench *p, const char *line)
{
	unsigned int thread;
	double seconds;
	uint64_t n;

	if (sscanf(line, "[%u] Benchmark done - took %lf sec for %" SCNu64, &thread, &seconds, &n) == 3) {
		p->done++;
		if (seconds > 0 && n < UINT64_MAX / 2 - p->accesses) {
			p->rate += (double)n / seconds;
			p->accesses += n;
			p->longest_s = seconds > p->longest_s ? seconds : p->longest_s;
		} else {
			p->nr_bad++;
		}
		return true;
	}
	if (*line != '[' || !strstr(line, "] Starting main benchmark"))
		return false;
	p->started++;
	return true;
}

/* A thread's mean latency, then the number of its samples, which weighs it. */
static bool text__latency(struct pmbench *p, const char *line)
{
	uint64_t n;

	if (sscanf(line, "Net average page latency (Arith. mean): %lf us", &p->net_us) == 1) {
		p->has_net = true;
		return true;
	}
	if (!p->has_net || sscanf(line, " Total samples count: %" SCNu64, &n) != 1)
		return false;
	p->latency_sum += p->net_us * (double)n;
	p->latency_n += (double)n;
	p->has_net = false;
	return true;
}

/* A document among the lines, from its first element to the end of that. */
static int text__document(struct pmbench *p, const char *line)
{
	size_t len = strlen(line), cap = p->xml_cap ? p->xml_cap : 4096;
	char *bigger;
	int err = 0;

	if (p->xml_len + len + 1 > PMBENCH__XML_MAX) {
		p->in_xml = false;
		p->nr_bad++;
		return 0;
	}
	while (cap < p->xml_len + len + 1)
		cap *= 2;
	if (cap != p->xml_cap) {
		bigger = realloc(p->xml, cap);
		if (!bigger)
			return -ENOMEM;
		p->xml = bigger;
		p->xml_cap = cap;
	}
	memcpy(p->xml + p->xml_len, line, len);
	p->xml[p->xml_len + len] = '\n';
	p->xml_len += len + 1;
	if (strstr(line, "</pmbenchmark>")) {
		p->in_xml = false;
		err = pmbench__xml(p, p->xml, p->xml_len);
		if (err == -EINVAL)
			p->nr_bad++;
	}
	return err == -ENOMEM ? err : 0;
}

int pmbench__line(struct pmbench *p, const char *line)
{
	if (!p->in_xml && !p->has_xml && !strncmp(line, "<pmbenchmark>", 13)) {
		p->in_xml = p->has_xml = true;
		p->xml_len = 0;
	}
	if (p->in_xml)
		return text__document(p, line);
	if (!strncmp(line, "pmbench version:", 16) || text__thread(p, line) ||
	    text__latency(p, line)) {
		p->seen = true;
		return 0;
	}
	return text__histogram(p, line);
}

/* --- results ---------------------------------------------------------------------------------- */

bool pmbench__is_success(const struct pmbench *p)
{
	return (p->done && p->done >= p->started) || p->has_xml;
}

/* Takes the histogram out of p. */
static int add_hist(struct pmbench *p, int kind, const char *name, struct results *r)
{
	struct histogram h = p->hist[kind];

	memset(&p->hist[kind], 0, sizeof(h));
	if (!p->has_hist[kind] || !h.total) {
		free(h.bins);
		return 0;
	}
	strcpy(h.name, name);
	strcpy(h.unit, "ns");
	h.sub_bits = PMBENCH__SUB_BITS;
	h.bins_only = true;
	return results__add_hist(r, &h);
}

int pmbench__results(struct pmbench *p, struct results *r)
{
	int err = 0;

	if (p->done) {
		err = results__add_metric(r, "accesses_per_s", p->rate, "1/s", "higher", true);
		if (!err)
			err = results__add_metric(r, "runtime", p->longest_s, "s", "none", true);
	}
	if (!err && p->accesses)
		err = results__add_metric(r, "accesses", (double)p->accesses, "accesses", "none",
					  false);
	if (!err && p->latency_n > 0)
		err = results__add_metric(r, "access_latency",
					  p->latency_sum / p->latency_n * 1000, "ns", "lower",
					  true);
	if (!err)
		err = add_hist(p, PMBENCH_READ, "workload.read_ns", r);
	if (!err)
		err = add_hist(p, PMBENCH_WRITE, "workload.write_ns", r);
	return err ? err : p->nr_bad ? -EINVAL : 0;
}
