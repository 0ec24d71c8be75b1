/* SPDX-License-Identifier: MIT */
/* guest_message: by the vector of docs/format/guest.md, in both directions; and what is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tools/vector.h"
#include "wire/guest_message.h"
#include "wire/sample_meta_encode.h"

#define ROOM (2U * GUEST_FRAME_MAX)
#define ADDRESS 0xffff800080010000ULL

static struct vector vector;
static uint8_t made[ROOM], wanted[ROOM];
static const struct guest_id id = { 4, { 0x8d, 0x7f, 0x1c, 0x0e } };

/* The next frame of the vector is what was made; *ret is it. */
static void expect(const uint8_t *end, struct frame *ret)
{
	size_t len = (size_t)(end - made), wanted_len = vector_bytes(&vector, wanted, ROOM), i;

	if (len != wanted_len || memcmp(made, wanted, len) != 0) {
		for (i = 0; i < len; i++)
			fprintf(stderr, "%02x", made[i]);
		fputc('\n', stderr);
		fail_msg("guest.hex: other bytes than the vector's; made were those above");
	}
	assert_int_equal(guest_frame_decode(wanted, wanted_len, ret), WIRE_OK);
	assert_int_equal(ret->len, wanted_len);
}

static void expect_number(enum guest_frame type, uint64_t v)
{
	struct frame f;
	uint64_t got;

	expect(guest_put_number(made, type, v), &f);
	assert_int_equal(f.type, type);
	assert_true(guest_get_number(&f, &got));
	assert_true(got == v);
}

static void expect_hello(void)
{
	struct guest_hello m = { .version = 1,
				 .can = GUEST_CAN_EVENTS | GUEST_CAN_TABLES,
				 .kernel = { "6.1.0", 5 },
				 .machine = { "aarch64", 7 },
				 .name = { "g1", 2 } };
	struct guest_hello got;
	struct frame f;
	uint8_t i;

	for (i = 0; i < GUEST_UUID_LEN; i++)
		m.uuid[i] = (uint8_t)(0x10 + i);
	expect(guest_put_hello(made, &m), &f);
	assert_true(guest_get_hello(&f, &got));
	assert_int_equal(got.version, 1);
	assert_int_equal(got.can, 3);
	assert_memory_equal(got.uuid, m.uuid, GUEST_UUID_LEN);
	assert_int_equal(got.name.len, 2);
	assert_memory_equal(got.name.at, "g1", 2);
}

static void expect_row(const struct sample_table_row *row)
{
	uint8_t *body = guest_frame_begin(made, GUEST_ROWS), *item, *end;
	struct frame f;

	item = meta_item_begin(body, META_TABLES);
	end = meta_item_end(item, sample_meta_put_table(item, row));
	expect(guest_frame_end(body, end), &f);
}

/* A thread of arm64; a kernel thread of x86, which has no table, and its stack for a task. */
static void expect_rows(void)
{
	static const struct sample_table_row rows[] = { { .pid = 812,
							  .tid = 813,
							  .tick = 5000000,
							  .table = 0x41003000,
							  .task = 0xffff000003a40000,
							  .comm = "worker",
							  .comm_len = 6 },
							{ .pid = 7,
							  .tid = 7,
							  .tick = 5000000,
							  .task = 0xffffc90000054000,
							  .comm = "kworker",
							  .comm_len = 7 } };

	expect_row(&rows[0]);
	expect_row(&rows[1]);
}

static void test_vector(void **state)
{
	struct guest_object object = {
		.id = id, .size = 6, .offset = 4, .bytes = (const uint8_t *)"lf", .len = 2
	};
	struct guest_names names = { 2, { ADDRESS, ADDRESS + 0x1000 } }, got_names;
	struct guest_pong pong = { 7, 123456789 }, got_pong;
	struct guest_object got_object;
	struct guest_id got_id;
	struct frame f;

	(void)state;
	vector_open(&vector, "guest.hex");
	expect_hello();
	expect_number(GUEST_PING, 7);
	expect(guest_put_pong(made, &pong), &f);
	assert_true(guest_get_pong(&f, &got_pong));
	assert_true(got_pong.number == 7 && got_pong.ns == 123456789);
	expect_number(GUEST_WELCOME, GUEST_VERSION);
	expect_rows();
	expect_number(GUEST_MISSED, 6000000);
	expect(guest_put_names(made, &names), &f);
	assert_true(guest_get_names(&f, &got_names));
	assert_int_equal(got_names.n, 2);
	assert_true(got_names.address[1] == ADDRESS + 0x1000);
	expect(guest_put_fetch(made, &id), &f);
	assert_true(guest_get_fetch(&f, &got_id));
	assert_int_equal(got_id.len, 4);
	expect(guest_put_object(made, &object), &f);
	assert_true(guest_get_object(&f, &got_object));
	assert_true(got_object.size == 6 && got_object.offset == 4 && got_object.len == 2);
	object = (struct guest_object){ .id = id };
	expect(guest_put_object(made, &object), &f);
	assert_true(guest_get_object(&f, &got_object));
	assert_int_equal(got_object.size, 0);
	assert_int_equal(vector_bytes(&vector, wanted, ROOM), 0);
}

static void cut(const uint8_t *end, bool (*get)(const struct frame *f))
{
	struct frame f;

	assert_int_equal(guest_frame_decode(made, (size_t)(end - made), &f), WIRE_OK);
	assert_true(get(&f));
	while (f.body_len) {
		f.body_len--;
		if (get(&f))
			fail_msg("a body that is cut at %u was taken", f.body_len);
	}
}

static bool get_hello(const struct frame *f)
{
	struct guest_hello m;

	return guest_get_hello(f, &m);
}

static bool get_pong(const struct frame *f)
{
	struct guest_pong m;

	return guest_get_pong(f, &m);
}

static bool get_fetch(const struct frame *f)
{
	struct guest_id m;

	return guest_get_fetch(f, &m);
}

static void test_cut(void **state)
{
	struct guest_hello hello = { .version = 1, .name = { "a", 1 } };
	struct guest_pong pong = { 300, 70000 };

	(void)state;
	cut(guest_put_hello(made, &hello), get_hello);
	cut(guest_put_pong(made, &pong), get_pong);
	cut(guest_put_fetch(made, &id), get_fetch);
}

static void test_bounds(void **state)
{
	struct guest_object object = { .id = id, .size = 10, .offset = 8, .len = 3, .bytes = made };
	struct guest_names names = { 0, { 0 } };
	struct guest_id long_id;
	struct frame f;
	uint8_t head[] = { 1, 0x81, 0x40 }; /* 8193 */
	uint8_t bytes[GUEST_NAMES_MAX + 1];

	(void)state;
	assert_int_equal(guest_frame_decode(head, sizeof(head), &f), WIRE_CORRUPT);
	head[1] = 0x80;
	assert_int_equal(guest_frame_decode(head, sizeof(head), &f), WIRE_MORE);
	f = (struct frame){ .type = GUEST_NAMES, .body = bytes, .body_len = GUEST_NAMES_MAX };
	memset(bytes, 1, sizeof(bytes));
	assert_true(guest_get_names(&f, &names));
	f.body_len++;
	assert_false(guest_get_names(&f, &names));
	bytes[0] = SAMPLE_BUILD_ID_MAX + 1;
	assert_false(guest_get_fetch(&f, &long_id));
	bytes[0] = 0;
	assert_false(guest_get_fetch(&f, &long_id));
	/* A piece that goes beyond the end, one of nothing, and a file that is too large. */
	guest_frame_decode(made, (size_t)(guest_put_object(made, &object) - made), &f);
	assert_false(guest_get_object(&f, &object));
	object = (struct guest_object){ .id = id, .size = 10 };
	guest_frame_decode(made, (size_t)(guest_put_object(made, &object) - made), &f);
	assert_false(guest_get_object(&f, &object));
	object = (struct guest_object){
		.id = id, .size = GUEST_OBJECT_MAX + 1, .len = 1, .bytes = bytes
	};
	guest_frame_decode(made, (size_t)(guest_put_object(made, &object) - made), &f);
	assert_false(guest_get_object(&f, &object));
}

/* In place of the empty name at the end of a message, one that is longer than any. */
static uint8_t *put_long_name(uint8_t *end, const char text[GUEST_TEXT_MAX + 1])
{
	uint8_t *p = varint_put(end - 1, GUEST_TEXT_MAX + 1);

	memcpy(p, text, GUEST_TEXT_MAX + 1);
	return p + GUEST_TEXT_MAX + 1;
}

/* What a hostile guest may write into its first message. */
static void test_bounds_hello(void **state)
{
	struct guest_hello hello = { .version = 1 }, got;
	char text[GUEST_TEXT_MAX + 1];
	struct frame f;
	uint8_t *end;

	(void)state;
	memset(text, 'x', sizeof(text));
	hello.name = (struct guest_text){ text, sizeof(text) }; /* what is too long is cut */
	end = guest_put_hello(made, &hello);
	assert_int_equal(guest_frame_decode(made, (size_t)(end - made), &f), WIRE_OK);
	assert_true(guest_get_hello(&f, &got));
	assert_int_equal(got.name.len, GUEST_TEXT_MAX);
	made[GUEST_HEAD_LEN] = 'k'; /* another magic */
	assert_false(guest_get_hello(&f, &got));
	hello.version = 0;
	end = guest_put_hello(made, &hello);
	guest_frame_decode(made, (size_t)(end - made), &f);
	assert_false(guest_get_hello(&f, &got));
	hello.version = 1;
	hello.name.len = 0;
	end = guest_put_hello(made, &hello);
	end = put_long_name(end, text);
	f.body_len = (uint32_t)(end - f.body);
	assert_false(guest_get_hello(&f, &got));
}

/* A version of more than 32 bits is none of ours. */
static void test_wide_version(void **state)
{
	static const uint8_t head[] = { 'K', 'S', 'K', 'G', 0x80, 0x80, 0x80, 0x80, 0x10 };
	uint8_t body[sizeof(head) + 1 + GUEST_UUID_LEN + 3] = { 0 };
	struct frame f = { .type = GUEST_HELLO, .body = body, .body_len = sizeof(body) };
	struct guest_hello got;

	(void)state;
	memcpy(body, head, sizeof(head));
	assert_false(guest_get_hello(&f, &got));
	body[8] = 0x0f;
	assert_true(guest_get_hello(&f, &got));
	assert_int_equal(got.version, 0xf0000000);
}

static bool get_object(const struct guest_object *object)
{
	struct guest_object got;
	struct frame f;
	uint8_t *end = guest_put_object(made, object);

	f = (struct frame){ .body = made + GUEST_HEAD_LEN,
			    .body_len = (uint32_t)(end - made) - GUEST_HEAD_LEN };
	return guest_get_object(&f, &got);
}

/* Pieces that lie behind the file, are longer than any, or whose numbers are cut. */
static void test_bounds_object(void **state)
{
	static uint8_t bytes[GUEST_PIECE_MAX + 1];
	struct guest_object object = {
		.id = id, .size = GUEST_PIECE_MAX + 1, .bytes = bytes, .len = GUEST_PIECE_MAX
	};
	uint8_t cut[] = { 1, 0xab, 5, 0x80 };
	struct frame f = { .body = cut, .body_len = sizeof(cut) };

	(void)state;
	assert_true(get_object(&object));
	object.len++;
	assert_false(get_object(&object));
	object =
		(struct guest_object){ .id = id, .size = 4, .offset = 5, .len = 1, .bytes = bytes };
	assert_false(get_object(&object));
	assert_false(guest_get_object(&f, &object));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vector),	     cmocka_unit_test(test_cut),
		cmocka_unit_test(test_bounds),	     cmocka_unit_test(test_bounds_hello),
		cmocka_unit_test(test_wide_version), cmocka_unit_test(test_bounds_object),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
