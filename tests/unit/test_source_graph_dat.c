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
#include <sys/mman.h>

#include <cmocka.h>

#include "convert/graph_symbols.h"
#include "convert/source_graph_dat.h"
#include "convert/tracedat.h"
#include "tools/func_calls.h"
#include "tracedat_build.h"

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

/* --- files built here, for what the recordings do not have --- */

#define COMMON                                                                                     \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define CALL                                                                                       \
	"\tfield:unsigned long func;\toffset:8;\tsize:8;\tsigned:0;\n"                             \
	"\tfield:int depth;\toffset:16;\tsize:4;\tsigned:1;\n"

static const char *const formats[] = {
	"name: funcgraph_entry\nID: 11\nformat:\n" COMMON CALL,
	"name: funcgraph_exit\nID: 10\nformat:\n" COMMON CALL
	"\tfield:unsigned long long calltime;\toffset:24;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned long long rettime;\toffset:32;\tsize:8;\tsigned:0;\n",
};

static const char wakeup[] = "name: sched_wakeup\nID: 42\nformat:\n" COMMON
			     "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
			     "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
			     "\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n"
			     "\tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;\n";

static struct build b;

/* The head up to the length of kallsyms. */
static void start(void)
{
	size_t i;

	build_start(&b, false, 8, "6");
	build_header_info(&b, 8);
	build_number(&b, 2, 4);
	for (i = 0; i < 2; i++) {
		build_number(&b, strlen(formats[i]), 8);
		build_raw(&b, formats[i], strlen(formats[i]));
	}
	build_number(&b, 1, 4);
	build_text(&b, "sched");
	build_number(&b, 1, 4);
	build_number(&b, strlen(wakeup), 8);
	build_raw(&b, wakeup, strlen(wakeup));
}

static void build_record(uint32_t delta, uint32_t id, size_t len)
{
	build_number(&b, delta << 5 | (uint32_t)(len / 4), 4);
	build_number(&b, id, 4);
	build_number(&b, 7, 4);
}

/* A call that was recorded at 1000 and 1020, and that says it was from 995 to 1010. */
static void build_call(uint64_t flags)
{
	size_t at = b.len;

	build_number(&b, 1000, 8);
	build_number(&b, (4 + 20 + 4 + 36 + 4 + 40) | flags, 8);
	build_record(0, 11, 20);
	build_number(&b, 0x1000, 8);
	build_number(&b, 0, 4);
	build_record(1, 42, 36);
	build_number(&b, 0, 28);
	build_record(19, 10, 40);
	build_number(&b, 0x1000, 8);
	build_number(&b, 0, 8);
	build_number(&b, 995, 8);
	build_number(&b, 1010, 8);
	build_number(&b, 33, 8);
	b.len = at + PAGE;
}

static struct func_source *open_call(unsigned int id, const void *option, size_t len,
				     uint64_t flags)
{
	struct error e = ERROR_INIT;
	struct func_source *s = NULL;

	start();
	build_number(&b, 0, 4);
	build_number(&b, 0, 4);
	build_number(&b, 0, 8);
	build_number(&b, 1, 4);
	build_text(&b, "options  ");
	build_option(&b, id, option, len);
	build_number(&b, 0, 2);
	build_text(&b, "flyrecord");
	build_number(&b, PAGE, 8);
	build_number(&b, PAGE, 8);
	build_align(&b);
	build_call(flags);
	if (source_graph_dat_open_bytes((struct import_bytes){ b.bytes, b.len }, &s, &e) < 0)
		fail_msg("%s", e.text);
	return s;
}

static void check_call(struct func_source *s, uint64_t from, uint64_t to)
{
	struct func_item it;

	assert_int_equal(s->ops->next(s, &it, NULL), 1);
	assert_int_equal(it.event.kind, FUNC_ENTER);
	assert_int_equal(it.event.tick, from);
	assert_int_equal(s->ops->next(s, &it, NULL), 1);
	assert_int_equal(it.event.kind, FUNC_EXIT);
	assert_int_equal(it.event.tick, to);
	assert_int_equal(s->ops->next(s, &it, NULL), 0); /* a wakeup is no thread's */
	func_source_free(s);
}

/* The exit's own times are those of the clock `local`, which is meant where no clock is named. */
static void test_clocks(void **state)
{
	static const uint8_t tsc[16] = { 5, 0, 0, 0, 1 };
	struct func_source *s;

	(void)state;
	check_call(open_call(TRACEDAT_TRACECLOCK, "[local]", 7, 0), 995, 1010);
	check_call(open_call(TRACEDAT_OFFSET, "100", 3, 0), 1095, 1110);
	check_call(open_call(TRACEDAT_TRACECLOCK, "[mono]", 6, 0), 1000, 1020);
	s = open_call(TRACEDAT_TSC2NSEC, tsc, sizeof(tsc), 0);
	assert_int_equal(s->clock.mult, 5);
	assert_int_equal(s->clock.shift, 1);
	check_call(s, 1000, 1020);
}

static void test_loss(void **state)
{
	struct func_source *s = open_call(TRACEDAT_TRACECLOCK, "[mono]", 6, 0xc0000000);
	struct func_item it;

	(void)state;
	assert_int_equal(s->ops->next(s, &it, NULL), 1);
	assert_int_equal(it.type, FUNC_ITEM_LOSS);
	assert_int_equal(it.loss.count, 33);
	assert_int_equal(it.loss.to_tick, 1000);
	check_call(s, 1000, 1020);
}

static void refuse(size_t len, const uint8_t *bytes, int code, const char *why)
{
	struct error e = ERROR_INIT;
	struct func_source *s;

	assert_int_equal(source_graph_dat_open_bytes((struct import_bytes){ bytes, len }, &s, &e),
			 code);
	if (!strstr(e.text, why))
		fail_msg("\"%s\" says nothing of \"%s\"", e.text, why);
}

static void test_nothing(void **state)
{
	(void)state;
	/* Formats of tracers, but none of calls. */
	build_start_v6(&b, false, 8, 1);
	build_text(&b, "flyrecord");
	build_number(&b, 0, 16);
	refuse(b.len, b.bytes, -ENODATA, "holds no calls");
	/* No CPU. */
	start();
	build_number(&b, 0, 4);
	build_number(&b, 0, 4);
	build_number(&b, 0, 8);
	build_number(&b, 0, 4);
	build_text(&b, "flyrecord");
	refuse(b.len, b.bytes, -ENODATA, "holds no calls");
}

/* More symbols than any kernel has: pages of zeros that nobody looks at. */
static void test_kallsyms_max(void **state)
{
	const size_t len = (size_t)GRAPH_KALLSYMS_MAX + (1U << 20);
	uint8_t *bytes = mmap(NULL, len, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	(void)state;
	assert_ptr_not_equal(bytes, MAP_FAILED);
	start();
	build_number(&b, GRAPH_KALLSYMS_MAX + 1, 4);
	memcpy(bytes, b.bytes, b.len);
	refuse(len, bytes, -E2BIG, "too many threads, functions or calls");
	munmap(bytes, len);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reports),	     cmocka_unit_test(test_names),
		cmocka_unit_test(test_os),	     cmocka_unit_test(test_function),
		cmocka_unit_test(test_no_calls),     cmocka_unit_test(test_clocks),
		cmocka_unit_test(test_loss),	     cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_kallsyms_max),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
