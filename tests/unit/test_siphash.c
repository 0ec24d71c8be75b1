/* SPDX-License-Identifier: MIT */
/* siphash: as others compute it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/siphash.h"

/* The first two of the vectors that came with the reference implementation. */
static void makes_the_long_one(void **state)
{
	static const uint8_t wanted[2][16] = {
		{ 0xa3, 0x81, 0x7f, 0x04, 0xba, 0x25, 0xa8, 0xe6, 0x6d, 0xf6, 0x72, 0x14, 0xc7,
		  0x55, 0x02, 0x93 },
		{ 0xda, 0x87, 0xc1, 0xd8, 0x6b, 0x99, 0xaf, 0x44, 0x34, 0x76, 0x59, 0x11, 0x9b,
		  0x22, 0xfc, 0x45 },
	};
	uint8_t key[16], got[16];
	unsigned int i;

	(void)state;
	for (i = 0; i < 16; i++)
		key[i] = (uint8_t)i;
	for (i = 0; i < 2; i++) {
		siphash128(got, key, "", i);
		assert_memory_equal(got, wanted[i], 16);
	}
}

/* The first two of the short ones, and the example of the paper. */
static void makes_the_short_one(void **state)
{
	uint8_t key[16];
	unsigned int i;

	(void)state;
	for (i = 0; i < 16; i++)
		key[i] = (uint8_t)i;
	assert_true(siphash64(key, "", 0) == 0x726fdb47dd0e0e31ULL);
	assert_true(siphash64(key, "", 1) == 0x74f839c593dc67fdULL);
	assert_true(siphash64(key, key, 15) == 0xa129ca6149be45e5ULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(makes_the_long_one),
		cmocka_unit_test(makes_the_short_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
