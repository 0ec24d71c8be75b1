/* SPDX-License-Identifier: MIT */
/*
 * session: who may not have what it asks for: frames that only a collector sends, more runs than there is room for, and ENROLL where
 * nobody waits for a certificate.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tools/session_talk.h"

static void test_instruction_too_early(void **state)
{
	const struct message_instruction m = { .id = 1 };

	(void)state;
	session_instruct(&session, &m);
	session_resume(&session, &now); /* nothing was stalled */
	expect_nothing();
}

static void test_limit_of_runs(void **state)
{
	(void)state;
	owner.n_runs = OWNER_RUNS;
	say_hello(1, 1);
	expect_welcome(0);
	say_run(10);
	say_block(1, 0, 0, 10);
	expect_bye(BYE_LIMIT, "too many runs");
}

static void say_description(const char *payload, uint32_t payload_len)
{
	struct block b = { .codec = CODEC_META,
			   .flags = BLOCK_KEY,
			   .stream = STREAM_META,
			   .payload_len = payload_len };
	uint32_t len;
	uint8_t *bytes;

	memcpy(room + BLOCK_HEADER_MAX, payload, payload_len);
	bytes = block_encode(&b, room + BLOCK_HEADER_MAX, &len);
	send_frame(FRAME_BLOCK, bytes, len);
}

/* A description that no reader will understand makes no run and is not put. */
static void test_description(void **state)
{
	come_in();
	say_run(10);
	say_description("\x01\x01x", 3);
	assert_int_equal(owner.n_runs, 1);
	assert_int_equal(owner.puts, 1);
	finish(state);
	begin(state);
	come_in();
	say_run(10);
	say_description("\x01\x01x\x05", 4);
	expect_bye(BYE_PROTOCOL, "the item at offset 3 of the description is cut short");
	assert_int_equal(owner.n_runs, 0);
	assert_int_equal(owner.puts, 0);
}

static void test_collectors_frames(void **state)
{
	static const uint32_t types[] = { FRAME_ACK,	     FRAME_WELCOME, FRAME_PING,
					  FRAME_INSTRUCTION, FRAME_WANT,    FRAME_CERTIFICATE };
	size_t i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++, finish(state), begin(state)) {
		come_in();
		send_frame(types[i], (const uint8_t *)"\1", 1);
		expect_bye(BYE_PROTOCOL, "which only a collector");
	}
}

static int enroll_busy(void *o, const struct message_enroll *m, struct message_certificate *ret,
		       struct error *e)
{
	(void)o;
	(void)m;
	(void)ret;
	return error_set(e, EAGAIN, "no time for it");
}

static void test_enroll_behind_hello(void **state)
{
	(void)state;
	come_in();
	send_frame(FRAME_ENROLL, (const uint8_t *)"\1", 1);
	expect_bye(BYE_PROTOCOL, "ENROLL behind HELLO");
}

/* What cannot be had now is refused. Who has none to give takes no ENROLL. */
static void test_enroll(void **state)
{
	struct message_enroll m = { .version = 1, .request = { (const uint8_t *)"r", 1 } };
	struct session_ops ops = owner_ops;
	struct byte_writer w;

	send_frame(FRAME_ENROLL, (const uint8_t *)"\1", 1);
	expect_bye(BYE_PROTOCOL, "not HELLO");
	ops.enroll = enroll_busy;
	finish(state);
	begin(state);
	env.ops = &ops;
	send_frame(FRAME_ENROLL, (const uint8_t *)"\1", 1);
	expect_bye(BYE_PROTOCOL, "ENROLL is cut short");
	finish(state);
	begin(state);
	env.ops = &ops;
	writer_init(&w, room, sizeof(room));
	enroll_encode(&w, &m);
	send_frame(FRAME_ENROLL, room, writer_len(&w));
	expect_bye(BYE_LIMIT, "no time for it");
}

/* A frame other than a BLOCK is held up to the longest that its type allows. */
static void test_longest_of_a_type(void **state)
{
	static const struct {
		uint32_t type, most;
	} rows[] = {
		{ FRAME_RUN, 8192 },	{ FRAME_STATUS, 8192 }, { FRAME_PONG, 8192 },
		{ FRAME_RESULT, 8192 }, { FRAME_BYE, 8192 },	{ FRAME_RUN_END, 122920 },
		{ FRAME_PIECE, 16435 }, { 40, 65536 }, /* of a later version */
	};
	uint8_t head[FRAME_HEAD_MAX];
	char part[96];
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++, finish(state), begin(state)) {
		come_in();
		session_push(&session, head, frame_encode_head(head, rows[i].type, rows[i].most),
			     &now);
		assert_false(session_is_over(&session));
		finish(state);
		begin(state);
		come_in();
		session_push(&session, head,
			     frame_encode_head(head, rows[i].type, rows[i].most + 1), &now);
		snprintf(part, sizeof(part), "a frame of type %u with %u bytes; it has at most %u",
			 rows[i].type, rows[i].most + 1, rows[i].most);
		expect_bye(BYE_PROTOCOL, part);
	}
	/* One of a later version is skipped, whole or not. */
	come_in();
	memset(room, 0, 65536);
	send_frame(40, room, 65536);
	say_block(1, 0, 0, 10);
	assert_int_equal(owner.puts, 1);
	assert_null(session.held);
}

/* Which field it is, where, and what is wrong with it. */
static void test_bad_hello(void **state)
{
	static const uint8_t large[] = { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1 };
	uint8_t bytes[256] = { 1 };
	static const struct {
		size_t at; /* of the byte that is wrong, */
		uint8_t byte;
		size_t len; /* of what there is */
		const char *text;
	} rows[] = {
		{ 0, 1, 0, "HELLO: version at offset 0 is cut short" },
		{ 0, 0x80, 1, "HELLO: version at offset 0 is cut short" },
		{ 0, 1, 16, "HELLO: device at offset 1 is cut short" },
		{ 0, 1, 32, "HELLO: boot at offset 17 is cut short" },
		{ 0, 1, 33, "HELLO: name at offset 33 is cut short" },
		{ 33, 200, 41, "HELLO: name at offset 33 is cut short" },
		{ 36, 9, 41, "HELLO: machine at offset 36 is cut short" },
		{ 0, 1, 40, "HELLO: runs at offset 40 is cut short" },
		{ 40, 9, 200, "HELLO: runs at offset 40 is out of bounds" },
		{ 40, 2, 72, "HELLO: run at offset 57 is cut short" },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++, finish(state), begin(state)) {
		memset(bytes + 1, 0, sizeof(bytes) - 1);
		bytes[0] = 1;
		bytes[rows[i].at] = rows[i].byte;
		send_frame(FRAME_HELLO, bytes, rows[i].len);
		expect_bye(BYE_PROTOCOL, rows[i].text);
	}
	send_frame(FRAME_HELLO, large, sizeof(large));
	expect_bye(BYE_PROTOCOL, "HELLO: version at offset 0 is out of bounds");
	finish(state);
	begin(state);
	memset(bytes + 1, 0, sizeof(bytes) - 1);
	memcpy(bytes + 37, large, sizeof(large)); /* 2^63 CPUs */
	send_frame(FRAME_HELLO, bytes, 60);
	expect_bye(BYE_PROTOCOL, "HELLO: cpus at offset 37 is out of bounds");
	assert_int_equal(owner.arrived, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, finish)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_instruction_too_early),
		TEST(test_limit_of_runs),
		TEST(test_description),
		TEST(test_longest_of_a_type),
		TEST(test_bad_hello),
		TEST(test_collectors_frames),
		TEST(test_enroll_behind_hello),
		TEST(test_enroll),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
