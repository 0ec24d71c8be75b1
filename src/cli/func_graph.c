/* SPDX-License-Identifier: MIT */
/* func graph: who calls a function, and whom it calls. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "analysis/call_graph.h"
#include "analysis/call_json.h"
#include "cli/func_print.h"
#include "cli/func_reading.h"
#include "cli/jsonout.h"
#include "cli/kiseki.h"
#include "cli/units.h"
#include "command/say.h"

#define LIMIT_DEFAULT 20

static void print_edges(const struct call_graph *g, bool callers, struct call_names *names)
{
	const struct call_edge *edges = callers ? g->callers : g->callees;
	size_t n = callers ? g->n_callers : g->n_callees, i;
	char a[2][UNITS_LEN];

	if (!n)
		return;
	printf("  %s%s%s\n", say_style(stdout, STYLE_HEAD), callers ? "called by" : "calls",
	       say_style(stdout, STYLE_PLAIN));
	for (i = 0; i < n; i++) {
		printf("%11" PRIu64 " %8s %6s  ", edges[i].calls,
		       units_duration(edges[i].total_ns, a[0]),
		       units_percent(edges[i].total_ns, g->total_ns, a[1]));
		if (edges[i].function == CALL_NODE_NONE)
			puts("(nobody: it is outermost)");
		else
			func_print_name(names, edges[i].function, false);
	}
}

static void print_part(const char *name, uint64_t ns)
{
	char text[UNITS_LEN];

	printf("%s %s", name, units_duration(ns, text));
}

static void print_parts(const struct call_split *local, const struct func_columns *c)
{
	const uint64_t *ns = local->ns;

	if (!c->split)
		return;
	if (c->kernel) {
		print_part(": user", ns[CALL_USER]);
		print_part(", kernel", ns[CALL_KERNEL]);
	} else {
		print_part(": running", ns[CALL_USER] + ns[CALL_KERNEL]);
	}
	print_part(", preempted", ns[CALL_PREEMPTED]);
	print_part(", blocked", ns[CALL_BLOCKED]);
	if (ns[CALL_UNKNOWN])
		print_part(", unknown", ns[CALL_UNKNOWN]);
}

static void print_graph(const struct call_graph *g, const struct call_tree *t,
			struct call_names *names, bool lines)
{
	uint64_t local = call_split_sum(&g->local);
	struct func_columns columns;
	char a[3][UNITS_LEN];

	func_print_choose(&columns, call_tree_totals(t));
	fputs(say_style(stdout, STYLE_HEAD), stdout);
	func_print_name(names, g->function, lines);
	printf("      calls    total total%%\n%11" PRIu64 " %8s  100.0  all of it\n", g->calls,
	       units_duration(g->total_ns, a[0]));
	printf("            %8s %6s  local", units_duration(local, a[1]),
	       units_percent(local, g->total_ns, a[2]));
	print_parts(&g->local, &columns);
	putchar('\n');
	print_edges(g, true, names);
	print_edges(g, false, names);
}

struct shown {
	const struct args *args;
	json_t *list; /* --json */
	uint64_t limit, n, more;
};

static int show(struct shown *s, const struct call_tree *t, struct func_reading *in,
		uint32_t function)
{
	struct call_graph g;
	struct error none = ERROR_INIT;
	int r = call_graph_init(&g, t, function, &none);

	if (r == -ENOENT)
		return 0; /* only its return was seen */
	if (r < 0)
		return r;
	if (s->limit && s->n == s->limit) {
		s->more++;
	} else if (s->list) {
		json_array_append_new(s->list, call_graph_json(&g, t));
		s->n++;
	} else {
		fputs(s->n++ ? "\n" : "", stdout);
		print_graph(&g, t, in->names, args_has(s->args, "lines"));
	}
	call_graph_done(&g);
	return 0;
}

static int show_all(struct shown *s, struct func_reading *in, struct error *e)
{
	CLEANUP(call_tree) struct call_tree *t = NULL;
	const char *pattern = s->args->operands[1];
	int r = call_tree_new(&t, &in->walk, e);
	uint32_t i;

	if (r < 0)
		return r;
	func_reading_warn(in);
	for (i = 0; i < call_names_count(in->names); i++) {
		if (!call_names_fits(in->names, i, pattern))
			continue;
		r = show(s, t, in, i);
		if (r < 0)
			return error_set(e, -r, "cannot make the graph: out of memory");
	}
	if (!s->n)
		return error_set(e, ENOENT, "cannot find a function '%s' in %s", pattern, in->path);
	return 0;
}

static int run(const struct args *a)
{
	CLEANUP_FUNC_READING struct func_reading in = { 0 };
	struct shown s = { .args = a, .limit = LIMIT_DEFAULT };
	struct error e = ERROR_INIT;
	int r;

	if (args_get_count(a, "limit", &s.limit, &e) < 0)
		return say_usage(&e);
	s.list = args_has(a, "json") ? json_array() : NULL;
	r = func_reading_open(&in, a, a->operands[0], &e);
	if (r >= 0)
		r = show_all(&s, &in, &e);
	if (r < 0) {
		json_decref(s.list);
		return func_reading_failure(&in, &e);
	}
	if (s.list)
		return jsonout_print(
			json_pack("{ss so}", "report", "func graph", "functions", s.list));
	if (s.more)
		printf("%s... and %" PRIu64 " more functions; --limit 0 shows all%s\n",
		       say_style(stdout, STYLE_DIM), s.more, say_style(stdout, STYLE_PLAIN));
	return EXIT_OK;
}

static const struct cli_option options[] = {
	{ 'n', "limit", "N", "show this many functions (20); 0 shows all", NULL },
	{ 'l', "lines", NULL, "show where functions are in the source", NULL },
	{ 0, "json", NULL, "print JSON (docs/reports.md)", NULL },
	FUNC_READING_OPTIONS,
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "Who makes all these calls of malloc?", "kiseki func graph trace.ksk malloc" },
	{ NULL, NULL },
};

const struct command command_func_graph = {
	.name = "graph",
	.summary = "who calls a function, and whom it calls",
	.usage = "FILE|DEVICE|RUN FUNCTION [OPTION...]",
	.description = "For each function that fits the pattern: its callers and its callees, with "
		       "how often and how long. The callers' times add up to the function's. Where "
		       "it is below itself, only its outermost calls count as time.",
	.options = options,
	.examples = examples,
	.parent = &command_func,
	.operands = "FILE",
	.operands_min = 2,
	.operands_max = 2,
	.run = run,
};
