/* SPDX-License-Identifier: MIT */
/* Reports, trees, graphs, lists and differences of small scripts whose numbers were worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/call_diff.h"
#include "analysis/call_graph.h"
#include "analysis/call_list.h"
#include "analysis/call_report.h"
#include "tools/func_script.h"

/* Two threads of one process, one of another. a: f is recursive, b: OS records. */
static const char script[] = "process 10 demo\n"
			     "thread 10 demo\n"
			     "thread 11 worker\n"
			     "process 20 other\n"
			     "thread 20 other\n"
			     "100 10 > main\n"
			     "110 10 > f\n"
			     "120 10 > f\n"
			     "130 10 > g\n"
			     "150 10 < g\n"
			     "150 11 in 1\n"
			     "150 11 > work\n"
			     "160 10 < f\n"
			     "170 11 out 1\n"
			     "180 10 < f\n"
			     "190 10 > g\n"
			     "200 20 > main\n"
			     "210 11 wake 10\n"
			     "220 11 in 0\n"
			     "225 20 > f\n"
			     "230 10 < g\n"
			     "240 11 < work\n"
			     "250 20 lost 7\n"
			     "260 20 < f\n"
			     "270 11 > work\n"
			     "275 11 < nothing\n"
			     "300 10 < main\n";

struct open {
	struct func_source *source;
	struct call_names *names;
	struct call_walk walk;
};

static void open_script(struct open *o, const char *text)
{
	struct error e = ERROR_INIT;

	memset(o, 0, sizeof(*o));
	if (func_script_new(&o->source, text, &e) < 0)
		fail_msg("%s", e.text);
	assert_int_equal(call_names_new(&o->names, o->source, NULL, &e), 0);
	o->walk.source = o->source;
	o->walk.names = o->names;
}

static void close_script(struct open *o)
{
	call_names_free(o->names);
	func_source_free(o->source);
}

static const struct call_stat *stat_of(const struct call_report *r, const char *name)
{
	const struct call_stat *s;
	size_t n, i;

	s = call_report_get(r, &n);
	for (i = 0; i < n; i++)
		if (!strcmp(call_names_get(call_report_names(r), s[i].function)->name, name))
			return &s[i];
	return NULL;
}

static struct call_report *report_of(struct open *o)
{
	struct call_report *r = NULL;
	struct error e = ERROR_INIT;

	if (call_report_new(&r, &o->walk, &e) < 0)
		fail_msg("%s", e.text);
	return r;
}

static void test_report(void **state)
{
	struct open o;
	struct call_report *r;
	const struct call_stat *s;
	const struct call_totals *t;
	uint64_t sum = 0;
	size_t n, i;

	(void)state;
	open_script(&o, script);
	r = report_of(&o);
	s = stat_of(r, "f");
	assert_int_equal(s->calls, 3);
	assert_int_equal(s->total_ns, 70 + 25); /* the inner call counts once; one was cut */
	assert_int_equal(call_split_sum(&s->local), 10 + 20 + 20 + 25);
	assert_int_equal(s->ends[CALL_CUT], 1);
	assert_int_equal(call_stat_average(s), (70 + 40) / 2);
	assert_int_equal(s->min_ns, 40);
	assert_int_equal(s->max_ns, 70);
	s = stat_of(r, "main"); /* of both processes: the same name is the same function */
	assert_int_equal(s->calls, 2);
	assert_int_equal(s->total_ns, 200 + 50);
	s = stat_of(r, "work");
	assert_int_equal(s->local.ns[CALL_USER], 20 + 20 + 5);
	assert_int_equal(s->local.ns[CALL_BLOCKED], 40);
	assert_int_equal(s->local.ns[CALL_PREEMPTED], 10);
	assert_int_equal(s->ends[CALL_OPEN], 1);
	assert_null(stat_of(r, "nothing"));
	/* All local times together are the time of all outermost calls. */
	s = call_report_get(r, &n);
	for (i = 0; i < n; i++)
		sum += call_split_sum(&s[i].local);
	assert_int_equal(sum, 200 + 90 + 5 + 50);
	assert_int_equal(call_split_sum(call_report_local(r)), sum);
	t = call_report_totals(r);
	assert_int_equal(t->counts.orphans, 2);
	assert_int_equal(t->losses, 1);
	assert_int_equal(t->lost, 7);
	assert_int_equal(t->threads, 3);
	assert_int_equal(t->os_threads, 1);
	assert_int_equal(t->from_ns, 100);
	assert_int_equal(t->to_ns, 300);
	call_report_free(r);
	close_script(&o);
}

static void test_sort_and_filter(void **state)
{
	struct open o;
	struct call_report *r;
	const struct call_stat *s;
	size_t n;

	(void)state;
	open_script(&o, script);
	r = report_of(&o);
	s = call_report_get(r, &n);
	assert_int_equal(n, 4);
	assert_string_equal(call_names_get(o.names, s[0].function)->name, "main");
	call_report_sort(r, CALL_BY_CALLS);
	s = call_report_get(r, &n);
	assert_string_equal(call_names_get(o.names, s[0].function)->name, "f");
	call_report_sort(r, CALL_BY_NAME);
	s = call_report_get(r, &n);
	assert_string_equal(call_names_get(o.names, s[1].function)->name, "g");
	call_report_filter(r, NULL, 80);
	s = call_report_get(r, &n);
	assert_int_equal(n, 3);
	call_report_filter(r, "[fm]*", 0);
	s = call_report_get(r, &n);
	assert_int_equal(n, 2);
	call_report_free(r);
	close_script(&o);
}

static uint64_t calls_with(const char *processes, const char *threads)
{
	struct call_select select = { processes, threads };
	struct open o;
	struct call_report *r;
	uint64_t calls;

	open_script(&o, script);
	o.walk.select = &select;
	r = report_of(&o);
	calls = call_report_totals(r)->counts.calls;
	call_report_free(r);
	close_script(&o);
	return calls;
}

static void test_select(void **state)
{
	(void)state;
	assert_int_equal(calls_with(NULL, NULL), 9);
	assert_int_equal(calls_with("10", NULL), 7);
	assert_int_equal(calls_with("demo", NULL), 7);
	assert_int_equal(calls_with("o*", NULL), 2);
	assert_int_equal(calls_with("10", "work*"), 2);
	assert_int_equal(calls_with(NULL, "10,20"), 7);
	assert_int_equal(calls_with("nobody", NULL), 0);
}

static struct call_tree *tree_of(struct open *o)
{
	struct call_tree *t = NULL;
	struct error e = ERROR_INIT;

	if (call_tree_new(&t, &o->walk, &e) < 0)
		fail_msg("%s", e.text);
	call_tree_sort(t);
	return t;
}

static void test_tree(void **state)
{
	const char *expected = "main 2 250|f 2 95|f 1 40|g 1 20|g 1 40|work 2 95|";
	struct open o;
	struct call_tree *t;
	const struct call_node *nodes;
	char text[256] = "";
	uint64_t children, local;
	uint32_t i, k;
	size_t n;

	(void)state;
	open_script(&o, script);
	t = tree_of(&o);
	nodes = call_tree_get(t, &n);
	for (i = call_tree_next(t, 0, false); i != CALL_NODE_NONE; i = call_tree_next(t, i, false))
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s %u %u|",
			 call_names_get(o.names, nodes[i].function)->name,
			 (unsigned int)nodes[i].calls, (unsigned int)nodes[i].total_ns);
	assert_string_equal(text, expected);
	for (i = 0; i < n; i++) {
		children = 0;
		local = call_split_sum(&nodes[i].local);
		for (k = nodes[i].child; k != CALL_NODE_NONE; k = nodes[k].next)
			children += nodes[k].total_ns;
		assert_int_equal(children + local, nodes[i].total_ns);
	}
	assert_int_equal(call_tree_folded(t), 0);
	call_tree_free(t);
	close_script(&o);
}

static uint32_t function_of(const struct open *o, const char *name)
{
	uint32_t i;

	for (i = 0; i < call_names_count(o->names); i++)
		if (!strcmp(call_names_get(o->names, i)->name, name))
			return i;
	fail_msg("no function %s", name);
	return 0;
}

static void test_graph(void **state)
{
	struct open o;
	struct call_tree *t;
	struct call_graph g;
	struct error e = ERROR_INIT;

	(void)state;
	open_script(&o, script);
	t = tree_of(&o);
	assert_int_equal(call_graph_init(&g, t, function_of(&o, "f"), &e), 0);
	assert_int_equal(g.calls, 3);
	assert_int_equal(g.total_ns, 95);
	assert_int_equal(g.n_callers, 2); /* main, and f itself */
	assert_int_equal(g.callers[0].function, function_of(&o, "main"));
	assert_int_equal(g.callers[0].calls, 2);
	assert_int_equal(g.callers[0].total_ns, 95);
	assert_int_equal(g.callers[1].function, function_of(&o, "f"));
	assert_int_equal(g.callers[1].total_ns, 0);
	assert_int_equal(g.n_callees, 2);
	assert_int_equal(g.callees[0].function, function_of(&o, "f"));
	assert_int_equal(g.callees[0].total_ns, 40);
	assert_int_equal(g.callees[1].function, function_of(&o, "g"));
	assert_int_equal(g.callees[1].calls, 1);
	call_graph_done(&g);
	assert_int_equal(call_graph_init(&g, t, function_of(&o, "main"), &e), 0);
	assert_int_equal(g.n_callers, 1);
	assert_int_equal(g.callers[0].function, CALL_NODE_NONE);
	call_graph_done(&g);
	assert_true(call_graph_init(&g, t, function_of(&o, "nothing"), &e) < 0);
	call_tree_free(t);
	close_script(&o);
}

static void test_diff(void **state)
{
	struct open a, b;
	struct call_report *before, *after;
	struct call_diff *d = NULL;
	const struct call_change *c;
	struct error e = ERROR_INIT;
	size_t n;

	(void)state;
	open_script(&a, "process 1 x\nthread 1 x\n0 1 > m\n10 1 > old\n20 1 < old\n30 1 > same\n"
			"35 1 < same\n40 1 < m\n");
	open_script(&b, "process 1 x\nthread 1 x\n0 1 > m\n10 1 > new\n30 1 < new\n30 1 > same\n"
			"35 1 < same\n100 1 < m\n");
	before = report_of(&a);
	after = report_of(&b);
	assert_int_equal(call_diff_new(&d, before, after, &e), 0);
	c = call_diff_get(d, &n);
	assert_int_equal(n, 4);
	assert_string_equal(c[0].name, "m");
	assert_int_equal(call_change_by(&c[0], CALL_BY_LOCAL), 75 - 25);
	assert_int_equal(call_change_by(&c[0], CALL_BY_TOTAL), 60);
	assert_string_equal(c[1].name, "new");
	assert_null(c[1].before);
	assert_string_equal(c[2].name, "same");
	assert_int_equal(call_change_by(&c[2], CALL_BY_TOTAL), 0);
	assert_string_equal(c[3].name, "old");
	assert_null(c[3].after);
	assert_int_equal(call_change_by(&c[3], CALL_BY_LOCAL), -10);
	call_diff_free(d);
	call_report_free(before);
	call_report_free(after);
	close_script(&a);
	close_script(&b);
}

static size_t list_text(struct open *o, const struct call_list_options *options, char *text,
			size_t size)
{
	struct call_list *l = NULL;
	struct call_row row;
	struct error e = ERROR_INIT;
	size_t n = 0;
	int r;

	*text = 0;
	assert_int_equal(o->source->ops->rewind(o->source, &e), 0);
	if (call_list_new(&l, &o->walk, options, &e) < 0)
		fail_msg("%s", e.text);
	while ((r = call_list_next(l, &row, &e)) > 0) {
		n++;
		snprintf(text + strlen(text), size - strlen(text), "%u:%s@%u+%u/%u ",
			 (unsigned int)row.depth, call_names_get(o->names, row.function)->name,
			 (unsigned int)row.begin_ns, (unsigned int)row.total_ns,
			 (unsigned int)call_split_sum(&row.local));
	}
	assert_int_equal(r, 0);
	call_list_free(l);
	return n;
}

static void test_list(void **state)
{
	struct call_list_options options = { 0 };
	struct open o;
	char text[1024];

	(void)state;
	open_script(&o, script);
	list_text(&o, &options, text, sizeof(text));
	assert_string_equal(text, "0:main@100+200/90 1:f@110+70/30 2:f@120+40/20 3:g@130+20/20 "
				  "0:work@150+90/90 1:g@190+40/40 0:main@200+50/25 1:f@225+25/25 "
				  "0:work@270+5/5 ");
	options.min_ns = 40;
	list_text(&o, &options, text, sizeof(text));
	assert_string_equal(text, "0:main@100+200/90 1:f@110+70/30 2:f@120+40/20 0:work@150+90/90 "
				  "1:g@190+40/40 0:main@200+50/25 ");
	options.min_ns = 0;
	options.depth = 1;
	list_text(&o, &options, text, sizeof(text));
	assert_string_equal(text,
			    "0:main@100+200/90 0:work@150+90/90 0:main@200+50/25 0:work@270+5/5 ");
	options.depth = 0;
	options.limit = 2;
	list_text(&o, &options, text, sizeof(text));
	assert_string_equal(text, "0:main@100+200/90 1:f@110+70/30 ");
	options.limit = 0;
	options.function = "f";
	list_text(&o, &options, text, sizeof(text));
	assert_string_equal(text, "1:f@110+70/30 2:f@120+40/20 3:g@130+20/20 1:f@225+25/25 ");
	close_script(&o);
}

/* More calls than the ring of rows holds: those at the start end after they were spilt. */
static void test_long_list(void **state)
{
	enum { CALLS = 100000 };
	struct call_list_options options = { 0 };
	struct call_list *l = NULL;
	struct error e = ERROR_INIT;
	struct call_row row;
	struct open o;
	char *text = malloc(CALLS * 48 + 128);
	size_t len;
	uint64_t i, sum = 0;

	(void)state;
	assert_non_null(text);
	len = (size_t)sprintf(text, "process 1 x\nthread 1 x\n0 1 > main\n5 1 > loop\n");
	for (i = 0; i < CALLS; i++)
		len += (size_t)sprintf(text + len, "%u 1 > f\n%u 1 < f\n",
				       (unsigned int)(10 + 10 * i), (unsigned int)(13 + 10 * i));
	sprintf(text + len, "2000000 1 < loop\n2000010 1 < main\n");
	open_script(&o, text);
	free(text);
	assert_int_equal(call_list_new(&l, &o.walk, &options, &e), 0);
	for (i = 0; call_list_next(l, &row, &e) > 0; i++) {
		assert_int_equal(row.total_ns, i == 0 ? 2000010 : i == 1 ? 1999995 : 3);
		assert_int_equal(row.begin_ns, i == 0 ? 0 : i == 1 ? 5 : 10 * (i - 1));
		sum += call_split_sum(&row.local);
	}
	assert_int_equal(i, CALLS + 2);
	assert_int_equal(sum, 2000010);
	call_list_free(l);
	close_script(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_report), cmocka_unit_test(test_sort_and_filter),
		cmocka_unit_test(test_select), cmocka_unit_test(test_tree),
		cmocka_unit_test(test_graph),  cmocka_unit_test(test_diff),
		cmocka_unit_test(test_list),   cmocka_unit_test(test_long_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
