// SPDX-License-Identifier: GPL-2.0-or-later
#include "collector/pack.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define NR_GROUPS	(PACK__LAST_KIND + 1)
#define HEADER		3
#define VARINT_MAX	10	/* bytes of a 64-bit number */
/* A byte for the way and the length of what follows. */
#define SERIES_MAX	(1 + VARINT_MAX)
#define NR_SERIES	(4 + 4 * NR_GROUPS)
#define CONTENT_MAX	((size_t)PACK__MAX_EVENTS * PACK_NR_COLUMNS * VARINT_MAX + NR_SERIES * SERIES_MAX)
/* The time that a higher level takes is the workload's, and most of what it gains is gained already. */
#define LEVEL		1

enum series_way { WAY_SAME, WAY_VALUES, WAY_DELTA, WAY_DELTA2, NR_WAYS };

struct packer {
	ZSTD_CCtx *zstd;
	uint64_t column[PACK__MAX_EVENTS];
	uint8_t content[CONTENT_MAX];
	size_t cap;
	uint8_t *data;
};

struct unpacker {
	ZSTD_DCtx *zstd;
	uint64_t column[PACK__MAX_EVENTS];
	uint8_t content[CONTENT_MAX];
};

/* --- numbers ---------------------------------------------------------------------------------- */

static inline uint64_t zigzag(uint64_t v)
{
	return v << 1 ^ (0 - (v >> 63));
}

static inline uint64_t unzigzag(uint64_t v)
{
	return v >> 1 ^ (0 - (v & 1));
}

static inline unsigned int varint__size(uint64_t v)
{
	return (70 - (unsigned int)__builtin_clzll(v | 1)) / 7;
}

static inline uint8_t *varint__put(uint8_t *to, uint64_t v)
{
	while (v >= 0x80) {
		*to++ = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	*to++ = (uint8_t)v;
	return to;
}

/* The byte after it; NULL if there is none before end, or if it is no number of 64 bits. */
static inline const uint8_t *varint__get(const uint8_t *from, const uint8_t *end, uint64_t *v)
{
	unsigned int shift;

	*v = 0;
	for (shift = 0; from < end && shift < 64; shift += 7) {
		*v |= (uint64_t)(*from & 0x7f) << shift;
		if (!(*from++ & 0x80))
			return shift == 63 && from[-1] > 1 ? NULL : from;
	}
	return NULL;
}

/* --- packing ---------------------------------------------------------------------------------- */

/* The way that needs the fewest bytes, and their number. */
static enum series_way series__choose(const uint64_t *v, size_t nr, size_t *bytes)
{
	size_t size[NR_WAYS] = { 0 };
	uint64_t last = 0, last_delta = 0, delta, differ = 0;
	enum series_way way, best = WAY_VALUES;
	size_t i;

	for (i = 0; i < nr; i++) {
		delta = v[i] - last;
		differ |= v[i] ^ v[0];
		size[WAY_VALUES] += varint__size(zigzag(v[i]));
		size[WAY_DELTA] += varint__size(zigzag(delta));
		size[WAY_DELTA2] += varint__size(zigzag(delta - last_delta));
		last_delta = delta;
		last = v[i];
	}
	if (!differ) {
		*bytes = varint__size(zigzag(v[0]));
		return WAY_SAME;
	}
	for (way = WAY_DELTA; way < NR_WAYS; way++)
		if (size[way] < size[best])
			best = way;
	*bytes = size[best];
	return best;
}

static uint8_t *series__put(uint8_t *to, const uint64_t *v, size_t nr)
{
	uint64_t last = 0, last_delta = 0, delta;
	enum series_way way;
	size_t i, bytes;

	way = series__choose(v, nr, &bytes);
	*to++ = (uint8_t)way;
	to = varint__put(to, bytes);
	if (way == WAY_SAME)
		return varint__put(to, zigzag(v[0]));
	for (i = 0; i < nr; i++) {
		delta = v[i] - last;
		to = varint__put(to, zigzag(way == WAY_VALUES ? v[i] : way == WAY_DELTA ? delta :
					    delta - last_delta));
		last_delta = delta;
		last = v[i];
	}
	return to;
}

static uint64_t column__get(const struct event *e, enum pack_column column)
{
	switch (column) {
	case PACK_KIND:
		return e->kind;
	case PACK_T_NS:
		return e->t_ns;
	case PACK_CPU:
		return e->cpu;
	case PACK_TID:
		return e->tid;
	case PACK_A:
		return e->a;
	case PACK_B:
		return e->b;
	case PACK_C:
		return e->c;
	default:
		return e->d;
	}
}

static unsigned int group(uint64_t kind)
{
	return kind < PACK__LAST_KIND ? (unsigned int)kind : PACK__LAST_KIND;
}

/* Where each kind's events begin in a column that is ordered by kind, in one after the other. */
static void groups__count(const struct event *events, size_t nr, size_t begin[NR_GROUPS + 1])
{
	unsigned int g;
	size_t i;

	memset(begin, 0, (NR_GROUPS + 1) * sizeof(*begin));
	for (i = 0; i < nr; i++)
		begin[group(events[i].kind) + 1]++;
	for (g = 0; g < NR_GROUPS; g++)
		begin[g + 1] += begin[g];
}

/* A column whose meaning depends on the kind: kind by kind. */
static uint8_t *packer__put_grouped(struct packer *p, uint8_t *to, const struct event *events,
				    size_t nr, enum pack_column column, const size_t *begin)
{
	size_t at[NR_GROUPS], i;
	unsigned int g;

	memcpy(at, begin, sizeof(at));
	for (i = 0; i < nr; i++)
		p->column[at[group(events[i].kind)]++] = column__get(&events[i], column);
	for (g = 0; g < NR_GROUPS; g++)
		if (begin[g + 1] > begin[g])
			to = series__put(to, p->column + begin[g], begin[g + 1] - begin[g]);
	return to;
}

static size_t packer__content(struct packer *p, const struct event *events, size_t nr)
{
	size_t begin[NR_GROUPS + 1], i;
	uint8_t *to = p->content;
	unsigned int c;

	for (c = PACK_KIND; c <= PACK_TID; c++) {
		for (i = 0; i < nr; i++)
			p->column[i] = column__get(&events[i], (enum pack_column)c);
		to = series__put(to, p->column, nr);
	}
	groups__count(events, nr, begin);
	for (; c < PACK_NR_COLUMNS; c++)
		to = packer__put_grouped(p, to, events, nr, (enum pack_column)c, begin);
	return (size_t)(to - p->content);
}

static struct pack_info pack__info(const struct event *events, size_t nr)
{
	struct pack_info info = { .first_ns = INT64_MAX, .last_ns = INT64_MIN };
	int64_t t;
	size_t i;

	for (i = 0; i < nr; i++) {
		t = (int64_t)events[i].t_ns;
		info.first_ns = t < info.first_ns ? t : info.first_ns;
		info.last_ns = t > info.last_ns ? t : info.last_ns;
		info.kinds |= pack__kind_bit(events[i].kind);
	}
	return info;
}

struct packer *packer__new(void)
{
	struct packer *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->cap = HEADER + ZSTD_compressBound(CONTENT_MAX);
	p->data = malloc(p->cap);
	p->zstd = ZSTD_createCCtx();
	if (p->data && p->zstd &&
	    !ZSTD_isError(ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_compressionLevel, LEVEL)) &&
	    !ZSTD_isError(ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_checksumFlag, 1)))
		return p;
	packer__free(p);
	return NULL;
}

void packer__free(struct packer *p)
{
	if (!p)
		return;
	ZSTD_freeCCtx(p->zstd);
	free(p->data);
	free(p);
}

int packer__pack(struct packer *p, const struct event *events, size_t nr, const void **data,
		 size_t *size, struct pack_info *info)
{
	static const uint8_t header[HEADER] = { 'm', 'E', PACK__FORMAT };
	size_t n;

	if (!nr || nr > PACK__MAX_EVENTS)
		return -EINVAL;
	memcpy(p->data, header, HEADER);
	n = ZSTD_compress2(p->zstd, p->data + HEADER, p->cap - HEADER, p->content,
			   packer__content(p, events, nr));
	if (ZSTD_isError(n))
		return -EIO;
	*data = p->data;
	*size = HEADER + n;
	*info = pack__info(events, nr);
	return 0;
}

/* --- unpacking: nothing in a chunk is believed ------------------------------------------------ */

struct cursor {
	const uint8_t *at, *end;
	const char *why;
};

static void column__set(struct event *e, enum pack_column column, uint64_t v)
{
	switch (column) {
	case PACK_KIND:
		e->kind = (uint32_t)v;
		break;
	case PACK_T_NS:
		e->t_ns = v;
		break;
	case PACK_CPU:
		e->cpu = (uint32_t)v;
		break;
	case PACK_TID:
		e->tid = (uint32_t)v;
		break;
	case PACK_A:
		e->a = v;
		break;
	case PACK_B:
		e->b = v;
		break;
	case PACK_C:
		e->c = v;
		break;
	default:
		e->d = v;
		break;
	}
}

/* The values of nr varints that end exactly at end. */
static bool series__values(const uint8_t *at, const uint8_t *end, enum series_way way, uint64_t *v,
			   size_t nr)
{
	uint64_t raw, last = 0, delta = 0;
	size_t i;

	for (i = 0; i < nr; i++) {
		if (i && way == WAY_SAME) {
			v[i] = v[0];
			continue;
		}
		at = varint__get(at, end, &raw);
		if (!at)
			return false;
		raw = unzigzag(raw);
		delta = way == WAY_DELTA2 ? delta + raw : raw;
		last = way >= WAY_DELTA ? last + delta : raw;
		v[i] = last;
	}
	return at == end;
}

/* One series of nr values into v, or past it if v is NULL; -EBADMSG. */
static int series__get(struct cursor *c, uint64_t *v, size_t nr)
{
	uint64_t bytes;
	uint8_t way;

	c->why = "a series is cut short";
	if (c->at == c->end)
		return -EBADMSG;
	way = *c->at++;
	c->at = varint__get(c->at, c->end, &bytes);
	if (!c->at || bytes > (uint64_t)(c->end - c->at))
		return -EBADMSG;
	if (way >= NR_WAYS) {
		c->why = "a series is in a way that nobody knows";
		return -EBADMSG;
	}
	if (v && !series__values(c->at, c->at + bytes, (enum series_way)way, v, nr)) {
		c->why = "a series has another number of values than there are events";
		return -EBADMSG;
	}
	c->at += bytes;
	return 0;
}

static int unpacker__get_column(struct unpacker *u, struct cursor *c, enum pack_column column,
				bool wanted, struct event *out, size_t nr)
{
	size_t i;

	if (series__get(c, wanted ? u->column : NULL, nr))
		return -EBADMSG;
	for (i = 0; wanted && i < nr; i++) {
		if (column != PACK_T_NS && u->column[i] > UINT32_MAX) {
			c->why = "a kind, CPU or thread is larger than can be";
			return -EBADMSG;
		}
		column__set(&out[i], column, u->column[i]);
	}
	return 0;
}

static int unpacker__get_grouped(struct unpacker *u, struct cursor *c, enum pack_column column,
				 bool wanted, struct event *out, size_t nr, const size_t *begin)
{
	size_t at[NR_GROUPS], i;
	unsigned int g;

	memcpy(at, begin, sizeof(at));
	for (g = 0; g < NR_GROUPS; g++)
		if (begin[g + 1] > begin[g] &&
		    series__get(c, wanted ? u->column + begin[g] : NULL, begin[g + 1] - begin[g]))
			return -EBADMSG;
	for (i = 0; wanted && i < nr; i++)
		column__set(&out[i], column, u->column[at[group(out[i].kind)]++]);
	return 0;
}

static int unpacker__get_columns(struct unpacker *u, struct cursor *c, unsigned int columns,
				 struct event *out, size_t nr)
{
	size_t begin[NR_GROUPS + 1];
	unsigned int col;
	int err = 0;

	columns |= 1U << PACK_KIND;
	for (col = PACK_KIND; !err && col <= PACK_TID; col++)
		err = unpacker__get_column(u, c, (enum pack_column)col, columns & 1U << col, out, nr);
	if (!err)
		groups__count(out, nr, begin);
	for (; !err && col < PACK_NR_COLUMNS; col++)
		err = unpacker__get_grouped(u, c, (enum pack_column)col, columns & 1U << col, out, nr,
					    begin);
	if (!err && c->at != c->end) {
		c->why = "there is more than the columns";
		err = -EBADMSG;
	}
	return err;
}

struct unpacker *unpacker__new(void)
{
	struct unpacker *u = calloc(1, sizeof(*u));

	if (!u)
		return NULL;
	u->zstd = ZSTD_createDCtx();
	if (u->zstd)
		return u;
	unpacker__free(u);
	return NULL;
}

void unpacker__free(struct unpacker *u)
{
	if (!u)
		return;
	ZSTD_freeDCtx(u->zstd);
	free(u);
}

int unpacker__unpack(struct unpacker *u, const void *data, size_t size, size_t nr,
		     unsigned int columns, struct event *out, const char **why)
{
	const uint8_t *bytes = data;
	struct cursor c;
	size_t n;
	int err;

	*why = "the number of its events cannot be";
	if (!nr || nr > PACK__MAX_EVENTS)
		return -EBADMSG;
	*why = "it is no chunk of events";
	if (size < HEADER || bytes[0] != 'm' || bytes[1] != 'E')
		return -EBADMSG;
	*why = "it is of a format that this migrc does not know";
	if (bytes[2] != PACK__FORMAT)
		return -EBADMSG;
	n = ZSTD_decompressDCtx(u->zstd, u->content, sizeof(u->content), bytes + HEADER, size - HEADER);
	if (ZSTD_isError(n)) {
		*why = ZSTD_getErrorName(n);
		return -EBADMSG;
	}
	c = (struct cursor){ u->content, u->content + n, NULL };
	err = unpacker__get_columns(u, &c, columns, out, nr);
	*why = c.why;
	return err;
}
