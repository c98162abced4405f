/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pages whose exact content is known at every moment: each has a lock that is shared by all threads
 * and processes which use it, and a state that says what every word of it is. Whoever holds the lock
 * for reading may check any word; whoever holds it for writing changes the page, then its state.
 *
 * Locks are only ever tried: a thread that does not get one takes another page. So no order of locks
 * can deadlock, and a holder that the kernel keeps waiting holds up nobody.
 */
#ifndef WL_ARENA_H
#define WL_ARENA_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARENA_PAGE	4096U
#define ARENA_WORDS	(ARENA_PAGE / (uint32_t)sizeof(uint64_t))

/* Lives in memory that all users share. lock: 0 free, -1 being written, else the number of readers. */
struct arena_page {
	_Atomic int32_t lock;
	_Atomic uint64_t state;
};

struct arena {
	struct arena_page *page;
	uint32_t pages;
	uint64_t key;		/* sets this arena's content apart from all others */
	uint32_t kinds;		/* not 0: only so many different pages, the same everywhere (KSM) */
};

struct arena_finding {
	uint32_t page, word;
	uint64_t got, want, state;
};

/* A state is a version, and which part of the page is zeroes instead. */
static inline uint64_t arena_state__next(uint64_t state)
{
	return ((state >> 2) + 1) << 2;
}

static inline uint64_t arena_state__zeroed(uint64_t state)
{
	return state | 2;
}

static inline uint64_t arena_state__half_zeroed(uint64_t state)
{
	return state | 1;
}

/* What word w of the page must be in that state. */
uint64_t arena__word(const struct arena *a, uint32_t page, uint64_t state, uint32_t w);
void arena__fill(const struct arena *a, uint32_t page, uint64_t state, uint64_t *to);
/* Words [from, from + n) at base (of the whole page); false and *f filled in at the first wrong one. */
bool arena__check(const struct arena *a, uint32_t page, uint64_t state, const volatile uint64_t *base,
		  uint32_t from, uint32_t n, struct arena_finding *f);
/* Version whose content the wrong word was, if it is one of the last 64; else UINT64_MAX. */
uint64_t arena__stale_version(const struct arena *a, const struct arena_finding *f);

bool arena__try_read(struct arena *a, uint32_t page);
void arena__end_read(struct arena *a, uint32_t page);
bool arena__try_write(struct arena *a, uint32_t page);
void arena__end_write(struct arena *a, uint32_t page, uint64_t state);
uint64_t arena__state(const struct arena *a, uint32_t page);
/* All of n pages or none. */
bool arena__try_read_range(struct arena *a, uint32_t page, uint32_t n);
void arena__end_read_range(struct arena *a, uint32_t page, uint32_t n);
bool arena__try_write_range(struct arena *a, uint32_t page, uint32_t n);

#endif /* WL_ARENA_H */
