/* SPDX-License-Identifier: MIT */
/* func_sched: what the scheduler did to a thread lies between its calls, and nobody else's does. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "convert/sink_ksk.h"
#include "tools/func_items.h"
#include "trace/func_clock.h"
#include "trace/func_ksk.h"
#include "trace/func_sched.h"

#define ITEMS 64U
#define SECOND 1000000000ULL

/* A trace of a few scheduler events, in nanoseconds of CLOCK_MONOTONIC. */
struct sched_list {
	struct trace_source source;
	struct trace_item items[ITEMS];
	size_t n, at;
};

static int list_next(struct trace_source *s, struct trace_item *ret, struct error *e)
{
	struct sched_list *l = (struct sched_list *)s;

	(void)e;
	if (l->at == l->n)
		return 0;
	*ret = l->items[l->at++];
	return 1;
}

static int list_rewind(struct trace_source *s, struct error *e)
{
	(void)e;
	((struct sched_list *)s)->at = 0;
	return 0;
}

static void list_free(struct trace_source *s)
{
	info_done(&s->info);
	free(s);
}

static const struct trace_source_ops list_ops = {
	.next = list_next,
	.rewind = list_rewind,
	.free = list_free,
};

static struct sched_list *list_new(void)
{
	struct sched_list *l = calloc(1, sizeof(*l));

	assert_non_null(l);
	assert_int_equal(info_init(&l->source.info), 0);
	l->source.ops = &list_ops;
	l->source.info.cpus = 4;
	strcpy(l->source.info.clock.name, "mono");
	return l;
}

static struct sched_event *list_add(struct sched_list *l, uint32_t cpu, uint8_t kind, uint64_t ns)
{
	struct trace_item *i = &l->items[l->n++];

	i->type = ITEM_EVENT;
	i->cpu = cpu;
	i->event.kind = kind;
	i->event.tick = ns;
	return &i->event;
}

static void add_switch(struct sched_list *l, uint32_t cpu, uint64_t ns, int32_t prev, int32_t next,
		       uint64_t state)
{
	struct sched_event *ev = list_add(l, cpu, SCHED_SWITCH, ns);

	ev->pid = ev->task.pid = prev;
	ev->other.pid = next;
	ev->state = state;
}

static void add_waking(struct sched_list *l, uint8_t kind, uint64_t ns, int32_t pid, int32_t by)
{
	struct sched_event *ev = list_add(l, 0, kind, ns);

	ev->pid = by;
	ev->task.pid = pid;
}

/* What is expected: "thread kind value tick" of each item. */
struct wanted {
	uint32_t thread;
	int kind; /* enum func_kind; 10 + enum func_os_type; -1: a loss */
	uint64_t value, tick;
};

static void expect(struct func_source *s, const struct wanted *w, size_t n)
{
	struct func_item item;
	size_t i;
	int kind;

	for (i = 0; i < n; i++) {
		assert_int_equal(s->ops->next(s, &item, NULL), 1);
		kind = item.type == FUNC_ITEM_LOSS  ? -1
		       : item.event.kind == FUNC_OS ? 10 + item.event.os
						    : item.event.kind;
		if (item.thread != w[i].thread || kind != w[i].kind ||
		    func_item_tick(&item) != w[i].tick ||
		    (kind >= 0 ? item.event.value : item.loss.count) != w[i].value)
			fail_msg("item %zu: thread %u kind %d value %llu tick %llu", i, item.thread,
				 kind, (unsigned long long)item.event.value,
				 (unsigned long long)func_item_tick(&item));
		assert_true(kind >= 0 || item.os_only);
	}
	assert_int_equal(s->ops->next(s, &item, NULL), 0);
}

static const struct wanted usual[] = {
	{ 0, FUNC_ENTER, 0x10, 1000 },
	{ 1, FUNC_ENTER, 0x20, 1500 },
	{ 0, 10 + FUNC_OS_SWITCH_OUT, 0, 2000 }, /* preempted by thread 1 */
	{ 1, 10 + FUNC_OS_SWITCH_IN, 2, 2000 },
	{ 1, 10 + FUNC_OS_SWITCH_OUT, 1, 3000 }, /* sleeps */
	{ 0, 10 + FUNC_OS_SWITCH_IN, 2, 3000 },
	{ 0, FUNC_ENTER, 0x11, 3500 },
	{ 1, 10 + FUNC_OS_WAKING, 900, 4000 }, /* told once, though two events tell it */
	{ 1, 10 + FUNC_OS_SWITCH_IN, 1, 4500 },
	{ 0, -1, 7, 5000 }, /* on some CPU: any of them may have run */
	{ 1, -1, 7, 5000 },
	{ 0, FUNC_EXIT, 0x11, 6000 },
	{ 0, 10 + FUNC_OS_SWITCH_OUT, 1, 7000 },
	{ 1, 10 + FUNC_OS_SWITCH_OUT, 16, 8000 },
};
#define USUAL (sizeof(usual) / sizeof(usual[0]))

static struct func_items *usual_calls(void)
{
	struct func_items *s = func_items_new(2);

	func_items_add_event(s, 0, FUNC_ENTER, 0x10, 1000);
	func_items_add_event(s, 1, FUNC_ENTER, 0x20, 1500);
	func_items_add_event(s, 0, FUNC_ENTER, 0x11, 3500);
	func_items_add_event(s, 0, FUNC_EXIT, 0x11, 6000);
	return s;
}

static struct sched_list *usual_sched(void)
{
	struct sched_list *l = list_new();
	struct trace_item *loss;

	add_switch(l, 0, 500, 0, 900, 0); /* before its first call */
	add_switch(l, 2, 2000, 900, 901, 0x100);
	add_switch(l, 2, 3000, 901, 900, 1);
	add_waking(l, SCHED_WAKING, 4000, 901, 900);
	add_waking(l, SCHED_WAKEUP, 4100, 901, 900);
	add_waking(l, SCHED_WAKING, 4200, 77, 900); /* nobody that we know */
	add_switch(l, 1, 4500, 0, 901, 0);
	add_switch(l, 3, 5000, 78, 77, 1);
	loss = &l->items[l->n++];
	loss->type = ITEM_LOSS;
	loss->cpu = 3;
	loss->loss = (struct trace_loss){
		.from_tick = 5000, .to_tick = 5500, .count = 7, .cause = LOSS_RING
	};
	add_switch(l, 3, 5500, 77, 78, 1);
	add_switch(l, 0, 7000, 900, 0, 1);
	list_add(l, 1, SCHED_EXIT, 7500)->task.pid = 900;
	add_switch(l, 1, 8000, 901, 0, 16);
	add_switch(l, 1, 9000, 0, 900, 0); /* another with its number */
	return l;
}

static void test_usual(void **state)
{
	struct func_source *s = NULL;

	(void)state;
	assert_int_equal(func_sched_new(&usual_calls()->source, &usual_sched()->source, &s, NULL),
			 0);
	assert_int_equal(s->n_threads, 2);
	expect(s, usual, USUAL);
	assert_int_equal(s->ops->rewind(s, NULL), 0);
	expect(s, usual, USUAL);
	func_source_free(s);
}

static void add_os(struct func_items *s, uint32_t thread, enum func_os_type os, uint64_t value,
		   uint64_t tick)
{
	struct func_item item = { .type = FUNC_ITEM_EVENT, .thread = thread };

	item.event = (struct func_event){
		.tick = tick, .value = value, .kind = FUNC_OS, .os = (uint8_t)os
	};
	func_items_add(s, &item);
}

/* The exit of a thread is lost, and its number goes to another task, which makes no calls: what that does
 * is not the thread's. */
static void test_reused(void **state)
{
	static const struct wanted wanted[] = {
		{ 0, FUNC_ENTER, 1, 1000 },
		{ 0, 10 + FUNC_OS_SWITCH_OUT, 1, 2000 },
		{ 1, FUNC_ENTER, 2, 8000 },
	};
	struct func_items *calls = func_items_new(2);
	struct sched_list *sched = list_new();
	struct func_source *s = NULL;

	(void)state;
	func_items_add_event(calls, 0, FUNC_ENTER, 1, 1000);
	func_items_add_event(calls, 1, FUNC_ENTER, 2, 8000);
	add_switch(sched, 0, 2000, 900, 0, 1);
	list_add(sched, 1, SCHED_FORK, 3000)->other.pid = 900;
	add_waking(sched, SCHED_WAKEUP_NEW, 3100, 900, 5);
	add_switch(sched, 0, 4000, 0, 900, 0);
	add_switch(sched, 0, 5000, 900, 0, 1);
	assert_int_equal(func_sched_new(&calls->source, &sched->source, &s, NULL), 0);
	expect(s, wanted, sizeof(wanted) / sizeof(wanted[0]));
	func_source_free(s);
}

/* A thread that an agent watched has records of its own: it gets no others. */
static void test_watched(void **state)
{
	static const struct wanted wanted[] = {
		{ 0, 10 + FUNC_OS_WATCH, 3, 900 },    { 0, FUNC_ENTER, 1, 1000 },
		{ 1, FUNC_ENTER, 2, 1500 },	      { 1, 10 + FUNC_OS_SWITCH_IN, 2, 2000 },
		{ 0, 10 + FUNC_OS_SYSCALL, 5, 2500 }, { 0, FUNC_EXIT, 1, 4000 },
		{ 1, 10 + FUNC_OS_WATCH, 3, 5000 },
	};
	struct func_items *calls = func_items_new(2);
	struct sched_list *sched = list_new();
	struct func_source *s = NULL;
	int round;

	(void)state;
	add_os(calls, 0, FUNC_OS_WATCH, 3, 900);
	func_items_add_event(calls, 0, FUNC_ENTER, 1, 1000);
	func_items_add_event(calls, 1, FUNC_ENTER, 2, 1500);
	add_os(calls, 0, FUNC_OS_SYSCALL, 5, 2500);
	func_items_add_event(calls, 0, FUNC_EXIT, 1, 4000);
	add_os(calls, 1, FUNC_OS_WATCH, 3, 5000);
	add_switch(sched, 2, 2000, 900, 901, 0x100);
	add_switch(sched, 2, 6000, 901, 900, 1); /* by now it has its own, too */
	assert_int_equal(func_sched_new(&calls->source, &sched->source, &s, NULL), 0);
	for (round = 0; round < 2; round++) {
		expect(s, wanted, sizeof(wanted) / sizeof(wanted[0]));
		assert_int_equal(s->ops->rewind(s, NULL), 0);
	}
	func_source_free(s);
}

/* It began to lose events before the first call, and went on. */
static void test_lasting_loss(void **state)
{
	static const struct wanted wanted[] = {
		{ 0, FUNC_ENTER, 1, 1000 },
		{ 0, -1, 3, 0 },
		{ 0, FUNC_EXIT, 1, 1100 },
		{ 1, FUNC_ENTER, 2, 5000 },
	};
	struct func_items *calls = func_items_new(2);
	struct sched_list *sched = list_new();
	struct func_source *s = NULL;

	(void)state;
	func_items_add_event(calls, 0, FUNC_ENTER, 1, 1000);
	func_items_add_event(calls, 0, FUNC_EXIT, 1, 1100);
	func_items_add_event(calls, 1, FUNC_ENTER, 2, 5000);
	sched->items[0].type = ITEM_LOSS;
	sched->items[0].loss = (struct trace_loss){ .to_tick = 4000, .count = 3 };
	sched->n = 1;
	assert_int_equal(func_sched_new(&calls->source, &sched->source, &s, NULL), 0);
	expect(s, wanted, sizeof(wanted) / sizeof(wanted[0]));
	func_source_free(s);
}

/* The calls' clock is a counter that starts at another time and runs at another rate. */
static void test_counter(void **state)
{
	static const struct wanted wanted[] = {
		{ 0, FUNC_ENTER, 1, 1000 },
		{ 0, 10 + FUNC_OS_SWITCH_OUT, 0, 1000 + 25000 },
		{ 0, 10 + FUNC_OS_SWITCH_IN, 0, 1000 + 50000 },
		{ 0, FUNC_EXIT, 1, 1000 + 75000 },
	};
	struct func_items *calls = func_items_new(1);
	struct sched_list *sched = list_new();
	struct func_source *s = NULL;

	(void)state;
	func_items_add_event(calls, 0, FUNC_ENTER, 1, 1000);
	func_items_add_event(calls, 0, FUNC_EXIT, 1, 1000 + 75000);
	assert_int_equal(func_source_add_sync(&calls->source, 1000, 5 * SECOND), 0);
	func_clock_settle(&calls->source, 25000000);
	add_switch(sched, 0, 5 * SECOND + 1000000, 900, 0, 0);
	add_switch(sched, 0, 5 * SECOND + 2000000, 0, 900, 0);
	assert_int_equal(func_sched_new(&calls->source, &sched->source, &s, NULL), 0);
	expect(s, wanted, sizeof(wanted) / sizeof(wanted[0]));
	func_source_free(s);
}

static void test_clocks(void **state)
{
	static const struct wanted wanted[] = { { 0, FUNC_ENTER, 1, 1000 },
						{ 0, 10 + FUNC_OS_SWITCH_OUT, 0, 1500 } };
	struct func_items *calls = func_items_new(1);
	struct sched_list *sched = list_new();
	struct func_source *s = NULL;
	struct error e = ERROR_INIT;

	(void)state;
	strcpy(sched->source.info.clock.name, "local");
	assert_int_equal(func_sched_new(&calls->source, &sched->source, &s, &e), -EXDEV);
	assert_non_null(strstr(e.text, "(local, mono) have nothing in common"));
	/* Both know the real time: that ties them. */
	calls = func_items_new(1);
	sched = list_new();
	strcpy(sched->source.info.clock.name, "local");
	calls->source.clock.has_realtime = sched->source.info.clock.has_realtime = true;
	calls->source.clock.realtime_off_ns = 10000;
	sched->source.info.clock.realtime_off_ns = 8000;
	func_items_add_event(calls, 0, FUNC_ENTER, 1, 1000);
	add_switch(sched, 0, 3500, 900, 0, 0);
	assert_int_equal(func_sched_new(&calls->source, &sched->source, &s, &e), 0);
	expect(s, wanted, 2);
	func_source_free(s);
}

/* Both kinds of streams in one file. */
static void test_file(void **state)
{
	char folder[] = "/tmp/kiseki-test-XXXXXX", path[64];
	struct func_items *calls = usual_calls();
	struct sched_list *sched = usual_sched();
	struct sink_ksk_options o = { .codec = CODEC_SCHED, .calls = &calls->source };
	struct trace_sink *sink = NULL;
	struct func_source *s = NULL;
	struct trace_item item;
	struct error e = ERROR_INIT;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/both.ksk", folder);
	assert_int_equal(sink_ksk_new(&sink, path, &o, &e), 0);
	assert_int_equal(sink->ops->begin(sink, &sched->source.info, &e), 0);
	while (sched->source.ops->next(&sched->source, &item, &e) == 1)
		assert_int_equal(sink->ops->item(sink, &item, &e), 0);
	assert_int_equal(sink->ops->end(sink, &e), 0);
	sink_free(sink);
	if (func_ksk_open_joined(path, &s, &e) < 0)
		fail_msg("%s", e.text);
	expect(s, usual, USUAL);
	func_source_free(s);
	func_source_free(&calls->source);
	source_free(&sched->source);
	assert_int_equal(remove(path), 0);
	assert_int_equal(remove(folder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_usual),	cmocka_unit_test(test_reused),
		cmocka_unit_test(test_watched), cmocka_unit_test(test_lasting_loss),
		cmocka_unit_test(test_counter), cmocka_unit_test(test_clocks),
		cmocka_unit_test(test_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
