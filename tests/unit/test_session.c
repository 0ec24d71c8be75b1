/* SPDX-License-Identifier: MIT */
/*
 * session: a scripted device against the collector's side of the protocol: what it answers, when it
 * acknowledges, when it stalls, what it refuses and with which words.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "fuzz/starve.h"
#include "tools/session_talk.h"

/* --- the tests --- */

static void test_blocks(void **state)
{
	(void)state;
	come_in();
	say_block(1, 0, 0, 100);
	say_block(1, 1, 10, 100);
	expect_nothing();
	assert_true(session.waiting_bytes > 200);
	owner_commit(&owner, &session, &now);
	expect_ack(2);
	assert_int_equal(session.waiting_bytes, 0);
	say_end(20);
	owner_commit(&owner, &session, &now);
	expect_ack(3);
	owner_commit(&owner, &session, &now);
	expect_nothing();
}

/* A commit that began before a block came does not cover it. */
static void test_ack_waits_for_its_commit(void **state)
{
	int i;

	(void)state;
	come_in();
	say_block(1, 0, 0, 10);
	owner.commits++; /* a commit begins … */
	say_block(1, 1, 10, 10);
	session_durable(&session, 1); /* … and ends */
	expect_ack(1);
	session_durable(&session, 1);
	expect_nothing();
	for (i = 2; i < 20; i++) { /* more commits than there are batches, none of them ends */
		owner.commits++;
		say_block(1, (uint64_t)i, 10 * (uint64_t)i, 10);
	}
	session_durable(&session, 3);
	expect_ack(3);
	session_durable(&session, 20);
	expect_ack(20);
}

static void test_duplicates(void **state)
{
	(void)state;
	come_in();
	say_block(1, 0, 0, 10);
	say_block(1, 0, 0, 10); /* again, before the first one is durable */
	session_durable(&session, 0);
	expect_nothing();
	owner_commit(&owner, &session, &now);
	expect_ack(2);
	assert_int_equal(owner.puts, 1);
	say_block(1, 0, 0, 10);
	session_durable(&session, owner.durable);
	expect_ack(3);
}

static void test_resume(void **state)
{
	struct message_resume row;
	struct message_welcome m;
	struct frame f;

	(void)state;
	come_in();
	say_block(0, 0, 0, 10);
	say_block(2, 5, 7, 10); /* the device gave up five blocks before it */
	say_run(11);
	say_block(1, 0, 0, 10);
	session_end(&session);
	session_init(&session, &env, &owner, 7);
	owner.sent_len = 0;
	say_hello(1, 2);
	f = next_frame(FRAME_WELCOME);
	assert_int_equal(welcome_decode(&m, f.body, f.body_len), WIRE_OK);
	assert_int_equal(m.n_rows, 3);
	assert_true(welcome_next(&m, &row) && row.run == 0 && row.stream == 0);
	assert_int_equal(row.next_sequence, 1);
	assert_true(welcome_next(&m, &row) && row.run == 0 && row.stream == 2);
	assert_int_equal(row.next_sequence, 6);
	assert_true(welcome_next(&m, &row) && row.run == 1 && row.stream == 1);
	assert_int_equal(row.next_sequence, 1);
}

/* Bytes one by one give the same, and nothing is held between frames. */
static void test_trickle(void **state)
{
	static uint8_t bytes[1024];
	struct block b = {
		.codec = CODEC_SCHED, .flags = BLOCK_KEY, .stream = 1, .payload_len = 90
	};
	uint32_t len, head, i;
	uint8_t *block;

	(void)state;
	come_in();
	block = make_block(&b, &len);
	head = frame_encode_head(bytes, FRAME_BLOCK, len);
	memcpy(bytes + head, block, len);
	for (i = 0; i < head + len; i++) {
		assert_int_equal(owner.puts, 0);
		session_push(&session, bytes + i, 1, &now);
	}
	assert_int_equal(owner.puts, 1);
	assert_null(session.held);
}

/* A claim of a megabyte costs what was sent of it. */
static void test_held_grows_with_bytes(void **state)
{
	uint8_t head[FRAME_HEAD_MAX];
	uint32_t n = frame_encode_head(head, FRAME_BLOCK, FRAME_BODY_MAX);

	(void)state;
	come_in();
	session_push(&session, head, n, &now);
	assert_true(session.held_room <= 1024);
	memset(room, 0, sizeof(room));
	session_push(&session, room, 3000, &now);
	assert_true(session.held_room <= 8192);
}

static void test_window_stalls(void **state)
{
	(void)state;
	come_in();
	say_block(1, 0, 0, 6000);
	assert_false(session.stalled);
	say_block(1, 1, 10, 6000);
	assert_true(session.stalled);
	session_resume(&session, &now);
	assert_true(session.stalled); /* nothing was committed */
	owner_commit(&owner, &session, &now);
	assert_false(session.stalled);
	expect_ack(2);
	say_block(1, 2, 20, 10);
	assert_int_equal(owner.puts, 3);
}

/* What came behind the block that fills the window waits, however it was cut; in the order that it came. */
static void test_window_stalls_in_between(void **state)
{
	static uint8_t bytes[32768];
	struct block b = {
		.codec = CODEC_SCHED, .flags = BLOCK_KEY, .stream = 1, .payload_len = WINDOW
	};
	uint32_t len, at = 0, first = 0, i;
	uint8_t *block;

	(void)state;
	for (i = 0; i < 3; i++) {
		b.sequence = i;
		b.before = i;
		b.payload_len = i ? 10 : WINDOW;
		block = make_block(&b, &len);
		at += frame_encode_head(bytes + at, FRAME_BLOCK, len);
		memcpy(bytes + at, block, len);
		at += len;
		first = i ? first : at;
	}
	for (i = 0; i < first; i += 997) { /* 0: all at once */
		finish(NULL);
		begin(NULL);
		come_in();
		session_push(&session, bytes, i, &now);
		assert_false(session.stalled);
		session_push(&session, bytes + i, at - i, &now);
		assert_true(session.stalled);
		assert_int_equal(owner.puts, 1);
		assert_int_equal(session.held_len, at - first);
		owner_commit(&owner, &session, &now);
		assert_false(session.stalled);
		assert_int_equal(owner.puts, 3);
		assert_null(session.held);
	}
}

/* The longest frame that there may be is held whole, and no more than what can come with it. */
static void test_longest_frame(void **state)
{
	uint8_t head[FRAME_HEAD_MAX];
	uint32_t n = frame_encode_head(head, FRAME_BLOCK, FRAME_BODY_MAX), left;

	(void)state;
	come_in();
	session_push(&session, head, n, &now);
	memset(room, 0, SESSION_READ_MAX);
	for (left = FRAME_BODY_MAX; left; left -= n) {
		assert_true(session.held_len);
		n = left < SESSION_READ_MAX ? left : SESSION_READ_MAX;
		session_push(&session, room, n, &now);
		assert_true(session.held_room <=
			    FRAME_HEAD_MAX + FRAME_BODY_MAX + SESSION_READ_MAX);
	}
	expect_bye(BYE_PROTOCOL, "BLOCK of 1048688 bytes holds no whole block");
}

static uint32_t asked;

static int count_run(void *o, const struct message_id *run, uint32_t *ret, struct error *e)
{
	asked++;
	return owner_ops.run(o, run, ret, e);
}

/* A RUN is no run: with its first block it becomes one. */
static void test_million_runs(void **state)
{
	struct session_ops ops = owner_ops;
	uint8_t frame[FRAME_HEAD_MAX + 16];
	uint32_t n = frame_encode_head(frame, FRAME_RUN, 16), i;

	(void)state;
	ops.run = ops.find = count_run;
	env.ops = &ops;
	asked = 0;
	come_in();
	for (i = 0; i < 1000000; i++) {
		memset(frame + n, 0, 16);
		put_le32(frame + n, i);
		session_push(&session, frame, n + 16, &now);
	}
	assert_int_equal(asked, 0);
	assert_int_equal(owner.n_runs, 0);
	assert_null(session.held);
	say_block(1, 0, 0, 10);
	assert_int_equal(asked, 1);
	assert_int_equal(owner.n_runs, 1);
	assert_int_equal(get_le32(owner.runs[0].id.bytes), 999999);
}

/* Frames of the least size, or the largest: others get their turn after so many. */
static void test_turns(void **state)
{
	static const uint32_t bodies[] = { 0, 1, 16, 1000, 32768 };
	static uint8_t bytes[SESSION_READ_MAX];
	uint32_t i, n, len, turns, most;
	uint64_t sent, frames;

	for (i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++, finish(state), begin(state)) {
		env.turn_bytes = SESSION_TURN_BYTES;
		come_in();
		memset(bytes, 0, sizeof(bytes));
		for (n = 0, len = 0; len + FRAME_HEAD_MAX + bodies[i] <= sizeof(bytes); n++) {
			len += frame_encode_head(bytes + len, 40, bodies[i]);
			len += bodies[i];
		}
		most = SESSION_TURN_BYTES / (bodies[i] + SESSION_FRAME_COST) + 1;
		frames = session.frames;
		session_turn(&session, &now);
		for (sent = 0, turns = 1; sent < 40; sent++) {
			session_push(&session, bytes, len, &now);
			while (session.yielded) {
				assert_true(session.frames - frames <= (uint64_t)turns * most);
				session_turn(&session, &now);
				turns++;
			}
		}
		assert_int_equal(session.frames - frames, 40 * n);
		assert_true(turns > 40 * n / most);
		assert_null(session.held);
	}
}

/* Without memory for what a device sends the collector lives on, and the device is told. */
static void test_without_memory(void **state)
{
	uint8_t head[FRAME_HEAD_MAX];
	uint32_t n = frame_encode_head(head, FRAME_BLOCK, 5000);

	(void)state;
	come_in();
	starve_begin(0);
	session_push(&session, head, n, &now);
	assert_true(starve_end());
	expect_bye(BYE_LIMIT, "out of memory");
	session_done(&session);
	session_init(&session, &env, &owner, 7);
	owner.sent_len = 0;
	come_in();
	session_push(&session, head, n, &now);
	memset(room, 0, 4000);
	starve_begin(0); /* for the rest of a frame whose start it had */
	session_push(&session, room, 4000, &now);
	assert_true(starve_end());
	expect_bye(BYE_LIMIT, "out of memory");
	assert_null(session.held);
}

/* The store is full: the frame stays, with all that came behind it. */
static void test_store_stalls(void **state)
{
	static uint8_t bytes[4096];
	struct block b = {
		.codec = CODEC_SCHED, .flags = BLOCK_KEY, .stream = 1, .payload_len = 100
	};
	uint32_t len, at = 0, i;
	uint8_t *block;

	(void)state;
	come_in();
	owner.batch_max = 2;
	for (i = 0; i < 7; i++) {
		b.sequence = i;
		block = make_block(&b, &len);
		at += frame_encode_head(bytes + at, FRAME_BLOCK, len);
		memcpy(bytes + at, block, len);
		at += len;
	}
	session_push(&session, bytes, at - 5, &now); /* the last one is cut, too */
	assert_true(session.stalled);
	assert_int_equal(owner.puts, 2);
	owner_commit(&owner, &session, &now);
	assert_true(session.stalled);
	assert_int_equal(owner.puts, 4);
	expect_ack(2);
	owner_commit(&owner, &session, &now);
	owner_commit(&owner, &session, &now);
	assert_false(session.stalled);
	assert_int_equal(owner.puts, 6);
	owner.sent_len = 0;
	session_push(&session, bytes + at - 5, 5, &now);
	owner_commit(&owner, &session, &now);
	expect_ack(7);
	assert_null(session.held);
}

/* Also HELLO and RUN wait when there is no room. */
static void test_hello_stalls(void **state)
{
	(void)state;
	owner.busy = 2;
	say_hello(1, 1);
	assert_true(session.stalled);
	expect_nothing();
	owner_commit(&owner, &session, &now); /* the device is taken, its run is not */
	assert_true(session.stalled);
	expect_nothing();
	owner_commit(&owner, &session, &now);
	expect_welcome(0);
	assert_false(session.stalled);
	owner.busy = 1;
	say_run(10); /* asks for nothing; its first block does */
	assert_false(session.stalled);
	say_block(1, 0, 0, 10);
	assert_true(session.stalled);
	assert_int_equal(session.run, 0);
	owner_commit(&owner, &session, &now);
	assert_false(session.stalled);
	assert_int_equal(session.run, 1);
	assert_int_equal(owner.puts, 1);
	assert_null(session.held);
}

static void test_clock(void **state)
{
	uint64_t first_ns;

	(void)state;
	come_in();
	say_block(1, 0, 0, 10);
	session_ping(&session, &now); /* at 1000 ms, real time 5000 ms */
	next_frame(FRAME_PING);
	now.mono_ns += 10 * MS;
	first_ns = now.mono_ns;
	say_pong(1, 300 * MS);
	assert_int_equal(owner.clock.round_trip_ns, 10 * MS);
	assert_int_equal(owner.clock.off_ns, 5000 * MS + 5 * MS - 300 * MS);
	assert_int_equal(owner.clock.err_ns, 5 * MS + 1000);
	assert_int_equal(owner.clock_run, 1);
	session_ping(&session, &now);
	now.mono_ns += 20 * MS; /* a worse one does not count … */
	say_pong(2, 310 * MS);
	assert_int_equal(owner.clock.round_trip_ns, 10 * MS);
	/* … until the better one is old: at 1/8192 of the time, 5 ms more take 40.96 s. */
	now.mono_ns = first_ns + 40900 * MS - 20 * MS;
	session_ping(&session, &now);
	now.mono_ns += 20 * MS;
	say_pong(3, 390 * MS);
	assert_int_equal(owner.clock.round_trip_ns, 10 * MS);
	now.mono_ns = first_ns + 41000 * MS - 20 * MS;
	session_ping(&session, &now);
	now.mono_ns += 20 * MS;
	say_pong(4, 400 * MS);
	assert_int_equal(owner.clock.round_trip_ns, 20 * MS);
	owner.clock_run = 0; /* a new run is told, too */
	say_run(12);
	assert_int_equal(owner.clock_run, 0);
	say_block(1, 0, 0, 10);
	assert_int_equal(owner.clock_run, 2);
	owner.sent_len = 0;
	say_pong(2, 1); /* late, and of no use */
	session_ping(&session, &now);
	next_frame(FRAME_PING);
	say_pong(5, 500 * MS); /* in no time: that says nothing */
	assert_int_equal(owner.clock.round_trip_ns, 20 * MS);
	say_pong(9, 1);
	expect_bye(BYE_PROTOCOL, "PONG");
}

static void test_status_result_instruction(void **state)
{
	struct message_status status = { .events = 77 };
	struct message_result result = { .id = 5 };
	struct message_instruction in = { .id = 5, .verb = INSTRUCTION_STOP };
	struct byte_writer w;

	(void)state;
	come_in();
	writer_init(&w, room, sizeof(room));
	status_encode(&w, &status);
	send_frame(FRAME_STATUS, room, writer_len(&w));
	assert_int_equal(owner.status_events, 77);
	session_instruct(&session, &in);
	next_frame(FRAME_INSTRUCTION);
	writer_init(&w, room, sizeof(room));
	result_encode(&w, &result);
	send_frame(FRAME_RESULT, room, writer_len(&w));
	assert_int_equal(owner.result_id, 5);
	send_frame(40, room, 30); /* of a later version */
	assert_false(session_is_over(&session));
	expect_nothing();
}

/* --- bad peers --- */

static void test_garbage(void **state)
{
	(void)state;
	session_push(&session, (const uint8_t *)"GET / HTTP/1.1\r\n", 16, &now);
	expect_bye(BYE_PROTOCOL, "type 71, not HELLO");
	session_push(&session, (const uint8_t *)"more", 4, &now); /* is not looked at */
	expect_nothing();
}

static void test_zeros(void **state)
{
	(void)state;
	come_in();
	session_push(&session, (const uint8_t *)"\0\0\0", 3, &now);
	expect_bye(BYE_PROTOCOL, "out of bounds");
}

static void test_oversized(void **state)
{
	(void)state;
	come_in();
	session_push(&session, (const uint8_t *)"\x01\xf1\x80\x40", 4, &now);
	expect_bye(BYE_PROTOCOL, "out of bounds");
}

static void test_large_hello(void **state)
{
	(void)state;
	session_push(&session, (const uint8_t *)"\x02\xf0\x80\x40", 4, &now);
	expect_bye(BYE_PROTOCOL, "HELLO of");
}

static void test_cut_hello(void **state)
{
	(void)state;
	send_frame(FRAME_HELLO, (const uint8_t *)"\x01zzz", 4);
	expect_bye(BYE_PROTOCOL, "HELLO: device at offset 1 is cut short");
}

static void test_wrong_version(void **state)
{
	(void)state;
	say_hello(0, 0);
	expect_bye(BYE_VERSION, "version 0");
	assert_int_equal(owner.arrived, 0);
}

static void test_later_version(void **state)
{
	(void)state;
	say_hello(9, 0);
	expect_welcome(0);
}

static void test_limit(void **state)
{
	(void)state;
	owner.refuse = true;
	say_hello(1, 0);
	expect_bye(BYE_LIMIT, "too many devices");
}

static void test_second_hello(void **state)
{
	(void)state;
	come_in();
	say_hello(1, 0);
	expect_bye(BYE_PROTOCOL, "second HELLO");
}

static void test_block_before_run(void **state)
{
	(void)state;
	say_hello(1, 0);
	expect_welcome(0);
	say_block(1, 0, 0, 10);
	expect_bye(BYE_PROTOCOL, "before any RUN");
}

static void test_end_before_run(void **state)
{
	(void)state;
	say_hello(1, 0);
	expect_welcome(0);
	say_end(0);
	expect_bye(BYE_PROTOCOL, "before any RUN");
}

static void test_wrong_checksum(void **state)
{
	struct block b = {
		.codec = CODEC_SCHED, .flags = BLOCK_KEY, .stream = 1, .payload_len = 100
	};
	uint32_t len;
	uint8_t *bytes;

	(void)state;
	come_in();
	bytes = make_block(&b, &len);
	bytes[len - 1] ^= 1;
	send_frame(FRAME_BLOCK, bytes, len);
	expect_bye(BYE_PROTOCOL, "checksum");
	assert_int_equal(owner.puts, 0);
}

static void test_two_blocks_in_one(void **state)
{
	struct block b = { .codec = CODEC_SCHED, .flags = BLOCK_KEY, .stream = 1 };
	uint8_t twice[256];
	uint32_t len;
	uint8_t *bytes;

	(void)state;
	come_in();
	bytes = make_block(&b, &len);
	memcpy(twice, bytes, len);
	memcpy(twice + len, bytes, len);
	send_frame(FRAME_BLOCK, twice, 2 * len);
	expect_bye(BYE_PROTOCOL, "no whole block");
}

static void test_want(void **state)
{
	const struct message_want m = { .id = { 2, { 0xab, 0xcd } }, .offset = 300 };
	struct message_want back;
	struct frame f;

	(void)state;
	session_want(&session, &m); /* nobody is there yet */
	expect_nothing();
	come_in();
	session_want(&session, &m);
	f = next_frame(FRAME_WANT);
	assert_int_equal(want_decode(&back, f.body, f.body_len), WIRE_OK);
	assert_memory_equal(back.id.bytes, m.id.bytes, 2);
	assert_int_equal(back.offset, 300);
	/* A piece that makes sense is somebody else's to judge. */
	send_frame(FRAME_PIECE, (const uint8_t *)"\2\xab\xcd\5\0\5bytes", 11);
	expect_nothing();
	/* Longer than its file. */
	send_frame(FRAME_PIECE, (const uint8_t *)"\2\xab\xcd\4\0\5bytes", 11);
	expect_bye(BYE_PROTOCOL, "PIECE");
}

static void test_want_of_device(void **state)
{
	(void)state;
	come_in();
	send_frame(FRAME_WANT, (const uint8_t *)"\2\xab\xcd\0", 4);
	expect_bye(BYE_PROTOCOL, "only a collector sends");
}

static void test_large_stream(void **state)
{
	(void)state;
	come_in();
	say_block(4097, 0, 0, 10);
	expect_bye(BYE_PROTOCOL, "stream 4097");
}

/* The last number before those of threads, and the first behind them. */
static void test_stream_before_threads(void **state)
{
	(void)state;
	come_in();
	say_block(STREAM_FUNC_FIRST - 1, 0, 0, 10);
	expect_bye(BYE_PROTOCOL, "stream 65535");
}

static void test_stream_behind_threads(void **state)
{
	(void)state;
	come_in();
	say_block(STREAM_FUNC(STREAM_FUNC_THREADS), 0, 0, 10);
	expect_bye(BYE_PROTOCOL, "no CPU and no thread");
}

/* Streams of threads are taken, told in WELCOME, and end as all others do. */
static void test_threads(void **state)
{
	struct message_welcome welcome;
	struct message_resume row;
	struct frame f;

	(void)state;
	come_in();
	say_block(0, 0, 0, 10);
	say_block(STREAM_FUNC(0), 0, 0, 10);
	say_block(STREAM_FUNC(0), 1, 10, 10);
	say_block(STREAM_FUNC_OS(1), 0, 0, 10);
	assert_int_equal(owner.puts, 4);
	owner_commit(&owner, &session, &now);
	next_frame(FRAME_ACK);
	session_done(&session);
	session_init(&session, &env, &owner, 7);
	say_hello(1, 1);
	f = next_frame(FRAME_WELCOME);
	assert_int_equal(welcome_decode(&welcome, f.body, f.body_len), WIRE_OK);
	assert_int_equal(welcome.n_rows, 3);
	assert_true(welcome_next(&welcome, &row));
	assert_true(welcome_next(&welcome, &row));
	assert_int_equal(row.stream, STREAM_FUNC(0));
	assert_int_equal(row.next_sequence, 2);
	assert_true(welcome_next(&welcome, &row));
	assert_int_equal(row.stream, STREAM_FUNC_OS(1));
	say_run(10);
	say_stream_end(STREAM_FUNC(0), 20);
	assert_true(owner.runs[0].ended);
}

static void test_threads_lying_end(void **state)
{
	(void)state;
	come_in();
	say_block(STREAM_FUNC(1), 0, 0, 10);
	say_stream_end(STREAM_FUNC(1), 9);
	expect_bye(BYE_PROTOCOL, "END below");
}

/* What was stored before a lie stays, but is not acknowledged any more. */
static void test_lying_count(void **state)
{
	(void)state;
	come_in();
	say_block(1, 0, 100, 10);
	say_block(1, 1, 50, 10);
	expect_bye(BYE_PROTOCOL, "50 events before");
	assert_int_equal(owner.puts, 1);
	owner_commit(&owner, &session, &now);
	expect_nothing();
}

static void test_lying_end(void **state)
{
	(void)state;
	come_in();
	say_block(1, 0, 100, 10);
	say_end(5);
	expect_bye(BYE_PROTOCOL, "END below");
}

static void test_cut_messages(void **state)
{
	static const struct {
		uint32_t type;
		const char *part;
	} rows[] = { { FRAME_RUN, "RUN has" },
		     { FRAME_RUN_END, "END is cut" },
		     { FRAME_STATUS, "STATUS is cut" },
		     { FRAME_RESULT, "RESULT is cut" },
		     { FRAME_PONG, "PONG is cut" } };
	size_t i;

	come_in();
	say_pong(0, 1);
	expect_bye(BYE_PROTOCOL, "PONG is cut short, or to no PING");
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		finish(state);
		begin(state);
		come_in();
		send_frame(rows[i].type, (const uint8_t *)"\xff", 1);
		expect_bye(BYE_PROTOCOL, rows[i].part);
	}
}

static void test_device_leaves(void **state)
{
	(void)state;
	come_in();
	send_frame(FRAME_BYE, (const uint8_t *)"\0\3end", 5);
	assert_true(session_is_over(&session));
	expect_nothing();
	assert_non_null(strstr(owner.log, "BYE 0: end"));
	finish(state);
	begin(state);
	come_in();
	send_frame(FRAME_BYE, (const uint8_t *)"\0\3e", 3);
	assert_non_null(strstr(owner.log, "without a reason"));
}

static void test_lost_inside_frame(void **state)
{
	(void)state;
	come_in();
	session_push(&session, (const uint8_t *)"\x01\x50", 2, &now);
	session_end(&session);
	assert_non_null(strstr(owner.log, "inside a frame"));
	assert_null(session.held);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, finish)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_blocks),
		TEST(test_ack_waits_for_its_commit),
		TEST(test_duplicates),
		TEST(test_resume),
		TEST(test_trickle),
		TEST(test_held_grows_with_bytes),
		TEST(test_longest_frame),
		TEST(test_million_runs),
		TEST(test_turns),
		TEST(test_without_memory),
		TEST(test_window_stalls),
		TEST(test_window_stalls_in_between),
		TEST(test_store_stalls),
		TEST(test_hello_stalls),
		TEST(test_clock),
		TEST(test_status_result_instruction),
		TEST(test_garbage),
		TEST(test_zeros),
		TEST(test_oversized),
		TEST(test_large_hello),
		TEST(test_cut_hello),
		TEST(test_wrong_version),
		TEST(test_later_version),
		TEST(test_want),
		TEST(test_want_of_device),
		TEST(test_limit),
		TEST(test_second_hello),
		TEST(test_block_before_run),
		TEST(test_end_before_run),
		TEST(test_wrong_checksum),
		TEST(test_two_blocks_in_one),
		TEST(test_large_stream),
		TEST(test_stream_before_threads),
		TEST(test_stream_behind_threads),
		TEST(test_threads),
		TEST(test_threads_lying_end),
		TEST(test_lying_count),
		TEST(test_lying_end),
		TEST(test_cut_messages),
		TEST(test_device_leaves),
		TEST(test_lost_inside_frame),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
