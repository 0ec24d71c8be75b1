/* SPDX-License-Identifier: MIT */
/*
 * block_ring: against a model of it in one thread, and with a producer and a consumer that race.
 *
 * A frame is made of its sequence number alone, so whoever reads one can tell every byte of it.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "device/driver/core/block_ring.h"
#include "wire/crc32c.h"
#include "wire/varint.h"

#define MEMORY (64U * 1024)
#define FRAME_LEAST 12U /* sequence and checksum */
#define ENTRIES_MAX 8192U
#define HEAD_LEN 24U

static uint8_t memory[MEMORY + 64];

static uint32_t next_number(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return (uint32_t)(*x >> 16);
}

static uint32_t below(uint64_t *x, uint32_t n)
{
	return next_number(x) % n;
}

static void make_frame(uint8_t *out, uint32_t len, uint64_t sequence)
{
	uint32_t i;

	put_le64(out, sequence);
	for (i = 8; i + 4 < len; i++)
		out[i] = (uint8_t)((sequence * 31 + i) * 7);
	put_le32(out + len - 4, crc32c_add(0, out, len - 4));
}

static bool is_frame(const struct ring_entry *e)
{
	uint32_t i;

	if (e->len < FRAME_LEAST || get_le64(e->bytes) != e->sequence ||
	    get_le32(e->bytes + e->len - 4) != crc32c_add(0, e->bytes, e->len - 4))
		return false;
	for (i = 8; i + 4 < e->len; i++)
		if (e->bytes[i] != (uint8_t)((e->sequence * 31 + i) * 7))
			return false;
	return true;
}

/* Puts a frame somewhere into a room that is larger. False: there is no room. */
static bool put_frame(struct block_ring *r, uint32_t len, bool overwrite, struct ring_entry *e,
		      uint64_t *x)
{
	uint32_t before = below(x, 120), behind = below(x, 3) ? 0 : below(x, 2000);
	uint8_t *room = block_ring_reserve(r, before + len + behind, overwrite);

	if (!room)
		return false;
	assert_true(room >= memory && room + before + len + behind <= memory + r->size);
	assert_true(r->open_room >= before + len + behind);
	memset(room, 0xee, r->open_room);
	if (below(x, 10) == 0) {
		block_ring_give_up(r);
		room = block_ring_reserve(r, before + len + behind, overwrite);
		assert_non_null(room);
	}
	before = below(x, before + 1);
	make_frame(room + before, len, e->sequence);
	e->len = len;
	block_ring_commit(r, room + before, e);
	return true;
}

/* What a ring should do, with a list. */
struct model {
	struct ring_entry entries[ENTRIES_MAX];
	uint32_t first, n; /* that are in the ring */
	uint64_t sequence;
	uint64_t x;
	uint32_t position; /* of the reader */
	uint64_t wanted;   /* sequence it should find there */
	uint32_t put, dropped, skipped;
};

static struct model m;

static void model_init(struct block_ring *r, uint64_t seed, uint32_t size)
{
	memset(&m, 0, sizeof(m));
	m.x = seed * 0x9e3779b97f4a7c15ULL + 1;
	block_ring_init(r, memory, size);
	if (seed & 1) /* the largest position is near */
		r->head = r->tail = r->span - below(&m.x, 2 * r->units);
	m.position = block_ring_oldest(r);
}

/* What the ring has dropped, by where its tail is now: whole segments, or all. */
static void model_drop(struct block_ring *r, uint32_t tail_before)
{
	if (block_ring_oldest(r) == tail_before)
		return;
	assert_true(m.n > 0);
	do {
		m.first++;
		m.n--;
		m.dropped++;
	} while (m.n && !m.entries[m.first % ENTRIES_MAX].key);
	while (m.n && m.entries[(m.first - 1) % ENTRIES_MAX].end != block_ring_oldest(r)) {
		m.first++;
		m.n--;
		m.dropped++;
	}
	assert_int_equal(m.entries[(m.first - 1) % ENTRIES_MAX].end, block_ring_oldest(r));
	if (m.n)
		assert_true(m.entries[m.first % ENTRIES_MAX].key);
	assert_int_equal(r->is_cut, m.n == 0);
}

static void model_put(struct block_ring *r, bool overwrite)
{
	struct ring_entry *e = &m.entries[(m.first + m.n) % ENTRIES_MAX];
	uint32_t tail = block_ring_oldest(r), used = block_ring_used(r), len;

	len = FRAME_LEAST + below(&m.x, below(&m.x, 4) ? 300 : 5000);
	*e = (struct ring_entry){ .run = below(&m.x, 3), .sequence = m.sequence };
	e->key = below(&m.x, 6) == 0;
	r->is_cut = false;
	if (!put_frame(r, len, overwrite, e, &m.x)) {
		assert_true(block_ring_oldest(r) == tail || overwrite);
		/* There really is none: not even beside what would be skipped. */
		assert_true(overwrite || used + HEAD_LEN + 2 * (len + 2200) > r->size);
		model_drop(r, tail);
		m.skipped++;
		return;
	}
	model_drop(r, tail);
	e = &m.entries[(m.first + m.n) % ENTRIES_MAX];
	e->end = r->head;
	m.n++;
	m.put++;
	m.sequence++;
	assert_true(m.n < ENTRIES_MAX && block_ring_used(r) <= r->size);
}

/* Reads at the reader's position; what it finds is the oldest that is there, or what it wanted. */
static void model_read(struct block_ring *r)
{
	uint64_t oldest = m.sequence - m.n;
	struct ring_entry found;
	const struct ring_entry *e;

	if (!block_ring_pin(r, &m.position, &found)) {
		assert_true(m.wanted == m.sequence || m.n == 0);
		assert_int_equal(r->pin, BLOCK_RING_NO_PIN);
		m.wanted = m.sequence;
		return;
	}
	m.wanted = m.wanted > oldest ? m.wanted : oldest;
	e = &m.entries[(m.first + (uint32_t)(m.wanted - oldest)) % ENTRIES_MAX];
	assert_true(found.sequence == m.wanted && found.len == e->len);
	assert_true(found.run == e->run && found.key == e->key && found.end == e->end);
	assert_true(is_frame(&found));
	if (below(&m.x, 2)) {
		m.position = found.end;
		m.wanted++;
	}
	block_ring_unpin(r);
}

static void model_free(struct block_ring *r)
{
	uint32_t n = m.n ? below(&m.x, m.n < 20 ? m.n + 1 : 20) : 0;

	/* What is before the tail changes nothing. */
	if (m.first)
		block_ring_free(r, m.entries[(m.first - 1) % ENTRIES_MAX].end);
	if (m.first > 100)
		block_ring_free(r, m.entries[(m.first - 100) % ENTRIES_MAX].end);
	if (!n)
		return;
	block_ring_free(r, m.entries[(m.first + n - 1) % ENTRIES_MAX].end);
	m.first += n;
	m.n -= n;
	assert_int_equal(block_ring_oldest(r), m.entries[(m.first - 1) % ENTRIES_MAX].end);
}

static void model_step(struct block_ring *r, bool overwrite)
{
	uint32_t what = below(&m.x, 32);

	if (what < 12)
		model_put(r, overwrite);
	else if (what == 12)
		model_free(r);
	else
		model_read(r);
}

static void test_model(void **state)
{
	static const uint32_t sizes[] = { 8192, 12345, 20000, MEMORY - 1, MEMORY };
	struct block_ring r;
	uint32_t seed, i, overwrote = 0, refused = 0;

	(void)state;
	for (seed = 0; seed < 100; seed++) {
		model_init(&r, seed, sizes[seed % 5]);
		for (i = 0; i < 5000; i++)
			model_step(&r, seed & 2);
		overwrote += m.dropped;
		refused += m.skipped;
		assert_true(m.put > 500);
	}
	assert_true(overwrote > 10000 && refused > 10000);
}

/* Exactly full is not empty, and one more byte has no room. */
static void test_full(void **state)
{
	struct ring_entry e = { .sequence = 7, .key = true }, found;
	struct block_ring r;
	uint32_t size, position = 0;
	uint8_t *room;

	(void)state;
	for (size = 64; size < 128; size += 8) {
		block_ring_init(&r, memory, size + 7);
		assert_int_equal(r.size, size);
		assert_null(block_ring_reserve(&r, size - HEAD_LEN + 1, true));
		assert_null(block_ring_reserve(&r, UINT32_MAX, true));
		room = block_ring_reserve(&r, size - HEAD_LEN, false);
		assert_non_null(room);
		assert_int_equal(block_ring_piece(&r), size - HEAD_LEN);
		assert_int_equal(block_ring_used(&r), 0);
		e.len = size - HEAD_LEN;
		make_frame(room, e.len, e.sequence);
		block_ring_commit(&r, room, &e);
		assert_int_equal(block_ring_used(&r), size);
		assert_null(block_ring_reserve(&r, 0, false));
		position = 0;
		assert_true(block_ring_pin(&r, &position, &found) && is_frame(&found));
		/* It is being read: not even a flight recorder takes it. */
		assert_null(block_ring_reserve(&r, 0, true));
		assert_int_equal(block_ring_oldest(&r), 0);
		assert_false(r.is_cut);
		block_ring_unpin(&r);
		assert_non_null(block_ring_reserve(&r, 0, true));
		assert_true(r.is_cut && block_ring_oldest(&r) == found.end);
	}
	block_ring_init(&r, memory, 7);
	assert_null(block_ring_reserve(&r, 0, true));
	assert_int_equal(block_ring_piece(&r), 0);
	assert_false(block_ring_pin(&r, &position, &found));
	assert_int_equal(block_ring_used(&r), 0);
}

/* A reader that was overtaken while it read keeps what it reads, and nothing else. */
static void test_overtaken(void **state)
{
	struct ring_entry e = { .key = true }, first, found;
	struct block_ring r;
	uint32_t position = 0, i, old;
	uint64_t x = 1;

	(void)state;
	block_ring_init(&r, memory, 8192);
	for (i = 0; i < 3; i++) {
		e.sequence = i;
		assert_true(put_frame(&r, 100, true, &e, &x));
	}
	old = 0;
	assert_true(block_ring_pin(&r, &old, &first));
	position = first.end;
	assert_true(block_ring_pin(&r, &position, &first) && first.sequence == 1);
	/* The room before it is taken, the entry itself is not. */
	for (i = 3; i < 100 && put_frame(&r, 300, true, &e, &x); i++)
		e.sequence = i + 1;
	assert_true(i < 100 && block_ring_oldest(&r) <= position);
	assert_true(is_frame(&first) && first.sequence == 1);
	block_ring_unpin(&r);
	while (block_ring_oldest(&r) <= position) {
		assert_true(put_frame(&r, 300, true, &e, &x));
		e.sequence = ++i;
	}
	assert_true(block_ring_pin(&r, &position, &found) && found.sequence > 1);
	assert_int_equal(position, block_ring_oldest(&r));
	block_ring_unpin(&r);
	/* Positions of long ago. */
	for (i = 0; i < 1000; i++) {
		e.sequence = i + 200;
		assert_true(put_frame(&r, 300, true, &e, &x));
		position = block_ring_oldest(&r);
		block_ring_free(&r, first.end);
		assert_int_equal(block_ring_oldest(&r), position);
		old = first.end;
		assert_true(block_ring_pin(&r, &old, &found) && old == position);
		block_ring_unpin(&r);
	}
	/* One that nobody was given. */
	old = position + 1;
	if (!block_ring_pin(&r, &old, &found))
		assert_true(block_ring_pin(&r, &old, &found));
	assert_true(is_frame(&found));
	block_ring_unpin(&r);
	block_ring_free(&r, position + 1);
	for (i = 0; i < 1000; i++)
		assert_true(put_frame(&r, 300, true, &e, &x));
}

/* --- two threads --- */

struct race {
	struct block_ring ring;
	bool overwrite;
	uint64_t seed;
	uint32_t start;	  /* position of the first entry */
	uint64_t frames;  /* to be made */
	uint64_t refused; /* by the producer, after that */
	bool is_over;
	/* the consumer's */
	uint64_t read, gaps, wrong;
};

static struct race race;

static void *produce(void *context)
{
	struct ring_entry e = { .key = true };
	uint64_t x = race.seed, refused = 0;
	uint32_t len, segment = 0;
	uint8_t *room;

	(void)context;
	while (e.sequence < race.frames) {
		len = FRAME_LEAST + below(&x, 700);
		room = block_ring_reserve(&race.ring, len + 40, race.overwrite);
		if (race.ring.is_cut) {
			race.ring.is_cut = false;
			segment = 0;
		}
		if (!room) {
			refused++;
			sched_yield();
			continue;
		}
		e.key = segment == 0;
		segment = segment < 5 ? segment + 1 : 0;
		make_frame(room + 40, len, e.sequence);
		e.len = len;
		block_ring_commit(&race.ring, room + 40, &e);
		e.sequence++;
	}
	race.refused = refused;
	__atomic_store_n(&race.is_over, true, __ATOMIC_RELEASE);
	return NULL;
}

/* Reads, lingers now and then, and frees late; what it finds must be whole and in order. */
static void consume(void)
{
	uint64_t x = race.seed ^ 0x5555, wanted = 0;
	uint32_t position = race.start, ends[8] = { 0 }, n = 0, i;
	struct ring_entry e;
	bool over;

	for (;;) {
		over = __atomic_load_n(&race.is_over, __ATOMIC_ACQUIRE);
		if (!block_ring_pin(&race.ring, &position, &e)) {
			if (over)
				return;
			block_ring_free(&race.ring, position);
			sched_yield();
			continue;
		}
		for (i = below(&x, 200) ? 0 : below(&x, 5); i; i--)
			sched_yield();
		race.wrong += !is_frame(&e) || e.sequence < wanted ||
			      (e.sequence > wanted && (!e.key || !race.overwrite));
		race.gaps += e.sequence > wanted;
		race.read++;
		wanted = e.sequence + 1;
		position = e.end;
		ends[n++ % 8] = e.end;
		if (below(&x, 4))
			block_ring_unpin(&race.ring);
		if (below(&x, 3) == 0)
			block_ring_free(&race.ring, ends[(n - 1 - below(&x, n < 8 ? n : 8)) % 8]);
	}
}

static void run_race(uint64_t seed, uint32_t size, bool overwrite, uint64_t frames)
{
	pthread_t producer;

	memset(&race, 0, sizeof(race));
	block_ring_init(&race.ring, memory, size);
	race.overwrite = overwrite;
	race.seed = seed;
	race.frames = frames;
	race.start = race.ring.span - race.ring.units / 2;
	race.ring.head = race.ring.tail = race.start;
	assert_int_equal(pthread_create(&producer, NULL, produce, NULL), 0);
	consume();
	pthread_join(producer, NULL);
	assert_true(race.wrong == 0);
	assert_true(race.read > 0);
	if (!overwrite)
		assert_true(race.read == frames && race.gaps == 0);
}

static void test_race(void **state)
{
	const char *fewer = getenv("KISEKI_TEST_EVENTS");
	uint64_t frames = fewer ? 20000 : 200000, gaps = 0;
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= 6; seed++) {
		run_race(seed, seed & 1 ? 4096 : 30000, true, frames);
		gaps += race.gaps;
		print_message("seed %u: %llu of %llu read, %llu gaps, %llu refused\n",
			      (unsigned)seed, (unsigned long long)race.read,
			      (unsigned long long)frames, (unsigned long long)race.gaps,
			      (unsigned long long)race.refused);
		run_race(seed, seed & 1 ? 4096 : 30000, false, frames / 4);
	}
	assert_true(gaps > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_overtaken),
		cmocka_unit_test(test_model),
		cmocka_unit_test(test_race),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
