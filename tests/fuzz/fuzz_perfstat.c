// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>

#include "collector/perfstat.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz__text(data, size);
	struct perfstat p;
	int err = perfstat__parse(text, &p);

	PROMISE(err || p.nr);
	for (size_t i = 0; i < p.nr; i++) {
		const struct perf_event *e = &p.event[i];

		PROMISE(e->name[0] && !strpbrk(e->name, "\033\n\r"));
		PROMISE(!e->counted || (isfinite(e->value) && e->value >= 0));
		PROMISE(isnan(e->share) || (e->share >= 0 && e->share <= 1));
		PROMISE(perfstat__find(&p, e->name) == e);
	}
	PROMISE(p.runs);
	perfstat__free(&p);
	free(text);
	return 0;
}
