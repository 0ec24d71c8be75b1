/* SPDX-License-Identifier: MIT */
/*
 * uplink_talk: a device's uplink, and a collector that talks to it and hears what it says, for the tests of uplinks. cmocka.h is included before
 * it.
 */
#ifndef KISEKI_TESTS_UPLINK_TALK_H
#define KISEKI_TESTS_UPLINK_TALK_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "device/agent/uplink.h"
#include "tools/fake_spool.h"
#include "tools/welcome.h"

#define WINDOW (1U << 20)

struct peer {
	struct spool spool;
	struct uplink *uplink;
	struct error error;
	uint64_t now_ms;
	uint32_t instructions;
	int answer;
	struct message_instruction last;
	/* what the device sent and the test has not looked at */
	uint8_t in[65536];
	size_t in_at, in_len;
};

static inline int instruct(void *context, const struct message_instruction *m, struct error *e)
{
	struct peer *p = context;

	p->instructions++;
	p->last = *m;
	return p->answer ? error_set(e, -p->answer, "cannot start: because") : 0;
}

static inline void clocks(void *context, uint64_t *ret_device_ns, uint64_t *ret_realtime_ns)
{
	(void)context;
	*ret_device_ns = 111;
	*ret_realtime_ns = 222;
}

static inline int setup(void **state)
{
	struct peer *p = calloc(1, sizeof(*p));
	struct uplink_options o = { .name = "board",
				    .agent = "0.1",
				    .kernel = "6.1",
				    .machine = "arm",
				    .cpus = 4,
				    .origins = 2,
				    .entry_max = FAKE_SPOOL_BYTES,
				    .seed = 7 };

	assert_non_null(p);
	o.spool = &p->spool;
	o.hooks = (struct uplink_hooks){ p, instruct, clocks };
	memset(o.device.bytes, 0xd0, 16);
	memset(o.boot.bytes, 0xb0, 16);
	p->now_ms = 1000;
	assert_int_equal(uplink_new(&p->uplink, &o, &p->error), 0);
	*state = p;
	return 0;
}

static inline int teardown(void **state)
{
	struct peer *p = *state;

	uplink_free(p->uplink);
	free(p);
	return 0;
}

/* Takes all that the device has to say. */
static inline void listen(struct peer *p)
{
	const uint8_t *out;
	size_t len;

	while (out = uplink_get(p->uplink, &len), len) {
		assert_true(p->in_len + len <= sizeof(p->in));
		memcpy(p->in + p->in_len, out, len);
		p->in_len += len;
		uplink_pop(p->uplink, len);
	}
}

/* The next frame that the device sent; type 0 if there is none. */
static inline struct frame hear(struct peer *p)
{
	struct frame f = { 0 };

	listen(p);
	if (p->in_at == p->in_len)
		return f;
	assert_int_equal(frame_decode(p->in + p->in_at, p->in_len - p->in_at, &f), WIRE_OK);
	p->in_at += f.len;
	return f;
}

static inline int say_bytes(struct peer *p, const uint8_t *data, size_t len)
{
	assert_true(len <= uplink_room(p->uplink));
	return uplink_push(p->uplink, data, len, p->now_ms, &p->error);
}

static inline int say(struct peer *p, uint32_t type, const uint8_t *body, size_t len)
{
	uint8_t bytes[MESSAGE_ROOM];
	uint32_t head = frame_encode_head(bytes, type, (uint32_t)len);

	assert_true(head + len <= sizeof(bytes));
	memcpy(bytes + head, body, len);
	return say_bytes(p, bytes, head + len);
}

static inline int say_writer(struct peer *p, uint32_t type, const struct byte_writer *w)
{
	assert_false(w->full);
	return say(p, type, w->start, writer_len(w));
}

static inline int say_welcome(struct peer *p, uint32_t version, uint64_t window,
			      const struct message_resume *rows, uint32_t n)
{
	uint8_t body[MESSAGE_ROOM];
	struct byte_writer w;

	writer_init(&w, body, sizeof(body));
	write_welcome(&w, version, window, rows, n);
	return say_writer(p, FRAME_WELCOME, &w);
}

static inline int say_ack(struct peer *p, uint64_t frames)
{
	uint8_t body[16];
	struct byte_writer w;

	writer_init(&w, body, sizeof(body));
	ack_encode(&w, frames);
	return say_writer(p, FRAME_ACK, &w);
}

static inline int say_bye(struct peer *p, uint32_t code)
{
	struct message_bye m = { .code = code, .text = { "full", 4 } };
	uint8_t body[64];
	struct byte_writer w;

	writer_init(&w, body, sizeof(body));
	bye_encode(&w, &m);
	return say_writer(p, FRAME_BYE, &w);
}

static inline struct message_hello expect_hello(struct peer *p)
{
	struct message_hello m;
	struct frame f = hear(p);

	assert_int_equal(f.type, FRAME_HELLO);
	assert_int_equal(hello_decode(&m, f.body, f.body_len), WIRE_OK);
	return m;
}

static inline void expect_run(struct peer *p, uint8_t run)
{
	struct frame f = hear(p);

	assert_int_equal(f.type, FRAME_RUN);
	assert_int_equal(f.body_len, 16);
	assert_int_equal(f.body[0], run);
	assert_int_equal(f.body[15], run);
}

static inline void expect_entry(struct peer *p, uint32_t type, uint8_t stream, uint8_t sequence)
{
	struct frame f = hear(p);

	assert_int_equal(f.type, type);
	assert_int_equal(f.body[1], stream);
	assert_int_equal(f.body[2], sequence);
}

static inline void expect_silence(struct peer *p)
{
	assert_int_equal(hear(p).type, 0);
}

static inline void expect_bye(struct peer *p, uint32_t code)
{
	struct message_bye m;
	struct frame f = hear(p);

	assert_int_equal(f.type, FRAME_BYE);
	assert_int_equal(bye_decode(&m, f.body, f.body_len), WIRE_OK);
	assert_int_equal(m.code, code);
	expect_silence(p);
}

static inline void connect_to(struct peer *p, uint64_t window)
{
	p->in_at = p->in_len = 0;
	uplink_open(p->uplink, DEVICE_IDLE, p->now_ms);
	expect_hello(p);
	assert_int_equal(say_welcome(p, 1, window, NULL, 0), 0);
}

static inline void disconnect(struct peer *p)
{
	uplink_close(p->uplink, p->now_ms);
}

#endif
