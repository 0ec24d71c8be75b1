/* SPDX-License-Identifier: MIT */
/*
 * The driver's side of the protocol against a collector that follows a script: what it says and in
 * which order, how far ahead it lets blocks go, that it takes every frame however it is cut, and
 * when it comes again.
 */
#include <errno.h>

#include "tools/driver_talk.h"

/* --- the way it should go --- */

static void says_who_it_is(void **state)
{
	struct message_hello m, want = a_hello();
	struct frame f;

	(void)state;
	assert_false(session_may_send(&session, 1));
	open_session();
	f = hear();
	assert_int_equal(f.type, FRAME_HELLO);
	assert_int_equal(hello_decode(&m, f.body, f.body_len), WIRE_OK);
	assert_int_equal(m.version, PROTOCOL_VERSION);
	assert_memory_equal(&m.device, &want.device, 16);
	assert_memory_equal(&m.boot, &want.boot, 16);
	assert_memory_equal(m.machine.at, "arm", 3);
	assert_int_equal(m.cpus, CPUS);
	assert_int_equal(m.state, DEVICE_TRACING);
	assert_int_equal(m.n_runs, 2);
	assert_int_equal(m.runs[1].bytes[15], 4);
	expect_silence();
	assert_false(session_may_send(&session, 1)); /* nothing before the WELCOME */
	assert_false(session_put_run(&session, &want.runs[0]));
	assert_int_equal(say_welcome(1, WINDOW, NULL, 0), 0);
	assert_int_equal(session.number, 9);
	assert_true(session_may_send(&session, 1000));
	expect_calls("");
}

/* The largest HELLO there is has room. */
static void says_all_of_it(void **state)
{
	struct message_hello m = a_hello(), got;
	char longest[MESSAGE_TEXT_MAX];
	struct frame f;

	(void)state;
	memset(longest, 'x', sizeof(longest));
	m.name = m.agent = m.kernel = m.machine = (struct message_text){ longest, sizeof(longest) };
	m.n_runs = MESSAGE_RUNS_MAX;
	m.cpus = MESSAGE_STREAMS_MAX - 1;
	session_open(&session, &m, now_ms);
	f = hear();
	assert_int_equal(f.type, FRAME_HELLO);
	assert_int_equal(hello_decode(&got, f.body, f.body_len), WIRE_OK);
	assert_int_equal(got.n_runs, MESSAGE_RUNS_MAX);
	assert_int_equal(got.machine.len, MESSAGE_TEXT_MAX);
}

static void goes_on_where_the_collector_is(void **state)
{
	static const struct message_resume rows[] = {
		{ .run = 0, .stream = 1, .next_sequence = 3 },
		{ .run = 1, .stream = CPUS, .next_sequence = UINT64_MAX },
		{ .run = 1, .stream = CPUS + 1, .next_sequence = 9 }, /* no such CPU */
		{ .run = 1, .stream = 0, .next_sequence = 0 },
	};

	(void)state;
	open_session();
	assert_int_equal(say_welcome(1, WINDOW, rows, 4), 0);
	expect_calls("resume 0 1 3\nresume 1 4 18446744073709551615\nresume 1 0 0\n");
}

/* A RUN and all else that is said stands before the blocks that come after it. */
static void speaks_before_blocks_go(void **state)
{
	struct message_hello m = a_hello();
	uint32_t len;
	struct frame f;

	(void)state;
	connect_to(WINDOW);
	assert_true(session_may_send(&session, 100));
	assert_true(session_put_run(&session, &m.runs[1]));
	assert_false(session_may_send(&session, 100));
	session_get(&session, &len);
	assert_int_equal(len, 18);
	memcpy(heard + heard_len, session_get(&session, &len), 7);
	heard_len += 7;
	session_pop(&session, 7); /* the socket took a part */
	assert_false(session_may_send(&session, 100));
	f = hear();
	assert_int_equal(f.type, FRAME_RUN);
	assert_int_equal(f.body_len, 16);
	assert_int_equal(f.body[15], 4);
	assert_true(session_may_send(&session, 100));
}

static void counts_acknowledged_frames(void **state)
{
	(void)state;
	connect_to(WINDOW);
	assert_int_equal(send_blocks(5, 1000), 5);
	assert_int_equal(say_ack(2), 0);
	assert_int_equal(say_ack(2), 0); /* again */
	assert_int_equal(say_ack(1), 0); /* late */
	assert_int_equal(say_ack(5), 0);
	expect_calls("acked 2\nacked 2\nacked 1\nacked 5\n");
	assert_true(session.flight.acked_bytes == 5000);
	assert_int_equal(say_ack(6), -EPROTO);
	expect_bye(BYE_PROTOCOL);
	expect_calls("");
	disconnect();
	connect_to(WINDOW); /* frames count from its start */
	assert_int_equal(send_blocks(1, 1000), 1);
	assert_int_equal(say_ack(2), -EPROTO);
}

static void stays_in_the_window(void **state)
{
	uint64_t sent = 0, done = 0;

	(void)state;
	connect_to(10000);
	while (sent < 1000) {
		sent += send_blocks(1000, 999);
		assert_int_equal(sent - done, 10);
		assert_false(session_may_send(&session, 999));
		assert_true(session_may_send(&session, 10));
		assert_int_equal(say_ack(sent), 0);
		done = sent;
		assert_true(session_may_send(&session, 10000));
		assert_true(session_may_send(&session, 10001)); /* one may always go */
	}
	disconnect();
	connect_to(0);
	assert_int_equal(send_blocks(9, 70000), 1);
	assert_int_equal(say_ack(1), 0);
	assert_int_equal(send_blocks(9, 70000), 1);
	disconnect();
	connect_to(UINT64_MAX);
	assert_int_equal(send_blocks(100000, 70000), 100000);
	assert_int_equal(say_ack(100000), 0);
	assert_true(session.flight.acked_bytes == session.flight.bytes);
}

static void answers(void **state)
{
	struct message_instruction order = { .id = 77, .verb = INSTRUCTION_STOP };
	uint8_t bytes[256];
	char longest[SESSION_WHY_LEN];
	size_t len = make_instruction(bytes, &order);

	(void)state;
	connect_to(WINDOW);
	assert_int_equal(say_bytes(bytes, len), 0);
	answer = -ENODEV;
	assert_int_equal(say_bytes(bytes, len), 0);
	answer_fill = 'w';
	assert_int_equal(say_bytes(bytes, len), 0);
	assert_int_equal(say(FRAME_PING, "\5\x80\1", 3), 0);
	expect_result(77, 0, "");
	expect_result(77, ENODEV, "cannot start: because");
	memset(longest, 'w', sizeof(longest));
	longest[SESSION_WHY_LEN - 1] = 0;
	expect_result(77, ENODEV, longest);
	expect_pong(5, 128);
	expect_silence();
	expect_calls("instruct 77 verb 2 given 0\n"
		     "instruct 77 verb 2 given 0\n"
		     "instruct 77 verb 2 given 0\n");
}

/* A device that holds a run of another clock than it has now says neither: the collector would
 * take one for the other. */
static void says_no_clock_that_is_wrong(void **state)
{
	(void)state;
	connect_to(WINDOW);
	has_clock = false;
	assert_int_equal(say(FRAME_PING, "\5\1", 2), 0);
	expect_silence();
	has_clock = true;
	assert_int_equal(say(FRAME_PING, "\6\1", 2), 0);
	expect_pong(6, 1);
}

static void says_how_it_is(void **state)
{
	struct message_status m = { .state = DEVICE_TRACING, .events = 10, .wakeups = 3 }, got;
	struct message_hello hello = a_hello();
	uint32_t n = 0;
	struct frame f;

	(void)state;
	assert_false(session_put_status(&session, &m)); /* to nobody */
	connect_to(WINDOW);
	assert_true(session_put_status(&session, &m));
	f = hear();
	assert_int_equal(f.type, FRAME_STATUS);
	assert_int_equal(status_decode(&got, f.body, f.body_len), WIRE_OK);
	assert_true(got.events == 10 && got.wakeups == 3);
	while (session_put_status(&session, &m) || session_put_run(&session, &hello.runs[0]))
		n++;
	assert_true(n > 100);
	assert_int_equal(say(FRAME_PING, "\1\1", 2), 0); /* still has room for its answer */
	for (; n; n--)
		assert_int_equal(hear().type, FRAME_STATUS);
	expect_pong(1, 1);
	session_bye(&session, BYE_DONE, "done");
	assert_false(session_put_status(&session, &m));
	assert_false(session_may_send(&session, 1));
	session_bye(&session, BYE_LIMIT, "again");
	expect_bye(BYE_DONE);
}

/* A collector that asks and does not listen: nothing grows, and it is served when it listens. */
static void does_not_answer_who_does_not_listen(void **state)
{
	static const uint8_t ping[] = { FRAME_PING, 2, 1, 1 };
	uint32_t said = 0, pongs = 0, room;

	(void)state;
	connect_to(WINDOW);
	while (session_room(&session, &room), room >= sizeof(ping)) {
		assert_int_equal(say_bytes(ping, sizeof(ping)), 0);
		said++;
		assert_true(said < 100000);
	}
	session_bye(&session, BYE_DONE, "and no word more"); /* where there is little room */
	assert_true(session.out_len <= SESSION_OUT_ROOM);
	session_room(&session, &room); /* so that a closing peer is noticed */
	assert_int_equal(room, session.in_size);
	disconnect();
	said = 0;
	connect_to(WINDOW);
	while (session_room(&session, &room), room >= sizeof(ping)) {
		assert_int_equal(say_bytes(ping, sizeof(ping)), 0);
		said++;
	}
	while (pongs < said) {
		expect_pong(1, 1);
		pongs++;
		if (heard_at == heard_len)
			heard_at = heard_len = 0;
		assert_int_equal(say_bytes(NULL, 0), 0);
	}
	expect_silence();
}

/* A BYE for which there is no room is left out, and no part of it is said. */
static void leaves_without_a_word(void **state)
{
	static const uint32_t rooms[] = { 0, FRAME_HEAD_MAX - 1, FRAME_HEAD_MAX, 20 };
	char text[MESSAGE_TEXT_MAX + 10];
	struct message_bye m;
	struct frame f;
	size_t i;

	(void)state;
	memset(text, 't', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	for (i = 0; i < sizeof(rooms) / sizeof(rooms[0]); i++) {
		connect_to(WINDOW);
		session.out_len = SESSION_OUT_ROOM - rooms[i];
		session_bye(&session, BYE_DONE, text);
		assert_int_equal(session.phase, SESSION_OVER);
		assert_int_equal(session.out_len, SESSION_OUT_ROOM - rooms[i]);
		session_pop(&session, UINT32_MAX); /* no more than there is */
		assert_int_equal(session.out_len, 0);
		disconnect();
		session_bye(&session, BYE_DONE, text); /* to nobody */
		assert_int_equal(session.out_len, 0);
	}
	connect_to(WINDOW);
	session_bye(&session, BYE_DONE, text);
	f = hear();
	assert_int_equal(f.type, FRAME_BYE);
	assert_int_equal(bye_decode(&m, f.body, f.body_len), WIRE_OK);
	assert_int_equal(m.text.len, MESSAGE_TEXT_MAX); /* it is cut */
	expect_silence();
}

/* Where it reads to; no more than that is believed to have come. */
static void has_room_while_it_is_open(void **state)
{
	uint32_t room, len;

	(void)state;
	session_room(&session, &room);
	assert_int_equal(room, 0);
	connect_to(WINDOW);
	memset(session_room(&session, &room), 0x7f, session.in_size); /* types of later versions */
	assert_int_equal(room, session.in_size);
	assert_int_equal(session_push(&session, UINT32_MAX, now_ms), 0);
	session_get(&session, &len);
	assert_int_equal(len, 0);
	assert_true(session.in_len <= session.in_size);
}

static void skips_what_it_does_not_know(void **state)
{
	uint8_t bytes[4096] = { 0 };
	size_t left = 100000, n;
	uint32_t head;

	(void)state;
	connect_to(WINDOW);
	head = frame_encode_head(bytes, 99, (uint32_t)left);
	assert_true(left > session.in_size);
	assert_int_equal(say_bytes(bytes, 3), 0); /* cut inside its head, too */
	assert_int_equal(say_bytes(bytes + 3, head - 3 + 100), 0);
	left -= 100;
	memset(bytes, 0xff, sizeof(bytes));
	for (; left > 100; left -= n) {
		n = left - 100 < sizeof(bytes) ? left - 100 : sizeof(bytes);
		assert_int_equal(say_bytes(bytes, n), 0);
	}
	make(bytes + left, FRAME_PING, "\1\2", 2); /* its end and another frame in one piece */
	assert_int_equal(say_bytes(bytes, left + 4), 0);
	expect_pong(1, 2);
	assert_int_equal(say(FRAME_BYE + 1, "", 0), 0);
	assert_int_equal(say(FRAME_TYPE_MAX, "abc", 3), 0);
	assert_int_equal(say_ack(0), 0);
	expect_calls("acked 0\n");
	disconnect();
	open_session();
	assert_int_equal(hear().type, FRAME_HELLO);
	assert_int_equal(say(99, "", 0), -EPROTO); /* not as the first one */
	expect_bye(BYE_PROTOCOL);
}

/* --- the same, however it is cut --- */

/* Every frame that a collector may send. */
static size_t make_script(uint8_t *out)
{
	static const struct message_resume rows[] = { { 0, 1, 300 }, { 1, 0, 5 } };
	struct message_instruction order = { .id = 300, .verb = INSTRUCTION_START };
	uint8_t *p = out;

	order.config.given = 1U << CONFIG_BLOCK_BYTES | 1U << CONFIG_CGROUP_PATHS;
	order.config.block_bytes = 8192;
	order.config.n_cgroups = 1;
	memcpy(order.config.cgroups[0], "a/b", 3);
	p += make_welcome(p, 1, WINDOW, rows, 2);
	p += make(p, FRAME_PING, "\x80\2\3", 3);
	p += make(p, FRAME_ACK, "\0", 1);
	p += make(p, 77, "a frame of a later version of the protocol", 42);
	p += make_instruction(p, &order);
	p += make(p, 13, "", 0);
	p += make(p, FRAME_PING, "\4\5later", 7);
	p += make(p, FRAME_BYE, "\4\4full", 6);
	p += make(p, FRAME_ACK, "\7", 1); /* nobody looks at it */
	return (size_t)(p - out);
}

static const char script_calls[] = "resume 0 1 300\nresume 1 0 5\nacked 0\n"
				   "instruct 300 verb 1 given 408\n";

static void expect_script_answers(int r)
{
	assert_int_equal(r, -ECONNRESET);
	assert_int_equal(hear().type, FRAME_HELLO);
	expect_pong(256, 3);
	expect_result(300, 0, "");
	expect_pong(4, 5);
	expect_silence();
	expect_calls(script_calls);
	assert_string_equal(session.why, "the collector said BYE 4: full");
}

/* What is said before the BYE is heard at once, else a BYE would make it void. */
static int say_cut(const uint8_t *bytes, size_t len, size_t cut)
{
	int r = say_bytes(bytes, cut), last;

	listen();
	last = say_bytes(bytes + cut, len - cut);
	listen();
	return r < 0 ? r : last;
}

static void takes_frames_cut_anywhere(void **state)
{
	static const size_t bye = 8 + 3; /* the BYE and what is behind it */
	uint8_t bytes[512];
	size_t len = make_script(bytes), cut, i;
	int r;

	(void)state;
	for (cut = 0; cut <= len - bye; cut++) {
		open_session();
		r = say_cut(bytes, len - bye, cut);
		assert_int_equal(r, 0);
		expect_script_answers(say_bytes(bytes + len - bye, bye));
		disconnect();
	}
	for (cut = 0; cut < bye; cut++) {
		open_session();
		assert_int_equal(say_bytes(bytes, len - bye), 0);
		listen();
		expect_script_answers(say_cut(bytes + len - bye, bye, cut));
		disconnect();
	}
	open_session();
	for (i = 0, r = 0; i < len; i++) {
		int one = say_bytes(bytes + i, 1);

		r = r < 0 ? r : one;
		listen();
	}
	expect_script_answers(r);
}

/* --- when to come again --- */

static void waits_longer_each_time(void **state)
{
	uint32_t most = RETRY_FIRST_MS, i;
	uint64_t wait;

	(void)state;
	assert_true(session_next(&session) <= now_ms); /* the first attempt at once */
	for (i = 0; i < 12; i++) {
		disconnect(); /* it could not even connect */
		wait = session_next(&session) - now_ms;
		assert_in_range(wait, most / 2, most);
		most = 2 * most < RETRY_LONGEST_MS ? 2 * most : RETRY_LONGEST_MS;
		now_ms += wait;
	}
	connect_to(WINDOW);
	now_ms += SESSION_LIVED_MS - 1;
	disconnect();
	assert_in_range(session_next(&session) - now_ms, RETRY_LONGEST_MS / 2, RETRY_LONGEST_MS);
	connect_to(WINDOW);
	now_ms += SESSION_LIVED_MS;
	disconnect();
	assert_in_range(session_next(&session) - now_ms, RETRY_FIRST_MS / 2, RETRY_FIRST_MS);
}

static void comes_back_after_a_bye(void **state)
{
	uint32_t code;

	(void)state;
	for (code = BYE_DONE; code <= BYE_REFUSED; code++) {
		bool patient = code != BYE_DONE && code != BYE_DUPLICATE;
		uint64_t wait;

		connect_to(WINDOW);
		now_ms += SESSION_LIVED_MS;
		assert_int_equal(say_bye(code, "full"), -ECONNRESET);
		assert_non_null(strstr(session.why, ": full"));
		expect_silence();
		disconnect();
		wait = session_next(&session) - now_ms;
		assert_in_range(wait, patient ? RETRY_LONGEST_MS : RETRY_FIRST_MS / 2,
				patient ? 3 * RETRY_LONGEST_MS / 2 : RETRY_FIRST_MS);
		now_ms += wait;
	}
	open_session();
	assert_string_equal(session.why, "");
	assert_int_equal(say_bye(UINT32_MAX, "a\nb\x1b[1m\xc3\xa4"),
			 -ECONNRESET); /* as the first */
	assert_string_equal(session.why, "the collector said BYE 4294967295: a?b?[1m??");
	expect_silence(); /* not even the HELLO: nobody reads it */
}

/* A reason of any length is cut to the room, and ends. */
static void keeps_a_long_reason_short(void **state)
{
	char text[256];
	size_t len;

	(void)state;
	for (len = 80; len < sizeof(text); len++) {
		memset(text, 'y', len);
		text[len] = 0;
		connect_to(WINDOW);
		assert_int_equal(say_bye(BYE_DONE, text), -ECONNRESET);
		assert_true(strlen(session.why) == (len < 101 ? 26 + len : SESSION_WHY_LEN - 1));
		disconnect();
	}
}

static void notices_silence(void **state)
{
	(void)state;
	assert_false(session_is_silent(&session, now_ms));
	connect_to(WINDOW);
	assert_true(session_next(&session) == now_ms + SESSION_SILENCE_MS);
	now_ms += SESSION_SILENCE_MS - 1;
	assert_false(session_is_silent(&session, now_ms));
	assert_int_equal(say_bytes((const uint8_t *)"\x0a", 1), 0); /* a byte is a sign of life */
	now_ms += SESSION_SILENCE_MS - 1;
	assert_false(session_is_silent(&session, now_ms));
	assert_int_equal(say_bytes(NULL, 0), 0); /* nothing is not */
	now_ms++;
	assert_true(session_is_silent(&session, now_ms));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(says_who_it_is, setup),
		cmocka_unit_test_setup(says_all_of_it, setup),
		cmocka_unit_test_setup(goes_on_where_the_collector_is, setup),
		cmocka_unit_test_setup(speaks_before_blocks_go, setup),
		cmocka_unit_test_setup(counts_acknowledged_frames, setup),
		cmocka_unit_test_setup(stays_in_the_window, setup),
		cmocka_unit_test_setup(answers, setup),
		cmocka_unit_test_setup(says_no_clock_that_is_wrong, setup),
		cmocka_unit_test_setup(says_how_it_is, setup),
		cmocka_unit_test_setup(does_not_answer_who_does_not_listen, setup),
		cmocka_unit_test_setup(leaves_without_a_word, setup),
		cmocka_unit_test_setup(has_room_while_it_is_open, setup),
		cmocka_unit_test_setup(skips_what_it_does_not_know, setup),
		cmocka_unit_test_setup(takes_frames_cut_anywhere, setup),
		cmocka_unit_test_setup(waits_longer_each_time, setup),
		cmocka_unit_test_setup(comes_back_after_a_bye, setup),
		cmocka_unit_test_setup(keeps_a_long_reason_short, setup),
		cmocka_unit_test_setup(notices_silence, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
