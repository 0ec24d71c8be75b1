/* SPDX-License-Identifier: MIT */
/* profile_json: see profile_json.h. */
#include "analysis/profile_json.h"

#include "analysis/json_value.h"

#define OTHERS "(others)"

const char *const profile_mode_words[SAMPLE_MODES] = {
	[SAMPLE_IDLE] = "idle",
	[SAMPLE_KERNEL] = "kernel",
	[SAMPLE_USER] = "user",
	[SAMPLE_GUEST_KERNEL] = "guest_kernel",
	[SAMPLE_GUEST_USER] = "guest_user",
};

static json_t *values_json(const uint64_t *values)
{
	return json_pack("{so so}", "samples", json_value_count(values[PROFILE_SAMPLES]), "weight",
			 json_value_count(values[PROFILE_WEIGHT]));
}

static json_t *uncovered_json(const struct profile_totals *t)
{
	double ratio = t->span_ns ? (double)t->uncovered_ns / (double)t->span_ns : 0;

	return json_pack("{so so so so}", "total_ns", json_value_count(t->span_ns), "planned_ns",
			 json_value_count(t->planned_ns), "lost_ns",
			 json_value_count(t->uncovered_ns), "ratio", json_real(ratio));
}

json_t *profile_totals_json(const struct profile_totals *t, const struct sample_source *s)
{
	json_t *modes = json_object();
	int i;

	for (i = 0; i < SAMPLE_MODES; i++)
		json_object_set_new(modes, profile_mode_words[i], json_value_count(t->modes[i]));
	return json_pack("{so ss so so so so so so so so so so so so so sb}", "total",
			 values_json(t->values), "unit", profile_walk_unit(s), "period",
			 json_value_count(s->sampling.period), "idle", values_json(t->idle),
			 "modes", modes, "left_out", json_value_count(t->left_out), "from_ns",
			 json_value_count(t->from_ns), "to_ns", json_value_count(t->to_ns), "cpus",
			 json_value_count(t->cpus), "losses", json_value_count(t->losses), "lost",
			 json_value_count(t->lost), "lost_unknown",
			 json_value_count(t->lost_unknown), "least_period",
			 json_value_count(t->least_period), "most_period",
			 json_value_count(t->most_period), "uncovered", uncovered_json(t), "cut",
			 s->is_cut);
}

static json_t *row_json(const struct profile_row *row)
{
	return json_pack("{so so so so so so}", "name", json_value_text(row->name), "object",
			 *row->object ? json_value_text(row->object) : json_null(), "self",
			 values_json(row->self), "total", values_json(row->total), "kernel",
			 json_value_count(row->kernel), "guest", json_value_count(row->guest));
}

json_t *profile_report_json(const struct profile_report *r, const struct sample_source *s,
			    uint64_t limit)
{
	const struct profile_row *rows;
	json_t *list = json_array();
	size_t n, i;

	rows = profile_report_get(r, &n);
	for (i = 0; i < n && (!limit || i < limit); i++)
		json_array_append_new(list, row_json(&rows[i]));
	return json_pack("{ss ss so so so}", "report", "profile", "by",
			 profile_by_words[profile_report_by(r)], "totals",
			 profile_totals_json(profile_report_totals(r), s), "rows", list, "more",
			 json_value_count(i < n ? n - i : 0));
}

static json_t *side_json(const struct profile_diff *d, const struct profile_change *c, int which)
{
	const struct profile_row *row = which ? c->after : c->before;

	if (!row)
		return json_null();
	return json_pack("{so so so so}", "self", values_json(row->self), "total",
			 values_json(row->total), "self_percent",
			 json_real(profile_diff_share(d, c, which, PROFILE_ORDER_SELF)),
			 "total_percent",
			 json_real(profile_diff_share(d, c, which, PROFILE_ORDER_TOTAL)));
}

static double change_of(const struct profile_diff *d, const struct profile_change *c,
			enum profile_order order)
{
	return profile_diff_share(d, c, 1, order) - profile_diff_share(d, c, 0, order);
}

json_t *profile_diff_json(const struct profile_diff *d, uint64_t limit)
{
	const struct profile_change *c;
	json_t *list = json_array();
	size_t n, i;

	c = profile_diff_get(d, &n);
	for (i = 0; i < n && (!limit || i < limit); i++)
		json_array_append_new(
			list,
			json_pack("{so so so so so so}", "name", json_value_text(c[i].name),
				  "object",
				  *c[i].object ? json_value_text(c[i].object) : json_null(),
				  "before", side_json(d, &c[i], 0), "after", side_json(d, &c[i], 1),
				  "self_change", json_real(change_of(d, &c[i], PROFILE_ORDER_SELF)),
				  "total_change",
				  json_real(change_of(d, &c[i], PROFILE_ORDER_TOTAL))));
	return json_pack("{ss ss so so so so}", "report", "profile diff", "by",
			 profile_by_words[profile_report_by(profile_diff_report(d, 0))], "before",
			 values_json(profile_report_totals(profile_diff_report(d, 0))->values),
			 "after",
			 values_json(profile_report_totals(profile_diff_report(d, 1))->values),
			 "rows", list, "more", json_value_count(i < n ? n - i : 0));
}

static json_t *node_json(const struct profile_tree *t, const struct functions *functions,
			 uint32_t node)
{
	const struct profile_node *n = profile_tree_get(t, node);
	const struct function *f = functions_get(functions, n->key);

	return json_pack("{so so so so so}", "depth", json_value_count(n->depth - 1), "name",
			 json_value_text(f->name), "object",
			 *f->object ? json_value_text(f->object) : json_null(), "self",
			 values_json(profile_tree_self(t, node)), "total",
			 values_json(profile_tree_total(t, node)));
}

json_t *profile_nodes_json(const struct profile_tree *t, const struct functions *functions,
			   double percent)
{
	double least = percent / 100 * (double)profile_tree_total(t, 0)[PROFILE_WEIGHT];
	json_t *list = json_array();
	uint32_t node = profile_tree_next(t, 0, false);
	bool skip;

	while (node != PROFILE_NODE_NONE) {
		skip = (double)profile_tree_total(t, node)[PROFILE_WEIGHT] < least;
		if (!skip)
			json_array_append_new(list, node_json(t, functions, node));
		node = profile_tree_next(t, node, skip);
	}
	return list;
}

static json_t *tree_json(const struct profile_stacks *t, const struct sample_source *s,
			 json_t *nodes)
{
	return json_pack("{ss so so so}", "report", "profile tree", "totals",
			 profile_totals_json(&t->totals, s), "folded",
			 json_value_count(profile_tree_folded(t->tree)), "nodes", nodes);
}

json_t *profile_stacks_json(const struct profile_stacks *t, const struct sample_source *s,
			    double percent)
{
	return tree_json(t, s, profile_nodes_json(t->tree, t->functions, percent));
}

static json_t *fold_row_json(const struct functions *functions, const struct profile_fold_row *row)
{
	bool others = row->key == PROFILE_NODE_NONE;
	const struct function *f = others ? NULL : functions_get(functions, row->key);
	json_t *o = json_pack("{so so so so so}", "depth", json_value_count(row->depth), "name",
			      json_value_text(others ? OTHERS : f->name), "object",
			      !others && *f->object ? json_value_text(f->object) : json_null(),
			      "self", values_json(row->self), "total", values_json(row->total));

	if (others)
		json_object_set_new(o, "others", json_value_count(row->nodes));
	return o;
}

json_t *profile_fold_rows_json(const struct profile_fold *f, const struct functions *functions)
{
	const struct profile_fold_row *rows;
	json_t *list = json_array();
	size_t n, i;

	rows = profile_fold_get(f, &n);
	for (i = 0; i < n; i++)
		json_array_append_new(list, fold_row_json(functions, &rows[i]));
	return list;
}

json_t *profile_fold_json(const struct profile_fold *f, const struct profile_stacks *t,
			  const struct sample_source *s)
{
	return tree_json(t, s, profile_fold_rows_json(f, t->functions));
}
