/* SPDX-License-Identifier: MIT */
/*
 * run_source: a run gives the same items as a .ksk file of the same blocks, whole and in parts, from
 * one log file and from many; a range reads only its segments; what comes later can be followed.
 */
#include "stored.h"

#include <sys/stat.h>

#include "store/ksk.h"
#include "tools/trace_random.h"
#include "trace/ksk_source.h"
#include "trace/run_source.h"

/* It is about the files of a log. */
#define SKIP_IN_SERVER(s)                                                                          \
	do {                                                                                       \
		if (stored_server()) {                                                             \
			store_free(s);                                                             \
			skip();                                                                    \
		}                                                                                  \
	} while (0)

static char dir[64];
static struct trace_random trace;
static uint8_t *file;
static size_t file_len;

static int make(void **state)
{
	const struct trace_random_options o = {
		.seed = 7, .cpus = 3, .events = 6000, .loss_every = 300, .style = SCHED_RANDOM_REAL
	};
	const struct sink_ksk_options k = { .codec = CODEC_SCHED,
					    .block_bytes = 900,
					    .segment_bytes = 8000 };

	(void)state;
	stored_folder(dir);
	trace_random_init(&trace, &o);
	file = trace_random_ksk(&trace, &k, &file_len);
	return 0;
}

static int clean(void **state)
{
	(void)state;
	stored_remove(dir);
	trace_random_done(&trace);
	free(file);
	return 0;
}

/* Puts the blocks of the file from one offset on, up to another; where it ended. */
static size_t put_blocks(struct store *s, uint32_t run, size_t at, size_t end)
{
	struct error e = ERROR_INIT;
	struct block b;

	while (at < end && block_decode(file + at, file_len - at, &b) == WIRE_OK &&
	       b.codec != CODEC_INDEX) {
		if (store_put(s, run, &b, file + at, &e) != STORE_TAKEN)
			fail_msg("offset %zu: %s", at, e.text);
		at += b.len;
	}
	return at;
}

static void put_end(struct store *s, uint32_t run)
{
	struct message_resume rows[8];
	struct store_run facts;
	struct message_end m = { 0 };
	struct byte_writer w;
	uint8_t bytes[256];
	struct error e = ERROR_INIT;
	struct ksk_file *f;
	size_t n, i;

	stored_commit(s);
	facts = stored_facts(s, run, NULL);
	n = store_next_sequences(s, run, rows, 8);
	assert_int_equal(n, facts.streams);
	assert_int_equal(ksk_file_open_memory(&f, file, file_len, &e), 0);
	m.n_rows = (uint32_t)n;
	writer_init(&w, bytes, sizeof(bytes));
	end_encode(&w, &m);
	for (i = 0; i < n; i++) {
		const struct ksk_stream *k = ksk_file_stream(f, rows[i].stream);
		const struct message_stream_end row = { rows[i].stream, k->end_sequence, k->end };

		assert_int_equal(rows[i].next_sequence, k->end_sequence);
		end_put(&w, &row);
	}
	ksk_file_free(f);
	assert_int_equal(end_decode(&m, bytes, writer_len(&w)), WIRE_OK);
	assert_int_equal(store_end(s, run, &m, &e), STORE_TAKEN);
	stored_commit(s);
}

static void compare(const struct trace_item *a, size_t n_a, const struct trace_item *b, size_t n_b)
{
	size_t i;

	for (i = 0; i < n_a && i < n_b; i++)
		if (!trace_item_equal(&a[i], &b[i]))
			fail_msg("item %zu of %zu differs", i, n_a);
	assert_int_equal(n_a, n_b);
}

static struct trace_source *open_run(struct store *s, uint32_t run, uint64_t from, uint64_t to)
{
	const struct store_range range = { from, to };
	struct error e = ERROR_INIT;
	struct trace_source *source;

	if (source_run_open(&source, s, run, &range, &e) < 0)
		fail_msg("%s", e.text);
	return source;
}

static size_t read_ksk(struct trace_item **ret, uint64_t from)
{
	struct error e = ERROR_INIT;
	struct trace_source *source;
	size_t n;

	assert_int_equal(source_ksk_open_memory(&source, file, file_len, &e), 0);
	assert_int_equal(source->ops->seek(source, from, &e), 0);
	n = trace_items_read(source, ret);
	source_free(source);
	return n;
}

static void check_all(struct store *s, uint32_t run)
{
	struct trace_source *source = open_run(s, run, 0, UINT64_MAX);
	struct trace_item *want, *got;
	size_t n_want = read_ksk(&want, 0), n_got, i;
	uint64_t tick;
	struct error e = ERROR_INIT;

	n_got = trace_items_read(source, &got);
	compare(want, n_want, got, n_got);
	assert_int_equal(source->info.cpus, 3);
	assert_string_equal(source->info.device, trace.info.device);
	trace_items_free(got, n_got);
	/* From anywhere, by seeking and by a range that starts there. */
	for (i = 0; i < n_want; i += n_want / 17 + 1) {
		struct trace_item *part, *ranged;
		struct trace_source *other;
		size_t n_part, n_ranged;

		tick = item_tick(&want[i]);
		n_part = read_ksk(&part, tick);
		assert_int_equal(source->ops->seek(source, tick, &e), 0);
		n_got = trace_items_read(source, &got);
		compare(part, n_part, got, n_got);
		other = open_run(s, run, tick, UINT64_MAX);
		n_ranged = trace_items_read(other, &ranged);
		compare(part, n_part, ranged, n_ranged);
		trace_items_free(got, n_got);
		trace_items_free(part, n_part);
		trace_items_free(ranged, n_ranged);
		source_free(other);
	}
	source_free(source);
	trace_items_free(want, n_want);
}

static void test_same(void **state)
{
	static const uint64_t sizes[] = { 0, 30000, 3000 };
	uint32_t i, run;

	(void)state;
	for (i = 0; i < 3; i++) {
		const struct store_options o = { .file_bytes = sizes[i] };
		struct store *s = stored_open(dir, &o);

		run = stored_run(s, 1, 10 + i, 20);
		put_blocks(s, run, KSK_HEAD_LEN, file_len);
		put_end(s, run);
		check_all(s, run);
		store_free(s);
		s = stored_open(dir, &o);
		check_all(s, run);
		store_free(s);
	}
}

/* A range has the items of its time and costs the blocks of its segments. */
static void test_range(void **state)
{
	const struct store_options o = { .file_bytes = 20000 };
	struct store *s = stored_open(dir, &o);
	uint32_t run = stored_run(s, 1, 10, 20);
	struct trace_source *source;
	struct trace_item *all, *got;
	uint64_t from, to;
	size_t n_all, n, i, first = 0, last;

	(void)state;
	put_blocks(s, run, KSK_HEAD_LEN, file_len);
	put_end(s, run);
	n_all = read_ksk(&all, 0);
	from = item_tick(&all[n_all / 2]);
	to = item_tick(&all[n_all / 2 + n_all / 50]);
	source = open_run(s, run, from, to);
	n = trace_items_read(source, &got);
	assert_true(n > 0);
	for (i = 0; i < n; i++)
		assert_true(item_tick(&got[i]) <= to);
	while ((all[first].type == ITEM_EVENT ? all[first].event.tick : all[first].loss.to_tick) <
	       from)
		first++;
	for (last = first; last < n_all && item_tick(&all[last]) <= to; last++)
		;
	compare(all + first, last - first, got, n);
	/* Of each of three streams: looking for the start, the segment, and one block behind. */
	assert_true(source_run_blocks_read(source) < stored_facts(s, run, NULL).blocks / 3);
	source_free(source);
	trace_items_free(got, n);
	trace_items_free(all, n_all);
	store_free(s);
}

/* Reading while it grows: the items of each CPU come in order, all of them, and once. */
static void test_follow(void **state)
{
	const struct store_options o = { .file_bytes = 20000 };
	struct store *s = stored_open(dir, &o);
	uint32_t run = stored_run(s, 1, 10, 20), cpu;
	struct trace_source *source = NULL;
	struct trace_item *want, *got = NULL, item;
	struct error e = ERROR_INIT;
	size_t n_want = read_ksk(&want, 0), n = 0, at = KSK_HEAD_LEN, i, k;
	bool more = true;

	(void)state;
	got = calloc(n_want + 1, sizeof(*got));
	while (more) {
		at = put_blocks(s, run, at, at + 3000);
		more = file[at + 2] >> 4 == BLOCK_VERSION && (file[at + 2] & 15) != CODEC_INDEX;
		stored_commit(s);
		if (!more)
			put_end(s, run);
		if (!source)
			source = open_run(s, run, 0, UINT64_MAX);
		else
			assert_int_equal(source_run_follow(source, &e), 1);
		while (source->ops->next(source, &item, &e) == 1) {
			assert_true(n < n_want);
			got[n++] = item;
		}
	}
	assert_int_equal(source_run_follow(source, &e), 0);
	assert_int_equal(n, n_want);
	for (cpu = 0; cpu < 3; cpu++)
		for (i = 0, k = 0; i < n_want; i++) {
			if (want[i].cpu != cpu)
				continue;
			while (k < n && got[k].cpu != cpu)
				k++;
			assert_true(k < n);
			got[k].event.filename = want[i].event.filename; /* borrowed, and gone */
			assert_true(trace_item_equal(&want[i], &got[k]));
			k++;
		}
	source_free(source);
	free(got);
	trace_items_free(want, n_want);
	store_free(s);
}

/* A gap is the device's doing; a torn record is damage. */
static void test_causes(void **state)
{
	struct store *s = stored_open(dir, NULL);
	uint32_t run = stored_run(s, 1, 10, 20);
	static struct stored_stream stream;
	struct trace_source *source;
	struct trace_item *items;
	struct stat st;
	uint64_t lost[LOSS_CAUSES] = { 0 }, events = 0;
	char path[128];
	size_t n, i;
	FILE *f;

	(void)state;
	SKIP_IN_SERVER(s);
	stored_stream_init(&stream, 1, 3);
	for (i = 0; i < 15; i++) {
		stored_make(&stream, i % 3 == 0, 10, 0);
		if (i / 3 != 1) /* the second segment is given up */
			assert_int_equal(stored_put(s, run, &stream), STORE_TAKEN);
		stored_commit(s);
		if (i == 9) { /* a byte in the payload of the fourth segment's first block */
			snprintf(path, sizeof(path), "%s/log/00000001.klog", dir);
			assert_int_equal(stat(path, &st), 0);
			f = fopen(path, "r+");
			assert_int_equal(fseek(f, (long)st.st_size - 3, SEEK_SET), 0);
			fputc(0xa5, f);
			fclose(f);
		}
	}
	source = open_run(s, run, 0, UINT64_MAX);
	n = trace_items_read(source, &items);
	for (i = 0; i < n; i++)
		if (items[i].type == ITEM_LOSS)
			lost[items[i].loss.cause] += items[i].loss.count;
		else
			events++;
	assert_int_equal(events, 90);
	assert_int_equal(lost[LOSS_SPOOL], 30);
	assert_int_equal(lost[LOSS_DAMAGE], 30);
	trace_items_free(items, n);
	source_free(source);
	store_free(s);
}

/* Events and losses of a run as they are read, from the start of what is left. */
static uint64_t count_items(struct store *s, uint32_t run, uint64_t lost[LOSS_CAUSES])
{
	struct trace_source *source = open_run(s, run, 0, UINT64_MAX);
	struct trace_item *items;
	size_t n = trace_items_read(source, &items), i;
	uint64_t events = 0;

	memset(lost, 0, LOSS_CAUSES * sizeof(*lost));
	for (i = 0; i < n; i++)
		if (items[i].type == ITEM_LOSS)
			lost[items[i].loss.cause] += items[i].loss.count;
		else
			events++;
	trace_items_free(items, n);
	source_free(source);
	return events;
}

static uint64_t sum_of(const struct store_run *facts)
{
	uint64_t sum = facts->events;
	int i;

	for (i = 0; i < LOSS_CAUSES; i++)
		sum += facts->lost[i];
	return sum;
}

/* Removes what is too much; returns whether anything went. The account must not change by it, and
 * what it has as stored must be what can be read. */
static bool retain_and_check(struct store *s, uint32_t run)
{
	struct store_run before = stored_facts(s, run, NULL), after;
	uint64_t lost[LOSS_CAUSES];
	struct error e = ERROR_INIT;
	int i;

	for (i = 0; i < 3; i++) {
		if (store_retain(s, &e) < 0)
			fail_msg("%s", e.text);
		stored_commit(s);
	}
	after = stored_facts(s, run, NULL);
	assert_int_equal(sum_of(&after), sum_of(&before));
	assert_int_equal(count_items(s, run, lost), after.events);
	assert_true(lost[LOSS_STORE] <= after.lost[LOSS_STORE]);
	assert_int_equal(before.lost[LOSS_RING], after.lost[LOSS_RING]);
	return after.events < before.events;
}

/* Log files that are smaller than a segment: each removal cuts one in two. What lies behind the cut
 * and before the next KEY block is there and of no use to anybody: lost by the store. */
static void test_cut(void **state)
{
	const struct store_options o = { .file_bytes = 3000, .retain_bytes = 30000 };
	struct store *s = stored_open(dir, &o);
	uint32_t run = stored_run(s, 1, 10, 20), cuts = 0;
	struct store_run facts, again;
	size_t at = KSK_HEAD_LEN, piece;

	(void)state;
	SKIP_IN_SERVER(s);
	do {
		piece = at;
		at = put_blocks(s, run, at, at + 1500);
		stored_commit(s);
		cuts += retain_and_check(s, run);
		facts = stored_facts(s, run, NULL);
		if (cuts % 4 == 3) {
			store_free(s);
			s = stored_open(dir, &o);
			again = stored_facts(s, run, NULL);
			assert_memory_equal(&facts, &again, sizeof(facts));
		}
	} while (at > piece);
	assert_true(cuts > 4);
	assert_true(facts.lost[LOSS_STORE] > 0 && facts.events > 0);
	store_free(s);
}

/* The same where no KEY block has come since: all that is left is lost, until one comes. */
static void test_cut_open(void **state)
{
	const struct store_options o = { .file_bytes = 2000, .retain_bytes = 3000 };
	struct store *s = stored_open(dir, &o);
	uint32_t run = stored_run(s, 1, 10, 20), i;
	static struct stored_stream stream;
	struct store_run facts;

	(void)state;
	SKIP_IN_SERVER(s);
	stored_stream_init(&stream, 1, 3);
	for (i = 0; i < 53; i++) {
		stored_make(&stream, i == 0 || i == 50, 20, 0);
		assert_int_equal(stored_put(s, run, &stream), STORE_TAKEN);
		stored_commit(s);
		retain_and_check(s, run);
		facts = stored_facts(s, run, NULL);
		if (i > 40 && i < 50)
			assert_int_equal(facts.events, 0);
	}
	assert_int_equal(facts.events, 60);
	assert_int_equal(facts.lost[LOSS_STORE], 1000);
	store_free(s);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make, clean)
	const struct CMUnitTest tests[] = {
		TEST(test_same),   TEST(test_range), TEST(test_follow),
		TEST(test_causes), TEST(test_cut),   TEST(test_cut_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
