/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SHA-256 (FIPS 180-4), to compare kernel configurations by a short text. */
#ifndef MIGRC_SHA256_H
#define MIGRC_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256__HEX_SIZE 65

struct sha256 {
	uint32_t h[8];
	uint64_t len;		/* bytes so far */
	unsigned char block[64];
};

void sha256__init(struct sha256 *s);
void sha256__add(struct sha256 *s, const void *data, size_t len);
/* The digest in lower-case hex with NUL. */
void sha256__hex(struct sha256 *s, char out[SHA256__HEX_SIZE]);

#endif /* MIGRC_SHA256_H */
