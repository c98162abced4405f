// SPDX-License-Identifier: GPL-2.0-or-later
/* Raw events packed: nothing is lost, and nothing that is damaged is believed. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "collector/pack.h"

static struct event in[PACK__MAX_EVENTS], out[PACK__MAX_EVENTS];

static uint64_t next_random(void)
{
	static uint64_t x = 88172645463325252ULL;

	x ^= x << 13;
	x ^= x >> 7;
	return x ^= x << 17;
}

/* Pack, unpack, compare; the size. A copy of the chunk if the caller wants one. */
static size_t round_trip(size_t nr, uint8_t **copy)
{
	struct unpacker *u = unpacker__new();
	struct packer *p = packer__new();
	struct pack_info info;
	const void *data;
	const char *why = "";
	size_t size, i;

	assert_non_null(u);
	assert_non_null(p);
	assert_int_equal(packer__pack(p, in, nr, &data, &size, &info), 0);
	memset(out, 0, sizeof(out));
	if (unpacker__unpack(u, data, size, nr, PACK__ALL, out, &why))
		fail_msg("%zu events: %s", nr, why);
	assert_memory_equal(in, out, nr * sizeof(*in));
	for (i = 0; i < nr; i++) {
		assert_true(info.first_ns <= (int64_t)in[i].t_ns);
		assert_true(info.last_ns >= (int64_t)in[i].t_ns);
		assert_true(info.kinds & pack__kind_bit(in[i].kind));
	}
	if (copy) {
		*copy = malloc(size);
		memcpy(*copy, data, size);
	}
	packer__free(p);
	unpacker__free(u);
	return size;
}

/* As they come from a migration: a page every 8 us, a flush at its end. */
static void make_typical(size_t nr)
{
	uint64_t t = 20167947008;
	size_t i;

	for (i = 0; i < nr; i++) {
		t += 8000 + next_random() % 600;
		in[i] = (struct event){ .t_ns = t, .cpu = (uint32_t)(i / 500 % 4), .tid = 102,
					.kind = PROBE_TRY_TO_MIGRATE,
					.a = 3800 + next_random() % 400, .b = 64 };
		if (i % 512 == 511)
			in[i] = (struct event){ .t_ns = t, .cpu = 1, .tid = 102,
						.kind = PROBE_TLBBATCH_FLUSH, .a = 70000,
						.b = UINT64_MAX, .c = 1, .d = UINT64_MAX };
	}
}

static void test_typical(void **state)
{
	size_t size;

	(void)state;
	make_typical(PACK__MAX_EVENTS);
	size = round_trip(PACK__MAX_EVENTS, NULL);
	assert_true(size < PACK__MAX_EVENTS * 4);
}

/* Every length around the edges, every value that may be: also those that no probe makes. */
static void test_any_values(void **state)
{
	static const uint64_t edges[] = { 0, 1, 63, 64, 127, 128, INT64_MAX, 1ULL << 63, UINT64_MAX,
					  UINT64_MAX - 1 };
	static const size_t lengths[] = { 1, 2, 3, 63, 64, 65, 1000, PACK__MAX_EVENTS - 1,
					  PACK__MAX_EVENTS };
	size_t k, i;

	(void)state;
	for (k = 0; k < 2 * sizeof(lengths) / sizeof(lengths[0]); k++) {
		for (i = 0; i < PACK__MAX_EVENTS; i++) {
			uint64_t r = next_random();

			in[i] = (struct event){
				.t_ns = edges[r % 10], .cpu = (uint32_t)edges[r / 10 % 10],
				.tid = (uint32_t)edges[r / 100 % 10],
				.kind = k % 2 ? (uint32_t)next_random() : (uint32_t)(r % 70),
				.a = edges[r / 1000 % 10], .b = next_random(),
				.c = next_random() >> r % 64, .d = i,
			};
		}
		round_trip(lengths[k / 2], NULL);
	}
}

static void test_numbers_of_events(void **state)
{
	struct packer *p = packer__new();
	struct pack_info info;
	const void *data;
	size_t size;

	(void)state;
	assert_int_equal(packer__pack(p, in, 0, &data, &size, &info), -EINVAL);
	assert_int_equal(packer__pack(p, in, PACK__MAX_EVENTS + 1, &data, &size, &info), -EINVAL);
	packer__free(p);
}

/* Asked for some columns, the others are not touched. */
static void test_columns(void **state)
{
	struct unpacker *u = unpacker__new();
	const char *why;
	uint8_t *chunk;
	size_t size, i;

	(void)state;
	make_typical(2000);
	size = round_trip(2000, &chunk);
	memset(out, 0xee, sizeof(out));
	assert_int_equal(unpacker__unpack(u, chunk, size, 2000, 1U << PACK_A, out, &why), 0);
	for (i = 0; i < 2000; i++) {
		assert_int_equal(out[i].a, in[i].a);
		assert_int_equal(out[i].kind, in[i].kind);
		assert_int_equal(out[i].t_ns, 0xeeeeeeeeeeeeeeee);
		assert_int_equal(out[i].d, 0xeeeeeeeeeeeeeeee);
	}
	free(chunk);
	unpacker__free(u);
}

/* Cut anywhere, or with any byte changed, or of another length: an error with words, never events. */
static void test_damaged(void **state)
{
	struct unpacker *u = unpacker__new();
	size_t size, i, nr = 600;
	const char *why;
	uint8_t *chunk, old;

	(void)state;
	make_typical(nr);
	size = round_trip(nr, &chunk);
	for (i = 0; i < size; i++) {
		uint8_t *cut = malloc(i ? i : 1);

		memcpy(cut, chunk, i);
		why = NULL;
		assert_int_equal(unpacker__unpack(u, cut, i, nr, PACK__ALL, out, &why), -EBADMSG);
		assert_non_null(why);
		free(cut);
		old = chunk[i];
		chunk[i] ^= (uint8_t)(1 << i % 8);
		/* A bit or two of zstd's own header mean nothing. */
		if (!unpacker__unpack(u, chunk, size, nr, PACK__ALL, out, &why))
			assert_memory_equal(in, out, nr * sizeof(*in));
		chunk[i] = old;
	}
	assert_int_equal(unpacker__unpack(u, chunk, size, nr - 1, PACK__ALL, out, &why), -EBADMSG);
	assert_int_equal(unpacker__unpack(u, chunk, size, nr + 1, PACK__ALL, out, &why), -EBADMSG);
	assert_int_equal(unpacker__unpack(u, chunk, size, 0, PACK__ALL, out, &why), -EBADMSG);
	assert_int_equal(unpacker__unpack(u, chunk, size, SIZE_MAX, PACK__ALL, out, &why), -EBADMSG);
	chunk[2] = PACK__FORMAT + 1;
	assert_int_equal(unpacker__unpack(u, chunk, size, nr, PACK__ALL, out, &why), -EBADMSG);
	assert_non_null(strstr(why, "format"));
	free(chunk);
	unpacker__free(u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_typical),
		cmocka_unit_test(test_any_values),
		cmocka_unit_test(test_numbers_of_events),
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
