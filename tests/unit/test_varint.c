/* SPDX-License-Identifier: MIT */
/* varint: numbers of every length come back, and a reader stops at what is cut or overlong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "wire/varint.h"

static void check(uint64_t v, size_t len)
{
	uint8_t bytes[VARINT_MAX];
	struct byte_reader r;
	size_t cut;

	assert_int_equal(varint_put(bytes, v) - bytes, len);
	reader_init(&r, bytes, len);
	assert_int_equal(reader_varint(&r), v);
	assert_false(r.bad);
	assert_int_equal(reader_left(&r), 0);
	for (cut = 0; cut < len; cut++) {
		reader_init(&r, bytes, cut);
		assert_int_equal(reader_varint(&r), 0);
		assert_true(r.bad);
	}
}

static void test_lengths(void **state)
{
	uint32_t bits;

	(void)state;
	check(0, 1);
	for (bits = 1; bits <= 64; bits++) {
		check(1ULL << (bits - 1), (bits + 6) / 7);
		check(UINT64_MAX >> (64 - bits), (bits + 6) / 7);
	}
}

static void check_signed(int64_t v)
{
	uint8_t bytes[VARINT_MAX], *end = varint_put_signed(bytes, v);
	struct byte_reader r;

	reader_init(&r, bytes, (size_t)(end - bytes));
	assert_true(reader_signed(&r) == v);
	assert_false(r.bad);
}

static void test_signed(void **state)
{
	uint32_t bits;

	(void)state;
	check_signed(0);
	for (bits = 0; bits < 63; bits++) {
		check_signed(1LL << bits);
		check_signed(-(1LL << bits));
	}
	check_signed(INT64_MAX);
	check_signed(INT64_MIN);
}

/* The vectors of docs/format/wire.md, section 2. */
static void test_vectors(void **state)
{
	static const uint8_t v300[] = { 0xac, 0x02 };
	static const uint8_t most[] = {
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01
	};
	uint8_t bytes[VARINT_MAX];

	(void)state;
	assert_int_equal(varint_put(bytes, 300) - bytes, sizeof(v300));
	assert_memory_equal(bytes, v300, sizeof(v300));
	assert_int_equal(varint_put(bytes, UINT64_MAX) - bytes, sizeof(most));
	assert_memory_equal(bytes, most, sizeof(most));
	varint_put_signed(bytes, -1);
	assert_int_equal(bytes[0], 1);
	varint_put_signed(bytes, 1);
	assert_int_equal(bytes[0], 2);
}

/* More than 64 bits: eleven bytes, or a tenth with more than its one bit. */
static void test_overlong(void **state)
{
	uint8_t bytes[12];
	struct byte_reader r;

	(void)state;
	memset(bytes, 0x80, sizeof(bytes));
	bytes[11] = 0;
	reader_init(&r, bytes, sizeof(bytes));
	assert_int_equal(reader_varint(&r), 0);
	assert_true(r.bad);
	memset(bytes, 0xff, sizeof(bytes));
	bytes[9] = 2;
	reader_init(&r, bytes, sizeof(bytes));
	reader_varint(&r);
	assert_true(r.bad);
	/* After that it reads nothing more, and says so. */
	assert_int_equal(reader_left(&r), 0);
	assert_null(reader_bytes(&r, 1));
}

static void test_bytes(void **state)
{
	static const uint8_t in[] = "abcdef";
	struct byte_reader r;
	uint8_t out[8];

	(void)state;
	reader_init(&r, in, 6);
	assert_ptr_equal(reader_bytes(&r, 4), in);
	assert_null(reader_bytes(&r, UINT64_MAX));
	assert_true(r.bad);
	put_le64(out, 0x0102030405060708ULL);
	assert_int_equal(out[0], 8);
	assert_int_equal(out[7], 1);
	assert_true(get_le64(out) == 0x0102030405060708ULL);
	assert_int_equal(get_le32(out), 0x05060708);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lengths), cmocka_unit_test(test_signed),
		cmocka_unit_test(test_vectors), cmocka_unit_test(test_overlong),
		cmocka_unit_test(test_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
