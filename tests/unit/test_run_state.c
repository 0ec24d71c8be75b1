/* SPDX-License-Identifier: MIT */
/* run_state: what devices say of their runs that cannot be, and what is told of those that never ended. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "store/run_state.h"
#include "wire/meta.h"
#include "wire/sample_meta_encode.h"

#define NO_STREAM (MESSAGE_STREAMS_MAX + 1)

struct ledger {
	struct store_loss rows[8];
	size_t n;
};

static void add(void *context, const struct store_loss *row)
{
	struct ledger *l = context;

	assert_true(l->n < 8);
	l->rows[l->n++] = *row;
}

static void take(struct run_state *s, const struct block *b)
{
	assert_int_equal(run_state_take(s, b, 1000, NULL), 0);
}

/* What the end of a run says of one stream: as bytes, and then as the store takes it. */
static void check_end(const struct run_state *s, uint32_t stream, enum wire_status decoded,
		      int checked)
{
	const struct message_stream_end row = { stream, 9, 90 };
	struct error e = ERROR_INIT;
	struct message_end m = { .n_rows = 1 };
	uint8_t bytes[64];
	struct byte_writer w;

	writer_init(&w, bytes, sizeof(bytes));
	end_encode(&w, &m);
	end_put(&w, &row);
	assert_int_equal(end_decode(&m, bytes, writer_len(&w)), decoded);
	if (decoded == WIRE_OK)
		assert_int_equal(run_state_check_end(s, &m, &e), checked);
}

static void test_streams(void **state)
{
	struct block b = { .stream = NO_STREAM };
	struct error e = ERROR_INIT;
	struct run_state s;

	(void)state;
	run_state_init(&s);
	assert_int_equal(run_state_check(&s, &b, &e), -EPROTO);
	assert_non_null(strstr(e.text, "no CPU and no thread"));
	check_end(&s, NO_STREAM, WIRE_CORRUPT, 0);
	check_end(&s, 1, WIRE_OK, STORE_TAKEN);
	check_end(&s, STREAM_BOOT, WIRE_OK, STORE_TAKEN);
	b.stream = 1;
	b.sequence = 9;
	take(&s, &b);
	check_end(&s, 1, WIRE_OK, -EPROTO);
	run_state_done(&s);
}

/* As many streams as a run can have, and one more. */
static void test_streams_max(void **state)
{
	struct block b = { .flags = BLOCK_KEY };
	struct error e = ERROR_INIT;
	struct run_state s;
	uint32_t i;

	(void)state;
	run_state_init(&s);
	for (i = 0; i < RUN_STATE_STREAMS_MAX; i++) {
		b.stream = STREAM_FUNC_FIRST + i;
		assert_int_equal(run_state_check(&s, &b, &e), STORE_TAKEN);
		take(&s, &b);
	}
	check_end(&s, b.stream, WIRE_OK, STORE_TAKEN);
	b.stream++;
	assert_int_equal(run_state_check(&s, &b, &e), -EPROTO);
	assert_non_null(strstr(e.text, "the run has 6144 others"));
	check_end(&s, b.stream, WIRE_OK, -EPROTO);
	run_state_done(&s);
}

/* A gap is one, however many blocks are missing in it, until a key block counts what was. */
static void test_gap(void **state)
{
	struct block b = { .stream = 1, .events = 5 };
	struct ledger rows = { .n = 0 };
	const struct run_losses losses = { add, &rows };
	struct run_state s;

	(void)state;
	run_state_init(&s);
	for (b.sequence = 1; b.sequence <= 7; b.sequence += 3) {
		take(&s, &b);
		assert_int_equal(s.totals.gaps, 1);
	}
	assert_int_equal(s.totals.events, 0);
	run_state_list_open(&s, &losses);
	assert_int_equal(rows.n, 1);
	assert_true(rows.rows[0].count == LOSS_UNKNOWN);
	b.flags = BLOCK_KEY;
	b.before = 40;
	assert_int_equal(run_state_take(&s, &b, 1000, &losses), 0);
	assert_int_equal(s.totals.gaps, 0);
	assert_int_equal(rows.n, 2);
	assert_int_equal(rows.rows[1].cause, LOSS_SPOOL);
	assert_int_equal(rows.rows[1].count, 40);
	run_state_done(&s);
}

static void check_span(const struct store_loss *row, uint8_t cause, uint64_t from, uint64_t to)
{
	assert_int_equal(row->cause, cause);
	assert_int_equal(row->from_tick, from);
	assert_int_equal(row->to_tick, to);
}

/* A loss begins where the block before it ended, and ends with the first event behind it, as far as headers say. */
static void test_spans(void **state)
{
	struct block b = { .stream = 2,
			   .flags = BLOCK_KEY,
			   .events = 5,
			   .first_tick = 1000,
			   .ticks = 100,
			   .lost = { [LOSS_RING] = 7 },
			   .before = 7 };
	struct ledger rows = { .n = 0 };
	const struct run_losses losses = { add, &rows };
	struct run_state s;

	(void)state;
	run_state_init(&s);
	assert_int_equal(run_state_take(&s, &b, 1000, &losses), 0);
	check_span(&rows.rows[0], LOSS_RING, 0, 1000); /* of the run's beginning */
	b = (struct block){ .stream = 2, .sequence = 1, .ticks = 900, .lost = { 0, 3, 0, 0, 0 } };
	assert_int_equal(run_state_take(&s, &b, 1000, &losses), 0);
	check_span(&rows.rows[1], LOSS_BUFFER, 1100, 2000); /* told by a block without events */
	b = (struct block){ .stream = 2, .sequence = 2, .events = 1, .ticks = 50 };
	assert_int_equal(run_state_take(&s, &b, 1000, &losses), 0);
	assert_int_equal(rows.n, 2);
	b = (struct block){ .stream = 2, .sequence = 3, .events = 4, .ticks = 300 };
	b.lost[LOSS_RING] = 2;
	b.lost[LOSS_SPOOL] = LOSS_UNKNOWN;
	assert_int_equal(run_state_take(&s, &b, 1000, &losses), 0);
	check_span(&rows.rows[2], LOSS_RING, 2050, 2350); /* as older devices told it */
	check_span(&rows.rows[3], LOSS_SPOOL, 2050, 2350);
	b = (struct block){ .stream = 2,
			    .sequence = 4,
			    .flags = BLOCK_KEY,
			    .first_tick = 2100, /* its first event went back */
			    .ticks = 10,
			    .events = 1,
			    .before = 23 };
	b.lost[LOSS_RING] = 1;
	assert_int_equal(run_state_take(&s, &b, 1000, &losses), 0);
	check_span(&rows.rows[4], LOSS_RING, 2350, 2350);
	assert_int_equal(rows.n, 5);
	run_state_done(&s);
}

/* Where blocks are missing, what lacks begins where the last one before the gap ended: also in a state that was at
 * rest, and though blocks behind the gap have moved the end. */
static void test_gap_spans(void **state)
{
	struct block b = { .stream = 1, .flags = BLOCK_KEY, .events = 5, .first_tick = 500 };
	const struct message_stream_end ends[] = { { 1, 9, 90 }, { 2, 3, 4 } };
	struct ledger rows = { .n = 0 };
	const struct run_losses losses = { add, &rows };
	struct message_end m = { .n_rows = 2 };
	struct run_state s, back;
	uint8_t bytes[512];
	struct byte_writer w;
	size_t len;

	(void)state;
	run_state_init(&s);
	take(&s, &b);
	b = (struct block){ .stream = 1, .sequence = 4, .events = 5, .ticks = 30 };
	take(&s, &b);
	b = (struct block){ .stream = 2, .flags = BLOCK_KEY, .events = 1, .first_tick = 800 };
	take(&s, &b);
	run_state_list_open(&s, &losses);
	check_span(&rows.rows[0], LOSS_SPOOL, 500, 800); /* as far as the run goes */
	len = run_state_encode(&s, bytes);
	assert_int_equal(run_state_decode(&back, bytes, len), 0);
	b = (struct block){ .stream = 1,
			    .sequence = 5,
			    .flags = BLOCK_KEY,
			    .events = 1,
			    .first_tick = 700,
			    .before = 40 };
	assert_int_equal(run_state_take(&back, &b, 1000, &losses), 0);
	assert_int_equal(rows.rows[1].count, 35);
	check_span(&rows.rows[1], LOSS_SPOOL, 500, 700);
	run_state_done(&back);

	writer_init(&w, bytes, sizeof(bytes));
	end_encode(&w, &m);
	end_put(&w, &ends[0]);
	end_put(&w, &ends[1]);
	assert_int_equal(end_decode(&m, bytes, writer_len(&w)), WIRE_OK);
	assert_int_equal(run_state_end(&s, &m, 1000, &losses), 0);
	check_span(&rows.rows[2], LOSS_SPOOL, 500, 800);
	check_span(&rows.rows[3], LOSS_SPOOL, 800, 800);
	assert_int_equal(rows.n, 4);
	run_state_done(&s);
}

/* A relation of clocks is better if it is exacter, or so much later that drift has made the other one worse. */
static void test_clock(void **state)
{
	struct store_clock c = { .device_ns = 1000000000, .err_ns = 1000 };
	struct run_state s;

	(void)state;
	run_state_init(&s);
	assert_true(run_state_is_better_clock(&s, &c));
	run_state_set_clock(&s, &c);
	assert_false(run_state_is_better_clock(&s, &c));
	c.err_ns = 999;
	assert_true(run_state_is_better_clock(&s, &c));
	c.device_ns -= 500;
	assert_true(run_state_is_better_clock(&s, &c));
	c.err_ns = 1100;
	assert_false(run_state_is_better_clock(&s, &c));
	c.device_ns = 1000000000 + 100 * 20000 + 20000;
	assert_true(run_state_is_better_clock(&s, &c));
	c.device_ns -= 20000;
	assert_false(run_state_is_better_clock(&s, &c));
}

/* No stream counts up to the mark of the unknown: what came behind it would begin at zero again. */
static void test_counts(void **state)
{
	struct block b = { .stream = 1, .flags = BLOCK_KEY, .events = 5 };
	struct error e = ERROR_INIT;
	struct run_state s;

	(void)state;
	run_state_init(&s);
	b.before = UINT64_MAX - 5;
	assert_int_equal(run_state_check(&s, &b, &e), -EPROTO);
	assert_non_null(strstr(e.text, "no device makes"));
	b.before--;
	assert_int_equal(run_state_check(&s, &b, &e), STORE_TAKEN);
	take(&s, &b);
	b = (struct block){ .stream = 1, .sequence = 1, .events = 1 };
	assert_int_equal(run_state_check(&s, &b, &e), -EPROTO);
	b.events = 0;
	assert_int_equal(run_state_check(&s, &b, &e), STORE_TAKEN);
	b.lost[LOSS_RING] = 1;
	assert_int_equal(run_state_check(&s, &b, &e), -EPROTO);
	/* Sums that were read may be any. */
	b.lost[LOSS_RING] = 0;
	s.streams[0].pending = 5;
	assert_int_equal(run_state_check(&s, &b, &e), -EPROTO);
	run_state_done(&s);
}

/* A run that is closed has lost what nobody counted, and says so as long as its sums are kept. */
static void test_closed(void **state)
{
	struct block b = { .stream = 1, .flags = BLOCK_KEY | BLOCK_LOST, .events = 5, .before = 7 };
	struct ledger rows = { .n = 0 };
	const struct run_losses losses = { add, &rows };
	struct run_state s;

	(void)state;
	run_state_init(&s);
	b.lost[LOSS_BUFFER] = 7;
	take(&s, &b);
	run_state_list_sums(&s, &losses);
	assert_int_equal(rows.n, 2);
	assert_int_equal(rows.rows[0].cause, LOSS_BUFFER);
	assert_int_equal(rows.rows[0].count, 7);
	assert_int_equal(rows.rows[1].cause, LOSS_STORE);
	assert_int_equal(rows.rows[1].count, 5);
	run_state_close(&s, NULL);
	rows.n = 0;
	run_state_list_sums(&s, &losses);
	assert_int_equal(rows.n, 3);
	assert_int_equal(rows.rows[2].stream, STREAM_META);
	assert_int_equal(rows.rows[2].cause, LOSS_RING);
	assert_true(rows.rows[2].count == LOSS_UNKNOWN);
	run_state_done(&s);
}

/* Sums that are too large are unknown, of one stream and over all of them. */
static void test_packed_sums(void **state)
{
	struct block b = { .flags = BLOCK_LOST };
	uint8_t bytes[RUN_STATE_ROOM(2)];
	struct run_state s, packed;
	size_t n;

	(void)state;
	run_state_init(&s);
	b.lost[LOSS_RING] = UINT64_MAX / 2 + 1;
	for (b.stream = 1; b.stream <= 2; b.stream++)
		take(&s, &b);
	assert_int_equal(s.totals.unknown, 1 << LOSS_RING);
	n = run_state_encode(&s, bytes);
	assert_int_equal(run_state_decode(&packed, bytes, n), 0);
	assert_memory_equal(&packed.totals, &s.totals, sizeof(s.totals));
	assert_int_equal(packed.streams[1].unknown, 0);
	run_state_done(&packed);
	/* The mark of the unknown is no sum: one more would make it a small number. */
	s.streams[1].lost[LOSS_RING] = LOSS_UNKNOWN;
	n = run_state_encode(&s, bytes);
	assert_int_equal(run_state_decode(&packed, bytes, n), -EBADMSG);
	run_state_done(&s);
}

/* Whether a run looks for virtual machines, by what it says of itself. */
static bool has_guests(const uint8_t *bytes, size_t len)
{
	const struct block b = { .codec = CODEC_META,
				 .stream = STREAM_META,
				 .payload = bytes,
				 .payload_len = (uint32_t)len };
	struct run_state s;
	bool found;

	run_state_init(&s);
	take(&s, &b);
	found = s.has_guests;
	run_state_done(&s);
	return found;
}

static void test_description(void **state)
{
	static const uint8_t torn[] = { META_SAMPLING, 5, 100, 0, 0, 0, 0 };
	const struct sample_sampling sampling = { .period = 100, .has = SAMPLE_HAS_GUESTS };
	uint8_t bytes[SAMPLE_META_ROW_ROOM];
	size_t len = (size_t)(sample_meta_put_sampling(bytes, &sampling) - bytes);

	(void)state;
	assert_true(has_guests(bytes, len));
	assert_false(has_guests(bytes, len - 1));
	assert_false(has_guests(torn, sizeof(torn)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_streams),	    cmocka_unit_test(test_counts),
		cmocka_unit_test(test_streams_max), cmocka_unit_test(test_gap),
		cmocka_unit_test(test_spans),	    cmocka_unit_test(test_gap_spans),
		cmocka_unit_test(test_clock),	    cmocka_unit_test(test_closed),
		cmocka_unit_test(test_packed_sums), cmocka_unit_test(test_description),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
