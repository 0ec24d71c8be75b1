/* SPDX-License-Identifier: MIT */
/* chunk: buckets come back as they went, in few bytes, and nothing else is taken for them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/chunk.h"
#include "tools/sched_random.h"

static struct bucket bucket, other;
static struct chunk_reader reader;
static struct sched_random random_state;

static uint32_t below(uint32_t n)
{
	return sched_random_below(&random_state, n);
}

static void make_holder(struct holder *h)
{
	memset(h, 0, sizeof(*h));
	h->type = (uint8_t)below(HOLDER_TYPES);
	if (h->type == HOLDER_TASK) {
		h->pid = (int32_t)below(50) - 5;
		h->comm[0] = (char)('a' + below(3));
	}
}

static void make_bucket(struct bucket *b, uint64_t index, uint32_t tasks)
{
	char comm[SCHED_COMM_LEN] = "task";
	struct holder before;
	uint32_t i;

	make_holder(&before);
	bucket_init(b, index, &before);
	b->counts.idle_ns = below(1000000000);
	b->counts.unknown_ns = below(3) ? 0 : below(1000000000);
	b->counts.switches = below(1000);
	b->counts.wakeups = below(1000);
	b->counts.others = below(3);
	b->counts.lost = below(4) ? 0 : sched_random_bits(&random_state);
	b->counts.uncounted = below(4) ? 0 : below(10);
	for (i = below(tasks + 1); i > 0; i--) {
		comm[5] = (char)below(3);
		comm[4] = (char)(1 + below(255));
		bucket_add_task(b, (int32_t)below(2 * BUCKET_TASKS_MAX), comm, 1 + below(50000000));
	}
	if (!below(3)) {
		b->rest_ns += 77;
		b->counts.busy_ns += 77;
	}
}

static void assert_buckets_equal(const struct bucket *a, const struct bucket *b)
{
	assert_int_equal(a->index, b->index);
	assert_memory_equal(&a->before, &b->before, sizeof(a->before));
	assert_memory_equal(&a->counts, &b->counts, sizeof(a->counts));
	assert_int_equal(a->rest_ns, b->rest_ns);
	assert_int_equal(a->n_tasks, b->n_tasks);
	assert_memory_equal(a->tasks, b->tasks, a->n_tasks * sizeof(*a->tasks));
}

static void test_round_trip(void **state)
{
	static struct bucket all[16];
	struct chunk_writer w = { 0 };
	uint64_t index;
	uint32_t round, i;

	(void)state;
	sched_random_init(&random_state, 7, SCHED_RANDOM_REAL);
	for (round = 0; round < 200; round++) {
		index = below(3) ? below(100) : sched_random_bits(&random_state) >> 1;
		chunk_writer_reset(&w);
		for (i = 0; i < 16; i++, index += 1 + below(4)) {
			make_bucket(&all[i], index, i == 7 ? 3 * BUCKET_TASKS_MAX : 64);
			assert_int_equal(chunk_writer_push(&w, &all[i]), 0);
		}
		chunk_reader_init(&reader, w.data, w.len);
		for (i = 0; i < 16; i++) {
			assert_int_equal(chunk_reader_next(&reader, &bucket), WIRE_OK);
			assert_buckets_equal(&bucket, &all[i]);
		}
		assert_int_equal(chunk_reader_next(&reader, &bucket), WIRE_MORE);
	}
	chunk_writer_done(&w);
}

/* A writer that goes on behind bytes makes the bytes that it would have made. */
static void test_resume(void **state)
{
	struct chunk_writer whole = { 0 }, part = { 0 };
	uint32_t i;

	(void)state;
	sched_random_init(&random_state, 8, SCHED_RANDOM_REAL);
	for (i = 0; i < 16; i++) {
		make_bucket(&bucket, i * 2, 64);
		chunk_reader_init(&reader, whole.data, whole.len);
		while (chunk_reader_next(&reader, &other) == WIRE_OK)
			;
		assert_int_equal(chunk_writer_resume(&part, &reader, whole.data, whole.len), 0);
		assert_int_equal(chunk_writer_push(&part, &bucket), 0);
		assert_int_equal(chunk_writer_push(&whole, &bucket), 0);
		assert_int_equal(whole.len, part.len);
		assert_memory_equal(whole.data, part.data, whole.len);
	}
	chunk_writer_done(&whole);
	chunk_writer_done(&part);
}

/* A cut is found unless it lies between two buckets; no cut makes up anything. */
static void test_cut(void **state)
{
	struct chunk_writer w = { 0 };
	size_t ends[4], cut;
	enum wire_status status;
	uint32_t i, n;

	(void)state;
	sched_random_init(&random_state, 9, SCHED_RANDOM_REAL);
	for (i = 0; i < 4; i++) {
		make_bucket(&bucket, i, 10);
		assert_int_equal(chunk_writer_push(&w, &bucket), 0);
		ends[i] = w.len;
	}
	for (cut = 2; cut < w.len; cut++) {
		chunk_reader_init(&reader, w.data, cut);
		for (n = 0; (status = chunk_reader_next(&reader, &bucket)) == WIRE_OK; n++)
			;
		for (i = 0; i < 4 && ends[i] <= cut; i++)
			;
		assert_int_equal(n, i);
		assert_int_equal(status, i && ends[i - 1] == cut ? WIRE_MORE : WIRE_CORRUPT);
	}
	w.data[0] ^= 0x40; /* another version */
	chunk_reader_init(&reader, w.data, w.len);
	assert_int_equal(chunk_reader_next(&reader, &bucket), WIRE_CORRUPT);
	chunk_writer_done(&w);
}

/* The budget: 16 seconds of 30 tasks that run in each of them. */
static void test_small(void **state)
{
	char comm[SCHED_COMM_LEN] = "a-usual-name";
	struct chunk_writer w = { 0 };
	uint32_t i, t;

	(void)state;
	for (i = 0; i < 16; i++) {
		bucket_init(&bucket, 100000 + i, NULL);
		bucket.counts.idle_ns = 400000000;
		bucket.counts.switches = bucket.counts.wakeups = 3000;
		for (t = 0; t < 30; t++)
			bucket_add_task(&bucket, (int32_t)(1000 + t), comm, 20000000);
		assert_int_equal(chunk_writer_push(&w, &bucket), 0);
	}
	assert_true(w.len < 16 * 30 * 5 + 30 * 16 + 16 * 16);
	chunk_writer_done(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_resume),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_small),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
