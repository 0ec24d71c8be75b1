/* SPDX-License-Identifier: MIT */
/*
 * boot_ksk, boot_pack: a boot that was packed into a file comes out of it record by record, and out of a store;
 * what damage takes is counted, one by one; whoever reads the scheduler does not see it.
 */
#include "stored.h"

#include <fcntl.h>

#include "store/ksk.h"
#include "tools/boot_random.h"
#include "tools/boot_script.h"
#include "trace/boot_ksk.h"
#include "trace/boot_pack.h"
#include "trace/func_ksk.h"
#include "trace/ksk_source.h"

#define FILE_MAX (1U << 20)
#define SCRIPT_MAX 16384U

static char dir[64], path[128];
static char script[SCRIPT_MAX];
static uint8_t file[FILE_MAX], copy[FILE_MAX];
static size_t file_len;

static size_t read_all(const char *name, void *to, size_t room)
{
	int fd = open(name, O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, to, room);

	assert_true(n > 0 && (size_t)n < room);
	close(fd);
	return (size_t)n;
}

static int make(void **state)
{
	size_t len;

	(void)state;
	stored_folder(dir);
	snprintf(path, sizeof(path), "%s/boot.ksk", dir);
	len = read_all(SOURCE_ROOT "/tests/data/boot/small.boot", script, SCRIPT_MAX - 200);
	strcpy(script + len, "loss 0 500 3\nloss 0 500.1 ?\nloss 4 700 8\nloss 2 2995 11\n");
	return 0;
}

static int clean(void **state)
{
	(void)state;
	stored_remove(dir);
	return 0;
}

static struct boot_source *open_script(void)
{
	struct error e = ERROR_INIT;
	struct boot_source *s;

	if (boot_script_new(&s, script, &e) < 0)
		fail_msg("%s", e.text);
	return s;
}

/* The script's boot into `file`, in blocks and segments of this size. */
static void pack(uint32_t block, uint32_t segment)
{
	struct boot_packing p = { .block_bytes = block, .segment_bytes = segment };
	struct boot_source *s = open_script();
	struct error e = ERROR_INIT;

	if (boot_pack_file(path, s, &p, &e) < 0)
		fail_msg("%s", e.text);
	boot_source_free(s);
	file_len = read_all(path, file, FILE_MAX);
}

/* What a source gave: records, and losses between them. */
struct account {
	uint64_t events;
	struct loss_tally lost;
};

static bool next_event(struct boot_source *s, struct account *a, struct boot_event *ret)
{
	struct boot_item item;
	int r;

	while ((r = s->ops->next(s, &item, NULL)) == 1) {
		if (item.type == ITEM_EVENT) {
			a->events++;
			*ret = item.event;
			return true;
		}
		loss_tally_add(&a->lost, item.loss.cause, item.loss.count);
	}
	assert_int_equal(r, 0);
	return false;
}

static uint64_t compare(struct boot_source *a, struct boot_source *b)
{
	struct account x = { 0 }, y = { 0 };
	struct boot_event i, k;
	bool more;

	do {
		more = next_event(a, &x, &i);
		assert_int_equal(next_event(b, &y, &k), more);
		if (more && !boot_event_equal(&i, &k))
			fail_msg("record %llu is another", (unsigned long long)x.events);
		assert_memory_equal(&x.lost, &y.lost, sizeof(x.lost));
	} while (more);
	return x.events;
}

static struct boot_source *open_memory(const uint8_t *data, size_t len)
{
	struct error e = ERROR_INIT;
	struct boot_source *s;

	if (boot_ksk_open_memory(data, len, &s, &e) < 0)
		fail_msg("%s", e.text);
	return s;
}

static void test_packed(void **state)
{
	static const uint32_t sizes[][2] = { { 0, 0 }, { 100, 0 }, { 1, 1 }, { 300, 900 } };
	struct boot_source *a, *b;
	const struct boot_totals *t;
	struct error e = ERROR_INIT;
	uint64_t n;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		pack(sizes[i][0], sizes[i][1]);
		a = open_script();
		assert_int_equal(boot_ksk_open(path, &b, &e), 0);
		assert_false(b->is_cut);
		assert_string_equal(b->info.device, "a9");
		assert_string_equal(b->info.kernel, "6.1.0");
		n = compare(a, b);
		assert_true(n > 1000);
		t = boot_ksk_totals(b);
		assert_int_equal(t->events, n);
		assert_true(t->first_tick == BOOT_SCRIPT_START && t->last_tick > t->first_tick);
		assert_true(t->lost.lost[0] == 3 && t->lost.some[0] && t->lost.lost[4] == 8 &&
			    t->lost.lost[2] == 11);
		/* And once more from the start. */
		assert_int_equal(a->ops->rewind(a, &e), 0);
		assert_int_equal(b->ops->rewind(b, &e), 0);
		assert_int_equal(compare(a, b), n);
		boot_source_free(a);
		boot_source_free(b);
	}
}

static struct account read_account(const uint8_t *data, size_t len)
{
	struct boot_source *s = open_memory(data, len);
	struct account a = { 0 };
	struct boot_event ev;

	while (next_event(s, &a, &ev))
		;
	boot_source_free(s);
	return a;
}

static uint64_t sum(const struct account *a)
{
	uint64_t n = a->events;
	uint32_t i;

	for (i = 0; i < LOSS_CAUSES; i++)
		n += a->lost.lost[i];
	return n;
}

/* Whatever block is torn, what comes and what is missing are what there was. */
static void test_damage(void **state)
{
	struct account whole, a;
	size_t at = KSK_HEAD_LEN;
	uint32_t torn = 0;
	struct block b;

	(void)state;
	pack(200, 700);
	whole = read_account(file, file_len);
	while (block_decode(file + at, file_len - at, &b) == WIRE_OK && b.codec != CODEC_INDEX) {
		if (b.stream == STREAM_BOOT && b.events) {
			memcpy(copy, file, file_len);
			copy[at + b.len - 1] ^= 0x10;
			a = read_account(copy, file_len);
			assert_true(sum(&a) == sum(&whole) && a.events < whole.events);
			torn++;
		}
		at += b.len;
	}
	assert_true(torn > 5);
	for (at = 60; at < file_len; at += 97) {
		struct boot_source *s;
		struct error e = ERROR_INIT;

		if (boot_ksk_open_memory(file, at, &s, &e) < 0)
			continue; /* not even the first block is there */
		assert_true(s->is_cut);
		boot_source_free(s);
		a = read_account(file, at);
		assert_true(a.events <= whole.events);
	}
}

/* A sound block that no encoder of ours made, and one of another codec. */
static void test_foreign(void **state)
{
	uint8_t room[BLOCK_HEADER_MAX + 64];
	struct block b = { .codec = CODEC_BOOT,
			   .flags = BLOCK_KEY,
			   .stream = STREAM_BOOT,
			   .events = 9,
			   .payload_len = 40 };
	struct error e = ERROR_INIT;
	struct ksk_writer *w;
	struct account a;
	uint32_t i, len;
	uint8_t *start;

	(void)state;
	for (i = 0; i < 3; i++) {
		b.codec = i ? CODEC_SCHED : CODEC_BOOT;
		assert_int_equal(ksk_writer_open(&w, path, &e), 0);
		if (i == 2) { /* in a segment that is a boot's */
			const struct block key = { .codec = CODEC_BOOT,
						   .flags = BLOCK_KEY,
						   .stream = STREAM_BOOT };

			start = block_encode(&key, room + BLOCK_HEADER_MAX, &len);
			assert_int_equal(ksk_writer_put(w, &key, start, len, &e), 0);
			b.sequence = 1;
			b.flags = 0;
		}
		memset(room + BLOCK_HEADER_MAX, 0xff, 40);
		start = block_encode(&b, room + BLOCK_HEADER_MAX, &len);
		assert_int_equal(ksk_writer_put(w, &b, start, len, &e), 0);
		assert_int_equal(ksk_writer_commit(w, &e), 0);
		ksk_writer_free(w);
		file_len = read_all(path, file, FILE_MAX);
		a = read_account(file, file_len);
		assert_true(a.events + a.lost.lost[LOSS_DAMAGE] == 9 && a.events < 9);
		assert_true(a.events == 0 || i == 0);
	}
}

/* Who reads events or calls finds none, and no damage. */
static void test_others(void **state)
{
	struct error e = ERROR_INIT;
	struct trace_source *events;
	struct func_source *calls;
	struct boot_source *boot;
	struct trace_item item;
	struct ksk_writer *w;

	(void)state;
	pack(0, 0);
	assert_int_equal(source_ksk_open(&events, path, &e), 0);
	assert_int_equal(events->ops->next(events, &item, &e), 0);
	assert_int_equal(source_ksk_file(events)->n_damage, 0);
	source_free(events);
	assert_int_equal(func_ksk_open(path, &calls, &e), -ENODATA);
	/* And the other way round. */
	assert_int_equal(ksk_writer_open(&w, path, &e), 0);
	assert_int_equal(ksk_writer_commit(w, &e), 0);
	ksk_writer_free(w);
	assert_int_equal(boot_ksk_open(path, &boot, &e), -ENODATA);
	assert_non_null(strstr(e.text, "it holds no boot chart"));
	assert_int_equal(boot_ksk_open("/nonexistent/x.ksk", &boot, &e), -ENOENT);
}

static void put_run(struct store *s, uint32_t run, bool end)
{
	struct message_stream_end rows[2] = { { .stream = STREAM_META },
					      { .stream = STREAM_BOOT } };
	uint8_t body[64];
	struct byte_writer w;
	struct message_end m = { .n_rows = 2 };
	struct error e = ERROR_INIT;
	size_t at = KSK_HEAD_LEN;
	struct block b;

	for (; block_decode(file + at, file_len - at, &b) == WIRE_OK && b.codec != CODEC_INDEX;
	     at += b.len) {
		int r = store_put(s, run, &b, file + at, &e);

		if (r < 0)
			fail_msg("%s", e.text);
		rows[b.stream == STREAM_BOOT].next_sequence = b.sequence + 1;
		if (b.stream == STREAM_BOOT)
			rows[1].events += b.events + block_told(&b);
	}
	if (!end)
		return;
	writer_init(&w, body, sizeof(body));
	end_encode(&w, &m);
	end_put(&w, &rows[0]);
	end_put(&w, &rows[1]);
	assert_int_equal(end_decode(&m, body, writer_len(&w)), WIRE_OK);
	assert_true(store_end(s, run, &m, &e) >= 0);
}

static void test_stored(void **state)
{
	struct store_options o = { 0 };
	struct message_id device = stored_id(1), id = stored_id(2), boot = stored_id(3);
	struct error e = ERROR_INIT;
	struct boot_source *a, *b;
	struct store_run about;
	struct block meta;
	struct store *s;
	uint32_t run, turn;

	(void)state;
	pack(200, 0);
	assert_int_equal(store_open(&s, dir, &o, &e), 0);
	assert_int_equal(store_run(s, &device, &id, &boot, &run, &e), 0);
	for (turn = 0; turn < 2; turn++) {
		put_run(s, run, turn);
		assert_int_equal(store_commit(s, NULL, &e), 0);
		assert_int_equal(store_get_run(s, run, &about, &e), 0);
		assert_true(about.has_boot && store_run_is_boot(&about) && !about.cpus);
		assert_string_equal(store_run_kind(&about), "boot");
		assert_int_equal(about.first_tick, BOOT_SCRIPT_START);
		a = open_script();
		if (boot_ksk_open_run(s, run, &b, &e) < 0)
			fail_msg("%s", e.text);
		assert_int_equal(b->is_cut, !turn);
		assert_int_equal(compare(a, b), about.events);
		boot_source_free(a);
		boot_source_free(b);
	}
	assert_int_equal(boot_ksk_open_run(s, run + 1, &b, &e), -ENOENT);
	id = stored_id(4);
	assert_int_equal(store_run(s, &device, &id, &boot, &run, &e), 0);
	assert_int_equal(block_decode(file + KSK_HEAD_LEN, file_len - KSK_HEAD_LEN, &meta),
			 WIRE_OK);
	assert_int_equal(meta.stream, STREAM_META); /* a run that has nothing but its description */
	assert_true(store_put(s, run, &meta, file + KSK_HEAD_LEN, &e) >= 0);
	assert_int_equal(store_commit(s, NULL, &e), 0);
	assert_int_equal(boot_ksk_open_run(s, run, &b, &e), -ENODATA);
	assert_non_null(strstr(e.text, "it holds no boot chart"));
	store_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_packed, make, clean),
		cmocka_unit_test_setup_teardown(test_damage, make, clean),
		cmocka_unit_test_setup_teardown(test_foreign, make, clean),
		cmocka_unit_test_setup_teardown(test_others, make, clean),
		cmocka_unit_test_setup_teardown(test_stored, make, clean),
	};

	return cmocka_run_group_tests_name("boot_ksk", tests, NULL, NULL);
}
