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
#include <zlib.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "convert/import.h"

#define DATA SOURCE_ROOT "/tests/data/"
#define EVENTS 457 /* in the small recording, as trace-cmd report counts them */
#define PAGE 4096U

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

static struct trace_source *open_bytes(struct import_bytes in)
{
	struct error e = ERROR_INIT;
	struct trace_source *s = NULL;

	if (source_tracedat_open(&s, in, &e) < 0)
		fail_msg("%s", e.text);
	return s;
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

/* A file under construction. */
struct build {
	uint8_t bytes[96 * PAGE];
	size_t len;
	bool big;
};

static void number(struct build *b, uint64_t v, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++) {
		size_t place = b->big ? size - 1 - i : i;

		b->bytes[b->len++] = place < sizeof(v) ? (uint8_t)(v >> 8 * place) : 0;
	}
}

static void raw(struct build *b, const void *data, size_t len)
{
	memcpy(b->bytes + b->len, data, len);
	b->len += len;
}

static void text(struct build *b, const char *s) /* with the NUL */
{
	raw(b, s, strlen(s) + 1);
}

static const char waking[] = "name: sched_waking\nID: 41\nformat:\n"
			     "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
			     "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
			     "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
			     "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
			     "\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n"
			     "\tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;\n"
			     "\nprint fmt: \"comm=%s\", REC->comm\n";

static void start(struct build *b, bool big, unsigned int long_size, const char *version)
{
	memset(b, 0, sizeof(*b));
	b->big = big;
	raw(b, "\x17\x08\x44tracing", 10);
	text(b, version);
	number(b, big, 1);
	number(b, long_size, 1);
	number(b, PAGE, 4);
}

static void header_info(struct build *b, unsigned int long_size)
{
	char page[512];
	int n = snprintf(page, sizeof(page),
			 "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
			 "\tfield: local_t commit;\toffset:8;\tsize:%u;\tsigned:1;\n"
			 "\tfield: char data;\toffset:%u;\tsize:4084;\tsigned:1;\n",
			 long_size, 8 + long_size);

	text(b, "header_page");
	number(b, (uint64_t)n, 8);
	raw(b, page, (size_t)n);
	text(b, "header_event");
	number(b, 1, 8);
	raw(b, "x", 1);
}

static void formats(struct build *b)
{
	number(b, 2, 4);
	text(b, "other");
	number(b, 0, 4);
	text(b, "sched");
	number(b, 2, 4);
	number(b, 3, 8); /* an event whose format is nonsense, and none of ours */
	raw(b, "huh", 3);
	number(b, sizeof(waking) - 1, 8);
	raw(b, waking, sizeof(waking) - 1);
}

static void option(struct build *b, unsigned int id, const void *data, size_t len)
{
	number(b, id, 2);
	number(b, len, 4);
	raw(b, data, len);
}

/* A page with one wakeup per pid given, and one record of another kind between them. */
static void page(struct build *b, unsigned int long_size, uint64_t stamp, uint32_t flags,
		 uint32_t pid)
{
	size_t at = b->len;
	uint32_t i, type;

	memset(b->bytes + at, 0, PAGE);
	number(b, stamp, 8);
	number(b, (2 * 40 + 8) | flags, long_size);
	for (i = 0; i < 3; i++) {
		type = i == 1 ? 1 : 9;
		number(b, b->big ? type << 27 | i : i << 5 | type, 4);
		number(b, i == 1 ? 999 : 41, 2);
		number(b, 0, 2);
		if (i == 1)
			continue;
		number(b, 5, 4);
		raw(b, "woken\0garbage-at", 16);
		number(b, pid + i, 4);
		number(b, 120, 4);
		number(b, 1, 4);
	}
	number(b, 33, long_size); /* the count of lost events, if flags say so */
	b->len = at + PAGE;
}

static void align(struct build *b)
{
	b->len = (b->len + PAGE - 1) / PAGE * PAGE;
}

/* Up to the options of a version 6 file. */
static void start_v6(struct build *b, bool big, unsigned int long_size, uint32_t cpus)
{
	static const char cmdlines[] = "9 nine lives\n-3 odd\n7 seven\nno number\n7\n9 again\n2 b";

	start(b, big, long_size, "6");
	header_info(b, long_size);
	number(b, 1, 4);
	number(b, 5, 8);
	raw(b, "dummy", 5);
	formats(b);
	number(b, 3, 4);
	raw(b, "sym", 3);
	number(b, 0, 4);
	number(b, sizeof(cmdlines) - 1, 8);
	raw(b, cmdlines, sizeof(cmdlines) - 1);
	number(b, cpus, 4);
}

static void expect_loss(struct trace_source *s, uint32_t cpu, uint64_t count, uint64_t from,
			uint64_t to)
{
	struct trace_item it;

	assert_int_equal(s->ops->next(s, &it, NULL), 1);
	assert_int_equal(it.type, ITEM_LOSS);
	assert_int_equal(it.cpu, cpu);
	assert_int_equal(it.loss.cause, LOSS_RING);
	assert_true(it.loss.count == count && it.loss.from_tick == from && it.loss.to_tick == to);
}

static void expect_event(struct trace_source *s, uint32_t cpu, uint64_t tick, int32_t pid)
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

static void expect_end(struct trace_source *s, uint64_t skipped)
{
	struct trace_item it;

	assert_int_equal(s->ops->next(s, &it, NULL), 0);
	assert_true(s->info.skipped == skipped);
}

/* Two CPUs with the same stamps, losses with and without a count, an instance behind them. */
static void check_v6(bool big, unsigned int long_size)
{
	static struct build b, o;
	struct trace_source *s;
	int again;

	start_v6(&b, big, long_size, 2);
	text(&b, "options  ");
	o.len = 0;
	o.big = big;
	number(&o, 5 * PAGE, 8);
	text(&o, "instance");
	option(&b, 3, o.bytes, o.len);
	option(&b, 4, "", 0);
	option(&b, 5, "Linux  5.4.1-rt #1 SMP x ppc\0", 29);
	option(&b, 7, "-100", 4);
	option(&b, 99, "unknown", 7);
	number(&b, 0, 2);
	text(&b, "flyrecord");
	number(&b, PAGE, 8);
	number(&b, 2 * PAGE, 8);
	number(&b, 3 * PAGE, 8);
	number(&b, PAGE, 8);
	number(&b, 12, 8);
	raw(&b, "local [mono]", 12);
	align(&b);
	page(&b, long_size, 1000, 0, 10);
	page(&b, long_size, 2000, 0xc0000000, 20);
	page(&b, long_size, 1000, 0x80000000, 30);
	b.len = 5 * PAGE;
	text(&b, "flyrecord");
	number(&b, 6 * PAGE, 8);
	number(&b, PAGE, 8);
	number(&b, 0, 8);
	number(&b, 0, 8);
	align(&b);
	page(&b, long_size, 1, 0, 1);
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

static void section(struct build *b, unsigned int id, const struct build *content)
{
	uLongf packed = sizeof(b->bytes) - b->len - 24;

	number(b, id, 2);
	number(b, 1, 2);
	number(b, 0, 4);
	number(b, 0, 8);
	assert_int_equal(compress(b->bytes + b->len + 8, &packed, content->bytes,
				  (uLong)content->len),
			 Z_OK);
	number(b, packed, 4);
	number(b, content->len, 4);
	b->len += packed;
}

/* Pages in chunks of one, the second after a loss; returns the size as trace-cmd would write it,
 * without the count. */
static uint64_t chunks(struct build *b, uint32_t n)
{
	static struct build one;
	size_t start_at = b->len;
	uLongf packed;
	uint32_t i;

	one.big = b->big;
	number(b, n, 4);
	for (i = 1; i <= n; i++) {
		one.len = 0;
		page(&one, 8, 1000ULL * i, i == 2 ? 0xc0000000 : 0, 10 * i);
		packed = sizeof(b->bytes) - b->len - 8;
		assert_int_equal(compress(b->bytes + b->len + 8, &packed, one.bytes, PAGE), Z_OK);
		number(b, packed, 4);
		number(b, PAGE, 4);
		b->len += packed;
	}
	return b->len - start_at - 4;
}

/* Version 7, zlib: the options are in two sections, the pages are those of CPU 3. */
static void make_v7(struct build *b, bool big, uint32_t pages, uint64_t next_options)
{
	static struct build c;
	uint64_t at[5], size;
	size_t options_at;

	start(b, big, 8, "7");
	text(b, "zlib");
	text(b, "1.2");
	options_at = b->len;
	number(b, 0, 8);
	at[0] = b->len;
	c.big = big;
	c.len = 0;
	header_info(&c, 8);
	section(b, 16, &c);
	at[1] = b->len;
	c.len = 0;
	formats(&c);
	section(b, 18, &c);
	at[2] = b->len;
	number(b, 3, 2); /* the buffer's section: only its flags matter */
	number(b, 1, 2);
	number(b, 0, 12);
	at[3] = b->len;
	size = chunks(b, pages);
	at[4] = b->len;
	c.len = 0;
	number(&c, at[2], 8);
	text(&c, "");
	text(&c, "boot");
	number(&c, PAGE, 4);
	number(&c, 1, 4);
	number(&c, 3, 4);
	number(&c, at[3], 8);
	number(&c, size, 8);
	number(b, 0, 2); /* the second section of options, not compressed */
	number(b, 0, 2);
	number(b, 0, 12);
	option(b, 3, c.bytes, c.len);
	c.len = 0;
	number(&c, next_options, 8);
	option(b, 0, c.bytes, c.len);
	c.len = 0;
	number(&c, at[0], 8);
	number(&c, at[1], 8);
	number(&c, at[4], 8);
	at[0] = b->len;
	{
		static struct build options;

		options.big = big;
		options.len = 0;
		option(&options, 16, c.bytes, 8);
		option(&options, 18, c.bytes + 8, 8);
		option(&options, 0, c.bytes + 16, 8);
		section(b, 0, &options);
	}
	c.len = 0;
	number(&c, at[0], 8);
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
	start_v6(&b, false, 8, 1);
	text(&b, "latency  ");
	check_refused(b.bytes, b.len, -EOPNOTSUPP, "latency");
	start_v6(&b, false, 8, 4097);
	check_refused(b.bytes, b.len, -EBADMSG, "4097 CPUs");
	start_v6(&b, false, 8, 1);
	text(&b, "whatever ");
	check_refused(b.bytes, b.len, -EBADMSG, "flyrecord");
	start_v6(&b, false, 8, 1);
	text(&b, "flyrecord");
	number(&b, 8 * PAGE, 8);
	number(&b, UINT64_MAX, 8);
	check_refused(b.bytes, b.len, -EBADMSG, "CPU 0");
	start(&b, false, 8, "7");
	text(&b, "lzma");
	text(&b, "1");
	number(&b, 0, 8);
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
