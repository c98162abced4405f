// SPDX-License-Identifier: GPL-2.0-or-later
#include "collector/pmbench.h"
#include "collector/text.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz__text(data, size), *cursor = text, *line;
	struct results r = { 0 };
	struct pmbench p;

	pmbench__init(&p);
	while ((line = text__next_line(&cursor)))
		PROMISE(!pmbench__line(&p, line));
	pmbench__results(&p, &r);
	fuzz__check_results(&r);
	results__free(&r);
	pmbench__free(&p);
	free(text);
	return 0;
}
