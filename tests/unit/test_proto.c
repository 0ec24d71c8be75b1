/* SPDX-License-Identifier: MIT */
/* The protobuf writer: bytes as the encoding rules of protocol buffers give them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "convert/proto.h"

static void test_varints(void **state)
{
	static const uint8_t expected[] = {
		0x08, 0x00,							  /* 1: 0 */
		0x10, 0x96, 0x01,						  /* 2: 150 */
		0x88, 0x16, 0x7f,						  /* 353: 127 */
		0x18, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, /* 3: -1 */
	};
	uint8_t buffer[64];
	struct proto p = { .data = buffer, .room = sizeof(buffer) };

	(void)state;
	proto_uint(&p, 1, 0);
	proto_uint(&p, 2, 150);
	proto_uint(&p, 353, 127);
	proto_int(&p, 3, -1);
	assert_false(p.full);
	assert_int_equal(p.len, sizeof(expected));
	assert_memory_equal(buffer, expected, sizeof(expected));
}

static void test_nesting(void **state)
{
	static const uint8_t expected[] = {
		0x0a, 0x87, 0x80, 0x80, 0x00, /* length 7 in four bytes */
		0x12, 0x05,		      /* length 5 in one */
		0x0a, 0x03, 'a',  'b',	'c',
	};
	uint8_t buffer[64];
	struct proto p = { .data = buffer, .room = sizeof(buffer) };
	size_t outer, inner;

	(void)state;
	outer = proto_begin(&p, 1, 4);
	inner = proto_begin(&p, 2, 1);
	proto_text(&p, 1, "abc");
	proto_end(&p, inner, 1);
	proto_end(&p, outer, 4);
	assert_false(p.full);
	assert_int_equal(p.len, sizeof(expected));
	assert_memory_equal(buffer, expected, sizeof(expected));
}

static void test_full(void **state)
{
	uint8_t buffer[32];
	struct proto p = { .data = buffer, .room = 24 };
	size_t mark;

	(void)state;
	memset(buffer, 0x55, sizeof(buffer));
	proto_text(&p, 1, "more than fits into so little room");
	assert_true(p.full);
	proto_uint(&p, 1, UINT64_MAX);
	assert_true(p.len <= 24);
	assert_int_equal(buffer[24], 0x55);

	/* A length that its width cannot say is a failure, not a wrong length. */
	p = (struct proto){ .data = (uint8_t[300]){ 0 }, .room = 300 };
	mark = proto_begin(&p, 1, 1);
	proto_bytes(&p, 1, buffer, 32);
	proto_bytes(&p, 1, buffer, 32);
	proto_bytes(&p, 1, buffer, 32);
	proto_bytes(&p, 1, buffer, 32);
	proto_end(&p, mark, 1);
	assert_true(p.full);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_varints),
		cmocka_unit_test(test_nesting),
		cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
