/* SPDX-License-Identifier: MIT */
/*
 * source_graph_dat: recordings of a real kernel (tests/data/graph/README), against what trace-cmd report
 * says of the same files: as many calls, and the same durations in the same order.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "convert/source_graph_dat.h"
#include "tools/func_calls.h"

#define DATA SOURCE_ROOT "/tests/data/graph/"

static struct func_source *open_file(const char *name)
{
	struct error e = ERROR_INIT;
	struct func_source *s = NULL;
	char path[512];

	snprintf(path, sizeof(path), DATA "%s", name);
	if (source_graph_dat_open(path, &s, &e) < 0)
		fail_msg("%s", e.text);
	return s;
}

static int by_ns(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* All durations that the report prints, sorted. */
static size_t read_report(const char *name, uint64_t *ret, size_t most)
{
	char path[512], line[512];
	const char *us;
	size_t n = 0;
	double v;
	FILE *f;

	snprintf(path, sizeof(path), DATA "%s", name);
	f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		us = strstr(line, " us ");
		if (!strstr(line, "funcgraph_") || !us)
			continue;
		while (strchr("0123456789.", us[-1]))
			us--;
		assert_true(n < most && sscanf(us, "%lf", &v) == 1);
		ret[n++] = (uint64_t)(v * 1000 + 0.5);
	}
	fclose(f);
	qsort(ret, n, sizeof(*ret), by_ns);
	return n;
}

static void check_report(const char *dat, const char *report, size_t threads)
{
	static uint64_t want[FUNC_CALLS_MAX], got[FUNC_CALLS_MAX];
	struct func_source *s = open_file(dat);
	struct func_calls *c = func_calls_read(s);
	size_t n = read_report(report, want, FUNC_CALLS_MAX), i;

	assert_non_null(c);
	assert_int_equal(c->n, n);
	assert_int_equal(c->exits, n);
	assert_int_equal(c->alone + c->wrong + c->back + c->losses, 0);
	assert_int_equal(s->n_threads, threads);
	for (i = 0; i < n; i++)
		got[i] = c->calls[i].ns;
	qsort(got, n, sizeof(*got), by_ns);
	for (i = 0; i < n; i++)
		assert_true(got[i] == want[i]);
	free(c);
	func_source_free(s);
}

static void test_reports(void **state)
{
	(void)state;
	check_report("graph.dat", "graph.report", 4);
	check_report("graph-v7.dat", "graph.report", 4);
	check_report("sched.dat", "sched.report", 5);
	check_report("thresh.dat", "thresh.report", 2);
	/* A task that was interrupted and preempted between a return and its record. */
	check_report("late.dat", "late.report", 1);
}

static void test_names(void **state)
{
	struct func_source *s = open_file("graph.dat");
	struct func_calls *c = func_calls_read(s);
	const struct func_call *first = &c->calls[0], *second = &c->calls[1];

	(void)state;
	assert_string_equal(s->origin, "trace.dat v6");
	assert_string_equal(s->clock.name, "local");
	assert_string_equal(s->threads[0].comm, "work.sh");
	assert_int_equal(s->threads[0].tid, 182);
	/* work.sh-182 [001] 60.951345: mutex_unlock() of 21.152 us, then __f_unlock_pos(). */
	assert_string_equal(s->processes[0].names[first->func], "mutex_unlock");
	assert_int_equal(first->ns, 21152);
	assert_in_range(first->tick, 60951320000, 60951346000);
	assert_string_equal(s->processes[0].names[second->func], "mutex_unlock");
	assert_int_equal(second->depth, 1);
	assert_string_equal(s->processes[0].names[c->calls[2].func], "__f_unlock_pos");
	free(c);
	func_source_free(s);
}

/* sched_switch and sched_waking of threads that have calls. */
static void test_os(void **state)
{
	struct func_source *s = open_file("sched.dat");
	uint64_t n[FUNC_OS_MAX + 1] = { 0 };
	struct func_item it;

	(void)state;
	while (s->ops->next(s, &it, NULL) > 0)
		if (it.event.kind == FUNC_OS)
			n[it.event.os]++;
	assert_int_equal(n[FUNC_OS_SWITCH_IN] + n[FUNC_OS_SWITCH_OUT] + n[FUNC_OS_WAKING], 28);
	assert_true(n[FUNC_OS_SWITCH_IN] && n[FUNC_OS_SWITCH_OUT] && n[FUNC_OS_WAKING]);
	func_source_free(s);
}

static void test_function(void **state)
{
	struct func_source *s = open_file("function.dat");
	struct func_calls *c = func_calls_read(s);

	(void)state;
	assert_int_equal(c->n, 2);
	assert_int_equal(c->calls[0].ns, 0);
	assert_string_equal(s->processes[0].names[c->calls[0].func], "vfs_read");
	free(c);
	func_source_free(s);
}

static void test_no_calls(void **state)
{
	static const char path[] = SOURCE_ROOT "/tests/data/small-v6.dat";
	struct error e = ERROR_INIT;
	struct func_source *s;

	(void)state;
	assert_int_equal(source_graph_dat_open(path, &s, &e), -ENODATA);
	assert_non_null(strstr(e.text, "it holds no calls"));
	assert_true(graph_dat_is((const uint8_t *)"\x17\x08\x44tracing6", 11));
	assert_false(graph_dat_is((const uint8_t *)"tracing", 7));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reports),	 cmocka_unit_test(test_names),
		cmocka_unit_test(test_os),	 cmocka_unit_test(test_function),
		cmocka_unit_test(test_no_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
