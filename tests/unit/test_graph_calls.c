/* SPDX-License-Identifier: MIT */
/*
 * graph_calls: records with ends missing, and what comes out. A line of a script is a record: the tick,
 * what it is ('>' entry, '<' exit, 't' an exit with the time of its return, '!' loss, 'o' of the OS), depth, function, and of an exit the tick of
 * its call.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "convert/graph_calls.h"

static void push(struct graph_calls *c, uint32_t thread, const char *line)
{
	struct graph_record r = { .call_tick = GRAPH_NO_TICK };
	unsigned long long tick, call;
	unsigned int depth;
	char kind, func;
	int n = sscanf(line, "%llu %c %u %c %llu", &tick, &kind, &depth, &func, &call);

	assert_true(n >= 4);
	r.tick = tick;
	r.depth = (uint16_t)depth;
	r.value = (uint64_t)func;
	r.kind = kind == '>'		      ? FUNC_ENTER
		 : kind == '<' || kind == 't' ? FUNC_EXIT
		 : kind == '!'		      ? GRAPH_LOSS
					      : FUNC_OS;
	r.timed = kind == 't';
	if (n == 5)
		r.call_tick = call;
	assert_int_equal(graph_calls_push(c, thread, &r), 0);
}

/* Runs a script; what comes out is in the same form, "tick kind func". */
static void check(const char *const *script, const char *want, uint64_t slack)
{
	struct graph_calls c;
	struct graph_thread *t;
	uint32_t thread;
	char got[1024] = "";
	size_t i, at = 0;

	graph_calls_init(&c, slack);
	assert_int_equal(graph_calls_get_thread(&c, 7, 0, &thread), 0);
	for (i = 0; script[i]; i++)
		push(&c, thread, script[i]);
	assert_int_equal(graph_calls_finish(&c), 0);
	assert_int_equal(c.n, 1);
	t = &c.threads[0];
	for (i = 0; i < t->n; i++)
		at += (size_t)snprintf(got + at, sizeof(got) - at, "%s%llu%c%c", i ? " " : "",
				       (unsigned long long)t->records[i].tick,
				       t->records[i].kind == FUNC_ENTER	  ? '>'
				       : t->records[i].kind == FUNC_EXIT  ? '<'
				       : t->records[i].kind == GRAPH_LOSS ? '!'
									  : 'o',
				       (char)t->records[i].value);
	assert_string_equal(got, want);
	graph_calls_done(&c);
}

#define CHECK(want, slack, ...) check((const char *const[]){ __VA_ARGS__, NULL }, want, slack)

static void test_whole(void **state)
{
	(void)state;
	CHECK("10>a 12>b 15<b 20<a", 0, "10 > 0 a", "12 > 1 b", "15 < 1 b", "20 < 0 a");
	/* Entries move to the moment of the call, but not before what was there. */
	CHECK("9>a 10>b 15<b 20<a", 0, "10 > 0 a", "12 > 1 b", "15 < 1 b 10", "20 < 0 a 9");
	CHECK("10>a 20<a 20>b 25<b", 0, "10 > 0 a", "20 < 0 a 10", "22 > 0 b", "25 < 0 b 18");
	/* A call that says it began later than it did left sleep out. */
	CHECK("10>a 90<a", 0, "10 > 0 a", "90 < 0 a 80");
	/* Within the slack of text it is believed. */
	CHECK("10>a 90<a", 5, "8 > 0 a", "90 < 0 a 10");
	CHECK("10>a 12>b", 0, "10 > 0 a", "12 > 1 b");
}

static void test_only_exits(void **state)
{
	(void)state;
	CHECK("10>a 12>b 13>c 15<c 16<b 17>d 18<d 20<a 30>a 40<a", 0, "15 < 2 c 13", "16 < 1 b 12",
	      "18 < 1 d 17", "20 < 0 a 10", "40 < 0 a 30");
	/* b is deeper than a and was over before it began. */
	CHECK("10>b 12<b 20>a 30<a", 0, "12 < 3 b 10", "30 < 0 a 20");
	/* Zero-length calls keep their order. */
	CHECK("10>a 10>b 10<b 10<a", 0, "10 < 1 b 10", "10 < 0 a 10");
	/* Without the moment of the call nothing can be made up. */
	CHECK("15<a", 0, "15 < 0 a");
}

static void test_missing_ends(void **state)
{
	(void)state;
	/* The recording began inside of a. */
	CHECK("5>a 12>b 15<b 20<a", 0, "12 > 1 b", "15 < 1 b", "20 < 0 a 5");
	/* c shows that a and b are over. */
	CHECK("10>a 12>b 30<b 30<a 30>c 40<c", 0, "10 > 0 a", "12 > 1 b", "30 > 0 c", "40 < 0 c");
	CHECK("10>a 12>b 20<b 20<a", 0, "10 > 0 a", "12 > 1 b", "20 < 0 a");
	/* b's entry and a's exit are lost: a was over when b began, and c, which came later, is b's. */
	CHECK("10>a 15<a 15>b 20<b", 0, "10 > 0 a", "20 < 0 b 15");
	CHECK("10>a 15<a 15>b 16>c 18<c 20<b", 0, "10 > 0 a", "16 > 1 c", "18 < 1 c 16",
	      "20 < 0 b 15");
	/* The interrupt i shows that a is over, and b's late return that it was over before. */
	CHECK("10>a 15<a 15>b 20<b 36>i 40<i", 0, "10 > 1 a", "40 t 1 i 36", "20 t 1 b 15");
	CHECK("10>b 12>a 20<a 20<b 36>i 40<i", 0, "10 > 0 b", "12 > 1 a", "40 t 1 i 36",
	      "20 t 0 b 10");
	/* x is deeper than a, whose entry is lost: it was over when a returned, and not when a began. */
	CHECK("10>p 12>a 12>x 20<x 20<a", 0, "10 > 0 p", "12 > 2 x", "20 t 1 a 15");
}

static void test_interrupts(void **state)
{
	(void)state;
	/* Between the call of a at 10 and its record at 20 an interrupt was recorded, at a's depth. */
	CHECK("10>a 12>i 15<i 30<a", 0, "12 > 0 i", "15 < 0 i 12", "20 > 0 a", "30 < 0 a 10");
	/* The same where only exits are. */
	CHECK("10>a 12>i 15<i 30<a", 0, "15 < 0 i 12", "30 < 0 a 10");
	/* Between the return of a at 14 and its record. */
	CHECK("10>a 14<a 16>i 17>j 18<j 20<i", 0, "10 > 0 a", "16 > 0 i", "17 > 1 j", "18 < 1 j 17",
	      "20 < 0 i 16", "14 < 0 a 10");
	CHECK("10>a 14<a 16>i 20<i", 0, "20 < 0 i 16", "14 < 0 a 10");
	/* Between the return of a and its record; the return was timed before it, or after it. */
	CHECK("10>a 30<a 40>i 50<i", 0, "10 > 1 a", "40 > 1 i", "50 < 1 i", "30 t 1 a");
	CHECK("10>a 40>i 50<i 60<a", 0, "10 > 1 a", "40 > 1 i", "50 t 1 i", "60 t 1 a 10");
}

/* What was recorded between a return that was timed and its record came after it, whatever its depth: since
 * Linux 6.11 that is one below the call. */
static void test_late_records(void **state)
{
	(void)state;
	CHECK("10>a 14<a 16>i 17>j 18<j 20<i", 0, "10 > 0 a", "16 > 1 i", "17 > 2 j", "18 t 2 j",
	      "20 t 1 i", "14 t 0 a 10");
	/* Its own calls stay inside, also one that ended with it. */
	CHECK("10>a 12>b 14<b 14<a 15>i 20<i", 0, "10 > 0 a", "12 > 1 b", "14 t 1 b", "16 > 1 i",
	      "20 t 1 i 15", "14 t 0 a 10");
	/* The task was preempted there, and interrupted again. */
	CHECK("10>a 14<a 15ox 16>i 20<i 30oy 31>s 33<s", 0, "10 > 0 a", "15 o 0 x", "16 > 1 i",
	      "20 t 1 i", "30 o 0 y", "31 > 1 s", "33 t 1 s", "14 t 0 a 10");
	/* An interrupt that has the same tick as the return. */
	CHECK("10>a 14<a 14>i 20<i", 0, "10 > 0 a", "14 > 1 i", "20 t 1 i", "14 t 0 a 10");
	/* A return inside of the interrupt that is late, too. */
	CHECK("10>a 14<a 16>i 18<i 19>j 20<j", 0, "10 > 0 a", "16 > 1 i", "19 > 2 j", "20 t 2 j",
	      "18 t 1 i 16", "14 t 0 a 10");
	/* The entry of a is not there, or none is. */
	CHECK("1>p 10>a 14<a 16>i 20<i 30<p", 0, "1 > 0 p", "16 > 2 i", "20 t 2 i", "14 t 1 a 10",
	      "30 t 0 p");
	CHECK("10>a 14<a 15ox 16>i 20<i", 0, "15 o 0 x", "20 t 1 i 16", "14 t 0 a 10");
	/* A call that cannot be told apart from those below it is not cut through. */
	CHECK("10>a 12>b 15<b 14<a", 0, "10 > 0 a", "12 > 1 b", "15 t 1 b", "14 t 0 a 10");
	/* Without the time of the return the next record bounds it, and the call with it. */
	CHECK("10>a 16<a 16>i 20<i", 0, "10 > 0 a", "16 > 0 i", "20 < 0 i", "25 < 0 a 21");
	CHECK("8>a 16<a 16>i 20<i", 0, "10 > 0 a", "16 > 0 i", "20 < 0 i", "25 < 0 a 17");
}

static void test_loss_and_os(void **state)
{
	(void)state;
	CHECK("10>a 12>b 15<b 20!9 25>c 30<c 40<a", 0, "10 > 0 a", "12 > 1 b", "15 < 1 b",
	      "20 ! 0 9", "30 < 1 c 25", "40 < 0 a");
	/* A call that began before the gap and whose entry was not recorded begins before it. */
	CHECK("5>a 10>b 15<b 20!9 40<a", 0, "10 > 1 b", "15 < 1 b", "20 ! 0 9", "40 < 0 a 5");
	/* A loss is noticed at the next record, whose call began before that, or ended. */
	CHECK("10>a 25!9 25>c 30<c 40<a", 0, "10 > 0 a", "31 ! 0 9", "30 t 1 c 25", "40 < 0 a");
	CHECK("10>a 30!9 30<a", 0, "10 > 0 a", "31 ! 0 9", "30 t 0 a 10");
	CHECK("10>a 25!9 25<a 25>c 30<c", 0, "10 > 1 a", "31 ! 0 9", "30 t 1 c 25");
	/* A return that was before something that was before the gap was before the gap. */
	CHECK("10>a 14<a 16ox 30!9", 0, "10 > 0 a", "16 o 0 x", "30 ! 0 9", "14 t 0 a 10");
	CHECK("10>a 11ox 12>b 15<b 20<a", 0, "10 > 0 a", "11 o 0 x", "14 > 1 b", "15 < 1 b 12",
	      "20 < 0 a");
}

static void test_threads(void **state)
{
	struct graph_calls c;
	uint32_t a, b, again;

	(void)state;
	graph_calls_init(&c, 0);
	assert_int_equal(graph_calls_get_thread(&c, 0, 0, &a), 0);
	assert_int_equal(graph_calls_get_thread(&c, 0, 1, &b), 0);
	assert_int_not_equal(a, b);
	assert_int_equal(graph_calls_get_thread(&c, 0, 1, &again), 0);
	assert_int_equal(b, again);
	assert_int_equal(graph_calls_get_thread(&c, 5, 0, &a), 0);
	assert_int_equal(graph_calls_get_thread(&c, 5, 1, &again), 0);
	assert_int_equal(a, again);
	graph_calls_set_comm(&c, a, "one", 3);
	graph_calls_set_comm(&c, a, "two", 3);
	push(&c, a, "10 > 0 a");
	push(&c, b, "10 o 0 a");
	assert_int_equal(graph_calls_finish(&c), 0);
	assert_int_equal(c.n, 1);
	assert_int_equal(c.threads[0].pid, 5);
	assert_string_equal(c.threads[0].comm, "one");
	graph_calls_done(&c);
}

/* As many calls as can be open, and one more. */
static void test_full(void **state)
{
	struct graph_record r = { .call_tick = GRAPH_NO_TICK, .kind = FUNC_ENTER };
	struct graph_calls c;
	uint32_t thread, i, n = 8 * GRAPH_DEPTH_MAX;

	(void)state;
	graph_calls_init(&c, 0);
	assert_int_equal(graph_calls_get_thread(&c, 7, 0, &thread), 0);
	for (i = 0; i <= n; i++) {
		r.tick = i;
		r.value = i;
		r.depth = (uint16_t)(i < n ? i / 8 : GRAPH_DEPTH_MAX - 1);
		assert_int_equal(graph_calls_push(&c, thread, &r), 0);
	}
	r.kind = FUNC_EXIT;
	for (i = n; i > 0; i--) {
		r.tick++;
		r.value = i;
		r.depth = (uint16_t)(i < n ? i / 8 : GRAPH_DEPTH_MAX - 1);
		assert_int_equal(graph_calls_push(&c, thread, &r), 0);
	}
	assert_int_equal(graph_calls_finish(&c), 0);
	/* The very first and the oldest of the greatest depth got an exit, and that one's own is alone. */
	assert_int_equal(c.threads[0].n, 2 * n + 3);
	graph_calls_done(&c);
}

/* Exits without entries, each of which began after the last one ended: that one goes in front of some, not of any number. */
static void test_many_exits(void **state)
{
	struct graph_record r = { .kind = FUNC_EXIT };
	const uint32_t n = 5000, most = 4096;
	struct graph_calls c;
	uint32_t thread, i;

	(void)state;
	graph_calls_init(&c, 0);
	assert_int_equal(graph_calls_get_thread(&c, 7, 0, &thread), 0);
	for (i = 0; i < n; i++) {
		r.call_tick = 100 + 2 * i;
		r.tick = r.call_tick + 1;
		r.value = 1;
		assert_int_equal(graph_calls_push(&c, thread, &r), 0);
	}
	r.call_tick = 10;
	r.tick = 20;
	r.value = 2;
	assert_int_equal(graph_calls_push(&c, thread, &r), 0);
	assert_int_equal(graph_calls_finish(&c), 0);
	assert_int_equal(c.threads[0].n, 2 * n + 2);
	for (i = 0; i < 2 * n + 2; i++)
		if (c.threads[0].records[i].kind == FUNC_EXIT && c.threads[0].records[i].value == 2)
			break;
	assert_int_equal(2 * n + 2 - 1 - i, 2 * most);
	graph_calls_done(&c);
}

/* Many open calls of one depth, as no kernel has them, stay within bounds. */
static void test_bounds(void **state)
{
	struct graph_calls c;
	struct graph_record r = { .call_tick = GRAPH_NO_TICK };
	uint32_t thread, i;

	(void)state;
	graph_calls_init(&c, 0);
	assert_int_equal(graph_calls_get_thread(&c, 7, 0, &thread), 0);
	for (i = 0; i < 20 * GRAPH_DEPTH_MAX; i++) {
		r.tick = i;
		r.value = i;
		r.depth = (uint16_t)(i / 20);
		r.kind = FUNC_ENTER;
		assert_int_equal(graph_calls_push(&c, thread, &r), 0);
	}
	for (i = 20 * GRAPH_DEPTH_MAX; i-- > 0;) {
		r.tick++;
		r.value = i;
		r.depth = (uint16_t)(i / 20);
		r.kind = FUNC_EXIT;
		r.call_tick = i % 3 ? i : GRAPH_NO_TICK;
		assert_int_equal(graph_calls_push(&c, thread, &r), 0);
	}
	assert_int_equal(graph_calls_finish(&c), 0);
	assert_true(c.threads[0].n >= 40 * GRAPH_DEPTH_MAX);
	graph_calls_done(&c);
}

/* Returns that all claim to be before everything: it is not searched to its start for each of them. */
static void test_many_late(void **state)
{
	struct graph_record os = { .call_tick = GRAPH_NO_TICK, .kind = FUNC_OS };
	struct graph_record exit = { .tick = 1, .call_tick = 0, .kind = FUNC_EXIT, .timed = true };
	struct graph_calls c;
	uint32_t thread, i;

	(void)state;
	graph_calls_init(&c, 0);
	assert_int_equal(graph_calls_get_thread(&c, 7, 0, &thread), 0);
	for (i = 0; i < 1U << 18; i++) {
		os.tick = 2 + i;
		assert_int_equal(graph_calls_push(&c, thread, i & 1 ? &exit : &os), 0);
	}
	assert_int_equal(graph_calls_finish(&c), 0);
	assert_int_equal(c.threads[0].n, 3U << 17);
	graph_calls_done(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),	     cmocka_unit_test(test_only_exits),
		cmocka_unit_test(test_missing_ends), cmocka_unit_test(test_interrupts),
		cmocka_unit_test(test_late_records), cmocka_unit_test(test_loss_and_os),
		cmocka_unit_test(test_threads),	     cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_many_late),    cmocka_unit_test(test_full),
		cmocka_unit_test(test_many_exits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
