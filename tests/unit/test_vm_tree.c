/* SPDX-License-Identifier: MIT */
/*
 * vm_cells and vm_tree: each nanosecond of a virtual CPU once, in agreement with the accounts by class (vm_account) and by place
 * (vm_correct), of a trace worked out by hand and of random ones.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/vm_json.h"
#include "analysis/vm_tree.h"
#include "tools/sample_random.h"

#define ABORT (256 + 0x24)
#define K 0xffff000000001000ULL
#define RANDOM_EVENTS 4000U

/* A source of a list of events, or of random ones. */
struct fake {
	struct sample_source source;
	const struct sample_event *events;
	size_t n, at;
	struct sample_random *random;
	struct sample_event place; /* of the last sample in a guest */
};

/* Some exits tell where the guest was, and some records are lost. */
static void make_random(struct fake *f, struct sample_item *ret)
{
	struct sample_event *ev = &ret->event;

	sample_random_next(f->random, ev);
	if (ev->kind == SAMPLE_TAKEN && ev->guest)
		f->place = *ev;
	if (ev->kind == SAMPLE_EXIT && f->place.guest && sample_random_below(f->random, 3) == 0) {
		ev->guest = f->place.guest;
		ev->mode = f->place.mode;
		ev->guest_pc = f->place.guest_pc;
		ev->guest_table = f->place.guest_table;
		ev->guest_context = f->place.guest_context;
		ev->guest_task = f->place.guest_task;
	}
	if (sample_random_below(f->random, 200) == 0) {
		ret->type = ITEM_LOSS;
		ret->loss = (struct trace_loss){ .from_tick = ev->tick,
						 .to_tick = ev->tick,
						 .count = 1 };
	}
}

static int fake_next(struct sample_source *s, struct sample_item *ret, struct error *e)
{
	struct fake *f = (struct fake *)s;

	(void)e;
	if (f->at == f->n)
		return 0;
	memset(ret, 0, sizeof(*ret));
	ret->type = ITEM_EVENT;
	if (f->random)
		make_random(f, ret);
	else
		ret->event = f->events[f->at];
	f->at++;
	return 1;
}

static const struct sample_source_ops ops = { .next = fake_next };

struct rig {
	struct fake fake;
	struct profile_names *host;
	struct vm_names *names;
	struct vm_report *report;
};

static void set_up(struct rig *r, uint64_t from_ns, uint64_t to_ns)
{
	struct sample_kernel_name k[] = { { K, K + 0x100, "handle_exit", 11 },
					  { K + 0x100, K + 0x200, "mmio", 4 },
					  { K + 0x200, K + 0x300, "fault", 5 } };
	struct vm_names_options names = { .source = &r->fake.source };
	struct vm_report_options o = { .source = &r->fake.source,
				       .from_ns = from_ns,
				       .to_ns = to_ns,
				       .with_cells = true,
				       .with_spans = true };
	struct error e = ERROR_INIT;
	size_t i;

	r->fake.source.ops = &ops;
	r->fake.source.sampling.exits = SAMPLE_EXITS_ARM64;
	assert_int_equal(info_init(&r->fake.source.info), 0);
	assert_int_equal(sample_spaces_new(&r->fake.source.spaces), 0);
	for (i = 0; i < sizeof(k) / sizeof(k[0]); i++)
		assert_int_equal(sample_spaces_add_kernel(r->fake.source.spaces, &k[i]), 0);
	sample_spaces_settle(r->fake.source.spaces);
	assert_int_equal(profile_names_new(&r->host, &r->fake.source, NULL, &e), 0);
	assert_int_equal(vm_names_new(&r->names, &names, &e), 0);
	o.names = r->names;
	o.host = r->host;
	assert_int_equal(vm_report_new(&r->report, &o, &e), 0);
}

static void tear_down(struct rig *r)
{
	vm_report_free(r->report);
	vm_names_free(r->names);
	profile_names_free(r->host);
	sample_spaces_free(r->fake.source.spaces);
	info_done(&r->fake.source.info);
}

/* --- what must be so of any recording --- */

/* Cells of a virtual CPU are its classes, and its spans lie side by side. */
static void check_classes(const struct rig *r, uint32_t vcpu)
{
	const struct vm_cells *cells = vm_report_cells(r->report);
	const struct vm_sums *sums = vm_account_get(vm_report_account(r->report), vcpu);
	uint64_t ns[VM_CLASSES] = { 0 }, ours_ns = 0, spans_ns = 0, last_ns = 0;
	const struct vm_cell_span *spans;
	size_t i, n;

	for (i = 0; i < vm_cells_count(cells); i++) {
		const struct vm_cell *c = vm_cells_get(cells, i);

		if (c->vcpu != vcpu)
			continue;
		ns[c->kind] += c->ns;
		ours_ns += c->ours ? c->ns : 0;
	}
	spans = vm_cells_spans(cells, &n);
	for (i = 0; i < n; i++) {
		if (spans[i].vcpu != vcpu)
			continue;
		assert_true(spans[i].from_ns < spans[i].to_ns);
		assert_true(!last_ns || last_ns == spans[i].from_ns);
		last_ns = spans[i].to_ns;
		spans_ns += spans[i].to_ns - spans[i].from_ns;
	}
	if (!sums) {
		assert_int_equal(spans_ns, 0);
		return;
	}
	assert_memory_equal(ns, sums->ns, sizeof(ns));
	assert_int_equal(ours_ns, sums->ours_ns);
	assert_int_equal(spans_ns, vm_sums_wall(sums));
}

static bool is_at(const struct vm_cell *c, const struct vm_place *p, enum vm_level level)
{
	return c->level >= (int)level && c->place.process == p->process &&
	       (level < VM_BY_THREAD || c->place.thread == p->thread) &&
	       (level < VM_BY_FUNCTION || c->place.function == p->function);
}

/* Cells of a place are what vm_correct gave it. */
static void check_places(const struct rig *r, enum vm_level level)
{
	const struct vm_cells *cells = vm_report_cells(r->report);
	size_t n, i, k;
	const struct vm_stat **stats = vm_correct_dup(vm_report_correct(r->report), level, &n);

	assert_non_null(stats);
	for (i = 0; i < n; i++) {
		struct vm_stat sum = { .place = stats[i]->place };

		for (k = 0; k < vm_cells_count(cells); k++) {
			const struct vm_cell *c = vm_cells_get(cells, k);

			if (!is_at(c, &sum.place, level))
				continue;
			if (c->kind == VM_GUEST) {
				sum.true_ns += c->ns;
				sum.samples += c->samples;
			} else if (c->kind == VM_STEAL || c->kind == VM_WAITING) {
				sum.steal1_ns += c->ns;
			} else {
				sum.steal2_ns += c->ns;
			}
		}
		assert_memory_equal(&sum, stats[i], sizeof(sum));
	}
	free(stats);
}

static void check_tree(struct rig *r, const struct vm_shape *shape)
{
	struct vm_tree_options o = { .report = r->report,
				     .names = r->names,
				     .host = r->host,
				     .source = &r->fake.source,
				     .shape = *shape };
	CLEANUP_VM_TREE struct vm_tree t;
	uint64_t own = 0;
	struct vm_sums all;
	uint32_t i;
	json_t *j;

	assert_int_equal(vm_tree_init(&t, &o), 0);
	assert_int_equal(vm_tree_fill(&t), 0);
	vm_report_sum(r->report, 0, &all);
	assert_int_equal(profile_tree_total(t.tree, 0)[PROFILE_WEIGHT], vm_sums_wall(&all));
	for (i = 0; i < profile_tree_count(t.tree); i++)
		own += profile_tree_self(t.tree, i)[PROFILE_WEIGHT];
	assert_int_equal(own, vm_sums_wall(&all));
	j = vm_tree_json(&t, NULL);
	assert_int_equal(json_array_size(json_object_get(j, "nodes")),
			 profile_tree_count(t.tree) - 1);
	json_decref(j);
}

static void check_all(struct rig *r)
{
	static const struct vm_shape shapes[] = {
		{ .groups = true },
		{ .groups = true, .vcpus = true, .threads = true },
		{ .is_struck = true },
		{ .is_moment = true },
	};
	uint32_t i;
	int level;

	for (i = 0; i < vm_time_count(vm_report_time(r->report)); i++)
		check_classes(r, i);
	for (level = VM_BY_PROCESS; level < VM_LEVELS; level++)
		check_places(r, (enum vm_level)level);
	for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		check_tree(r, &shapes[i]);
}

/* --- by hand --- */

#define VCPU                                                                                       \
	{                                                                                          \
		101, 100, 0, "CPU 0/KVM"                                                           \
	}
#define OTHER                                                                                      \
	{                                                                                          \
		201, 200, SAMPLE_NO_VCPU, "compile"                                                \
	}
/* A sample in the guest of process `p`; one in the kernel of the host. */
#define IN(at, p)                                                                                  \
	{                                                                                          \
		.tick = at, .task = VCPU, .mode = SAMPLE_GUEST_USER, .weight = 100,                \
		.guest = SAMPLE_GUEST_PC | SAMPLE_GUEST_CONTEXT, .guest_context = p                \
	}
#define AT(at, w, c)                                                                               \
	{                                                                                          \
		.tick = at, .task = VCPU, .mode = SAMPLE_KERNEL, .weight = w, .n_kernel = 2,       \
		.chain = c                                                                         \
	}
#define EV(at, what, v)                                                                            \
	{                                                                                          \
		.tick = at, .kind = what, .task = VCPU, .value = v                                 \
	}

static const uint64_t mmio[] = { K + 0x110, K + 0x10 }, fault[] = { K + 0x210, K + 0x10 };

static const struct sample_event by_hand[] = {
	EV(1000, SAMPLE_ENTRY, 0),
	IN(1100, 7),
	EV(1100, SAMPLE_EXIT, 0),
	EV(1110, SAMPLE_ENTRY, 0),
	EV(1200, SAMPLE_EXIT, ABORT), /* 100: two thirds of it mmio, one fault */
	AT(1210, 200, mmio),
	AT(1250, 100, fault),
	EV(1300, SAMPLE_ENTRY, 0),
	IN(1400, 7),
	EV(1400, SAMPLE_EXIT, 0),
	EV(1405, SAMPLE_ENTRY, 0),
	{ .tick = 1500, .kind = SAMPLE_SWITCH, .task = VCPU, .next = OTHER },
	{ .tick = 1600, .kind = SAMPLE_SWITCH, .task = OTHER, .next = VCPU },
	EV(1610, SAMPLE_ENTRY, 0),
	IN(1700, 8),
	EV(1800, SAMPLE_EXIT, ABORT), /* 50, shared like those above: 33 and 17 */
	EV(1850, SAMPLE_ENTRY, 0),
	EV(1900, SAMPLE_EXIT, 0),
};

static uint64_t ns_at(struct vm_tree *t, const char *const *path)
{
	uint32_t node = 0, key;

	for (; *path; path += 2) {
		assert_int_equal(functions_find_label(&t->functions, path[0], path[1], &key), 0);
		assert_int_equal(profile_tree_find(t->tree, node, key, &node), 0);
	}
	return profile_tree_total(t->tree, node)[PROFILE_WEIGHT];
}
#define NS(t, ...) ns_at(t, (const char *const[]){ __VA_ARGS__, NULL })

static void test_by_hand(void **state)
{
	struct rig r = { .fake = { .events = by_hand, .n = sizeof(by_hand) / sizeof(by_hand[0]) } };
	struct vm_tree_options o;
	CLEANUP_VM_TREE struct vm_tree t;

	(void)state;
	set_up(&r, 0, 0);
	check_all(&r);
	o = (struct vm_tree_options){
		.report = r.report, .names = r.names, .host = r.host, .source = &r.fake.source
	};
	assert_int_equal(vm_tree_init(&t, &o), 0);
	assert_int_equal(vm_tree_fill(&t), 0);
	/* 1000-1100, 1110-1200 and 1300-1400; of 1405-1500 and 1610-1700 the half, 92; the rest is 8's: 93 + 100 + 50. */
	assert_int_equal(NS(&t, "pid 7", "process", "guest", "class"), 382);
	assert_int_equal(NS(&t, "pid 8", "process", "guest", "class"), 243);
	/* Between two samples of one process. */
	assert_int_equal(NS(&t, "pid 7", "process", "vmm-kernel", "class", "data abort", "exit",
			    "handle_exit", "[kernel]", "mmio", "[kernel]"),
			 66);
	assert_int_equal(NS(&t, "pid 7", "process", "vmm-kernel", "class", "data abort", "exit",
			    "handle_exit", "[kernel]", "fault", "[kernel]"),
			 34);
	assert_int_equal(NS(&t, "pid 7", "process", "vmm-kernel", "class", "interrupt, by sampling",
			    "exit", "[not sampled]", "note"),
			 10);
	/* Between samples of different processes, and behind the last: nobody's. */
	assert_int_equal(NS(&t, "[nobody's]", "process", "vmm-kernel", "class", "data abort",
			    "exit", "handle_exit", "[kernel]"),
			 50);
	assert_int_equal(NS(&t, "[nobody's]", "process", "steal", "class", "compile (201)",
			    "culprit"),
			 100);
	tear_down(&r);
}

/* A part of the time. */
static void test_window(void **state)
{
	struct rig r = { .fake = { .events = by_hand, .n = sizeof(by_hand) / sizeof(by_hand[0]) } };
	struct vm_sums all;

	(void)state;
	set_up(&r, 1150, 1550);
	check_all(&r);
	vm_report_sum(r.report, 0, &all);
	assert_int_equal(vm_sums_wall(&all), 400);
	tear_down(&r);
}

/* Cells that must have come up for the checks to mean something. */
static void count_kinds(const struct rig *r, uint64_t *ret_stacks, uint64_t *ret_struck)
{
	const struct vm_cells *cells = vm_report_cells(r->report);
	size_t i;

	for (i = 0; i < vm_cells_count(cells); i++) {
		const struct vm_cell *c = vm_cells_get(cells, i);

		*ret_stacks += c->stack && c->ns;
		*ret_struck += c->kind != VM_GUEST && c->level == VM_BY_FUNCTION && c->ns;
	}
}

static void test_random(void **state)
{
	struct sample_random *random = malloc(sizeof(*random));
	uint64_t seed, stacks = 0, struck = 0;

	(void)state;
	assert_non_null(random);
	for (seed = 1; seed <= 8; seed++) {
		struct rig r = { .fake = { .n = RANDOM_EVENTS, .random = random } };

		sample_random_init(random, seed, SAMPLE_RANDOM_VM);
		set_up(&r, 0, 0);
		check_all(&r);
		count_kinds(&r, &stacks, &struck);
		tear_down(&r);
	}
	assert_true(stacks > 0 && struck > 0);
	free(random);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
