/* SPDX-License-Identifier: MIT */
/*
 * ksk_file: files that no converter writes but a device, a tool or an accident can: streams that
 * start in the middle, empty key blocks, sequences that go back, streams of no CPU, no metadata.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "store/ksk.h"
#include "store/ksk_writer.h"
#include "tools/sched_random.h"
#include "tools/trace_random.h"
#include "trace/ksk_source.h"
#include "wire/sched_encode.h"

#define ROOM 8192U

struct maker {
	char path[64];
	struct ksk_writer *writer;
	struct sched_random events;
	struct sched_encoder encoder;
	uint8_t buffer[BLOCK_HEADER_MAX + ROOM];
};

static struct maker maker;
static uint8_t bytes[1U << 20];
static size_t bytes_len;

static void begin(void)
{
	struct error e = ERROR_INIT;

	snprintf(maker.path, sizeof(maker.path), "/tmp/kiseki-test-%d.ksk", (int)getpid());
	assert_int_equal(ksk_writer_open(&maker.writer, maker.path, &e), 0);
	sched_random_init(&maker.events, 1, SCHED_RANDOM_REAL);
}

/* A block of n events; everything but what encoding decides is as given. */
static void put(struct block b, uint32_t n)
{
	struct error e = ERROR_INIT;
	struct sched_event ev;
	uint32_t i, len;
	uint8_t *start;

	b.codec = CODEC_SCHED;
	b.events = n;
	if (b.flags & BLOCK_KEY) {
		sched_encoder_init(&maker.encoder, b.stream - 1);
		b.first_tick = maker.events.tick;
	}
	sched_encoder_begin(&maker.encoder, maker.buffer + BLOCK_HEADER_MAX, ROOM, b.first_tick);
	for (i = 0; i < n; i++) {
		sched_random_next(&maker.events, &ev);
		assert_int_equal(sched_encode(&maker.encoder, &ev), WIRE_OK);
	}
	b.payload_len = sched_encoder_end(&maker.encoder);
	start = block_encode(&b, maker.buffer + BLOCK_HEADER_MAX, &len);
	assert_int_equal(ksk_writer_put(maker.writer, &b, start, len, &e), 0);
}

/* The file's bytes, without the last `less` of them. */
static struct trace_source *end(size_t less)
{
	struct error e = ERROR_INIT;
	struct trace_source *s;
	ssize_t n;
	int fd;

	if (maker.writer) {
		assert_int_equal(ksk_writer_commit(maker.writer, &e), 0);
		ksk_writer_free(maker.writer);
		maker.writer = NULL;
		fd = open(maker.path, O_RDONLY | O_CLOEXEC);
		n = read(fd, bytes, sizeof(bytes));
		assert_true(n > 0 && (size_t)n < sizeof(bytes));
		bytes_len = (size_t)n;
		close(fd);
		unlink(maker.path);
	}
	assert_int_equal(source_ksk_open_memory(&s, bytes, bytes_len - less, &e), 0);
	return s;
}

/* Reads all: events, and losses by damage; UINT64_MAX if their count is not known. */
static void expect(struct trace_source *s, uint64_t events, uint64_t damaged, bool sound)
{
	struct trace_item *items;
	uint64_t n_events = 0, lost = 0;
	size_t n = trace_items_read(s, &items), i;

	for (i = 0; i < n; i++) {
		n_events += items[i].type == ITEM_EVENT;
		if (items[i].type == ITEM_LOSS && items[i].loss.cause == LOSS_DAMAGE)
			lost = items[i].loss.count == LOSS_UNKNOWN ? LOSS_UNKNOWN
								   : lost + items[i].loss.count;
	}
	assert_int_equal(n_events, events);
	assert_int_equal(lost, damaged);
	assert_int_equal(source_ksk_file(s)->n_damage == 0, sound);
	trace_items_free(items, n);
	source_free(s);
}

/* With its index a file that was cut out of a longer stream is whole; without, nobody knows. */
static void test_starts_within(void **state)
{
	(void)state;
	begin();
	put((struct block){ .stream = 1, .sequence = 70, .flags = BLOCK_KEY, .before = 500 }, 10);
	put((struct block){ .stream = 1, .sequence = 71 }, 10);
	expect(end(0), 20, 0, true);
	expect(end(1), 20, 0, false); /* the totals are still found */
	expect(end(KSK_TRAILER_LEN + 1), 20, 500, false);
}

/* … and in the middle of a segment, whose blocks cannot be decoded. */
static void test_starts_within_segment(void **state)
{
	(void)state;
	begin();
	put((struct block){ .stream = 1, .sequence = 69 }, 7);
	put((struct block){ .stream = 1, .sequence = 70, .flags = BLOCK_KEY, .before = 500 }, 10);
	expect(end(0), 10, 7, true);
}

/* Nothing but blocks that lean on something that is not there. */
static void test_no_key(void **state)
{
	(void)state;
	begin();
	put((struct block){ .stream = 2, .sequence = 0 }, 7);
	put((struct block){ .stream = 2, .sequence = 1 }, 8);
	expect(end(0), 0, 15, true);
	expect(end(KSK_TRAILER_LEN + 1), 0, 15, false);
}

static void test_empty_key(void **state)
{
	(void)state;
	begin();
	put((struct block){ .stream = 1, .flags = BLOCK_KEY }, 0);
	put((struct block){ .stream = 1, .sequence = 1 }, 10);
	put((struct block){ .stream = 1, .sequence = 2, .flags = BLOCK_KEY, .before = 10 }, 5);
	put((struct block){ .stream = 1, .sequence = 3, .flags = BLOCK_KEY, .before = 15 }, 0);
	put((struct block){ .stream = 1, .sequence = 4 }, 6);
	expect(end(0), 21, 0, true);
}

static void test_gap(void **state)
{
	(void)state;
	begin();
	put((struct block){ .stream = 1, .flags = BLOCK_KEY }, 10);
	put((struct block){ .stream = 1, .sequence = 3 }, 10); /* two blocks are missing */
	put((struct block){ .stream = 1, .sequence = 4, .flags = BLOCK_KEY, .before = 45 }, 1);
	expect(end(0), 11, 35, true);
	/* No key block follows, no index knows the end. */
	begin();
	put((struct block){ .stream = 1, .flags = BLOCK_KEY }, 10);
	put((struct block){ .stream = 1, .sequence = 3 }, 10);
	expect(end(0), 10, 10, true);
	expect(end(KSK_TRAILER_LEN + 1), 10, LOSS_UNKNOWN, false);
}

/* What a device dropped from its spool and tells in the next header is not damage. */
static void test_told(void **state)
{
	(void)state;
	begin();
	put((struct block){ .stream = 1, .flags = BLOCK_KEY }, 10);
	put((struct block){ .stream = 1,
			    .sequence = 5,
			    .flags = BLOCK_KEY,
			    .before = 110,
			    .lost = { [LOSS_SPOOL] = 100 } },
	    10);
	expect(end(0), 20, 0, true);
}

static void test_goes_back(void **state)
{
	(void)state;
	begin();
	put((struct block){ .stream = 1, .flags = BLOCK_KEY }, 10);
	put((struct block){ .stream = 1, .sequence = 1, .flags = BLOCK_KEY, .before = 10 }, 10);
	put((struct block){ .stream = 1, .sequence = 0, .flags = BLOCK_KEY }, 10);
	put((struct block){ .stream = 1, .sequence = 2, .flags = BLOCK_KEY, .before = 20 }, 5);
	expect(end(0), 25, 0, false);
}

static void test_no_cpu(void **state)
{
	struct trace_source *s;

	(void)state;
	begin();
	put((struct block){ .stream = STREAM_CPU(TRACE_CPUS_MAX), .flags = BLOCK_KEY }, 10);
	put((struct block){ .stream = UINT32_MAX, .flags = BLOCK_KEY }, 10);
	put((struct block){ .stream = STREAM_CPU(TRACE_CPUS_MAX - 1), .flags = BLOCK_KEY }, 3);
	put((struct block){ .stream = STREAM_CPU(2), .flags = BLOCK_KEY }, 4);
	s = end(0);
	assert_int_equal(s->info.cpus, TRACE_CPUS_MAX);
	assert_int_equal(source_ksk_file(s)->n_damage, 2);
	expect(s, 7, 0, false);
}

/* A segment cannot go on in another codec. */
static void test_codec_changes(void **state)
{
	struct block b = { .codec = CODEC_BSF, .stream = 1, .flags = BLOCK_KEY, .events = 0 };
	struct error e = ERROR_INIT;
	uint8_t *start;
	uint32_t len;

	(void)state;
	begin();
	start = block_encode(&b, maker.buffer + BLOCK_HEADER_MAX, &len);
	assert_int_equal(ksk_writer_put(maker.writer, &b, start, len, &e), 0);
	put((struct block){ .stream = 1, .sequence = 1 }, 4);
	put((struct block){ .stream = 1, .sequence = 2, .flags = BLOCK_KEY, .before = 4 }, 6);
	expect(end(0), 6, 4, true);
}

/* More streams than a file can have are an error, not a table without end. */
static void test_streams_max(void **state)
{
	struct block b = { .codec = CODEC_SCHED };
	struct error e = ERROR_INIT;
	struct trace_source *s;
	uint8_t *file = malloc(KSK_HEAD_LEN + (KSK_STREAMS_MAX + 1) * 24), *start;
	size_t at = KSK_HEAD_LEN;
	uint32_t i, len;

	(void)state;
	memset(file, 0, KSK_HEAD_LEN);
	memcpy(file, KSK_MAGIC "\x01", 9);
	for (i = 0; i <= KSK_STREAMS_MAX; i++) {
		b.stream = i;
		start = block_encode(&b, maker.buffer + BLOCK_HEADER_MAX, &len);
		memcpy(file + at, start, len);
		at += len;
		if (i == KSK_STREAMS_MAX - 1) {
			assert_int_equal(source_ksk_open_memory(&s, file, at, &e), 0);
			source_free(s);
		}
	}
	assert_true(source_ksk_open_memory(&s, file, at, &e) < 0);
	free(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_starts_within), cmocka_unit_test(test_starts_within_segment),
		cmocka_unit_test(test_no_key),	      cmocka_unit_test(test_empty_key),
		cmocka_unit_test(test_gap),	      cmocka_unit_test(test_told),
		cmocka_unit_test(test_goes_back),     cmocka_unit_test(test_no_cpu),
		cmocka_unit_test(test_codec_changes), cmocka_unit_test(test_streams_max),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
