/* SPDX-License-Identifier: MIT */
/*
 * view_rows: what was pushed comes back, also the worst numbers, also when it is walked while more
 * comes; and what a collector keeps in memory of the log file that it writes has few bytes a block,
 * and ends with the file.
 */
#include "store/local_parts.h"
#include "stored.h"

#define N 5000U

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

/* Small and large steps, forth and back, by turns. */
static uint64_t nth_tick(uint32_t i)
{
	static const uint64_t some[] = { 0, 1, 500, UINT64_MAX, 1ULL << 63, 77, UINT64_MAX - 1 };

	return i % 3 ? i * 1000ULL : some[i / 3 % 7];
}

static struct store_loss nth_loss(uint32_t i)
{
	return (struct store_loss){ .stream = i % 5 ? i : UINT32_MAX - i,
				    .cause = (uint8_t)(i % LOSS_CAUSES),
				    .from_tick = nth_tick(i),
				    .to_tick = nth_tick(i + 1),
				    .count = i % 7 ? i : LOSS_UNKNOWN };
}

static void test_rows(void **state)
{
	struct view_rows l = { 0 };
	struct rows_walk w = { 0 };
	uint32_t i, seen = 0, row;

	(void)state;
	assert_false(view_rows_next(&l, &w, &row));
	for (i = 0; i < N; i++) {
		assert_int_equal(view_rows_reserve(&l), 0);
		view_rows_push(&l, i * (UINT32_MAX / N));
		while (i % 13 == 0 && view_rows_next(&l, &w, &row))
			assert_int_equal(row, seen++ * (UINT32_MAX / N));
	}
	while (view_rows_next(&l, &w, &row))
		assert_int_equal(row, seen++ * (UINT32_MAX / N));
	assert_int_equal(seen, N);
	assert_int_equal(l.n, N);
	chain_done(&l.chain);
}

static void test_keys(void **state)
{
	struct view_keys l = { 0 };
	struct keys_walk w = { 0 };
	struct view_key key;
	uint32_t i;

	(void)state;
	for (i = 0; i < N; i++) {
		assert_int_equal(view_keys_reserve(&l), 0);
		view_keys_push(&l, &(const struct view_key){ .tick = nth_tick(i), .row = 3 * i });
	}
	assert_int_equal(l.first_tick, nth_tick(0));
	for (i = 0; i < N; i++) {
		assert_true(view_keys_next(&l, &w, &key));
		assert_int_equal(key.tick, nth_tick(i));
		assert_int_equal(key.row, 3 * i);
	}
	assert_false(view_keys_next(&l, &w, &key));
	chain_done(&l.chain);
}

/* Room is made for as many as there may be, and not all of it is used. */
static void test_losses(void **state)
{
	struct view_losses l = { 0 };
	struct losses_walk w = { 0 };
	struct store_loss row;
	uint32_t i;

	(void)state;
	for (i = 0; i < N; i++) {
		const struct store_loss loss = nth_loss(i);

		assert_int_equal(view_losses_reserve(&l, i % 100 ? 1 : 500), 0);
		view_losses_push(&l, &loss);
	}
	for (i = 0; i < N; i++) {
		const struct store_loss loss = nth_loss(i);

		assert_true(view_losses_next(&l, &w, &row));
		/* By field: what pads a structure is of no value. */
		assert_true(row.run == loss.run && row.stream == loss.stream);
		assert_true(row.cause == loss.cause && row.count == loss.count);
		assert_true(row.from_tick == loss.from_tick && row.to_tick == loss.to_tick);
	}
	assert_false(view_losses_next(&l, &w, &row));
	chain_done(&l.chain);
}

/* --- in a store --- */

static uint64_t count_bytes(const struct log_view *v)
{
	uint64_t n = 0;
	size_t i, k;

	for (i = 0; i < v->n_runs; i++) {
		const struct view_run *r = v->runs[i];

		n += r->losses.chain.pieces_bytes;
		for (k = 0; k < r->n; k++)
			n += r->streams[k].rows.chain.pieces_bytes +
			     r->streams[k].keys.chain.pieces_bytes;
	}
	return n;
}

/* A tiny KEY block that tells a loss: the most that a block costs. */
static void put(struct store *s, uint32_t run, uint64_t sequence)
{
	struct block b = { .stream = 1,
			   .flags = BLOCK_KEY | BLOCK_LOST,
			   .sequence = sequence,
			   .before = sequence * 10 + sequence + 1,
			   .events = 10,
			   .first_tick = sequence * 100000,
			   .ticks = 90000 };

	b.lost[LOSS_RING] = 1;
	assert_int_equal(stored_put_bare(s, run, b), STORE_TAKEN);
}

static void test_bytes_of_a_block(void **state)
{
	struct store *s = stored_open(dir, NULL);
	const struct log_view *v = local_get(s)->view;
	uint32_t runs[4], i;

	(void)state;
	for (i = 0; i < 4; i++)
		runs[i] = stored_run(s, (uint8_t)(1 + i), (uint8_t)(10 + i), 20);
	for (i = 0; i < 4 * N; i++)
		put(s, runs[i % 4], i / 4);
	stored_commit(s);
	assert_int_equal(v->n_blocks, 4 * N);
	assert_int_equal(v->n_losses, 4 * N);
	/* Arrays of the same had 60, and up to twice as much room. */
	assert_true(count_bytes(v) <= 17 * v->n_blocks);
	store_free(s);
}

static size_t count_indexes(const struct local_store *s)
{
	size_t i, n = 0;

	for (i = 0; i < s->n_files; i++)
		n += s->files[i]->index != NULL;
	return n;
}

static uint32_t count_blocks(struct store *s, uint32_t run)
{
	struct error e = ERROR_INIT;
	struct block_reader *r;
	uint64_t place = 0, at;
	struct block b;
	uint32_t n = 0;

	assert_int_equal(store_reader_open(&r, s, run, NULL, &e), 0);
	while (r->ops->next(r, 1, &place, &b, &at) == 1)
		n++;
	r->ops->free(r);
	return n;
}

/* A file ends with so many blocks, also when the store is opened again in between; its index stays
 * in memory until it is on the disk, and one that somebody read goes for another. */
static void test_many_files(void **state)
{
	const struct store_options o = { .file_blocks = 64 };
	struct store *s = stored_open(dir, &o);
	uint32_t run = stored_run(s, 1, 10, 20), i;
	struct error e = ERROR_INIT;

	(void)state;
	for (i = 0; i < 32; i++)
		put(s, run, i);
	stored_commit(s);
	store_free(s);
	s = stored_open(dir, &o);
	run = stored_run(s, 1, 10, 20);
	for (; i < 64 * 64; i++) {
		put(s, run, i);
		if (i % 50 == 0)
			stored_commit(s);
	}
	stored_commit(s);
	assert_int_equal(local_get(s)->n_files, 64);
	assert_int_equal(local_get(s)->view->n_blocks, 64);
	assert_int_equal(count_indexes(local_get(s)), 63);
	assert_int_equal(store_settle(s, &e), 0);
	assert_int_equal(count_indexes(local_get(s)), 0);
	assert_int_equal(count_blocks(s, run), 64 * 64);
	assert_int_equal(count_indexes(local_get(s)), 63); /* small ones: all may stay */
	store_free(s);
}

/* Indexes that are large stay only while somebody reads, but for the last. */
static void test_large_indexes(void **state)
{
	const struct store_options o = { .file_blocks = 40000 };
	struct store *s = stored_open(dir, &o);
	uint32_t run = stored_run(s, 1, 10, 20), i;
	struct error e = ERROR_INIT;

	(void)state;
	for (i = 0; i < 5 * 40000 + 1; i++)
		put(s, run, i);
	stored_commit(s);
	assert_int_equal(local_get(s)->n_files, 6);
	assert_int_equal(store_settle(s, &e), 0);
	assert_int_equal(count_blocks(s, run), 5 * 40000 + 1);
	/* 2 MB each. */
	assert_int_equal(count_indexes(local_get(s)), 2);
	assert_non_null(local_get(s)->files[4]->index);
	store_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_losses),
		cmocka_unit_test_setup_teardown(test_bytes_of_a_block, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_many_files, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_large_indexes, make_folder, remove_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
