/* SPDX-License-Identifier: MIT */
/*
 * source_tracedat: recordings of a real kernel in both versions, and files built here for what they
 * do not have: big-endian 32-bit machines, zlib, several instances, losses, damage.
 *
 * small-v6.dat is the first pages of a recording of an arm64 machine with Linux 6.18; small-v7.dat is
 * `trace-cmd convert --file-version 7 --compression zstd` of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "convert/import.h"
#include "tracedat_build.h"

#define DATA SOURCE_ROOT "/tests/data/"
#define EVENTS 457 /* in the small recording, as trace-cmd report counts them */

static struct import_bytes read_file(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY);
	struct import_bytes b;
	struct stat st;
	uint8_t *data;

	assert_int_equal(fstat(fd, &st), 0);
	data = malloc((size_t)st.st_size);
	assert_non_null(data);
	assert_int_equal(read(fd, data, (size_t)st.st_size), st.st_size);
	b.data = data;
	b.len = (size_t)st.st_size;
	return b;
}

static void check_recording(const char *path, const char *origin)
{
	uint32_t kinds[SCHED_KINDS] = { 0 }, n = 0;
	struct import_bytes in = read_file(path);
	struct trace_source *s = open_bytes(in);
	uint64_t last = 0, done, total;
	struct trace_item it;

	assert_string_equal(s->info.origin, origin);
	assert_string_equal(s->info.device, "board");
	assert_string_equal(s->info.kernel, "6.18.44");
	assert_string_equal(s->info.machine, "aarch64");
	assert_string_equal(s->info.clock.name, "local");
	assert_int_equal(s->info.cpus, 2);
	assert_int_equal(s->info.n_tasks, 60);
	assert_true(s->info.dialect.features & DIALECT_GROUP_DEAD);
	while (s->ops->next(s, &it, NULL) > 0) {
		assert_int_equal(it.type, ITEM_EVENT);
		assert_true(it.event.tick >= last);
		last = it.event.tick;
		if (n++ == 0) {
			assert_int_equal(it.event.kind, SCHED_FORK);
			assert_true(it.event.tick == 1503886172050);
			assert_string_equal(it.event.other.comm, "record");
			assert_int_equal(it.event.other.pid, 15600);
		}
		kinds[it.event.kind]++;
	}
	assert_int_equal(n, EVENTS);
	assert_int_equal(kinds[SCHED_SWITCH], 204);
	assert_int_equal(kinds[SCHED_WAKING], 101);
	assert_int_equal(kinds[SCHED_EXEC], 26);
	assert_int_equal(kinds[SCHED_RENAME], 26);
	assert_true(last == 1503993368089);
	s->ops->progress(s, &done, &total);
	assert_true(done == total && total > 0);
	source_free(s);
	free((void *)in.data);
}

static void test_recordings(void **state)
{
	(void)state;
	check_recording(DATA "small-v6.dat", "trace.dat v6");
	check_recording(DATA "small-v7.dat", "trace.dat v7");
}

/* Seeking to any event, or between two, gives what reading up to there gives. */
static void check_seek(const char *path)
{
	static uint64_t ticks[EVENTS];
	struct import_bytes in = read_file(path);
	struct trace_source *s = open_bytes(in);
	struct trace_item it;
	uint32_t i, n, first;
	int off;

	for (i = 0; i < EVENTS; i++) {
		assert_int_equal(s->ops->next(s, &it, NULL), 1);
		ticks[i] = it.event.tick;
	}
	for (i = 0; i < EVENTS; i += 7)
		for (off = -1; off <= 1; off++) {
			for (first = 0; first < EVENTS && ticks[first] < ticks[i] + (uint64_t)off;)
				first++;
			assert_int_equal(s->ops->seek(s, ticks[i] + (uint64_t)off, NULL), 0);
			for (n = first; s->ops->next(s, &it, NULL) > 0; n++)
				assert_true(it.event.tick == ticks[n]);
			assert_int_equal(n, EVENTS);
		}
	assert_int_equal(s->ops->seek(s, UINT64_MAX, NULL), 0);
	assert_int_equal(s->ops->next(s, &it, NULL), 0);
	assert_int_equal(s->ops->seek(s, 0, NULL), 0);
	assert_int_equal(s->ops->next(s, &it, NULL), 1);
	assert_true(it.event.tick == ticks[0]);
	source_free(s);
	free((void *)in.data);
}

static void test_seek(void **state)
{
	(void)state;
	check_seek(DATA "small-v6.dat");
	check_seek(DATA "small-v7.dat");
}

/* Two CPUs with the same stamps, losses with and without a count, an instance behind them. */
static void check_v6(bool big, unsigned int long_size)
{
	static struct build b, o;
	struct trace_source *s;
	int again;

	build_start_v6(&b, big, long_size, 2);
	build_text(&b, "options  ");
	o.len = 0;
	o.big = big;
	build_number(&o, 5 * PAGE, 8);
	build_text(&o, "instance");
	build_option(&b, 3, o.bytes, o.len);
	build_option(&b, 4, "", 0);
	build_option(&b, 5, "Linux  5.4.1-rt #1 SMP x ppc\0", 29);
	build_option(&b, 7, "-100", 4);
	build_option(&b, 99, "unknown", 7);
	build_number(&b, 0, 2);
	build_text(&b, "flyrecord");
	build_number(&b, PAGE, 8);
	build_number(&b, 2 * PAGE, 8);
	build_number(&b, 3 * PAGE, 8);
	build_number(&b, PAGE, 8);
	build_number(&b, 12, 8);
	build_raw(&b, "local [mono]", 12);
	build_align(&b);
	build_page(&b, long_size, 1000, 0, 10);
	build_page(&b, long_size, 2000, 0xc0000000, 20);
	build_page(&b, long_size, 1000, 0x80000000, 30);
	b.len = 5 * PAGE;
	build_text(&b, "flyrecord");
	build_number(&b, 6 * PAGE, 8);
	build_number(&b, PAGE, 8);
	build_number(&b, 0, 8);
	build_number(&b, 0, 8);
	build_align(&b);
	build_page(&b, long_size, 1, 0, 1);
	s = open_bytes((struct import_bytes){ b.bytes, b.len });
	assert_int_equal(s->info.dialect.long_size, long_size);
	assert_int_equal(!(s->info.dialect.features & DIALECT_BIG_ENDIAN), !big);
	assert_string_equal(s->info.clock.name, "mono");
	assert_string_equal(s->info.device, "");
	assert_string_equal(s->info.kernel, "5.4.1-rt");
	assert_string_equal(s->info.machine, "ppc");
	assert_int_equal(s->info.n_tasks, 4);
	assert_string_equal(info_get_task(&s->info, 7)->comm, "seven");
	assert_string_equal(info_get_task(&s->info, 2)->comm, "b");
	for (again = 0; again < 2; again++) {
		expect_event(s, 0, 900, 10);
		expect_loss(s, 1, LOSS_UNKNOWN, 0, 900);
		expect_event(s, 1, 900, 30);
		expect_event(s, 0, 903, 12);
		expect_event(s, 1, 903, 32);
		expect_loss(s, 0, 33, 903, 1900);
		expect_event(s, 0, 1900, 20);
		expect_event(s, 0, 1903, 22);
		expect_end(s, 3 + 3);
		assert_int_equal(s->ops->rewind(s, NULL), 0);
	}
	assert_int_equal(s->ops->seek(s, 903, NULL), 0);
	expect_event(s, 0, 903, 12);
	source_free(s);
}

static void test_v6(void **state)
{
	(void)state;
	check_v6(false, 8);
	check_v6(false, 4);
	check_v6(true, 8);
	check_v6(true, 4);
}

/* Version 7, zlib: the options are in two sections, the pages are those of CPU 3. */
static void make_v7(struct build *b, bool big, uint32_t pages, uint64_t next_options)
{
	static struct build c;
	uint64_t at[5], size;
	size_t options_at;

	build_start(b, big, 8, "7");
	build_text(b, "zlib");
	build_text(b, "1.2");
	options_at = b->len;
	build_number(b, 0, 8);
	at[0] = b->len;
	c.big = big;
	c.len = 0;
	build_header_info(&c, 8);
	build_section(b, 16, &c);
	at[1] = b->len;
	c.len = 0;
	build_formats(&c);
	build_section(b, 18, &c);
	at[2] = b->len;
	build_number(b, 3, 2); /* the buffer's section: only its flags matter */
	build_number(b, 1, 2);
	build_number(b, 0, 12);
	at[3] = b->len;
	size = build_chunks(b, pages);
	at[4] = b->len;
	c.len = 0;
	build_number(&c, at[2], 8);
	build_text(&c, "");
	build_text(&c, "boot");
	build_number(&c, PAGE, 4);
	build_number(&c, 1, 4);
	build_number(&c, 3, 4);
	build_number(&c, at[3], 8);
	build_number(&c, size, 8);
	build_number(b, 0, 2); /* the second section of options, not compressed */
	build_number(b, 0, 2);
	build_number(b, 0, 12);
	build_option(b, 3, c.bytes, c.len);
	c.len = 0;
	build_number(&c, next_options, 8);
	build_option(b, 0, c.bytes, c.len);
	c.len = 0;
	build_number(&c, at[0], 8);
	build_number(&c, at[1], 8);
	build_number(&c, at[4], 8);
	at[0] = b->len;
	{
		static struct build options;

		options.big = big;
		options.len = 0;
		build_option(&options, 16, c.bytes, 8);
		build_option(&options, 18, c.bytes + 8, 8);
		build_option(&options, 0, c.bytes + 16, 8);
		build_section(b, 0, &options);
	}
	c.len = 0;
	build_number(&c, at[0], 8);
	memcpy(b->bytes + options_at, c.bytes, 8);
}

static void test_v7(void **state)
{
	static struct build b;
	struct error e = ERROR_INIT;
	struct trace_source *s;
	int big;

	(void)state;
	for (big = 0; big < 2; big++) {
		make_v7(&b, big, 3, 0);
		s = open_bytes((struct import_bytes){ b.bytes, b.len });
		assert_int_equal(s->info.cpus, 4);
		assert_string_equal(s->info.clock.name, "boot");
		assert_int_equal(s->ops->seek(s, 2003, NULL), 0);
		expect_event(s, 3, 2003, 22);
		assert_int_equal(s->ops->seek(s, 2000, NULL), 0);
		expect_loss(s, 3, 33, 1003, 2000);
		expect_event(s, 3, 2000, 20);
		assert_int_equal(s->ops->rewind(s, NULL), 0);
		expect_event(s, 3, 1000, 10);
		expect_event(s, 3, 1003, 12);
		expect_loss(s, 3, 33, 1003, 2000);
		expect_event(s, 3, 2000, 20);
		expect_event(s, 3, 2003, 22);
		expect_event(s, 3, 3000, 30);
		expect_event(s, 3, 3003, 32);
		expect_end(s, 3);
		source_free(s);
	}
	make_v7(&b, false, 3, 30); /* options that lead nowhere */
	assert_true(source_tracedat_open(&s, (struct import_bytes){ b.bytes, b.len }, &e) < 0);
}

/* More chunks than places are kept for seeking. */
static void test_many_chunks(void **state)
{
	static struct build b;
	struct trace_source *s;
	uint32_t i;

	(void)state;
	make_v7(&b, false, 1300, 0);
	s = open_bytes((struct import_bytes){ b.bytes, b.len });
	for (i = 3; i < 1300; i += 3) {
		assert_int_equal(s->ops->seek(s, 1000 * i, NULL), 0);
		expect_event(s, 3, 1000 * i, (int32_t)(10 * i));
		assert_int_equal(s->ops->seek(s, 1000 * i + 1, NULL), 0);
		expect_event(s, 3, 1000 * i + 3, (int32_t)(10 * i + 2));
		expect_event(s, 3, 1000 * i + 1000, (int32_t)(10 * i + 10));
	}
	source_free(s);
}

static void check_refused(const void *data, size_t len, int code, const char *why)
{
	struct import_bytes in = { data, len };
	struct error e = ERROR_INIT;
	struct trace_source *s;

	assert_int_equal(source_tracedat_open(&s, in, &e), code);
	if (!strstr(e.text, why))
		fail_msg("\"%s\" says nothing of \"%s\"", e.text, why);
}

static void test_refused(void **state)
{
	static struct build b;

	(void)state;
	check_refused("", 0, -EBADMSG, "magic");
	check_refused("\x17\x08\x44tracing6", 12, -EBADMSG, "magic");
	check_refused("\x17\x08\x44tracing8\0\0\x08", 14, -EOPNOTSUPP, "version 8");
	check_refused("\x17\x08\x44tracing6\0\0\x05", 14, -EBADMSG, "longs of 5");
	build_start_v6(&b, false, 8, 1);
	build_text(&b, "latency  ");
	check_refused(b.bytes, b.len, -EOPNOTSUPP, "latency");
	build_start_v6(&b, false, 8, 4097);
	check_refused(b.bytes, b.len, -EBADMSG, "4097 CPUs");
	build_start_v6(&b, false, 8, 1);
	build_text(&b, "whatever ");
	check_refused(b.bytes, b.len, -EBADMSG, "flyrecord");
	build_start_v6(&b, false, 8, 1);
	build_text(&b, "flyrecord");
	build_number(&b, 8 * PAGE, 8);
	build_number(&b, UINT64_MAX, 8);
	check_refused(b.bytes, b.len, -EBADMSG, "CPU 0");
	build_start(&b, false, 8, "7");
	build_text(&b, "lzma");
	build_text(&b, "1");
	build_number(&b, 0, 8);
	check_refused(b.bytes, b.len, -EOPNOTSUPP, "lzma");
}

/* An error stays until the source is rewound, and names the CPU and the offset. */
static void test_damage(void **state)
{
	struct import_bytes in = read_file(DATA "small-v6.dat");
	struct trace_source *s = open_bytes(in);
	struct error e = ERROR_INIT, again = ERROR_INIT;
	uint8_t *second = (uint8_t *)in.data + in.len - 5 * PAGE;
	struct trace_item it;
	int r, n = 0;

	(void)state;
	memset(second + 8, 0xff, 4); /* the commit word of CPU 0's second page */
	while ((r = s->ops->next(s, &it, &e)) > 0)
		n++;
	assert_int_equal(r, -EBADMSG);
	assert_true(n > 10 && n < EVENTS);
	assert_non_null(strstr(e.text, "CPU 0"));
	assert_non_null(strstr(e.text, "12288"));
	assert_int_equal(s->ops->next(s, &it, &again), -EBADMSG);
	assert_string_equal(e.text, again.text);
	memset(second + 8, 0, 4);
	assert_int_equal(s->ops->rewind(s, NULL), 0);
	assert_int_equal(s->ops->next(s, &it, NULL), 1);
	source_free(s);
	free((void *)in.data);
}

static void check_cuts(const char *path)
{
	struct import_bytes in = read_file(path);
	struct trace_source *s;
	struct trace_item it;
	struct error e;
	uint8_t *copy;
	size_t n;

	for (n = 0; n < in.len; n += n < 9000 ? 13 : 1001) {
		copy = malloc(n ? n : 1);
		assert_non_null(copy);
		memcpy(copy, in.data, n);
		e.text[0] = 0;
		if (!source_tracedat_open(&s, (struct import_bytes){ copy, n }, &e)) {
			while (s->ops->next(s, &it, &e) > 0)
				;
			source_free(s);
		} else {
			assert_true(strlen(e.text) > 10);
		}
		free(copy);
	}
	free((void *)in.data);
}

static void test_cuts(void **state)
{
	(void)state;
	check_cuts(DATA "small-v6.dat");
	check_cuts(DATA "small-v7.dat");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recordings),  cmocka_unit_test(test_seek),
		cmocka_unit_test(test_v6),	    cmocka_unit_test(test_v7),
		cmocka_unit_test(test_many_chunks), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_damage),	    cmocka_unit_test(test_cuts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
