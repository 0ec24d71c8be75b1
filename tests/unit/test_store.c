/* SPDX-License-Identifier: MIT */
/*
 * store: what is put and committed is there, also after the store was opened again; what came
 * before is recognised, what contradicts is refused, what is missing is in the ledger.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sys/wait.h>

#include "stored.h"

static char dir[64];
static struct stored_stream streams[4];

static int make_folder(void **state)
{
	uint32_t i;

	(void)state;
	stored_folder(dir);
	for (i = 0; i < 4; i++)
		stored_stream_init(&streams[i], STREAM_CPU(i), 100 + i);
	return 0;
}

static int remove_folder(void **state)
{
	(void)state;
	stored_remove(dir);
	return 0;
}

static void put(struct store *s, uint32_t run, uint32_t stream, bool key, uint32_t n)
{
	stored_make(&streams[stream], key, n, 0);
	assert_int_equal(stored_put(s, run, &streams[stream]), STORE_TAKEN);
}

static void test_reopen(void **state)
{
	struct message_resume rows[8];
	struct store_run facts, again;
	struct store *s = stored_open(dir, NULL);
	uint32_t run = stored_run(s, 1, 10, 20);

	(void)state;
	put(s, run, 0, true, 10);
	put(s, run, 0, false, 20);
	put(s, run, 1, true, 5);
	assert_int_equal(store_puts(s), 3);
	assert_true(store_waiting(s) > 0);
	assert_int_equal(store_next_sequences(s, run, rows, 8), 0); /* nothing is durable yet */
	stored_commit(s);
	assert_int_equal(store_waiting(s), 0);
	facts = stored_facts(s, run, NULL);
	assert_int_equal(facts.events, 35);
	assert_int_equal(facts.blocks, 3);
	assert_int_equal(facts.streams, 2);
	assert_false(facts.ended);
	store_free(s);

	s = stored_open(dir, NULL);
	again = stored_facts(s, run, NULL);
	assert_memory_equal(&facts, &again, sizeof(facts));
	assert_int_equal(stored_run(s, 1, 10, 20), run);
	assert_int_equal(stored_run(s, 1, 11, 20), run + 1);
	assert_int_equal(store_next_sequences(s, run, rows, 8), 2);
	assert_int_equal(rows[0].stream, STREAM_CPU(0));
	assert_int_equal(rows[0].next_sequence, 2);
	assert_int_equal(rows[1].next_sequence, 1);
	/* What was there is a duplicate, what is next is not. */
	assert_int_equal(stored_put(s, run, &streams[1]), STORE_DUPLICATE);
	put(s, run, 1, false, 7);
	stored_commit(s);
	assert_int_equal(stored_facts(s, run, NULL).events, 42);
	store_free(s);
}

/* What was not committed is not there. */
static void test_uncommitted(void **state)
{
	struct store *s = stored_open(dir, NULL);
	uint32_t run = stored_run(s, 1, 10, 20);
	struct store_run facts;
	struct error e = ERROR_INIT;

	(void)state;
	put(s, run, 0, true, 10);
	assert_int_equal(store_get_run(s, run, &facts, &e), -ENOENT);
	store_free(s);
	s = stored_open(dir, NULL);
	assert_int_equal(store_get_run(s, run, &facts, &e), -ENOENT);
	assert_int_equal(stored_put(s, run, &streams[0]), -ENOENT);
	store_free(s);
}

static void test_locked(void **state)
{
	const struct store_options reading = { .read_only = true };
	struct store *s, *other;
	struct error e = ERROR_INIT;

	(void)state;
	if (stored_server())
		skip(); /* any number of collectors use it */
	s = stored_open(dir, NULL);
	assert_true(store_open(&other, dir, NULL, &e) < 0);
	assert_non_null(strstr(e.text, "another collector"));
	assert_int_equal(store_open(&other, dir, &reading, &e), 0);
	store_free(other);
	store_free(s);
	assert_int_equal(store_open(&s, dir, NULL, &e), 0);
	store_free(s);
}

static struct block key(uint64_t sequence, uint64_t before, uint32_t events)
{
	return (struct block){ .stream = 1,
			       .flags = BLOCK_KEY,
			       .sequence = sequence,
			       .before = before,
			       .events = events };
}

static void test_gap(void **state)
{
	struct store *s = stored_open(dir, NULL);
	uint32_t run = stored_run(s, 1, 10, 20);
	struct stored_ledger l;

	(void)state;
	assert_int_equal(stored_put_bare(s, run, key(0, 0, 10)), STORE_TAKEN);
	/* Two blocks are missing; nobody knows what they held, nor decodes what follows. */
	assert_int_equal(stored_put_bare(s, run,
					 (struct block){ .stream = 1, .sequence = 3, .events = 4 }),
			 STORE_TAKEN);
	stored_commit(s);
	assert_int_equal(stored_facts(s, run, &l).events, 10);
	assert_int_equal(l.unknown[LOSS_SPOOL], 1);
	store_free(s);
	s = stored_open(dir, NULL);
	assert_int_equal(stored_put_bare(s, run, key(4, 50, 6)), STORE_TAKEN);
	stored_commit(s);
	assert_int_equal(stored_facts(s, run, &l).events, 16);
	assert_int_equal(l.lost[LOSS_SPOOL], 40);
	assert_int_equal(l.unknown[LOSS_SPOOL], 0);
	store_free(s);
}

static void test_told(void **state)
{
	struct store *s = stored_open(dir, NULL);
	uint32_t run = stored_run(s, 1, 10, 20);
	struct block b = key(0, 7, 10);
	struct stored_ledger l;

	(void)state;
	b.flags |= BLOCK_LOST;
	b.lost[LOSS_RING] = 7;
	assert_int_equal(stored_put_bare(s, run, b), STORE_TAKEN);
	b = (struct block){ .stream = 1, .sequence = 1, .flags = BLOCK_LOST, .events = 1 };
	b.lost[LOSS_BUFFER] = LOSS_UNKNOWN;
	b.lost[LOSS_RING] = 2;
	assert_int_equal(stored_put_bare(s, run, b), STORE_TAKEN);
	stored_commit(s);
	assert_int_equal(stored_facts(s, run, &l).events, 11);
	assert_int_equal(l.lost[LOSS_RING], 9);
	assert_int_equal(l.lost[LOSS_SPOOL], 0);
	assert_int_equal(l.unknown[LOSS_BUFFER], 1);
	store_free(s);
}

static void test_lies(void **state)
{
	struct store *s = stored_open(dir, NULL);
	uint32_t run = stored_run(s, 1, 10, 20);
	struct block b = key(9, 30, 1);

	(void)state;
	assert_int_equal(stored_put_bare(s, run, key(0, 0, 10)), STORE_TAKEN);
	assert_int_equal(stored_put_bare(s, run, key(1, 9, 10)), -EPROTO);
	b.flags |= BLOCK_LOST;
	b.lost[LOSS_RING] = 21; /* and only nine before them */
	assert_int_equal(stored_put_bare(s, run, b), -EPROTO);
	b = key(0, 0, 1);
	b.stream = 4097;
	assert_int_equal(stored_put_bare(s, run, b), -EPROTO);
	b.stream = 4096;
	assert_int_equal(stored_put_bare(s, run, b), STORE_TAKEN);
	assert_int_equal(stored_put_bare(s, run, key(UINT64_MAX, 10, 1)), -EPROTO);
	b = (struct block){ .stream = 1, .sequence = 1, .flags = BLOCK_LOST };
	b.lost[LOSS_RING] = b.lost[LOSS_SPOOL] = UINT64_MAX - 1;
	assert_int_equal(stored_put_bare(s, run, b), -EPROTO);
	assert_int_equal(stored_put_bare(s, run, key(1, UINT64_MAX, 1)), -EPROTO);
	stored_commit(s);
	assert_int_equal(stored_facts(s, run, NULL).events, 11);
	/* The run of another device. */
	{
		struct message_id d = stored_id(2), r = stored_id(10), boot = stored_id(20);
		struct error e = ERROR_INIT;
		uint32_t number;

		assert_int_equal(store_run(s, &d, &r, &boot, &number, &e), -EPROTO);
	}
	store_free(s);
}

static int put_end(struct store *s, uint32_t run, const struct message_stream_end *rows, uint32_t n)
{
	struct error e = ERROR_INIT;
	struct message_end m = { .n_rows = n };
	struct byte_writer w;
	uint8_t bytes[256];
	uint32_t i;

	writer_init(&w, bytes, sizeof(bytes));
	end_encode(&w, &m);
	for (i = 0; i < n; i++)
		end_put(&w, &rows[i]);
	assert_int_equal(end_decode(&m, bytes, writer_len(&w)), WIRE_OK);
	return store_end(s, run, &m, &e);
}

static void test_end(void **state)
{
	const struct message_stream_end few = { 1, 1, 9 }, rows[] = { { 1, 1, 10 }, { 2, 3, 12 } };
	struct store *s = stored_open(dir, NULL);
	uint32_t run = stored_run(s, 1, 10, 20);
	struct stored_ledger l;
	struct store_run facts;

	(void)state;
	assert_int_equal(stored_put_bare(s, run, key(0, 0, 10)), STORE_TAKEN);
	assert_int_equal(put_end(s, run, &few, 1), -EPROTO);
	assert_int_equal(put_end(s, run, rows, 2), STORE_TAKEN);
	assert_int_equal(put_end(s, run, rows, 2), STORE_DUPLICATE);
	assert_int_equal(stored_put_bare(s, run, key(0, 0, 10)), STORE_DUPLICATE);
	assert_int_equal(stored_put_bare(s, run, key(1, 10, 10)), -EPROTO);
	assert_int_equal(store_puts(s), 2);
	stored_commit(s);
	facts = stored_facts(s, run, &l);
	assert_true(facts.ended);
	assert_false(facts.lost_unknown);
	assert_int_equal(facts.events, 10);
	assert_int_equal(l.lost[LOSS_SPOOL], 12);
	store_free(s);
	s = stored_open(dir, NULL);
	assert_true(stored_facts(s, run, &l).ended);
	assert_int_equal(put_end(s, run, rows, 2), STORE_DUPLICATE);
	store_free(s);
}

/* A run of an earlier boot can never end; blocks that its device kept still come. */
static void test_boot(void **state)
{
	struct store *s = stored_open(dir, NULL);
	uint32_t old = stored_run(s, 1, 10, 20), fresh;
	struct stored_ledger l;

	(void)state;
	assert_int_equal(stored_put_bare(s, old, key(0, 0, 10)), STORE_TAKEN);
	stored_commit(s);
	store_free(s);
	s = stored_open(dir, NULL);
	fresh = stored_run(s, 1, 11, 21);
	assert_int_not_equal(fresh, old);
	assert_int_equal(stored_put_bare(s, fresh, key(0, 0, 1)), STORE_TAKEN);
	assert_int_equal(stored_run(s, 1, 10, 21), old);
	assert_int_equal(stored_put_bare(s, old, key(1, 10, 3)), STORE_TAKEN);
	stored_commit(s);
	assert_true(stored_facts(s, old, &l).ended);
	assert_int_equal(l.unknown[LOSS_RING], 1);
	assert_int_equal(stored_facts(s, old, &l).events, 13);
	assert_false(stored_facts(s, fresh, &l).ended);
	assert_int_equal(l.rows, 0);
	store_free(s);
	s = stored_open(dir, NULL);
	assert_int_equal(stored_run(s, 1, 12, 21), fresh + 1);
	assert_int_equal(stored_facts(s, old, &l).events, 13);
	assert_int_equal(l.rows, 1); /* told once */
	store_free(s);
}

static uint32_t find(struct store *s, uint32_t device, uint32_t run, uint32_t boot)
{
	const struct store_run_ids ids = { stored_id(device), stored_id(run), stored_id(boot) };
	struct error e = ERROR_INIT;
	uint32_t number = 99;

	assert_int_equal(store_find_run(s, &ids, &number, &e), 0);
	return number;
}

/* A run is there from its first record on; one whose first record was refused never was. In a server
 * a number is claimed before, and nobody else gets it. */
static void test_no_record(void **state)
{
	struct store *s = stored_open(dir, NULL);
	struct block b = key(0, 0, 10);
	struct store_run facts;
	struct error e = ERROR_INIT;
	uint32_t run, i;

	(void)state;
	b.stream = 4097;
	for (i = 0; i < 1000; i++) {
		assert_int_equal(find(s, 1, 10 + i, 20), 0);
		run = stored_run(s, 1, 10 + i, 20);
		assert_int_equal(stored_put_bare(s, run, b), -EPROTO);
		if (stored_server())
			break;
		assert_int_equal(find(s, 1, 10 + i, 20), 0);
		assert_int_equal(run, 1);
	}
	run = stored_run(s, 1, 10, 20);
	assert_int_equal(stored_put_bare(s, run, key(0, 0, 10)), STORE_TAKEN);
	assert_int_equal(find(s, 1, 10, 20), run);
	stored_commit(s);
	assert_int_equal(find(s, 1, 10, 20), run);
	store_free(s);
	s = stored_open(dir, NULL);
	assert_int_equal(find(s, 1, 10, 20), run);
	assert_int_equal(find(s, 1, 11, 20), 0);
	assert_int_equal(store_get_run(s, run + 1, &facts, &e), -ENOENT);
	store_free(s);
}

/* In a folder: of one device so many runs are open as it can have at work; the oldest of more is given up, and takes
 * what comes of it all the same. Another device's stay as they are. */
static void test_many_open(void **state)
{
	struct store *s = stored_open(dir, NULL);
	uint32_t other = stored_run(s, 2, 5, 20), run, i, open = 0;
	struct stored_ledger l;

	(void)state;
	assert_int_equal(stored_put_bare(s, other, key(0, 0, 10)), STORE_TAKEN);
	for (i = 0; i < 200; i++) {
		run = stored_run(s, 1, 10 + i, 20);
		assert_int_equal(stored_put_bare(s, run, key(0, 0, 10)), STORE_TAKEN);
	}
	stored_commit(s);
	for (i = other + 1; i <= run && !stored_server(); i++) {
		bool is_open = !stored_facts(s, i, &l).ended;

		assert_int_equal(l.unknown[LOSS_RING], !is_open);
		assert_int_equal(is_open, i > run - 64);
		open += is_open;
	}
	assert_int_equal(open, stored_server() ? 0 : 64);
	assert_false(stored_facts(s, other, &l).ended);
	assert_int_equal(stored_put_bare(s, other + 1, key(1, 10, 3)), STORE_TAKEN);
	stored_commit(s);
	assert_int_equal(stored_facts(s, other + 1, NULL).events, 13);
	store_free(s);
}

static void test_clock(void **state)
{
	struct store *s = stored_open(dir, NULL);
	uint32_t run = stored_run(s, 1, 10, 20);
	struct store_clock c = { .run = run, .device_ns = 1000, .off_ns = -5, .err_ns = 100 }, got;
	struct error e = ERROR_INIT;

	(void)state;
	assert_int_equal(store_get_clock(s, run, &got), -ENOENT);
	assert_int_equal(stored_put_bare(s, run, key(0, 0, 10)), STORE_TAKEN);
	assert_int_equal(store_note(s, &c, &e), 0);
	c.err_ns = 200; /* worse, and no later */
	assert_int_equal(store_note(s, &c, &e), 0);
	stored_commit(s);
	assert_int_equal(store_get_clock(s, run, &got), 0);
	assert_int_equal(got.err_ns, 100);
	assert_int_equal(got.off_ns, -5);
	c.device_ns = 1000 + 10000000; /* worse, but the other is old: 500 ns of drift */
	c.off_ns = 7;
	assert_int_equal(store_note(s, &c, &e), 0);
	stored_commit(s);
	store_free(s);
	s = stored_open(dir, NULL);
	assert_int_equal(store_get_clock(s, run, &got), 0);
	assert_int_equal(got.off_ns, 7);
	assert_int_equal(got.run, run);
	store_free(s);
}

/* A better clock that comes when the run is over, and the store was opened again in between, is known afterwards. */
static void test_clock_behind_end(void **state)
{
	struct message_stream_end row = { STREAM_CPU(0), 1, 10 };
	struct store *s = stored_open(dir, NULL);
	uint32_t run = stored_run(s, 1, 10, 20);
	struct store_clock c = { .run = run, .device_ns = 1000, .off_ns = -5, .err_ns = 100 }, got;
	struct error e = ERROR_INIT;

	(void)state;
	assert_int_equal(stored_put_bare(s, run, key(0, 0, 10)), STORE_TAKEN);
	assert_int_equal(store_note(s, &c, &e), 0);
	assert_int_equal(put_end(s, run, &row, 1), STORE_TAKEN);
	stored_commit(s);
	store_free(s); /* which saves its state */
	s = stored_open(dir, NULL);
	c.off_ns = -7;
	c.err_ns = 20;
	assert_int_equal(store_note(s, &c, &e), 0);
	stored_commit(s);
	assert_int_equal(store_get_clock(s, run, &got), 0);
	assert_int_equal(got.err_ns, 20);
	store_free(s);
	s = stored_open(dir, NULL);
	assert_int_equal(store_get_clock(s, run, &got), 0);
	assert_int_equal(got.err_ns, 20);
	assert_int_equal(got.off_ns, -7);
	store_free(s);
}

static int count_device(void *context, const struct store_device *d)
{
	uint32_t *n = context;

	assert_string_equal(d->name, *n ? "" : "board two");
	assert_int_equal(d->cpus, 4);
	(*n)++;
	return 0;
}

static void test_device(void **state)
{
	struct store_device d = { .id = stored_id(1), .name = "board", .cpus = 2, .seen_ns = 5 };
	struct store *s = stored_open(dir, NULL);
	struct error e = ERROR_INIT;
	uint32_t n = 0;

	(void)state;
	assert_int_equal(store_device(s, &d, &e), 0);
	strcpy(d.name, "board two");
	d.cpus = 4;
	assert_int_equal(store_device(s, &d, &e), 0);
	stored_commit(s);
	assert_int_equal(store_devices(s, count_device, &n, &e), 0);
	assert_int_equal(n, 1);
	store_free(s);
	s = stored_open(dir, NULL);
	n = 0;
	assert_int_equal(store_devices(s, count_device, &n, &e), 0);
	assert_int_equal(n, 1);
	store_free(s);
}

/* The batch has a ceiling; behind it the ingest waits for a commit. */
static void test_full_batch(void **state)
{
	const struct store_options o = { .batch_bytes = 8192 };
	struct store *s = stored_open(dir, &o);
	uint32_t run = stored_run(s, 1, 10, 20), taken = 0, round;
	int r;

	(void)state;
	for (round = 0; round < 3; round++) {
		for (;;) {
			stored_make(&streams[0], taken == 0, 20, 0);
			r = stored_put(s, run, &streams[0]);
			if (r != STORE_TAKEN)
				break;
			taken++;
		}
		assert_int_equal(r, -EAGAIN);
		assert_true(store_waiting(s) <= 8192);
		stored_commit(s);
		assert_int_equal(stored_put(s, run, &streams[0]), STORE_TAKEN);
		taken++;
	}
	stored_commit(s);
	assert_int_equal(stored_facts(s, run, NULL).events, taken * 20);
	store_free(s);
}

static void *commit_often(void *context)
{
	struct error e = ERROR_INIT;
	struct store *s = context;
	struct store_run facts;
	uint64_t version = 0, events = 0, durable = 0;

	while (events < 5000) {
		if (store_commit(s, &durable, &e) < 0)
			abort();
		if (store_get_run(s, 1, &facts, &e) == 0) {
			if (facts.events < events)
				abort();
			events = facts.events;
		}
		store_wait(s, &version, 1);
	}
	return NULL;
}

/* One thread puts, another commits and looks; files change meanwhile. */
static void test_threads(void **state)
{
	const struct store_options o = { .file_bytes = 20000 };
	struct store *s = stored_open(dir, &o);
	uint32_t run = stored_run(s, 1, 10, 20), i;
	pthread_t thread;

	(void)state;
	assert_int_equal(run, 1);
	assert_int_equal(pthread_create(&thread, NULL, commit_often, s), 0);
	for (i = 0; i < 500; i++)
		put(s, run, i % 4, i % 40 < 4, 10);
	pthread_join(thread, NULL);
	stored_commit(s);
	assert_int_equal(stored_facts(s, run, NULL).events, 5000);
	store_free(s);
	s = stored_open(dir, &o);
	assert_int_equal(stored_facts(s, run, NULL).events, 5000);
	store_free(s);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
	const struct CMUnitTest tests[] = {
		TEST(test_reopen),     TEST(test_uncommitted), TEST(test_locked),
		TEST(test_gap),	       TEST(test_told),	       TEST(test_lies),
		TEST(test_end),	       TEST(test_boot),	       TEST(test_clock),
		TEST(test_no_record),  TEST(test_many_open),   TEST(test_device),
		TEST(test_full_batch), TEST(test_threads),     TEST(test_clock_behind_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
