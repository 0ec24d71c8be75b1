/* SPDX-License-Identifier: MIT */
/* vm_correct and vm_account: time is shared out to the nanosecond, steal goes where it struck or to nobody. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/vm_account.h"
#include "analysis/vm_correct.h"

#define ABORT (256 + 0x24)
#define WFX (256 + 1)

static struct trace_clock clock_of_ns;

/* A guest's place is its program counter: process · 100 + thread · 10 + function. */
static int place(void *data, uint32_t vcpu, const struct sample_event *ev, struct vm_place *ret)
{
	uint32_t pc = (uint32_t)ev->guest_pc;

	(void)data;
	(void)vcpu;
	ret->process = pc / 100;
	ret->thread = pc / 10 % 10;
	ret->function = pc % 10;
	return 0;
}

struct both {
	uint64_t from_ns;
	struct vm_account *account;
	struct vm_correct *correct;
	struct vm_time *time;
};

static int take_segment(void *data, const struct vm_segment *s)
{
	struct both *b = data;
	int r = vm_account_put(b->account, s);

	return r < 0 ? r : vm_correct_put_segment(b->correct, s);
}

static int take_sample(void *data, const struct vm_segment *now, const struct sample_item *item)
{
	return vm_correct_put_sample(((struct both *)data)->correct, now->vcpu, item);
}

static const struct vm_time_listener listener = { take_segment, take_sample };
static const struct sample_task a = { 101, 100, 0, "CPU 0/KVM" };
static const struct sample_task b = { 201, 200, SAMPLE_NO_VCPU, "compile" };

static void start(struct both *t, uint64_t from_ns, uint64_t to_ns)
{
	struct vm_account_options account = { &clock_of_ns, SAMPLE_EXITS_ARM64, from_ns, to_ns };
	struct vm_correct_options correct = { &clock_of_ns, from_ns, to_ns, place, NULL };
	struct vm_time_options time = { &clock_of_ns, SAMPLE_EXITS_ARM64, &listener, t };

	t->from_ns = from_ns;
	clock_init(&clock_of_ns);
	assert_int_equal(vm_account_new(&t->account, &account), 0);
	assert_int_equal(vm_correct_new(&t->correct, &correct), 0);
	assert_int_equal(vm_time_new(&t->time, &time), 0);
}

static void stop(struct both *t)
{
	vm_time_free(t->time);
	vm_correct_free(t->correct);
	vm_account_free(t->account);
}

struct step {
	uint64_t tick;
	uint8_t kind;
	uint64_t value; /* of a sample: where the guest is */
	uint64_t where; /* of an exit or a switch: the same; 0: it does not tell */
};

static void play(struct both *t, const struct step *steps, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		struct sample_item item = { .type = ITEM_EVENT };
		bool taken = steps[i].kind == SAMPLE_TAKEN;

		item.event.tick = steps[i].tick;
		item.event.kind = steps[i].kind;
		item.event.task = a;
		item.event.next = b;
		item.event.value = taken ? 0 : steps[i].value;
		item.event.guest_pc = taken ? steps[i].value : steps[i].where;
		item.event.guest = item.event.guest_pc ? SAMPLE_GUEST_PC : 0;
		if (steps[i].kind == SAMPLE_SWITCH && steps[i].where == 999) {
			item.event.task = b;
			item.event.next = a;
			item.event.guest = 0;
		}
		if (steps[i].tick >= t->from_ns)
			assert_int_equal(vm_correct_begin(t->correct), 0);
		assert_int_equal(vm_time_put(t->time, &item), 0);
	}
	assert_int_equal(vm_time_end(t->time, steps[n - 1].tick), 0);
	assert_int_equal(vm_correct_end(t->correct), 0);
}
#define PLAY(t, steps) play(t, steps, sizeof(steps) / sizeof((steps)[0]))
#define BACK 999 /* the switch is the one back to the virtual CPU */

static const struct vm_stat *stat_of(const struct vm_correct *c, enum vm_level level,
				     uint32_t place)
{
	static struct vm_stat found;
	size_t i, n;
	const struct vm_stat **list = vm_correct_dup(c, level, &n);

	assert_non_null(list);
	memset(&found, 0, sizeof(found));
	for (i = 0; i < n; i++)
		if (list[i]->place.process * 100 + list[i]->place.thread * 10 +
			    list[i]->place.function ==
		    place)
			found = *list[i];
	free(list);
	return &found;
}

static void check(const struct vm_stat *s, uint64_t true_ns, uint64_t steal1_ns, uint64_t steal2_ns)
{
	assert_int_equal(s->true_ns, true_ns);
	assert_int_equal(s->steal1_ns, steal1_ns);
	assert_int_equal(s->steal2_ns, steal2_ns);
}

/* Samples alone: the thesis' rule. */
static void test_by_samples(void **state)
{
	static const struct step steps[] = {
		{ 1000, SAMPLE_ENTRY, 0, 0 },	  { 1100, SAMPLE_TAKEN, 111, 0 },
		{ 1100, SAMPLE_EXIT, 0, 0 },	  { 1110, SAMPLE_ENTRY, 0, 0 },
		{ 1200, SAMPLE_EXIT, 0, 0 },	  { 1210, SAMPLE_SWITCH, 0, 0 },
		{ 1500, SAMPLE_SWITCH, 0, BACK }, { 1505, SAMPLE_ENTRY, 0, 0 },
		{ 1600, SAMPLE_TAKEN, 111, 0 }, /* the same function: 290 + 25 are its own */
		{ 1600, SAMPLE_EXIT, 0, 0 },	  { 1620, SAMPLE_ENTRY, 0, 0 },
		{ 1700, SAMPLE_TAKEN, 112, 0 }, /* another one of the thread */
		{ 1700, SAMPLE_EXIT, 0, 0 },	  { 1730, SAMPLE_ENTRY, 0, 0 },
		{ 1800, SAMPLE_TAKEN, 123, 0 }, /* another thread of the process */
		{ 1800, SAMPLE_EXIT, 0, 0 },	  { 1840, SAMPLE_ENTRY, 0, 0 },
		{ 1900, SAMPLE_TAKEN, 211, 0 }, /* another process */
		{ 2000, SAMPLE_EXIT, ABORT, 0 },  { 2050, SAMPLE_ENTRY, 0, 0 },
		{ 2100, SAMPLE_EXIT, 0, 0 },
	};
	struct both t;

	(void)state;
	start(&t, 0, UINT64_MAX);
	PLAY(&t, steps);
	check(stat_of(t.correct, VM_BY_FUNCTION, 111), 100 + 185 + 40, 290, 25);
	check(stat_of(t.correct, VM_BY_FUNCTION, 112), 40 + 35, 0, 0);
	check(stat_of(t.correct, VM_BY_THREAD, 110), 100 + 185 + 80 + 35, 290, 45);
	check(stat_of(t.correct, VM_BY_PROCESS, 100), 100 + 185 + 80 + 70 + 30, 290, 75);
	check(stat_of(t.correct, VM_BY_PROCESS, 200), 30 + 100 + 50, 0, 0);
	assert_int_equal(stat_of(t.correct, VM_BY_FUNCTION, 111)->samples, 2);
	/* 40 between two processes, 50 behind the last sample. */
	assert_int_equal(vm_correct_rest(t.correct, VM_BY_PROCESS)->steal2_ns, 90);
	assert_int_equal(vm_correct_rest(t.correct, VM_BY_THREAD)->steal2_ns, 90 + 30);
	assert_int_equal(vm_correct_rest(t.correct, VM_BY_FUNCTION)->steal2_ns, 90 + 30 + 20);
	assert_int_equal(vm_correct_rest(t.correct, VM_BY_FUNCTION)->true_ns, 0);
	stop(&t);
}

/* Exits that say where the guest was: nothing is nobody's. */
static void test_by_places(void **state)
{
	static const struct step steps[] = {
		{ 1000, SAMPLE_ENTRY, 0, 0 },	   { 1050, SAMPLE_TAKEN, 111, 0 },
		{ 1100, SAMPLE_EXIT, ABORT, 112 }, { 1110, SAMPLE_SWITCH, 0, 112 },
		{ 1200, SAMPLE_SWITCH, 0, BACK },  { 1210, SAMPLE_ENTRY, 0, 0 },
		{ 1300, SAMPLE_EXIT, ABORT, 113 }, { 1330, SAMPLE_ENTRY, 0, 0 },
		{ 1400, SAMPLE_TAKEN, 214, 0 },
	};
	struct both t;

	(void)state;
	start(&t, 0, UINT64_MAX);
	PLAY(&t, steps);
	check(stat_of(t.correct, VM_BY_FUNCTION, 112), 0, 90, 20);
	check(stat_of(t.correct, VM_BY_FUNCTION, 113), 0, 0, 30);
	check(stat_of(t.correct, VM_BY_PROCESS, 100), 50 + 105, 90, 50);
	check(stat_of(t.correct, VM_BY_PROCESS, 200), 105, 0, 0);
	assert_int_equal(vm_correct_rest(t.correct, VM_BY_FUNCTION)->steal1_ns, 0);
	assert_int_equal(vm_correct_rest(t.correct, VM_BY_FUNCTION)->steal2_ns, 0);
	stop(&t);
}

static void test_account(void **state)
{
	static const struct step steps[] = {
		{ 1000, SAMPLE_ENTRY, 0, 0 },	 { 1050, SAMPLE_TAKEN, 111, 0 },
		{ 1060, SAMPLE_EXIT, 0, 0 },	 { 1070, SAMPLE_ENTRY, 0, 0 },
		{ 1100, SAMPLE_EXIT, ABORT, 0 }, { 1110, SAMPLE_OUTSIDE, 6, 0 },
		{ 1120, SAMPLE_SWITCH, 0, 0 },	 { 1150, SAMPLE_SWITCH, 0, BACK },
		{ 1160, SAMPLE_ENTRY, 0, 0 },	 { 1200, SAMPLE_EXIT, WFX, 0 },
		{ 1210, SAMPLE_SWITCH, 1, 0 },	 { 1290, SAMPLE_SWITCH, 0, BACK },
		{ 1300, SAMPLE_ENTRY, 0, 0 },	 { 1400, SAMPLE_EXIT, ABORT, 0 },
		{ 1410, SAMPLE_ENTRY, 0, 0 },	 { 1500, SAMPLE_EXIT, ABORT, 0 },
	};
	const struct vm_culprit **culprits;
	const struct vm_reason **reasons;
	const struct vm_sums *s;
	struct vm_sums sum = { 0 };
	struct both t;
	size_t n;

	(void)state;
	start(&t, 0, UINT64_MAX);
	PLAY(&t, steps);
	s = vm_account_get(t.account, 0);
	assert_int_equal(vm_sums_wall(s), 500);
	assert_int_equal(s->ns[VM_GUEST], 50 + 30 + 40 + 100 + 90);
	assert_int_equal(s->times[VM_GUEST], 5);
	assert_int_equal(s->ours_ns, 10 + 10); /* before its exit was told, and after */
	assert_int_equal(s->ns[VM_HALT], 80);
	assert_int_equal(vm_sums_steal1(s), 30);
	assert_int_equal(vm_sums_steal2(s), 10 + 10 + 10 + 20 + 20 + 10);
	vm_sums_add(&sum, s);
	vm_sums_add(&sum, s);
	assert_int_equal(vm_sums_wall(&sum), 1000);
	reasons = vm_account_dup_reasons(t.account, &n);
	assert_int_equal(n, 3);
	assert_int_equal(reasons[0]->reason, ABORT);
	assert_int_equal(reasons[0]->exits, 2); /* the last one has no time */
	assert_int_equal(reasons[0]->kernel_ns, 20);
	assert_int_equal(reasons[0]->outside_ns, 20);
	assert_int_equal(reasons[1]->ours_ns, 20);
	assert_int_equal(reasons[1]->exits, 1);
	assert_true(reasons[2]->is_halt);
	free(reasons);
	culprits = vm_account_dup_culprits(t.account, &n);
	assert_int_equal(n, 1);
	assert_int_equal(culprits[0]->task.tid, b.tid);
	assert_int_equal(culprits[0]->steal_ns, 30);
	free(culprits);
	stop(&t);
}

/* Windows that touch add up. */
static void test_windows(void **state)
{
	static const struct step steps[] = {
		{ 1000, SAMPLE_ENTRY, 0, 0 },	{ 1055, SAMPLE_TAKEN, 111, 0 },
		{ 1060, SAMPLE_EXIT, 0, 0 },	{ 1070, SAMPLE_ENTRY, 0, 0 },
		{ 1155, SAMPLE_TAKEN, 111, 0 }, { 1160, SAMPLE_EXIT, 0, 0 },
		{ 1175, SAMPLE_ENTRY, 0, 0 },	{ 1200, SAMPLE_TAKEN, 111, 0 },
	};
	static const uint64_t borders[] = { 0, 1057, 1065, 1160, UINT64_MAX };
	uint64_t guest = 0, steal2 = 0, samples = 0, truth = 0;
	size_t i;

	(void)state;
	for (i = 0; i + 1 < sizeof(borders) / sizeof(borders[0]); i++) {
		const struct vm_stat *stat;
		struct both t;

		start(&t, borders[i], borders[i + 1]);
		PLAY(&t, steps);
		guest += vm_account_get(t.account, 0)->ns[VM_GUEST];
		steal2 += vm_sums_steal2(vm_account_get(t.account, 0));
		stat = stat_of(t.correct, VM_BY_FUNCTION, 111);
		samples += stat->samples;
		truth += stat->true_ns;
		stop(&t);
	}
	assert_int_equal(guest, 165);
	assert_int_equal(truth, 165);
	assert_int_equal(steal2, 35);
	assert_int_equal(samples, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_samples),
		cmocka_unit_test(test_by_places),
		cmocka_unit_test(test_account),
		cmocka_unit_test(test_windows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
