/* SPDX-License-Identifier: MIT */
/* Stacks of calls: each call ends once, and its parts add up to it, whatever the stream is like. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/call_stack.h"

#define ENDED_MAX 4096

struct ended {
	uint32_t function, depth;
	bool recursive;
	uint64_t begin_ns, ns, children_ns;
	struct call_split local;
	enum call_end end;
};

struct log {
	struct ended ended[ENDED_MAX];
	size_t n, begun;
	struct call_counts counts;
	struct call_stack *stack;
};

static int begin(void *data, const struct call_at *at)
{
	struct log *l = data;

	assert_int_equal(at->depth ? 1 : 0, at->caller ? 1 : 0);
	assert_int_equal(at->ns, at->call->begin_ns);
	l->begun++;
	return 0;
}

static int end(void *data, const struct call_at *at)
{
	struct log *l = data;
	struct ended *x = &l->ended[l->n++];

	assert_true(l->n <= ENDED_MAX);
	x->function = at->call->function;
	x->depth = at->depth;
	x->recursive = at->call->recursive;
	x->begin_ns = at->call->begin_ns;
	x->ns = at->ns;
	x->children_ns = at->call->children_ns;
	x->local = at->call->local;
	x->end = at->end;
	/* What must hold of every call. */
	assert_int_equal(call_split_sum(&x->local) + x->children_ns, x->ns - x->begin_ns);
	return 0;
}

static const struct call_listener listener = { .begin = begin, .end = end };

static struct log *open_log(bool kernel)
{
	struct log *l = calloc(1, sizeof(*l));
	struct call_stack_options o = {
		.kernel = kernel, .listener = &listener, .data = l, .counts = &l->counts
	};

	assert_non_null(l);
	assert_int_equal(call_stack_new(&l->stack, &o), 0);
	return l;
}

static void close_log(struct log *l)
{
	assert_int_equal(call_stack_finish(l->stack), 0);
	assert_int_equal(l->n, l->begun);
	assert_int_equal(call_stack_depth(l->stack), 0);
	call_stack_free(l->stack);
	free(l);
}

static void os(struct log *l, uint64_t ns, enum func_os_type what, uint64_t value)
{
	struct func_event ev = { .kind = FUNC_OS, .os = (uint8_t)what, .value = value };

	call_stack_os(l->stack, ns, &ev);
}

static void enter(struct log *l, uint64_t ns, uint32_t function)
{
	assert_int_equal(call_stack_enter(l->stack, ns, function), 0);
}

static void leave(struct log *l, uint64_t ns, uint32_t function)
{
	assert_int_equal(call_stack_exit(l->stack, ns, function), 0);
}

static const struct ended *last(const struct log *l)
{
	return &l->ended[l->n - 1];
}

static void test_nested(void **state)
{
	struct log *l = open_log(false);

	(void)state;
	enter(l, 100, 1);
	enter(l, 110, 2);
	leave(l, 150, 2);
	assert_int_equal(last(l)->local.ns[CALL_UNKNOWN], 40);
	enter(l, 160, 2);
	enter(l, 165, 2);
	leave(l, 170, 2);
	assert_true(last(l)->recursive);
	assert_int_equal(last(l)->depth, 2);
	leave(l, 180, 2);
	assert_false(last(l)->recursive);
	leave(l, 200, 1);
	assert_int_equal(last(l)->children_ns, 60);
	assert_int_equal(last(l)->local.ns[CALL_UNKNOWN], 40);
	assert_int_equal(l->counts.ends[CALL_RETURNED], 4);
	close_log(l);
}

/* longjmp, exceptions: the exit names a function deeper in the stack. */
static void test_unwound(void **state)
{
	struct log *l = open_log(false);

	(void)state;
	enter(l, 0, 1);
	enter(l, 10, 2);
	enter(l, 20, 3);
	enter(l, 30, 4);
	leave(l, 50, 2);
	assert_int_equal(l->n, 3);
	assert_int_equal(l->ended[0].function, 4);
	assert_int_equal(l->ended[0].end, CALL_UNWOUND);
	assert_int_equal(l->ended[1].end, CALL_UNWOUND);
	assert_int_equal(l->ended[2].end, CALL_RETURNED);
	assert_int_equal(l->ended[2].ns, 50);
	assert_int_equal(call_stack_depth(l->stack), 1);
	close_log(l);
}

static void test_orphans_and_open(void **state)
{
	struct log *l = open_log(false);

	(void)state;
	leave(l, 5, 9);
	enter(l, 10, 1);
	leave(l, 20, 9);
	leave(l, 20, 8);
	assert_int_equal(l->counts.orphans, 3);
	assert_int_equal(call_stack_depth(l->stack), 1);
	enter(l, 30, 2);
	assert_int_equal(call_stack_finish(l->stack), 0);
	assert_int_equal(l->counts.ends[CALL_OPEN], 2);
	assert_int_equal(last(l)->ns, 30);
	close_log(l);
}

static void test_loss(void **state)
{
	struct log *l = open_log(false);

	(void)state;
	os(l, 0, FUNC_OS_SWITCH_IN, 0);
	enter(l, 0, 1);
	enter(l, 10, 2);
	assert_int_equal(call_stack_lose(l->stack, 40), 0);
	assert_int_equal(l->n, 2);
	assert_int_equal(l->ended[0].end, CALL_CUT);
	assert_int_equal(l->ended[0].local.ns[CALL_USER], 30);
	leave(l, 90, 2); /* its entry was cut */
	assert_int_equal(l->counts.orphans, 1);
	enter(l, 100, 3);
	leave(l, 110, 3);
	assert_int_equal(last(l)->local.ns[CALL_UNKNOWN], 10); /* no record since the loss */
	os(l, 110, FUNC_OS_SWITCH_IN, 0);
	enter(l, 120, 3);
	leave(l, 130, 3);
	assert_int_equal(last(l)->local.ns[CALL_USER], 10);
	close_log(l);
}

/* A counter that steps back costs no call a negative time. */
static void test_backwards(void **state)
{
	struct log *l = open_log(false);

	(void)state;
	enter(l, 100, 1);
	enter(l, 90, 2);
	leave(l, 95, 2);
	assert_int_equal(last(l)->ns - last(l)->begin_ns, 0);
	leave(l, 120, 1);
	assert_int_equal(last(l)->ns - last(l)->begin_ns, 20);
	close_log(l);
}

static void test_split(void **state)
{
	struct log *l = open_log(false);
	const uint64_t *ns;

	(void)state;
	os(l, 0, FUNC_OS_SWITCH_IN, 0);
	enter(l, 1000, 1);
	os(l, 1010, FUNC_OS_SYSCALL, 101);	   /* user 10 */
	os(l, 1030, FUNC_OS_SWITCH_OUT, 1);	   /* kernel 20 */
	os(l, 1530, FUNC_OS_WAKING, 7);		   /* blocked 500 */
	os(l, 1570, FUNC_OS_SWITCH_IN, 1);	   /* waiting 40 */
	os(l, 1575, FUNC_OS_SYSCALL_RETURN, 101);  /* kernel 5 */
	os(l, 1600, FUNC_OS_SWITCH_OUT, 0);	   /* user 25 */
	os(l, 1700, FUNC_OS_SWITCH_IN, 0);	   /* preempted 100 */
	os(l, 1710, FUNC_OS_INTERRUPT, 30);	   /* user 10 */
	os(l, 1713, FUNC_OS_INTERRUPT_RETURN, 30); /* kernel 3 */
	os(l, 1720, FUNC_OS_SWITCH_OUT, 0x100);	   /* user 7; R+ as new kernels write it */
	os(l, 1740, FUNC_OS_SWITCH_IN, 0);	   /* preempted 20 */
	leave(l, 1750, 1);			   /* user 10 */
	ns = last(l)->local.ns;
	assert_int_equal(ns[CALL_USER], 62);
	assert_int_equal(ns[CALL_KERNEL], 28);
	assert_int_equal(ns[CALL_PREEMPTED], 160);
	assert_int_equal(ns[CALL_BLOCKED], 500);
	assert_int_equal(ns[CALL_UNKNOWN], 0);
	close_log(l);
}

/* With system calls recorded: nothing is assumed of what was before, and a call of the thread is enough to
 * know that it ran its own code. */
static void test_watch(void **state)
{
	const uint64_t all = FUNC_WATCH_SWITCHES | FUNC_WATCH_SYSCALLS;
	struct log *l = open_log(false);
	const uint64_t *ns;

	(void)state;
	enter(l, 0, 1);
	enter(l, 10, 2);
	/* It sleeps in a call of the system whose begin nobody saw. */
	os(l, 100, FUNC_OS_WATCH, all);
	os(l, 500, FUNC_OS_WAKING, 7);		 /* unknown 490 */
	os(l, 510, FUNC_OS_SWITCH_IN, 0);	 /* preempted 10 */
	os(l, 530, FUNC_OS_SYSCALL_RETURN, 101); /* unknown 20: in a call or not? */
	leave(l, 540, 2);			 /* user 10 */
	ns = last(l)->local.ns;
	assert_int_equal(ns[CALL_UNKNOWN], 510);
	assert_int_equal(ns[CALL_PREEMPTED], 10);
	assert_int_equal(ns[CALL_USER], 10);
	assert_int_equal(call_split_sum(&last(l)->local), 530);
	/* Records are missing: those between are not believed. */
	os(l, 600, FUNC_OS_WATCH, 0);
	enter(l, 610, 3);
	os(l, 620, FUNC_OS_SWITCH_OUT, 1);
	os(l, 630, FUNC_OS_SWITCH_IN, 0);
	leave(l, 640, 3);
	assert_int_equal(last(l)->local.ns[CALL_UNKNOWN], 30);
	os(l, 700, FUNC_OS_WATCH, all);
	enter(l, 710, 3); /* no record, but it calls */
	os(l, 730, FUNC_OS_SYSCALL, 5);
	os(l, 770, FUNC_OS_SYSCALL_RETURN, 5);
	leave(l, 780, 3);
	assert_int_equal(last(l)->local.ns[CALL_USER], 30);
	assert_int_equal(last(l)->local.ns[CALL_KERNEL], 40);
	/* Switches alone: a thread that has a CPU runs, as far as anybody can tell. */
	os(l, 800, FUNC_OS_WATCH, FUNC_WATCH_SWITCHES);
	os(l, 800, FUNC_OS_SWITCH_IN, 0);
	leave(l, 900, 1);
	assert_int_equal(last(l)->local.ns[CALL_USER], 180);
	assert_int_equal(last(l)->local.ns[CALL_UNKNOWN], 90);
	close_log(l);
}

/* Woken on another CPU before it was off its own: it waits from the moment it left. */
static void test_early_waking(void **state)
{
	struct log *l = open_log(false);

	(void)state;
	os(l, 0, FUNC_OS_SWITCH_IN, 0);
	enter(l, 0, 1);
	os(l, 100, FUNC_OS_WAKING, 7);
	os(l, 101, FUNC_OS_SWITCH_OUT, 1);
	os(l, 121, FUNC_OS_SWITCH_IN, 0);
	/* This one led to no switch: it ran on. The sleep after it is a sleep. */
	os(l, 130, FUNC_OS_WAKING, 7);
	enter(l, 140, 2);
	leave(l, 141, 2);
	os(l, 150, FUNC_OS_SWITCH_OUT, 1);
	os(l, 180, FUNC_OS_SWITCH_IN, 0);
	leave(l, 190, 1);
	assert_int_equal(last(l)->local.ns[CALL_PREEMPTED], 20);
	assert_int_equal(last(l)->local.ns[CALL_BLOCKED], 30);
	close_log(l);
}

/* Function events of a thread that should sleep: a few are skew, many are missing records. */
static void test_doubts(void **state)
{
	struct log *l = open_log(false);
	uint64_t i;

	(void)state;
	os(l, 0, FUNC_OS_SWITCH_IN, 0);
	enter(l, 0, 1);
	os(l, 10, FUNC_OS_SWITCH_OUT, 1);
	enter(l, 11, 2); /* stamped a little too late */
	os(l, 100, FUNC_OS_SWITCH_IN, 0);
	leave(l, 110, 2);
	assert_int_equal(last(l)->local.ns[CALL_BLOCKED], 89);
	os(l, 120, FUNC_OS_SWITCH_OUT, 1);
	for (i = 0; i < 100; i++) {
		enter(l, 130 + 20 * i, 2);
		leave(l, 140 + 20 * i, 2);
	}
	assert_int_equal(last(l)->local.ns[CALL_UNKNOWN], 10);
	close_log(l);
}

/* 15 events of a thread that should sleep may be skew; with the 16th its records are not believed
 * until the next one. */
static void test_limit_of_doubts(void **state)
{
	struct log *l = open_log(false);
	uint64_t doubts, i;

	(void)state;
	for (doubts = 15; doubts <= 16; doubts++) {
		uint64_t at = doubts * 1000;

		os(l, at, FUNC_OS_SWITCH_IN, 0);
		enter(l, at, 1);
		os(l, at + 10, FUNC_OS_SWITCH_OUT, 1);
		for (i = 0; i < doubts; i++)
			(i % 2 ? leave : enter)(l, at + 20, 2);
		os(l, at + 900, FUNC_OS_SWITCH_IN, 0);
		if (doubts % 2) {
			leave(l, at + 900, 2);
			assert_int_equal(last(l)->local.ns[CALL_BLOCKED], 880);
		}
		leave(l, at + 910, 1);
		assert_int_equal(last(l)->local.ns[CALL_BLOCKED], 10);
		assert_int_equal(last(l)->local.ns[CALL_UNKNOWN], doubts == 16 ? 880 : 0);
	}
	close_log(l);
}

static void test_kernel(void **state)
{
	struct log *l = open_log(true);

	(void)state;
	os(l, 0, FUNC_OS_SWITCH_IN, 0);
	enter(l, 0, 1);
	os(l, 40, FUNC_OS_SWITCH_OUT, 2);
	os(l, 90, FUNC_OS_SWITCH_IN, 0);
	leave(l, 100, 1);
	assert_int_equal(last(l)->local.ns[CALL_KERNEL], 50);
	assert_int_equal(last(l)->local.ns[CALL_BLOCKED], 50);
	close_log(l);
}

/* Deeper than is followed: counted, and what is followed stays right. */
static void test_too_deep(void **state)
{
	struct call_counts counts = { 0 };
	const struct call_listener nobody = { NULL, NULL };
	struct call_stack_options o = { .listener = &nobody, .counts = &counts };
	struct call_stack *s = NULL;
	uint32_t i;

	(void)state;
	assert_int_equal(call_stack_new(&s, &o), 0);
	for (i = 0; i < CALL_DEPTH_MAX + 10; i++)
		assert_int_equal(call_stack_enter(s, i, i % 3), 0);
	assert_int_equal(counts.too_deep, 10);
	for (; i > 0; i--)
		assert_int_equal(call_stack_exit(s, 2 * CALL_DEPTH_MAX, (i - 1) % 3), 0);
	assert_int_equal(call_stack_depth(s), 0);
	assert_int_equal(counts.ends[CALL_RETURNED], CALL_DEPTH_MAX);
	assert_int_equal(counts.orphans, 0);
	call_stack_free(s);
}

static uint32_t lcg(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(*seed >> 33);
}

static void do_anything(struct log *l, uint64_t ns, uint64_t *seed)
{
	switch (lcg(seed) % 8) {
	case 0:
	case 1:
	case 2:
		enter(l, ns, lcg(seed) % 10);
		break;
	case 3:
	case 4:
		leave(l, ns, lcg(seed) % 10);
		break;
	case 5:
		if (lcg(seed) % 50 == 0)
			assert_int_equal(call_stack_lose(l->stack, ns), 0);
		break;
	default:
		os(l, ns, lcg(seed) % 9, lcg(seed) % 3);
	}
}

/* Anything at all: the listener checks each call, close_log that each ended once. */
static void test_random(void **state)
{
	struct log *l;
	uint64_t seed = 1, ns;
	int round, i;

	(void)state;
	for (round = 0; round < 300; round++) {
		l = open_log(round & 1);
		ns = 1000;
		for (i = 0; i < 1000; i++) {
			ns += lcg(&seed) % 50;
			ns -= lcg(&seed) % 3;
			do_anything(l, ns, &seed);
		}
		close_log(l);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nested),
		cmocka_unit_test(test_unwound),
		cmocka_unit_test(test_orphans_and_open),
		cmocka_unit_test(test_loss),
		cmocka_unit_test(test_backwards),
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_watch),
		cmocka_unit_test(test_early_waking),
		cmocka_unit_test(test_doubts),
		cmocka_unit_test(test_limit_of_doubts),
		cmocka_unit_test(test_kernel),
		cmocka_unit_test(test_too_deep),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
