/* SPDX-License-Identifier: MIT */
/* Samples as reports, trees and comparisons: what is counted where, and that nothing is counted twice or lost. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/profile_diff.h"
#include "analysis/profile_fold.h"
#include "analysis/profile_list.h"
#include "analysis/profile_timeline.h"

#define ITEMS_MAX 32U
#define K 0xffff000000001000ULL

/* A source of items that a test has written down. */
struct fake {
	struct sample_source source;
	struct sample_item items[ITEMS_MAX];
	uint64_t chains[ITEMS_MAX][4];
	size_t n, at;
};

static int fake_next(struct sample_source *s, struct sample_item *ret, struct error *e)
{
	struct fake *f = (struct fake *)s;

	(void)e;
	if (f->at == f->n)
		return 0;
	*ret = f->items[f->at++];
	return 1;
}

static int fake_rewind(struct sample_source *s, struct error *e)
{
	(void)e;
	((struct fake *)s)->at = 0;
	return 0;
}

static const struct sample_source_ops ops = { .next = fake_next, .rewind = fake_rewind };

struct rig {
	struct fake fake;
	struct profile_names *names;
	struct profile_tasks tasks;
	struct profile_walk walk;
};

static void add_mapping(struct rig *r, int32_t pid, const char *path)
{
	struct sample_mapping m = { .pid = pid,
				    .from = 0x1000,
				    .to = 0x9000,
				    .path = path,
				    .path_len = (uint32_t)strlen(path) };

	assert_int_equal(sample_spaces_add_mapping(r->fake.source.spaces, &m), 0);
}

static void set_up(struct rig *r)
{
	struct sample_kernel_name k = { K, K + 0x100, "sys_read", 8 };
	struct sample_kernel_name module = { K + 0x100, K + 0x200, "disk [scsi]", 11 };

	memset(r, 0, sizeof(*r));
	r->fake.source.ops = &ops;
	assert_int_equal(info_init(&r->fake.source.info), 0);
	assert_int_equal(sample_spaces_new(&r->fake.source.spaces), 0);
	add_mapping(r, 10, "/bin/a");
	add_mapping(r, 20, "/bin/a");
	assert_int_equal(sample_spaces_add_kernel(r->fake.source.spaces, &k), 0);
	assert_int_equal(sample_spaces_add_kernel(r->fake.source.spaces, &module), 0);
	sample_spaces_settle(r->fake.source.spaces);
	assert_int_equal(profile_names_new(&r->names, &r->fake.source, NULL, NULL), 0);
	profile_tasks_init(&r->tasks, &r->fake.source);
	r->walk = (struct profile_walk){ .source = &r->fake.source,
					 .names = r->names,
					 .tasks = &r->tasks };
}

static void tear_down(struct rig *r)
{
	profile_tasks_done(&r->tasks);
	profile_names_free(r->names);
	sample_spaces_free(r->fake.source.spaces);
	info_done(&r->fake.source.info);
}

/* A sample of `n` addresses, of which the first `kernel` are the kernel's. */
static void sample(struct rig *r, int32_t pid, uint64_t weight, uint16_t kernel,
		   const uint64_t *chain, uint16_t n)
{
	struct fake *f = &r->fake;
	struct sample_item *i = &f->items[f->n];

	memcpy(f->chains[f->n], chain, n * sizeof(*chain));
	i->type = ITEM_EVENT;
	i->cpu = (uint32_t)f->n % 2;
	i->event = (struct sample_event){ .tick = 1000 + f->n,
					  .kind = SAMPLE_TAKEN,
					  .mode = kernel ? SAMPLE_KERNEL : SAMPLE_USER,
					  .weight = weight,
					  .n_kernel = kernel,
					  .n_user = (uint16_t)(n - kernel),
					  .chain = f->chains[f->n] };
	i->event.task = (struct sample_task){ .tid = pid, .pid = pid, .vcpu = SAMPLE_NO_VCPU };
	i->event.task.comm[0] = (char)('a' + pid / 10);
	f->n++;
}

static void fill(struct rig *r)
{
	sample(r, 10, 5, 0, (uint64_t[]){ 0x1100, 0x1201 }, 2);
	sample(r, 20, 7, 0, (uint64_t[]){ 0x1100, 0x1201 }, 2);
	sample(r, 10, 11, 2, (uint64_t[]){ K + 0x110, K + 0x20, 0x1200, 0x1201 }, 4);
	sample(r, 10, 13, 0, (uint64_t[]){ 0x1200, 0x1201, 0x1201 }, 3); /* recursion */
	sample(r, 20, 17, 0, (uint64_t[]){ 0xf000 }, 1);		 /* in no mapping */
	sample(r, 0, 100, 0, (uint64_t[]){ 0 }, 0);
	r->fake.items[5].event.mode = SAMPLE_IDLE;
	r->fake.items[6] =
		(struct sample_item){ .type = ITEM_LOSS, .cpu = 1, .loss = { 1003, 1004, 9, 0 } };
	r->fake.items[7] = (struct sample_item){ .type = ITEM_LOSS,
						 .cpu = 0,
						 .loss = { 1003, 1004, LOSS_UNKNOWN, 0 } };
	r->fake.items[8] = (struct sample_item){ .type = ITEM_EVENT,
						 .event = { .kind = SAMPLE_SWITCH, .tick = 1008 } };
	r->fake.n = 9;
}

static const struct profile_row *find(const struct profile_report *r, const char *name)
{
	const struct profile_row *rows;
	size_t n, i;

	rows = profile_report_get(r, &n);
	for (i = 0; i < n; i++)
		if (!strcmp(rows[i].name, name))
			return &rows[i];
	return NULL;
}

static struct profile_report *report_of(struct rig *r, enum profile_by by)
{
	struct profile_report *report;
	struct error e = ERROR_INIT;

	assert_int_equal(fake_rewind(&r->fake.source, NULL), 0);
	assert_int_equal(profile_report_new(&report, &r->walk, by, false, &e), 0);
	return report;
}

static void test_report(void **state)
{
	struct profile_report *report;
	const struct profile_totals *t;
	const struct profile_row *rows;
	uint64_t self = 0;
	struct rig r;
	size_t n, i;

	(void)state;
	set_up(&r);
	fill(&r);
	report = report_of(&r, PROFILE_BY_FUNCTION);
	t = profile_report_totals(report);
	assert_int_equal(t->values[PROFILE_SAMPLES], 5);
	assert_int_equal(t->values[PROFILE_WEIGHT], 53);
	assert_int_equal(t->idle[PROFILE_SAMPLES], 1);
	assert_int_equal(t->idle[PROFILE_WEIGHT], 100);
	assert_int_equal(t->losses, 2);
	assert_int_equal(t->lost, 9);
	assert_int_equal(t->lost_unknown, 1);
	assert_int_equal(t->others, 1);
	/* Of two processes the same function; where a return goes to is behind the call. */
	assert_int_equal(find(report, "a+0x100")->self[PROFILE_WEIGHT], 12);
	assert_int_equal(find(report, "a+0x200")->self[PROFILE_WEIGHT], 13);
	assert_int_equal(find(report, "a+0x200")->total[PROFILE_WEIGHT], 36);
	assert_int_equal(find(report, "a+0x200")->total[PROFILE_SAMPLES], 4);
	assert_int_equal(find(report, "disk")->self[PROFILE_WEIGHT], 11);
	assert_int_equal(find(report, "disk")->kernel, 1);
	assert_string_equal(find(report, "disk")->object, "[scsi]");
	assert_string_equal(find(report, "sys_read")->object, "[kernel]");
	assert_int_equal(find(report, "sys_read")->self[PROFILE_SAMPLES], 0);
	assert_int_equal(find(report, "[unknown]")->self[PROFILE_WEIGHT], 17);
	profile_report_sort(report, PROFILE_ORDER_TOTAL, PROFILE_WEIGHT);
	rows = profile_report_get(report, &n);
	assert_string_equal(rows[0].name, "a+0x200");
	for (i = 0; i < n; i++)
		self += rows[i].self[PROFILE_WEIGHT];
	assert_int_equal(self, 53);
	profile_report_filter(report, NULL, 50, PROFILE_WEIGHT);
	profile_report_get(report, &n);
	assert_int_equal(n, 1);
	profile_report_free(report);

	report = report_of(&r, PROFILE_BY_OBJECT);
	assert_int_equal(find(report, "a")->self[PROFILE_WEIGHT], 25);
	assert_int_equal(find(report, "a")->total[PROFILE_WEIGHT], 36);
	profile_report_free(report);
	report = report_of(&r, PROFILE_BY_PROCESS);
	assert_int_equal(find(report, "b (10)")->self[PROFILE_WEIGHT], 29);
	assert_int_equal(find(report, "c (20)")->self[PROFILE_WEIGHT], 24);
	profile_report_free(report);
	report = report_of(&r, PROFILE_BY_CPU);
	assert_int_equal(find(report, "CPU 0")->self[PROFILE_WEIGHT], 33);
	profile_report_free(report);
	tear_down(&r);
}

static void check_select(struct rig *r, const struct profile_select *select, uint64_t weight,
			 uint64_t left_out)
{
	struct profile_report *report;

	r->walk.select = select;
	report = report_of(r, PROFILE_BY_FUNCTION);
	assert_int_equal(profile_report_totals(report)->values[PROFILE_WEIGHT], weight);
	assert_int_equal(profile_report_totals(report)->left_out, left_out);
	profile_report_free(report);
	r->walk.select = NULL;
}

static void test_select(void **state)
{
	const uint64_t second[TRACE_CPUS_MAX / 64] = { 2 };
	struct rig r;

	(void)state;
	set_up(&r);
	fill(&r);
	check_select(&r, &(struct profile_select){ .processes = "10" }, 29, 2);
	check_select(&r, &(struct profile_select){ .processes = "c*" }, 24, 3);
	check_select(&r, &(struct profile_select){ .threads = "20,x" }, 24, 3);
	check_select(&r, &(struct profile_select){ .modes = 1U << SAMPLE_KERNEL }, 11, 4);
	check_select(&r, &(struct profile_select){ .modes = 1U << SAMPLE_IDLE }, 100, 5);
	check_select(&r, &(struct profile_select){ .from_ns = 1001, .to_ns = 1003 }, 18, 3);
	check_select(&r, &(struct profile_select){ .cpus = second }, 20, 3);
	tear_down(&r);
}

/* The path of names leads there. */
static uint32_t walk_down(const struct profile_stacks *s, const char *const *path)
{
	uint32_t node = 0;

	for (; *path; path++) {
		node = profile_tree_get(s->tree, node)->child;
		while (node != PROFILE_NODE_NONE &&
		       strcmp(functions_get(s->functions, profile_tree_get(s->tree, node)->key)
				      ->name,
			      *path) != 0)
			node = profile_tree_get(s->tree, node)->next;
		assert_int_not_equal(node, PROFILE_NODE_NONE);
	}
	return node;
}

static void test_tree(void **state)
{
	const struct profile_shape shape = { .processes = true, .numbered = true };
	const struct profile_shape turned = { .turned = true };
	struct error e = ERROR_INIT;
	struct profile_stacks s;
	uint64_t self = 0;
	uint32_t node;
	struct rig r;

	(void)state;
	set_up(&r);
	fill(&r);
	assert_int_equal(profile_stacks_init(&s, &r.walk, &shape, &e), 0);
	assert_int_equal(profile_stacks_sort(&s, PROFILE_WEIGHT), 0);
	assert_int_equal(profile_tree_total(s.tree, 0)[PROFILE_WEIGHT], 53);
	for (node = 1; node < profile_tree_count(s.tree); node++)
		self += profile_tree_self(s.tree, node)[PROFILE_WEIGHT];
	assert_int_equal(self, 53);
	node = walk_down(&s, (const char *const[]){ "b (10)", "a+0x200", NULL });
	assert_int_equal(profile_tree_total(s.tree, node)[PROFILE_WEIGHT], 29);
	assert_int_equal(profile_tree_self(s.tree, node)[PROFILE_WEIGHT], 0);
	node = walk_down(&s,
			 (const char *const[]){ "b (10)", "a+0x200", "a+0x200", "a+0x200", NULL });
	assert_int_equal(profile_tree_self(s.tree, node)[PROFILE_WEIGHT], 13);
	/* The larger comes first. */
	node = profile_tree_next(s.tree, 0, false);
	assert_string_equal(functions_get(s.functions, profile_tree_get(s.tree, node)->key)->name,
			    "b (10)");
	profile_stacks_done(&s);

	fake_rewind(&r.fake.source, NULL);
	assert_int_equal(profile_stacks_init(&s, &r.walk, &turned, &e), 0);
	node = walk_down(&s, (const char *const[]){ "disk", "sys_read", "a+0x200", NULL });
	assert_int_equal(profile_tree_total(s.tree, node)[PROFILE_WEIGHT], 11);
	profile_stacks_done(&s);
	tear_down(&r);
}

static void test_diff(void **state)
{
	const struct profile_shape shape = { .turned = false };
	const struct profile_change *c;
	struct profile_report *reports[2];
	struct profile_stacks stacks[2];
	struct profile_diff *d;
	struct profile_join j;
	struct error e = ERROR_INIT;
	struct rig r[2];
	size_t n, i;
	double sum = 0;

	(void)state;
	for (i = 0; i < 2; i++)
		set_up(&r[i]);
	fill(&r[0]);
	sample(&r[1], 10, 30, 0, (uint64_t[]){ 0x1100, 0x1201 }, 2);
	sample(&r[1], 10, 10, 0, (uint64_t[]){ 0x1300, 0x1201 }, 2);
	for (i = 0; i < 2; i++)
		reports[i] = report_of(&r[i], PROFILE_BY_FUNCTION);
	assert_int_equal(profile_diff_new(&d, reports[0], reports[1], PROFILE_WEIGHT, &e), 0);
	profile_diff_sort(d, PROFILE_ORDER_SELF);
	c = profile_diff_get(d, &n);
	assert_string_equal(c[0].name, "a+0x100");
	assert_int_equal((int)(1000 * profile_diff_share(d, &c[0], 0, PROFILE_ORDER_SELF)), 22641);
	assert_int_equal((int)profile_diff_share(d, &c[0], 1, PROFILE_ORDER_SELF), 75);
	assert_string_equal(c[1].name, "a+0x300");
	assert_null(c[1].before);
	assert_string_equal(c[n - 1].name, "[unknown]");
	assert_null(c[n - 1].after);
	for (i = 0; i < n; i++)
		sum += profile_diff_share(d, &c[i], 1, PROFILE_ORDER_SELF) -
		       profile_diff_share(d, &c[i], 0, PROFILE_ORDER_SELF);
	assert_true(sum < 1e-9 && sum > -1e-9);

	for (i = 0; i < 2; i++) {
		fake_rewind(&r[i].fake.source, NULL);
		assert_int_equal(profile_stacks_init(&stacks[i], &r[i].walk, &shape, &e), 0);
	}
	assert_int_equal(profile_join_init(&j, &stacks[0], &stacks[1], &e), 0);
	assert_int_equal(profile_join_sort(&j, PROFILE_WEIGHT), 0);
	assert_int_equal(profile_tree_values(j.tree), 4);
	assert_int_equal(profile_tree_total(j.tree, 0)[PROFILE_WEIGHT], 53);
	assert_int_equal(profile_tree_total(j.tree, 0)[PROFILE_VALUES + PROFILE_WEIGHT], 40);
	profile_join_done(&j);
	profile_diff_free(d);
	for (i = 0; i < 2; i++) {
		profile_stacks_done(&stacks[i]);
		profile_report_free(reports[i]);
		tear_down(&r[i]);
	}
}

static void test_list(void **state)
{
	struct error e = ERROR_INIT;
	struct profile_list l;
	struct rig r;

	(void)state;
	set_up(&r);
	fill(&r);
	assert_int_equal(profile_list_init(&l, &r.walk, true, &e), 0);
	assert_int_equal(l.n, 5);
	assert_int_equal(profile_list_span(&l, 0), 3);
	assert_int_equal(profile_list_span(&l, 3), 2);
	assert_int_equal(l.entries[0].ns, 1000);
	assert_int_equal(l.entries[1].ns, 1002);
	assert_int_equal(l.entries[4].weight, 17);
	profile_list_done(&l);
	tear_down(&r);
}

/* Whatever is left out: own parts and totals of what is right below are the total, and own parts together are all. */
static void check_fold(const struct profile_stacks *s, const struct profile_fold_options *o,
		       size_t most)
{
	const struct profile_fold_row *rows;
	struct profile_fold *f = NULL;
	struct error e = ERROR_INIT;
	uint64_t all = 0, below, nodes = 0;
	size_t n, i, k, kept = 0;

	assert_int_equal(profile_fold_new(&f, s->tree, o, &e), 0);
	rows = profile_fold_get(f, &n);
	for (i = 0; i < n; i++) {
		below = rows[i].self[PROFILE_WEIGHT];
		all += below;
		nodes += rows[i].nodes;
		kept += rows[i].key != PROFILE_NODE_NONE;
		assert_true(!o->depth || rows[i].depth <= o->depth);
		for (k = i + 1; k < n && rows[k].depth > rows[i].depth; k++)
			if (rows[k].depth == rows[i].depth + 1)
				below += rows[k].total[PROFILE_WEIGHT];
		assert_int_equal(below, rows[i].total[PROFILE_WEIGHT]);
	}
	assert_int_equal(all, 53);
	assert_int_equal(nodes, profile_tree_count(s->tree) - 1);
	assert_true(kept <= most);
	profile_fold_free(f);
}

static void test_fold(void **state)
{
	const struct profile_shape shape = { .processes = true, .numbered = true };
	struct profile_fold_options o = { .value = PROFILE_WEIGHT };
	struct error e = ERROR_INIT;
	struct profile_stacks s;
	struct rig r;

	(void)state;
	set_up(&r);
	fill(&r);
	assert_int_equal(profile_stacks_init(&s, &r.walk, &shape, &e), 0);
	assert_int_equal(profile_stacks_sort(&s, PROFILE_WEIGHT), 0);
	for (o.limit = 1; o.limit < 12; o.limit++) {
		check_fold(&s, &o, o.limit);
		for (o.depth = 1; o.depth < 4; o.depth++)
			check_fold(&s, &o, o.limit);
		o.depth = 0;
	}
	o.least = 29; /* the process, and what it all went through */
	check_fold(&s, &o, 2);
	profile_stacks_done(&s);
	tear_down(&r);
}

static struct profile_timeline *timeline_of(struct rig *r, const struct profile_timeline_options *o)
{
	static struct profile_select all = { .modes = (1U << SAMPLE_MODES) - 1 };
	struct profile_timeline *t = NULL;
	struct error e = ERROR_INIT;

	fake_rewind(&r->fake.source, NULL);
	r->walk.select = &all;
	assert_int_equal(profile_timeline_new(&t, &r->walk, o, &e), 0);
	return t;
}

static void test_timeline(void **state)
{
	struct profile_timeline_options o = { .from_ns = 1000,
					      .to_ns = 1007,
					      .width = 3, /* 1000, 1002 and 1004 begin one each */
					      .by = PROFILE_BY_CPU,
					      .value = PROFILE_WEIGHT,
					      .limit = 1 };
	const struct profile_timeline_row *rows;
	struct profile_timeline *t;
	struct rig r;
	size_t n;

	(void)state;
	set_up(&r);
	fill(&r);
	t = timeline_of(&r, &o);
	rows = profile_timeline_get(t, &n);
	assert_int_equal(n, 2);
	assert_int_equal(rows[0].total, 5 + 11 + 17);
	assert_memory_equal(rows[0].cells[SAMPLE_USER], ((uint64_t[]){ 5, 0, 17 }), 24);
	assert_memory_equal(rows[0].cells[SAMPLE_KERNEL], ((uint64_t[]){ 0, 11, 0 }), 24);
	assert_memory_equal(rows[1].cells[SAMPLE_USER], ((uint64_t[]){ 7, 13, 0 }), 24);
	assert_memory_equal(rows[1].cells[SAMPLE_IDLE], ((uint64_t[]){ 0, 0, 100 }), 24);
	assert_int_equal(rows[1].total, 20);
	assert_null(rows[1].cells[SAMPLE_KERNEL]);
	profile_timeline_free(t);

	/* One process is shown, the other and nobody's time are the others. */
	o.by = PROFILE_BY_PROCESS;
	o.value = PROFILE_SAMPLES;
	o.to_ns = 1004;
	t = timeline_of(&r, &o);
	rows = profile_timeline_get(t, &n);
	assert_int_equal(n, 2);
	assert_int_equal(rows[0].total, 3);
	assert_int_equal(rows[1].key, UINT32_MAX);
	assert_int_equal(rows[1].total, 1);
	profile_timeline_free(t);

	/* Buckets of weeks. */
	o = (struct profile_timeline_options){
		.to_ns = INT64_MAX, .width = 4096, .by = PROFILE_BY_CPU, .value = PROFILE_SAMPLES
	};
	r.fake.items[0].event.tick = INT64_MAX - 1;
	r.fake.items[1].event.tick = INT64_MAX / 4096 * 7 + 8;
	t = timeline_of(&r, &o);
	rows = profile_timeline_get(t, &n);
	assert_int_equal(rows[0].cells[SAMPLE_USER][4095], 1);
	assert_int_equal(rows[1].cells[SAMPLE_USER][7], 1);
	profile_timeline_free(t);
	tear_down(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_report),	 cmocka_unit_test(test_select),
		cmocka_unit_test(test_tree),	 cmocka_unit_test(test_diff),
		cmocka_unit_test(test_list),	 cmocka_unit_test(test_fold),
		cmocka_unit_test(test_timeline),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
