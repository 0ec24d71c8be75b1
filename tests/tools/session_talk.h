/* SPDX-License-Identifier: MIT */
/*
 * session_talk: a session of the collector, a device that talks to it, and what came back, for the tests of sessions. cmocka.h is
 * included before it.
 */
#ifndef KISEKI_TESTS_SESSION_TALK_H
#define KISEKI_TESTS_SESSION_TALK_H

#include "tools/owner.h"

#define WINDOW 10000U
#define MS 1000000ULL

static struct owner owner;
static struct session session;
static struct session_env env;
static struct session_now now;
static uint8_t room[1U << 17];

static inline int begin(void **state)
{
	(void)state;
	memset(&owner, 0, sizeof(owner));
	env = (struct session_env){ &owner_ops, session_room_new(), WINDOW };
	now = (struct session_now){ 1000 * MS, 5000 * MS };
	session_init(&session, &env, &owner, 7);
	return 0;
}

static inline int finish(void **state)
{
	(void)state;
	session_done(&session);
	session_room_free(env.room);
	return 0;
}

/* --- the device --- */

static inline void send_frame(uint32_t type, const uint8_t *body, size_t len)
{
	static uint8_t bytes[FRAME_HEAD_MAX + (1U << 17)];
	uint32_t head = frame_encode_head(bytes, type, (uint32_t)len);
	size_t at, n;

	if (len)
		memcpy(bytes + head, body, len);
	for (at = 0; at < head + len; at += n) {
		n = head + len - at < SESSION_READ_MAX ? head + len - at : SESSION_READ_MAX;
		session_push(&session, bytes + at, n, &now);
	}
}

static inline struct message_id id(uint8_t first)
{
	struct message_id m = { { 0 } };

	memset(m.bytes, first, sizeof(m.bytes));
	return m;
}

static inline void say_hello(uint32_t version, uint32_t n_runs)
{
	struct message_hello m = { .version = version,
				   .device = id(1),
				   .boot = id(2),
				   .name = { "board", 5 },
				   .cpus = 2,
				   .n_runs = n_runs,
				   .runs = { id(10), id(11) } };
	struct byte_writer w;

	writer_init(&w, room, sizeof(room));
	hello_encode(&w, &m);
	send_frame(FRAME_HELLO, room, writer_len(&w));
}

static inline void say_run(uint8_t first)
{
	send_frame(FRAME_RUN, id(first).bytes, 16);
}

/* A block with a payload of zeros. */
static inline uint8_t *make_block(struct block *b, uint32_t *ret_len)
{
	memset(room, 0, BLOCK_HEADER_MAX + b->payload_len);
	return block_encode(b, room + BLOCK_HEADER_MAX, ret_len);
}

static inline void say_block(uint32_t stream, uint64_t sequence, uint64_t before, uint32_t payload)
{
	struct block b = { .codec = CODEC_SCHED,
			   .flags = BLOCK_KEY,
			   .stream = stream,
			   .sequence = sequence,
			   .first_tick = 100,
			   .before = before,
			   .events = 10,
			   .payload_len = payload };
	uint32_t len;
	uint8_t *bytes = make_block(&b, &len);

	send_frame(FRAME_BLOCK, bytes, len);
}

static inline void say_stream_end(uint32_t stream, uint64_t events)
{
	struct message_stream_end row = { stream, 2, events };
	struct message_end m = { .n_rows = 1 };
	struct byte_writer w;

	writer_init(&w, room, sizeof(room));
	end_encode(&w, &m);
	end_put(&w, &row);
	send_frame(FRAME_RUN_END, room, writer_len(&w));
}

static inline void say_end(uint64_t events)
{
	say_stream_end(1, events);
}

static inline void say_pong(uint64_t id_, uint64_t device_ns)
{
	struct message_pong m = { .id = id_, .device_ns = device_ns };
	struct byte_writer w;

	writer_init(&w, room, sizeof(room));
	pong_encode(&w, &m);
	send_frame(FRAME_PONG, room, writer_len(&w));
}

/* --- what came back --- */

static inline struct frame next_frame(uint32_t type)
{
	static uint8_t bytes[OWNER_SENT];
	struct frame f;

	memcpy(bytes, owner.sent, owner.sent_len);
	assert_int_equal(frame_decode(bytes, owner.sent_len, &f), WIRE_OK);
	assert_int_equal(f.type, type);
	owner.sent_len -= f.len;
	memmove(owner.sent, owner.sent + f.len, owner.sent_len);
	return f;
}

static inline void expect_nothing(void)
{
	assert_int_equal(owner.sent_len, 0);
}

static inline void expect_ack(uint64_t wanted)
{
	struct frame f = next_frame(FRAME_ACK);
	uint64_t frames;

	assert_int_equal(ack_decode(&frames, f.body, f.body_len), WIRE_OK);
	assert_int_equal(frames, wanted);
	expect_nothing();
}

/* It is over, with this code, and both sides are told why. */
static inline void expect_bye(uint32_t code, const char *part)
{
	struct frame f = next_frame(FRAME_BYE);
	struct message_bye m;
	char text[256];

	assert_int_equal(bye_decode(&m, f.body, f.body_len), WIRE_OK);
	snprintf(text, sizeof(text), "%.*s", (int)m.text.len, m.text.at);
	if (m.code != code || !strstr(text, part))
		fail_msg("BYE %u: %s", m.code, text);
	assert_non_null(strstr(owner.log, text));
	expect_nothing();
	assert_true(session_is_over(&session));
	assert_null(session.held);
}

static inline void expect_welcome(uint32_t rows)
{
	struct frame f = next_frame(FRAME_WELCOME);
	struct message_welcome m;

	assert_int_equal(welcome_decode(&m, f.body, f.body_len), WIRE_OK);
	assert_int_equal(m.version, 1);
	assert_int_equal(m.session, 7);
	assert_int_equal(m.window, WINDOW);
	assert_int_equal(m.n_rows, rows);
	expect_nothing();
}

static inline void come_in(void)
{
	say_hello(1, 0);
	expect_welcome(0);
	say_run(10);
}

#endif
