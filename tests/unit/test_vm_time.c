/* SPDX-License-Identifier: MIT */
/* vm_time: every moment of a virtual CPU is in one class, and in the right one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/vm_time.h"

#define GOT_MAX 256
#define WFX (256 + 1)
#define ABORT (256 + 0x24)

struct got {
	struct vm_segment segments[GOT_MAX];
	size_t n;
	unsigned int samples;
};

static int take_segment(void *data, const struct vm_segment *s)
{
	struct got *g = data;

	assert_true(g->n < GOT_MAX);
	assert_true(s->from_tick < s->to_tick);
	g->segments[g->n++] = *s;
	return 0;
}

static int take_sample(void *data, const struct vm_segment *now, const struct sample_item *item)
{
	(void)now;
	(void)item;
	((struct got *)data)->samples++;
	return 0;
}

static const struct vm_time_listener listener = { take_segment, take_sample };
static const struct sample_task a = { 101, 100, 0, "CPU 0/KVM" };
static const struct sample_task b = { 201, 200, 0, "CPU 0/KVM" };
static const struct sample_task other = { 7, 7, SAMPLE_NO_VCPU, "compile" };
static const struct sample_task idle = { 0, 0, SAMPLE_NO_VCPU, "swapper/1" };

static struct sample_pace pace; /* without rows, but in one test */

static struct vm_time *start(struct got *g)
{
	static struct trace_clock clock;
	struct vm_time_options o = { &clock, SAMPLE_EXITS_ARM64, &listener, g, &pace };
	struct vm_time *t;

	clock_init(&clock);
	memset(g, 0, sizeof(*g));
	assert_int_equal(vm_time_new(&t, &o), 0);
	return t;
}

static void put(struct vm_time *t, uint64_t tick, uint8_t kind, const struct sample_task *task,
		uint64_t value)
{
	struct sample_item item = { .type = ITEM_EVENT, .cpu = 1 };

	item.event.tick = tick;
	item.event.kind = kind;
	item.event.task = *task;
	item.event.value = value;
	item.event.guest = kind == SAMPLE_TAKEN ? SAMPLE_GUEST_PC : 0;
	assert_int_equal(vm_time_put(t, &item), 0);
}

static void put_next(struct vm_time *t, uint64_t tick, uint8_t kind, uint64_t value,
		     const struct sample_task *const tasks[2])
{
	struct sample_item item = { .type = ITEM_EVENT, .cpu = 1 };

	item.event.tick = tick;
	item.event.kind = kind;
	item.event.task = *tasks[0];
	item.event.next = *tasks[1];
	item.event.value = value;
	assert_int_equal(vm_time_put(t, &item), 0);
}
#define SWITCH(t, tick, from, to, state)                                                           \
	put_next(t, tick, SAMPLE_SWITCH, state, (const struct sample_task *[]){ from, to })
#define WAKE(t, tick, by, whom)                                                                    \
	put_next(t, tick, SAMPLE_WAKE, 1, (const struct sample_task *[]){ by, whom })

/* The classes of one virtual CPU as text, "guest 10 steal 5 …": what is told touches and adds up. */
static void check(const struct got *g, const struct vm_time *t, uint32_t vcpu, const char *wanted)
{
	const struct vm_vcpu *v = vm_time_get(t, vcpu);
	uint64_t at = v->first_tick;
	char text[1024] = "";
	size_t i, len = 0;

	for (i = 0; i < g->n; i++) {
		const struct vm_segment *s = &g->segments[i];

		if (s->vcpu != vcpu)
			continue;
		assert_int_equal(s->from_tick, at);
		at = s->to_tick;
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s%s %d", len ? " " : "",
					s->ours ? "our " : "", vm_class_words[s->kind],
					(int)(s->to_tick - s->from_tick));
	}
	assert_int_equal(at, v->end_tick);
	assert_string_equal(text, wanted);
}

static void test_exits(void **state)
{
	struct got g;
	struct vm_time *t = start(&g);

	(void)state;
	put(t, 100, SAMPLE_ENTRY, &a, 0);
	put(t, 150, SAMPLE_TAKEN, &a, 0);
	put(t, 152, SAMPLE_EXIT, &a, 0);
	put(t, 160, SAMPLE_ENTRY, &a, 0);
	put(t, 200, SAMPLE_EXIT, &a, ABORT);
	put(t, 210, SAMPLE_OUTSIDE, &a, 6);
	put(t, 300, SAMPLE_ENTRY, &a, 0);
	put(t, 310, SAMPLE_EXIT, &a, 0);
	put(t, 315, SAMPLE_ENTRY, &a, 0);
	assert_int_equal(vm_time_end(t, 400), 0);
	check(&g, t, 0,
	      "guest 50 our vmm-kernel 2 our vmm-kernel 8 guest 40 vmm-kernel 10 vmm-user 90 guest "
	      "10 "
	      "vmm-kernel 5 "
	      "guest 85");
	assert_int_equal(g.samples, 1);
	assert_int_equal(g.segments[4].reason, ABORT);
	vm_time_free(t);
}

/* The exit before the sample that caused it. */
static void test_told_exit(void **state)
{
	struct got g;
	struct vm_time *t = start(&g);

	(void)state;
	put(t, 100, SAMPLE_ENTRY, &a, 0);
	put(t, 150, SAMPLE_EXIT, &a, 0);
	put(t, 152, SAMPLE_TAKEN, &a, 0);
	assert_int_equal(g.n, 1); /* what was before the sample */
	put(t, 160, SAMPLE_ENTRY, &a, 0);
	put(t, 170, SAMPLE_EXIT, &a, 0);
	put(t, 180, SAMPLE_ENTRY, &a, 0);
	assert_int_equal(vm_time_end(t, 200), 0);
	check(&g, t, 0, "guest 50 our vmm-kernel 10 guest 10 vmm-kernel 10 guest 20");
	vm_time_free(t);
}

static void test_two_on_one_cpu(void **state)
{
	struct got g;
	struct vm_time *t = start(&g);

	(void)state;
	put(t, 0, SAMPLE_ENTRY, &a, 0);
	put(t, 40, SAMPLE_EXIT, &a, 0);
	SWITCH(t, 42, &a, &b, 0);
	put(t, 43, SAMPLE_ENTRY, &b, 0);
	put(t, 80, SAMPLE_EXIT, &b, 0);
	SWITCH(t, 81, &b, &other, 0);
	SWITCH(t, 90, &other, &a, 1);
	put(t, 92, SAMPLE_ENTRY, &a, 0);
	assert_int_equal(vm_time_end(t, 100), 0);
	check(&g, t, 0, "guest 40 vmm-kernel 2 steal 39 steal 9 vmm-kernel 2 guest 8");
	check(&g, t, 1, "vmm-user 1 guest 37 vmm-kernel 1 steal 9 steal 10");
	for (size_t i = 0; i < g.n; i++) {
		const struct vm_segment *s = &g.segments[i];
		int culprit = s->vcpu == 0 ? (s->from_tick == 42 ? b.tid : other.tid)
					   : (s->from_tick == 81 ? other.tid : a.tid);

		assert_int_equal(s->culprit.tid, s->kind == VM_STEAL ? culprit : -1);
	}
	vm_time_free(t);
}

static void test_halt(void **state)
{
	struct got g;
	struct vm_time *t = start(&g);

	(void)state;
	put(t, 100, SAMPLE_ENTRY, &a, 0);
	/* Polled for, in vain, and slept. */
	put(t, 200, SAMPLE_EXIT, &a, WFX);
	SWITCH(t, 260, &a, &idle, 1);
	WAKE(t, 500, &idle, &a);
	SWITCH(t, 507, &idle, &a, 0);
	put(t, 510, SAMPLE_POLL, &a, 306);
	put(t, 512, SAMPLE_ENTRY, &a, 0);
	/* Polled for, and work came. */
	put(t, 600, SAMPLE_EXIT, &a, WFX);
	put(t, 650, SAMPLE_POLL, &a, 45);
	put(t, 652, SAMPLE_ENTRY, &a, 0);
	/* Asleep in the VMM is no halt. */
	put(t, 700, SAMPLE_EXIT, &a, WFX);
	put(t, 701, SAMPLE_OUTSIDE, &a, 8);
	SWITCH(t, 710, &a, &idle, 1);
	SWITCH(t, 720, &idle, &a, 0);
	put(t, 730, SAMPLE_ENTRY, &a, 0);
	assert_int_equal(vm_time_end(t, 800), 0);
	check(&g, t, 0,
	      "guest 100 vmm-kernel 4 halt-polling 56 halt 240 waiting 7 vmm-kernel 5 "
	      "guest 88 vmm-kernel 5 halt-polling 45 vmm-kernel 2 "
	      "guest 48 vmm-kernel 1 vmm-user 9 asleep 10 vmm-user 10 guest 70");
	vm_time_free(t);
}

static void test_losses_and_ends(void **state)
{
	struct sample_item loss = { .type = ITEM_LOSS, .cpu = 1 };
	const struct sample_task again = { 101, 900, 1, "CPU 1/KVM" };
	struct got g;
	struct vm_time *t = start(&g);

	(void)state;
	put(t, 100, SAMPLE_ENTRY, &a, 0);
	loss.loss.from_tick = 150;
	assert_int_equal(vm_time_put(t, &loss), 0);
	put(t, 200, SAMPLE_TAKEN, &a, 0);
	put(t, 210, SAMPLE_EXIT, &a, ABORT);
	SWITCH(t, 220, &a, &other, 0x80);
	/* The number is used again, by another machine. */
	SWITCH(t, 300, &other, &again, 1);
	assert_int_equal(vm_time_end(t, 310), 0);
	assert_int_equal(vm_time_count(t), 2);
	check(&g, t, 0, "guest 50 unknown 50 guest 10 vmm-kernel 10");
	check(&g, t, 1, "vmm-user 10");
	assert_true(vm_time_get(t, 0)->is_gone);
	assert_int_equal(vm_time_get(t, 1)->number, 1);
	vm_time_free(t);
}

/* A loss makes unknown who was on its CPU, and who was on none; who runs elsewhere is seen there. */
static void test_loss_of_another_cpu(void **state)
{
	struct sample_item loss = { .type = ITEM_LOSS, .cpu = 0 };
	struct got g;
	struct vm_time *t = start(&g);

	(void)state;
	put(t, 100, SAMPLE_ENTRY, &a, 0); /* on CPU 1 */
	loss.loss.from_tick = 150;
	assert_int_equal(vm_time_put(t, &loss), 0);
	put(t, 200, SAMPLE_EXIT, &a, ABORT);
	SWITCH(t, 220, &a, &other, 0); /* from here on it is on none */
	loss.loss.from_tick = 250;
	assert_int_equal(vm_time_put(t, &loss), 0);
	SWITCH(t, 300, &other, &a, 1);
	assert_int_equal(vm_time_end(t, 310), 0);
	check(&g, t, 0, "guest 100 vmm-kernel 20 steal 30 unknown 50 vmm-kernel 10");
	vm_time_free(t);
}

/* A recording may begin while a virtual CPU sleeps: the kernel's word that the halt is over is then the first of it. */
static void test_poll_first(void **state)
{
	struct got g;
	struct vm_time *t = start(&g);

	(void)state;
	put(t, 100, SAMPLE_POLL, &a, 50);
	put(t, 112, SAMPLE_ENTRY, &a, 0);
	assert_int_equal(vm_time_end(t, 150), 0);
	check(&g, t, 0, "vmm-kernel 12 guest 38");
	vm_time_free(t);
}

/* Whatever comes, in whatever order: no moment is told twice or not at all. */
static void test_anything(void **state)
{
	static const struct sample_task *const who[] = { &a, &b, &other, &idle };
	uint64_t seed = 1, tick = 0, told[3] = { 0 };
	struct got g;
	struct vm_time *t = start(&g);
	int i;

	(void)state;
	for (i = 0; i < 200000; i++) {
		struct sample_item item = { .type = ITEM_EVENT };
		size_t k;

		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		item.cpu = (uint32_t)(seed >> 60) & 3;
		item.type = (seed >> 40 & 63) == 0 ? ITEM_LOSS : ITEM_EVENT;
		item.event.kind = (uint8_t)((seed >> 33) % SAMPLE_KINDS);
		item.event.tick = tick += seed >> 50 & 7;
		item.event.task = *who[seed >> 44 & 3];
		item.event.next = *who[seed >> 46 & 3];
		item.event.value = (seed >> 36 & 3) == 0 ? WFX : seed >> 55 & 3;
		item.event.guest = seed >> 57 & 1;
		item.loss.from_tick = tick;
		assert_int_equal(vm_time_put(t, &item), 0);
		for (k = 0; k < g.n; k++) {
			const struct vm_segment *s = &g.segments[k];

			assert_true(s->vcpu < 3);
			if (told[s->vcpu])
				assert_int_equal(s->from_tick, told[s->vcpu]);
			told[s->vcpu] = s->to_tick;
		}
		g.n = 0;
	}
	assert_int_equal(vm_time_end(t, tick), 0);
	assert_true(told[0] > 0 && told[1] > 0 && told[2] > 0);
	vm_time_free(t);
}

/* A pause that was asked for: what was is not as it was, of nobody; and what is behind it is known again. A copy that goes
 * on from before it sees it, too. */
static void test_pause(void **state)
{
	static struct sample_pace_part parts[] = {
		{ { 50, SAMPLE_PACE_GOES, 10 }, 0 },
		{ { 220, SAMPLE_PACE_PAUSES, 0 }, 0 },
		{ { 500, SAMPLE_PACE_GOES, 10 }, 280 },
		{ { 620, SAMPLE_PACE_PAUSES, 0 }, 280 },
	};
	struct vm_time *t, *copy;
	struct got g, again;

	(void)state;
	pace = (struct sample_pace){ parts, 4, 4 };
	t = start(&g);
	put(t, 100, SAMPLE_ENTRY, &a, 0);
	put(t, 200, SAMPLE_EXIT, &a, ABORT);
	put(t, 210, SAMPLE_ENTRY, &a, 0);
	assert_int_equal(vm_time_dup(&copy, t,
				     &(struct vm_time_options){ &(struct trace_clock){ .mult = 1 },
								SAMPLE_EXITS_ARM64, &listener,
								&again, &pace }),
			 0);
	put(t, 510, SAMPLE_ENTRY, &a, 0);
	put(t, 600, SAMPLE_EXIT, &a, 0);
	put(t, 610, SAMPLE_ENTRY, &a, 0);
	assert_int_equal(vm_time_end(t, 630), 0);
	check(&g, t, 0,
	      "guest 100 vmm-kernel 10 guest 10 unknown 290 guest 90 vmm-kernel 10 guest 20");
	memset(&again, 0, sizeof(again));
	put(copy, 510, SAMPLE_ENTRY, &a, 0);
	assert_int_equal(vm_time_end(copy, 630), 0);
	assert_int_equal(again.segments[again.n - 2].kind, VM_UNKNOWN);
	assert_int_equal(again.segments[again.n - 2].from_tick, 220);
	assert_int_equal(again.segments[again.n - 2].to_tick, 510);
	vm_time_free(copy);
	vm_time_free(t);
	pace = (struct sample_pace){ .n = 0 };
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pause),
		cmocka_unit_test(test_exits),
		cmocka_unit_test(test_told_exit),
		cmocka_unit_test(test_two_on_one_cpu),
		cmocka_unit_test(test_halt),
		cmocka_unit_test(test_losses_and_ends),
		cmocka_unit_test(test_poll_first),
		cmocka_unit_test(test_anything),
		cmocka_unit_test(test_loss_of_another_cpu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
