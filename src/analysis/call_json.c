/* SPDX-License-Identifier: MIT */
/* call_json: see call_json.h. */
#include "analysis/call_json.h"

#include "analysis/json_value.h"

static void set_count(json_t *o, const char *key, uint64_t value)
{
	json_object_set_new(o, key, json_value_count(value));
}

static void set_known(json_t *o, const char *key, uint64_t value, bool known)
{
	json_object_set_new(o, key, known ? json_value_count(value) : json_null());
}

static void set_name(json_t *o, const struct call_names *names, uint32_t function)
{
	const struct function *f = call_names_get(names, function);

	json_object_set_new(o, "function", json_value_text(f->name));
	json_object_set_new(o, "object", *f->object ? json_value_text(f->object) : json_null());
}

/* Without any record of the operating system the parts are not known; without system calls among them,
 * only that it ran is. */
static void set_local(json_t *o, const struct call_split *local, const struct call_totals *t)
{
	uint64_t sum = call_split_sum(local), ran = local->ns[CALL_USER] + local->ns[CALL_KERNEL];
	bool known = t->os_threads && (local->ns[CALL_UNKNOWN] < sum || !sum);

	set_count(o, "local_ns", sum);
	set_known(o, "running_ns", ran, known);
	set_known(o, "user_ns", local->ns[CALL_USER], known && t->kernel_known);
	set_known(o, "kernel_ns", local->ns[CALL_KERNEL], known && t->kernel_known);
	set_known(o, "preempted_ns", local->ns[CALL_PREEMPTED], known);
	set_known(o, "blocked_ns", local->ns[CALL_BLOCKED], known);
	set_count(o, "unknown_ns", local->ns[CALL_UNKNOWN]);
}

static void set_ends(json_t *o, const uint64_t ends[CALL_ENDS])
{
	int i;

	for (i = CALL_UNWOUND; i < CALL_ENDS; i++)
		set_count(o, call_end_words[i], ends[i]);
}

json_t *call_totals_json(const struct call_totals *t)
{
	json_t *o = json_object();

	set_count(o, "from_ns", t->from_ns);
	set_count(o, "to_ns", t->to_ns);
	set_count(o, "threads", t->threads);
	set_count(o, "threads_with_os", t->os_threads);
	set_count(o, "calls", t->counts.calls);
	set_ends(o, t->counts.ends);
	set_count(o, "exits_without_entry", t->counts.orphans);
	set_count(o, "too_deep", t->counts.too_deep);
	set_count(o, "losses", t->losses);
	set_count(o, "lost", t->lost);
	set_count(o, "lost_uncounted", t->lost_unknown);
	set_count(o, "os_losses", t->os_losses);
	return o;
}

static void set_figures(json_t *o, const struct call_stat *s, const struct call_totals *t)
{
	bool complete = call_stat_complete(s) > 0;

	set_count(o, "calls", s->calls);
	set_count(o, "total_ns", s->total_ns);
	set_local(o, &s->local, t);
	set_known(o, "avg_ns", call_stat_average(s), complete);
	set_known(o, "min_ns", s->min_ns, complete);
	set_known(o, "max_ns", s->max_ns, complete);
	set_ends(o, s->ends);
}

json_t *call_report_json(const struct call_report *r, uint64_t limit)
{
	json_t *list = json_array(), *o;
	const struct call_stat *s;
	size_t n, i;

	s = call_report_get(r, &n);
	for (i = 0; i < n && (!limit || i < limit); i++) {
		o = json_object();
		set_name(o, call_report_names(r), s[i].function);
		set_figures(o, &s[i], call_report_totals(r));
		json_array_append_new(list, o);
	}
	o = json_object();
	set_local(o, call_report_local(r), call_report_totals(r));
	return json_pack("{ss so so so}", "report", "func", "all",
			 call_totals_json(call_report_totals(r)), "all_functions", o, "functions",
			 list);
}

static json_t *side_json(const struct call_stat *s, const struct call_report *r)
{
	json_t *o = s ? json_object() : json_null();

	if (s)
		set_figures(o, s, call_report_totals(r));
	return o;
}

json_t *call_diff_json(const struct call_diff *d, uint64_t limit)
{
	json_t *list = json_array(), *o;
	const struct call_change *c;
	size_t n, i;

	c = call_diff_get(d, &n);
	for (i = 0; i < n && (!limit || i < limit); i++) {
		o = json_object();
		json_object_set_new(o, "function", json_value_text(c[i].name));
		json_object_set_new(o, "object",
				    *c[i].object ? json_value_text(c[i].object) : json_null());
		json_object_set_new(o, "before", side_json(c[i].before, call_diff_report(d, 0)));
		json_object_set_new(o, "after", side_json(c[i].after, call_diff_report(d, 1)));
		json_object_set_new(o, "local_change_ns",
				    json_integer(call_change_by(&c[i], CALL_BY_LOCAL)));
		json_object_set_new(o, "total_change_ns",
				    json_integer(call_change_by(&c[i], CALL_BY_TOTAL)));
		json_array_append_new(list, o);
	}
	return json_pack("{ss so}", "report", "func diff", "functions", list);
}

json_t *call_tree_json(const struct call_tree *t, uint32_t depth, uint64_t min_ns)
{
	json_t *list = json_array(), *o;
	const struct call_node *nodes;
	uint32_t i;
	size_t n;
	bool skip;

	nodes = call_tree_get(t, &n);
	for (i = call_tree_next(t, 0, false); i != CALL_NODE_NONE; i = call_tree_next(t, i, skip)) {
		skip = nodes[i].total_ns < min_ns || (depth && nodes[i].depth >= depth);
		if (nodes[i].total_ns < min_ns)
			continue;
		o = json_object();
		set_count(o, "depth", nodes[i].depth - 1);
		set_name(o, call_tree_names(t), nodes[i].function);
		set_count(o, "calls", nodes[i].calls);
		set_count(o, "total_ns", nodes[i].total_ns);
		set_local(o, &nodes[i].local, call_tree_totals(t));
		set_ends(o, nodes[i].ends);
		json_array_append_new(list, o);
	}
	return json_pack("{ss so so}", "report", "func tree", "all",
			 call_totals_json(call_tree_totals(t)), "nodes", list);
}

#define OTHERS "(others)" /* instead of a name; it has no object, and says how many it stands for */

json_t *call_fold_json(const struct call_fold *f)
{
	const struct call_tree *t = call_fold_tree(f);
	const struct call_fold_row *rows;
	json_t *list = json_array(), *o;
	size_t n, i;

	rows = call_fold_get(f, &n);
	for (i = 0; i < n; i++) {
		bool others = rows[i].function == CALL_NODE_NONE;

		o = json_object();
		set_count(o, "depth", rows[i].depth);
		if (others) {
			json_object_set_new(o, "function", json_string(OTHERS));
			json_object_set_new(o, "object", json_null());
			set_count(o, "others", rows[i].nodes);
		} else {
			set_name(o, call_tree_names(t), rows[i].function);
		}
		set_count(o, "calls", rows[i].calls);
		set_count(o, "total_ns", rows[i].total_ns);
		set_local(o, &rows[i].local, call_tree_totals(t));
		set_ends(o, rows[i].ends);
		json_array_append_new(list, o);
	}
	return json_pack("{ss so so}", "report", "func tree", "all",
			 call_totals_json(call_tree_totals(t)), "nodes", list);
}

static json_t *edges_json(const struct call_edge *edges, size_t n, const struct call_names *names)
{
	json_t *list = json_array(), *o;
	size_t i;

	for (i = 0; i < n; i++) {
		o = json_object();
		if (edges[i].function == CALL_NODE_NONE)
			json_object_set_new(o, "function", json_null());
		else
			set_name(o, names, edges[i].function);
		set_count(o, "calls", edges[i].calls);
		set_count(o, "total_ns", edges[i].total_ns);
		json_array_append_new(list, o);
	}
	return list;
}

json_t *call_graph_json(const struct call_graph *g, const struct call_tree *t)
{
	const struct call_names *names = call_tree_names(t);
	json_t *o = json_object();

	set_name(o, names, g->function);
	set_count(o, "calls", g->calls);
	set_count(o, "total_ns", g->total_ns);
	set_local(o, &g->local, call_tree_totals(t));
	json_object_set_new(o, "callers", edges_json(g->callers, g->n_callers, names));
	json_object_set_new(o, "callees", edges_json(g->callees, g->n_callees, names));
	return o;
}

json_t *call_row_json(const struct call_row *row, const struct call_list *l,
		      const struct func_source *source, const struct call_names *names)
{
	const struct func_thread *t = &source->threads[row->thread];
	json_t *o = json_object();

	json_object_set_new(o, "pid", json_integer(source->processes[t->process].pid));
	json_object_set_new(o, "tid", json_integer(t->tid));
	set_count(o, "depth", row->depth);
	set_name(o, names, row->function);
	set_count(o, "begin_ns", row->begin_ns);
	set_count(o, "total_ns", row->total_ns);
	set_local(o, &row->local, call_list_totals(l));
	json_object_set_new(o, "end", json_string(call_end_words[row->end]));
	return o;
}
