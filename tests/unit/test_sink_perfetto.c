/* SPDX-License-Identifier: MIT */
/*
 * The Perfetto export, taken apart by a small protobuf reader of its own: what must stand where
 * for Perfetto's tokenizer, and that every event, loss and task is there once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "convert/sink.h"

static char path[64];
static uint8_t *file;
static size_t file_len;

/* A cursor over one message, and the field it stands on. */
struct reader {
	const uint8_t *p, *end;
	uint32_t field;
	uint64_t value;	     /* of a varint, or the length */
	const uint8_t *body; /* NULL for a varint */
};

static uint64_t varint(struct reader *r)
{
	uint64_t v = 0;
	int shift = 0;

	for (;;) {
		assert_true(r->p < r->end && shift < 70);
		v |= (uint64_t)(*r->p & 0x7f) << shift;
		shift += 7;
		if (!(*r->p++ & 0x80))
			return v;
	}
}

static bool next(struct reader *r)
{
	uint64_t tag;

	if (r->p == r->end)
		return false;
	tag = varint(r);
	r->field = (uint32_t)(tag >> 3);
	assert_true((tag & 7) == 0 || (tag & 7) == 2);
	r->value = varint(r);
	r->body = NULL;
	if ((tag & 7) == 2) {
		r->body = r->p;
		assert_true(r->value <= (uint64_t)(r->end - r->p));
		r->p += r->value;
	}
	return true;
}

static struct reader inside(const struct reader *r)
{
	assert_non_null(r->body);
	return (struct reader){ .p = r->body, .end = r->body + r->value };
}

/* Stands on the field with this number, or fails. */
static struct reader find(struct reader r, uint32_t field)
{
	while (next(&r))
		if (r.field == field)
			return r;
	fail_msg("no field %u", field);
	return r;
}

static bool has(struct reader r, uint32_t field)
{
	while (next(&r))
		if (r.field == field)
			return true;
	return false;
}

static struct reader whole(void)
{
	return (struct reader){ .p = file, .end = file + file_len };
}

/* The n-th packet with this field, inside that field. */
static struct reader packet(uint32_t field, unsigned int n)
{
	struct reader trace = whole(), in;

	while (next(&trace)) {
		assert_int_equal(trace.field, 1);
		in = inside(&trace);
		assert_int_equal(find(in, 10).value, 1);
		if (has(in, field) && n-- == 0) {
			in = find(in, field);
			return inside(&in);
		}
	}
	fail_msg("no packet with field %u", field);
	return trace;
}

static void write_trace(const struct trace_info *info, const struct trace_item *items, size_t n)
{
	struct error e = ERROR_INIT;
	struct trace_sink *sink = NULL;
	size_t i;
	FILE *f;

	strcpy(path, "/tmp/kiseki-test-XXXXXX");
	close(mkstemp(path));
	assert_int_equal(sink_perfetto_new(&sink, path, &e), 0);
	assert_int_equal(sink->ops->begin(sink, info, &e), 0);
	for (i = 0; i < n; i++)
		if (sink->ops->item(sink, &items[i], &e) < 0)
			fail_msg("%s", e.text);
	if (sink->ops->end(sink, &e) < 0)
		fail_msg("%s", e.text);
	sink_free(sink);
	f = fopen(path, "rb");
	assert_non_null(f);
	file = malloc(1 << 22);
	file_len = fread(file, 1, 1 << 22, f);
	fclose(f);
	unlink(path);
}

static struct trace_item switch_item(uint32_t cpu, uint64_t tick)
{
	struct trace_item i = { .type = ITEM_EVENT, .cpu = cpu };

	i.event.kind = SCHED_SWITCH;
	i.event.tick = tick;
	i.event.pid = 10;
	i.event.flags = 5;
	i.event.state = 0x100;
	i.event.task = (struct sched_task){ .pid = 10, .prio = 120, .comm = "exactly16bytes!!" };
	i.event.other = (struct sched_task){ .pid = 11, .prio = -1, .comm = "worker" };
	return i;
}

static void make_info(struct trace_info *info)
{
	assert_int_equal(info_init(info), 0);
	assert_int_equal(info_set(&info->kernel, "6.1.2", 5), 0);
	assert_int_equal(info_set(&info->machine, "aarch64", 7), 0);
	info->cpus = 2;
	strcpy(info->clock.name, "local");
	info->clock.has_realtime = true;
	info->clock.realtime_off_ns = 1000;
	assert_int_equal(info_add_task(info, 11, 10, "worker\0\0\0\0\0\0\0\0\0"), 0);
}

static void test_switch(void **state)
{
	struct trace_item item = switch_item(1, 500);
	struct trace_info info;
	struct reader b, ev, sw;

	(void)state;
	make_info(&info);
	write_trace(&info, &item, 1);
	b = packet(1, 0);
	assert_int_equal(find(b, 1).value, 1);
	assert_false(has(b, 3));
	assert_int_equal(find(b, 5).value, 3); /* the clock "local", its zero being boot */
	assert_int_equal(find(b, 6).value, 500);
	assert_int_equal(find(b, 7).value, 500);
	ev = find(b, 2);
	ev = inside(&ev);
	/* Perfetto's tokenizer expects exactly this order. */
	assert_true(next(&ev) && ev.field == 1 && ev.value == 500);
	assert_true(next(&ev) && ev.field == 2 && ev.value == 10);
	assert_true(next(&ev) && ev.field == 4);
	sw = inside(&ev);
	assert_true(next(&ev) && ev.field == 5 && ev.value == 5);
	assert_false(next(&ev));
	assert_int_equal(find(sw, 1).value, 16);
	assert_memory_equal(find(sw, 1).body, "exactly16bytes!!", 16);
	assert_int_equal(find(sw, 2).value, 10);
	assert_int_equal(find(sw, 3).value, 120);
	assert_int_equal(find(sw, 4).value, 0x100);
	assert_memory_equal(find(sw, 5).body, "worker", 6);
	assert_int_equal(find(sw, 6).value, 11);
	assert_int_equal((int64_t)find(sw, 7).value, -1);
	free(file);
	info_done(&info);
}

static void test_surroundings(void **state)
{
	struct trace_item item = switch_item(1, 500);
	struct trace_info info;
	struct reader r, c;

	(void)state;
	make_info(&info);
	write_trace(&info, &item, 1);
	r = find(packet(45, 0), 1);
	r = inside(&r);
	assert_memory_equal(find(r, 3).body, "6.1.2", 5);
	assert_memory_equal(find(r, 4).body, "aarch64", 7);
	r = packet(6, 0);
	assert_true(next(&r));
	c = inside(&r);
	assert_int_equal(find(c, 1).value, 6);
	assert_int_equal(find(c, 2).value, 500);
	assert_true(next(&r));
	c = inside(&r);
	assert_int_equal(find(c, 1).value, 1);
	assert_int_equal(find(c, 2).value, 1500);
	assert_false(next(&r));
	/* Known at the start: thread 11 of process 10. Learned: process 10. */
	r = find(packet(2, 0), 2);
	r = inside(&r);
	assert_int_equal(find(r, 1).value, 11);
	assert_int_equal(find(r, 3).value, 10);
	r = find(packet(2, 1), 1);
	r = inside(&r);
	assert_int_equal(find(r, 1).value, 10);
	free(file);
	info_done(&info);
}

/* A loss flags the next bundle only, or an empty one at the end; its count is in the statistics. */
static void test_losses(void **state)
{
	struct trace_item items[] = {
		switch_item(0, 100),
		{ .type = ITEM_LOSS, .loss = { 100, 200, 7, LOSS_RING } },
		switch_item(0, 200),
		{ .type = ITEM_LOSS, .cpu = 1, .loss = { 0, 300, 9, LOSS_SPOOL } },
		{ .type = ITEM_LOSS, .cpu = 1, .loss = { 0, 300, LOSS_UNKNOWN, LOSS_RING } },
	};
	struct trace_info info;
	struct reader b;

	(void)state;
	make_info(&info);
	write_trace(&info, items, 5);
	assert_false(has(packet(1, 0), 3));
	b = packet(1, 1);
	assert_int_equal(find(b, 1).value, 0);
	assert_int_equal(find(b, 3).value, 1);
	b = packet(1, 2);
	assert_int_equal(find(b, 1).value, 1);
	assert_int_equal(find(b, 3).value, 1);
	assert_false(has(b, 2));
	b = packet(34, 0);
	assert_int_equal(find(b, 1).value, 1);
	b = packet(34, 1);
	assert_int_equal(find(b, 1).value, 2);
	b = find(b, 2);
	assert_int_equal(find(inside(&b), 3).value, 7);
	assert_int_equal(find(inside(&b), 8).value, 0);
	assert_int_equal(find(inside(&b), 9).value, 2);
	assert_true(next(&b));
	assert_int_equal(find(inside(&b), 3).value, 0);
	assert_int_equal(find(inside(&b), 8).value, 9);
	free(file);
	info_done(&info);
}

/* More than one bundle holds, with the longest names: every event comes once, in order. */
static void test_many(void **state)
{
	static char name[SCHED_FILENAME_MAX];
	enum { N = 500 };
	struct trace_item *items = calloc(N, sizeof(*items));
	struct trace_info info;
	struct reader trace, in, ev;
	uint64_t seen = 0;
	size_t i;

	(void)state;
	memset(name, 'n', sizeof(name));
	make_info(&info);
	for (i = 0; i < N; i++) {
		items[i].event.kind = SCHED_EXEC;
		items[i].event.tick = i;
		items[i].event.filename = name;
		items[i].event.filename_len = (uint16_t)(i * 8);
	}
	write_trace(&info, items, N);
	trace = whole();
	while (next(&trace)) {
		in = inside(&trace);
		if (!has(in, 1))
			continue;
		in = find(in, 1);
		in = inside(&in);
		while (next(&in)) {
			if (in.field != 2)
				continue;
			ev = inside(&in);
			assert_int_equal(find(ev, 1).value, seen);
			ev = find(ev, 237);
			assert_int_equal(find(inside(&ev), 1).value, seen * 8);
			seen++;
		}
	}
	assert_int_equal(seen, N);
	free(items);
	free(file);
	info_done(&info);
}

static void test_too_many_cpus(void **state)
{
	struct trace_item item = switch_item(1024, 1);
	struct error e = ERROR_INIT;
	struct trace_sink *sink = NULL;
	struct trace_info info;

	(void)state;
	make_info(&info);
	strcpy(path, "/tmp/kiseki-test-none");
	assert_int_equal(sink_perfetto_new(&sink, path, &e), 0);
	assert_int_equal(sink->ops->begin(sink, &info, &e), 0);
	assert_int_equal(sink->ops->item(sink, &item, &e), -EINVAL);
	sink_free(sink);
	assert_int_equal(access(path, F_OK), -1);
	info_done(&info);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_switch),	      cmocka_unit_test(test_surroundings),
		cmocka_unit_test(test_losses),	      cmocka_unit_test(test_many),
		cmocka_unit_test(test_too_many_cpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
