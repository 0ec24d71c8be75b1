/* SPDX-License-Identifier: MIT */
/*
 * firefox: see firefox.h.
 *
 * Tables are columns, and each thread has its own. Its stacks are the nodes of one tree that the thread's samples are at,
 * numbered in the order in which they first come, callers before callees. Frames and functions are the same here. What is
 * time is in milliseconds since the first record.
 */
#include "convert/firefox.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/func_json.h"

#define FORMAT_VERSION 48
#define GECKO_VERSION 27
#define NONE UINT32_MAX

enum category { CATEGORY_OTHER = 0, CATEGORY_USER = 1, CATEGORY_KERNEL = 2, CATEGORY_IDLE = 3 };

struct firefox {
	const struct stack_series *s;
	struct outfile *out;
	uint32_t *path;	    /* room for the deepest stack */
	uint32_t *stack_of; /* of a node: its number in this thread, NONE: it has none */
	uint32_t *nodes;    /* of a stack */
	uint32_t n_stacks;
	uint32_t *func_of; /* of a function: its number in this thread */
	uint32_t *funcs;   /* of a number: the function */
	uint32_t n_funcs;
};

/* --- one column of a table --- */

typedef void (*column_fn)(struct firefox *x, uint32_t row);

static void put_column(struct firefox *x, const char *name, uint32_t n, column_fn put)
{
	uint32_t i;

	outfile_printf(x->out, "\"%s\":[", name);
	for (i = 0; i < n; i++) {
		if (i)
			outfile_write(x->out, ",", 1);
		put(x, i);
	}
	outfile_printf(x->out, "],");
}

static void put_null(struct firefox *x, uint32_t row)
{
	(void)row;
	outfile_write(x->out, "null", 4);
}

static void put_zero(struct firefox *x, uint32_t row)
{
	(void)row;
	outfile_write(x->out, "0", 1);
}

static void put_minus(struct firefox *x, uint32_t row)
{
	(void)row;
	outfile_write(x->out, "-1", 2);
}

static void put_false(struct firefox *x, uint32_t row)
{
	(void)row;
	outfile_write(x->out, "false", 5);
}

static void put_row(struct firefox *x, uint32_t row)
{
	outfile_printf(x->out, "%" PRIu32, row);
}

/* --- stacks, frames and functions of a thread --- */

static const struct function *function_of(const struct firefox *x, uint32_t key)
{
	return functions_get(x->s->functions, key);
}

/* Of what is no function its object says what it is (vm_tree.h). */
static enum category category_of_label(const char *name, const char *what)
{
	if (!strcmp(what, "exit"))
		return CATEGORY_KERNEL;
	if (!strcmp(what, "class") && (!strncmp(name, "halt", 4) || !strcmp(name, "asleep")))
		return CATEGORY_IDLE;
	return CATEGORY_OTHER;
}

static enum category category_of(const struct firefox *x, uint32_t key)
{
	static const char *const labels[] = { "host",	"machine", "vcpu", "process",
					      "thread", "class",   "mode", "object",
					      "exit",	"culprit", "note" };
	const char *object = function_of(x, key)->object;
	size_t i;

	if (!strcmp(object, "[idle]"))
		return CATEGORY_IDLE;
	for (i = 0; i < sizeof(labels) / sizeof(labels[0]); i++)
		if (functions_is_label(x->s->functions, key) && !strcmp(object, labels[i]))
			return category_of_label(function_of(x, key)->name, object);
	if (*object != '[' && *object)
		return CATEGORY_USER;
	return !strcmp(object, "[unknown]") || !strcmp(object, "[vdso]") ||
			       !strcmp(object, "[anonymous memory]")
		       ? CATEGORY_OTHER
		       : CATEGORY_KERNEL;
}

/* Numbers the nodes from the root down to this one. */
static void number_stack(struct firefox *x, uint32_t node)
{
	uint32_t n = 0, key;

	for (; node && x->stack_of[node] == NONE;
	     node = profile_tree_get(x->s->list->tree, node)->parent)
		x->path[n++] = node;
	while (n) {
		node = x->path[--n];
		key = profile_tree_get(x->s->list->tree, node)->key;
		x->nodes[x->n_stacks] = node;
		x->stack_of[node] = x->n_stacks++;
		if (x->func_of[key] != NONE)
			continue;
		x->funcs[x->n_funcs] = key;
		x->func_of[key] = x->n_funcs++;
	}
}

static void forget_thread(struct firefox *x)
{
	uint32_t i;

	for (i = 0; i < x->n_stacks; i++)
		x->stack_of[x->nodes[i]] = NONE;
	for (i = 0; i < x->n_funcs; i++)
		x->func_of[x->funcs[i]] = NONE;
	x->n_stacks = x->n_funcs = 0;
}

static void put_prefix(struct firefox *x, uint32_t row)
{
	uint32_t parent = profile_tree_get(x->s->list->tree, x->nodes[row])->parent;

	if (parent)
		outfile_printf(x->out, "%" PRIu32, x->stack_of[parent]);
	else
		put_null(x, row);
}

static uint32_t key_of(const struct firefox *x, uint32_t stack)
{
	return profile_tree_get(x->s->list->tree, x->nodes[stack])->key;
}

static void put_frame(struct firefox *x, uint32_t row)
{
	outfile_printf(x->out, "%" PRIu32, x->func_of[key_of(x, row)]);
}

static void put_stack_category(struct firefox *x, uint32_t row)
{
	outfile_printf(x->out, "%d", (int)category_of(x, key_of(x, row)));
}

static void put_func_category(struct firefox *x, uint32_t row)
{
	outfile_printf(x->out, "%d", (int)category_of(x, x->funcs[row]));
}

/* Strings are name and object of each function in turn. */
static void put_name(struct firefox *x, uint32_t row)
{
	outfile_printf(x->out, "%" PRIu32, 2 * row);
}

static void put_object(struct firefox *x, uint32_t row)
{
	outfile_printf(x->out, "%" PRIu32, 2 * row + 1);
}

static void put_tables(struct firefox *x)
{
	outfile_printf(x->out, "\"stackTable\":{");
	put_column(x, "prefix", x->n_stacks, put_prefix);
	put_column(x, "frame", x->n_stacks, put_frame);
	put_column(x, "category", x->n_stacks, put_stack_category);
	put_column(x, "subcategory", x->n_stacks, put_zero);
	outfile_printf(x->out, "\"length\":%" PRIu32 "},\n\"frameTable\":{", x->n_stacks);
	put_column(x, "address", x->n_funcs, put_minus);
	put_column(x, "inlineDepth", x->n_funcs, put_zero);
	put_column(x, "category", x->n_funcs, put_func_category);
	put_column(x, "subcategory", x->n_funcs, put_zero);
	put_column(x, "func", x->n_funcs, put_row);
	put_column(x, "nativeSymbol", x->n_funcs, put_null);
	put_column(x, "innerWindowID", x->n_funcs, put_null);
	put_column(x, "implementation", x->n_funcs, put_null);
	put_column(x, "line", x->n_funcs, put_null);
	put_column(x, "column", x->n_funcs, put_null);
	outfile_printf(x->out, "\"length\":%" PRIu32 "},\n\"funcTable\":{", x->n_funcs);
	put_column(x, "name", x->n_funcs, put_name);
	put_column(x, "isJS", x->n_funcs, put_false);
	put_column(x, "relevantForJS", x->n_funcs, put_false);
	put_column(x, "resource", x->n_funcs, put_minus);
	put_column(x, "fileName", x->n_funcs, put_object);
	put_column(x, "lineNumber", x->n_funcs, put_null);
	put_column(x, "columnNumber", x->n_funcs, put_null);
	outfile_printf(x->out, "\"length\":%" PRIu32 "},\n", x->n_funcs);
}

static void put_strings(struct firefox *x)
{
	const struct function *f;
	uint32_t i;
	size_t w;

	outfile_printf(x->out, "\"stringArray\":[");
	for (i = 0; i < x->n_funcs; i++) {
		f = function_of(x, x->funcs[i]);
		outfile_printf(x->out, i ? ",\n" : "\n");
		func_json_text(x->out, f->name);
		outfile_write(x->out, ",", 1);
		func_json_text(x->out, f->object);
	}
	for (w = 0; w < x->s->n_words; w++) {
		outfile_printf(x->out, i || w ? ",\n" : "\n");
		func_json_text(x->out, x->s->words[w]);
	}
	outfile_printf(x->out, "],\n");
}

/* --- samples --- */

static double ms_of(const struct firefox *x, uint64_t ns)
{
	return (double)(ns - x->s->list->totals.from_ns) / 1e6;
}

static bool is_time(const struct firefox *x)
{
	return x->s->is_weighted && x->s->is_time;
}

static void put_samples(struct firefox *x, const struct profile_entry *e, size_t n)
{
	size_t i;

	outfile_printf(x->out, "\"samples\":{\"stack\":[");
	for (i = 0; i < n; i++)
		outfile_printf(x->out, "%s%" PRIu32, i ? "," : "", x->stack_of[e[i].node]);
	outfile_printf(x->out, "],\"time\":[");
	for (i = 0; i < n; i++)
		outfile_printf(x->out, "%s%.6f", i ? "," : "", ms_of(x, e[i].ns));
	outfile_printf(x->out, "],\"weight\":[");
	for (i = 0; i < n; i++) {
		outfile_write(x->out, ",", i ? 1 : 0);
		if (is_time(x))
			outfile_printf(x->out, "%.6f", (double)e[i].weight / 1e6);
		else
			outfile_printf(x->out, "1");
	}
	outfile_printf(x->out, "],\"weightType\":\"%s\",\"length\":%zu},\n",
		       is_time(x) ? "tracing-ms" : "samples", n);
}

/* --- markers --- */

/* A column of all markers of a thread. */
typedef void (*marker_fn)(const struct firefox *x, const struct stack_marker *m);

static size_t put_markers_column(const struct firefox *x, uint32_t thread, const char *name,
				 marker_fn put)
{
	struct stack_marker m;
	size_t at = 0, n = 0;

	outfile_printf(x->out, "\"%s\":[", name);
	while (x->s->marker && x->s->marker(x->s->data, thread, &at, &m)) {
		outfile_write(x->out, ",", n++ ? 1 : 0);
		put(x, &m);
	}
	outfile_printf(x->out, "],");
	return n;
}

static void put_marker_data(const struct firefox *x, const struct stack_marker *m)
{
	char detail[STACK_THREAD_TEXT];

	x->s->describe(x->s->data, m, detail);
	outfile_printf(x->out, "{\"type\":\"span\",\"detail\":");
	func_json_text(x->out, detail);
	outfile_printf(x->out, "}");
}

/* Words stand behind the names of functions. */
static void put_marker_name(const struct firefox *x, const struct stack_marker *m)
{
	outfile_printf(x->out, "%zu", 2 * (size_t)x->n_funcs + m->word);
}

static void put_marker_start(const struct firefox *x, const struct stack_marker *m)
{
	outfile_printf(x->out, "%.6f", ms_of(x, m->from_ns));
}

static void put_marker_end(const struct firefox *x, const struct stack_marker *m)
{
	outfile_printf(x->out, "%.6f", ms_of(x, m->to_ns));
}

/* 1: it has a begin and an end. */
static void put_marker_phase(const struct firefox *x, const struct stack_marker *m)
{
	(void)m;
	outfile_write(x->out, "1", 1);
}

static void put_marker_category(const struct firefox *x, const struct stack_marker *m)
{
	(void)m;
	outfile_printf(x->out, "%d", CATEGORY_OTHER);
}

static void put_markers(const struct firefox *x, uint32_t thread)
{
	size_t n;

	outfile_printf(x->out, "\"markers\":{");
	put_markers_column(x, thread, "data", put_marker_data);
	put_markers_column(x, thread, "name", put_marker_name);
	put_markers_column(x, thread, "startTime", put_marker_start);
	put_markers_column(x, thread, "endTime", put_marker_end);
	put_markers_column(x, thread, "phase", put_marker_phase);
	n = put_markers_column(x, thread, "category", put_marker_category);
	outfile_printf(x->out, "\"length\":%zu}", n);
}

/* --- threads --- */

static void put_thread(struct firefox *x, size_t from, size_t n)
{
	const struct profile_entry *e = &x->s->list->entries[from];
	struct stack_thread t;
	size_t i;

	x->s->thread(x->s->data, e->thread, &t);
	for (i = 0; i < n; i++)
		number_stack(x, e[i].node);
	outfile_printf(x->out,
		       "%s\n{\"processType\":\"default\",\"processName\":", from ? "," : "");
	func_json_text(x->out, t.process);
	outfile_printf(x->out, ",\"name\":");
	func_json_text(x->out, t.name);
	/* A number that was used again is another process to the reader, too. */
	outfile_printf(x->out, ",\"isMainThread\":%s,\"pid\":\"%" PRId32,
		       t.is_main ? "true" : "false", t.pid);
	if (t.life)
		outfile_printf(x->out, ".%" PRIu32, t.life + 1);
	outfile_printf(x->out,
		       "\",\"tid\":%" PRId32
		       ",\"processStartupTime\":0,\"processShutdownTime\":null,"
		       "\"registerTime\":%.6f,\"unregisterTime\":null,\"pausedRanges\":[],\n",
		       t.tid, ms_of(x, e->ns));
	put_samples(x, e, n);
	put_tables(x);
	put_strings(x);
	outfile_printf(
		x->out,
		"\"resourceTable\":{\"lib\":[],\"name\":[],\"host\":[],\"type\":[],\"length\":0},"
		"\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],"
		"\"functionSize\":[],\"length\":0},\n");
	put_markers(x, e->thread);
	outfile_printf(x->out, "}");
	forget_thread(x);
}

static void put_schema(const struct firefox *x)
{
	outfile_printf(x->out, "\"markerSchema\":[");
	if (x->s->marker)
		outfile_printf(x->out,
			       "{\"name\":\"span\",\"display\":[\"marker-chart\",\"marker-table\","
			       "\"timeline-overview\"],\"tooltipLabel\":\"{marker.name}\","
			       "\"tableLabel\":\"{marker.data.detail}\","
			       "\"chartLabel\":\"{marker.data.detail}\",\"data\":[{\"key\":"
			       "\"detail\",\"label\":\"By\",\"format\":\"string\"}]}");
	outfile_printf(x->out, "],");
}

static void put_meta(struct firefox *x)
{
	const struct sample_source *s = x->s->source;
	const struct trace_clock *c = &s->info.clock;
	uint64_t real = x->s->list->totals.from_ns + (uint64_t)c->realtime_off_ns;

	outfile_printf(x->out,
		       "{\"meta\":{\"version\":%d,\"preprocessedProfileVersion\":%d,"
		       "\"product\":\"kiseki\",\"interval\":%.6f,\"startTime\":%.6f,\n",
		       GECKO_VERSION, FORMAT_VERSION,
		       s->sampling.period && s->sampling.method != SAMPLE_CYCLES
			       ? (double)s->sampling.period / 1e6
			       : 1.0,
		       c->has_realtime ? (double)real / 1e6 : 0.0);
	outfile_printf(x->out,
		       "\"processType\":0,\"stackwalk\":1,\"debug\":false,\"symbolicated\":true,"
		       "\"extensions\":{\"id\":[],\"name\":[],\"baseURL\":[],\"length\":0},"
		       "\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":"
		       "\"ns\"},\n"
		       "\"categories\":[");
	outfile_printf(x->out,
		       "{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
		       "{\"name\":\"User\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]},");
	outfile_printf(x->out,
		       "{\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":[\"Other\"]},"
		       "{\"name\":\"Idle\",\"color\":\"transparent\",\"subcategories\":[\"Other\"]}"
		       "],\n");
	put_schema(x);
	outfile_printf(x->out, "\"oscpu\":");
	func_json_text(x->out, s->info.kernel);
	outfile_printf(x->out, ",\"abi\":");
	func_json_text(x->out, s->info.machine);
	outfile_printf(x->out, "},\n\"libs\":[],\"pages\":[],\"counters\":[],\"threads\":[");
}

static int reserve(struct firefox *x)
{
	size_t nodes = profile_tree_count(x->s->list->tree);
	size_t functions = x->s->functions->n;

	x->stack_of = malloc((nodes + 1) * sizeof(uint32_t));
	x->nodes = malloc((nodes + 1) * sizeof(uint32_t));
	x->func_of = malloc((functions + 1) * sizeof(uint32_t));
	x->funcs = malloc((functions + 1) * sizeof(uint32_t));
	x->path = malloc((profile_tree_depth(x->s->list->tree) + 1) * sizeof(uint32_t));
	if (!x->stack_of || !x->nodes || !x->func_of || !x->funcs || !x->path)
		return -ENOMEM;
	memset(x->stack_of, 0xff, (nodes + 1) * sizeof(uint32_t));
	memset(x->func_of, 0xff, (functions + 1) * sizeof(uint32_t));
	return 0;
}

int firefox_write(const struct stack_series *s, struct outfile *out, struct error *e)
{
	struct firefox x = { .s = s, .out = out };
	size_t at, n;
	int r = 0;

	if (reserve(&x) < 0)
		r = error_set(e, ENOMEM, "cannot write the profile: out of memory");
	if (r >= 0) {
		put_meta(&x);
		for (at = 0; at < s->list->n; at += n) {
			n = profile_list_span(s->list, at);
			put_thread(&x, at, n);
		}
		outfile_printf(out, "\n]}\n");
	}
	free(x.stack_of);
	free(x.nodes);
	free(x.func_of);
	free(x.funcs);
	free(x.path);
	return r < 0 ? r : outfile_check(out, e);
}
