/* SPDX-License-Identifier: MIT */
/*
 * The driver's side of the protocol against collectors that break the rules: it says BYE once,
 * believes nothing of what was wrong, and waits long before it comes again.
 */
#include <errno.h>

#include "tools/driver_talk.h"

static void refuses_bad_welcomes(void **state)
{
	static const struct message_resume rows[] = { { .stream = 1, .next_sequence = 5 },
						      { .run = 2 } };
	struct {
		uint32_t version, n;
		const struct message_resume *rows;
		uint32_t code;
	} all[] = {
		{ 0, 0, NULL, BYE_VERSION },
		{ PROTOCOL_VERSION + 1, 0, NULL, BYE_VERSION },
		{ 1, 2, rows, BYE_PROTOCOL }, /* the good row counts as little */
		{ 1, 1, &(struct message_resume){ .run = 8 }, BYE_PROTOCOL },
		{ 1, 1, &(struct message_resume){ .stream = 4097 }, BYE_PROTOCOL },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		open_session();
		assert_int_equal(hear().type, FRAME_HELLO);
		assert_int_equal(say_welcome(all[i].version, WINDOW, all[i].rows, all[i].n),
				 -EPROTO);
		expect_bye(all[i].code);
		expect_calls("");
		disconnect();
	}
	open_session();
	assert_int_equal(hear().type, FRAME_HELLO);
	assert_int_equal(say(FRAME_WELCOME, "\1\1\1\1\2\0\0\1", 8), -EPROTO); /* a row is missing */
	expect_bye(BYE_PROTOCOL);
	expect_calls("");
	disconnect();
	connect_to(WINDOW);
	assert_int_equal(say_welcome(1, WINDOW, NULL, 0), -EPROTO); /* a second one */
	expect_bye(BYE_PROTOCOL);
}

/* As large as the room: the largest WELCOME that there can be. One byte more: no. */
static void bounds_what_it_takes(void **state)
{
	static uint8_t bytes[20000];
	uint32_t head, len;

	(void)state;
	assert_true(session_in_size(0, 0) >= MESSAGE_ROOM);
	assert_true(session_in_size(4096, 8) >= 4097U * 8 * 13 + 50 + FRAME_HEAD_MAX);
	assert_true(session_in_size(UINT32_MAX, UINT32_MAX) == session_in_size(4096, 8));
	memset(bytes, 0, sizeof(bytes));
	len = session.in_size - 3; /* with a head of three bytes it is as large as the room */
	head = frame_encode_head(bytes, FRAME_WELCOME, len);
	assert_int_equal(head, 3);
	memcpy(bytes + head, "\1\1\1\1", 4); /* no row, and zeros of a later version */
	open_session();
	assert_int_equal(hear().type, FRAME_HELLO);
	assert_int_equal(say_bytes(bytes, head + len), 0);
	assert_int_equal(session.phase, SESSION_WELCOME);
	disconnect();
	frame_encode_head(bytes, FRAME_WELCOME, len + 1);
	open_session();
	assert_int_equal(hear().type, FRAME_HELLO);
	assert_int_equal(say_bytes(bytes, head), -EPROTO); /* known at its head */
	expect_bye(BYE_PROTOCOL);
}

static void refuses_what_only_a_device_says(void **state)
{
	static const uint32_t types[] = { FRAME_BLOCK,	FRAME_HELLO,  FRAME_RUN, FRAME_RUN_END,
					  FRAME_RESULT, FRAME_STATUS, FRAME_PONG };
	uint32_t type;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		connect_to(WINDOW);
		assert_int_equal(say(types[i], "", 0), -EPROTO);
		expect_bye(BYE_PROTOCOL);
		disconnect();
	}
	for (type = FRAME_BLOCK; type < FRAME_BYE; type++) { /* before the WELCOME */
		open_session();
		assert_int_equal(hear().type, FRAME_HELLO);
		assert_int_equal(say(type, "\1\1", 2), -EPROTO);
		expect_bye(BYE_PROTOCOL);
		disconnect();
	}
	expect_calls("");
}

static void refuses_garbage(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
	} all[] = {
		{ "\0", 1 },				   /* type 0 */
		{ "\x80\x01", 2 },			   /* type above 127 */
		{ "\x06\xff\xff\xff\x7f", 6 },		   /* an ACK of a quarter of a gigabyte */
		{ "\x63\xff\xff\xff\x7f", 6 },		   /* and so large an unknown one */
		{ "\x06\x80\x80\x01\x00", 5 },		   /* an ACK of 16 KiB */
		{ "\x06\x00", 2 },			   /* an ACK of nothing */
		{ "\x06\x01\x01", 3 },			   /* an ACK of more than was sent */
		{ "\x07\x01\x01", 3 },			   /* half an INSTRUCTION */
		{ "\x07\x03\x01\x80\x02", 5 },		   /* verb 256 */
		{ "\x07\x05\x01\x01\x01\x01\x04", 7 },	   /* origin 4 */
		{ "\x07\x06\x01\x01\x03\x02\xff\x1f", 8 }, /* blocks of 4095 bytes */
		{ "\x07\x05\x01\x01\x04\x01\x00", 7 },	   /* flush after 0 ms */
		{ "\x07\x05\x01\x01\x05\x01\x00", 7 },	   /* no ring */
		{ "\x07\x05\x01\x01\x06\x01\x03", 7 },	   /* a resolution of 3 ns */
		{ "\x07\x05\x01\x01\x07\x01\x02", 7 },	   /* policy 2 */
		{ "\x07\x05\x01\x01\x09\x01x", 7 },	   /* a name of one byte */
		{ "\x07\x05\x01\x01\x0a\x01x", 7 },	   /* a path without an end */
		{ "\x07\x05\x01\x01\x08\x05\x01", 7 },	   /* an item that is cut */
		{ "\x07\x05\x01\x01\x0b\x01\x00", 7 },	   /* codec 0 */
		{ "\x07\x05\x01\x01\x0b\x01\x03", 7 },	   /* codec 3 */
		{ "\x0a\x01\x01", 3 },			   /* half a PING */
		{ "\x0c\x02\x01\x05", 4 },		   /* a BYE whose text is cut */
	};
	uint32_t room;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		connect_to(WINDOW);
		assert_int_equal(say_bytes((const uint8_t *)all[i].bytes, all[i].len), -EPROTO);
		assert_memory_equal(session.why, "cannot understand the collector: ", 33);
		expect_bye(BYE_PROTOCOL);
		session_room(&session, &room);
		assert_true(room > 0);
		assert_int_equal(say_ack(0), 0); /* what comes then does not matter */
		disconnect();
		assert_true(session_next(&session) >= now_ms + RETRY_LONGEST_MS);
	}
	expect_calls("");
}

/* Any bytes after any of a good start: it ends, or goes on, and says nothing but frames. */
static void survives_noise(void **state)
{
	uint64_t random = 88172645463325252;
	uint32_t i, k, type;
	uint8_t bytes[64];
	struct frame f;

	(void)state;
	for (i = 0; i < 20000; i++) {
		connect_to(WINDOW);
		for (k = 0; k < sizeof(bytes); k++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			bytes[k] = (uint8_t)(random >> 40) & (k & 1 ? 0x1f : 0xff);
		}
		say_bytes(bytes, sizeof(bytes));
		for (type = 0; (f = hear()).type; type = f.type) {
			assert_true(f.type == FRAME_RESULT || f.type == FRAME_PONG ||
				    f.type == FRAME_BYE);
			assert_int_not_equal(type, FRAME_BYE);
		}
		disconnect();
		calls[0] = 0;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(refuses_bad_welcomes, setup),
		cmocka_unit_test_setup(bounds_what_it_takes, setup),
		cmocka_unit_test_setup(refuses_what_only_a_device_says, setup),
		cmocka_unit_test_setup(refuses_garbage, setup),
		cmocka_unit_test_setup(survives_noise, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
