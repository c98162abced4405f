// SPDX-License-Identifier: GPL-2.0-or-later
#include "workloads/lib/arena.h"
#include "workloads/lib/rng.h"

#define STALE_DEPTH	64

uint64_t arena__word(const struct arena *a, uint32_t page, uint64_t state, uint32_t w)
{
	uint64_t version = state >> 2;

	if ((state & 2) || ((state & 1) && w >= ARENA_WORDS / 2))
		return 0;
	if (a->kinds)
		return wl_rng__mix(a->key + version % a->kinds * WL_RNG_GAMMA) + w;
	return wl_rng__mix(a->key + ((uint64_t)page << 40 | version) * WL_RNG_GAMMA) + w;
}

void arena__fill(const struct arena *a, uint32_t page, uint64_t state, uint64_t *to)
{
	for (uint32_t w = 0; w < ARENA_WORDS; w++)
		to[w] = arena__word(a, page, state, w);
}

bool arena__check(const struct arena *a, uint32_t page, uint64_t state, const volatile uint64_t *base,
		  uint32_t from, uint32_t n, struct arena_finding *f)
{
	for (uint32_t w = from; w < from + n; w++) {
		uint64_t got = base[w], want = arena__word(a, page, state, w);

		if (got == want)
			continue;
		*f = (struct arena_finding){ page, w, got, want, state };
		return false;
	}
	return true;
}

uint64_t arena__stale_version(const struct arena *a, const struct arena_finding *f)
{
	uint64_t version = f->state >> 2;

	for (uint32_t i = 0; i <= STALE_DEPTH && i <= version; i++)
		if (arena__word(a, f->page, (version - i) << 2, f->word) == f->got)
			return version - i;
	return UINT64_MAX;
}

bool arena__try_read(struct arena *a, uint32_t page)
{
	int32_t lock = atomic_load_explicit(&a->page[page].lock, memory_order_relaxed);

	while (lock >= 0)
		if (atomic_compare_exchange_weak_explicit(&a->page[page].lock, &lock, lock + 1,
							  memory_order_acquire,
							  memory_order_relaxed))
			return true;
	return false;
}

void arena__end_read(struct arena *a, uint32_t page)
{
	atomic_fetch_sub_explicit(&a->page[page].lock, 1, memory_order_release);
}

bool arena__try_write(struct arena *a, uint32_t page)
{
	int32_t free = 0;

	return atomic_compare_exchange_strong_explicit(&a->page[page].lock, &free, -1,
						       memory_order_acquire, memory_order_relaxed);
}

void arena__end_write(struct arena *a, uint32_t page, uint64_t state)
{
	atomic_store_explicit(&a->page[page].state, state, memory_order_relaxed);
	atomic_store_explicit(&a->page[page].lock, 0, memory_order_release);
}

uint64_t arena__state(const struct arena *a, uint32_t page)
{
	return atomic_load_explicit(&a->page[page].state, memory_order_relaxed);
}

bool arena__try_read_range(struct arena *a, uint32_t page, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (arena__try_read(a, page + i))
			continue;
		arena__end_read_range(a, page, i);
		return false;
	}
	return true;
}

void arena__end_read_range(struct arena *a, uint32_t page, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		arena__end_read(a, page + i);
}

bool arena__try_write_range(struct arena *a, uint32_t page, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (arena__try_write(a, page + i))
			continue;
		while (i--)
			arena__end_write(a, page + i, arena__state(a, page + i));
		return false;
	}
	return true;
}
