// SPDX-License-Identifier: GPL-2.0-or-later
/* What is pure in the litmus tests. */
#include <stdio.h>

#include "workloads/lib/litmus.h"

static const char *const hook_names[] = {
	"wp", "fault", "numa", "swapin", "mprotect", "uffd", "remap", "force", "pin", "shmem",
	"truncate", "inflight", "early", "drain",
};

_Static_assert(sizeof(hook_names) / sizeof(hook_names[0]) == LITMUS_HOOKS, "a name for each hook");

const char *litmus__hook_name(unsigned int hook)
{
	return hook < LITMUS_HOOKS ? hook_names[hook] : NULL;
}

void litmus__hook_names(unsigned int mask, char *text, size_t size)
{
	size_t at = 0;

	text[0] = '\0';
	for (unsigned int hook = 0; hook < LITMUS_HOOKS && at < size; hook++)
		if (mask & LITMUS_BIT(hook))
			at += (size_t)snprintf(text + at, size - at, "%s%s", at ? "+" : "",
					       hook_names[hook]);
}

bool litmus__goes_on(const struct litmus_result *r, unsigned int tries, uint64_t violations)
{
	if (tries >= 10 * r->wanted)
		return false;
	return r->rounds < r->wanted || (r->broken && r->race && !violations);
}

enum litmus_verdict litmus__judge(const struct litmus_result *r)
{
	if (r->err)
		return LITMUS_FAILED;
	if (r->lacks)
		return LITMUS_SKIPPED;
	if (!r->rounds)
		return r->race ? LITMUS_NO_RACE : LITMUS_NOT_MOVED;
	if (!r->broken)
		return r->violations ? LITMUS_FAILED : LITMUS_OK;
	if (r->violations)
		return LITMUS_OK;
	return r->deferred ? LITMUS_FAILED : LITMUS_NOT_DEFERRED;
}

/* Documentation/admin-guide/mm/pagemap.rst: bit 62 swapped, 63 present, 0-54 the frame. */
bool litmus__entry_swapped(uint64_t entry)
{
	return entry >> 62 == 1;
}

uint64_t litmus__entry_pfn(uint64_t entry)
{
	return entry >> 63 ? entry & ((1ULL << 55) - 1) : 0;
}

const struct litmus_test *litmus__test(unsigned int i)
{
	const struct litmus_test *const tables[] = {
		litmus_file_tests, litmus_map_tests, litmus_anon_tests, litmus_swap_tests,
		litmus_uffd_tests, litmus_life_tests,
	};

	for (unsigned int t = 0; t < sizeof(tables) / sizeof(tables[0]); t++)
		for (const struct litmus_test *row = tables[t]; row->name; row++)
			if (!i--)
				return row;
	return NULL;
}
