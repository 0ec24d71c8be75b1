/* SPDX-License-Identifier: MIT */
/*
 * source_tracedat_head: options and instances that recordings seldom have: counters to scale, a date,
 * clocks without a name, instances that are empty or text, and more of anything than there can be.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "convert/tracedat.h"
#include "tracedat_build.h"

#define DATA SOURCE_ROOT "/tests/data/"

static struct build b, o;

static void refuse(int code, const char *why)
{
	struct import_bytes in = { b.bytes, b.len };
	struct error e = ERROR_INIT;
	struct trace_source *s;

	assert_int_equal(source_tracedat_open(&s, in, &e), code);
	if (!strstr(e.text, why))
		fail_msg("\"%s\" says nothing of \"%s\"", e.text, why);
}

static struct trace_source *accept(void)
{
	return open_bytes((struct import_bytes){ b.bytes, b.len });
}

/* A page of one CPU behind these options, which are in `o`. */
static void make_v6(const char *clock)
{
	build_start_v6(&b, false, 8, 1);
	build_text(&b, "options  ");
	build_raw(&b, o.bytes, o.len);
	build_number(&b, TRACEDAT_DONE, 2);
	build_text(&b, "flyrecord");
	build_number(&b, PAGE, 8);
	build_number(&b, PAGE, 8);
	if (clock) {
		build_number(&b, strlen(clock), 8);
		build_raw(&b, clock, strlen(clock));
	}
	build_align(&b);
	build_page(&b, 8, 1000, 0, 10);
}

static void set_option(unsigned int id, const void *data, size_t len)
{
	o.len = 0;
	build_option(&o, id, data, len);
}

static void set_tsc(uint32_t mult, uint32_t shift, size_t len)
{
	uint8_t data[16] = { 0 };

	memcpy(data, &mult, 4);
	memcpy(data + 4, &shift, 4);
	set_option(TRACEDAT_TSC2NSEC, data, len);
}

/* What `trace-cmd report --stat` prints is the text of these options. */
static void add_stat(unsigned int cpu, unsigned int overrun, unsigned int commit,
		     unsigned int dropped)
{
	char text[256];
	int n = snprintf(text, sizeof(text),
			 "CPU: %u\nentries: 0\noverrun: %u\ncommit overrun: %u\nbytes: 0\n"
			 "oldest event ts:   619.787302\nnow ts:   619.828409\n"
			 "dropped events: %u\nread events: 9994\n",
			 cpu, overrun, commit, dropped);

	build_option(&o, TRACEDAT_CPUSTAT, text, (size_t)n + 1);
}

/* One CPU's pages, the second behind a loss of 33 events or, with these flags, of a number not known. */
static void make_pages(uint32_t flags)
{
	build_start_v6(&b, false, 8, 1);
	build_text(&b, "options  ");
	build_raw(&b, o.bytes, o.len);
	build_number(&b, TRACEDAT_DONE, 2);
	build_text(&b, "flyrecord");
	build_number(&b, PAGE, 8);
	build_number(&b, 2ULL * PAGE, 8);
	build_align(&b);
	build_page(&b, 8, 1000, 0, 10);
	build_page(&b, 8, 2000, flags, 20);
}

/* Losses that no page flags were in front of the first one. */
static void test_overrun(void **state)
{
	struct trace_source *s;
	int pass;

	(void)state;
	o.len = 0;
	add_stat(7, 5, 5, 5); /* of a CPU that is not in the file */
	add_stat(0, 100, 0, 0);
	make_pages(0xc0000000);
	s = accept();
	for (pass = 0; pass < 2; pass++) {
		expect_loss(s, 0, 67, 0, 1000);
		expect_event(s, 0, 1000, 10);
		expect_event(s, 0, 1003, 12);
		expect_loss(s, 0, 33, 1003, 2000);
		expect_event(s, 0, 2000, 20);
		expect_event(s, 0, 2003, 22);
		expect_end(s, 2);
		assert_int_equal(s->ops->rewind(s, NULL), 0);
	}
	/* Whoever starts in the middle does not meet what was lost before. */
	assert_int_equal(s->ops->seek(s, 2000, NULL), 0);
	expect_loss(s, 0, 33, 1003, 2000);
	expect_event(s, 0, 2000, 20);
	source_free(s);
	o.len = 0;
	add_stat(0, 33, 0, 0); /* all of them flagged */
	make_pages(0xc0000000);
	s = accept();
	expect_event(s, 0, 1000, 10);
	source_free(s);
	o.len = 0;
	add_stat(0, 100, 0, 0); /* a gap of any length explains them */
	make_pages(0x80000000);
	s = accept();
	expect_event(s, 0, 1000, 10);
	expect_event(s, 0, 1003, 12);
	expect_loss(s, 0, LOSS_UNKNOWN, 1003, 2000);
	source_free(s);
}

/* What a full ring refused, and what came into an interrupted writer, was lost at no known moment. */
static void test_dropped(void **state)
{
	struct trace_source *s;

	(void)state;
	o.len = 0;
	add_stat(0, 0, 4, 9);
	make_pages(0);
	s = accept();
	expect_event(s, 0, 1000, 10);
	expect_event(s, 0, 1003, 12);
	expect_event(s, 0, 2000, 20);
	expect_event(s, 0, 2003, 22);
	expect_loss(s, 0, 13, 1000, 2003);
	expect_end(s, 2);
	assert_int_equal(s->ops->rewind(s, NULL), 0);
	expect_event(s, 0, 1000, 10);
	source_free(s);
}

/* A counter is scaled by the clock, and shifted by it, too: its stamps are the ticks. */
static void test_counter(void **state)
{
	struct trace_source *s;

	(void)state;
	set_tsc(5, 1, 16);
	build_option(&o, TRACEDAT_DATE, "0x64", 4);
	make_v6(NULL);
	s = accept();
	assert_int_equal(s->info.clock.mult, 5);
	assert_int_equal(s->info.clock.shift, 1);
	assert_int_equal(s->info.clock.base_ns, 100000);
	assert_true(s->info.clock.has_realtime);
	assert_int_equal(s->info.clock.realtime_err_ns, 1000000);
	expect_event(s, 0, 1000, 10);
	assert_int_equal(clock_ns(&s->info.clock, 1000), 102500);
	source_free(s);
	set_tsc(5, 33, 16);
	make_v6(NULL);
	refuse(-EBADMSG, "shift of 33");
	/* Cut short, or scaled by nothing: as if it were not there. */
	set_tsc(5, 33, 7);
	make_v6(NULL);
	s = accept();
	assert_int_equal(s->info.clock.mult, 1);
	source_free(s);
	set_tsc(0, 33, 16);
	make_v6(NULL);
	s = accept();
	assert_int_equal(s->info.clock.mult, 1);
	assert_false(s->info.clock.has_realtime);
	source_free(s);
}

static void check_clock(const char *text, const char *name)
{
	struct trace_source *s;

	set_option(TRACEDAT_TRACECLOCK, "", 0);
	make_v6(text);
	s = accept();
	assert_string_equal(s->info.clock.name, name);
	source_free(s);
}

static void test_clocks(void **state)
{
	(void)state;
	check_clock("local [mono] boot", "mono");
	check_clock("local [] boot", "");
	check_clock("local [mono", "");
	check_clock("[m o\177o]", "m?o?o");
	check_clock("[a-name-that-is-longer-than-any-clock-of-the-kernel]", "");
}

/* Clocks whose ticks are no nanoseconds, as kernel/trace/trace.c has them; "uptime" counts hundredths of a
 * second, whatever HZ is. */
static void test_tick_clocks(void **state)
{
	static const char *const ticks[] = { "x86-tsc", "counter", "ppc-tb", "s390-tod" };
	struct trace_source *s;
	char text[64];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(ticks) / sizeof(ticks[0]); i++) {
		snprintf(text, sizeof(text), "local [%s] boot", ticks[i]);
		set_option(TRACEDAT_TRACECLOCK, text, strlen(text) + 1);
		make_v6(text);
		s = accept();
		assert_true(clock_is_ticks(&s->info.clock));
		expect_event(s, 0, 1000, 10);
		source_free(s);
	}
	set_option(TRACEDAT_TRACECLOCK, "[uptime]", 9);
	make_v6("[uptime]");
	s = accept();
	assert_false(clock_is_ticks(&s->info.clock));
	assert_true(clock_ns(&s->info.clock, 1000) == 10000000000);
	expect_event(s, 0, 1000, 10);
	source_free(s);
	/* With its rate it is a clock like others. */
	set_tsc(5, 1, 16);
	build_option(&o, TRACEDAT_TRACECLOCK, "[x86-tsc]", 10);
	make_v6("[x86-tsc]");
	s = accept();
	assert_false(clock_is_ticks(&s->info.clock));
	assert_true(clock_ns(&s->info.clock, 1000) == 2500);
	source_free(s);
}

/* Instances of version 6, from page 5 on: a tag, and the pages of the one CPU, if there are any. */
static void build_instance(unsigned int page, const char *tag, uint32_t n_pages)
{
	uint32_t i;

	b.len = page * PAGE;
	build_text(&b, tag);
	build_number(&b, (page + 1) * PAGE, 8);
	build_number(&b, n_pages * PAGE, 8);
	build_align(&b);
	for (i = 0; i < n_pages; i++)
		build_page(&b, 8, 1000 * (i + 1), 0, 100 * page + i * 10);
}

static void add_instance(unsigned int page)
{
	static struct build c;

	c.len = 0;
	build_number(&c, page * PAGE, 8);
	build_text(&c, "instance");
	build_option(&o, TRACEDAT_BUFFER, c.bytes, c.len);
}

static void test_instances(void **state)
{
	struct trace_source *s;

	(void)state;
	o.len = 0;
	add_instance(5);
	add_instance(7);
	add_instance(9);
	add_instance(12);
	make_v6(NULL);
	build_instance(5, "flyrecord", 0);
	build_instance(7, "latency  ", 0);
	build_instance(9, "flyrecord", 1);
	build_instance(12, "flyrecord", 1);
	/* The top has events. */
	s = accept();
	expect_event(s, 0, 1000, 10);
	expect_event(s, 0, 1003, 12);
	expect_end(s, 1 + 3 + 3);
	source_free(s);
	/* It has none: the first instance that has some. */
	build_start_v6(&b, false, 8, 1);
	build_text(&b, "options  ");
	build_raw(&b, o.bytes, o.len);
	build_number(&b, TRACEDAT_DONE, 2);
	build_text(&b, "flyrecord");
	build_number(&b, 0, 16);
	build_instance(5, "flyrecord", 0);
	build_instance(7, "latency  ", 0);
	build_instance(9, "flyrecord", 1);
	build_instance(12, "flyrecord", 1);
	s = accept();
	expect_event(s, 0, 1000, 900);
	source_free(s);
	/* None has any. */
	build_instance(9, "flyrecord", 0);
	build_instance(12, "latency  ", 0);
	s = accept();
	expect_end(s, 0);
	source_free(s);
}

/* Text of a latency tracer has no clock behind it; an instance can have pages all the same. */
static void test_latency_top(void **state)
{
	struct trace_source *s;

	(void)state;
	set_option(TRACEDAT_TRACECLOCK, "[mono]", 6);
	add_instance(5);
	build_start_v6(&b, false, 8, 1);
	build_text(&b, "options  ");
	build_raw(&b, o.bytes, o.len);
	build_number(&b, TRACEDAT_DONE, 2);
	build_text(&b, "latency  ");
	build_number(&b, 5, 8);
	build_raw(&b, "[tai]", 5);
	build_instance(5, "flyrecord", 1);
	s = accept();
	assert_string_equal(s->info.clock.name, "mono");
	expect_event(s, 0, 1000, 500);
	source_free(s);
}

static void test_page_sizes(void **state)
{
	const size_t at = 14; /* behind the magic, the version and two sizes */

	(void)state;
	o.len = 0;
	make_v6(NULL);
	memset(b.bytes + at, 0, 4);
	b.bytes[at] = 16;
	refuse(-EBADMSG, "pages of 16 bytes");
	b.bytes[at + 3] = 0x10;
	refuse(-EBADMSG, "pages of");
}

/* Version 7 without compression: options, and the sections that they point to. */
static void start_v7(const char *codec)
{
	static struct build c;
	uint64_t at[2];

	build_start(&b, false, 8, "7");
	build_text(&b, codec);
	build_text(&b, "");
	build_number(&b, 1024 * 3, 8);
	at[0] = b.len;
	build_number(&b, TRACEDAT_HEADER_INFO, 2);
	build_number(&b, 0, 14);
	build_header_info(&b, 8);
	at[1] = b.len;
	build_number(&b, TRACEDAT_EVENT_FORMATS, 2);
	build_number(&b, 0, 14);
	build_formats(&b);
	assert_true(b.len < 1024 * 3);
	b.len = 1024 * 3;
	build_number(&b, TRACEDAT_DONE, 2);
	build_number(&b, 0, 14);
	c.len = 0;
	build_number(&c, at[0], 8);
	build_number(&c, at[1], 8);
	build_option(&b, TRACEDAT_HEADER_INFO, c.bytes, 8);
	build_option(&b, TRACEDAT_EVENT_FORMATS, c.bytes + 8, 8);
}

/* A buffer whose one page is the n-th of the file, of CPU 0; empty instances are of CPU 5; its section's head is anything that is not compressed. */
static void add_buffer(unsigned int id, const char *name, const char *clock, unsigned int page)
{
	static struct build c;

	c.len = 0;
	build_number(&c, 900, 8);
	build_text(&c, name);
	build_text(&c, clock);
	if (id == TRACEDAT_BUFFER) {
		build_number(&c, PAGE, 4);
		build_number(&c, 1, 4);
		build_number(&c, page || !*name ? 0 : 5, 4);
		build_number(&c, page * PAGE, 8);
		build_number(&c, page ? PAGE : 0, 8);
	}
	build_option(&b, id, c.bytes, c.len);
}

static void end_v7(void)
{
	build_option(&b, TRACEDAT_DONE, "\0\0\0\0\0\0\0", 8);
	build_align(&b);
	assert_int_equal(b.len, PAGE);
	build_page(&b, 8, 1000, 0, 10);
	build_page(&b, 8, 2000, 0, 20);
}

static void test_v7(void **state)
{
	struct trace_source *s;

	(void)state;
	start_v7("none");
	add_buffer(TRACEDAT_BUFFER_TEXT, "text", "uptime", 0);
	add_buffer(TRACEDAT_BUFFER, "first", "mono", 2);
	add_buffer(TRACEDAT_BUFFER, "second", "", 0);
	add_buffer(TRACEDAT_BUFFER, "", "tai", 1);
	end_v7();
	s = accept();
	assert_string_equal(s->info.clock.name, "tai");
	expect_event(s, 0, 1000, 10);
	expect_event(s, 0, 1003, 12);
	expect_end(s, 1 + 3);
	source_free(s);
	/* The clock of the first that names one, as long as the top does not. */
	start_v7("none");
	add_buffer(TRACEDAT_BUFFER, "first", "mono", 2);
	add_buffer(TRACEDAT_BUFFER, "second", "boot", 1);
	end_v7();
	s = accept();
	assert_string_equal(s->info.clock.name, "mono");
	expect_event(s, 0, 2000, 20);
	source_free(s);
	/* The top, too, if none has pages. */
	start_v7("none");
	add_buffer(TRACEDAT_BUFFER, "first", "", 0);
	add_buffer(TRACEDAT_BUFFER, "", "", 0);
	add_buffer(TRACEDAT_BUFFER, "last", "", 0);
	end_v7();
	s = accept();
	assert_int_equal(s->info.cpus, 1);
	expect_end(s, 0);
	source_free(s);
	start_v7("none");
	add_buffer(TRACEDAT_BUFFER_TEXT, "text", "uptime", 0);
	end_v7();
	refuse(-EOPNOTSUPP, "latency");
}

static void test_v7_cut(void **state)
{
	static const uint8_t cut[] = { 0, 1, 0, 0, 0, 0, 0, 0, 'n', 0, 'c' };

	(void)state;
	start_v7("none");
	build_option(&b, TRACEDAT_BUFFER_TEXT, cut, sizeof(cut));
	end_v7();
	refuse(-EBADMSG, "option of a buffer is cut short");
	start_v7("none");
	build_option(&b, TRACEDAT_BUFFER, cut, sizeof(cut));
	end_v7();
	refuse(-EBADMSG, "buffer of");
	build_start(&b, false, 8, "7");
	build_text(&b, "none");
	build_raw(&b, "1", 1);
	refuse(-EBADMSG, "cut short in the head");
}

static void test_buffers_max(void **state)
{
	uint32_t i;

	(void)state;
	start_v7("none");
	for (i = 0; i <= TRACEDAT_BUFFERS_MAX; i++)
		add_buffer(TRACEDAT_BUFFER_TEXT, "text", "", 0);
	build_option(&b, TRACEDAT_DONE, "\0\0\0\0\0\0\0", 8);
	refuse(-E2BIG, "more than 256 buffers");
}

/* More names than a machine has tasks. */
static void test_cmdlines_max(void **state)
{
	struct error e = ERROR_INIT;
	struct import_bytes in;
	struct trace_source *s;
	uint8_t *bytes;

	(void)state;
	build_start(&b, false, 8, "6");
	build_header_info(&b, 8);
	build_number(&b, 0, 4);
	build_formats(&b);
	build_number(&b, 0, 4);
	build_number(&b, 0, 4);
	build_number(&b, TRACE_TASKS_MAX, 8);
	in.len = b.len + TRACE_TASKS_MAX;
	bytes = malloc(in.len);
	assert_non_null(bytes);
	memcpy(bytes, b.bytes, b.len);
	memset(bytes + b.len, '\n', TRACE_TASKS_MAX);
	in.data = bytes;
	assert_int_equal(source_tracedat_open(&s, in, &e), -E2BIG);
	assert_non_null(strstr(e.text, "command lines: too many"));
	free(bytes);
}

/* Sections that give less than they say. */
static void test_unzip(void **state)
{
	uint8_t *section;
	size_t at;
	ssize_t n;
	int fd;

	(void)state;
	build_start(&b, false, 8, "7");
	build_text(&b, "zlib");
	build_text(&b, "");
	at = b.len + 8;
	build_number(&b, at, 8);
	o.len = 0;
	build_option(&o, TRACEDAT_DONE, "\0\0\0\0\0\0\0", 8);
	build_section(&b, TRACEDAT_DONE, &o);
	refuse(-EOPNOTSUPP, "holds no buffer");
	b.bytes[at + 20]++;
	refuse(-EBADMSG, "does not decompress");
	b.bytes[at + 16]++;
	refuse(-EBADMSG, "is cut short or too long");
	fd = open(DATA "small-v7.dat", O_RDONLY | O_CLOEXEC);
	n = read(fd, b.bytes, sizeof(b.bytes));
	close(fd);
	assert_true(n > 0);
	b.len = (size_t)n;
	section = memmem(b.bytes, b.len, "\x10\0\1\0", 4); /* its pages' layout, compressed */
	assert_non_null(section);
	source_free(accept());
	section[20]++;
	refuse(-EBADMSG, "does not decompress");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_overrun),	    cmocka_unit_test(test_dropped),
		cmocka_unit_test(test_counter),	    cmocka_unit_test(test_clocks),
		cmocka_unit_test(test_tick_clocks), cmocka_unit_test(test_instances),
		cmocka_unit_test(test_latency_top), cmocka_unit_test(test_page_sizes),
		cmocka_unit_test(test_v7),	    cmocka_unit_test(test_v7_cut),
		cmocka_unit_test(test_buffers_max), cmocka_unit_test(test_cmdlines_max),
		cmocka_unit_test(test_unzip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
