// SPDX-License-Identifier: GPL-2.0-or-later
#include "collector/text.h"
#include "collector/xsbench.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz__text(data, size), *cursor = text, *line;
	struct results r = { 0 };
	struct xsbench x = { 0 };

	while ((line = text__next_line(&cursor)))
		xsbench__line(&x, line);
	PROMISE(!xsbench__is_success(&x) || x.has_rate);
	xsbench__results(&x, &r);
	fuzz__check_results(&r);
	results__free(&r);
	free(text);
	return 0;
}
