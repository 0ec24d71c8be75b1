/* SPDX-License-Identifier: MIT */
/*
 * vm_ring: records come out as they went in, whole, in order, and every loss is where it happened; also while
 * another thread takes them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>

#include "device/vm/core/vm_ring.h"

#define SIZE 1024U
#define RACE_RECORDS 200000U

static uint8_t memory[SIZE] __attribute__((aligned(8)));

/* Sizes change, so that records lie over the end of the memory in every way. */
static bool put(struct vm_ring *r, uint64_t number)
{
	struct vm_record_two t;

	memset(&t, (int)number & 0xff, sizeof(t));
	t.base.tick = number;
	t.base.size = (uint16_t)(sizeof(t.base) + number % 5 * 8);
	return vm_ring_put(r, &t.base);
}

/* Takes all that `most` bytes hold; checks that the numbers follow each other but for the losses. */
static uint32_t take(struct vm_ring *r, uint32_t most, uint64_t *next)
{
	uint8_t out[SIZE];
	struct vm_ring_parts p;
	struct vm_record rec;
	uint32_t len = vm_ring_get(r, most, &p), at;

	assert_true(len <= most && len == p.len[0] + p.len[1]);
	memcpy(out, p.data[0], p.len[0]);
	memcpy(out + p.len[0], p.data[1], p.len[1]);
	for (at = 0; at < len; at += rec.size) {
		assert_true(len - at >= sizeof(rec));
		memcpy(&rec, out + at, sizeof(rec));
		*next += rec.lost;
		assert_int_equal(rec.tick, *next);
		assert_int_equal(rec.size, sizeof(rec) + *next % 5 * 8);
		assert_int_equal(out[at + rec.size - 1], *next & 0xff);
		++*next;
	}
	assert_int_equal(at, len);
	vm_ring_pop(r, len);
	return len;
}

static void test_whole_records(void **state)
{
	struct vm_ring r;
	uint64_t number, next = 0;

	(void)state;
	vm_ring_init(&r, memory, SIZE);
	assert_int_equal(take(&r, SIZE, &next), 0);
	for (number = 0; number < 2000; number++) {
		assert_true(put(&r, number));
		if (number % 3 == 2)
			while (take(&r, 100, &next))
				continue;
	}
	while (take(&r, 100, &next))
		continue;
	assert_int_equal(next, 2000);
	assert_int_equal(r.lost, 0);
	/* Too little room for the first one: it stays. */
	assert_true(put(&r, 2000));
	assert_int_equal(take(&r, 40, &next), 0);
	assert_int_equal(take(&r, 48, &next), 48);
}

static void test_losses(void **state)
{
	struct vm_ring r;
	uint64_t number, next = 0, lost = 0;

	(void)state;
	vm_ring_init(&r, memory, SIZE);
	for (number = 0; number < 100; number++)
		lost += !put(&r, number);
	assert_true(lost > 50);
	assert_int_equal(r.lost, lost);
	assert_true(vm_ring_used(&r) <= SIZE);
	take(&r, SIZE, &next);
	assert_int_equal(next, 100 - lost);
	assert_true(put(&r, number));
	take(&r, SIZE, &next);
	assert_int_equal(next, 101);
	assert_int_equal(r.lost, lost);
}

struct race {
	struct vm_ring ring;
	uint32_t done;
};

static void *produce(void *data)
{
	struct race *race = data;
	uint64_t number;

	for (number = 0; number < RACE_RECORDS; number++)
		put(&race->ring, number);
	__atomic_store_n(&race->done, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void test_race(void **state)
{
	struct race race = { .done = 0 };
	uint64_t next = 0;
	pthread_t thread;

	(void)state;
	vm_ring_init(&race.ring, memory, SIZE);
	assert_int_equal(pthread_create(&thread, NULL, produce, &race), 0);
	while (!__atomic_load_n(&race.done, __ATOMIC_ACQUIRE))
		take(&race.ring, 300, &next);
	pthread_join(thread, NULL);
	while (take(&race.ring, 300, &next))
		continue;
	assert_int_equal(next + race.ring.unsaid, RACE_RECORDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_records),
		cmocka_unit_test(test_losses),
		cmocka_unit_test(test_race),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
