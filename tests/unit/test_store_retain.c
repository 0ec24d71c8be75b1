/* SPDX-License-Identifier: MIT */
/*
 * store: old log files go, and what must not go with them stays: open runs, descriptions, counts.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "store/local_parts.h"
#include "stored.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static char dir[64];

static int make_folder(void **state)
{
	(void)state;
	stored_folder(dir);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	stored_remove(dir);
	return 0;
}

static void put_one(struct store *s, uint32_t run, uint64_t sequence)
{
	struct block b = { .stream = 1,
			   .flags = BLOCK_KEY | (sequence % 4 ? 0 : BLOCK_LOST),
			   .sequence = sequence,
			   .before = sequence * 10 + (sequence / 4 + 1) * 2,
			   .events = 10,
			   .first_tick = sequence * 100,
			   .ticks = 90 };

	b.lost[LOSS_RING] = sequence % 4 ? 0 : 2;
	assert_int_equal(stored_put_bare(s, run, b), STORE_TAKEN);
}

static void put(struct store *s, uint32_t run, uint64_t sequence)
{
	put_one(s, run, sequence);
	stored_commit(s);
}

static void retain(struct store *s)
{
	struct error e = ERROR_INIT;
	int i;

	for (i = 0; i < 3; i++) {
		if (store_retain(s, &e) < 0)
			fail_msg("%s", e.text);
		stored_commit(s);
	}
}

static bool has_log(uint32_t number)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/log/%08u.klog", dir, number);
	return access(path, F_OK) == 0;
}

static uint32_t count_blocks(struct block_reader *r, uint32_t stream)
{
	uint64_t place = 0, at;
	struct block b;
	uint32_t n = 0;

	while (r->ops->next(r, stream, &place, &b, &at) == 1)
		n++;
	return n;
}

static uint32_t blocks_of(struct store *s, uint32_t run, uint32_t stream)
{
	struct block_reader *r;
	struct error e = ERROR_INIT;
	uint32_t n;

	assert_int_equal(store_reader_open(&r, s, run, NULL, &e), 0);
	n = count_blocks(r, stream);
	r->ops->free(r);
	return n;
}

static void test_size(void **state)
{
	const struct store_options o = { .file_bytes = 2000, .retain_bytes = 6000 };
	struct store *s = stored_open(dir, &o);
	uint32_t old = stored_run(s, 1, 10, 20), run = stored_run(s, 2, 11, 20), idle, i;
	const struct message_end end = { 0 };
	struct stored_ledger l;
	struct store_run facts, again;
	struct error e = ERROR_INIT;
	uint64_t used, room;

	(void)state;
	idle = stored_run(s, 3, 12, 20);
	put(s, old, 0);
	put(s, idle, 0);
	assert_int_equal(store_end(s, old, &end, &e), STORE_TAKEN);
	for (i = 0; i < 2; i++) /* the description of the run that goes on */
		assert_int_equal(stored_put_bare(s, run,
						 (struct block){ .flags = BLOCK_KEY,
								 .sequence = i }),
				 STORE_TAKEN);
	for (i = 0; i < 300; i++) {
		put(s, run, i);
		if (i % 50 == 49)
			retain(s);
	}
	assert_false(has_log(1));
	store_space(s, &used, &room);
	assert_true(used <= 6000 + 2000);
	assert_int_equal(store_get_run(s, old, &facts, &e), -ENOENT);
	/* The one that goes on: what is gone is lost by the store, and all is accounted for. */
	facts = stored_facts(s, run, &l);
	assert_true(facts.events < 3000 && facts.events > 0);
	assert_int_equal(facts.events + l.lost[LOSS_STORE], 3000);
	assert_int_equal(l.lost[LOSS_RING], 150);
	assert_int_equal(blocks_of(s, run, 1), facts.events / 10);
	assert_int_equal(blocks_of(s, run, STREAM_META), 2);
	/* The one that only waits. */
	assert_int_equal(stored_facts(s, idle, &l).events, 0);
	assert_int_equal(l.lost[LOSS_STORE], 10);
	assert_int_equal(stored_put_bare(s, idle, (struct block){ .stream = 1, .events = 10 }),
			 STORE_DUPLICATE);
	put(s, idle, 1);
	store_free(s);
	s = stored_open(dir, &o);
	again = stored_facts(s, run, &l);
	assert_memory_equal(&facts, &again, sizeof(facts));
	assert_int_equal(blocks_of(s, run, STREAM_META), 2);
	put(s, run, 300);
	put(s, idle, 2);
	assert_int_equal(stored_facts(s, idle, &l).events, 20);
	store_free(s);
}

/* Files stay while somebody reads them. */
static void test_held(void **state)
{
	const struct store_options o = { .file_bytes = 2000, .retain_bytes = 4000 };
	struct store *s = stored_open(dir, &o);
	uint32_t run = stored_run(s, 1, 10, 20), i;
	struct block_reader *r;
	struct error e = ERROR_INIT;

	(void)state;
	for (i = 0; i < 100; i++)
		put(s, run, i);
	assert_int_equal(store_reader_open(&r, s, run, NULL, &e), 0);
	retain(s);
	assert_true(stored_facts(s, run, NULL).blocks < 100);
	assert_true(has_log(1));
	assert_int_equal(count_blocks(r, 1), 100);
	/* It follows the run on, too. */
	put(s, run, 100);
	assert_int_equal(store_reader_refresh(r, &e), 1);
	assert_int_equal(count_blocks(r, 1), 101);
	r->ops->free(r);
	assert_false(has_log(1));
	store_free(s);
}

static void test_age(void **state)
{
	const struct store_options o = { .file_bytes = 2000, .retain_ns = 20000000 };
	struct store *s = stored_open(dir, &o);
	uint32_t run = stored_run(s, 1, 10, 20), i;

	(void)state;
	for (i = 0; i < 50; i++)
		put(s, run, i);
	usleep(30000);
	put(s, run, 50);
	retain(s);
	assert_false(has_log(1));
	assert_true(stored_facts(s, run, NULL).blocks < 50);
	store_free(s);
}

/* A run that is over goes with its files, however many of them go at once. */
static void test_over(void **state)
{
	const struct store_options o = { .file_bytes = 2000, .retain_bytes = 6000 };
	struct store *s = stored_open(dir, &o);
	uint32_t run = stored_run(s, 1, 10, 20), next, i;
	struct error e = ERROR_INIT;
	struct store_run facts;

	(void)state;
	for (i = 0; i < 200; i++)
		put(s, run, i);
	assert_true(has_log(4));
	next = stored_run(s, 1, 11, 21); /* the device has booted again */
	for (i = 0; i < 200; i++)
		put(s, next, i);
	retain(s);
	assert_int_equal(store_get_run(s, run, &facts, &e), -ENOENT);
	assert_in_range(stored_facts(s, next, NULL).blocks, 1, 199);
	for (i = 1; i <= 4; i++)
		assert_false(has_log(i));
	store_free(s);
	s = stored_open(dir, &o);
	assert_int_equal(store_get_run(s, run, &facts, &e), -ENOENT);
	store_free(s);
}

/* Somebody has made room by hand, while the collector runs: the rest can still be removed. */
static void test_vanished(void **state)
{
	const struct store_options o = { .file_bytes = 2000, .retain_bytes = 6000 };
	struct store *s = stored_open(dir, &o);
	uint32_t run = stored_run(s, 1, 10, 20), i;
	char path[128];

	(void)state;
	for (i = 0; i < 300; i++)
		put(s, run, i);
	for (i = 1; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/log/%08u.klog", dir, i);
		assert_int_equal(unlink(path), 0);
	}
	retain(s);
	for (i = 1; i <= 4; i++)
		assert_false(has_log(i));
	assert_in_range(stored_facts(s, run, NULL).blocks, 1, 299);
	store_free(s);
}

static atomic_bool over;

/* In a thread of its own cmocka cannot fail a test. */
static void abort_at(int line, const struct error *e)
{
	fprintf(stderr, "line %d: %s\n", line, e->text);
	abort();
}

/* Reads the run from its start, again and again; the blocks of a stream come without gaps. */
static void *read_often(void *context)
{
	struct store *s = context;
	struct error e = ERROR_INIT;
	struct block_reader *r;
	uint64_t place, at, next, before = 0;
	struct stored_ledger l;
	struct block b;

	while (!over) {
		if (store_reader_open(&r, s, 1, NULL, &e) < 0)
			continue;
		for (place = next = 0; r->ops->next(r, 1, &place, &b, &at) == 1;) {
			if (next && b.sequence != next)
				abort_at(__LINE__, &e);
			next = b.sequence + 1;
		}
		if (store_reader_refresh(r, &e) < 0)
			abort_at(__LINE__, &e);
		/* A file that came and went meanwhile is missing here, but nothing comes again. */
		for (; r->ops->next(r, 1, &place, &b, &at) == 1; next = b.sequence + 1)
			if (b.sequence < next)
				abort_at(__LINE__, &e);
		r->ops->free(r);
		memset(&l, 0, sizeof(l));
		/* Rows are told once, whatever happens to their file: two events are lost in four. */
		if (store_ledger(s, 1, stored_add_row, &l, &e) < 0 || l.lost[LOSS_RING] < before ||
		    l.lost[LOSS_RING] > 750)
			abort_at(__LINE__, &e);
		before = l.lost[LOSS_RING];
	}
	return NULL;
}

static void *retain_often(void *context)
{
	struct error e = ERROR_INIT;

	while (!over)
		if (store_retain(context, &e) < 0)
			abort_at(__LINE__, &e);
	return NULL;
}

static void *settle_often(void *context)
{
	struct error e = ERROR_INIT;

	while (!over)
		if (store_settle(context, &e) < 0)
			abort_at(__LINE__, &e);
	return NULL;
}

static void *commit_often(void *context)
{
	struct error e = ERROR_INIT;

	while (!over)
		if (store_commit(context, NULL, &e) < 0)
			abort_at(__LINE__, &e);
	return NULL;
}

/* All at once: a device sends, files become full and go, two read. */
static size_t count_kept(const struct store *s)
{
	return ((const struct local_store *)s)->put.by_number.n;
}

/* Runs that ended and lie in full files cost the writer no memory after the next lookup of a run. */
static void test_forgets(void **state)
{
	const struct store_options o = { .file_bytes = 2000 };
	const struct message_end end = { 0 };
	struct store *s = stored_open(dir, &o);
	struct store_run_ids ids = { stored_id(1), stored_id(900), stored_id(20) };
	struct error e = ERROR_INIT;
	uint32_t goes_on = stored_run(s, 2, 901, 20), turn, i, run;

	(void)state;
	for (turn = 0; turn < 2; turn++) {
		for (i = 0; i < 50; i++) {
			run = stored_run(s, 1, 100 + 50 * turn + i, 20);
			put(s, run, 0);
			assert_int_equal(store_end(s, run, &end, &e), STORE_TAKEN);
			stored_commit(s);
		}
		for (i = 0; i < 40; i++) /* the others rest in full files then */
			put(s, goes_on, 40 * turn + i);
		if (turn)
			assert_int_equal(store_find_run(s, &ids, &run, &e), 0);
		else
			assert_int_not_equal(stored_run(s, 2, 902, 20), 0);
		assert_int_equal(count_kept(s), 2); /* of the second device */
	}
	store_free(s);
}

static void test_threads(void **state)
{
	static void *(*const work[])(void *) = { read_often, read_often, retain_often, commit_often,
						 settle_often };
	const struct store_options o = { .file_bytes = 3000, .retain_bytes = 9000 };
	struct store *s = stored_open(dir, &o);
	uint32_t run = stored_run(s, 1, 10, 20), i;
	struct stored_ledger l;
	struct store_run facts;
	pthread_t threads[COUNT(work)];

	(void)state;
	put(s, run, 0);
	for (i = 0; i < COUNT(work); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, work[i], s), 0);
	for (i = 1; i < 1500; i++) {
		put_one(s, run, i);
		if (i % 16 == 0)
			usleep(200);
	}
	over = true;
	for (i = 0; i < COUNT(work); i++)
		pthread_join(threads[i], NULL);
	stored_commit(s);
	retain(s);
	facts = stored_facts(s, run, &l);
	assert_int_equal(facts.events + l.lost[LOSS_STORE], 15000);
	assert_int_equal(l.lost[LOSS_RING], 750);
	assert_true(l.lost[LOSS_STORE] > 0);
	store_free(s);
}

/* A run of programs: its threads come and go, and so do the files that they were in. */
static void test_programs(void **state)
{
	const struct store_options o = { .file_bytes = 2000, .retain_bytes = 6000 };
	struct store *s = stored_open(dir, &o);
	uint32_t run = stored_run(s, 1, 10, 20), i, blocks = 0;
	struct store_run facts, again;
	struct stored_ledger l;

	(void)state;
	assert_int_equal(stored_put_bare(s, run, (struct block){ .flags = BLOCK_KEY }),
			 STORE_TAKEN);
	for (i = 0; i < 300; i++) { /* a thread has four blocks, and every other one OS records */
		struct block b = { .stream = STREAM_FUNC(i / 8) + (i / 4 & 1),
				   .flags = BLOCK_KEY,
				   .sequence = i % 4,
				   .before = i % 4 * 10,
				   .events = 10,
				   .first_tick = i * 100,
				   .ticks = 90 };

		assert_int_equal(stored_put_bare(s, run, b), STORE_TAKEN);
		stored_commit(s);
		if (i % 50 == 49)
			retain(s);
	}
	assert_false(has_log(1));
	facts = stored_facts(s, run, &l);
	assert_true(store_run_is_func(&facts) && facts.split);
	assert_int_equal(facts.threads, 38);
	assert_int_equal(facts.first_tick, 0); /* its ticks are of no scheduler */
	assert_int_equal(facts.last_tick, 0);
	assert_true(facts.events < 3000 && facts.events > 0);
	assert_int_equal(facts.events + l.lost[LOSS_STORE], 3000);
	for (i = 0; i < 76; i++)
		blocks += blocks_of(s, run, STREAM_FUNC_FIRST + i);
	assert_int_equal(blocks, facts.events / 10);
	assert_int_equal(blocks_of(s, run, STREAM_META), 1);
	store_free(s);
	s = stored_open(dir, &o);
	again = stored_facts(s, run, &l);
	assert_memory_equal(&facts, &again, sizeof(facts));
	store_free(s);
}

/* A clock that was set forward says for an hour that nothing is old; one that was set back is believed. */
static void test_steps(void **state)
{
	const uint64_t s = 1000000000, day = 86400 * s, minute = 60 * s;
	struct age_clock a = { 0 };
	uint64_t real = 1794700000 * s, mono = 5 * s;

	(void)state;
	assert_true(local_age_ns(&a, real, mono) == real);
	assert_true(local_age_ns(&a, real + minute, mono + minute) == real + minute);
	/* Away for a day, as a machine that sleeps: both clocks may say so. */
	real += day;
	mono += day;
	assert_true(local_age_ns(&a, real, mono) == real);
	real += 12 * 365 * day;
	assert_true(local_age_ns(&a, real, mono) == 0);
	assert_true(local_age_ns(&a, real + 59 * minute, mono + 59 * minute) == 0);
	assert_true(local_age_ns(&a, real + 61 * minute, mono + 61 * minute) == real + 61 * minute);
	assert_true(local_age_ns(&a, real - 20 * 365 * day, mono + 62 * minute) ==
		    real - 20 * 365 * day);
	/* Set right again, which is forward, too. */
	assert_true(local_age_ns(&a, real, mono + 63 * minute) == 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
	const struct CMUnitTest tests[] = {
		TEST(test_size),    TEST(test_programs), TEST(test_held),
		TEST(test_age),	    TEST(test_over),	 TEST(test_vanished),
		TEST(test_forgets), TEST(test_threads),	 TEST(test_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
