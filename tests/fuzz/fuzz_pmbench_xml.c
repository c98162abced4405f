// SPDX-License-Identifier: GPL-2.0-or-later
#include "collector/pmbench.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct results r = { 0 };
	struct pmbench p;

	pmbench__init(&p);
	pmbench__xml(&p, (const char *)data, size);
	pmbench__results(&p, &r);
	fuzz__check_results(&r);
	results__free(&r);
	pmbench__free(&p);
	return 0;
}
