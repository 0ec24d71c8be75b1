/* SPDX-License-Identifier: MIT */
/*
 * store: without memory for a moment. A life of a store, from the first opening to the second, is gone through again and again,
 * each time with another allocation that fails: whatever call has it may fail, but once, and nothing is different in the end.
 */
#include "fuzz/starve.h"
#include "stored.h"

#define RUNS 20U   /* more than an array has room for at first */
#define SHORT 2U   /* runs between two commits */
#define MOST 5000U /* allocations: a life that has more of them has gone wrong */

static const struct store_options all = { .file_bytes = 2000 };
static const struct store_options few = { .file_bytes = 2000, .retain_bytes = 6000 };

/* What is there in the end. */
struct outcome {
	uint32_t runs, devices;
	uint64_t events, blocks, lost[LOSS_CAUSES];
	uint32_t ended, rows;
	uint64_t off_ns;
};

/* The call, and once more if the memory that was not there made it fail. */
#define AGAIN(call)                                                                                \
	do {                                                                                       \
		struct error e = ERROR_INIT;                                                       \
		int got = (call);                                                                  \
                                                                                                   \
		if (got < 0 && starve_end())                                                       \
			got = (call);                                                              \
		if (got)                                                                           \
			fail_msg("%s: %d: %s", #call, got, e.text);                                \
	} while (0)

static void put_stream(struct store *s, uint32_t run, uint32_t cpu)
{
	static struct stored_stream stream;

	stored_stream_init(&stream, STREAM_CPU(cpu), run);
	stored_make(&stream, true, 10, 0);
	AGAIN(store_put(s, run, &stream.block, stream.bytes, &e));
	stored_make(&stream, false, 20, 3);
	AGAIN(store_put(s, run, &stream.block, stream.bytes, &e));
}

static void put_end(struct store *s, uint32_t run)
{
	const struct message_stream_end row = { STREAM_CPU(0), 2, 40 };
	struct message_end m = { .n_rows = 1 };
	struct byte_writer w;
	uint8_t bytes[64];

	writer_init(&w, bytes, sizeof(bytes));
	end_encode(&w, &m);
	end_put(&w, &row);
	assert_int_equal(end_decode(&m, bytes, writer_len(&w)), WIRE_OK);
	AGAIN(store_end(s, run, &m, &e));
}

static void put_run(struct store *s, uint32_t n)
{
	struct store_device d = { .id = stored_id(n), .name = "board", .cpus = 2 };
	struct message_id run_id = stored_id(100 + n), boot = stored_id(200 + n);
	struct store_clock clock = { .device_ns = 1000, .off_ns = n, .err_ns = 100 };
	uint32_t run = 0;

	AGAIN(store_device(s, &d, &e));
	AGAIN(store_run(s, &d.id, &run_id, &boot, &run, &e));
	assert_int_equal(run, n);
	put_stream(s, run, 0);
	put_stream(s, run, 1);
	clock.run = run;
	AGAIN(store_note(s, &clock, &e));
	if (n % 2)
		put_end(s, run);
	if (n % SHORT == 0) {
		AGAIN(store_commit(s, NULL, &e));
		AGAIN(store_settle(s, &e));
	}
}

/* --- what comes of it --- */

static int count_device(void *context, const struct store_device *d)
{
	assert_string_equal(d->name, "board");
	((struct outcome *)context)->devices++;
	return 0;
}

static int count_run(void *context, const struct store_run *r)
{
	struct outcome *sum = context;
	uint32_t i;

	sum->runs++;
	sum->events += r->events;
	sum->blocks += r->blocks;
	sum->ended += r->ended;
	for (i = 0; i < LOSS_CAUSES; i++)
		sum->lost[i] += r->lost[i];
	return 0;
}

static int count_row(void *context, const struct store_loss *l)
{
	assert_int_not_equal(l->count, LOSS_UNKNOWN);
	((struct outcome *)context)->rows++;
	return 0;
}

static void count(struct store *s, struct outcome *ret)
{
	struct store_clock clock;
	struct store_run facts;
	uint32_t run;

	AGAIN((*ret = (struct outcome){ 0 }, store_devices(s, count_device, ret, &e)));
	AGAIN((ret->runs = 0, store_runs(s, NULL, count_run, ret, &e)));
	for (run = RUNS - 1; run <= RUNS; run++) {
		uint32_t rows = ret->rows;

		AGAIN((ret->rows = rows, store_ledger(s, run, count_row, ret, &e)));
		AGAIN(store_get_run(s, run, &facts, &e));
		AGAIN(store_get_clock(s, run, &clock));
		assert_int_equal(clock.off_ns, run);
		ret->off_ns += (uint64_t)clock.off_ns;
	}
}

/* Its life without the n-th allocation. False: there is none. */
static bool live(uint32_t n, const struct store_options *o, struct outcome *ret)
{
	struct outcome before;
	struct store *s = NULL;
	bool has_failed;
	char dir[64];
	uint32_t run;

	stored_folder(dir);
	starve_begin(n);
	AGAIN(store_open(&s, dir, o, &e));
	for (run = 1; run <= RUNS; run++)
		put_run(s, run);
	for (run = 0; o->retain_bytes && run < 4; run++) {
		AGAIN(store_retain(s, &e));
		AGAIN(store_commit(s, NULL, &e));
	}
	count(s, &before);
	store_free(s);
	AGAIN(store_open(&s, dir, o, &e));
	count(s, ret);
	has_failed = starve_end();
	if (o->retain_bytes)
		before.devices =
			ret->devices; /* one without runs is known until the end, but not for ever */
	assert_memory_equal(ret, &before, sizeof(before));
	store_free(s);
	stored_remove(dir);
	return has_failed;
}

static void check_lives(const struct store_options *o, const struct outcome *right)
{
	struct outcome got;
	uint32_t n;

	for (n = 0; n < MOST && live(n, o, &got); n++)
		assert_memory_equal(&got, right, sizeof(got));
	assert_in_range(n, 100, MOST - 1);
}

static void test_all(void **state)
{
	const struct outcome right = {
		.runs = RUNS,
		.devices = RUNS,
		.events = RUNS * 60,
		.blocks = RUNS * 4,
		.lost = { [LOSS_RING] = RUNS * 6, [LOSS_SPOOL] = RUNS / 2 * 7 },
		.ended = RUNS / 2,
		.rows = 5,
		.off_ns = RUNS * 2 - 1
	};

	(void)state;
	check_lives(&all, &right);
}

static void test_retained(void **state)
{
	struct outcome right;

	(void)state;
	assert_false(live(UINT32_MAX, &few, &right));
	assert_in_range(right.runs, 2, RUNS - 1);
	check_lives(&few, &right);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_all),
					    cmocka_unit_test(test_retained) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
