// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>

#include "workloads/lib/content.h"

static void page_make(uint64_t *word, uint64_t page, uint32_t words, uint64_t version)
{
	word[0] = version;
	for (uint32_t w = 1; w < words; w++)
		word[w] = wl_content__word(page, w);
}

int wl_content__fill(struct wl_backing *b, uint32_t page_bytes)
{
	uint64_t *word = malloc(page_bytes);
	int err = word ? 0 : -ENOMEM;

	for (uint64_t p = 0; !err && p < b->bytes / page_bytes; p++) {
		page_make(word, p, page_bytes / sizeof(*word), 0);
		err = wl_backing__put(b, p * page_bytes, word, page_bytes);
	}
	free(word);
	return err;
}

/* Order matters: the same words in other places give another sum. */
static uint64_t digest(uint64_t sum, const uint64_t *word, uint64_t words)
{
	for (uint64_t i = 0; i < words; i++)
		sum = (sum ^ word[i]) * WL_RNG_GAMMA + (sum >> 32);
	return sum;
}

uint64_t wl_content__checksum(const unsigned char *base, uint64_t bytes)
{
	return digest(1, (const uint64_t *)base, bytes / sizeof(uint64_t)) >> 1;
}

uint64_t wl_content__expected(uint64_t pages, uint32_t page_bytes, uint64_t version)
{
	uint32_t words = page_bytes / (uint32_t)sizeof(uint64_t);
	uint64_t sum = 1;

	for (uint64_t p = 0; p < pages; p++) {
		sum = digest(sum, &version, 1);
		for (uint32_t w = 1; w < words; w++) {
			uint64_t v = wl_content__word(p, w);

			sum = digest(sum, &v, 1);
		}
	}
	return sum >> 1;
}
