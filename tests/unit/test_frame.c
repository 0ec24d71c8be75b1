/* SPDX-License-Identifier: MIT */
/* frame and bits: what is written is read, cut input asks for more, garbage is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "wire/bits.h"
#include "wire/frame.h"

static void test_round_trip(void **state)
{
	static const uint32_t lens[] = { 0, 1, 127, 128, 16383, 16384, 60000 };
	static uint8_t buffer[FRAME_HEAD_MAX + 60000];
	struct frame f;
	uint32_t head, i, cut;

	(void)state;
	for (i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		head = frame_encode_head(buffer, 63, lens[i]);
		assert_true(head <= FRAME_HEAD_MAX);
		memset(buffer + head, 0xa5, lens[i]);
		assert_int_equal(frame_decode(buffer, head + lens[i], &f), WIRE_OK);
		assert_int_equal(f.type, 63);
		assert_int_equal(f.body_len, lens[i]);
		assert_int_equal(f.len, head + lens[i]);
		assert_ptr_equal(f.body, buffer + head);
		for (cut = 0; cut < head + lens[i]; cut += cut < 20 ? 1 : 997)
			assert_int_equal(frame_decode(buffer, cut, &f), WIRE_MORE);
	}
}

static void test_garbage(void **state)
{
	static const uint8_t zero_type[] = { 0, 0 };
	static const uint8_t high_type[] = { 128, 0 };
	static const uint8_t too_long[] = { 1, 0xff, 0xff, 0xff, 0xff, 0x0f };
	static const uint8_t endless[] = { 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	struct frame f;

	(void)state;
	assert_int_equal(frame_decode(zero_type, 2, &f), WIRE_CORRUPT);
	assert_int_equal(frame_decode(high_type, 2, &f), WIRE_CORRUPT);
	assert_int_equal(frame_decode(too_long, 6, &f), WIRE_CORRUPT);
	assert_int_equal(frame_decode(endless, 7, &f), WIRE_CORRUPT);
	assert_int_equal(frame_decode(endless, 5, &f), WIRE_MORE);
}

static void test_largest(void **state)
{
	uint8_t head[FRAME_HEAD_MAX];
	struct frame f;
	uint32_t n = frame_encode_head(head, FRAME_BLOCK, FRAME_BODY_MAX);

	(void)state;
	assert_int_equal(frame_decode(head, n, &f), WIRE_MORE);
	assert_int_equal(f.len, n + FRAME_BODY_MAX);
	n = frame_encode_head(head, FRAME_BLOCK, FRAME_BODY_MAX + 1);
	assert_int_equal(frame_decode(head, n, &f), WIRE_CORRUPT);
}

static void test_bits(void **state)
{
	static const uint8_t expected[] = { 0x6b, 0x40 }; /* 01101 011010 and five zeros */
	uint8_t out[32];
	struct bit_writer w;
	struct bit_reader r;

	(void)state;
	bit_writer_init(&w, out, sizeof(out));
	bit_writer_put(&w, 13, 5);
	bit_writer_put(&w, 26, 6);
	assert_int_equal(bit_writer_len(&w), 2);
	assert_memory_equal(out, expected, 2);
	bit_writer_put(&w, UINT64_MAX - 1, 64);
	bit_reader_init(&r, out, bit_writer_len(&w));
	assert_int_equal(bit_reader_get(&r, 5), 13);
	assert_int_equal(bit_reader_get(&r, 6), 26);
	assert_true(bit_reader_get(&r, 64) == UINT64_MAX - 1);
	assert_int_equal(bit_reader_get(&r, 5), 0); /* the rest of the last byte */
	assert_false(r.bad);
	assert_int_equal(bit_reader_get(&r, 1), 0);
	assert_true(r.bad);
	bit_writer_init(&w, out, 1);
	bit_writer_put(&w, 1, 9);
	assert_true(w.bad);
	assert_int_equal(bit_writer_len(&w), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_largest),
		cmocka_unit_test(test_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
