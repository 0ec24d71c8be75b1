/* SPDX-License-Identifier: MIT */
/*
 * lane: whatever happens to it, its blocks hold the events that it was given, in order, and what they
 * do not hold is counted, to the event (tools/lane_ledger.h). Random events, settings, rings, readers.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "device/driver/core/atomics.h"
#include "tools/lane_ledger.h"
#include "tools/sched_random.h"
#include "wire/frame.h"

#define MEMORY (256U * 1024)
#define TICK_MASK ((1ULL << 61) - 1) /* so that ticks times 5 are nanoseconds */

static uint8_t memory[MEMORY];
static struct lane lane;
static struct lane_ledger ledger;
static struct sched_dialect dialect;

/* Two generators of the same events: one for the lane, one for the ledger. */
static struct sched_random given_by, wanted_by, numbers;
static struct sched_event wanted;
static uint64_t given, wanted_next;

static void next_event(struct sched_random *r, struct sched_event *ret)
{
	sched_random_next(r, ret);
	ret->tick &= TICK_MASK;
}

static const struct sched_event *get_wanted(void *context, uint64_t index)
{
	(void)context;
	if (index >= given)
		return NULL;
	while (wanted_next <= index) {
		next_event(&wanted_by, &wanted);
		wanted_next++;
	}
	return &wanted;
}

static uint32_t below(uint32_t n)
{
	return sched_random_below(&numbers, n);
}

static void start(const struct lane_settings *s, uint64_t seed, unsigned style)
{
	dialect_init(&dialect);
	sched_random_init(&given_by, seed, style);
	sched_random_init(&wanted_by, seed, style);
	sched_random_init(&numbers, seed + 1, SCHED_RANDOM_REAL);
	lane_start(&lane, s);
	lane_ledger_init(&ledger, &lane);
	ledger.get = get_wanted;
	given = wanted_next = 0;
}

static enum lane_wish take(void)
{
	struct sched_event ev;

	next_event(&given_by, &ev);
	given++;
	return lane_take(&lane, &ev);
}

static void check_ledger(void)
{
	if (ledger.wrong)
		print_message("block %llu: %s\n", (unsigned long long)ledger.wrong_sequence,
			      ledger.wrong);
	assert_null(ledger.wrong);
}

/* Events taken = in blocks + told + pending + in the open block. */
static void check_sums(void)
{
	struct lane_counts counts;
	uint64_t pending = 0, i;

	for (i = 0; i < LOSS_CAUSES; i++)
		pending += lane.pending[i];
	lane_get_counts(&lane, &counts);
	assert_true(counts.events == lane.count + pending + lane.events);
	if (lane.settings.codec == CODEC_SCHED)
		assert_true(counts.events == given);
	else
		assert_true(counts.events + counts.passed_over == given);
	assert_true(counts.blocks == lane.sequence);
}

/* Reads up to n entries at the position, and forgets some of what is behind it. */
static void drain(uint32_t *position, uint32_t n, bool forget)
{
	struct ring_entry e;

	while (n-- && block_ring_pin(&lane.ring, position, &e)) {
		if (e.run == lane.settings.run)
			lane_ledger_take(&ledger, &e);
		*position = e.end;
		block_ring_unpin(&lane.ring);
		if (forget)
			block_ring_free(&lane.ring, e.end);
	}
}

/* The rest: after this the ledger has all there is. */
static void finish(uint32_t *position)
{
	lane_flush(&lane);
	check_sums();
	drain(position, UINT32_MAX, true);
	block_ring_free(&lane.ring, *position);
	lane_flush(&lane); /* what had no room to be told */
	drain(position, UINT32_MAX, true);
	lane_ledger_end(&ledger, &lane, given);
	check_ledger();
	assert_false(lane_is_due(&lane, UINT64_MAX, UINT64_MAX));
}

static void choose(struct lane_settings *s, uint64_t seed)
{
	static const uint32_t blocks[] = { 4096, 4096, 100, 16384, 65536 };

	memset(s, 0, sizeof(*s));
	s->codec = seed % 3 == 2 ? CODEC_BSF : CODEC_SCHED;
	s->policy = seed / 3 % 2 ? POLICY_FLIGHT : POLICY_OLDEST;
	s->run = (uint32_t)seed;
	s->block_bytes = blocks[seed % 5];
	s->flush_ticks = 1ULL << (seed % 7 * 7);
	s->mult = seed % 4 ? 1 : 5U << 20;
	s->shift = seed % 4 ? 0 : 20;
	s->dialect = &dialect;
}

static void run_random(uint64_t seed, uint32_t events)
{
	static const uint32_t sizes[] = { LANE_RING_LEAST, 111 * 1024, 50001, MEMORY };
	struct lane_settings s;
	uint32_t position, i, n;

	choose(&s, seed);
	lane_init(&lane, (uint32_t)(seed % 9 == 8 ? 999 : seed % 9), memory, sizes[seed % 4]);
	start(&s, seed, (unsigned)(seed / 2 % SCHED_RANDOM_STYLES));
	ledger.scale = s.shift ? 5 : 1;
	position = block_ring_oldest(&lane.ring);
	while (given < events) {
		n = below(4) ? 1 + below(40) : 1 + below(3000);
		for (i = 0; i < n; i++)
			take();
		check_sums();
		if (below(20) == 0)
			lane_flush(&lane);
		if (below(30) == 0)
			position = block_ring_oldest(&lane.ring);
		if (below(3) == 0)
			drain(&position, below(12), below(2));
		if (below(12) == 0)
			block_ring_free(&lane.ring, position);
		check_ledger();
	}
	finish(&position);
	assert_true(ledger.segment_bytes_most <=
		    lane.segment_size + lane.settings.block_bytes + SCHED_EVENT_ROOM + 4095);
}

static void test_random(void **state)
{
	const char *fewer = getenv("KISEKI_TEST_EVENTS");
	uint64_t told = 0, missing = 0, found = 0, empty = 0, seed;

	(void)state;
	for (seed = 0; seed < 120; seed++) {
		run_random(seed, fewer ? 2000 : 30000);
		told += ledger.told;
		missing += ledger.missing;
		found += ledger.found;
		empty += ledger.empty;
	}
	print_message("%llu found, %llu told, %llu missing, %llu blocks only to tell\n",
		      (unsigned long long)found, (unsigned long long)told,
		      (unsigned long long)missing, (unsigned long long)empty);
	assert_true(told && missing && found && empty);
}

/* No reader at all: the oldest are there and the rest is counted, or the latest are. */
static void test_link_down(void **state)
{
	struct lane_settings s;
	uint32_t policy, position, i;
	struct lane_counts counts;

	(void)state;
	for (policy = POLICY_OLDEST; policy <= POLICY_FLIGHT; policy++) {
		choose(&s, 1);
		s.policy = (uint8_t)policy;
		s.flush_ticks = UINT64_MAX;
		s.block_bytes = LANE_BLOCK;
		lane_init(&lane, 3, memory, 111 * 1024);
		start(&s, 99, SCHED_RANDOM_REAL);
		for (i = 0; i < 80000; i++)
			take();
		lane_get_counts(&lane, &counts);
		position = block_ring_oldest(&lane.ring);
		assert_true(block_ring_used(&lane.ring) >
			    111 * 1024 - (policy ? 40 * 1024U : 8 * 1024U));
		finish(&position);
		assert_true(ledger.found > 15000);
		assert_int_equal(policy == POLICY_OLDEST, ledger.missing == 0);
		assert_true(ledger.told == (policy == POLICY_OLDEST ? given - ledger.found : 0));
		assert_true(counts.lost[LOSS_BUFFER] == ledger.told);
		assert_int_equal(ledger.gaps, policy == POLICY_FLIGHT ? 1 : 0);
		/* The flight recorder has the last event; of the other it is told when that was lost. */
		assert_true(wanted_next == given);
		assert_int_equal(ledger.ends > 0, policy == POLICY_OLDEST);
	}
}

/* A ring that is too small for any block: all is counted, nothing is told, END has it. */
static void run_small(uint32_t size, uint32_t kind)
{
	struct message_stream_end end;
	struct lane_settings s;
	uint32_t position;

	choose(&s, kind);
	s.policy = kind & 1;
	lane_init(&lane, 0, memory, size);
	start(&s, size, SCHED_RANDOM_HOSTILE);
	position = block_ring_oldest(&lane.ring);
	while (given < 500) {
		take();
		check_sums();
		if (given % 100 == 99)
			lane_flush(&lane);
		if (given % 70 == 69)
			drain(&position, 3, true);
	}
	finish(&position);
	lane_get_end(&lane, &end);
	assert_true(size >= SCHED_EVENT_ROOM || s.codec == CODEC_BSF || ledger.found == 0);
	assert_true(end.events == lane.count + lane.pending[LOSS_BUFFER]);
}

static void test_no_room(void **state)
{
	uint32_t size, kind;

	(void)state;
	for (size = 0; size < 4096; size += 293)
		for (kind = 0; kind < 4; kind++)
			run_small(size, kind);
}

/* Paths of any length, each of which needs more than what is left of most blocks. */
static const struct sched_event *get_path(void *context, uint64_t index)
{
	static char path[SCHED_FILENAME_MAX];
	static struct sched_event ev;

	(void)context;
	memset(&ev, 0, sizeof(ev));
	ev.kind = SCHED_EXEC;
	ev.pid = ev.task.pid = 7;
	ev.tick = index;
	ev.filename = path;
	ev.filename_len = SCHED_FILENAME_MAX;
	if (index % 3)
		ev.filename_len = (uint16_t)(index * 37 % (SCHED_FILENAME_MAX + 1));
	memset(path, 'a' + (int)(index % 26), ev.filename_len);
	return &ev;
}

static void test_paths(void **state)
{
	struct lane_settings s;
	uint32_t position;

	(void)state;
	choose(&s, 0);
	s.block_bytes = 4096;
	s.flush_ticks = UINT64_MAX;
	lane_init(&lane, 0, memory, LANE_RING_LEAST);
	start(&s, 0, SCHED_RANDOM_REAL);
	ledger.get = get_path;
	position = block_ring_oldest(&lane.ring);
	while (given < 2000) {
		lane_take(&lane, get_path(NULL, given++));
		drain(&position, UINT32_MAX, true);
	}
	finish(&position);
	assert_true(ledger.found == given && ledger.blocks > 500);
}

/* Of time: a block ends with the first event that comes late, and is due when none comes. */
static void test_due(void **state)
{
	struct sched_event ev = { .tick = 1000, .task = { .prio = 120 }, .other = { 5, 120, "a" } };
	struct lane_settings s;
	uint32_t i;

	(void)state;
	choose(&s, 0);
	s.flush_ticks = 100;
	s.block_bytes = 4096;
	lane_init(&lane, 0, memory, LANE_RING_LEAST);
	lane_start(&lane, &s);
	assert_false(lane_is_due(&lane, UINT64_MAX, UINT64_MAX));
	lane_take(&lane, &ev);
	assert_true(lane.payload && !lane_is_due(&lane, 1000, 1000) &&
		    lane_is_due(&lane, 1001, 1001));
	assert_false(lane_is_due(&lane, 1001, 1000)); /* one event is few */
	for (ev.tick = 1099; ev.tick < 1150; ev.tick += 25) {
		lane_take(&lane, &ev);
		assert_true(lane.payload && lane.sequence == 0 && lane_is_due(&lane, 1001, 1001));
	}
	ev.tick = 1150; /* few events may wait half as long again */
	lane_take(&lane, &ev);
	assert_true(!lane.payload && lane.sequence == 1 &&
		    !lane_is_due(&lane, UINT64_MAX, UINT64_MAX));
	ev.tick = 2000;
	for (i = 0; i < LANE_FEW; i++)
		lane_take(&lane, &ev);
	assert_true(lane.payload && lane_is_due(&lane, 2001, 0));
	ev.tick = 2100; /* more of them may not */
	lane_take(&lane, &ev);
	assert_true(!lane.payload && lane.sequence == 2);
	ev.tick = 900; /* a clock that goes back is no reason to end a block */
	lane_take(&lane, &ev);
	assert_true(lane.payload && lane_is_due(&lane, 901, 901));
	lane_flush(&lane);
	assert_true(!lane.payload && lane.sequence == 3);
	lane_flush(&lane);
	assert_true(lane.sequence == 3);
	/* Losses are due when there is room to tell them. */
	while (!lane.pending[LOSS_BUFFER]) {
		ev.tick++;
		lane_take(&lane, &ev);
		lane_flush(&lane);
	}
	assert_true(!lane_is_due(&lane, UINT64_MAX, UINT64_MAX));
	block_ring_free(&lane.ring, lane.ring.head);
	assert_true(!lane_is_due(&lane, ev.tick, ev.tick) &&
		    lane_is_due(&lane, ev.tick + 1, ev.tick + 1));
	lane_flush(&lane);
	assert_false(lane_is_due(&lane, UINT64_MAX, UINT64_MAX));
}

/* The exporter is woken once when the buffer becomes half full. */
static void test_wake(void **state)
{
	struct lane_settings s;
	uint32_t position, wakes = 0, turn;

	(void)state;
	choose(&s, 0);
	s.block_bytes = 4096;
	lane_init(&lane, 0, memory, 64 * 1024);
	start(&s, 5, SCHED_RANDOM_REAL);
	position = block_ring_oldest(&lane.ring);
	for (turn = 1; turn <= 3; turn++) {
		while (!lane.pending[LOSS_BUFFER])
			if (take() == LANE_WAKE) {
				wakes++;
				assert_true(block_ring_used(&lane.ring) >= 32 * 1024 &&
					    block_ring_used(&lane.ring) < 40 * 1024);
			}
		assert_int_equal(wakes, turn);
		drain(&position, UINT32_MAX, true);
		lane_flush(&lane);
	}
	finish(&position);
}

/* Blocks of an event or two: a flight recorder that has to drop a segment of them steps over
 * each, with interrupts off. */
static void test_small_blocks(void **state)
{
	uint32_t policy, position, i, blocks, most;
	struct lane_settings s;
	struct ring_entry e;

	(void)state;
	for (policy = POLICY_OLDEST; policy <= POLICY_FLIGHT; policy++) {
		choose(&s, 0);
		s.policy = (uint8_t)policy;
		s.flush_ticks = 1;
		lane_init(&lane, 0, memory, MEMORY);
		start(&s, 5, SCHED_RANDOM_REAL);
		for (i = 0; i < 2000; i++) {
			take();
			lane_flush(&lane);
		}
		position = block_ring_oldest(&lane.ring);
		for (blocks = most = 0; block_ring_pin(&lane.ring, &position, &e);
		     position = e.end) {
			blocks = e.key ? 1 : blocks + 1;
			most = blocks > most ? blocks : most;
		}
		block_ring_unpin(&lane.ring);
		assert_int_equal(most, policy == POLICY_FLIGHT ? LANE_SEGMENT_BLOCKS : 2000);
		position = block_ring_oldest(&lane.ring);
		finish(&position);
	}
}

/* Who sends a block puts its checksum in, as often as it is sent; the probe does not. */
static void test_seal(void **state)
{
	uint8_t sealed[LANE_BLOCK * 2];
	struct lane_settings s;
	struct ring_entry e;
	uint32_t position, i;
	struct frame frame;
	struct block b;

	(void)state;
	choose(&s, 0);
	lane_init(&lane, 0, memory, MEMORY);
	start(&s, 5, SCHED_RANDOM_REAL);
	for (i = 0; i < 100; i++)
		take();
	lane_flush(&lane);
	position = block_ring_oldest(&lane.ring);
	assert_true(block_ring_pin(&lane.ring, &position, &e) && e.len <= sizeof(sealed));
	assert_int_equal(frame_decode(e.bytes, e.len, &frame), WIRE_OK);
	assert_int_equal(get_le32(frame.body + 4), 0);
	assert_int_equal(block_decode(frame.body, frame.body_len, &b), WIRE_CORRUPT);
	lane_seal(&e);
	assert_int_equal(block_decode(frame.body, frame.body_len, &b), WIRE_OK);
	memcpy(sealed, e.bytes, e.len);
	lane_seal(&e);
	assert_memory_equal(sealed, e.bytes, e.len);
	block_ring_unpin(&lane.ring);
}

/* Two runs in one buffer: what the first has left is still there, and each counts from 0. */
static void test_runs(void **state)
{
	struct lane_settings s;
	struct ring_entry e;
	uint32_t position, first = 0, i;

	(void)state;
	choose(&s, 0);
	s.flush_ticks = UINT64_MAX;
	lane_init(&lane, 0, memory, 111 * 1024);
	start(&s, 5, SCHED_RANDOM_REAL);
	for (i = 0; i < 5000; i++)
		take();
	lane_pass(&lane);
	lane_flush(&lane);
	first = (uint32_t)lane.sequence;
	s.run = 17;
	start(&s, 6, SCHED_RANDOM_REAL);
	check_sums();
	position = block_ring_oldest(&lane.ring);
	for (i = 0; i < first; i++) {
		assert_true(block_ring_pin(&lane.ring, &position, &e) && e.run == 0 &&
			    e.sequence == i);
		position = e.end;
		block_ring_unpin(&lane.ring);
	}
	for (i = 0; i < 5000; i++)
		take();
	finish(&position);
	assert_true(ledger.found == 5000);
}

/* Many are passed over: the word that counts them is folded before it wraps. */
static void test_pass(void **state)
{
	struct lane_settings s;
	struct lane_counts counts;
	uint32_t i;

	(void)state;
	choose(&s, 0);
	lane_init(&lane, 0, memory, LANE_RING_LEAST);
	lane_start(&lane, &s);
	lane.passed = UINT32_MAX - 2;
	for (i = 0; i < 5; i++) {
		lane_get_counts(&lane, &counts);
		assert_true(counts.passed_over == UINT32_MAX - 2ULL + i && counts.events == 0);
		lane_pass(&lane);
	}
}

/* --- threads --- */

static bool is_over;
static uint32_t threads_events;

static void *produce(void *context)
{
	uint32_t i;

	(void)context;
	for (i = 0; i < threads_events; i++) {
		struct sched_event ev;

		next_event(&given_by, &ev);
		lane_take(&lane, &ev);
		if (i % 4096 == 0)
			lane_flush(&lane);
		if (i % 512 == 0)
			sched_yield();
	}
	lane_flush(&lane);
	__atomic_store_n(&is_over, true, __ATOMIC_RELEASE);
	return NULL;
}

/* Counts that only grow, and a sum of them that fits. */
static void *watch(void *context)
{
	struct lane_counts last = { 0 }, c;
	uint64_t *bad = context;

	while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE)) {
		lane_get_counts(&lane, &c);
		*bad += c.events < last.events || c.blocks < last.blocks || c.bytes < last.bytes ||
			c.lost[LOSS_BUFFER] < last.lost[LOSS_BUFFER] ||
			c.passed_over < last.passed_over ||
			c.events + c.passed_over > threads_events;
		last = c;
		lane_is_due(&lane, c.events, 0);
		sched_yield();
	}
	return NULL;
}

static void run_threads(uint64_t seed)
{
	pthread_t producer, watcher;
	struct lane_settings s;
	uint32_t position;
	uint64_t bad = 0;
	bool over;

	choose(&s, seed);
	s.mult = 1;
	s.shift = 0;
	lane_init(&lane, 1, memory, LANE_RING_LEAST);
	start(&s, seed, SCHED_RANDOM_REAL);
	given = threads_events;
	is_over = false;
	position = block_ring_oldest(&lane.ring);
	assert_int_equal(pthread_create(&producer, NULL, produce, NULL), 0);
	assert_int_equal(pthread_create(&watcher, NULL, watch, &bad), 0);
	do {
		over = __atomic_load_n(&is_over, __ATOMIC_ACQUIRE);
		drain(&position, 5, seed & 1);
		if (!(seed & 1))
			block_ring_free(&lane.ring, position);
		sched_yield();
	} while (!over && !ledger.wrong);
	pthread_join(producer, NULL);
	pthread_join(watcher, NULL);
	check_ledger();
	assert_true(bad == 0);
	finish(&position);
}

static void test_threads(void **state)
{
	uint64_t seed;

	(void)state;
	threads_events = getenv("KISEKI_TEST_EVENTS") ? 10000 : 100000;
	for (seed = 0; seed < 12; seed++) {
		run_threads(seed);
		print_message("seed %u: %llu found, %llu told, %llu missing\n", (unsigned)seed,
			      (unsigned long long)ledger.found, (unsigned long long)ledger.told,
			      (unsigned long long)ledger.missing);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_due),	     cmocka_unit_test(test_wake),
		cmocka_unit_test(test_small_blocks), cmocka_unit_test(test_seal),
		cmocka_unit_test(test_runs),	     cmocka_unit_test(test_pass),
		cmocka_unit_test(test_paths),	     cmocka_unit_test(test_no_room),
		cmocka_unit_test(test_link_down),    cmocka_unit_test(test_random),
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
