/* SPDX-License-Identifier: MIT */
/* bits: numbers of any width come back; who runs out of room or bits says so, changes nothing more and reads zeros. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "wire/bits.h"

static void test_there_and_back(void **state)
{
	uint8_t bytes[300];
	struct bit_writer w;
	struct bit_reader r;
	uint32_t n;

	(void)state;
	bit_writer_init(&w, bytes, sizeof(bytes));
	for (n = 1; n <= 64; n++)
		bit_writer_put(&w, 0x123456789abcdef7, n); /* its low bits, whatever is above */
	assert_false(w.bad);
	assert_int_equal(bit_writer_len(&w), 65 * 32 / 8);
	bit_reader_init(&r, bytes, bit_writer_len(&w));
	for (n = 1; n <= 64; n++)
		assert_true(bit_reader_get(&r, n) == (0x123456789abcdef7 & UINT64_MAX >> (64 - n)));
	assert_false(r.bad);
	assert_true(r.at == r.len);
}

static void test_no_room(void **state)
{
	uint8_t bytes[] = { 0, 0xee };
	struct bit_writer w;
	struct bit_reader r;

	(void)state;
	bit_writer_init(&w, bytes, 1);
	bit_writer_put(&w, 5, 3);
	bit_writer_put(&w, 63, 6); /* one too many: none of them */
	assert_true(w.bad);
	bit_writer_put(&w, 1, 1); /* there would be room, but it is too late */
	assert_int_equal(w.at, 3);
	assert_int_equal(bytes[0], 0xa0);
	assert_int_equal(bytes[1], 0xee);
	bit_reader_init(&r, bytes, 1);
	assert_int_equal(bit_reader_get(&r, 3), 5);
	assert_int_equal(bit_reader_get(&r, 6), 0);
	assert_true(r.bad);
	assert_int_equal(bit_reader_get(&r, 1), 0);
	assert_int_equal(r.at, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_there_and_back),
		cmocka_unit_test(test_no_room),
	};

	return cmocka_run_group_tests_name("bits", tests, NULL, NULL);
}
