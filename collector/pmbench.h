/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adapter for the output of the real pmbench (0.9): its text, and its XML (-f FILE). It may hang
 * after its measurement, while it asks the CPU for its caches: what it said before counts then.
 *
 * Its histograms have 16 bins to a power of two from 256 ns on, one bin for all below, and whole
 * powers of two from 8 ms on: the layout of bpf/loglin.h with 4 sub-bits, and bins that span several.
 */
#ifndef MIGRC_PMBENCH_H
#define MIGRC_PMBENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/results.h"

#define PMBENCH__SUB_BITS	4
#define PMBENCH__SUB_COUNTS	(1U << PMBENCH__SUB_BITS)
#define PMBENCH__XML_MAX	(4U << 20)

enum pmbench_kind { PMBENCH_READ, PMBENCH_WRITE, PMBENCH_KINDS };

/* A power of two, or several, and what of it the bins hold. */
struct pmbench_bucket {
	unsigned int lo, hi;			/* exponents: 2^lo to 2^hi - 1 ns; lo 0: from 0 on */
	uint64_t count;
	uint64_t sub[PMBENCH__SUB_COUNTS];
	unsigned int nr_sub;			/* 0 or PMBENCH__SUB_COUNTS */
};

struct pmbench {
	bool seen;			/* some line was pmbench's */
	unsigned int started, done;	/* threads */
	double rate;			/* accesses/s, sum over the threads */
	uint64_t accesses;
	double longest_s;
	double net_us;			/* latency of the thread at hand, until its samples are read */
	bool has_net;
	double latency_sum, latency_n;	/* us times samples, samples */
	int kind;			/* of the histogram at hand; -1: none */
	struct histogram hist[PMBENCH_KINDS];
	bool has_hist[PMBENCH_KINDS];	/* whole, and adds up */
	unsigned int nr_bad;		/* histogram lines that made no sense */
	char *xml;			/* a document that comes by lines */
	size_t xml_len, xml_cap;
	bool in_xml, has_xml;
};

void pmbench__init(struct pmbench *p);
/* One line of output, without its newline. Lines of other programs change nothing. 0 or -ENOMEM. */
int pmbench__line(struct pmbench *p, const char *line);
/* A bucket of the histogram of that kind; buckets come in rising order. 0, -EINVAL, -ENOMEM. */
int pmbench__bucket(struct pmbench *p, int kind, const struct pmbench_bucket *b);
/* A whole document. 0; -EINVAL: not XML of pmbench; -ENOMEM. */
int pmbench__xml(struct pmbench *p, const char *text, size_t len);
/* Did it finish its measurement, whatever became of it after? */
bool pmbench__is_success(const struct pmbench *p);
/*
 * Add accesses_per_s, accesses, access_latency, runtime and workload.read_ns, workload.write_ns:
 * what was told. 0, -EINVAL (a histogram that does not add up), or as results__add_*().
 */
int pmbench__results(struct pmbench *p, struct results *r);
void pmbench__free(struct pmbench *p);

#endif /* MIGRC_PMBENCH_H */
