// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a workload prints, as record reads it: our protocol, XSBench, pmbench and its XML by lines, a
 * rule of the user's. The first byte is the size of the pieces in which it comes.
 */
#include <fcntl.h>
#include <unistd.h>

#include "collector/output.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct metric_rules rules;
	static int null = -1;
	enum adapter_kind kind;
	struct output o;
	char why[64];

	if (null < 0) {
		null = open("/dev/null", O_WRONLY);
		PROMISE(!metric_rules__add(&rules, "rate=rate:? ([0-9.,]+):1/s:higher", why,
					   sizeof(why)));
	}
	if (!size)
		return 0;
	PROMISE(!output__init(&o, null, ADAPTER_AUTO, &rules));
	for (size_t at = 1, piece = data[0] + 1, n; at < size; at += n) {
		n = size - at < piece ? size - at : piece;
		PROMISE(!output__feed(&o, (const char *)data + at, n));
	}
	PROMISE(!output__finish(&o));
	kind = adapter__kind(&o.adapter, &o.results);
	adapter__results(&o.adapter, kind, &o.results);
	fuzz__check_results(&o.results);
	output__free(&o);
	return 0;
}
