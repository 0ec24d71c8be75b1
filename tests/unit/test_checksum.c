/* SPDX-License-Identifier: MIT */
/* checksum: the same as the table's for every length and alignment; blocks as block_decode has them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "store/checksum.h"
#include "wire/crc32c.h"

static uint8_t data[5000];

static void test_same(void **state)
{
	size_t len, at;

	(void)state;
	srandom(1);
	for (at = 0; at < sizeof(data); at++)
		data[at] = (uint8_t)random();
	assert_int_equal(checksum_crc32c(0, "123456789", 9), 0xe3069283U);
	for (at = 0; at < 16; at++)
		for (len = 0; len < 100; len++)
			assert_int_equal(checksum_crc32c((uint32_t)at * 77, data + at, len),
					 crc32c_add((uint32_t)at * 77, data + at, len));
	assert_int_equal(checksum_crc32c(0, data, sizeof(data)), crc32c_add(0, data, sizeof(data)));
}

static void test_block(void **state)
{
	struct block b = {
		.codec = CODEC_SCHED, .flags = BLOCK_KEY, .stream = 3, .payload_len = 900
	};
	struct block back;
	uint8_t *bytes;
	uint32_t len, i;

	(void)state;
	bytes = block_encode(&b, data + BLOCK_HEADER_MAX, &len);
	assert_int_equal(checksum_decode_block(bytes, len, &back), WIRE_OK);
	assert_int_equal(back.stream, 3);
	assert_int_equal(back.len, len);
	for (i = 0; i < len; i++) {
		assert_int_equal(checksum_decode_block(bytes, i, &back), WIRE_MORE);
		bytes[i] ^= 4;
		assert_int_equal(checksum_decode_block(bytes, len, &back),
				 block_decode(bytes, len, &back));
		bytes[i] ^= 4;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_block),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
