/* SPDX-License-Identifier: MIT */
/*
 * message: every message of docs/format/protocol.md against its vector, in both directions; cut
 * anywhere it is refused, bytes behind it are skipped, and each bound holds at its edge.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tools/recode.h"
#include "tools/vector.h"
#include "wire/block.h"

#define ROOM 65536U

static struct vector vector;
static uint8_t made[ROOM], wanted[ROOM], again[ROOM];

static struct message_text text(const char *s)
{
	return (struct message_text){ .at = s, .len = (uint32_t)strlen(s) };
}

static struct message_id id(uint8_t first)
{
	struct message_id m = { { 0 } };
	uint8_t i;

	for (i = 0; i < sizeof(m.bytes); i++)
		m.bytes[i] = (uint8_t)(first + i);
	return m;
}

static struct message_hello a_hello(void)
{
	return (struct message_hello){
		.version = 1,
		.device = id(0x10),
		.boot = id(0x20),
		.name = text("board"),
		.agent = text("0.1.0"),
		.kernel = text("6.18.0"),
		.machine = text("armv7l"),
		.cpus = 2,
		.origins = 1U << ORIGIN_TRACEFS | 1U << ORIGIN_BPF,
		.state = DEVICE_TRACING,
		.n_runs = 2,
		.runs = { id(0x30), id(0x40) },
	};
}

static void put_hello(struct byte_writer *w)
{
	struct message_hello m = a_hello();

	hello_encode(w, &m);
}

static void put_welcome(struct byte_writer *w)
{
	static const struct message_resume rows[] = { { 0, 0, 1 }, { 0, 2, 300 }, { 1, 4096, 7 } };
	struct message_welcome m = {
		.version = 1,
		.session = 5,
		.realtime_ns = 1763200000000000000,
		.window = 4194304,
		.n_rows = 3,
	};
	int i;

	welcome_encode(w, &m);
	for (i = 0; i < 3; i++)
		welcome_put(w, &rows[i]);
}

static void put_run(struct byte_writer *w)
{
	struct message_id run = id(0x30);

	run_encode(w, &run);
}

static void put_end(struct byte_writer *w)
{
	static const struct message_stream_end rows[] = { { 0, 1, 0 }, { 2, 300, 123456 } };
	struct message_end m = { .n_rows = 2 };

	end_encode(w, &m);
	end_put(w, &rows[0]);
	end_put(w, &rows[1]);
}

static void put_ack(struct byte_writer *w)
{
	ack_encode(w, 301);
}

static struct message_instruction an_instruction(void)
{
	struct message_instruction m = {
		.id = 1,
		.verb = INSTRUCTION_START,
		.config = { .given = CONFIG_ALL,
			    .origin = ORIGIN_BPF,
			    .events = 0x1ff,
			    .block_bytes = 16384,
			    .flush_ms = 100,
			    .ring_kib = 1024,
			    .resolution_ns = 64,
			    .policy = POLICY_FLIGHT,
			    .codec = CODEC_SCHED,
			    .func = FUNC_MODE_SPLIT,
			    .n_pids = 2,
			    .pids = { 1, 4194304 },
			    .n_comms = 1,
			    .n_cgroups = 2 },
	};

	memcpy(m.config.comms[0], "kworker/*", 9);
	memcpy(m.config.cgroups[0], "system.slice", 12);
	memcpy(m.config.cgroups[1], "a/b", 3);
	return m;
}

static void put_instruction(struct byte_writer *w)
{
	struct message_instruction m = an_instruction();

	instruction_encode(w, &m);
}

static void put_stop(struct byte_writer *w)
{
	struct message_instruction m = { .id = 2, .verb = INSTRUCTION_STOP };

	instruction_encode(w, &m);
}

static void put_pace(struct byte_writer *w)
{
	struct message_instruction m = {
		.id = 3,
		.verb = INSTRUCTION_CONFIGURE,
		.config = { .given = CONFIG_PACES_BITS,
			    .paces = { { 1, 499, 5000, 10000, 60000 }, { 0, 99, 0, 0, 0 } } },
	};

	instruction_encode(w, &m);
}

static void put_result(struct byte_writer *w)
{
	struct message_result m = { .id = 2, .code = 16, .text = text("busy") };

	result_encode(w, &m);
}

static void put_status(struct byte_writer *w)
{
	struct message_status m = {
		.state = DEVICE_TRACING,
		.origin = ORIGIN_BPF,
		.events = 1000000,
		.passed_over = 5,
		.lost = { 1, 2, 300, 0, 4 },
		.blocks = 600,
		.bytes = 1200000,
		.spool_used = 4096,
		.spool_size = 1048576,
		.cpu_us = 20000,
		.rss_kib = 3000,
		.fixed_kib = 1600,
		.wakeups = 500,
		.text = text(""),
	};

	status_encode(w, &m);
}

static void put_ping(struct byte_writer *w)
{
	struct message_ping m = { .id = 3, .sent_ns = 1000000007 };

	ping_encode(w, &m);
}

static void put_pong(struct byte_writer *w)
{
	struct message_pong m = {
		.id = 3, .sent_ns = 1000000007, .device_ns = 500, .realtime_ns = 1763200000000000000
	};

	pong_encode(w, &m);
}

static void put_bye(struct byte_writer *w)
{
	struct message_bye m = { .code = BYE_PROTOCOL, .text = text("a frame of type 3") };

	bye_encode(w, &m);
}

static const struct message_build_id an_object = { 4, { 0xa1, 0xb2, 0xc3, 0xd4 } };

static void put_want(struct byte_writer *w)
{
	struct message_want m = { .id = an_object, .offset = 16384 };

	want_encode(w, &m);
}

static void put_piece(struct byte_writer *w)
{
	struct message_piece m = { .id = an_object,
				   .size = 16388,
				   .offset = 16384,
				   .bytes = (const uint8_t *)"last",
				   .len = 4 };

	piece_encode(w, &m);
}

static void put_none(struct byte_writer *w)
{
	struct message_piece m = { .id = an_object };

	piece_encode(w, &m);
}

/* In the order of the vector. */
static const struct {
	uint32_t type;
	void (*put)(struct byte_writer *w);
} messages[] = {
	{ FRAME_HELLO, put_hello },	 { FRAME_WELCOME, put_welcome },
	{ FRAME_RUN, put_run },		 { FRAME_RUN_END, put_end },
	{ FRAME_ACK, put_ack },		 { FRAME_INSTRUCTION, put_instruction },
	{ FRAME_INSTRUCTION, put_stop }, { FRAME_INSTRUCTION, put_pace },
	{ FRAME_RESULT, put_result },	 { FRAME_STATUS, put_status },
	{ FRAME_PING, put_ping },	 { FRAME_PONG, put_pong },
	{ FRAME_BYE, put_bye },		 { FRAME_WANT, put_want },
	{ FRAME_PIECE, put_piece },	 { FRAME_PIECE, put_none },
};

#define MESSAGES (sizeof(messages) / sizeof(messages[0]))

static size_t make_body(size_t i)
{
	struct byte_writer w;

	writer_init(&w, made, MESSAGE_ROOM);
	messages[i].put(&w);
	assert_false(w.full);
	return writer_len(&w);
}

static void test_vectors(void **state)
{
	size_t i, len, body_len;
	struct byte_writer w;
	struct frame f;

	(void)state;
	vector_open(&vector, "message.hex");
	for (i = 0; i < MESSAGES; i++) {
		len = vector_bytes(&vector, wanted, ROOM);
		body_len = make_body(i);
		assert_int_equal(frame_decode(wanted, len, &f), WIRE_OK);
		assert_int_equal(f.len, len);
		assert_int_equal(f.type, messages[i].type);
		assert_int_equal(f.body_len, body_len);
		assert_memory_equal(f.body, made, body_len);
		writer_init(&w, again, ROOM);
		assert_int_equal(recode(f.type, f.body, f.body_len, &w), WIRE_OK);
		assert_int_equal(writer_len(&w), body_len);
		assert_memory_equal(again, made, body_len);
	}
	assert_int_equal(vector_bytes(&vector, wanted, ROOM), 0);
}

/* Cut at any byte: refused, but for an instruction, whose items may end behind any of them. */
static void test_cut(void **state)
{
	struct byte_writer w;
	size_t i, len, cut, accepted;

	(void)state;
	for (i = 0; i < MESSAGES; i++) {
		len = make_body(i);
		for (cut = accepted = 0; cut < len; cut++) {
			uint8_t *exact = wanted + ROOM - cut;

			memcpy(exact, made, cut);
			writer_init(&w, again, ROOM);
			accepted += recode(messages[i].type, exact, cut, &w) == WIRE_OK;
		}
		assert_int_equal(accepted, messages[i].put == put_instruction ? 12
					   : messages[i].put == put_pace ? PACES * CONFIG_PACE_PARTS
									 : 0);
	}
}

/* A later version adds fields behind ours. */
static void test_longer(void **state)
{
	struct byte_writer w;
	size_t i, len;

	(void)state;
	for (i = 0; i < MESSAGES; i++) {
		len = make_body(i);
		memcpy(made + len, "\x7f\x02xy", 4); /* also an item of an unknown type */
		writer_init(&w, again, ROOM);
		assert_int_equal(recode(messages[i].type, made, len + 4, &w), WIRE_OK);
		assert_int_equal(writer_len(&w), len);
		assert_memory_equal(again, made, len);
	}
}

/* An encoder never writes beyond its room. */
static void test_no_room(void **state)
{
	struct byte_writer w;
	size_t i, len, room;

	(void)state;
	for (i = 0; i < MESSAGES; i++) {
		len = make_body(i);
		for (room = 0; room < len; room++) {
			memset(again, 0xa5, ROOM);
			writer_init(&w, again, room);
			messages[i].put(&w);
			assert_true(w.full && writer_len(&w) <= room);
			assert_int_equal(again[room], 0xa5);
		}
	}
}

static enum wire_status try_hello(const struct message_hello *m)
{
	struct message_hello back;
	struct byte_writer w;

	writer_init(&w, made, ROOM);
	hello_encode(&w, m);
	return hello_decode(&back, made, writer_len(&w));
}

static void test_bounds_hello(void **state)
{
	struct message_hello m = a_hello(), back;
	char longest[300];

	(void)state;
	memset(longest, 'x', sizeof(longest));
	m.cpus = 4096;
	assert_int_equal(try_hello(&m), WIRE_OK);
	m.cpus = 4097;
	assert_int_equal(try_hello(&m), WIRE_CORRUPT);
	m = a_hello();
	m.n_runs = MESSAGE_RUNS_MAX;
	assert_int_equal(try_hello(&m), WIRE_OK);
	made[0] = 9; /* a version that we do not know is still told */
	assert_int_equal(hello_decode(&back, made, 1), WIRE_CORRUPT);
	assert_int_equal(back.version, 9);
	m.name = (struct message_text){ longest, 300 }; /* cut, not refused, by the encoder */
	assert_int_equal(try_hello(&m), WIRE_OK);
	assert_int_equal(hello_decode(&back, made, ROOM), WIRE_OK);
	assert_int_equal(back.name.len, 255);
}

/* A piece lies in its file, and is not more than fits into a frame. */
static void test_bounds_piece(void **state)
{
	static const uint8_t bytes[MESSAGE_PIECE_MAX + 1];
	static const struct {
		uint64_t size, offset;
		uint32_t len;
		bool is_sound;
	} rows[] = {
		{ 100, 0, 100, true },
		{ 100, 99, 1, true },
		{ 100, 99, 2, false },
		{ 100, 100, 1, false },
		{ 100, 0, 0, false },
		{ 100, UINT64_MAX, 2, false },
		{ MESSAGE_OBJECT_MAX, 0, MESSAGE_PIECE_MAX, true },
		{ MESSAGE_OBJECT_MAX, 0, MESSAGE_PIECE_MAX + 1, false },
		{ MESSAGE_OBJECT_MAX + 1, 0, 1, false },
	};
	struct message_piece m = { .id = an_object, .bytes = bytes }, back;
	struct message_want want = { .id = { .len = 0 } }, want_back;
	struct byte_writer w;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		m.size = rows[i].size;
		m.offset = rows[i].offset;
		m.len = rows[i].len;
		writer_init(&w, made, ROOM);
		piece_encode(&w, &m);
		assert_int_equal(piece_decode(&back, made, writer_len(&w)),
				 rows[i].is_sound ? WIRE_OK : WIRE_CORRUPT);
	}
	writer_init(&w, made, ROOM);
	want_encode(&w, &want); /* of nothing */
	assert_int_equal(want_decode(&want_back, made, writer_len(&w)), WIRE_CORRUPT);
	assert_int_equal(want_decode(&want_back, (const uint8_t *)"\25012345678901234567890", 23),
			 WIRE_CORRUPT); /* 21 bytes */
}

/* What a device can do stands behind its role, and is nothing where that is not known. */
static void test_abilities(void **state)
{
	struct message_hello m = a_hello(), back;
	struct byte_writer w;
	uint8_t role;

	(void)state;
	m.abilities = ABILITY_OBJECTS;
	for (role = ROLE_AGENT; role <= ROLE_RECORDER + 1; role++) {
		m.role = role;
		writer_init(&w, made, ROOM);
		hello_encode(&w, &m);
		assert_int_equal(hello_decode(&back, made, writer_len(&w)), WIRE_OK);
		assert_int_equal(back.role, role == ROLE_RECORDER ? ROLE_RECORDER : ROLE_AGENT);
		assert_int_equal(back.abilities, role <= ROLE_RECORDER ? ABILITY_OBJECTS : 0);
	}
}

/* Who says nothing of a role, or something that nobody knows, is the agent; and it costs no byte. */
static void test_role(void **state)
{
	struct message_hello m = a_hello(), back;
	struct byte_writer w;
	size_t len;

	(void)state;
	writer_init(&w, made, ROOM);
	hello_encode(&w, &m);
	len = writer_len(&w);
	assert_int_equal(hello_decode(&back, made, len), WIRE_OK);
	assert_int_equal(back.role, ROLE_AGENT);
	m.role = ROLE_RECORDER;
	writer_init(&w, made, ROOM);
	hello_encode(&w, &m);
	assert_int_equal(writer_len(&w), len + 1);
	assert_int_equal(hello_decode(&back, made, len + 1), WIRE_OK);
	assert_int_equal(back.role, ROLE_RECORDER);
	made[len] = 2;
	assert_int_equal(hello_decode(&back, made, len + 1), WIRE_OK);
	assert_int_equal(back.role, ROLE_AGENT);
	made[len] = 0x80; /* of a number that is cut off */
	assert_int_equal(hello_decode(&back, made, len + 1), WIRE_OK);
	assert_int_equal(back.role, ROLE_AGENT);
}

static void test_bounds_counts(void **state)
{
	static const uint8_t text_256[] = { 0, 0x80, 2 };
	static const uint8_t runs_9[] = { 9 };
	struct message_welcome welcome;
	struct message_bye bye;
	struct message_end end;
	struct byte_writer w;
	struct message_hello m = a_hello(), back;

	(void)state;
	memset(wanted, 0, ROOM);
	memcpy(wanted, text_256, sizeof(text_256));
	assert_int_equal(bye_decode(&bye, wanted, 1000), WIRE_CORRUPT);
	m.n_runs = 0;
	writer_init(&w, made, ROOM);
	hello_encode(&w, &m);
	w.at[-1] = runs_9[0];
	memset(w.at, 0, 9 * 16);
	assert_int_equal(hello_decode(&back, made, writer_len(&w) + 9 * 16), WIRE_CORRUPT);
	memset(wanted, 0, ROOM);
	varint_put(wanted, MESSAGE_STREAMS_MAX + 1);
	assert_int_equal(end_decode(&end, wanted, ROOM), WIRE_CORRUPT);
	varint_put(wanted, MESSAGE_STREAMS_MAX);
	assert_int_equal(end_decode(&end, wanted, ROOM), WIRE_OK);
	memset(wanted, 0, ROOM);
	varint_put(wanted + 4, MESSAGE_RUNS_MAX * MESSAGE_STREAMS_MAX + 1);
	assert_int_equal(welcome_decode(&welcome, wanted, ROOM), WIRE_CORRUPT);
}

static enum wire_status try_stream(uint32_t stream)
{
	struct message_stream_end row = { stream, 1, 2 };
	struct message_resume resume = { 0, stream, 1 };
	struct message_welcome welcome = { .version = 1, .n_rows = 1 };
	struct message_end m = { .n_rows = 1 };
	enum wire_status status;
	struct byte_writer w;

	writer_init(&w, made, ROOM);
	end_encode(&w, &m);
	end_put(&w, &row);
	status = end_decode(&m, made, writer_len(&w));
	writer_init(&w, made, ROOM);
	welcome_encode(&w, &welcome);
	welcome_put(&w, &resume);
	assert_int_equal(welcome_decode(&welcome, made, writer_len(&w)), status);
	return status;
}

/* Rows are of the description, of CPUs and of threads; nothing lies between or behind. */
static void test_bounds_streams(void **state)
{
	(void)state;
	assert_int_equal(try_stream(4096), WIRE_OK);
	assert_int_equal(try_stream(4097), WIRE_CORRUPT);
	assert_int_equal(try_stream(STREAM_BOOT - 1), WIRE_CORRUPT);
	assert_int_equal(try_stream(STREAM_BOOT), WIRE_OK);
	assert_int_equal(try_stream(STREAM_BOOT + 1), WIRE_CORRUPT);
	assert_int_equal(try_stream(STREAM_SAMPLE(0) - 1), WIRE_CORRUPT);
	assert_int_equal(try_stream(STREAM_SAMPLE(0)), WIRE_OK);
	assert_int_equal(try_stream(STREAM_FUNC_FIRST - 1), WIRE_CORRUPT);
	assert_int_equal(try_stream(STREAM_FUNC(0)), WIRE_OK);
	assert_int_equal(try_stream(STREAM_FUNC_OS(STREAM_FUNC_THREADS - 1)), WIRE_OK);
	assert_int_equal(try_stream(STREAM_FUNC(STREAM_FUNC_THREADS)), WIRE_CORRUPT);
	assert_int_equal(try_stream(UINT32_MAX), WIRE_CORRUPT);
}

static enum wire_status try_config(uint32_t type, uint64_t value)
{
	struct message_config c;
	struct byte_reader r;
	uint8_t item[16];
	uint8_t *end = varint_put(item + 2, value);

	item[0] = (uint8_t)type;
	item[1] = (uint8_t)(end - item - 2);
	reader_init(&r, item, (size_t)(end - item));
	return config_decode(&c, &r);
}

static void test_bounds_config(void **state)
{
	static const struct {
		uint32_t type;
		uint64_t least, most;
	} rows[] = {
		{ CONFIG_ORIGIN, 0, 3 },
		{ CONFIG_EVENTS, 0, UINT32_MAX },
		{ CONFIG_BLOCK_BYTES, 4096, 65536 },
		{ CONFIG_FLUSH, 1, 60000 },
		{ CONFIG_RING, 1, 262144 },
		{ CONFIG_POLICY, 0, 1 },
		{ CONFIG_CODEC, CODEC_SCHED, CODEC_BSF },
		{ CONFIG_FUNC, FUNC_MODE_OFF, FUNC_MODE_SPLIT },
		{ CONFIG_RESOLUTION, 0, 1U << 31 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(try_config(rows[i].type, rows[i].least), WIRE_OK);
		assert_int_equal(try_config(rows[i].type, rows[i].most), WIRE_OK);
		assert_int_equal(try_config(rows[i].type, rows[i].most + 1), WIRE_CORRUPT);
		if (rows[i].least)
			assert_int_equal(try_config(rows[i].type, rows[i].least - 1), WIRE_CORRUPT);
	}
	assert_int_equal(try_config(CONFIG_RESOLUTION, 3), WIRE_CORRUPT);
	assert_int_equal(try_config(CONFIG_PIDS, INT32_MAX), WIRE_OK);
	assert_int_equal(try_config(CONFIG_PIDS, 1U << 31), WIRE_CORRUPT);
	assert_int_equal(try_config(CONFIG_COMMS, 5), WIRE_CORRUPT);	    /* one byte, not 16 */
	assert_int_equal(try_config(CONFIG_CGROUP_PATHS, 5), WIRE_CORRUPT); /* no NUL */
}

/* Filters up to their ceilings, and one more. */
static void test_bounds_filter(void **state)
{
	static const struct {
		uint32_t type, unit, most;
	} rows[] = { { CONFIG_PIDS, 1, 64 },
		     { CONFIG_COMMS, 16, 32 },
		     { CONFIG_CGROUP_PATHS, 256, 4 } };
	struct message_config c;
	struct byte_reader r;
	uint32_t i, n, k, len;
	uint8_t *body;

	(void)state;
	for (i = 0; i < 3; i++) {
		for (n = rows[i].most; n <= rows[i].most + 1; n++) {
			len = n * rows[i].unit;
			made[0] = (uint8_t)rows[i].type;
			body = varint_put(made + 1, len);
			memset(body, 'x', len);
			for (k = 1; k <= n; k++)
				body[k * rows[i].unit - 1] = 0;
			reader_init(&r, made, (size_t)(body - made) + len);
			assert_int_equal(config_decode(&c, &r),
					 n > rows[i].most ? WIRE_CORRUPT : WIRE_OK);
		}
	}
	made[0] = CONFIG_CGROUP_PATHS; /* one byte too long */
	body = varint_put(made + 1, 257);
	memset(body, 'x', 256);
	body[256] = 0;
	reader_init(&r, made, (size_t)(body - made) + 257);
	assert_int_equal(config_decode(&c, &r), WIRE_CORRUPT);
}

/* A list that comes twice means the latter, and leaves nothing of the former: who compares bytes would
 * find a difference where there is none. */
static void test_lists_twice(void **state)
{
	static struct message_config once, twice, longer;
	struct byte_writer w;
	struct byte_reader r;
	size_t first;

	(void)state;
	longer.given = 1U << CONFIG_PIDS | 1U << CONFIG_COMMS | 1U << CONFIG_CGROUP_PATHS;
	longer.n_pids = 3;
	longer.pids[0] = longer.pids[1] = longer.pids[2] = 77;
	longer.n_comms = 2;
	memcpy(longer.comms[1], "another", 7);
	longer.n_cgroups = 2;
	memcpy(longer.cgroups[0], "a/longer/path", 13);
	memcpy(longer.cgroups[1], "b", 1);
	once = longer;
	once.n_pids = once.n_comms = once.n_cgroups = 1;
	once.pids[1] = once.pids[2] = 0;
	memset(once.comms[1], 0, sizeof(once.comms[1]));
	memset(once.cgroups, 0, sizeof(once.cgroups));
	memcpy(once.cgroups[0], "a", 1);

	writer_init(&w, made, sizeof(made));
	config_encode(&w, &longer);
	first = writer_len(&w);
	config_encode(&w, &once);
	assert_false(w.full);
	reader_init(&r, made, first);
	assert_int_equal(config_decode(&twice, &r), WIRE_OK);
	assert_memory_equal(&twice, &longer, sizeof(twice));
	reader_init(&r, made, writer_len(&w));
	assert_int_equal(config_decode(&twice, &r), WIRE_OK);
	assert_memory_equal(&twice, &once, sizeof(twice));
}

static void test_apply(void **state)
{
	struct message_config to = an_instruction().config, from = { 0 };

	(void)state;
	config_apply(&to, &from);
	assert_int_equal(to.n_pids, 2);
	assert_int_equal(to.block_bytes, 16384);
	from.given = 1U << CONFIG_PIDS | 1U << CONFIG_BLOCK_BYTES | 1U << CONFIG_CGROUP_PATHS;
	from.block_bytes = 8192;
	config_apply(&to, &from);
	assert_int_equal(to.n_pids, 0);
	assert_int_equal(to.block_bytes, 8192);
	assert_int_equal(to.n_cgroups, 0);
	assert_int_equal(to.n_comms, 1);
	assert_int_equal(to.flush_ms, 100);
	assert_int_equal(to.codec, CODEC_SCHED);
	from.given = 1U << CONFIG_CODEC;
	from.codec = CODEC_BSF;
	config_apply(&to, &from);
	assert_int_equal(to.codec, CODEC_BSF);
	assert_int_equal(to.block_bytes, 8192);
	assert_int_equal(to.func, FUNC_MODE_SPLIT);
	from.given = 1U << CONFIG_FUNC;
	config_apply(&to, &from);
	assert_int_equal(to.func, FUNC_MODE_OFF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),	      cmocka_unit_test(test_cut),
		cmocka_unit_test(test_longer),	      cmocka_unit_test(test_no_room),
		cmocka_unit_test(test_role),	      cmocka_unit_test(test_bounds_hello),
		cmocka_unit_test(test_bounds_counts), cmocka_unit_test(test_bounds_streams),
		cmocka_unit_test(test_bounds_config), cmocka_unit_test(test_bounds_filter),
		cmocka_unit_test(test_lists_twice),   cmocka_unit_test(test_apply),
		cmocka_unit_test(test_bounds_piece),  cmocka_unit_test(test_abilities),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
