/* SPDX-License-Identifier: MIT */
/*
 * The device's side of the protocol against a peer that follows a script: what it says, in which
 * order, what it keeps, and what it does with a collector that breaks the rules.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tools/uplink_talk.h"
#include "wire/flight.h"
#include "wire/retry.h"

/* --- the way it should go --- */

static void says_who_it_is(void **state)
{
	struct peer *p = *state;
	struct message_hello m;

	fake_spool_add(&p->spool, FRAME_BLOCK, 3, 0, 0, 40);
	fake_spool_add(&p->spool, FRAME_BLOCK, 4, 0, 0, 40);
	uplink_open(p->uplink, DEVICE_TRACING, p->now_ms);
	m = expect_hello(p);
	assert_int_equal(m.version, PROTOCOL_VERSION);
	assert_int_equal(m.device.bytes[0], 0xd0);
	assert_int_equal(m.boot.bytes[0], 0xb0);
	assert_memory_equal(m.name.at, "board", 5);
	assert_int_equal(m.cpus, 4);
	assert_int_equal(m.origins, 2);
	assert_int_equal(m.state, DEVICE_TRACING);
	assert_int_equal(m.n_runs, 2);
	assert_int_equal(m.runs[0].bytes[7], 3);
	assert_int_equal(m.runs[1].bytes[7], 4);
	expect_silence(p); /* nothing before the WELCOME */
	assert_true(uplink_waits(p->uplink));
	assert_false(uplink_is_welcome(p->uplink));
	assert_int_equal(say_welcome(p, 1, WINDOW, NULL, 0), 0);
	assert_true(uplink_is_welcome(p->uplink));
	assert_int_equal(uplink_session(p->uplink), 9);
	/* What was mounted or loaded since is told with the next connection. */
	disconnect(p);
	p->in_at = p->in_len = 0;
	uplink_set_origins(p->uplink, 6);
	uplink_open(p->uplink, DEVICE_IDLE, p->now_ms);
	m = expect_hello(p);
	assert_int_equal(m.origins, 6);
	assert_int_equal(m.state, DEVICE_IDLE);
}

/* A text of the device that is longer than a message has room for is cut. */
static void cuts_long_texts(void **state)
{
	char name[MESSAGE_TEXT_MAX + 2];
	struct peer *p = *state;
	struct uplink_options o = { .name = name,
				    .agent = name,
				    .kernel = name,
				    .machine = name,
				    .cpus = 1,
				    .entry_max = FAKE_SPOOL_BYTES,
				    .spool = &p->spool,
				    .hooks = { p, instruct, clocks } };
	struct message_hello m;

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	uplink_free(p->uplink);
	p->uplink = NULL;
	assert_int_equal(uplink_new(&p->uplink, &o, &p->error), 0);
	uplink_open(p->uplink, DEVICE_IDLE, p->now_ms);
	m = expect_hello(p);
	assert_int_equal(m.name.len, MESSAGE_TEXT_MAX);
	assert_memory_equal(m.name.at, name, MESSAGE_TEXT_MAX);
	assert_int_equal(m.machine.len, MESSAGE_TEXT_MAX);
	assert_int_equal(m.cpus, 1);
}

static void sends_runs_in_order(void **state)
{
	struct peer *p = *state;

	fake_spool_add(&p->spool, FRAME_BLOCK, 1, 0, 0, 40);
	fake_spool_add(&p->spool, FRAME_BLOCK, 1, 1, 0, 200);
	fake_spool_add(&p->spool, FRAME_RUN_END, 1, 0, 0, 10);
	fake_spool_add(&p->spool, FRAME_BLOCK, 2, 0, 0, 40);
	connect_to(p, WINDOW);
	expect_run(p, 1);
	expect_entry(p, FRAME_BLOCK, 0, 0);
	expect_entry(p, FRAME_BLOCK, 1, 0);
	expect_entry(p, FRAME_RUN_END, 0, 0);
	expect_run(p, 2);
	expect_entry(p, FRAME_BLOCK, 0, 0);
	expect_silence(p);
	fake_spool_add(&p->spool, FRAME_BLOCK, 2, 0, 1, 40);
	expect_entry(p, FRAME_BLOCK, 0, 1); /* the run was said */
	assert_int_equal(say_ack(p, 2), 0);
	assert_int_equal(fake_spool_left(&p->spool), 3);
	assert_int_equal(say_ack(p, 2), 0); /* again */
	assert_int_equal(say_ack(p, 1), 0); /* late */
	assert_int_equal(fake_spool_left(&p->spool), 3);
	assert_int_equal(say_ack(p, 5), 0);
	assert_int_equal(fake_spool_left(&p->spool), 0);
}

static void goes_on_where_the_collector_is(void **state)
{
	static const struct message_resume rows[] = {
		{ .run = 0, .stream = 1, .next_sequence = 3 },
		{ .run = 1, .stream = 2, .next_sequence = 1 },
	};
	struct peer *p = *state;
	uint64_t i;

	for (i = 0; i < 4; i++)
		fake_spool_add(&p->spool, FRAME_BLOCK, 5, 1, i, 20);
	fake_spool_add(&p->spool, FRAME_BLOCK, 6, 2, 0, 20);
	fake_spool_add(&p->spool, FRAME_BLOCK, 6, 2, 1, 20);
	connect_to(p, WINDOW);
	expect_run(p, 5);
	expect_entry(p, FRAME_BLOCK, 1, 0);
	disconnect(p); /* no ACK came, but the collector has some */
	p->in_at = p->in_len = 0;
	uplink_open(p->uplink, DEVICE_IDLE, p->now_ms);
	assert_int_equal(expect_hello(p).n_runs, 2);
	assert_int_equal(say_welcome(p, 1, WINDOW, rows, 2), 0);
	expect_run(p, 5);
	expect_entry(p, FRAME_BLOCK, 1, 3);
	expect_run(p, 6);
	expect_entry(p, FRAME_BLOCK, 2, 1);
	expect_silence(p);
	assert_int_equal(say_ack(p, 2), 0); /* frames count from the new connection's start */
	assert_int_equal(fake_spool_left(&p->spool), 0);
}

/* A device with many threads hears of more streams than it has CPUs. */
static void takes_a_long_welcome(void **state)
{
	static uint8_t body[40000], bytes[FRAME_HEAD_MAX + sizeof(body)];
	struct message_welcome m = { .version = 1, .window = WINDOW, .n_rows = 1201 };
	struct message_resume row = { .next_sequence = UINT64_MAX };
	struct uplink_options o = { .cpus = 4, .entry_max = FAKE_SPOOL_BYTES };
	struct peer *p = *state;
	struct byte_writer w;
	size_t head;

	writer_init(&w, body, sizeof(body));
	welcome_encode(&w, &m);
	for (; row.stream < m.n_rows; row.stream++)
		welcome_put(&w, &row);
	assert_false(w.full);
	head = frame_encode_head(bytes, FRAME_WELCOME, (uint32_t)writer_len(&w));
	memcpy(bytes + head, body, writer_len(&w));
	o.spool = &p->spool;
	o.name = o.agent = o.kernel = o.machine = "";
	o.hooks = (struct uplink_hooks){ p, instruct, clocks };
	for (o.threads = 0; o.threads <= 600; o.threads += 600) {
		uplink_free(p->uplink);
		p->uplink = NULL;
		assert_int_equal(uplink_new(&p->uplink, &o, &p->error), 0);
		fake_spool_add(&p->spool, FRAME_BLOCK, 1, 0, 0, 40);
		p->in_at = p->in_len = 0;
		uplink_open(p->uplink, DEVICE_IDLE, p->now_ms);
		expect_hello(p);
		assert_int_equal(uplink_push(p->uplink, bytes,
					     o.threads ? head + writer_len(&w) : MESSAGE_ROOM,
					     p->now_ms, &p->error),
				 o.threads ? 0 : -EPROTO);
		assert_int_equal(uplink_is_welcome(p->uplink), o.threads > 0);
	}
}

static void stays_in_the_window(void **state)
{
	struct peer *p = *state;
	uint32_t i, sent = 0;
	uint64_t bytes = 0;

	for (i = 0; i < 100; i++)
		fake_spool_add(&p->spool, FRAME_BLOCK, 1, 0, i, 100 + i);
	connect_to(p, 1000);
	expect_run(p, 1);
	while (sent < 100) {
		struct frame f = hear(p);

		if (f.type == FRAME_BLOCK) {
			bytes += f.len;
			sent++;
			assert_true(bytes <= 1000);
			continue;
		}
		assert_int_equal(f.type, 0);
		assert_true(uplink_waits(p->uplink));
		assert_true(bytes > 500); /* not stingy either */
		assert_int_equal(say_ack(p, sent), 0);
		bytes = 0;
	}
	expect_silence(p);
	assert_false(uplink_waits(p->uplink));
}

static void sends_singly_in_a_window_that_is_too_small(void **state)
{
	struct peer *p = *state;

	fake_spool_add(&p->spool, FRAME_BLOCK, 1, 0, 0, 100);
	fake_spool_add(&p->spool, FRAME_BLOCK, 1, 0, 1, 100);
	connect_to(p, 0);
	expect_run(p, 1);
	expect_entry(p, FRAME_BLOCK, 0, 0);
	expect_silence(p);
	assert_int_equal(say_ack(p, 1), 0);
	expect_entry(p, FRAME_BLOCK, 0, 1);
	expect_silence(p);
}

static void answers(void **state)
{
	struct message_instruction order = { .id = 77, .verb = INSTRUCTION_STOP };
	struct message_ping ping = { .id = 5, .sent_ns = 1234567890123 };
	struct peer *p = *state;
	struct message_result result;
	struct message_pong pong;
	uint8_t body[256];
	struct byte_writer w;
	struct frame f;

	connect_to(p, WINDOW);
	writer_init(&w, body, sizeof(body));
	instruction_encode(&w, &order);
	assert_int_equal(say_writer(p, FRAME_INSTRUCTION, &w), 0);
	assert_int_equal(p->last.verb, INSTRUCTION_STOP);
	p->answer = -ENODEV;
	assert_int_equal(say_writer(p, FRAME_INSTRUCTION, &w), 0);
	assert_int_equal(p->instructions, 2);
	writer_init(&w, body, sizeof(body));
	ping_encode(&w, &ping);
	assert_int_equal(say_writer(p, FRAME_PING, &w), 0);
	f = hear(p);
	assert_int_equal(f.type, FRAME_RESULT);
	assert_int_equal(result_decode(&result, f.body, f.body_len), WIRE_OK);
	assert_true(result.id == 77 && !result.code && !result.text.len);
	f = hear(p);
	assert_int_equal(result_decode(&result, f.body, f.body_len), WIRE_OK);
	assert_int_equal(result.code, ENODEV);
	assert_memory_equal(result.text.at, "cannot start: because", result.text.len);
	f = hear(p);
	assert_int_equal(f.type, FRAME_PONG);
	assert_int_equal(pong_decode(&pong, f.body, f.body_len), WIRE_OK);
	assert_true(pong.id == 5 && pong.sent_ns == 1234567890123);
	assert_true(pong.device_ns == 111 && pong.realtime_ns == 222);
}

static void says_how_it_is(void **state)
{
	struct message_status m = { .state = DEVICE_TRACING, .events = 10, .wakeups = 3 }, got;
	struct peer *p = *state;
	struct frame f;

	assert_false(uplink_status(p->uplink, &m)); /* to nobody */
	connect_to(p, WINDOW);
	assert_true(uplink_status(p->uplink, &m));
	f = hear(p);
	assert_int_equal(f.type, FRAME_STATUS);
	assert_int_equal(status_decode(&got, f.body, f.body_len), WIRE_OK);
	assert_true(got.events == 10 && got.wakeups == 3);
	uplink_bye(p->uplink, BYE_DONE, "done");
	assert_false(uplink_status(p->uplink, &m));
	expect_bye(p, BYE_DONE);
}

/* A collector that asks and does not listen: nothing grows, and it is served when it listens. */
static void does_not_answer_who_does_not_listen(void **state)
{
	static const uint8_t ping[] = { FRAME_PING, 2, 1, 1 };
	struct peer *p = *state;
	uint32_t said = 0, pongs = 0;
	struct frame f;

	connect_to(p, WINDOW);
	while (uplink_room(p->uplink) >= sizeof(ping)) {
		assert_int_equal(say_bytes(p, ping, sizeof(ping)), 0);
		said++;
		assert_true(said < 100000);
	}
	assert_false(uplink_status(p->uplink, &(struct message_status){ 0 }));
	while (pongs < said) {
		f = hear(p);
		assert_int_equal(f.type, FRAME_PONG);
		pongs++;
		if (p->in_at == p->in_len)
			p->in_at = p->in_len = 0;
		assert_int_equal(uplink_push(p->uplink, NULL, 0, p->now_ms, &p->error), 0);
	}
	expect_silence(p);
}

/* For the BYE, too, it finds no room, and goes without. */
static void leaves_who_does_not_listen(void **state)
{
	static const uint8_t ping[] = { FRAME_PING, 2, 1, 1 };
	struct peer *p = *state;
	struct frame f;

	connect_to(p, WINDOW);
	while (uplink_room(p->uplink) >= sizeof(ping))
		assert_int_equal(say_bytes(p, ping, sizeof(ping)), 0);
	uplink_bye(p->uplink, BYE_DONE, "done");
	assert_false(uplink_is_welcome(p->uplink));
	assert_false(uplink_waits(p->uplink));
	while ((f = hear(p)).type)
		assert_int_equal(f.type, FRAME_PONG);
	uplink_bye(p->uplink, BYE_DONE, "done"); /* it is over */
	expect_silence(p);
}

static void skips_what_it_does_not_know(void **state)
{
	struct peer *p = *state;
	uint8_t bytes[4096] = { 0 };
	size_t left = 100000;
	uint32_t head;

	fake_spool_add(&p->spool, FRAME_BLOCK, 1, 0, 0, 20);
	connect_to(p, WINDOW);
	expect_run(p, 1);
	expect_entry(p, FRAME_BLOCK, 0, 0);
	head = frame_encode_head(bytes, 99, (uint32_t)left);
	assert_int_equal(say_bytes(p, bytes, 3), 0); /* cut inside its head, too */
	assert_int_equal(say_bytes(p, bytes + 3, head - 3 + 100), 0);
	left -= 100;
	memset(bytes, 0xff, sizeof(bytes));
	while (left) {
		size_t n = left < sizeof(bytes) ? left : sizeof(bytes);

		assert_int_equal(say_bytes(p, bytes, n), 0);
		left -= n;
	}
	assert_int_equal(say(p, 64, (const uint8_t *)"", 0), 0);
	assert_int_equal(say_ack(p, 1), 0);
	assert_int_equal(fake_spool_left(&p->spool), 0);
}

/* The link is cut inside a frame that it does not know: the next connection begins with a WELCOME. */
static void forgets_what_it_skipped(void **state)
{
	struct peer *p = *state;
	uint8_t bytes[200] = { 0 };
	uint32_t head;

	connect_to(p, WINDOW);
	head = frame_encode_head(bytes, 99, 100000);
	assert_int_equal(say_bytes(p, bytes, head + 100), 0);
	disconnect(p);
	connect_to(p, WINDOW);
	assert_true(uplink_is_welcome(p->uplink));
}

static void takes_frames_byte_by_byte(void **state)
{
	static const uint8_t bytes[] = {
		FRAME_PING, 2, 1, 1, FRAME_ACK, 1, 0, FRAME_PING, 2, 2, 2
	};
	struct peer *p = *state;
	size_t i;

	connect_to(p, WINDOW);
	for (i = 0; i < sizeof(bytes); i++)
		assert_int_equal(say_bytes(p, bytes + i, 1), 0);
	assert_int_equal(hear(p).type, FRAME_PONG);
	assert_int_equal(hear(p).type, FRAME_PONG);
	expect_silence(p);
}

/* --- collectors that break the rules --- */

static void refuses_bad_welcomes(void **state)
{
	static const struct message_resume row = { .run = 1 };
	struct peer *p = *state;

	fake_spool_add(&p->spool, FRAME_BLOCK, 1, 0, 0, 20);
	uplink_open(p->uplink, DEVICE_IDLE, p->now_ms);
	expect_hello(p);
	assert_int_equal(say_welcome(p, PROTOCOL_VERSION + 1, WINDOW, NULL, 0), -EPROTO);
	expect_bye(p, BYE_VERSION);
	disconnect(p);
	uplink_open(p->uplink, DEVICE_IDLE, p->now_ms);
	expect_hello(p);
	assert_int_equal(say_welcome(p, 1, WINDOW, &row, 1), -EPROTO);
	expect_bye(p, BYE_PROTOCOL);
	disconnect(p);
	uplink_open(p->uplink, DEVICE_IDLE, p->now_ms);
	expect_hello(p);
	assert_int_equal(say(p, FRAME_WELCOME, (const uint8_t *)"\1", 1), -EPROTO);
	expect_bye(p, BYE_PROTOCOL);
	disconnect(p);
	uplink_open(p->uplink, DEVICE_IDLE, p->now_ms);
	expect_hello(p);
	assert_int_equal(say_ack(p, 0), -EPROTO); /* not the first frame */
	expect_bye(p, BYE_PROTOCOL);
	disconnect(p);
	connect_to(p, WINDOW);
	expect_run(p, 1);
	expect_entry(p, FRAME_BLOCK, 0, 0);
	assert_int_equal(say_welcome(p, 1, WINDOW, NULL, 0), -EPROTO); /* a second one */
	expect_bye(p, BYE_PROTOCOL);
	assert_int_equal(fake_spool_left(&p->spool), 1);
}

static void refuses_what_only_a_device_says(void **state)
{
	static const uint32_t types[] = { FRAME_BLOCK,	FRAME_HELLO,  FRAME_RUN,  FRAME_RUN_END,
					  FRAME_RESULT, FRAME_STATUS, FRAME_PONG, FRAME_PIECE };
	struct peer *p = *state;
	size_t i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		connect_to(p, WINDOW);
		assert_int_equal(say(p, types[i], (const uint8_t *)"", 0), -EPROTO);
		expect_bye(p, BYE_PROTOCOL);
		disconnect(p);
	}
}

static struct message_want wanted;
static uint32_t wants, pieces;

static void take_want(void *context, const struct message_want *m)
{
	(void)context;
	wanted = *m;
	wants++;
}

static uint32_t put_piece(void *context, uint8_t *body)
{
	(void)context;
	if (pieces == wants)
		return 0;
	pieces++;
	memset(body, 'p', MESSAGE_PIECE_MAX);
	return MESSAGE_PIECE_MAX;
}

/* Without objects a question is skipped; with them it is answered, behind all that waits in the spool. */
static void sends_objects_last(void **state)
{
	static const uint8_t want[] = { 2, 0xab, 0xcd, 7 };
	struct peer *p = *state;
	struct uplink_options o = { .name = "board",
				    .agent = "0.1.0",
				    .kernel = "6.18.0",
				    .machine = "armv7l",
				    .cpus = 2,
				    .entry_max = FAKE_SPOOL_BYTES,
				    .abilities = ABILITY_OBJECTS,
				    .hooks = { p, instruct, clocks, take_want, put_piece } };
	struct frame f;
	uint8_t i;

	connect_to(p, WINDOW);
	assert_int_equal(say(p, FRAME_WANT, want, sizeof(want)), 0);
	expect_silence(p);
	disconnect(p);
	uplink_free(p->uplink);
	o.spool = &p->spool;
	assert_int_equal(uplink_new(&p->uplink, &o, &p->error), 0);
	wants = pieces = 0;
	p->in_at = p->in_len = 0;
	uplink_open(p->uplink, DEVICE_TRACING, p->now_ms);
	assert_int_equal(expect_hello(p).abilities, ABILITY_OBJECTS);
	assert_int_equal(say_welcome(p, 1, WINDOW, NULL, 0), 0);
	for (i = 0; i < 3; i++)
		fake_spool_add(&p->spool, FRAME_BLOCK, 3, 1, i, 40);
	assert_int_equal(say(p, FRAME_WANT, want, sizeof(want)), 0);
	assert_int_equal(wanted.id.len, 2);
	assert_int_equal(wanted.offset, 7);
	expect_run(p, 3);
	for (i = 0; i < 3; i++)
		expect_entry(p, FRAME_BLOCK, 1, i);
	f = hear(p);
	assert_int_equal(f.type, FRAME_PIECE);
	assert_int_equal(f.body_len, MESSAGE_PIECE_MAX);
	expect_silence(p);
	disconnect(p);
	/* What waits for the window waits before them, though nothing is under way to the socket. */
	connect_to(p, 0);
	assert_int_equal(say(p, FRAME_WANT, want, sizeof(want)), 0);
	expect_run(p, 3);
	for (i = 0; i < 3; i++) {
		expect_entry(p, FRAME_BLOCK, 1, i);
		if (i == 2)
			break;
		expect_silence(p);
		assert_int_equal(say_ack(p, i + 1), 0);
	}
	assert_int_equal(hear(p).type, FRAME_PIECE);
	expect_silence(p);
	assert_int_equal(say(p, FRAME_WANT, want, 1), -EPROTO);
	expect_bye(p, BYE_PROTOCOL);
}

static void refuses_garbage(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
	} all[] = {
		{ "\0", 1 },			       /* type 0 */
		{ "\x80\x01", 2 },		       /* type above 127 */
		{ "\x06\xff\xff\xff\x7f", 6 },	       /* an ACK of a quarter of a gigabyte */
		{ "\x06\x80\x80\x01\x00", 5 },	       /* an ACK of 16 KiB */
		{ "\x06\x00", 2 },		       /* an ACK of nothing */
		{ "\x06\x01\x01", 3 },		       /* an ACK of more than was sent */
		{ "\x07\x01\x01", 3 },		       /* half an INSTRUCTION */
		{ "\x07\x05\x01\x01\x04\x01\x00", 7 }, /* flush after 0 ms */
		{ "\x0a\x01\x01", 3 },		       /* half a PING */
		{ "\x0c\x02\x01\x05", 4 },	       /* a BYE whose text is cut */
	};
	struct peer *p = *state;
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		connect_to(p, WINDOW);
		assert_int_equal(say_bytes(p, (const uint8_t *)all[i].bytes, all[i].len), -EPROTO);
		assert_memory_equal(p->error.text, "cannot understand the collector: ", 33);
		expect_bye(p, BYE_PROTOCOL);
		assert_int_equal(say_ack(p, 0), 0); /* what comes then does not matter */
		disconnect(p);
		assert_true(uplink_next(p->uplink) >= p->now_ms + RETRY_LONGEST_MS);
	}
	assert_int_equal(p->instructions, 0);
}

/* --- when to come again --- */

static void waits_longer_each_time(void **state)
{
	struct peer *p = *state;
	uint32_t most = RETRY_FIRST_MS, i;
	uint64_t wait;

	assert_true(uplink_next(p->uplink) <= p->now_ms); /* the first attempt at once */
	for (i = 0; i < 12; i++) {
		disconnect(p); /* it could not even connect */
		wait = uplink_next(p->uplink) - p->now_ms;
		assert_in_range(wait, most / 2, most);
		most = 2 * most < RETRY_LONGEST_MS ? 2 * most : RETRY_LONGEST_MS;
		p->now_ms += wait;
	}
	connect_to(p, WINDOW);
	p->now_ms += UPLINK_LIVED_MS - 1;
	disconnect(p);
	assert_in_range(uplink_next(p->uplink) - p->now_ms, RETRY_LONGEST_MS / 2, RETRY_LONGEST_MS);
	connect_to(p, WINDOW);
	p->now_ms += UPLINK_LIVED_MS;
	disconnect(p);
	assert_in_range(uplink_next(p->uplink) - p->now_ms, RETRY_FIRST_MS / 2, RETRY_FIRST_MS);
}

static void comes_back_after_a_bye(void **state)
{
	struct peer *p = *state;
	uint32_t code;

	for (code = BYE_DONE; code <= BYE_REFUSED; code++) {
		bool patient = code != BYE_DONE && code != BYE_DUPLICATE;
		uint64_t wait;

		connect_to(p, WINDOW);
		p->now_ms += UPLINK_LIVED_MS;
		assert_int_equal(say_bye(p, code), -ECONNRESET);
		assert_non_null(strstr(p->error.text, "full"));
		expect_silence(p);
		disconnect(p);
		wait = uplink_next(p->uplink) - p->now_ms;
		assert_in_range(wait, patient ? RETRY_LONGEST_MS : RETRY_FIRST_MS / 2,
				patient ? 3 * RETRY_LONGEST_MS / 2 : RETRY_FIRST_MS);
		p->now_ms += wait;
	}
}

static void notices_silence(void **state)
{
	struct peer *p = *state;

	assert_false(uplink_is_silent(p->uplink, p->now_ms));
	assert_false(uplink_waits(p->uplink));	 /* for nobody */
	uplink_bye(p->uplink, BYE_DONE, "done"); /* to nobody */
	expect_silence(p);
	connect_to(p, WINDOW);
	assert_true(uplink_next(p->uplink) == p->now_ms + UPLINK_SILENCE_MS);
	p->now_ms += UPLINK_SILENCE_MS - 1;
	assert_false(uplink_is_silent(p->uplink, p->now_ms));
	assert_int_equal(say_bytes(p, (const uint8_t *)"\x0a", 1),
			 0); /* a byte is a sign of life */
	p->now_ms += UPLINK_SILENCE_MS - 1;
	assert_false(uplink_is_silent(p->uplink, p->now_ms));
	assert_int_equal(uplink_push(p->uplink, NULL, 0, p->now_ms, &p->error),
			 0); /* nothing is not */
	p->now_ms++;
	assert_true(uplink_is_silent(p->uplink, p->now_ms));
}

/* The marks err to the safe side and never run out. */
static void counts_what_is_in_flight(void **state)
{
	struct flight f;
	uint32_t i, window = 1U << 22;
	uint64_t acked = 0, bytes = 0;

	(void)state;
	flight_init(&f, window);
	for (i = 0; i < 200000; i++) {
		uint32_t size = 60 + i % 700;

		while (!flight_has_room(&f, size)) {
			acked += 1 + (f.frames - acked) / 3;
			assert_true(flight_acked(&f, acked));
		}
		flight_sent(&f, size);
		bytes += size;
		assert_true(f.n < FLIGHT_MARKS);
		assert_true(f.bytes - f.acked_bytes <= window);
	}
	assert_true(f.bytes == bytes && f.frames == 200000);
	assert_false(flight_acked(&f, 200001));
	assert_true(flight_acked(&f, 200000));
	assert_true(f.acked_bytes == bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(says_who_it_is, setup, teardown),
		cmocka_unit_test_setup_teardown(cuts_long_texts, setup, teardown),
		cmocka_unit_test_setup_teardown(sends_runs_in_order, setup, teardown),
		cmocka_unit_test_setup_teardown(goes_on_where_the_collector_is, setup, teardown),
		cmocka_unit_test_setup_teardown(takes_a_long_welcome, setup, teardown),
		cmocka_unit_test_setup_teardown(stays_in_the_window, setup, teardown),
		cmocka_unit_test_setup_teardown(sends_singly_in_a_window_that_is_too_small, setup,
						teardown),
		cmocka_unit_test_setup_teardown(answers, setup, teardown),
		cmocka_unit_test_setup_teardown(says_how_it_is, setup, teardown),
		cmocka_unit_test_setup_teardown(does_not_answer_who_does_not_listen, setup,
						teardown),
		cmocka_unit_test_setup_teardown(leaves_who_does_not_listen, setup, teardown),
		cmocka_unit_test_setup_teardown(skips_what_it_does_not_know, setup, teardown),
		cmocka_unit_test_setup_teardown(forgets_what_it_skipped, setup, teardown),
		cmocka_unit_test_setup_teardown(takes_frames_byte_by_byte, setup, teardown),
		cmocka_unit_test_setup_teardown(refuses_bad_welcomes, setup, teardown),
		cmocka_unit_test_setup_teardown(refuses_what_only_a_device_says, setup, teardown),
		cmocka_unit_test_setup_teardown(sends_objects_last, setup, teardown),
		cmocka_unit_test_setup_teardown(refuses_garbage, setup, teardown),
		cmocka_unit_test_setup_teardown(waits_longer_each_time, setup, teardown),
		cmocka_unit_test_setup_teardown(comes_back_after_a_bye, setup, teardown),
		cmocka_unit_test_setup_teardown(notices_silence, setup, teardown),
		cmocka_unit_test(counts_what_is_in_flight),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
