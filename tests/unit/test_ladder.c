/* SPDX-License-Identifier: MIT */
/*
 * ladder: sums of every level against sums made bucket by bucket, and a ladder that is put away and
 * taken out again between any two buckets against one that is not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/ladder.h"
#include "tools/sched_random.h"

#define BUCKETS 3000
#define HALF (BUCKET_TASKS_KEPT / 2)

static struct bucket buckets[BUCKETS];
static struct sched_random random_state;
static struct chunk_reader reader;

struct kept {
	uint32_t level;
	uint64_t chunk;
	size_t len;
	uint8_t *data;
};

struct shelf {
	struct kept kept[BUCKETS * 2];
	size_t n;
};

static int keep(void *context, uint32_t level, uint64_t chunk, const uint8_t *data, size_t len)
{
	struct shelf *s = context;
	struct kept *k = &s->kept[s->n++];

	k->level = level;
	k->chunk = chunk;
	k->len = len;
	k->data = malloc(len);
	assert_non_null(k->data);
	memcpy(k->data, data, len);
	return 0;
}

static void clear(struct shelf *s)
{
	while (s->n)
		free(s->kept[--s->n].data);
}

static uint32_t below(uint32_t n)
{
	return sched_random_below(&random_state, n);
}

static struct holder make_holder(void)
{
	struct holder h = { .type = (uint8_t)(1 + below(3)) };

	if (h.type == HOLDER_TASK) {
		h.pid = 1 + (int32_t)below(5);
		h.comm[0] = 'h';
	}
	return h;
}

/* Neighbours mostly, some holes, now and then a hole of hours. */
static void make_buckets(uint64_t seed)
{
	char comm[SCHED_COMM_LEN] = "t";
	struct holder before = { 0 };
	uint64_t index = 12345, left;
	uint32_t i, t;

	sched_random_init(&random_state, seed, SCHED_RANDOM_REAL);
	for (i = 0; i < BUCKETS; i++) {
		index += 1 + (below(3) ? 0 : below(40)) + (below(60) ? 0 : below(100000));
		bucket_init(&buckets[i], index, &before);
		left = LADDER_BASE_NS;
		for (t = below(20); t > 0; t--) {
			uint64_t ns = below(30000000);

			bucket_add_task(&buckets[i], 1 + (int32_t)below(24), comm, ns);
			left -= ns;
		}
		buckets[i].counts.idle_ns = left;
		buckets[i].counts.switches = below(100);
		buckets[i].counts.lost = below(3);
		before = make_holder();
	}
}

/* The sum over one bucket of a level, by hand: seconds one by one. */
static void sum_by_hand(struct bucket *ret, uint64_t from, uint64_t to)
{
	uint64_t next = from;
	uint32_t i;

	bucket_init(ret, 0, NULL);
	for (i = 0; i < BUCKETS && next < to; i++) {
		uint64_t index = buckets[i].index;

		if (index < from)
			continue;
		bucket_add_time(ret, &buckets[i].before,
				((index < to ? index : to) - next) * LADDER_BASE_NS);
		if (index >= to)
			return;
		bucket_add(ret, &buckets[i]);
		next = index + 1;
	}
}

static bool is_same(const struct bucket_task *a, const struct bucket_task *b)
{
	return a->pid == b->pid && !memcmp(a->comm, b->comm, SCHED_COMM_LEN);
}

static void assert_sum(const struct bucket *b, uint32_t level)
{
	static struct bucket hand;
	uint64_t step = ladder_width_ns(level) / LADDER_BASE_NS;
	uint32_t i, j;

	sum_by_hand(&hand, b->index * step, (b->index + 1) * step);
	assert_memory_equal(&hand.counts, &b->counts, sizeof(hand.counts));
	assert_int_equal(hand.n_tasks, b->n_tasks);
	for (i = 0; i < b->n_tasks; i++) {
		for (j = 0; j < hand.n_tasks && !is_same(&hand.tasks[j], &b->tasks[i]); j++)
			;
		assert_true(j < hand.n_tasks);
		assert_int_equal(hand.tasks[j].ns, b->tasks[i].ns);
	}
}

static void test_sums(void **state)
{
	static struct shelf shelf;
	static struct bucket b;
	struct ladder *l = NULL;
	uint32_t seen[LADDER_LEVELS] = { 0 };
	size_t i;

	(void)state;
	make_buckets(1);
	assert_int_equal(ladder_new(&l, keep, &shelf), 0);
	for (i = 0; i < BUCKETS; i++)
		assert_int_equal(ladder_push(l, &buckets[i]), 0);
	for (i = 0; i < shelf.n; i++) {
		const struct kept *k = &shelf.kept[i];

		chunk_reader_init(&reader, k->data, k->len);
		while (chunk_reader_next(&reader, &b) == WIRE_OK) {
			assert_int_equal(b.index / LADDER_STEP, k->chunk);
			assert_sum(&b, k->level);
			seen[k->level]++;
		}
		assert_false(reader.bytes.bad);
	}
	for (i = 0; i < LADDER_LEVELS; i++)
		assert_true(seen[i] > 3);
	clear(&shelf);
	ladder_free(l);
}

static void move(struct ladder *from, struct ladder *to)
{
	const uint8_t *data;
	uint32_t level;
	size_t len;

	ladder_reset(to);
	for (level = 0; level < LADDER_LEVELS; level++) {
		data = ladder_get_open(from, level, &len);
		assert_int_equal(ladder_load(to, level, data, len), 0);
	}
}

static void test_put_away(void **state)
{
	static struct shelf plain_shelf, moved_shelf;
	struct ladder *plain = NULL, *moved[2] = { NULL, NULL };
	size_t i;

	(void)state;
	make_buckets(2);
	assert_int_equal(ladder_new(&plain, keep, &plain_shelf), 0);
	assert_int_equal(ladder_new(&moved[0], keep, &moved_shelf), 0);
	assert_int_equal(ladder_new(&moved[1], keep, &moved_shelf), 0);
	for (i = 0; i < BUCKETS; i++) {
		assert_int_equal(ladder_push(plain, &buckets[i]), 0);
		assert_int_equal(ladder_push(moved[i % 2], &buckets[i]), 0);
		move(moved[i % 2], moved[(i + 1) % 2]);
	}
	assert_int_equal(plain_shelf.n, moved_shelf.n);
	for (i = 0; i < plain_shelf.n; i++) {
		const struct kept *a = &plain_shelf.kept[i], *b = &moved_shelf.kept[i];

		assert_true(a->level == b->level && a->chunk == b->chunk && a->len == b->len);
		assert_memory_equal(a->data, b->data, a->len);
	}
	clear(&plain_shelf);
	clear(&moved_shelf);
	ladder_free(plain);
	ladder_free(moved[0]);
	ladder_free(moved[1]);
}

/* More tasks than are kept: the tasks with the most time stay, exactly; the rest is the rest. */
static void test_trim(void **state)
{
	static struct shelf shelf;
	static struct bucket b;
	char comm[SCHED_COMM_LEN] = "t";
	struct ladder *l = NULL;
	uint64_t sum = 0;
	uint32_t i, t;

	(void)state;
	assert_int_equal(ladder_new(&l, keep, &shelf), 0);
	for (i = 0; i <= LADDER_STEP * (LADDER_STEP + 1); i++) {
		bucket_init(&b, i, NULL);
		for (t = 0; t < BUCKET_TASKS_KEPT; t++) /* half are always there, half are new */
			bucket_add_task(&b, (int32_t)(t < HALF ? t + 1 : 100 + i * 64 + t), comm,
					t < HALF ? 2000 : 1000);
		assert_int_equal(ladder_push(l, &b), 0);
	}
	for (i = 0; i < shelf.n && shelf.kept[i].level < 1; i++)
		;
	assert_true(i < shelf.n);
	chunk_reader_init(&reader, shelf.kept[i].data, shelf.kept[i].len);
	assert_int_equal(chunk_reader_next(&reader, &b), WIRE_OK);
	assert_int_equal(b.counts.busy_ns, 16 * HALF * 3000);
	assert_int_equal(b.n_tasks, BUCKET_TASKS_KEPT);
	for (t = 0; t < b.n_tasks; t++) {
		assert_int_equal(b.tasks[t].ns, b.tasks[t].pid <= (int32_t)HALF ? 16 * 2000 : 1000);
		sum += b.tasks[t].ns;
	}
	assert_int_equal(sum + b.rest_ns, b.counts.busy_ns);
	clear(&shelf);
	ladder_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_put_away),
		cmocka_unit_test(test_trim),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
