/* SPDX-License-Identifier: MIT */
/*
 * driver_talk: one session of the driver, and the collector that a test plays for it: what hooks were
 * called, what the device says, frames to say to it. One of each, so that a test reads like a talk.
 */
#ifndef KISEKI_TESTS_DRIVER_TALK_H
#define KISEKI_TESTS_DRIVER_TALK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "device/driver/core/session.h"
#include "tools/welcome.h"

#define WINDOW (1U << 20)
#define CPUS 4U
#define LOG 8192U

static struct session session;
static uint8_t in_room[16384];
static uint64_t now_ms;
static bool has_clock;	 /* that fits all runs */
static int answer;	 /* of the hook */
static char answer_fill; /* its reason is so long, and not terminated */
static char calls[LOG];	 /* of all hooks, one line each */
/* What it said and nobody has looked at. */
static uint8_t heard[1U << 17];
static size_t heard_at, heard_len;

static inline void call(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static inline void call(const char *fmt, ...)
{
	size_t len = strlen(calls);
	va_list args;

	va_start(args, fmt);
	vsnprintf(calls + len, LOG - len, fmt, args);
	va_end(args);
}

static inline void expect_calls(const char *want)
{
	assert_string_equal(calls, want);
	calls[0] = 0;
}

static inline int instruct(void *context, const struct message_instruction *m,
			   char why[SESSION_WHY_LEN])
{
	assert_ptr_equal(context, &session);
	call("instruct %llu verb %u given %x\n", (unsigned long long)m->id, m->verb,
	     m->config.given);
	if (answer_fill)
		memset(why, answer_fill, SESSION_WHY_LEN);
	else
		snprintf(why, SESSION_WHY_LEN, "cannot start: because");
	return answer;
}

static inline bool clocks(void *context, uint64_t *ret_device_ns, uint64_t *ret_realtime_ns)
{
	(void)context;
	*ret_device_ns = 111;
	*ret_realtime_ns = 222;
	return has_clock;
}

static inline void resume(void *context, uint32_t run, uint32_t stream, uint64_t next_sequence)
{
	(void)context;
	assert_int_equal(session.phase, SESSION_WELCOME);
	call("resume %u %u %llu\n", run, stream, (unsigned long long)next_sequence);
}

static inline void acked(void *context, uint64_t frames)
{
	(void)context;
	call("acked %llu\n", (unsigned long long)frames);
}

static inline int setup(void **state)
{
	const struct session_hooks hooks = { &session, instruct, clocks, resume, acked };
	uint32_t size = session_in_size(CPUS, 2);

	(void)state;
	assert_true(size <= sizeof(in_room));
	/* As far behind as can be, so that a tool sees a write beyond it. */
	session_init(&session, &hooks, in_room + sizeof(in_room) - size, size);
	session_seed(&session, 0x1234567890abcdef);
	now_ms = 1000;
	answer = answer_fill = 0;
	has_clock = true;
	calls[0] = 0;
	heard_at = heard_len = 0;
	return 0;
}

/* --- what the device says --- */

static inline void listen(void)
{
	const uint8_t *out;
	uint32_t len;

	while (out = session_get(&session, &len), len) {
		assert_true(heard_len + len <= sizeof(heard));
		memcpy(heard + heard_len, out, len);
		heard_len += len;
		session_pop(&session, len);
	}
}

/* The next frame that it said; type 0 if there is none. */
static inline struct frame hear(void)
{
	struct frame f = { 0 };

	listen();
	if (heard_at == heard_len)
		return f;
	assert_int_equal(frame_decode(heard + heard_at, heard_len - heard_at, &f), WIRE_OK);
	heard_at += f.len;
	return f;
}

static inline void expect_silence(void)
{
	assert_int_equal(hear().type, 0);
}

static inline void expect_bye(uint32_t code)
{
	struct message_bye m;
	struct frame f = hear();

	assert_int_equal(f.type, FRAME_BYE);
	assert_int_equal(bye_decode(&m, f.body, f.body_len), WIRE_OK);
	assert_int_equal(m.code, code);
	assert_int_equal(session.phase, SESSION_OVER);
	expect_silence();
}

static inline void expect_result(uint64_t id, uint32_t code, const char *text)
{
	struct message_result m;
	struct frame f = hear();

	assert_int_equal(f.type, FRAME_RESULT);
	assert_int_equal(result_decode(&m, f.body, f.body_len), WIRE_OK);
	assert_true(m.id == id);
	assert_int_equal(m.code, code);
	assert_int_equal(m.text.len, strlen(text));
	assert_memory_equal(m.text.at, text, m.text.len);
}

static inline void expect_pong(uint64_t id, uint64_t sent_ns)
{
	struct message_pong m;
	struct frame f = hear();

	assert_int_equal(f.type, FRAME_PONG);
	assert_int_equal(pong_decode(&m, f.body, f.body_len), WIRE_OK);
	assert_true(m.id == id && m.sent_ns == sent_ns);
	assert_true(m.device_ns == 111 && m.realtime_ns == 222);
}

/* --- what the collector says --- */

static inline int say_bytes(const uint8_t *data, size_t len)
{
	uint32_t room;
	uint8_t *at = session_room(&session, &room);

	assert_true(len <= room);
	if (len)
		memcpy(at, data, len);
	return session_push(&session, (uint32_t)len, now_ms);
}

/* A frame; as many bytes as `len` of its body are there, more may be announced. */
static inline size_t make(uint8_t *out, uint32_t type, const void *body, size_t len)
{
	uint32_t head = frame_encode_head(out, type, (uint32_t)len);

	if (len)
		memcpy(out + head, body, len);
	return head + len;
}

static inline int say(uint32_t type, const void *body, size_t len)
{
	uint8_t bytes[MESSAGE_ROOM];

	assert_true(len + FRAME_HEAD_MAX <= sizeof(bytes));
	return say_bytes(bytes, make(bytes, type, body, len));
}

static inline size_t make_welcome(uint8_t *out, uint32_t version, uint64_t window,
				  const struct message_resume *rows, uint32_t n)
{
	uint8_t body[MESSAGE_ROOM];
	struct byte_writer w;

	writer_init(&w, body, sizeof(body));
	write_welcome(&w, version, window, rows, n);
	assert_false(w.full);
	return make(out, FRAME_WELCOME, body, writer_len(&w));
}

static inline int say_welcome(uint32_t version, uint64_t window, const struct message_resume *rows,
			      uint32_t n)
{
	uint8_t bytes[MESSAGE_ROOM + FRAME_HEAD_MAX];

	return say_bytes(bytes, make_welcome(bytes, version, window, rows, n));
}

static inline int say_ack(uint64_t frames)
{
	uint8_t body[16];
	struct byte_writer w;

	writer_init(&w, body, sizeof(body));
	ack_encode(&w, frames);
	return say(FRAME_ACK, body, writer_len(&w));
}

static inline int say_bye(uint32_t code, const char *text)
{
	struct message_bye m = { .code = code, .text = { text, (uint32_t)strlen(text) } };
	uint8_t body[512];
	struct byte_writer w;

	writer_init(&w, body, sizeof(body));
	bye_encode(&w, &m);
	return say(FRAME_BYE, body, writer_len(&w));
}

static inline size_t make_instruction(uint8_t *out, const struct message_instruction *m)
{
	uint8_t body[4096];
	struct byte_writer w;

	writer_init(&w, body, sizeof(body));
	instruction_encode(&w, m);
	assert_false(w.full);
	return make(out, FRAME_INSTRUCTION, body, writer_len(&w));
}

/* --- a connection --- */

static inline struct message_hello a_hello(void)
{
	struct message_hello m = { .version = PROTOCOL_VERSION,
				   .name = { "board", 5 },
				   .agent = { "0.1", 3 },
				   .kernel = { "6.1", 3 },
				   .machine = { "arm", 3 },
				   .cpus = CPUS,
				   .origins = 1U << ORIGIN_DRIVER,
				   .state = DEVICE_TRACING,
				   .n_runs = 2 };

	memset(m.device.bytes, 0xd0, 16);
	memset(m.boot.bytes, 0xb0, 16);
	memset(m.runs[0].bytes, 3, 16);
	memset(m.runs[1].bytes, 4, 16);
	return m;
}

static inline void open_session(void)
{
	struct message_hello m = a_hello();

	heard_at = heard_len = 0;
	session_open(&session, &m, now_ms);
}

static inline void connect_to(uint64_t window)
{
	open_session();
	assert_int_equal(hear().type, FRAME_HELLO);
	assert_int_equal(say_welcome(1, window, NULL, 0), 0);
	assert_int_equal(session.phase, SESSION_WELCOME);
}

static inline void disconnect(void)
{
	session_close(&session, now_ms);
}

static inline uint32_t send_blocks(uint32_t n, uint32_t len)
{
	uint32_t i;

	for (i = 0; i < n && session_may_send(&session, len); i++)
		session_sent(&session, len);
	return i;
}

#endif
