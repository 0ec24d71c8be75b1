/* SPDX-License-Identifier: MIT */
/* lives: which life of a pid each piece of evidence is of. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "trace/filter.h"
#include "trace/lives.h"

static uint32_t see(struct lives *l, int32_t pid, enum life_evidence how, uint64_t ns,
		    const char *name)
{
	char comm[SCHED_COMM_LEN] = { 0 };
	uint32_t life = LIVES_NONE;

	if (name)
		memcpy(comm, name, strlen(name));
	assert_in_range(lives_see(l, &(struct life_sight){ pid, how, ns, name ? comm : NULL },
				  &life),
			0, 1);
	return life;
}

static void test_one_after_the_other(void **state)
{
	CLEANUP(lives) struct lives *l = lives_new(100);
	uint32_t a, b, c;

	(void)state;
	assert_int_equal(lives_find(l, 7), LIVES_NONE);
	a = see(l, 7, LIFE_ACTS, 100, "a");
	assert_int_equal(see(l, 7, LIFE_WOKEN, 200, NULL), a);
	lives_exit(l, a, 300);
	assert_int_equal(see(l, 7, LIFE_ACTS, 310, "a"), a); /* it runs until it leaves its CPU */
	lives_end(l, a, 320);
	assert_int_equal(see(l, 7, LIFE_NAMED, 330, NULL), a);
	b = see(l, 7, LIFE_ACTS, 340, "b");
	assert_int_not_equal(b, a);
	assert_int_equal(lives_get(l, b)->before, a);
	assert_false(lives_get(l, b)->birth_seen);
	c = see(l, 7, LIFE_FORKED, 350 + LIVES_SKEW_NS, "c");
	assert_int_not_equal(c, b);
	assert_int_equal(lives_get(l, b)->ended_ns, 350 + LIVES_SKEW_NS);
	assert_true(lives_get(l, c)->birth_seen);
	assert_int_equal(lives_find(l, 7), c);
	assert_int_equal(see(l, 8, LIFE_ACTS, 400, "d"), 3);
	assert_string_equal(lives_get(l, a)->comm, "a");
	assert_string_equal(lives_get(l, c)->comm, "c");
}

/* A birth is told by a fork and a wakeup_new, and the child's first act may stand before either. */
static void test_order_of_a_birth(void **state)
{
	CLEANUP(lives) struct lives *l = lives_new(100);
	uint32_t a, b;

	(void)state;
	a = see(l, 7, LIFE_ACTS, 1000, "a");
	assert_int_equal(see(l, 7, LIFE_FORKED, 1000, "a"), a);
	assert_int_equal(see(l, 7, LIFE_STARTS, 1001, "a"), a);
	b = see(l, 7, LIFE_FORKED, 1002, "b"); /* one life has one fork */
	assert_int_not_equal(b, a);
	assert_int_equal(see(l, 7, LIFE_ACTS, 900000, "b"), b); /* the fork's CPU was late */
	assert_int_equal(see(l, 7, LIFE_STARTS, 900000 + LIVES_SKEW_NS, "b"), b);
	assert_int_not_equal(see(l, 7, LIFE_STARTS, 900001 + LIVES_SKEW_NS, "b"), b);
	a = see(l, 9, LIFE_WOKEN, 1000, "c"); /* who was asleep was not born after it */
	assert_int_not_equal(see(l, 9, LIFE_FORKED, 1001, "d"), a);
}

/* The end of a task is not in the trace, but its exit is, and nobody is renamed after that. */
static void test_name_after_exit(void **state)
{
	CLEANUP(lives) struct lives *l = lives_new(100);
	uint32_t a, b;

	(void)state;
	a = see(l, 7, LIFE_ACTS, 100, "a");
	lives_exit(l, a, 200);
	b = see(l, 7, LIFE_ACTS, 300, "b");
	assert_int_not_equal(a, b);
	assert_true(lives_get(l, a)->ended);
	assert_int_equal(lives_get(l, a)->ended_ns, 300);
}

/* The row of the trace's table is of one life only. */
static void test_described(void **state)
{
	CLEANUP(lives) struct lives *l = lives_new(100);
	const char sh[SCHED_COMM_LEN] = "sh", gzip[SCHED_COMM_LEN] = "gzip";
	struct trace_info info;
	uint32_t a, b, c;

	(void)state;
	assert_int_equal(info_init(&info), 0);
	assert_int_equal(info_add_task(&info, 7, 5, sh), 0);
	assert_int_equal(info_add_task(&info, 8, 6, gzip), 0);
	a = see(l, 7, LIFE_ACTS, 100, "sh"); /* from before the trace */
	b = see(l, 7, LIFE_FORKED, 5000000, "sh");
	assert_int_equal(lives_tgid(l, &info, a), 5);
	assert_int_equal(lives_tgid(l, &info, b), -1);
	lives_lead(l, b);
	assert_int_equal(lives_tgid(l, &info, b), 7);
	a = see(l, 8, LIFE_FORKED, 100, "sh"); /* a table that was made in the end */
	b = see(l, 8, LIFE_FORKED, 200, "sh");
	see(l, 8, LIFE_NAMED, 300, "gzip");
	assert_int_equal(lives_tgid(l, &info, a), -1);
	assert_int_equal(lives_tgid(l, &info, b), 6);
	assert_string_equal(lives_get(l, b)->first_comm, "sh");
	c = see(l, 8, LIFE_FORKED, 400, "make");
	assert_int_equal(lives_tgid(l, &info, c), -1); /* neither is gzip */
	assert_int_equal(info_add_task(&info, 9, 6, gzip), 0);
	a = see(l, 9, LIFE_FORKED, 100, "tar");
	assert_int_equal(lives_tgid(l, &info, a), 6); /* there is no other */
	info.agent_tgid = 1; /* when the recording began there was another */
	assert_int_equal(lives_tgid(l, &info, a), -1);
	assert_int_equal(lives_tgid(l, &info, lives_find(l, 8)), -1);
	info_done(&info);
}

static void test_folded(void **state)
{
	CLEANUP(lives) struct lives *l = lives_new(3);
	uint32_t life, folded[2];

	(void)state;
	folded[0] = see(l, 7, LIFE_FORKED, 100, "a");
	see(l, 8, LIFE_FORKED, 100, "b");
	folded[1] = see(l, 9, LIFE_FORKED, 100, "c");
	assert_int_equal(lives_see(l, &(struct life_sight){ 10, LIFE_ACTS, 100, NULL }, &life),
			 -E2BIG);
	lives_end(l, folded[0], 200);
	lives_end(l, folded[1], 200);
	assert_int_equal(lives_fold(l, folded, 2), 0);
	assert_false(lives_has(l, folded[0]));
	assert_int_equal(lives_find(l, 7), LIVES_NONE);
	assert_int_equal(lives_find(l, 8), 1);
	see(l, 10, LIFE_ACTS, 300, "d");
	life = see(l, 7, LIFE_FORKED, 300, "e");
	assert_int_equal(lives_count(l), 3);
	assert_int_equal(lives_get(l, life)->before, LIVES_NONE);
	assert_string_equal(lives_get(l, life)->first_comm, "e");
	assert_int_equal(lives_see(l, &(struct life_sight){ 11, LIFE_ACTS, 100, NULL }, &life),
			 -E2BIG);
}

/* Ten thousand pids with three lives each: all are found again. */
static void test_many(void **state)
{
	CLEANUP(lives) struct lives *l = lives_new(1U << 20);
	int32_t pid;
	uint32_t k;

	(void)state;
	for (k = 0; k < 3; k++)
		for (pid = 1; pid <= 10000; pid++)
			assert_int_equal(see(l, pid, LIFE_FORKED, k + 1, "x"),
					 k * 10000 + (uint32_t)pid - 1);
	for (pid = 1; pid <= 10000; pid++)
		assert_int_equal(lives_find(l, pid), 20000 + (uint32_t)pid - 1);
}

/* --- lives by their times --- */

struct listed {
	struct trace_source source;
	struct trace_item items[16];
	size_t n, at;
};

static int listed_next(struct trace_source *s, struct trace_item *ret, struct error *e)
{
	struct listed *l = (struct listed *)s;

	(void)e;
	if (l->at == l->n)
		return 0;
	*ret = l->items[l->at++];
	return 1;
}

static int listed_rewind(struct trace_source *s, struct error *e)
{
	(void)e;
	((struct listed *)s)->at = 0;
	return 0;
}

static const struct trace_source_ops listed_ops = { .next = listed_next, .rewind = listed_rewind };

static struct sched_event *list(struct listed *l, enum sched_kind kind, uint64_t ns, int32_t runs)
{
	struct trace_item *i = &l->items[l->n++];

	i->event.kind = (uint8_t)kind;
	i->event.tick = ns;
	i->event.pid = runs;
	return &i->event;
}

/* Pid 7: from before the trace, switched away dead at 200; forked at 300; 8 is its thread, which goes on
 * as 7 after 7's exit; forked again at 900. */
static void fill(struct listed *l)
{
	struct sched_event *ev;

	memset(l, 0, sizeof(*l));
	l->source.ops = &listed_ops;
	assert_int_equal(info_init(&l->source.info), 0);
	list(l, SCHED_WAKING, 100, 7)->task.pid = 5;
	ev = list(l, SCHED_SWITCH, 200, 7);
	ev->task.pid = 7;
	ev->state = 0x20;
	list(l, SCHED_FORK, 300, 5)->other.pid = 7;
	list(l, SCHED_EXIT, 400, 7)->task.pid = 7;
	ev = list(l, SCHED_SWITCH, 410, 7);
	ev->task.pid = 7;
	ev->state = 0x20;
	ev = list(l, SCHED_EXEC, 500, 7);
	ev->task.pid = 7;
	ev->value = 8;
	list(l, SCHED_WAKING, 600, 7)->task.pid = 5;
	list(l, SCHED_FORK, 900, 5)->other.pid = 7;
}

static void test_at_times(void **state)
{
	static const struct {
		uint64_t at, from, to;
		bool relative;
	} asked[] = {
		{ 0, 0, 300, false },
		{ 299, 0, 300, false },
		{ 300, 300, 900, false },
		{ 500, 300, 900, false },
		{ 5000, 900, UINT64_MAX, false },
		{ 250, 300, 900, true },
	};
	struct filter_time at = { .given = true };
	struct error e = ERROR_INIT;
	struct trace_filter f;
	struct listed l;
	size_t i;

	(void)state;
	fill(&l);
	filter_init(&f);
	for (i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		at.ns = asked[i].at;
		at.relative = asked[i].relative;
		assert_int_equal(filter_add_life(&f, 7, &at), 0);
	}
	assert_int_equal(filter_add_life(&f, 6, &at), 0);
	assert_int_equal(filter_find_lives(&f, &l.source, &e), 0);
	assert_int_equal(l.at, 0);
	for (i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		assert_true(f.lives[i].found);
		assert_int_equal(f.lives[i].from_ns, asked[i].from);
		assert_int_equal(f.lives[i].to_ns, asked[i].to);
	}
	assert_false(f.lives[i].found); /* nobody spoke of 6 */
	assert_true(filter_has_life(&f, 7, 950));
	assert_false(filter_has_life(&f, 6, 950));
	filter_done(&f);
	info_done(&l.source.info);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_after_the_other),
		cmocka_unit_test(test_order_of_a_birth),
		cmocka_unit_test(test_name_after_exit),
		cmocka_unit_test(test_described),
		cmocka_unit_test(test_folded),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_at_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
