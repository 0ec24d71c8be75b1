/* SPDX-License-Identifier: MIT */
/* log: the vector of docs/format/store.md, read and written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "store/log_index.h"
#include "tools/vector.h"

#define ROOM 4096U
#define LOSS_LEN 36U /* a row of an index */

static struct vector vector;
static uint8_t bytes[ROOM], written[ROOM];
static size_t len;

static int load(void **state)
{
	(void)state;
	vector_open(&vector, "klog.hex");
	len = vector_bytes(&vector, bytes, ROOM);
	return len ? 0 : -1;
}

/* Every record that is decoded is encoded to the same bytes. */
static void test_bytes(void **state)
{
	static const uint8_t kinds[] = { LOG_DEVICE, LOG_RUN,	LOG_BLOCK,
					 LOG_CLOCK,  LOG_BLOCK, LOG_END };
	struct log_record r;
	struct log_head h;
	size_t at = LOG_HEAD_LEN, n = 0;

	(void)state;
	assert_int_equal(log_head_decode(bytes, len, &h), WIRE_OK);
	assert_int_equal(h.number, 1);
	assert_int_equal(h.next_run, 1);
	assert_int_equal(h.time_ns, 1794700000000000000);
	log_head_encode(written, &h);
	for (; at < len; at += r.len, n++) {
		assert_true(n < sizeof(kinds));
		assert_int_equal(log_record_decode(bytes + at, len - at, &r), WIRE_OK);
		assert_int_equal(r.kind, kinds[n]);
		assert_int_equal(r.run, n > 0);
		assert_int_equal(r.time_ns, h.time_ns + (n + 1) * 1000);
		log_record_encode(written + at, &r);
		memcpy(written + at + LOG_RECORD_HEAD, r.body, r.body_len);
	}
	assert_int_equal(n, sizeof(kinds));
	assert_memory_equal(written, bytes, len);
}

static void test_meaning(void **state)
{
	static const struct store_loss rows[] = {
		{ 1, 1, LOSS_RING, 0, 1000, 2 },
		{ 1, 1, LOSS_SPOOL, 1500, 3000, 15 },
		{ 1, 1, LOSS_SPOOL, 3010, 3010, 6 },
	};
	const struct log_scan scan = { .data = bytes, .len = len };
	struct error e = ERROR_INIT;
	struct losses_walk walk = { 0 };
	struct store_loss row;
	struct view_run *run;
	struct log_view *v;
	size_t i;

	(void)state;
	assert_int_equal(log_view_scan(&v, &scan, &e), 0);
	assert_int_equal(v->size, len);
	assert_int_equal(v->n_devices, 1);
	assert_string_equal(v->devices[0].name, "board");
	assert_string_equal(v->devices[0].agent, "0.1.0");
	run = log_view_run(v, 1);
	assert_non_null(run);
	assert_int_equal(run->ids.boot.bytes[15], 47);
	assert_true(run->state.ended);
	assert_int_equal(run->state.totals.events, 7);
	assert_int_equal(run->state.clock.off_ns, 1794700000000000000 - 1500);
	assert_int_equal(run->state.clock.err_ns, 250);
	assert_int_equal(run->state.streams[0].seen, 30);
	assert_int_equal(run->state.streams[0].next_sequence, 5);
	assert_int_equal(v->n_losses, 3);
	for (i = 0; i < 3; i++) {
		assert_true(view_losses_next(&run->losses, &walk, &row));
		assert_int_equal(row.stream, rows[i].stream);
		assert_int_equal(row.cause, rows[i].cause);
		assert_int_equal(row.from_tick, rows[i].from_tick);
		assert_int_equal(row.to_tick, rows[i].to_tick);
		assert_int_equal(row.count, rows[i].count);
	}
	assert_false(view_losses_next(&run->losses, &walk, &row));
	log_view_free(v);
}

/* Every flipped bit and every cut is seen. */
static void test_damage(void **state)
{
	struct log_record r;
	struct log_head h;
	size_t at, bit, end, start;

	(void)state;
	for (start = 0; start < len; start = end) {
		end = LOG_HEAD_LEN;
		if (start) {
			assert_int_equal(log_record_decode(bytes + start, len - start, &r), 0);
			end = start + r.len;
			for (at = start; at < end; at++)
				assert_int_equal(log_record_decode(bytes + start, at - start, &r),
						 WIRE_MORE);
		}
		for (bit = start * 8; bit < end * 8; bit++) {
			bytes[bit / 8] ^= (uint8_t)(1U << bit % 8);
			if (start)
				assert_int_not_equal(log_record_decode(bytes + start, len - start,
								       &r),
						     WIRE_OK);
			else
				assert_int_not_equal(log_head_decode(bytes, len, &h), WIRE_OK);
			bytes[bit / 8] ^= (uint8_t)(1U << bit % 8);
		}
	}
}

/* An index is mapped: a cause that changes after it was found sound is still one. */
static void test_changed(void **state)
{
	const struct log_scan scan = { .data = bytes, .len = len };
	struct error e = ERROR_INIT;
	struct store_loss row;
	struct log_index *x;
	struct log_view *v;

	(void)state;
	assert_int_equal(log_view_scan(&v, &scan, &e), 0);
	assert_int_equal(log_index_new(&x, v), 0);
	assert_int_equal(x->n_losses, 3);
	log_index_loss_at(x, 1, &row);
	assert_int_equal(row.cause, LOSS_SPOOL);
	put_le32((uint8_t *)x->losses + LOSS_LEN + 8, LOSS_CAUSES);
	log_index_loss_at(x, 1, &row);
	assert_int_equal(row.cause, LOSS_STORE);
	assert_int_equal(row.count, 15);
	log_index_free(x);
	log_view_free(v);
}

static uint64_t damaged;

static void count_damage(void *context, uint64_t at, uint64_t n, const char *what)
{
	(void)context;
	(void)at;
	(void)what;
	damaged += n;
}

/* Bytes in which a long record seems to start everywhere: the search gives up, and says what it leaves. */
static void test_search(void **state)
{
	static uint8_t junk[LOG_HEAD_LEN + 200 * LOG_RECORD_HEAD];
	const struct log_scan scan = {
		.data = junk, .len = sizeof(junk), .to_the_end = true, .on_damage = count_damage
	};
	const struct log_head h = { .number = 1, .next_run = 1 };
	struct log_record r = { .kind = LOG_CLOSE, .run = 1 };
	struct error e = ERROR_INIT;
	struct log_view *v;
	size_t at;

	(void)state;
	log_head_encode(junk, &h);
	for (at = LOG_HEAD_LEN; at < sizeof(junk); at += LOG_RECORD_HEAD) {
		r.body = junk + at + LOG_RECORD_HEAD;
		r.body_len = (uint32_t)(sizeof(junk) - at - LOG_RECORD_HEAD);
		log_record_encode(junk + at, &r);
		junk[at + 4] ^= 1;
	}
	damaged = 0;
	assert_int_equal(log_view_scan(&v, &scan, &e), 0);
	assert_int_equal(damaged, sizeof(junk) - LOG_HEAD_LEN);
	assert_int_equal(v->size, LOG_HEAD_LEN);
	assert_int_equal(v->n_blocks, 0);
	log_view_free(v);
	assert_false(log_scan_finds(&scan, LOG_HEAD_LEN));
	/* A sound one at the end is found, unless the search has given up before. */
	r.body_len = 0;
	at = sizeof(junk) - LOG_RECORD_HEAD;
	log_record_encode(junk + at, &r);
	assert_false(log_scan_finds(&scan, LOG_HEAD_LEN));
	assert_true(log_scan_finds(&scan, at - LOG_RECORD_HEAD));
}

/* A state is the same after it was packed. */
static void test_state(void **state)
{
	struct run_state a = { .ended = true, .has_tick = true, .first_ns = 5, .last_ns = 9 }, b;
	uint8_t first[RUN_STATE_ROOM(3)], second[RUN_STATE_ROOM(3)];
	struct block block = { .stream = 7, .sequence = 4, .events = 3, .flags = BLOCK_LOST };
	size_t n, cut;

	(void)state;
	a.ended = false;
	block.lost[LOSS_BUFFER] = LOSS_UNKNOWN;
	block.lost[LOSS_RING] = UINT64_MAX / 2;
	assert_int_equal(run_state_take(&a, &block, 77, NULL), 0);
	block.stream = 2;
	block.flags = BLOCK_KEY;
	block.before = UINT64_MAX - 3;
	assert_int_equal(run_state_take(&a, &block, 78, NULL), 0);
	run_state_close(&a, NULL);
	n = run_state_encode(&a, first);
	assert_true(n <= sizeof(first));
	assert_int_equal(run_state_decode(&b, first, n), 0);
	assert_int_equal(run_state_encode(&b, second), n);
	assert_memory_equal(first, second, n);
	assert_memory_equal(&a.totals, &b.totals, sizeof(a.totals));
	assert_memory_equal(a.streams, b.streams, 2 * sizeof(*a.streams));
	run_state_done(&b);
	for (cut = 0; cut < n; cut++)
		assert_true(run_state_decode(&b, first, cut) < 0);
	run_state_done(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_bytes, load),
		cmocka_unit_test_setup(test_meaning, load),
		cmocka_unit_test_setup(test_damage, load),
		cmocka_unit_test_setup(test_changed, load),
		cmocka_unit_test(test_search),
		cmocka_unit_test(test_state),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
