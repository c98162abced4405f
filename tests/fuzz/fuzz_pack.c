// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Chunks of raw events. The first byte says what the others are: a chunk; a chunk's content, which a
 * mutated one would hide behind zstd's checksum; or events, which must come back as they were. The
 * next two are the number of events.
 */
#include <zstd.h>

#include "collector/pack.h"
#include "tests/fuzz/fuzz.h"

static struct event events[PACK__MAX_EVENTS], again[PACK__MAX_EVENTS];

static struct unpacker *unpacker(void)
{
	static struct unpacker *u;

	if (!u)
		u = unpacker__new();
	PROMISE(u);
	return u;
}

/* Whatever the bytes are: events, or a reason; all columns or some, the same answer. */
static void unpack(const void *data, size_t size, size_t nr)
{
	const char *why = NULL;
	int all, some;
	size_t i;

	all = unpacker__unpack(unpacker(), data, size, nr, PACK__ALL, events, &why);
	PROMISE(!all || why);
	if (all)
		return;
	some = unpacker__unpack(unpacker(), data, size, nr, 1U << PACK_T_NS | 1U << PACK_D, again,
				&why);
	PROMISE(!some);
	for (i = 0; i < nr; i++)
		PROMISE(again[i].t_ns == events[i].t_ns && again[i].d == events[i].d &&
			again[i].kind == events[i].kind);
}

static void unpack_content(const uint8_t *content, size_t size, size_t nr)
{
	size_t cap = 3 + ZSTD_compressBound(size), n;
	uint8_t *data = malloc(cap);

	PROMISE(data);
	memcpy(data, "mE\1", 3);
	n = ZSTD_compress(data + 3, cap - 3, content, size, 1);
	PROMISE(!ZSTD_isError(n));
	unpack(data, 3 + n, nr);
	free(data);
}

static void round_trip(const uint8_t *bytes, size_t size)
{
	size_t nr = size / sizeof(*events), i, packed;
	static struct packer *p;
	struct pack_info info;
	const void *data;
	const char *why;

	p = p ? p : packer__new();
	PROMISE(p);
	if (!nr || nr > PACK__MAX_EVENTS)
		return;
	memcpy(events, bytes, nr * sizeof(*events));
	PROMISE(!packer__pack(p, events, nr, &data, &packed, &info));
	PROMISE(!unpacker__unpack(unpacker(), data, packed, nr, PACK__ALL, again, &why));
	for (i = 0; i < nr; i++) {
		again[i].pad = events[i].pad;
		PROMISE(info.first_ns <= (int64_t)again[i].t_ns &&
			info.last_ns >= (int64_t)again[i].t_ns &&
			info.kinds & pack__kind_bit(again[i].kind));
	}
	PROMISE(!memcmp(events, again, nr * sizeof(*events)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t nr;

	if (size < 3)
		return 0;
	nr = (size_t)data[1] << 8 | data[2];
	switch (data[0] % 3) {
	case 0:
		unpack(data + 3, size - 3, nr);
		break;
	case 1:
		unpack_content(data + 3, size - 3, nr);
		break;
	default:
		round_trip(data + 3, size - 3);
		break;
	}
	return 0;
}
