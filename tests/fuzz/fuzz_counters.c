// SPDX-License-Identifier: GPL-2.0-or-later
/* The kernel's text files. The first byte says which: v /proc/vmstat, i interrupts, z zoneinfo, p PSI. */
#include "collector/counters.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct snapshot s = { 0 };
	char *text;

	if (!size)
		return 0;
	text = fuzz__text(data + 1, size - 1);
	switch (data[0]) {
	case 'v':
		vmstat__parse(text, "vmstat", &s);
		break;
	case 'i':
		interrupts__parse(text, &s);
		break;
	case 'z':
		zoneinfo__parse(text, &s);
		break;
	case 'p':
		psi__parse(text, "memory", &s);
		break;
	default:
		break;
	}
	snapshot__sort(&s);
	for (size_t i = 0; i < s.nr; i++) {
		PROMISE(strlen(s.entry[i].name) < sizeof(s.entry[i].name));
		PROMISE(!i || strcmp(s.entry[i - 1].source, s.entry[i].source) ||
			strcmp(s.entry[i - 1].name, s.entry[i].name) <= 0);
	}
	snapshot__free(&s);
	free(text);
	return 0;
}
