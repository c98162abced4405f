/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Known content for a file, so that any word that is read from it can be checked on the spot: word
 * w of page p is a fixed mix of (p, w), but for word 0, which is the page's version.
 */
#ifndef WL_CONTENT_H
#define WL_CONTENT_H

#include <stdint.h>

#include "workloads/lib/backing.h"
#include "workloads/lib/rng.h"

static inline uint64_t wl_content__word(uint64_t page, uint32_t word)
{
	return wl_rng__mix((page << 16 | word) * WL_RNG_GAMMA + 1);
}

/* Write version 0 of all pages. 0 or -errno. */
int wl_content__fill(struct wl_backing *b, uint32_t page_bytes);
/* Digest of the whole memory, of whatever it holds. */
uint64_t wl_content__checksum(const unsigned char *base, uint64_t bytes);
/* What wl_content__checksum() must give when every page has that version. */
uint64_t wl_content__expected(uint64_t pages, uint32_t page_bytes, uint64_t version);

#endif /* WL_CONTENT_H */
