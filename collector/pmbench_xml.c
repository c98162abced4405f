// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <expat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/pmbench.h"

/* Text of an element that is a number. */
#define TEXT_MAX 48

struct reader {
	struct pmbench *p;
	XML_Parser parser;
	char text[TEXT_MAX];
	size_t len;
	struct pmbench_bucket bucket;
	unsigned int hex;		/* index of the sub-count at hand */
	uint64_t samples;
	bool is_pmbench;
	int kind, err;
};

static const char *attribute(const char **attributes, const char *name)
{
	for (; *attributes; attributes += 2)
		if (!strcmp(attributes[0], name))
			return attributes[1];
	return "";
}

static void XMLCALL on_start(void *ctx, const char *name, const char **attributes)
{
	struct reader *r = ctx;

	r->len = 0;
	if (!strcmp(name, "pmbenchmark")) {
		r->is_pmbench = true;
	} else if (!strcmp(name, "histogram")) {
		r->kind = !strcmp(attribute(attributes, "type"), "write") ? PMBENCH_WRITE :
									     PMBENCH_READ;
		/* The text that came before on the same stream had it already. */
		if (r->p->has_hist[r->kind])
			r->kind = -1;
	} else if (!strcmp(name, "histo_bucket")) {
		memset(&r->bucket, 0, sizeof(r->bucket));
	} else if (!strcmp(name, "hex")) {
		r->hex = (unsigned int)strtoul(attribute(attributes, "index"), NULL, 10);
	}
}

static void XMLCALL on_text(void *ctx, const char *text, int len)
{
	struct reader *r = ctx;
	size_t n = (size_t)len;

	if (n >= sizeof(r->text) - r->len)
		n = sizeof(r->text) - 1 - r->len;
	memcpy(r->text + r->len, text, n);
	r->len += n;
}

static void reader__end_bucket(struct reader *r)
{
	int err;

	if (r->kind < 0)
		return;
	err = pmbench__bucket(r->p, r->kind, &r->bucket);
	if (err == -EINVAL)
		r->p->nr_bad++;
	else
		r->err = err;
}

static void reader__end_sub_count(struct reader *r, unsigned long long n)
{
	if (r->hex != r->bucket.nr_sub || r->hex >= PMBENCH__SUB_COUNTS) {
		r->p->nr_bad++;
		return;
	}
	r->bucket.sub[r->bucket.nr_sub++] = n;
}

static void XMLCALL on_end(void *ctx, const char *name)
{
	struct reader *r = ctx;
	unsigned long long n;

	r->text[r->len] = '\0';
	n = strtoull(r->text, NULL, 10);
	if (!strcmp(name, "interval_lo"))
		r->bucket.lo = n < 64 ? (unsigned int)n : 64;
	else if (!strcmp(name, "interval_hi"))
		r->bucket.hi = n < 64 ? (unsigned int)n : 64;
	else if (!strcmp(name, "sum_count"))
		r->bucket.count = n;
	else if (!strcmp(name, "hex"))
		reader__end_sub_count(r, n);
	else if (!strcmp(name, "histo_bucket"))
		reader__end_bucket(r);
	else if (!strcmp(name, "histogram") && r->kind >= 0)
		r->p->has_hist[r->kind] = true;
	else if (!strcmp(name, "netavg_us"))
		r->p->net_us = strtod(r->text, NULL);
	else if (!strcmp(name, "details_samples"))
		r->samples = n < UINT64_MAX / 2 ? n : 0;
	else if (!strcmp(name, "result_thread") && !r->p->done) {
		/* With its text on the same stream, the thread is counted already. */
		r->p->latency_sum += r->p->net_us * (double)r->samples;
		r->p->latency_n += (double)r->samples;
		if (r->samples < UINT64_MAX / 2 - r->p->accesses)
			r->p->accesses += r->samples;
	}
	r->len = 0;
	if (r->err)
		XML_StopParser(r->parser, XML_FALSE);
}

/* pmbench declares no entities; whoever does means no good. */
static void XMLCALL on_doctype(void *ctx, const char *name, const char *system_id,
			       const char *public_id, int has_internal_subset)
{
	struct reader *r = ctx;

	(void)name;
	(void)system_id;
	(void)public_id;
	(void)has_internal_subset;
	r->err = -EINVAL;
	XML_StopParser(r->parser, XML_FALSE);
}

int pmbench__xml(struct pmbench *p, const char *text, size_t len)
{
	struct reader r = { .p = p, .kind = -1 };
	int err = 0;

	if (len > PMBENCH__XML_MAX)
		return -EINVAL;
	r.parser = XML_ParserCreate(NULL);
	if (!r.parser)
		return -ENOMEM;
	XML_SetUserData(r.parser, &r);
	XML_SetElementHandler(r.parser, on_start, on_end);
	XML_SetCharacterDataHandler(r.parser, on_text);
	XML_SetStartDoctypeDeclHandler(r.parser, on_doctype);
	if (XML_Parse(r.parser, text, (int)len, 1) == XML_STATUS_ERROR || !r.is_pmbench)
		err = r.err ? r.err : -EINVAL;
	XML_ParserFree(r.parser);
	if (!err)
		p->seen = p->has_xml = true;
	return err;
}
