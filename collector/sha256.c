// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <string.h>

#include "collector/sha256.h"

static uint32_t rotr(uint32_t x, unsigned int n)
{
	return x >> n | x << (32 - n);
}

/*
 * The constants of FIPS 180-4, sections 4.2.2 and 5.3.3: the first 32 bits of the fractional parts
 * of the cube roots (and, for the first 8, of the square roots) of the first 64 primes. Found by whole
 * numbers: floor(root(p * 2^(32 * n))) mod 2^32, bit by bit.
 */
static uint32_t root_fraction(unsigned int prime, unsigned int n)
{
	unsigned __int128 target = (unsigned __int128)prime << (32 * n);
	unsigned __int128 power;
	uint64_t root = 0;
	unsigned int i;
	int bit;

	for (bit = 35; bit >= 0; bit--) {
		root |= 1ULL << bit;
		for (power = 1, i = 0; i < n; i++)
			power *= root;
		if (power > target)
			root &= ~(1ULL << bit);
	}
	return (uint32_t)root;
}

static unsigned int next_prime(unsigned int p)
{
	unsigned int d;

	for (p++;; p++) {
		for (d = 2; d * d <= p && p % d; d++)
			;
		if (d * d > p)
			return p;
	}
}

static const uint32_t *round_constants(void)
{
	static uint32_t k[64];
	unsigned int p = 2;
	int i;

	for (i = 0; !k[63] && i < 64; i++, p = next_prime(p))
		k[i] = root_fraction(p, 3);
	return k;
}

void sha256__init(struct sha256 *s)
{
	unsigned int p = 2;
	int i;

	memset(s, 0, sizeof(*s));
	for (i = 0; i < 8; i++, p = next_prime(p))
		s->h[i] = root_fraction(p, 2);
}

static void sha256__block(struct sha256 *s)
{
	const uint32_t *k = round_constants();
	uint32_t w[64], v[8], t1, t2;
	int i;

	for (i = 0; i < 16; i++)
		w[i] = (uint32_t)s->block[4 * i] << 24 | (uint32_t)s->block[4 * i + 1] << 16 |
		       (uint32_t)s->block[4 * i + 2] << 8 | s->block[4 * i + 3];
	for (; i < 64; i++)
		w[i] = w[i - 16] + w[i - 7] +
		       (rotr(w[i - 15], 7) ^ rotr(w[i - 15], 18) ^ w[i - 15] >> 3) +
		       (rotr(w[i - 2], 17) ^ rotr(w[i - 2], 19) ^ w[i - 2] >> 10);
	memcpy(v, s->h, sizeof(v));
	for (i = 0; i < 64; i++) {
		t1 = v[7] + (rotr(v[4], 6) ^ rotr(v[4], 11) ^ rotr(v[4], 25)) +
		     ((v[4] & v[5]) ^ (~v[4] & v[6])) + k[i] + w[i];
		t2 = (rotr(v[0], 2) ^ rotr(v[0], 13) ^ rotr(v[0], 22)) +
		     ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
		memmove(v + 1, v, 7 * sizeof(v[0]));
		v[4] += t1;
		v[0] = t1 + t2;
	}
	for (i = 0; i < 8; i++)
		s->h[i] += v[i];
}

void sha256__add(struct sha256 *s, const void *data, size_t len)
{
	const unsigned char *from = data;

	while (len--) {
		s->block[s->len++ % 64] = *from++;
		if (s->len % 64 == 0)
			sha256__block(s);
	}
}

void sha256__hex(struct sha256 *s, char out[SHA256__HEX_SIZE])
{
	uint64_t bits = s->len * 8;
	unsigned char size[8];
	int i;

	for (i = 0; i < 8; i++)
		size[i] = (unsigned char)(bits >> (56 - 8 * i));
	sha256__add(s, "\x80", 1);
	while (s->len % 64 != 56)
		sha256__add(s, "", 1);
	sha256__add(s, size, sizeof(size));
	for (i = 0; i < 8; i++)
		snprintf(out + 8 * i, 9, "%08x", s->h[i]);
}
