/* SPDX-License-Identifier: MIT */
/*
 * ksk_odd: files of blocks that no recorder of ours writes: descriptions that are not understood, of another codec or cut, streams that are nobody's,
 * streams without an event, and clocks that have nothing in common.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "store/ksk_writer.h"
#include "tools/trace_store.h"
#include "trace/boot_ksk.h"
#include "trace/func_ksk.h"
#include "trace/info_meta.h"
#include "trace/ksk_source.h"
#include "trace/sample_ksk.h"
#include "wire/func_encode.h"
#include "wire/meta_encode.h"

#define ROOM 4096U
#define STRAY 5000U /* neither a CPU's nor a thread's */

static char folder[] = "/tmp/kiseki-test-XXXXXX";
static char path[64];
static struct ksk_writer *writer;
static uint64_t sequence; /* of descriptions */

static void begin(void)
{
	assert_int_equal(ksk_writer_open(&writer, path, NULL), 0);
	sequence = 0;
}

/* Every other stream has one block; descriptions go on. */
static void put(struct block b, const void *payload, size_t len)
{
	static uint8_t room[BLOCK_HEADER_MAX + ROOM];
	uint8_t *start;
	uint32_t all;

	assert_true(len <= ROOM);
	if (len)
		memcpy(room + BLOCK_HEADER_MAX, payload, len);
	b.payload_len = (uint32_t)len;
	b.sequence = b.stream == STREAM_META ? sequence++ : 0;
	start = block_encode(&b, room + BLOCK_HEADER_MAX, &all);
	assert_int_equal(ksk_writer_put(writer, &b, start, all, NULL), 0);
}

static void put_meta(const void *payload, size_t len)
{
	put((struct block){ .codec = CODEC_META, .flags = BLOCK_KEY, .stream = STREAM_META },
	    payload, len);
}

static void put_key(uint32_t stream, uint8_t codec)
{
	put((struct block){ .codec = codec, .flags = BLOCK_KEY, .stream = stream, .first_tick = 7 },
	    NULL, 0);
}

static void end(bool is_cut)
{
	assert_int_equal(is_cut ? ksk_writer_commit_cut(writer, NULL)
				: ksk_writer_commit(writer, NULL),
			 0);
	ksk_writer_free(writer);
}

/* What the file says of itself, as a run's reader reads it. */
static int read_info(struct trace_info *i, struct error *e)
{
	struct ksk_file *file = NULL;
	int r;

	assert_int_equal(info_init(i), 0);
	assert_int_equal(ksk_file_open(&file, path, NULL), 0);
	r = info_read(i, &file->reader, e);
	ksk_file_free(file);
	return r;
}

static void expect_device(const char *wanted)
{
	struct trace_source *s = NULL;
	struct boot_source *boot = NULL;
	struct error e = ERROR_INIT;
	struct trace_info i;

	assert_int_equal(read_info(&i, &e), 0);
	assert_string_equal(i.device, wanted);
	info_done(&i);
	if (source_ksk_open(&s, path, &e) < 0)
		fail_msg("%s", e.text);
	assert_string_equal(s->info.device, wanted);
	source_free(s);
	assert_int_equal(boot_ksk_open(path, &boot, &e), 0);
	assert_string_equal(boot->info.device, wanted);
	boot_source_free(boot);
}

/* Blocks of another codec, and one that the file's end cuts, are passed over. */
static void test_passed_over(void **state)
{
	uint8_t first[64], second[64];
	size_t one = (size_t)(meta_put_text(first, META_DEVICE, "first", 5) - first);
	size_t two = (size_t)(meta_put_text(second, META_DEVICE, "second", 6) - second);
	uint64_t len;
	FILE *f;

	(void)state;
	begin();
	put_key(STREAM_BOOT, CODEC_BOOT);
	put_meta(first, one);
	put((struct block){ .codec = CODEC_SCHED, .flags = BLOCK_KEY, .stream = STREAM_META },
	    second, two);
	end(false);
	expect_device("first");
	begin();
	put_key(STREAM_BOOT, CODEC_BOOT);
	put_meta(first, one);
	put_meta(second, two);
	end(true);
	expect_device("second");
	f = fopen(path, "r");
	assert_non_null(f);
	assert_int_equal(fseek(f, 0, SEEK_END), 0);
	len = (uint64_t)ftell(f);
	fclose(f);
	assert_int_equal(truncate(path, (off_t)len - 3), 0);
	expect_device("first");
}

/* Nobody reads a file whose description he does not understand, and all say where it is. */
static void test_not_understood(void **state)
{
	struct trace_source *events = NULL;
	struct sample_source *samples = NULL;
	struct func_source *calls = NULL;
	struct boot_source *boot = NULL;
	struct error e = ERROR_INIT;
	struct trace_info i;

	(void)state;
	begin();
	put_key(STREAM_BOOT, CODEC_BOOT);
	put_key(STREAM_SAMPLE(0), CODEC_SAMPLE);
	put_key(STREAM_FUNC(0), CODEC_FUNC);
	put_meta("\x01", 1);
	end(false);
	assert_int_equal(read_info(&i, &e), -EBADE);
	assert_string_equal(e.text, "cannot read the description of the run: the item at offset 0 "
				    "of the description is cut short");
	info_done(&i);
	assert_int_equal(source_ksk_open(&events, path, &e), -EBADMSG);
	assert_non_null(strstr(e.text, "/out.ksk: metadata at offset "));
	assert_int_equal(boot_ksk_open(path, &boot, &e), -EBADMSG);
	assert_non_null(strstr(e.text, ": the item at offset 0 of the description is cut short"));
	assert_int_equal(func_ksk_open(path, &calls, &e), -EBADMSG);
	assert_non_null(strstr(e.text, ": the item at offset 0 of the description is cut short"));
	assert_true(sample_ksk_open(path, &samples, &e) < 0);
	assert_non_null(strstr(e.text, ": the item at offset 0 of the description is cut short"));
	assert_int_equal(func_ksk_open_joined(path, &calls, &e), -EBADMSG);
}

static void expect_stray(uint64_t offset)
{
	struct trace_source *s = NULL;
	static const char what[] = "a stream that belongs to no CPU and no thread";
	const struct ksk_file *f;
	size_t i;

	assert_int_equal(source_ksk_open(&s, path, NULL), 0);
	f = source_ksk_file(s);
	for (i = 0; i < f->n_damage && strcmp(f->damage[i].what, what) != 0; i++)
		;
	assert_true(i < f->n_damage);
	assert_int_equal(f->damage[i].offset, offset);
	source_free(s);
}

/* Where it begins is said as far as it is known before the file is read. */
static void test_strays(void **state)
{
	int is_cut;

	(void)state;
	for (is_cut = 0; is_cut < 2; is_cut++) {
		begin();
		put_key(STRAY, CODEC_SCHED);
		end(is_cut);
		expect_stray(16);
		begin();
		put((struct block){ .codec = CODEC_SCHED, .stream = STRAY, .events = 1 }, "x", 1);
		end(is_cut);
		expect_stray(is_cut ? 16 : 0);
	}
}

/* A stream without an event was at no time. */
static void test_empty(void **state)
{
	struct sample_source *samples = NULL;
	struct func_source *calls = NULL;
	struct error e = ERROR_INIT;
	struct sample_item item;
	uint64_t from, to;

	(void)state;
	begin();
	put_key(STREAM_SAMPLE(0), CODEC_SAMPLE);
	put_key(STREAM_FUNC(0), CODEC_FUNC);
	put_key(STREAM_FUNC_OS(0), CODEC_FUNC);
	end(false);
	assert_int_equal(sample_ksk_open(path, &samples, &e), 0);
	assert_int_equal(sample_ksk_span(samples, &from, &to), 0);
	assert_int_equal(samples->ops->next(samples, &item, &e), 0);
	assert_int_equal(samples->ops->next(samples, &item, &e), 0); /* and stays at its end */
	sample_source_free(samples);
	assert_int_equal(func_ksk_open(path, &calls, &e), 0);
	assert_int_equal(func_ksk_span(calls, &from, &to), 0);
	func_source_free(calls);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(sample_ksk_open(path, &samples, &e), -ENOENT);
	assert_int_equal(func_ksk_open(path, &calls, &e), -ENOENT);
	assert_int_equal(func_ksk_open_joined(path, &calls, &e), -ENOENT);
}

/* One entry at this tick. */
static void put_call(uint32_t stream, uint64_t tick)
{
	static struct func_encoder encoder;
	static uint8_t room[ROOM];
	const struct func_event ev = { .tick = tick, .value = 0x1000, .kind = FUNC_ENTER };

	func_encoder_init(&encoder, NULL);
	func_encoder_begin(&encoder, room, ROOM, tick);
	assert_int_equal(func_encode(&encoder, &ev), WIRE_OK);
	put((struct block){ .codec = CODEC_FUNC,
			    .flags = BLOCK_KEY,
			    .stream = stream,
			    .first_tick = tick,
			    .events = 1 },
	    room, func_encoder_end(&encoder));
}

/* The end of a thread is that of the later of its streams. */
static void test_last_tick(void **state)
{
	struct func_source *s = NULL;
	uint64_t last;
	int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		begin();
		put_call(STREAM_FUNC(0), i ? 100 : 50);
		put_call(STREAM_FUNC_OS(0), i ? 50 : 100);
		end(false);
		assert_int_equal(func_ksk_open(path, &s, NULL), 0);
		assert_int_equal(func_ksk_last_tick(s, 0, &last), 0);
		assert_int_equal(last, 100);
		func_source_free(s);
	}
}

static uint8_t *put_clock(uint8_t *p, enum meta_item type, const char *name)
{
	const struct meta_clock clock = {
		.name = name, .name_len = (uint32_t)strlen(name), .mult = 1, .shift = 0
	};
	uint8_t *body = p;

	p = meta_put_clock(p, &clock);
	*body = (uint8_t)type; /* the same content, of another owner */
	return p;
}

/* Calls, and a scheduler of one CPU; their clocks have these names. */
static void write_both(const char *calls, const char *sched, bool has_bad_order)
{
	uint8_t meta[256], *p = meta;

	p = meta_put_number(p, META_CPUS, 1);
	p = put_clock(p, META_CLOCK, sched);
	p = put_clock(p, META_FUNC_CLOCK, calls);
	if (has_bad_order)
		p = meta_put_number(p, META_ORDER, 5);
	begin();
	put_meta(meta, (size_t)(p - meta));
	put_call(STREAM_FUNC(0), 50);
	put_key(STREAM_CPU(0), CODEC_SCHED);
	end(false);
}

/* Calls are worth having without the scheduler's side, but not beside one that is damaged. */
static void test_joined(void **state)
{
	struct func_source *s = NULL;
	struct error e = ERROR_INIT;
	struct func_item item;
	int i;

	(void)state;
	for (i = 0; i < 2; i++) {
		write_both("mono", i ? "global" : "mono", false);
		if (func_ksk_open_joined(path, &s, &e) < 0)
			fail_msg("%s", e.text);
		assert_int_equal(s->n_threads, 1);
		assert_int_equal(s->ops->next(s, &item, &e), 1);
		assert_int_equal(item.event.tick, 50);
		assert_int_equal(s->ops->next(s, &item, &e), 0);
		func_source_free(s);
	}
	write_both("mono", "mono", true);
	assert_int_equal(func_ksk_open(path, &s, &e), 0);
	func_source_free(s);
	assert_int_equal(func_ksk_open_joined(path, &s, &e), -EBADMSG);
	assert_non_null(strstr(e.text, "metadata at offset 16: "));
}

/* Runs that are not there, and one that has a description and no more. */
static void test_runs(void **state)
{
	struct sample_source *samples = NULL;
	struct func_source *calls = NULL;
	struct error e = ERROR_INIT;
	struct store *store = NULL;
	struct trace_blocks blocks;
	char dir[96];
	uint32_t run;

	(void)state;
	begin();
	put_meta("", 0);
	end(false);
	trace_blocks_open(&blocks, path);
	snprintf(dir, sizeof(dir), "%s/store", folder);
	assert_int_equal(store_open(&store, dir, NULL, &e), 0);
	run = trace_store_run(store, 3);
	trace_store_put(store, run, &blocks, 0, blocks.n);
	assert_int_equal(func_ksk_open_run(store, run, &calls, &e), -ENODATA);
	assert_non_null(strstr(e.text, "it holds no calls"));
	assert_int_equal(sample_ksk_open_run(store, run, &samples, &e), -ENODATA);
	assert_non_null(strstr(e.text, "it holds no profile"));
	assert_int_equal(func_ksk_open_run(store, run + 1, &calls, &e), -ENOENT);
	assert_int_equal(sample_ksk_open_run(store, run + 1, &samples, &e), -ENOENT);
	store_free(store);
	trace_blocks_done(&blocks);
	snprintf(dir, sizeof(dir), "rm -rf %s/store", folder);
	assert_int_equal(system(dir), 0);
}

static int enter(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/out.ksk", folder);
	return 0;
}

static int leave(void **state)
{
	(void)state;
	remove(path);
	return remove(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_passed_over), cmocka_unit_test(test_not_understood),
		cmocka_unit_test(test_strays),	    cmocka_unit_test(test_empty),
		cmocka_unit_test(test_last_tick),   cmocka_unit_test(test_joined),
		cmocka_unit_test(test_runs),
	};

	return cmocka_run_group_tests_name("ksk_odd", tests, enter, leave);
}
