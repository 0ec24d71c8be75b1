/* SPDX-License-Identifier: MIT */
/*
 * source_graph_text: texts of a real kernel with many options (tests/data/graph/README), and by hand what
 * that kernel does not print. The truth about durations is the text itself.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "convert/source_graph_text.h"
#include "tools/func_calls.h"
#include "wire/loss.h"

#define DATA SOURCE_ROOT "/tests/data/graph/"

static struct func_source *open_file(const char *name)
{
	struct error e = ERROR_INIT;
	struct func_source *s = NULL;
	char path[512];

	snprintf(path, sizeof(path), DATA "%s", name);
	if (source_graph_text_open(path, &s, &e) < 0)
		fail_msg("%s", e.text);
	return s;
}

static struct func_source *open_text(const char *text)
{
	struct import_bytes in = { (const uint8_t *)text, strlen(text) };
	struct error e = ERROR_INIT;
	struct func_source *s = NULL;

	if (source_graph_text_open_bytes(in, &s, &e) < 0)
		fail_msg("%s", e.text);
	return s;
}

static const char *name_of(const struct func_source *s, const struct func_call *c)
{
	assert_true(c->func < s->processes[0].n_names);
	return s->processes[0].names[c->func];
}

static void check_file(const char *name, uint64_t enters, uint64_t exits, size_t threads)
{
	struct func_source *s = open_file(name);
	struct func_calls *c = func_calls_read(s), *again;

	assert_non_null(c);
	assert_int_equal(c->enters, enters);
	assert_int_equal(c->exits, exits);
	assert_int_equal(c->alone + c->wrong + c->back, 0);
	assert_int_equal(c->open, enters - exits);
	assert_int_equal(s->n_threads, threads);
	assert_true(s->processes[0].kernel);
	assert_int_equal(s->ops->rewind(s, NULL), 0);
	again = func_calls_read(s);
	assert_memory_equal(c, again, sizeof(*c));
	free(again);
	free(c);
	func_source_free(s);
}

/* Lines of the files, counted by hand with grep: "{" and ");" for entries, "}" and ");" for exits. */
static void test_files(void **state)
{
	(void)state;
	check_file("default.txt", 79, 77, 1);
	check_file("rich.txt", 79, 78, 1);
	check_file("latency.txt", 72, 72, 1);
	check_file("filter.txt", 47, 47, 1);
	check_file("thresh.txt", 108, 108, 3);
	check_file("events.txt", 66, 63, 3);
	check_file("system.txt", 80, 76, 6);
}

static double printed_us(const char *line)
{
	const char *us = strstr(line, " us");
	double v;

	if (!us)
		return -1;
	while (us > line && strchr("0123456789.", us[-1]))
		us--;
	return sscanf(us, "%lf", &v) == 1 ? v : -1;
}

/* Of all lines with a duration, how many calls took exactly that, and at most how much others differ. */
static void check_durations(const char *name, size_t least)
{
	struct func_source *s = open_file(name);
	struct func_calls *c = func_calls_read(s);
	size_t exact = 0, lines = 0, i;
	char path[512], line[512];
	double us;
	FILE *f;

	snprintf(path, sizeof(path), DATA "%s", name);
	f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		us = printed_us(line);
		if (*line == '#' || us < 0)
			continue;
		lines++;
		for (i = 0; i < c->n && c->calls[i].ns != (uint64_t)(us * 1000 + 0.5); i++)
			;
		exact += i < c->n;
	}
	fclose(f);
	assert_true(lines > 40);
	assert_true(exact >= least);
	assert_true(exact <= lines);
	free(c);
	func_source_free(s);
}

static void test_durations(void **state)
{
	(void)state;
	check_durations("default.txt", 77);
	check_durations("rich.txt", 77);
	check_durations("filter.txt", 47);
	check_durations("thresh.txt", 104);
	check_durations("system.txt", 76);
}

static void test_origin(void **state)
{
	struct func_source *s = open_file("rich.txt");

	(void)state;
	assert_string_equal(s->origin, "function_graph text");
	assert_int_equal(s->threads[0].tid, 119);
	assert_int_equal(s->threads[0].cpu, -1);
	assert_string_equal(s->threads[0].comm, "work.sh");
	func_source_free(s);
	s = open_file("system.txt");
	assert_string_equal(s->origin, "function_graph text, times from durations");
	assert_int_equal(s->threads[0].tid, 107);
	assert_string_equal(s->threads[0].comm, "script");
	func_source_free(s);
}

static void test_losses(void **state)
{
	struct func_source *s = open_file("lost.txt");
	struct func_calls *c = func_calls_read(s);

	(void)state;
	assert_int_equal(c->losses, 2);
	assert_int_equal(c->lost, 481 + 960);
	assert_int_equal(c->wrong, 0);
	free(c);
	func_source_free(s);
	s = open_text("CPU:0 [LOST EVENTS]\n 0)  1.0 us |  f();\n");
	c = func_calls_read(s);
	assert_true(c->losses == 1 && c->lost == LOSS_UNKNOWN);
	free(c);
	func_source_free(s);
}

static void test_switches(void **state)
{
	struct func_source *s = open_file("events.txt");
	struct func_item it;
	uint64_t outs = 0, ins = 0;

	(void)state;
	while (s->ops->next(s, &it, NULL) > 0) {
		if (it.event.kind != FUNC_OS)
			continue;
		outs += it.event.os == FUNC_OS_SWITCH_OUT;
		ins += it.event.os == FUNC_OS_SWITCH_IN;
		/* rcu_sched goes to sleep as 'I'; the shell was preempted. */
		if (it.event.os == FUNC_OS_SWITCH_OUT && s->threads[it.thread].tid == 14)
			assert_int_equal(it.event.value, 128);
		if (it.event.os == FUNC_OS_SWITCH_OUT && s->threads[it.thread].tid == 149)
			assert_int_equal(it.event.value, 0);
	}
	assert_true(outs >= 3 && ins >= 3);
	func_source_free(s);
}

/* The state that a task went with, from the first thread's switch. */
static uint64_t get_state(const char *text, size_t len)
{
	struct import_bytes in = { (const uint8_t *)text, len };
	struct error e = ERROR_INIT;
	struct func_source *s;
	struct func_item it;
	uint64_t state = UINT64_MAX;

	if (source_graph_text_open_bytes(in, &s, &e) < 0)
		fail_msg("%s", e.text);
	while (s->ops->next(s, &it, NULL) > 0)
		if (it.event.kind == FUNC_OS && it.event.os == FUNC_OS_SWITCH_OUT)
			state = it.event.value;
	func_source_free(s);
	return state;
}

/* A state may be anything up to the line's end. */
static void test_states(void **state)
{
#define CALL " 0)  a-1  |  1.0 us |  f();\n"
#define SWITCH CALL " 0)  a-1  |         |  /* sched_switch: prev_pid=1 next_pid=2 prev_state="
	static const char end[] = SWITCH "D", nul[] = SWITCH "S\0T|? */\n", plus[] = SWITCH "R+ */";

	(void)state;
	assert_int_equal(get_state(end, sizeof(end) - 1), 2);
	assert_int_equal(get_state(nul, sizeof(nul) - 1), 1 | 4);
	assert_int_equal(get_state(plus, sizeof(plus) - 1), 0);
}

static void test_new_kernel(void **state)
{
	static const struct {
		const char *name;
		uint64_t ns;
		uint32_t depth;
	} want[] = {
		{ "fdget_pos", 400, 1 },
		{ "rw_verify_area", 250, 2 },
		{ "fat_read [vfat]", 10125, 2 },
		{ "vfs_read", 17250, 1 },
		{ "ksys_read", 21000, 0 },
		{ "0xffffffffc0a01000", 1500, 0 },
		{ "fput", 500, 0 },
	};
	struct func_source *s = open_file("new.txt");
	struct func_calls *c = func_calls_read(s);
	size_t i;

	(void)state;
	assert_int_equal(c->n, sizeof(want) / sizeof(want[0]));
	for (i = 0; i < c->n; i++) {
		assert_string_equal(name_of(s, &c->calls[i]), want[i].name);
		assert_int_equal(c->calls[i].ns, want[i].ns);
		assert_int_equal(c->calls[i].depth, want[i].depth);
	}
	free(c);
	func_source_free(s);
}

static void test_old_kernel(void **state)
{
	struct func_source *s = open_file("old.txt");
	struct func_calls *c = func_calls_read(s);

	(void)state;
	assert_int_equal(s->n_threads, 3);
	assert_int_equal(s->threads[0].tid, 2794);
	assert_int_equal(s->threads[1].tid, 3);
	assert_int_equal(s->threads[2].cpu, 1); /* nobody says who ran there */
	assert_int_equal(c->n, 5);
	assert_int_equal(c->open + c->alone + c->wrong, 0);
	free(c);
	func_source_free(s);
}

/* Calls whose entries are not there, where there are no times: each took what the kernel printed. */
static void check_orphans(const char *text, const uint64_t *want_ns, const uint64_t *want_tick,
			  size_t n)
{
	struct func_source *s = open_text(text);
	struct func_calls *c = func_calls_read(s);
	size_t i;

	assert_int_equal(c->wrong + c->alone + c->open, 0);
	assert_int_equal(c->n, n);
	for (i = 0; i < n; i++) {
		if (c->calls[i].ns != want_ns[i] || c->calls[i].tick != want_tick[i])
			fail_msg("%s: %llu ns from %llu", name_of(s, &c->calls[i]),
				 (unsigned long long)c->calls[i].ns,
				 (unsigned long long)c->calls[i].tick);
	}
	free(c);
	func_source_free(s);
}

static void test_orphans(void **state)
{
	/* From a book's trace of a BeagleBone: one inside the other. */
	static const uint64_t two[] = { 63167, 73417 }, two_at[] = { 10250, 0 };
	/* One behind a call of its own depth, the next around both and more. */
	static const uint64_t row[] = { 500, 300, 100, 2000 }, row_at[] = { 1100, 1600, 1900, 0 };
	/* Too short for what stands before it: that was not inside. */
	static const uint64_t short_one[] = { 5000, 1000 }, short_at[] = { 0, 5001 };
	/* Below a call whose entry is there: not before that. */
	static const uint64_t below[] = { 100, 700, 900 }, below_at[] = { 0, 0, 0 };

	(void)state;
	check_orphans(" 0) + 63.167 us   |              } /* cpdma_ctlr_int_ctrl */\n"
		      " 0) + 73.417 us   |            } /* cpsw_intr_disable */\n",
		      two, two_at, 2);
	check_orphans(" 0)   0.500 us    |      f();\n"
		      " 0)   0.300 us    |      } /* g */\n"
		      " 0)   0.100 us    |      h();\n"
		      " 0)   2.000 us    |    } /* all */\n",
		      row, row_at, 4);
	check_orphans(" 0)   5.000 us    |      } /* long */\n"
		      " 0)   1.000 us    |    } /* short */\n",
		      short_one, short_at, 2);
	check_orphans(" 0)               |  f() {\n"
		      " 0)   0.100 us    |      h();\n"
		      " 0)   0.700 us    |    } /* g */\n"
		      " 0)   0.900 us    |  } /* f */\n",
		      below, below_at, 3);
}

/* The times of a record, to the microsecond, and of the calls between them. */
static void test_times(void **state)
{
	struct func_source *s = open_text("  10.000001 |   0)  a-1  |               |  f() {\n"
					  "  10.000002 |   0)  a-1  |   0.300 us    |    g();\n"
					  "  10.000002 |   0)  a-1  |   0.400 us    |    h();\n"
					  "  10.000003 |   0)  a-1  |   2.100 us    |  }\n");
	struct func_calls *c = func_calls_read(s);

	(void)state;
	assert_int_equal(c->n, 3);
	assert_int_equal(c->calls[0].tick, 10000002000);
	assert_int_equal(c->calls[0].ns, 300);
	assert_int_equal(c->calls[1].tick, 10000002300);
	assert_int_equal(c->calls[1].ns, 400);
	assert_int_equal(c->calls[2].ns, 2100);
	assert_in_range(c->calls[2].tick, 10000001000, 10000001999);
	free(c);
	func_source_free(s);
}

static void test_recognise(void **state)
{
	static const char graph[] = " 0)   1.0 us    |  f();\n",
			  sched[] = "  sh-1 [000] 1.0: x: y\n",
			  words[] = "int main(void) {\n\treturn f();\n}\n",
			  header[] = "# tracer: function_graph\n#\n";

	(void)state;
	assert_true(graph_text_is((const uint8_t *)graph, sizeof(graph) - 1));
	assert_true(graph_text_is((const uint8_t *)header, sizeof(header) - 1));
	assert_false(graph_text_is((const uint8_t *)sched, sizeof(sched) - 1));
	assert_false(graph_text_is((const uint8_t *)words, sizeof(words) - 1));
	assert_false(graph_text_is(NULL, 0));
	assert_false(graph_text_is((const uint8_t *)graph, 0));
}

static void test_nothing(void **state)
{
	struct import_bytes in = { (const uint8_t *)"# tracer: nop\n", 14 };
	struct error e = ERROR_INIT;
	struct func_source *s;

	(void)state;
	assert_int_equal(source_graph_text_open_bytes(in, &s, &e), -ENODATA);
	assert_string_equal(e.text, "it holds no calls");
	assert_int_equal(source_graph_text_open(DATA "none", &s, &e), -ENOENT);
	assert_non_null(strstr(e.text, "cannot read "));
	assert_int_equal(source_graph_text_open("/dev/null", &s, &e), -EBADMSG);
	assert_non_null(strstr(e.text, "it is empty"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),	   cmocka_unit_test(test_durations),
		cmocka_unit_test(test_origin),	   cmocka_unit_test(test_losses),
		cmocka_unit_test(test_switches),   cmocka_unit_test(test_new_kernel),
		cmocka_unit_test(test_old_kernel), cmocka_unit_test(test_times),
		cmocka_unit_test(test_orphans),	   cmocka_unit_test(test_states),
		cmocka_unit_test(test_recognise),  cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
