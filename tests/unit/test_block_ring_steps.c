/* SPDX-License-Identifier: MIT */
/*
 * block_ring, step by step: two threads of which only one runs at a time. Wherever it looks at or writes a
 * word that both share, it may hand over to the other, in the middle of whatever that one does. Threads
 * that run freely meet such moments once in a million turns, and then nobody can repeat it; here they
 * come by the dozen, out of a seed.
 *
 * What a weakly ordered machine does beyond that is the matter of the proof in block_ring.c and of the
 * threads in test_block_ring.c.
 */
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "device/driver/core/atomics.h"

static void yield_here(void);

static inline uint32_t load_word(const uint32_t *p)
{
	yield_here();
	return __atomic_load_n(p, __ATOMIC_SEQ_CST);
}

static inline void store_word(uint32_t *p, uint32_t v)
{
	yield_here();
	__atomic_store_n(p, v, __ATOMIC_SEQ_CST);
	yield_here();
}

static inline uint32_t swap_word(uint32_t *p, uint32_t old, uint32_t new_word)
{
	yield_here();
	return cmpxchg(p, old, new_word);
}

#undef smp_load_acquire
#undef smp_store_release
#undef smp_mb
#define smp_load_acquire(p) load_word(p)
#define smp_store_release(p, v) store_word(p, v)
#define smp_mb() yield_here()
#define cmpxchg(p, old, new_word) swap_word(p, old, new_word)
#include "device/driver/core/block_ring.c"

#define SIZE_LEAST 1024U
#define ENDS 16U

enum side { PRODUCER, CONSUMER, SIDES };

static _Alignas(8) uint8_t memory[8 * SIZE_LEAST];
static struct block_ring ring;
static bool overwrite;
static uint64_t x; /* random numbers */
static uint32_t turns;
static sem_t baton[SIDES];
static bool is_done[SIDES];
static __thread enum side me;
static uint64_t wrong;

/* the producer's */
static uint64_t next_sequence, refused;
static uint32_t segment;

/* the consumer's */
static struct ring_entry held; /* what it reads; bytes are NULL if it reads nothing */
static uint32_t position, ends[ENDS], n_ends;
static uint64_t wanted, found, gaps;

static uint32_t below(uint32_t n)
{
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return (uint32_t)(x >> 16) % n;
}

static void yield_here(void)
{
	enum side other = me == PRODUCER ? CONSUMER : PRODUCER;

	if (is_done[other] || below(4))
		return;
	sem_post(&baton[other]);
	sem_wait(&baton[me]);
}

static void check_held(void)
{
	uint32_t i;

	for (i = 0; held.bytes && i < held.len; i++) {
		wrong += held.bytes[i] != (uint8_t)(held.sequence + i);
		if (i % 16 == 0)
			yield_here();
	}
}

static void produce(void)
{
	uint32_t len = 1 + below(below(5) ? 60 : 300), before = below(30), i;
	uint8_t *room = block_ring_reserve(&ring, before + len, overwrite);
	struct ring_entry e = { .len = len, .sequence = next_sequence };

	if (ring.is_cut) {
		ring.is_cut = false;
		segment = 0;
	}
	if (!room) {
		refused++;
		return;
	}
	yield_here();
	memset(room, 0xee, ring.open_room);
	yield_here();
	for (i = 0; i < len; i++)
		room[before + i] = (uint8_t)(next_sequence + i);
	e.key = segment == 0;
	segment = segment < 3 ? segment + 1 : 0;
	next_sequence++;
	block_ring_commit(&ring, room + before, &e);
}

static void read_entry(void)
{
	struct ring_entry e;

	held.bytes = NULL;
	if (!block_ring_pin(&ring, &position, &e))
		return;
	held = e;
	check_held();
	wrong += e.sequence < wanted || (e.sequence > wanted && (!e.key || !overwrite));
	gaps += e.sequence > wanted;
	found++;
	wanted = e.sequence + 1;
	position = e.end;
	ends[n_ends++ % ENDS] = e.end;
}

static void consume(void)
{
	uint32_t what = below(12);

	check_held();
	if (what < 6) {
		read_entry();
	} else if (what < 10) {
		held.bytes = NULL;
		block_ring_unpin(&ring);
	} else if (n_ends) {
		block_ring_free(&ring, ends[below(n_ends < ENDS ? n_ends : ENDS)]);
	}
}

static void *run_side(void *context)
{
	uint32_t i;

	me = context ? CONSUMER : PRODUCER;
	sem_wait(&baton[me]);
	for (i = 0; i < turns; i++) {
		if (me == PRODUCER)
			produce();
		else
			consume();
	}
	is_done[me] = true;
	sem_post(&baton[me == PRODUCER ? CONSUMER : PRODUCER]);
	return NULL;
}

static void run_steps(uint64_t seed)
{
	pthread_t threads[SIDES];
	uint32_t i;

	x = seed * 0x9e3779b97f4a7c15ULL + 1;
	overwrite = seed & 1;
	block_ring_init(&ring, memory, SIZE_LEAST + below(seed & 2 ? 7 * SIZE_LEAST : 64));
	position = ring.head = ring.tail = ring.span - ring.units;
	next_sequence = wanted = 0;
	segment = n_ends = 0;
	held.bytes = NULL;
	for (i = 0; i < SIDES; i++) {
		is_done[i] = false;
		sem_init(&baton[i], 0, i == PRODUCER);
	}
	for (i = 0; i < SIDES; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, run_side, i ? &ring : NULL), 0);
	for (i = 0; i < SIDES; i++)
		pthread_join(threads[i], NULL);
	assert_true(wrong == 0);
}

static void test_steps(void **state)
{
	uint64_t seed;

	(void)state;
	turns = getenv("KISEKI_TEST_EVENTS") ? 500 : 10000;
	for (seed = 0; seed < 40; seed++)
		run_steps(seed);
	print_message("%llu found, %llu gaps, %llu refused\n", (unsigned long long)found,
		      (unsigned long long)gaps, (unsigned long long)refused);
	assert_true(found > 1000 && gaps > 100 && refused > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
