/* SPDX-License-Identifier: MIT */
/* crc32c: the published check value and the vectors of RFC 3720, section B.4. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "wire/crc32c.h"

static void test_vectors(void **state)
{
	static const uint8_t read_command[48] = {
		0x01, 0xc0, 0, 0, 0, 0, 0,    0, 0,    0, 0, 0,	   0, 0, 0, 0,
		0x14, 0,    0, 0, 0, 0, 0x04, 0, 0,    0, 0, 0x14, 0, 0, 0, 0x18,
		0x28, 0,    0, 0, 0, 0, 0,    0, 0x02, 0, 0, 0,	   0, 0, 0, 0,
	};
	uint8_t bytes[32];
	uint32_t i;

	(void)state;
	assert_int_equal(crc32c_add(0, "123456789", 9), 0xe3069283);
	assert_int_equal(crc32c_add(0, "", 0), 0);
	memset(bytes, 0, sizeof(bytes));
	assert_int_equal(crc32c_add(0, bytes, 32), 0x8a9136aa);
	memset(bytes, 0xff, sizeof(bytes));
	assert_int_equal(crc32c_add(0, bytes, 32), 0x62a8ab43);
	for (i = 0; i < 32; i++)
		bytes[i] = (uint8_t)i;
	assert_int_equal(crc32c_add(0, bytes, 32), 0x46dd794e);
	for (i = 0; i < 32; i++)
		bytes[i] = (uint8_t)(31 - i);
	assert_int_equal(crc32c_add(0, bytes, 32), 0x113fdb5c);
	assert_int_equal(crc32c_add(0, read_command, sizeof(read_command)), 0xd9963a56);
}

/* In pieces it is the same, wherever they are cut and however they are aligned. */
static void test_pieces(void **state)
{
	uint8_t bytes[300];
	uint32_t i, cut, whole;

	(void)state;
	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 167 + 13);
	for (i = 0; i < 8; i++) {
		whole = crc32c_add(0, bytes + i, 290);
		for (cut = 0; cut <= 290; cut++)
			assert_int_equal(crc32c_add(crc32c_add(0, bytes + i, cut), bytes + i + cut,
						    290 - cut),
					 whole);
	}
}

/* Long input goes another way than short: byte by byte it must come to the same. */
static void test_long(void **state)
{
	static uint8_t bytes[5000];
	uint32_t i, from, len, slow;

	(void)state;
	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * i >> 3 ^ i);
	for (from = 0; from < 9; from++)
		for (len = 2040; len < 2070; len++) {
			for (i = slow = 0; i < len; i++)
				slow = crc32c_add(slow, bytes + from + i, 1);
			assert_int_equal(crc32c_add(0, bytes + from, len), slow);
			assert_int_equal(crc32c_add(slow, bytes, sizeof(bytes)),
					 crc32c_add(crc32c_add(slow, bytes, 100), bytes + 100,
						    sizeof(bytes) - 100));
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
