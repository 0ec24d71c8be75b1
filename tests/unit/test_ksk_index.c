/* SPDX-License-Identifier: MIT */
/*
 * ksk_index: indexes that no writer makes: segments that go back in time, rows that lead to blocks
 * which start nothing. And what a reader answers about streams and places that are not there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "store/ksk.h"
#include "store/ksk_file.h"
#include "wire/varint.h"

#define FILE_MAX (2U << 20)
#define BLOCKS 3U
#define EVENTS 10U /* of each block */
#define STREAM 1U

struct row {
	uint32_t block; /* its number */
	uint64_t tick;
};

static uint8_t bytes[FILE_MAX];
static size_t len;
static uint64_t offsets[BLOCKS];

static void put(const struct block *b, const uint8_t *payload)
{
	uint8_t room[BLOCK_HEADER_MAX + 256], *start;
	uint32_t n;

	assert_true(b->payload_len <= 256);
	memcpy(room + BLOCK_HEADER_MAX, payload, b->payload_len);
	start = block_encode(b, room + BLOCK_HEADER_MAX, &n);
	memcpy(bytes + len, start, n);
	len += n;
}

/* Three blocks of a stream, ten events and a hundred ticks each; the middle one starts no segment. */
static void put_blocks(void)
{
	struct block b = { .codec = CODEC_SCHED, .stream = STREAM, .events = EVENTS, .ticks = 99 };
	uint32_t i;

	memset(bytes, 0, KSK_HEAD_LEN);
	memcpy(bytes, KSK_MAGIC, 8);
	bytes[8] = KSK_VERSION;
	len = KSK_HEAD_LEN;
	b.payload_len = 4;
	for (i = 0; i < BLOCKS; i++) {
		b.flags = i == 1 ? 0 : BLOCK_KEY;
		b.sequence = i;
		b.first_tick = 100 * i;
		b.before = (uint64_t)EVENTS * i;
		offsets[i] = len;
		put(&b, (const uint8_t *)"some");
	}
}

static void put_index(const struct row *rows, size_t n)
{
	struct block b = { .codec = CODEC_INDEX, .stream = INDEX_SEGMENTS };
	uint64_t at = len, offset = 0, tick = 0;
	uint8_t room[256] = { 0 }, *p = room;
	size_t i;

	for (i = 0; i < n; i++) {
		p = varint_put(p, offsets[rows[i].block] - offset);
		p = varint_put(p, STREAM);
		p = varint_put_signed(p, (int64_t)(rows[i].tick - tick));
		offset = offsets[rows[i].block];
		tick = rows[i].tick;
	}
	b.payload_len = (uint32_t)(p - room);
	put(&b, room);
	p = varint_put(room, STREAM);
	p = varint_put(p, 0);
	p = varint_put(p, (uint64_t)EVENTS * BLOCKS);
	p = varint_put(p, BLOCKS);
	b = (struct block){ .codec = CODEC_INDEX, .stream = INDEX_TOTALS, .sequence = 1 };
	b.payload_len = (uint32_t)(p - room);
	put(&b, room);
	put_le64(bytes + len, at);
	memcpy(bytes + len + 8, KSK_TRAILER_MAGIC, 8);
	len += KSK_TRAILER_LEN;
}

static struct ksk_file *open_file(void)
{
	struct error e = ERROR_INIT;
	struct ksk_file *f;

	if (ksk_file_open_memory(&f, bytes, len, &e) < 0)
		fail_msg("%s", e.text);
	return f;
}

static uint64_t seek(struct ksk_file *f, uint32_t stream, uint64_t tick)
{
	return f->reader.ops->seek(&f->reader, stream, tick);
}

static uint64_t start(struct ksk_file *f, uint32_t stream)
{
	struct block_start s;

	f->reader.ops->start(&f->reader, stream, &s);
	return s.place;
}

static uint32_t count(struct ksk_file *f)
{
	uint64_t place = 0, at;
	struct block b;
	uint32_t n = 0;

	while (ksk_file_next(f, STREAM, &place, &b, &at) == 1)
		assert_true(at == offsets[n++]);
	return n;
}

static void test_sound(void **state)
{
	static const struct row rows[] = { { 0, 0 }, { 2, 200 } };
	struct ksk_file *f;

	(void)state;
	put_blocks();
	put_index(rows, 2);
	f = open_file();
	assert_true(f->indexed);
	assert_true(start(f, STREAM) == offsets[0]);
	assert_true(seek(f, STREAM, 0) == 0);
	assert_true(seek(f, STREAM, 150) == 0);
	assert_true(seek(f, STREAM, 201) == offsets[2]);
	assert_int_equal(count(f), BLOCKS);
	assert_int_equal(f->n_damage, 0);
	/* A stream that is not there, below and above the one that is. */
	assert_true(start(f, STREAM - 1) == 0 && start(f, STREAM + 1) == 0);
	assert_true(seek(f, STREAM - 1, 201) == 0 && seek(f, STREAM + 1, 201) == 0);
	ksk_file_free(f);
}

/* Rows of one stream whose time goes back: no index, the blocks are listed. */
static void test_goes_back(void **state)
{
	static const struct row rows[] = { { 0, 200 }, { 2, 100 } };
	struct ksk_file *f;

	(void)state;
	put_blocks();
	put_index(rows, 2);
	f = open_file();
	assert_false(f->indexed);
	assert_int_equal(f->n_damage, 1);
	assert_int_equal(count(f), BLOCKS);
	assert_true(seek(f, STREAM, 201) == offsets[2]);
	ksk_file_free(f);
}

/* A trailer that leads to a block of events: the blocks go on up to it. */
static void test_no_index(void **state)
{
	struct ksk_file *f;

	(void)state;
	put_blocks();
	put_le64(bytes + len, offsets[1]);
	memcpy(bytes + len + 8, KSK_TRAILER_MAGIC, 8);
	len += KSK_TRAILER_LEN;
	f = open_file();
	assert_false(f->indexed);
	assert_int_equal(f->end, len - KSK_TRAILER_LEN);
	assert_int_equal(count(f), BLOCKS);
	assert_int_equal(f->n_damage, 1);
	ksk_file_free(f);
}

/* A row that leads to a block which starts no segment leads nowhere. */
static void test_no_key(void **state)
{
	static const struct row later[] = { { 0, 0 }, { 1, 100 } }, first[] = { { 1, 100 } };
	struct ksk_file *f;

	(void)state;
	put_blocks();
	put_index(later, 2);
	f = open_file();
	assert_true(f->indexed);
	assert_true(start(f, STREAM) == offsets[0]);
	assert_true(seek(f, STREAM, 101) == 0);
	assert_int_equal(count(f), BLOCKS);
	ksk_file_free(f);
	put_blocks();
	put_index(first, 1);
	f = open_file();
	assert_true(f->indexed);
	assert_true(start(f, STREAM) == 0);
	assert_int_equal(count(f), BLOCKS);
	ksk_file_free(f);
}

static bool is_torn(struct ksk_file *f, uint64_t from, uint64_t to)
{
	return f->reader.ops->torn(&f->reader, from, to);
}

static void test_torn(void **state)
{
	struct ksk_file *f;

	(void)state;
	put_blocks();
	bytes[offsets[1] + 9] ^= 1;
	f = open_file();
	assert_int_equal(f->n_damage, 2);
	assert_true(is_torn(f, offsets[0], offsets[2]));
	assert_true(is_torn(f, offsets[1], offsets[1] + 1));
	assert_false(is_torn(f, offsets[0], offsets[1]));
	assert_false(is_torn(f, offsets[1] + 1, offsets[2]));
	ksk_file_free(f);
}

/* Bytes in which a long block seems to start everywhere: the search for a sound one gives up, and what it leaves is said. */
static void test_search(void **state)
{
	struct block b = { .codec = CODEC_SCHED, .stream = STREAM };
	static uint8_t room[BLOCK_HEADER_MAX + 3900];
	const uint8_t *payload = room + BLOCK_HEADER_MAX, *head;
	struct ksk_file *f;
	size_t junk, at;
	uint32_t n;

	(void)state;
	put_blocks();
	junk = len;
	b.payload_len = 3900;
	head = block_encode(&b, room + BLOCK_HEADER_MAX, &n);
	for (at = 0; at < 4000; at += (size_t)(payload - head))
		memcpy(bytes + junk + at, head, (size_t)(payload - head));
	len = junk + 8000;
	f = open_file();
	assert_int_equal(count(f), BLOCKS);
	assert_int_equal(f->n_damage, 2);
	assert_int_equal(f->damage[0].offset, junk);
	assert_int_equal(f->damage[0].len, 8000);
	ksk_file_free(f);
}

/* More than one piece of memory, from a pipe that is the standard input. */
static void test_pipe(void **state)
{
	struct error e = ERROR_INIT;
	int ends[2], status, input;
	struct ksk_file *f;
	pid_t child;
	size_t at;
	ssize_t n;

	(void)state;
	put_blocks();
	memset(bytes + len, 0, FILE_MAX - len);
	assert_int_equal(pipe(ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		close(ends[0]);
		for (at = 0, n = 1; n > 0 && at < FILE_MAX; at += (size_t)n)
			n = write(ends[1], bytes + at, FILE_MAX - at);
		_exit(n > 0 ? 0 : 1);
	}
	close(ends[1]);
	input = dup(0);
	assert_int_equal(dup2(ends[0], 0), 0);
	close(ends[0]);
	if (ksk_file_open(&f, "-", &e) < 0)
		fail_msg("%s", e.text);
	dup2(input, 0);
	close(input);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(f->len, FILE_MAX);
	assert_int_equal(count(f), BLOCKS);
	assert_int_equal(f->damage[0].offset, len);
	ksk_file_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sound),	 cmocka_unit_test(test_goes_back),
		cmocka_unit_test(test_no_key),	 cmocka_unit_test(test_torn),
		cmocka_unit_test(test_no_index), cmocka_unit_test(test_search),
		cmocka_unit_test(test_pipe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
