/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Raw events packed: a chunk is up to PACK__MAX_EVENTS of them, column by column, each column in the
 * shortest of a few ways to write numbers, all of it compressed with zstd. Nothing is lost but the
 * padding of struct event. Pure: no database, no messages.
 *
 * A chunk is
 *	2 bytes		"mE"
 *	1 byte		version of the format, 1
 *	zstd frame	with its content's size and checksum
 * and its content is series, one after the other:
 *	kind, t_ns, cpu, tid	one each, of all events
 *	a, b, c, d		one for each kind that occurs, in ascending order of kinds; those from
 *				PACK__LAST_KIND on are one
 * A series is
 *	1 byte		how: 0 one value for all, 1 values, 2 differences, 3 differences of differences
 *	varint		number of bytes that follow
 *	varints		in zigzag: sign in the lowest bit; 7 bits a byte, the lowest first
 * Numbers are taken modulo 2^64, so that each way gives back any value exactly.
 */
#ifndef MIGRC_PACK_H
#define MIGRC_PACK_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/events.h"

#define PACK__FORMAT		1
#define PACK__MAX_EVENTS	16384	/* a reader's memory: 1 MiB, and as much while unpacking */
#define PACK__LAST_KIND		62	/* of the bits of kinds; a signed number in SQL holds them */

/* What a reader wants to know before it unpacks. */
struct pack_info {
	int64_t first_ns, last_ns;	/* smallest and largest t_ns */
	uint64_t kinds;			/* pack__kind_bit() of each event's kind */
};

/* Columns, as bits of what unpacker__unpack() is asked for. */
enum pack_column { PACK_KIND, PACK_T_NS, PACK_CPU, PACK_TID, PACK_A, PACK_B, PACK_C, PACK_D,
		   PACK_NR_COLUMNS };
#define PACK__ALL	((1U << PACK_NR_COLUMNS) - 1)

static inline uint64_t pack__kind_bit(uint64_t kind)
{
	return (uint64_t)1 << (kind < PACK__LAST_KIND ? kind : PACK__LAST_KIND);
}

struct packer;
struct unpacker;

/* NULL without memory. */
struct packer *packer__new(void);
void packer__free(struct packer *p);

/*
 * Pack 1 to PACK__MAX_EVENTS events. *data is the packer's own until its next use. 0, or -EINVAL
 * (number of events), -EIO (zstd).
 */
int packer__pack(struct packer *p, const struct event *events, size_t nr, const void **data,
		 size_t *size, struct pack_info *info);

struct unpacker *unpacker__new(void);
void unpacker__free(struct unpacker *u);

/*
 * Unpack a chunk that is said to have nr events, whatever its bytes are. Of each event those columns
 * are written that are asked for, and kind. 0, or -EBADMSG with what is wrong in *why.
 */
int unpacker__unpack(struct unpacker *u, const void *data, size_t size, size_t nr,
		     unsigned int columns, struct event *out, const char **why);

#endif /* MIGRC_PACK_H */
