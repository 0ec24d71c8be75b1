/* SPDX-License-Identifier: MIT */
/* recording: one run into a file, bytes in pieces of any size, devices that lie, whose names a file of
 * some tasks has, and runs of programs beside it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "collector/recording.h"
#include "trace/func_ksk.h"
#include "trace/info_meta.h"
#include "trace/ksk_source.h"
#include "wire/frame.h"
#include "wire/func_encode.h"
#include "wire/func_meta_encode.h"
#include "wire/meta.h"
#include "wire/sched_encode.h"

static struct recording *recording;
static char folder[] = "/tmp/kiseki-recording-XXXXXX", path[64];
static uint8_t bytes[1 << 20];
static size_t n_bytes, piece;
static struct error e;
static const struct session_now at = { 1000000, 2000000 };

/* --- a device --- */

static void put_frame(uint32_t type, const void *body, size_t len)
{
	uint32_t head = frame_encode_head(bytes + n_bytes, type, (uint32_t)len);

	memcpy(bytes + n_bytes + head, body, len);
	n_bytes += head + len;
}

static void put_hello(void)
{
	static const struct message_text name = { "d", 1 };
	struct message_hello m = { .version = 1,
				   .name = name,
				   .agent = name,
				   .kernel = name,
				   .machine = name,
				   .cpus = 2 };
	uint8_t room[MESSAGE_ROOM];
	struct byte_writer w;

	writer_init(&w, room, sizeof(room));
	hello_encode(&w, &m);
	put_frame(FRAME_HELLO, room, writer_len(&w));
}

static void put_run(uint8_t first)
{
	struct message_id id = { .bytes = { first } };

	put_frame(FRAME_RUN, id.bytes, sizeof(id.bytes));
}

/* Meta blocks carry no events, so any payload will do for their counting. */
static void put_block(struct block b)
{
	uint8_t room[BLOCK_HEADER_MAX + 4] = { 0 }, *start;
	uint32_t len;

	b.payload = room + BLOCK_HEADER_MAX;
	start = block_encode(&b, room + BLOCK_HEADER_MAX, &len);
	put_frame(FRAME_BLOCK, start, len);
}

static void put_meta(uint64_t sequence)
{
	put_block((struct block){ .codec = CODEC_META, .flags = BLOCK_KEY, .sequence = sequence });
}

/* A key block of a CPU with no events, which says that so many were lost. */
static void put_lost(uint64_t sequence, uint64_t before, uint64_t lost)
{
	struct block b = { .codec = CODEC_SCHED,
			   .flags = BLOCK_KEY | (lost ? BLOCK_LOST : 0),
			   .stream = STREAM_CPU(1),
			   .sequence = sequence,
			   .first_tick = 5,
			   .before = before };

	b.lost[LOSS_RING] = lost;
	put_block(b);
}

static void put_end(uint64_t next_sequence, uint64_t events)
{
	struct message_stream_end row = { .stream = STREAM_CPU(1),
					  .next_sequence = next_sequence,
					  .events = events };
	struct message_end m = { .n_rows = 1 };
	uint8_t room[64];
	struct byte_writer w;

	writer_init(&w, room, sizeof(room));
	end_encode(&w, &m);
	end_put(&w, &row);
	put_frame(FRAME_RUN_END, room, writer_len(&w));
}

static void put_result(uint64_t id, uint32_t code, const char *text)
{
	struct message_result m = { .id = id,
				    .code = code,
				    .text = { text, (uint32_t)strlen(text) } };
	uint8_t room[MESSAGE_ROOM];
	struct byte_writer w;

	writer_init(&w, room, sizeof(room));
	result_encode(&w, &m);
	put_frame(FRAME_RESULT, room, writer_len(&w));
}

/* Sends what was put. */
static int push(void)
{
	size_t i, len;
	int r = 0;

	for (i = 0; r == 0 && i < n_bytes; i += len) {
		len = piece && piece < n_bytes - i ? piece : n_bytes - i;
		r = recording_push(recording, bytes + i, len, &at, &e);
	}
	n_bytes = 0;
	return r;
}

/* The last frame of this type that it wants sent; its body's length, or -1. */
static int sent(uint32_t type, struct frame *ret)
{
	size_t len, i = 0;
	const uint8_t *out = recording_get(recording, &len);
	struct frame f;
	int found = -1;

	while (i < len) {
		assert_int_equal(frame_decode(out + i, len - i, &f), WIRE_OK);
		if (f.type == type) {
			*ret = f;
			found = (int)f.body_len;
		}
		i += f.len;
	}
	return found;
}

static int begin(void **state)
{
	(void)state;
	n_bytes = piece = 0;
	snprintf(path, sizeof(path), "%s/x.ksk", folder);
	unlink(path);
	return recording_open(&recording, path, &e);
}

static int end(void **state)
{
	(void)state;
	recording_free(recording);
	return 0;
}

static void start_with(const struct message_config *c)
{
	struct message_instruction m;
	struct frame f;

	assert_int_equal(recording_get_state(recording), RECORDING_NEW);
	put_hello();
	assert_int_equal(push(), 0);
	assert_true(sent(FRAME_WELCOME, &f) > 0);
	assert_int_equal(recording_get_state(recording), RECORDING_READY);
	recording_start(recording, c);
	assert_true(sent(FRAME_INSTRUCTION, &f) > 0);
	assert_int_equal(instruction_decode(&m, f.body, f.body_len), WIRE_OK);
	assert_int_equal(m.verb, INSTRUCTION_START);
	assert_int_equal(m.config.ring_kib, c->ring_kib);
	put_result(m.id, 0, "");
	assert_int_equal(push(), 0);
	assert_int_equal(recording_get_state(recording), RECORDING_ON);
}

static void start(void)
{
	static const struct message_config c = { .given = 1 << CONFIG_RING, .ring_kib = 77 };

	start_with(&c);
}

static uint64_t acknowledged(void)
{
	struct frame f;
	uint64_t n = 0;

	if (sent(FRAME_ACK, &f) > 0)
		assert_int_equal(ack_decode(&n, f.body, f.body_len), WIRE_OK);
	return n;
}

/* A run with a gap in it and one at its end, in whole and in pieces of a few bytes. */
static void test_run(void **state)
{
	const struct recording_count *c;
	struct trace_source *s = NULL;
	struct trace_item item;
	uint64_t lost = 0;
	int r;

	for (piece = 0; piece < 8; piece = 2 * piece + 1) {
		size_t kept = piece;

		end(state);
		assert_int_equal(begin(state), 0);
		piece = kept;
		start();
		put_run(1);
		put_meta(0);
		put_lost(0, 3, 3);
		put_lost(0, 3, 3);  /* again: known already */
		put_lost(4, 20, 7); /* three blocks and ten events are gone */
		assert_int_equal(push(), 0);
		assert_int_equal(acknowledged(), 4);
		recording_stop(recording);
		assert_int_equal(recording_get_state(recording), RECORDING_STOPPING);
		put_end(6, 25);
		assert_int_equal(push(), 0);
		assert_int_equal(acknowledged(), 5);
		assert_int_equal(recording_get_state(recording), RECORDING_ENDED);
		c = recording_get_count(recording);
		assert_int_equal(c->blocks, 4); /* one of them is ours, for the end */
		assert_int_equal(c->lost[LOSS_RING], 10);
		assert_int_equal(c->lost[LOSS_SPOOL], 15);
		assert_int_equal(access(path, F_OK), -1);
		assert_int_equal(recording_commit(recording, "host", &e), 0);
		assert_int_equal(source_ksk_open(&s, path, &e), 0);
		assert_string_equal(s->info.device, "host");
		while ((r = s->ops->next(s, &item, &e)) > 0)
			lost += item.loss.count;
		assert_int_equal(r, 0);
		assert_int_equal(lost, 25);
		source_free(s);
		lost = 0;
	}
}

static void refuses(void)
{
	struct frame f;

	assert_int_equal(push(), -EIO);
	assert_true(sent(FRAME_BYE, &f) > 0);
	assert_int_equal(recording_get_state(recording), RECORDING_FAILED);
	put_meta(9);
	assert_int_equal(push(), -EIO); /* and stays so */
}

static void test_garbage(void **state)
{
	(void)state;
	memset(bytes, 0xff, 100);
	n_bytes = 100;
	refuses();
}

static void test_second_run(void **state)
{
	(void)state;
	start();
	put_run(1);
	put_lost(0, 3, 3);
	put_run(2);
	put_lost(0, 3, 3);
	refuses();
}

static void test_fewer(void **state)
{
	(void)state;
	start();
	put_run(1);
	put_lost(0, 9, 9);
	put_lost(1, 8, 0);
	refuses();
}

static void test_not_following(void **state)
{
	(void)state;
	start();
	put_run(1);
	put_lost(0, 9, 9);
	put_block((struct block){ .codec = CODEC_SCHED, .stream = STREAM_CPU(1), .sequence = 3 });
	refuses();
}

static void test_no_key(void **state)
{
	(void)state;
	start();
	put_run(1);
	put_block((struct block){ .codec = CODEC_SCHED, .stream = STREAM_CPU(1), .sequence = 0 });
	refuses();
}

static void test_end_too_early(void **state)
{
	(void)state;
	start();
	put_run(1);
	put_lost(0, 9, 9);
	put_end(1, 8);
	refuses();
}

static void test_stream(void **state)
{
	(void)state;
	start();
	put_run(1);
	put_block((struct block){ .codec = CODEC_META, .flags = BLOCK_KEY, .stream = 5000 });
	refuses();
}

static void test_cannot_start(void **state)
{
	(void)state;
	put_hello();
	assert_int_equal(push(), 0);
	recording_start(recording, NULL);
	put_result(1, EPERM, "cannot enter tracefs: not root");
	assert_int_equal(push(), -EIO);
	assert_string_equal(e.text, "cannot enter tracefs: not root");
}

/* --- the tasks of a recording of some --- */

static uint8_t payload_room[BLOCK_HEADER_MAX + 65536];
static uint8_t *const payload = payload_room + BLOCK_HEADER_MAX;

static void put_payload(struct block b, size_t len)
{
	uint8_t *first;
	uint32_t all;

	b.flags = BLOCK_KEY;
	b.payload = payload;
	b.payload_len = (uint32_t)len;
	first = block_encode(&b, payload, &all);
	put_frame(FRAME_BLOCK, first, all);
}

/* What the device says of the machine's tasks: 3 is a thread of 2, 4 one of 9. */
static void put_tasks(uint64_t sequence)
{
	static const int32_t tasks[][2] = { { 1, 1 }, { 2, 2 }, { 3, 2 },
					    { 4, 9 }, { 9, 9 }, { 50, 50 } };
	char comm[SCHED_COMM_LEN] = "t";
	struct trace_info info;
	size_t i, from = 0;

	assert_int_equal(info_init(&info), 0);
	for (i = 0; i < sizeof(tasks) / sizeof(tasks[0]); i++) {
		comm[1] = (char)('a' + i);
		info_add_task(&info, tasks[i][0], tasks[i][1], comm);
	}
	put_payload((struct block){ .codec = CODEC_META, .sequence = sequence },
		    info_encode_tasks(&info, &from, payload, 65536));
	info_done(&info);
}

/* 3 is put off its CPU after it has woken 4. */
static void put_events(void)
{
	static struct sched_encoder encoder;
	struct sched_event waking = { .kind = SCHED_WAKING, .tick = 100, .pid = 3 };
	struct sched_event out = { .kind = SCHED_SWITCH, .tick = 200, .pid = 3 };

	waking.task.pid = 4;
	out.task.pid = 3;
	sched_encoder_init(&encoder, 1);
	sched_encoder_begin(&encoder, payload, 65536, 100);
	assert_int_equal(sched_encode(&encoder, &waking), WIRE_OK);
	assert_int_equal(sched_encode(&encoder, &out), WIRE_OK);
	put_payload((struct block){ .codec = CODEC_SCHED,
				    .stream = STREAM_CPU(1),
				    .first_tick = 100,
				    .ticks = 100,
				    .events = 2 },
		    sched_encoder_end(&encoder));
}

/* The pids of the tasks that the file names. */
static void names(const struct message_config *c, bool strange, const char *want)
{
	static const uint8_t kernel[] = { META_KERNEL, 1, 'k' };
	struct trace_source *s = NULL;
	char found[64] = "";
	size_t i;

	start_with(c);
	put_run(1);
	memcpy(payload, kernel, sizeof(kernel));
	put_payload((struct block){ .codec = CODEC_META }, sizeof(kernel));
	put_tasks(1);
	put_events();
	if (strange)
		put_payload((struct block){ .codec = 9, .stream = STREAM_CPU(0) }, 1);
	put_end(1, 2);
	assert_int_equal(push(), 0);
	assert_int_equal(recording_commit(recording, "host", &e), 0);
	assert_int_equal(source_ksk_open(&s, path, &e), 0);
	assert_string_equal(s->info.kernel, "k");
	assert_string_equal(s->info.device, "host");
	for (i = 0; i < s->info.n_tasks; i++)
		snprintf(found + strlen(found), sizeof(found) - strlen(found), "%d ",
			 s->info.tasks[i].pid);
	assert_string_equal(found, want);
	if (s->info.n_tasks > 1)
		assert_string_equal(info_get_task(&s->info, 3)->comm, "tc");
	source_free(s);
}

static void test_tasks_of_some(void **state)
{
	(void)state;
	names(&(struct message_config){ .given = 1 << CONFIG_PIDS, .n_pids = 1, .pids = { 3 } },
	      false, "2 3 4 9 ");
}

static void test_tasks_of_all(void **state)
{
	(void)state;
	names(&(struct message_config){ .given = 1 << CONFIG_RING, .ring_kib = 77 }, false,
	      "1 2 3 4 9 50 ");
}

/* What cannot be decoded may be of any task. */
static void test_tasks_unknown(void **state)
{
	(void)state;
	names(&(struct message_config){ .given = 1 << CONFIG_COMMS, .n_comms = 1 }, true,
	      "1 2 3 4 9 50 ");
}

/* --- runs of programs --- */

static const struct message_config programs = { .given = 1 << CONFIG_RING | 1 << CONFIG_FUNC,
						.ring_kib = 77,
						.func = FUNC_MODE_ON };

/* Thread 0 of process 0 and thread 1 of process 1; their pids are 100 and 101 above the base. */
static void put_func_meta(int32_t base)
{
	static const struct meta_clock clock = { .name = "mono", .name_len = 4, .mult = 1 };
	uint8_t *p = meta_put_text(payload, META_ORIGIN, "programs", 8), *body;
	uint32_t i;

	p = func_meta_put_clock(p, &clock);
	body = p = meta_item_begin(p, META_PROCESSES);
	for (i = 0; i < 2; i++)
		p = func_meta_put_process(p,
					  &(struct func_meta_process){ .number = i,
								       .pid = base + (int32_t)i,
								       .command = { "prog", 4 } });
	p = meta_item_end(body, p);
	body = p = meta_item_begin(p, META_THREADS);
	for (i = 0; i < 2; i++)
		p = func_meta_put_thread(p, &(struct func_meta_thread){ .number = i,
									.process = i,
									.tid = base + (int32_t)i,
									.cpu = -1 });
	p = meta_item_end(body, p);
	put_payload((struct block){ .codec = CODEC_META }, (size_t)(p - payload));
}

/* A call of this address and its return. */
static void put_call(uint32_t thread, uint64_t sequence, uint64_t address)
{
	static struct func_encoder encoder;
	struct func_event ev = { .tick = 1000 + 100 * address,
				 .value = address,
				 .kind = FUNC_ENTER };

	func_encoder_init(&encoder, NULL);
	func_encoder_begin(&encoder, payload, 65536, ev.tick);
	assert_int_equal(func_encode(&encoder, &ev), WIRE_OK);
	ev.kind = FUNC_EXIT;
	ev.tick += 10;
	assert_int_equal(func_encode(&encoder, &ev), WIRE_OK);
	put_payload((struct block){ .codec = CODEC_FUNC,
				    .stream = STREAM_FUNC(thread),
				    .sequence = sequence,
				    .first_tick = 1000 + 100 * address,
				    .before = 2 * sequence,
				    .ticks = 10,
				    .events = 2 },
		    func_encoder_end(&encoder));
}

static void put_func_end(uint64_t events)
{
	struct message_stream_end row = { .stream = STREAM_FUNC(1),
					  .next_sequence = 9,
					  .events = events };
	struct message_end m = { .n_rows = 1 };
	uint8_t room[64];
	struct byte_writer w;

	writer_init(&w, room, sizeof(room));
	end_encode(&w, &m);
	end_put(&w, &row);
	put_frame(FRAME_RUN_END, room, writer_len(&w));
}

/* What the file says: "pid:address" of each call, and "pid!count" of each loss, by time. */
static void expect_calls(const char *want)
{
	struct func_source *calls = NULL;
	struct trace_source *sched = NULL;
	struct func_item item;
	char found[256] = "";
	int r;

	assert_int_equal(recording_commit(recording, "host", &e), 0);
	assert_int_equal(source_ksk_open(&sched, path, &e), 0);
	assert_string_equal(sched->info.kernel, "k");
	assert_string_equal(sched->info.origin, "");
	source_free(sched);
	assert_int_equal(func_ksk_open(path, &calls, &e), 0);
	while ((r = calls->ops->next(calls, &item, &e)) > 0) {
		const struct func_thread *t = &calls->threads[item.thread];
		size_t len = strlen(found);

		assert_int_equal(t->tid, calls->processes[t->process].pid);
		if (item.type == FUNC_ITEM_LOSS)
			snprintf(found + len, sizeof(found) - len, "%d!%d ", t->tid,
				 (int)item.loss.count);
		else if (item.event.kind == FUNC_ENTER)
			snprintf(found + len, sizeof(found) - len, "%d:%d ", t->tid,
				 (int)item.event.value);
	}
	assert_int_equal(r, 0);
	assert_string_equal(found, want);
	func_source_free(calls);
}

static void put_kernel(void)
{
	static const uint8_t kernel[] = { META_KERNEL, 1, 'k' };

	memcpy(payload, kernel, sizeof(kernel));
	put_payload((struct block){ .codec = CODEC_META }, sizeof(kernel));
}

/* Two runs of programs, the second while nobody ends it, around one of the scheduler. */
static void test_programs(void **state)
{
	(void)state;
	start_with(&programs);
	put_run(7);
	put_func_meta(100);
	put_call(0, 0, 1);
	put_run(1);
	put_kernel();
	put_events();
	put_run(7);
	put_call(1, 0, 2);
	put_call(1, 0, 2); /* again: known already */
	put_call(0, 1, 3);
	put_func_end(7); /* five more were lost behind its last block */
	put_func_end(7);
	put_run(8);
	put_func_meta(200);
	put_call(1, 0, 4);
	put_run(1);
	put_end(1, 2);
	assert_int_equal(push(), 0);
	assert_int_equal(recording_get_state(recording), RECORDING_LAST);
	put_run(8);
	put_call(0, 0, 5);
	assert_int_equal(push(), 0);
	assert_int_equal(recording_get_state(recording), RECORDING_LAST);
	recording_leave(recording);
	assert_int_equal(recording_get_state(recording), RECORDING_ENDED);
	assert_int_equal(recording_get_count(recording)->func_events, 10);
	assert_int_equal(recording_get_count(recording)->lost[LOSS_SPOOL], 5);
	expect_calls("100:1 101:2 101!5 100:3 201:4 200:5 ");
}

/* Without a word about programs, a run of them is still waited for, and its END is enough. */
static void test_programs_end(void **state)
{
	(void)state;
	start();
	put_run(1);
	put_kernel();
	put_run(2);
	put_func_meta(100);
	put_call(1, 0, 2);
	put_run(1);
	put_end(0, 0);
	assert_int_equal(push(), 0);
	assert_int_equal(recording_get_state(recording), RECORDING_LAST);
	put_run(2);
	put_func_end(2);
	assert_int_equal(push(), 0);
	assert_int_equal(recording_get_state(recording), RECORDING_ENDED);
	expect_calls("101:2 ");
}

static void test_programs_after_end(void **state)
{
	(void)state;
	start_with(&programs);
	put_run(2);
	put_call(1, 0, 2);
	put_func_end(2);
	put_call(1, 10, 2);
	refuses();
}

static void test_programs_in_scheduler(void **state)
{
	(void)state;
	start_with(&programs);
	put_run(1);
	put_lost(0, 3, 3);
	put_call(0, 0, 1);
	refuses();
}

static void test_programs_stream(void **state)
{
	(void)state;
	start_with(&programs);
	put_run(1);
	put_call(1U << 16, 0, 1);
	refuses();
}

static void test_programs_meta(void **state)
{
	static const uint8_t cut[] = { META_THREADS, 3, 0, 0, 2 };

	(void)state;
	start_with(&programs);
	put_run(1);
	memcpy(payload, cut, sizeof(cut));
	put_payload((struct block){ .codec = CODEC_META }, sizeof(cut));
	refuses();
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(test_run),
		TEST(test_garbage),
		TEST(test_second_run),
		TEST(test_fewer),
		TEST(test_no_key),
		TEST(test_not_following),
		TEST(test_stream),
		TEST(test_end_too_early),
		TEST(test_cannot_start),
		TEST(test_tasks_of_some),
		TEST(test_tasks_of_all),
		TEST(test_tasks_unknown),
		TEST(test_programs),
		TEST(test_programs_end),
		TEST(test_programs_after_end),
		TEST(test_programs_in_scheduler),
		TEST(test_programs_stream),
		TEST(test_programs_meta),
	};
	int failed;

	if (!mkdtemp(folder))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	rmdir(folder);
	return failed;
}
