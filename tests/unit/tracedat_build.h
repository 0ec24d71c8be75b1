/* SPDX-License-Identifier: MIT */
/*
 * tracedat_build: a trace.dat under construction, of any byte order and size of longs, for what recordings
 * of real kernels do not have.
 */
#ifndef KISEKI_TESTS_TRACEDAT_BUILD_H
#define KISEKI_TESTS_TRACEDAT_BUILD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

#include "convert/import.h"

#define PAGE 4096U

static inline struct trace_source *open_bytes(struct import_bytes in)
{
	struct error e = ERROR_INIT;
	struct trace_source *s = NULL;

	if (source_tracedat_open(&s, in, &e) < 0)
		fail_msg("%s", e.text);
	return s;
}

struct build {
	uint8_t bytes[96 * PAGE];
	size_t len;
	bool big;
	size_t chunks_at; /* where build_chunks() began */
};

static inline void build_number(struct build *b, uint64_t v, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++) {
		size_t place = b->big ? size - 1 - i : i;

		b->bytes[b->len++] = place < sizeof(v) ? (uint8_t)(v >> 8 * place) : 0;
	}
}

static inline void build_raw(struct build *b, const void *data, size_t len)
{
	memcpy(b->bytes + b->len, data, len);
	b->len += len;
}

static inline void build_text(struct build *b, const char *s) /* with the NUL */
{
	build_raw(b, s, strlen(s) + 1);
}

static const char waking[] = "name: sched_waking\nID: 41\nformat:\n"
			     "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
			     "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
			     "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
			     "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
			     "\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n"
			     "\tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;\n"
			     "\nprint fmt: \"comm=%s\", REC->comm\n";

static inline void build_start(struct build *b, bool big, unsigned int long_size,
			       const char *version)
{
	memset(b, 0, sizeof(*b));
	b->big = big;
	build_raw(b, "\x17\x08\x44tracing", 10);
	build_text(b, version);
	build_number(b, big, 1);
	build_number(b, long_size, 1);
	build_number(b, PAGE, 4);
}

static inline void build_header_info(struct build *b, unsigned int long_size)
{
	char page[512];
	int n = snprintf(page, sizeof(page),
			 "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
			 "\tfield: local_t commit;\toffset:8;\tsize:%u;\tsigned:1;\n"
			 "\tfield: char data;\toffset:%u;\tsize:4084;\tsigned:1;\n",
			 long_size, 8 + long_size);

	build_text(b, "header_page");
	build_number(b, (uint64_t)n, 8);
	build_raw(b, page, (size_t)n);
	build_text(b, "header_event");
	build_number(b, 1, 8);
	build_raw(b, "x", 1);
}

static inline void build_formats(struct build *b)
{
	build_number(b, 2, 4);
	build_text(b, "other");
	build_number(b, 0, 4);
	build_text(b, "sched");
	build_number(b, 2, 4);
	build_number(b, 3, 8); /* an event whose format is nonsense, and none of ours */
	build_raw(b, "huh", 3);
	build_number(b, sizeof(waking) - 1, 8);
	build_raw(b, waking, sizeof(waking) - 1);
}

static inline void build_option(struct build *b, unsigned int id, const void *data, size_t len)
{
	build_number(b, id, 2);
	build_number(b, len, 4);
	build_raw(b, data, len);
}

/* A page with one wakeup per pid given, and one record of another kind between them. */
static inline void build_page(struct build *b, unsigned int long_size, uint64_t stamp,
			      uint32_t flags, uint32_t pid)
{
	size_t at = b->len;
	uint32_t i, type;

	memset(b->bytes + at, 0, PAGE);
	build_number(b, stamp, 8);
	build_number(b, (2 * 40 + 8) | flags, long_size);
	for (i = 0; i < 3; i++) {
		type = i == 1 ? 1 : 9;
		build_number(b, b->big ? type << 27 | i : i << 5 | type, 4);
		build_number(b, i == 1 ? 999 : 41, 2);
		build_number(b, 0, 2);
		if (i == 1)
			continue;
		build_number(b, 5, 4);
		build_raw(b, "woken\0garbage-at", 16);
		build_number(b, pid + i, 4);
		build_number(b, 120, 4);
		build_number(b, 1, 4);
	}
	build_number(b, 33, long_size); /* the count of lost events, if flags say so */
	b->len = at + PAGE;
}

static inline void build_align(struct build *b)
{
	b->len = (b->len + PAGE - 1) / PAGE * PAGE;
}

/* Behind the tracers' formats, up to the options of a version 6 file. */
static inline void build_go_on_v6(struct build *b, uint32_t cpus)
{
	static const char cmdlines[] = "9 nine lives\n-3 odd\n7 seven\nno number\n7\n9 again\n2 b";

	build_formats(b);
	build_number(b, 3, 4);
	build_raw(b, "sym", 3);
	build_number(b, 0, 4);
	build_number(b, sizeof(cmdlines) - 1, 8);
	build_raw(b, cmdlines, sizeof(cmdlines) - 1);
	build_number(b, cpus, 4);
}

/* Up to the options of a version 6 file. */
static inline void build_start_v6(struct build *b, bool big, unsigned int long_size, uint32_t cpus)
{
	build_start(b, big, long_size, "6");
	build_header_info(b, long_size);
	build_number(b, 1, 4);
	build_number(b, 5, 8);
	build_raw(b, "dummy", 5);
	build_go_on_v6(b, cpus);
}

/* A section of version 7, compressed by zlib. */
static inline void build_section(struct build *b, unsigned int id, const struct build *content)
{
	uLongf packed = sizeof(b->bytes) - b->len - 24;

	build_number(b, id, 2);
	build_number(b, 1, 2);
	build_number(b, 0, 4);
	build_number(b, 0, 8);
	assert_int_equal(compress(b->bytes + b->len + 8, &packed, content->bytes,
				  (uLong)content->len),
			 Z_OK);
	build_number(b, packed, 4);
	build_number(b, content->len, 4);
	b->len += packed;
}

/* Pages in chunks of one, the second after a loss; returns the size as trace-cmd would write it,
 * without the count. */
static inline uint64_t build_chunks(struct build *b, uint32_t n)
{
	static struct build one;
	size_t start_at = b->len;
	uLongf packed;
	uint32_t i;

	one.big = b->big;
	b->chunks_at = b->len;
	build_number(b, n, 4);
	for (i = 1; i <= n; i++) {
		one.len = 0;
		build_page(&one, 8, 1000ULL * i, i == 2 ? 0xc0000000 : 0, 10 * i);
		packed = sizeof(b->bytes) - b->len - 8;
		assert_int_equal(compress(b->bytes + b->len + 8, &packed, one.bytes, PAGE), Z_OK);
		build_number(b, packed, 4);
		build_number(b, PAGE, 4);
		b->len += packed;
	}
	return b->len - start_at - 4;
}

static inline void expect_loss(struct trace_source *s, uint32_t cpu, uint64_t count, uint64_t from,
			       uint64_t to)
{
	struct trace_item it;

	assert_int_equal(s->ops->next(s, &it, NULL), 1);
	assert_int_equal(it.type, ITEM_LOSS);
	assert_int_equal(it.cpu, cpu);
	assert_int_equal(it.loss.cause, LOSS_RING);
	assert_true(it.loss.count == count && it.loss.from_tick == from && it.loss.to_tick == to);
}

static inline void expect_event(struct trace_source *s, uint32_t cpu, uint64_t tick, int32_t pid)
{
	struct trace_item it;

	assert_int_equal(s->ops->next(s, &it, NULL), 1);
	assert_int_equal(it.type, ITEM_EVENT);
	assert_int_equal(it.cpu, cpu);
	assert_true(it.event.tick == tick);
	assert_int_equal(it.event.task.pid, pid);
	assert_string_equal(it.event.task.comm, "woken");
	assert_int_equal(it.event.pid, 5);
}

static inline void expect_end(struct trace_source *s, uint64_t skipped)
{
	struct trace_item it;

	assert_int_equal(s->ops->next(s, &it, NULL), 0);
	assert_true(s->info.skipped == skipped);
}

#endif
