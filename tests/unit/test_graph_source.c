/* SPDX-License-Identifier: MIT */
/* graph_source: threads in the order of time, and gaps between what is there. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "convert/graph_source.h"
#include "wire/loss.h"

static void push(struct graph_calls *c, int32_t pid, struct graph_record r)
{
	uint32_t thread;

	assert_int_equal(graph_calls_get_thread(c, pid, 0, &thread), 0);
	assert_int_equal(graph_calls_push(c, thread, &r), 0);
}

static struct graph_record make(uint64_t tick, uint8_t kind)
{
	return (struct graph_record){ .tick = tick, .call_tick = GRAPH_NO_TICK, .kind = kind };
}

static struct func_source *finish(struct graph_calls *calls)
{
	struct graph_source_parts parts = { .origin = "test" };
	struct error e = ERROR_INIT;
	struct func_source *s;

	assert_int_equal(graph_calls_finish(calls), 0);
	clock_init(&parts.clock);
	parts.calls = *calls;
	if (graph_source_new(&parts, &s, &e) < 0)
		fail_msg("%s", e.text);
	return s;
}

static void expect(struct func_source *s, uint32_t thread, uint8_t kind, uint64_t tick)
{
	struct func_item it;

	assert_int_equal(s->ops->next(s, &it, NULL), 1);
	assert_int_equal(it.type, FUNC_ITEM_EVENT);
	assert_int_equal(it.thread, thread);
	assert_int_equal(it.event.kind, kind);
	assert_int_equal(it.event.tick, tick);
}

static void expect_loss(struct func_source *s, uint64_t from, uint64_t to, uint64_t count)
{
	struct func_item it;

	assert_int_equal(s->ops->next(s, &it, NULL), 1);
	assert_int_equal(it.type, FUNC_ITEM_LOSS);
	assert_int_equal(it.loss.from_tick, from);
	assert_int_equal(it.loss.to_tick, to);
	assert_int_equal(it.loss.count, count);
	assert_int_equal(it.loss.cause, LOSS_RING);
}

/* At the start, between two records, and at the end: where a return was before it that was recorded late. */
static void test_losses(void **state)
{
	struct graph_record exit = make(14, FUNC_EXIT), os = make(16, FUNC_OS);
	struct graph_record loss = make(10, GRAPH_LOSS);
	struct func_source *s;
	struct graph_calls c;
	struct func_item it;

	(void)state;
	graph_calls_init(&c, 0);
	loss.value = 3;
	push(&c, 7, loss);
	push(&c, 7, make(10, FUNC_ENTER));
	loss.tick = 16;
	push(&c, 7, loss);
	push(&c, 7, os);
	loss.tick = 30;
	loss.value = 9;
	push(&c, 7, loss);
	exit.timed = true;
	exit.call_tick = 10;
	push(&c, 7, exit);
	s = finish(&c);
	expect_loss(s, 0, 10, 3);
	expect(s, 0, FUNC_ENTER, 10);
	expect_loss(s, 10, 14, 3);
	expect(s, 0, FUNC_EXIT, 14);
	expect(s, 0, FUNC_OS, 16);
	expect_loss(s, 16, 16, 9);
	assert_int_equal(s->ops->next(s, &it, NULL), 0);
	func_source_free(s);
}

/* At one tick the thread that was seen first goes first. */
static void test_order(void **state)
{
	struct func_source *s;
	struct graph_calls c;
	int again;

	(void)state;
	graph_calls_init(&c, 0);
	push(&c, 7, make(10, FUNC_ENTER));
	push(&c, 8, make(5, FUNC_ENTER));
	push(&c, 9, make(10, FUNC_ENTER));
	push(&c, 10, make(1, FUNC_OS)); /* has no calls */
	push(&c, 8, make(10, FUNC_EXIT));
	s = finish(&c);
	assert_int_equal(s->n_threads, 3);
	for (again = 0; again < 2; again++) {
		expect(s, 1, FUNC_ENTER, 5);
		expect(s, 0, FUNC_ENTER, 10);
		expect(s, 1, FUNC_EXIT, 10);
		expect(s, 2, FUNC_ENTER, 10);
		assert_int_equal(s->ops->rewind(s, NULL), 0);
	}
	func_source_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_losses),
		cmocka_unit_test(test_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
