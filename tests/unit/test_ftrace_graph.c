/* SPDX-License-Identifier: MIT */
/* graph: formats of several kernels, records of both byte orders, and what is wrong with some. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ftrace/graph.h"

#define COMMON                                                                                     \
	"	field:unsigned short common_type;	offset:0;	size:2;	signed:0;\n"                         \
	"	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;\n"                         \
	"	field:unsigned char common_preempt_count;	offset:3;	size:1;	"                            \
	"signed:0;\n"                                                                              \
	"	field:int common_pid;	offset:4;	size:4;	signed:1;\n\n"
#define ENTRY                                                                                      \
	"name: funcgraph_entry\nID: 11\nformat:\n" COMMON                                          \
	"	field:unsigned long func;	offset:8;	size:8;	signed:0;\n"                                 \
	"	field:int depth;	offset:16;	size:4;	signed:1;\n"
/* Linux 6.1. */
#define EXIT_OLD                                                                                   \
	"name: funcgraph_exit\nID: 10\nformat:\n" COMMON                                           \
	"	field:unsigned long func;	offset:8;	size:8;	signed:0;\n"                                 \
	"	field:int depth;	offset:16;	size:4;	signed:1;\n"                                         \
	"	field:unsigned int overrun;	offset:20;	size:4;	signed:0;\n"                              \
	"	field:unsigned long long calltime;	offset:24;	size:8;	signed:0;\n"                       \
	"	field:unsigned long long rettime;	offset:32;	size:8;	signed:0;\n"
/* Linux 6.18 with return values. */
#define EXIT_NEW                                                                                   \
	"name: funcgraph_exit\nID: 10\nformat:\n" COMMON                                           \
	"	field:unsigned long func;	offset:8;	size:8;	signed:0;\n"                                 \
	"	field:unsigned long retval;	offset:16;	size:8;	signed:0;\n"                              \
	"	field:unsigned int depth;	offset:24;	size:4;	signed:0;\n"                                \
	"	field:unsigned int overrun;	offset:28;	size:4;	signed:0;\n"                              \
	"	field:unsigned long long calltime;	offset:32;	size:8;	signed:0;\n"                       \
	"	field:unsigned long long rettime;	offset:40;	size:8;	signed:0;\n"
#define FUNCTION                                                                                   \
	"name: function\nID: 1\nformat:\n" COMMON                                                  \
	"	field:unsigned long ip;	offset:8;	size:8;	signed:0;\n"                                   \
	"	field:unsigned long parent_ip;	offset:16;	size:8;	signed:0;\n"

static void put(uint8_t *p, uint64_t v, unsigned int size, bool big)
{
	unsigned int i;

	for (i = 0; i < size; i++)
		p[big ? size - 1 - i : i] = (uint8_t)(v >> 8 * i);
}

static void add(struct graph_map *m, const char *text)
{
	struct error e = ERROR_INIT;

	if (graph_map_add(m, text, strlen(text), &e) != 1)
		fail_msg("%s", e.text);
}

static void check(const char *exit_format, unsigned int depth_at, unsigned int times_at, bool big)
{
	uint8_t r[48] = { 0 };
	struct graph_event ev;
	struct graph_map m;

	graph_map_init(&m, big);
	add(&m, ENTRY);
	add(&m, exit_format);
	put(r, 10, 2, big);
	put(r + 4, 4711, 4, big);
	put(r + 8, 0xffff800008012340, 8, big);
	put(r + depth_at, 3, 4, big);
	put(r + times_at, 1000, 8, big);
	put(r + times_at + 8, 1500, 8, big);
	assert_int_equal(graph_map_decode(&m, r, sizeof(r), &ev), 1);
	assert_int_equal(ev.kind, GRAPH_EXIT);
	assert_int_equal(ev.pid, 4711);
	assert_true(ev.func == 0xffff800008012340);
	assert_int_equal(ev.depth, 3);
	assert_int_equal(ev.calltime, 1000);
	assert_int_equal(ev.rettime, 1500);
	assert_int_equal(graph_map_decode(&m, r, times_at + 15, &ev), -EBADMSG);
	put(r, 12, 2, big);
	assert_int_equal(graph_map_decode(&m, r, sizeof(r), &ev), 0);
	assert_int_equal(graph_map_decode(&m, r, 1, &ev), 0);
	put(r, 11, 2, big);
	put(r + 16, GRAPH_DEPTH_MAX, 4, big);
	assert_int_equal(graph_map_decode(&m, r, sizeof(r), &ev), -EBADMSG);
	put(r + 16, GRAPH_DEPTH_MAX - 1, 4, big);
	assert_int_equal(graph_map_decode(&m, r, 20, &ev), 1);
	assert_int_equal(ev.kind, GRAPH_ENTRY);
}

static void test_kernels(void **state)
{
	(void)state;
	check(EXIT_OLD, 16, 24, false);
	check(EXIT_OLD, 16, 24, true);
	check(EXIT_NEW, 24, 32, false);
	check(EXIT_NEW, 24, 32, true);
}

/* The entries of kernels that note where a call returns to, and a depth of one byte. */
static void test_retaddr(void **state)
{
	static const char entry[] =
		"name: fgraph_retaddr_entry\nID: 12\nformat:\n" COMMON
		"	field:unsigned long func;	offset:8;	size:8;	signed:0;\n"
		"	field:unsigned char depth;	offset:16;	size:1;	signed:0;\n"
		"	field:unsigned long retaddr;	offset:24;	size:8;	signed:0;\n";
	uint8_t r[32] = { 12 };
	struct graph_event ev;
	struct graph_map m;

	(void)state;
	graph_map_init(&m, false);
	add(&m, entry);
	assert_false(graph_map_has_calls(&m));
	put(r + 4, 4711, 4, false);
	put(r + 8, 0xffff800008012340, 8, false);
	put(r + 16, 0xffffff07, 4, false);
	assert_int_equal(graph_map_decode(&m, r, sizeof(r), &ev), 1);
	assert_int_equal(ev.kind, GRAPH_ENTRY);
	assert_int_equal(ev.depth, 7);
	assert_true(ev.func == 0xffff800008012340);
	assert_int_equal(ev.pid, 4711);
}

static void test_formats(void **state)
{
	static const char no_depth[] =
		"name: funcgraph_exit\nID: 10\nformat:\n" COMMON
		"	field:unsigned long func;	offset:8;	size:8;\n";
	static const char other[] = "name: wakeup\nID: 3\nformat:\n" COMMON;
	struct error e = ERROR_INIT;
	struct graph_event ev;
	struct graph_map m;
	uint8_t r[24] = { 1 };

	(void)state;
	graph_map_init(&m, false);
	assert_false(graph_map_has_calls(&m));
	assert_int_equal(graph_map_add(&m, other, sizeof(other) - 1, &e), 0);
	assert_int_equal(graph_map_add(&m, "", 0, &e), 0);
	assert_int_equal(graph_map_add(&m, no_depth, sizeof(no_depth) - 1, &e), -EBADMSG);
	assert_non_null(strstr(e.text, "funcgraph_exit"));
	add(&m, FUNCTION);
	assert_true(graph_map_has_calls(&m));
	assert_int_equal(graph_map_decode(&m, r, sizeof(r), &ev), 1);
	assert_int_equal(ev.kind, GRAPH_FUNCTION);
	assert_int_equal(ev.rettime, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernels),
		cmocka_unit_test(test_retaddr),
		cmocka_unit_test(test_formats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
