/* SPDX-License-Identifier: MIT */
/* graph_line: every column and every form of a call, alone and together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "convert/graph_line.h"

static struct graph_line parse(const char *text)
{
	struct text_line line = { .text = text, .len = strlen(text) };
	struct graph_line l;

	graph_line_parse(&l, &line, false);
	return l;
}

static void assert_span(struct text_span s, const char *text)
{
	assert_int_equal(s.len, strlen(text));
	assert_memory_equal(s.text, text, s.len);
}

static void test_all_columns(void **state)
{
	struct graph_line l = parse("   28.830102 |   1)  work.sh-137   | + 15.296 us  |        "
				    "  aa_file_perm();");

	(void)state;
	assert_int_equal(l.kind, GRAPH_LINE_LEAF);
	assert_true(l.has_time && l.has_cpu && l.has_pid && l.has_duration);
	assert_int_equal(l.time_ns, 28830102000);
	assert_int_equal(l.cpu, 1);
	assert_int_equal(l.pid, 137);
	assert_span(l.comm, "work.sh");
	assert_int_equal(l.duration_ns, 15296);
	assert_int_equal(l.depth, 4);
	assert_span(l.name, "aa_file_perm");
	l = parse("   17.107394 |   0)  a-b c-119   |  d..1 |               |    el0_svc() {");
	assert_int_equal(l.kind, GRAPH_LINE_ENTER);
	assert_span(l.comm, "a-b c");
	assert_int_equal(l.pid, 119);
	assert_false(l.has_duration);
	assert_int_equal(l.depth, 1);
}

static void test_few_columns(void **state)
{
	struct graph_line l = parse("    invoke_syscall();");

	(void)state;
	assert_int_equal(l.kind, GRAPH_LINE_LEAF);
	assert_int_equal(l.depth, 2);
	assert_false(l.has_time || l.has_cpu || l.has_pid || l.has_duration || l.has_column);
	l = parse("12)     f() {");
	assert_int_equal(l.cpu, 12);
	assert_int_equal(l.depth, 2);
	l = parse("    1.500 us    |  f();");
	assert_int_equal(l.duration_ns, 1500);
	assert_int_equal(l.depth, 0);
	l = parse(" sh-12    |   f() {");
	assert_int_equal(l.pid, 12);
	assert_int_equal(l.depth, 1);
}

static void test_marks(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} marks[] = {
		{ " 0) + 10.500 us   |  f();", 10500 },
		{ " 0) ! 123.456 us  |  f();", 123456 },
		{ " 0) # 1234.567 us |  f();", 1234567 },
		{ " 0) * 12345.67 us |  f();", 12345670 },
		{ " 0) @ 123456.7 us |  f();", 123456700 },
		{ " 0) $ 1234567 us  |  f();", 1234567000 },
		{ " 0) $ 12345678 us |  f();", 12345678000 },
	};
	struct graph_line l;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		l = parse(marks[i].text);
		assert_int_equal(l.kind, GRAPH_LINE_LEAF);
		assert_true(l.duration_ns == marks[i].ns);
	}
}

static void test_exits(void **state)
{
	struct graph_line l = parse(" 0) + 25.744 us   |    }");

	(void)state;
	assert_int_equal(l.kind, GRAPH_LINE_EXIT);
	assert_int_equal(l.name.len, 0);
	assert_int_equal(l.depth, 1);
	assert_span(parse(" 0)  1.0 us |  } /* vfs_read */").name, "vfs_read");
	assert_span(parse(" 0)  1.0 us |  } /* vfs_read ret=0x0 */").name, "vfs_read");
	assert_span(parse(" 0)  1.0 us |  } /* vfs_read = -5 */").name, "vfs_read");
	assert_span(parse(" 0)  1.0 us |  } /* fat_read [vfat] ret=-5 */").name, "fat_read [vfat]");
	l = parse(" 0)  1.0 us |  } /*  */");
	assert_int_equal(l.kind, GRAPH_LINE_EXIT);
	assert_int_equal(l.name.len, 0);
}

static void test_others(void **state)
{
	struct graph_line l = parse(" 0)   script-107   =>   rcu_sch-14  ");

	(void)state;
	assert_int_equal(l.kind, GRAPH_LINE_SWITCH);
	assert_int_equal(l.before_pid, 107);
	assert_int_equal(l.pid, 14);
	assert_span(l.comm, "rcu_sch");
	l = parse("CPU:1 [LOST 9 EVENTS]");
	assert_int_equal(l.kind, GRAPH_LINE_LOST);
	assert_int_equal(l.cpu, 1);
	assert_int_equal(l.count, 9);
	assert_int_equal(parse("CPU:1 [LOST EVENTS]").count, UINT64_MAX);
	assert_int_equal(parse(" 1)   ==========> |").kind, GRAPH_LINE_BLANK);
	assert_int_equal(parse(" 1)   <========== |").kind, GRAPH_LINE_BLANK);
	assert_int_equal(parse(" ------------------------------------------").kind,
			 GRAPH_LINE_BLANK);
	assert_int_equal(parse(" (Overruns: 0)").kind, GRAPH_LINE_BLANK);
	assert_int_equal(parse("").kind, GRAPH_LINE_BLANK);
	assert_int_equal(parse("# tracer: function_graph").kind, GRAPH_LINE_HEADER);
	assert_int_equal(parse("some words").kind, GRAPH_LINE_OTHER);
	l = parse("  3.0 |   0)  a-1 |               |  /* sched_switch: prev_pid=1 ==> */");
	assert_int_equal(l.kind, GRAPH_LINE_COMMENT);
	assert_int_equal(l.pid, 1);
}

static void test_report(void **state)
{
	struct graph_line l =
		parse("         work.sh-182   [001]    60.951600: funcgraph_entry:      "
		      "# 32022.208 us |      invoke_syscall();");

	(void)state;
	assert_int_equal(l.kind, GRAPH_LINE_LEAF);
	assert_int_equal(l.pid, 182);
	assert_int_equal(l.cpu, 1);
	assert_int_equal(l.time_ns, 60951600000);
	assert_int_equal(l.duration_ns, 32022208);
	assert_int_equal(l.depth, 2);
	l = parse("         work.sh-182   [001]    60.951596: funcgraph_entry:                   | "
		  " f() {");
	assert_int_equal(l.kind, GRAPH_LINE_ENTER);
	assert_int_equal(l.depth, 0);
	l = parse("         work.sh-182   [001]    60.951596: fgraph_retaddr_entry:              | "
		  "   f(); /* <-g+0x10 */");
	assert_int_equal(l.kind, GRAPH_LINE_LEAF);
	assert_span(l.name, "f");
	assert_int_equal(l.depth, 1);
	l = parse("  work.sh-182 [001]  9223372036.951596: funcgraph_entry:  1.0 us |  f();");
	assert_true(l.has_time);
	/* Later than nanoseconds can say: no time, and no report. */
	l = parse("  work.sh-182 [001]  9223372037.951596: funcgraph_entry:  1.0 us |  f();");
	assert_false(l.has_time || l.has_pid);
	assert_int_equal(l.kind, GRAPH_LINE_LEAF);
}

/* Parentheses in another order, or only one of them. */
static void test_no_calls(void **state)
{
	(void)state;
	assert_int_equal(parse(" 0)  1.0 us |  f(").kind, GRAPH_LINE_OTHER);
	assert_int_equal(parse(" 0)  1.0 us |  (f);").kind, GRAPH_LINE_OTHER);
	assert_int_equal(parse(" 0)  1.0 us |  )f( /* ) */").kind, GRAPH_LINE_OTHER);
	assert_int_equal(parse(" 0)  1.0 us |  f()").kind, GRAPH_LINE_OTHER);
}

static void test_rel_time(void **state)
{
	static const char text[] = "      120 us |   0)   sh-1     | + 10.0 us |  f();";
	struct text_line line = { .text = text, .len = sizeof(text) - 1 };
	struct graph_line l;

	(void)state;
	graph_line_parse(&l, &line, true);
	assert_int_equal(l.time_ns, 120000);
	assert_int_equal(l.duration_ns, 10000);
	assert_int_equal(l.pid, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_columns), cmocka_unit_test(test_few_columns),
		cmocka_unit_test(test_marks),	    cmocka_unit_test(test_exits),
		cmocka_unit_test(test_others),	    cmocka_unit_test(test_report),
		cmocka_unit_test(test_rel_time),    cmocka_unit_test(test_no_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
