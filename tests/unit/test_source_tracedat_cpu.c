/* SPDX-License-Identifier: MIT */
/*
 * source_tracedat_cpu: compressed pages at the end of a file, of many CPUs, and damaged where a seek
 * comes by; and losses that no event lies between.
 */
#include <errno.h>

#include "convert/tracedat.h"
#include "ftrace/page.h"
#include "tracedat_build.h"

#define CHUNKS 1300U /* more than places are kept for seeking: every fourth is */

static struct build b;

/* Version 7, zlib: n CPUs, of which the last has the pages, at the end of the file. The size counts the chunks' count, too. */
static void make_last(uint32_t cpus, uint32_t pages)
{
	static struct build c, options;
	uint64_t at[3], size;
	size_t options_at;
	uint32_t i;

	build_start(&b, false, 8, "7");
	build_text(&b, "zlib");
	build_text(&b, "1.2");
	options_at = b.len;
	build_number(&b, 0, 8);
	at[0] = b.len;
	c.len = 0;
	build_header_info(&c, 8);
	build_section(&b, TRACEDAT_HEADER_INFO, &c);
	at[1] = b.len;
	c.len = 0;
	build_formats(&c);
	build_section(&b, TRACEDAT_EVENT_FORMATS, &c);
	at[2] = b.len;
	build_number(&b, TRACEDAT_BUFFER, 2);
	build_number(&b, 1, 2);
	build_number(&b, 0, 12);
	b.len = 20 * PAGE;
	size = build_chunks(&b, pages) + 4;
	c.len = options.len = 0;
	build_number(&c, at[0], 8);
	build_number(&c, at[1], 8);
	build_option(&options, TRACEDAT_HEADER_INFO, c.bytes, 8);
	build_option(&options, TRACEDAT_EVENT_FORMATS, c.bytes + 8, 8);
	c.len = 0;
	build_number(&c, at[2], 8);
	build_text(&c, "");
	build_text(&c, "boot");
	build_number(&c, PAGE, 4);
	build_number(&c, cpus, 4);
	for (i = 0; i < cpus; i++) {
		build_number(&c, i, 4);
		build_number(&c, b.chunks_at, 8);
		build_number(&c, i == cpus - 1 ? size : 0, 8);
	}
	build_option(&options, TRACEDAT_BUFFER, c.bytes, c.len);
	build_option(&options, TRACEDAT_DONE, "\0\0\0\0\0\0\0", 8);
	c.len = 0;
	build_number(&c, at[2] + 16, 8);
	memcpy(b.bytes + options_at, c.bytes, 8);
	size = b.len;
	b.len = at[2] + 16;
	build_section(&b, TRACEDAT_DONE, &options);
	assert_true(b.len < 20 * PAGE);
	b.len = size;
}

static struct trace_source *accept(void)
{
	return open_bytes((struct import_bytes){ b.bytes, b.len });
}

/* The n-th chunk's length, size and bytes. */
static uint8_t *get_chunk(uint32_t n)
{
	uint8_t *p = b.bytes + b.chunks_at + 4;
	uint32_t len;

	for (; n; n--) {
		memcpy(&len, p, 4);
		p += 8 + len;
	}
	return p;
}

static void test_last(void **state)
{
	struct trace_source *s;

	(void)state;
	make_last(1, 2);
	s = accept();
	expect_event(s, 0, 1000, 10);
	expect_event(s, 0, 1003, 12);
	expect_loss(s, 0, 33, 1003, 2000);
	expect_event(s, 0, 2000, 20);
	expect_event(s, 0, 2003, 22);
	expect_end(s, 2);
	source_free(s);
}

/* What CPUs may hold at once is shared by all of them. */
static void test_many_cpus(void **state)
{
	const uint32_t cpus = 128, size = TRACEDAT_CHUNKS_MAX / 128 + PAGE;
	struct error e = ERROR_INIT;
	struct trace_source *s;

	(void)state;
	make_last(cpus, 1);
	s = accept();
	assert_int_equal(s->info.cpus, cpus);
	expect_event(s, cpus - 1, 1000, 10);
	source_free(s);
	assert_true(size < TRACEDAT_CHUNK_MAX);
	memcpy(get_chunk(0) + 4, &size, 4);
	assert_int_equal(source_tracedat_open(&s, (struct import_bytes){ b.bytes, b.len }, &e),
			 -EBADMSG);
	assert_non_null(strstr(e.text, "not of whole pages"));
}

/* A chunk that gives fewer pages than it says; and one that is cut off. */
static void test_short(void **state)
{
	const uint32_t size = 2 * PAGE;
	struct error e = ERROR_INIT;
	struct trace_source *s;

	(void)state;
	make_last(1, 1);
	memcpy(get_chunk(0) + 4, &size, 4);
	assert_int_equal(source_tracedat_open(&s, (struct import_bytes){ b.bytes, b.len }, &e),
			 -EBADMSG);
	assert_non_null(strstr(e.text, "does not decompress"));
	make_last(1, 1);
	b.bytes[b.chunks_at] = 2;
	s = accept();
	expect_event(s, 0, 1000, 10);
	expect_event(s, 0, 1003, 12);
	assert_int_equal(s->ops->next(s, &(struct trace_item){ 0 }, &e), -EBADMSG);
	assert_non_null(strstr(e.text, "no compressed chunk"));
	source_free(s);
}

/* A seek goes from a place that is kept over the chunks behind it. What is wrong with one is said, once to who asks; the rest of the file can still be read. */
static void test_seek_damaged(void **state)
{
	struct error e = ERROR_INIT;
	struct trace_source *s;
	struct trace_item it;

	(void)state;
	make_last(1, CHUNKS);
	memset(get_chunk(6) + 8, 0xff, 8);
	s = accept();
	assert_int_equal(s->ops->seek(s, 3003, &e), 0);
	expect_event(s, 0, 3003, 32);
	assert_int_equal(s->ops->seek(s, 9003, &e), 0);
	expect_event(s, 0, 9003, 92);
	assert_int_equal(s->ops->seek(s, 7003, NULL), -EBADMSG);
	assert_int_equal(s->ops->next(s, &it, NULL), -EBADMSG);
	assert_int_equal(s->ops->next(s, &it, &e), -EBADMSG);
	assert_non_null(strstr(e.text, "does not decompress"));
	assert_int_equal(s->ops->rewind(s, NULL), 0);
	expect_event(s, 0, 1000, 10);
	source_free(s);
}

static void build_empty_page(uint64_t stamp, uint64_t flags, uint64_t missed)
{
	size_t at = b.len;

	memset(b.bytes + at, 0, PAGE);
	build_number(&b, stamp, 8);
	build_number(&b, flags, 8);
	build_number(&b, missed, 8);
	b.len = at + PAGE;
}

/* Losses of two pages without events, then a page with some: they are one. */
static void check_missed(uint64_t first_flags, uint64_t first, uint64_t second, uint64_t sum)
{
	struct trace_source *s;

	build_start_v6(&b, false, 8, 1);
	build_text(&b, "flyrecord");
	build_number(&b, PAGE, 8);
	build_number(&b, 3 * PAGE, 8);
	build_align(&b);
	build_empty_page(1000, first_flags, first);
	build_empty_page(2000, PAGE_MISSED | PAGE_MISSED_STORED, second);
	build_page(&b, 8, 3000, 0, 30);
	s = accept();
	expect_loss(s, 0, sum, 0, 3000);
	expect_event(s, 0, 3000, 30);
	expect_event(s, 0, 3003, 32);
	expect_end(s, 1);
	source_free(s);
}

static void test_missed(void **state)
{
	const uint64_t counted = PAGE_MISSED | PAGE_MISSED_STORED;

	(void)state;
	check_missed(counted, 30, 12, 42);
	check_missed(PAGE_MISSED, 0, 12, LOSS_UNKNOWN);
	check_missed(counted, 30, LOSS_UNKNOWN, LOSS_UNKNOWN);
	check_missed(counted, 30, LOSS_UNKNOWN - 31, LOSS_UNKNOWN - 1);
	check_missed(counted, 30, LOSS_UNKNOWN - 30, LOSS_UNKNOWN);
}

/* Four CPUs are given in the order of time, a loss that nothing follows at the end, and the end again. */
static void test_four(void **state)
{
	static const uint64_t stamps[] = { 3000, 2000, 1000, 1001 };
	struct trace_source *s;
	uint32_t i;

	(void)state;
	build_start_v6(&b, false, 8, 4);
	build_text(&b, "flyrecord");
	for (i = 0; i < 4; i++) {
		build_number(&b, (1 + i) * PAGE, 8);
		build_number(&b, i == 3 ? 2 * PAGE : PAGE, 8);
	}
	build_align(&b);
	for (i = 0; i < 4; i++)
		build_page(&b, 8, stamps[i], 0, 10 * i);
	build_empty_page(5000, PAGE_MISSED | PAGE_MISSED_STORED, 7);
	s = accept();
	expect_event(s, 2, 1000, 20);
	expect_event(s, 3, 1001, 30);
	expect_event(s, 2, 1003, 22);
	expect_event(s, 3, 1004, 32);
	expect_event(s, 1, 2000, 10);
	expect_event(s, 1, 2003, 12);
	expect_event(s, 0, 3000, 0);
	expect_event(s, 0, 3003, 2);
	expect_loss(s, 3, 7, 1004, 1004);
	expect_end(s, 4);
	expect_end(s, 4);
	source_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_last),   cmocka_unit_test(test_many_cpus),
		cmocka_unit_test(test_short),  cmocka_unit_test(test_seek_damaged),
		cmocka_unit_test(test_missed), cmocka_unit_test(test_four),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
