/* SPDX-License-Identifier: MIT */
/* A recording that is played for ever (bench/fleet/tape.h): what a collector would say to its blocks, pass after pass. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "store/run_state.h"
#include "tape.h"
#include "trace/info_meta.h"

#define RECORDING SOURCE_ROOT "/tests/vectors/small.ksk"
#define PASSES 3U

static const struct tape_owner owner = { .name = "one of many",
					 .shift_ns = 5000,
					 .realtime_off_ns = 1234567 };
static uint8_t frame_room[TAPE_FRAME_MAX];

static void open_tape(struct tape *t)
{
	struct error e = ERROR_INIT;

	if (tape_open(t, RECORDING, &e) < 0)
		fail_msg("%s", e.text);
	assert_true(t->n_meta > 0 && t->n > t->n_meta && t->n_streams > 1);
}

static void get_block(const struct tape *t, uint64_t place, struct block *ret)
{
	uint32_t len;
	const uint8_t *bytes = tape_seal(t, place, &owner, frame_room, &len);
	struct frame f;

	assert_true(bytes >= frame_room && bytes + len <= frame_room + sizeof(frame_room));
	assert_int_equal(frame_decode(bytes, len, &f), WIRE_OK);
	assert_int_equal(f.type, FRAME_BLOCK);
	assert_int_equal(f.len, len);
	assert_true(len <= tape_get_bytes(t, place));
	assert_int_equal(block_decode(f.body, f.body_len, ret), WIRE_OK);
}

/* The collector's own books of a run take every block, and come to what the tape says of each place. */
static void test_passes(void **state)
{
	struct run_state books;
	struct tape t;
	uint64_t place, n;

	(void)state;
	open_tape(&t);
	run_state_init(&books);
	n = t.n_meta + PASSES * (t.n - t.n_meta);
	for (place = 0; place < n; place++) {
		struct tape_count count = tape_count(&t, place);
		struct error e = ERROR_INIT;
		struct block b;

		assert_int_equal(books.totals.events, count.events);
		assert_int_equal(books.totals.lost[LOSS_SPOOL], 0);
		get_block(&t, place, &b);
		assert_int_equal(b.sequence, tape_get_sequence(&t, place));
		assert_int_equal(b.stream, t.streams[tape_get_slot(&t, place)].number);
		if (run_state_check(&books, &b, &e) != 0)
			fail_msg("place %llu: %s", (unsigned long long)place, e.text);
		assert_int_equal(run_state_take(&books, &b, 1, NULL), 0);
	}
	assert_int_equal(books.totals.events, PASSES * t.events);
	assert_int_equal(books.totals.gaps, 0);
	run_state_done(&books);
	tape_close(&t);
}

/* Where a stream is at a place is where the collector's books are, for its END. */
static void test_streams(void **state)
{
	struct run_state books;
	struct tape t;
	uint64_t place, sequence, events;
	uint32_t i;

	(void)state;
	open_tape(&t);
	run_state_init(&books);
	for (place = 0; place < 2 * t.n; place++) {
		struct block b;

		for (i = 0; i < t.n_streams; i++) {
			const struct stream_state *s =
				run_state_stream(&books, t.streams[i].number);

			tape_get_stream(&t, place, i, &sequence, &events);
			assert_int_equal(sequence, s ? s->next_sequence : 0);
			assert_int_equal(events, s ? s->seen : 0);
		}
		get_block(&t, place, &b);
		assert_int_equal(run_state_take(&books, &b, 1, NULL), 0);
	}
	run_state_done(&books);
	tape_close(&t);
}

static void test_times(void **state)
{
	struct tape t;
	uint64_t place, due, before = 0;

	(void)state;
	open_tape(&t);
	for (place = 0; place < t.n_meta; place++)
		assert_int_equal(tape_get_due_ns(&t, place), 0);
	for (; place < 3 * t.n; place++) {
		due = tape_get_due_ns(&t, place);
		assert_true(due >= before);
		assert_true(tape_find(&t, due) > place);
		assert_true(!due || tape_find(&t, due - 1) <= place);
		assert_true(tape_next_pass(&t, place) > place);
		before = due;
	}
	assert_int_equal(tape_get_due_ns(&t, tape_next_pass(&t, 2 * t.n)) / t.span_ns,
			 tape_get_due_ns(&t, 2 * t.n) / t.span_ns + 1);
	tape_close(&t);
}

/* The description says whose it is, and its clock is shifted by as much as was asked. */
static void test_owner(void **state)
{
	struct trace_info info;
	struct tape t;
	uint64_t place;

	(void)state;
	open_tape(&t);
	info_init(&info);
	for (place = 0; place < t.n_meta; place++) {
		struct block b;

		get_block(&t, place, &b);
		assert_int_equal(info_decode(&info, NULL, b.payload, b.payload_len), 0);
	}
	assert_string_equal(info.device, owner.name);
	assert_int_equal(info.clock.base_ns, t.clock.base_ns + owner.shift_ns);
	assert_true(info.clock.has_realtime);
	assert_int_equal(info.clock.realtime_off_ns, owner.realtime_off_ns);
	info_done(&info);
	tape_close(&t);
}

static void test_refused(void **state)
{
	static const char *const names[] = { "no-such-file.ksk", "corpus/func_ksk/torn.ksk",
					     "corpus/func_ksk/cut.ksk" };
	char path[1024];
	struct tape t;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct error e = ERROR_INIT;

		snprintf(path, sizeof(path), SOURCE_ROOT "/tests/%s", names[i]);
		assert_true(tape_open(&t, path, &e) < 0);
		assert_true(e.text[0]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_passes),	cmocka_unit_test(test_streams),
		cmocka_unit_test(test_times),	cmocka_unit_test(test_owner),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
