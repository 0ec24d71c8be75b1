/* SPDX-License-Identifier: MIT */
/*
 * func tree: the calls as an indented tree, in order of time (as KFT's tools draw it) or merged by path.
 *
 * In order of time the threads stand among each other; each has a sign of its own in the indentation, so
 * that the eye can follow one.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "analysis/call_json.h"
#include "analysis/call_list.h"
#include "analysis/call_tree.h"
#include "analysis/json_whole.h"
#include "cli/func_print.h"
#include "cli/func_reading.h"
#include "cli/jsonout.h"
#include "cli/kiseki.h"
#include "cli/units.h"
#include "command/say.h"

#define LIMIT_DEFAULT 10000
#define INDENT_MAX 200U /* levels that are drawn */

struct wanted {
	struct call_list_options list;
	bool lines;
};

/* --- in order of time --- */

static char sign_of(uint32_t thread)
{
	static const char signs[] = "|!:+*#=~%^&";

	return signs[thread % (sizeof(signs) - 1)];
}

static void print_indent(uint32_t depth, char sign)
{
	uint32_t i;

	for (i = 0; i < depth && i < INDENT_MAX; i++)
		printf("%c  ", sign);
	if (depth > INDENT_MAX)
		printf("(%" PRIu32 ") ", depth);
}

static void print_micro(uint64_t ns)
{
	printf(" %9" PRIu64 ".%03" PRIu64, ns / 1000, ns % 1000);
}

static void print_row(const struct call_row *row, struct func_reading *in,
		      const struct func_columns *c, uint64_t from_ns)
{
	print_micro(row->begin_ns - from_ns);
	print_micro(row->total_ns);
	print_micro(call_split_sum(&row->local));
	func_print_split(c, &row->local);
	printf(" %7" PRId32 "  ", in->source->threads[row->thread].tid);
	print_indent(row->depth, sign_of(row->thread));
	if (row->end != CALL_RETURNED)
		printf("%s(%s)%s ", say_style(stdout, STYLE_DIM), call_end_words[row->end],
		       say_style(stdout, STYLE_PLAIN));
}

static int print_list(struct call_list *l, struct func_reading *in, const struct wanted *w,
		      struct error *e)
{
	const struct call_totals *t = call_list_totals(l);
	struct func_columns columns;
	struct call_row row;
	int r;

	func_print_choose(&columns, t);
	printf("%s%14s%14s%14s", say_style(stdout, STYLE_HEAD), "Entry (us)", "Duration (us)",
	       "Local (us)");
	func_print_titles(&columns);
	printf("     Pid  Trace%s\n", say_style(stdout, STYLE_PLAIN));
	while ((r = call_list_next(l, &row, e)) > 0) {
		print_row(&row, in, &columns, t->from_ns);
		func_print_name(in->names, row.function, w->lines);
	}
	if (r < 0)
		return r;
	if (call_list_more(l))
		printf("%s... and %" PRIu64 " more calls; --limit 0 shows all%s\n",
		       say_style(stdout, STYLE_DIM), call_list_more(l),
		       say_style(stdout, STYLE_PLAIN));
	func_print_missing(t);
	return 0;
}

/* Prints it and drops it; -ENOMEM. */
static int print_part(json_t *o, struct error *e)
{
	bool is_whole = json_whole_is() && o;

	if (is_whole)
		json_dumpf(o, stdout, 0);
	json_decref(o);
	return is_whole ? 0 : error_set(e, ENOMEM, "cannot print the calls: out of memory");
}

/* Row by row: the document may be larger than memory. */
static int print_list_json(struct call_list *l, const struct func_reading *in, struct error *e)
{
	const char *comma = "";
	struct call_row row;
	int r;

	fputs("{\"report\": \"func calls\", \"all\": ", stdout);
	r = print_part(call_totals_json(call_list_totals(l)), e);
	fputs(", \"calls\": [", stdout);
	while (r == 0 && (r = call_list_next(l, &row, e)) > 0) {
		printf("%s\n", comma);
		r = print_part(call_row_json(&row, l, in->source, in->names), e);
		comma = ",";
	}
	if (r == 0)
		puts("\n]}");
	return r;
}

static int show_list(struct func_reading *in, const struct args *a, const struct wanted *w,
		     struct error *e)
{
	CLEANUP(call_list) struct call_list *l = NULL;
	int r = call_list_new(&l, &in->walk, &w->list, e);

	if (r < 0)
		return r;
	func_reading_warn(in);
	return args_has(a, "json") ? print_list_json(l, in, e) : print_list(l, in, w, e);
}

/* --- merged --- */

static void print_node(const struct call_node *n, const struct call_node *root,
		       const struct func_columns *c)
{
	char a[4][UNITS_LEN];

	printf("%8s %6s %8s %9" PRIu64, units_duration(n->total_ns, a[0]),
	       units_percent(n->total_ns, root->total_ns, a[1]),
	       units_duration(call_split_sum(&n->local), a[2]), n->calls);
	func_print_split(c, &n->local);
	fputs("  ", stdout);
	print_indent(n->depth - 1, '|');
}

static void print_tree(const struct call_tree *t, struct func_reading *in, const struct wanted *w)
{
	struct func_columns columns;
	const struct call_node *nodes;
	uint64_t shown = 0;
	uint32_t i;
	size_t n;
	bool skip;

	nodes = call_tree_get(t, &n);
	func_print_choose(&columns, call_tree_totals(t));
	printf("%s   total total%%    local     calls", say_style(stdout, STYLE_HEAD));
	func_print_titles(&columns);
	printf("  function%s\n", say_style(stdout, STYLE_PLAIN));
	for (i = call_tree_next(t, 0, false); i != CALL_NODE_NONE; i = call_tree_next(t, i, skip)) {
		skip = nodes[i].total_ns < w->list.min_ns ||
		       (w->list.depth && nodes[i].depth >= w->list.depth);
		if (nodes[i].total_ns < w->list.min_ns)
			continue;
		if (w->list.limit && shown++ == w->list.limit) {
			printf("%s... and more; --limit 0 shows all%s\n",
			       say_style(stdout, STYLE_DIM), say_style(stdout, STYLE_PLAIN));
			break;
		}
		print_node(&nodes[i], &nodes[0], &columns);
		func_print_name(in->names, nodes[i].function, w->lines);
	}
	if (call_tree_folded(t))
		say_note("%" PRIu64 " calls were folded into their callers: more than %u paths",
			 call_tree_folded(t), CALL_NODES_MAX);
	func_print_missing(call_tree_totals(t));
}

static int show_tree(struct func_reading *in, const struct args *a, const struct wanted *w,
		     struct error *e)
{
	CLEANUP(call_tree) struct call_tree *t = NULL;
	int r = call_tree_new(&t, &in->walk, e);

	if (r < 0)
		return r;
	func_reading_warn(in);
	call_tree_sort(t);
	if (args_has(a, "json"))
		return jsonout_print(call_tree_json(t, w->list.depth, w->list.min_ns)) ? -EIO : 0;
	print_tree(t, in, w);
	return 0;
}

/* --- the command --- */

static int read_options(struct wanted *w, const struct args *a, struct error *e)
{
	uint64_t depth = 0;

	w->list.limit = LIMIT_DEFAULT;
	w->list.function = args_get(a, "function");
	w->lines = args_has(a, "lines");
	if (args_get_count(a, "limit", &w->list.limit, e) < 0 ||
	    args_get_count(a, "depth", &depth, e) < 0 ||
	    func_reading_length(a, "min-time", &w->list.min_ns, e) < 0)
		return -EINVAL;
	w->list.depth = depth < CALL_DEPTH_MAX ? (uint32_t)depth : CALL_DEPTH_MAX;
	if (args_has(a, "merged") && w->list.function)
		return error_set(e, EINVAL,
				 "cannot draw a merged tree of some functions: use "
				 "kiseki func graph");
	return 0;
}

static int run(const struct args *a)
{
	CLEANUP_FUNC_READING struct func_reading in = { 0 };
	struct error e = ERROR_INIT;
	struct wanted w = { 0 };
	int r;

	if (read_options(&w, a, &e) < 0)
		return say_usage(&e);
	if (func_reading_open(&in, a, a->operands[0], &e) < 0)
		return func_reading_failure(&in, &e);
	r = args_has(a, "merged") ? show_tree(&in, a, &w, &e) : show_list(&in, a, &w, &e);
	return r < 0 ? func_reading_failure(&in, &e) : EXIT_OK;
}

static const struct cli_option options[] = {
	{ 'm', "merged", NULL, "merge calls with the same path into one line", NULL },
	{ 'd', "depth", "N", "only this many levels", NULL },
	{ 0, "min-time", "TIME", "only calls that took at least this: 10us", NULL },
	{ 'f', "function", "PATTERN", "only such functions, and what they call", NULL },
	{ 'n', "limit", "N", "show this many lines (10000); 0 shows all", NULL },
	{ 'l', "lines", NULL, "show where functions are in the source", NULL },
	{ 0, "json", NULL, "print JSON (docs/reports.md)", NULL },
	FUNC_READING_OPTIONS,
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "What one function did, call by call:",
	  "kiseki func tree trace.ksk --function parse_config" },
	{ "Where the time goes, down to calls of a millisecond:",
	  "kiseki func tree trace.ksk --merged --min-time 1ms" },
	{ NULL, NULL },
};

const struct command command_func_tree = {
	.name = "tree",
	.summary = "the calls as an indented tree, in order of time or merged",
	.usage = "FILE|DEVICE|RUN [--merged] [--depth N] [--min-time TIME] [OPTION...]",
	.description = "One line for each call: when it began, how long it took, and how much of "
		       "that was its own, in microseconds from the first of all calls. The "
		       "threads stand among each other as they ran; each has its own sign in the "
		       "indentation. A call whose return was not seen is marked: (open) the trace "
		       "ended, (cut) events were lost, (unwound) a function below it returned "
		       "first.\n\n"
		       "With --merged all calls with the same path are one line, the longest "
		       "first.",
	.options = options,
	.examples = examples,
	.parent = &command_func,
	.operands = "FILE",
	.operands_min = 1,
	.operands_max = 1,
	.run = run,
};
