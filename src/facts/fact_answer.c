/* SPDX-License-Identifier: MIT */
/* fact_answer: see fact_answer.h. */
#include "facts/fact_answer.h"

#include <errno.h>
#include <string.h>

#include "analysis/json_value.h"
#include "analysis/profile_diff.h"
#include "analysis/profile_fold.h"
#include "analysis/profile_json.h"
#include "base/hex.h"
#include "base/when.h"
#include "facts/fact_diff.h"
#include "facts/fact_machines.h"

#define NS_OF_S 1000000000ULL
#define NODES_DEFAULT 20000U
#define CAUSES_MOST 8U /* of a machine */
#define ID_TEXT_LEN 33

static int no_memory(struct error *e)
{
	return error_set(e, ENOMEM, "cannot answer: out of memory");
}

static int finish(json_t *document, json_t **ret, struct error *e)
{
	if (!document)
		return no_memory(e);
	*ret = document;
	return 0;
}

static json_t *time_json(uint64_t s)
{
	char text[WHEN_MAX];

	return json_string(when_format(s * NS_OF_S, text));
}

static json_t *values_json(const uint64_t values[FACT_VALUES])
{
	return json_pack("{so so}", "samples", json_value_count(values[0]), "ns",
			 json_value_count(values[1]));
}

/* The range that was asked about, and what there was in it. */
static json_t *side_json(const struct fact_range *range, const struct facts_basis *b)
{
	return json_pack("{so so so so so so so so so so so so}", "from",
			 time_json(range->q.from_s), "to", time_json(range->q.to_s), "devices",
			 json_value_count(b->devices), "sets", json_value_count(b->sets), "hours",
			 json_value_count(b->hours), "minutes", json_value_count(b->minutes),
			 "damaged", json_value_count(b->damaged), "covered_ns",
			 json_value_count(b->covered_ns), "events", json_value_count(b->events),
			 "lost", json_value_count(b->lost), "lost_places",
			 json_value_count(b->lost_places), "all", values_json(b->values));
}

static json_t *object_json(const char *object)
{
	return *object ? json_value_text(object) : json_null();
}

/* --- top --- */

/* Who asks, and by what: rows that are devices have names that others know. */
struct naming {
	const struct fact_request *r;
	uint8_t by;
};

/* The name and the object, to be put into a row; a device has its id beside them. */
static json_t *name_json(const struct naming *n, const struct facts_row *row)
{
	bool is_device = n->by == FACTS_BY_DEVICE;
	const char *called = is_device && n->r->name ? n->r->name(n->r->finder, row->name) : NULL;
	json_t *o = json_pack("{so so}", "name", json_value_text(called ? called : row->name),
			      "object", object_json(row->object));

	if (o && is_device)
		json_object_set_new(o, "device", json_string(row->name));
	return o;
}

static json_t *row_json(const struct naming *n, const struct facts_row *row)
{
	json_t *o = name_json(n, row);

	if (o) {
		json_object_set_new(o, "self", values_json(row->self));
		json_object_set_new(o, "total", values_json(row->total));
	}
	return o;
}

static json_t *order_json(const char *report, const struct fact_range *range,
			  const struct facts_order *o)
{
	return json_pack("{ss ss ss ss ss}", "report", report, "kind",
			 fact_kind_words[range->q.kind], "by", facts_by_words[o->by], "sort",
			 o->total ? "total" : "self", "value", fact_value_words[o->value]);
}

int fact_answer_top(struct facts *f, const struct fact_request *r, json_t **ret, struct error *e)
{
	CLEANUP_FACT_RANGE struct fact_range range = { .devices = NULL };
	CLEANUP_FACTS_ROWS struct facts_rows rows = { .rows = NULL };
	struct facts_order o;
	struct naming naming = { .r = r };
	json_t *document, *list;
	size_t i;
	int code = fact_request_order(r, &o, e);

	if (code == 0)
		code = fact_request_range(r, f, &range, e);
	if (code == 0)
		code = facts_top(f, &range.q, &o, &rows, e);
	if (code < 0)
		return code;
	naming.by = o.by;
	list = json_array();
	for (i = 0; i < rows.n; i++)
		json_array_append_new(list, row_json(&naming, &rows.rows[i]));
	document = order_json("fleet top", &range, &o);
	json_object_set_new(document, "basis", side_json(&range, &rows.basis));
	json_object_set_new(document, "rows", list);
	return finish(document, ret, e);
}

/* --- trees --- */

static int fold_options(const struct fact_request *r, struct profile_fold_options *ret,
			struct error *e)
{
	uint64_t limit = NODES_DEFAULT, depth = 0, least = 0;
	uint8_t value = 1;
	int code = fact_request_word(r, "value", fact_value_words, &value, e);

	if (code == 0)
		code = fact_request_count(r, "limit", PROFILE_FOLD_ROWS_MAX, &limit, e);
	if (code == 0)
		code = fact_request_count(r, "depth", UINT32_MAX, &depth, e);
	if (code == 0)
		code = fact_request_count(r, "min", INT64_MAX, &least, e);
	*ret = (struct profile_fold_options){ .depth = (uint32_t)depth,
					      .least = least,
					      .limit = limit ? limit : PROFILE_FOLD_ROWS_MAX,
					      .value = value ? PROFILE_WEIGHT : PROFILE_SAMPLES };
	return code;
}

int fact_answer_tree(struct facts *f, const struct fact_request *r, json_t **ret, struct error *e)
{
	CLEANUP_FACT_RANGE struct fact_range range = { .devices = NULL };
	CLEANUP_FACT_SET struct fact_set set = { .tree = NULL };
	CLEANUP(profile_fold) struct profile_fold *fold = NULL;
	struct profile_fold_options o;
	struct facts_basis basis;
	int code = fold_options(r, &o, e);

	if (code == 0)
		code = fact_request_range(r, f, &range, e);
	if (code == 0)
		code = facts_tree(f, &range.q, &set, &basis, e);
	if (code < 0)
		return code;
	if (profile_tree_sort(set.tree, o.value, functions_compare, &set.functions) < 0)
		return no_memory(e);
	code = profile_fold_new(&fold, set.tree, &o, e);
	if (code < 0)
		return code;
	return finish(json_pack("{ss ss ss so so so}", "report", "fleet tree", "kind",
				fact_kind_words[range.q.kind], "value",
				fact_value_words[o.value == PROFILE_WEIGHT], "basis",
				side_json(&range, &basis), "folded",
				json_value_count(profile_tree_folded(set.tree)), "nodes",
				profile_fold_rows_json(fold, &set.functions)),
		      ret, e);
}

/* --- diff --- */

struct sides {
	struct fact_range ranges[2];
	struct facts_rows rows[2];
	struct fact_set sets[2];
	struct facts_basis bases[2];
};

static void sides_done(struct sides *s)
{
	int i;

	for (i = 0; i < 2; i++) {
		fact_range_done(&s->ranges[i]);
		facts_rows_done(&s->rows[i]);
		fact_set_done(&s->sets[i]);
	}
}
#define CLEANUP_SIDES __attribute__((cleanup(sides_done)))

static json_t *change_json(const struct naming *n, const struct fact_change *c)
{
	json_t *o = name_json(n, c->after ? c->after : c->before);
	json_t *rest = json_pack("{so so sf sf sf}", "before",
				 c->before ? row_json(n, c->before) : json_null(), "after",
				 c->after ? row_json(n, c->after) : json_null(), "before_percent",
				 c->shares[0], "after_percent", c->shares[1], "change",
				 fact_change_growth(c));

	if (o && rest)
		json_object_update(o, rest);
	json_decref(rest);
	return o;
}

/* Half of the limit from each end: what grew most, and what shrank most. */
static json_t *changes_json(const struct naming *n, const struct fact_diff *d, size_t limit)
{
	json_t *list = json_array();
	size_t i, half = (limit + 1) / 2;

	for (i = 0; i < d->n; i++)
		if (!limit || d->n <= limit || i < half || i >= d->n - limit / 2)
			json_array_append_new(list, change_json(n, &d->changes[i]));
	return list;
}

int fact_answer_diff(struct facts *f, const struct fact_request *r, json_t **ret, struct error *e)
{
	CLEANUP_SIDES struct sides s = { .rows = { { .rows = NULL } } };
	CLEANUP_FACT_DIFF struct fact_diff diff = { .changes = NULL };
	struct facts_order o, all;
	struct naming naming = { .r = r };
	json_t *document;
	int i, code = fact_request_order(r, &o, e);

	if (code == 0)
		code = fact_request_sides(r, f, s.ranges, e);
	all = o;
	all.most = 0;
	naming.by = o.by;
	for (i = 0; code == 0 && i < 2; i++)
		code = facts_top(f, &s.ranges[i].q, &all, &s.rows[i], e);
	if (code == 0 && fact_diff_init(&diff, s.rows, &o) < 0)
		code = no_memory(e);
	if (code < 0)
		return code;
	document = order_json("fleet diff", &s.ranges[1], &o);
	json_object_set_new(document, "before", side_json(&s.ranges[0], &s.rows[0].basis));
	json_object_set_new(document, "after", side_json(&s.ranges[1], &s.rows[1].basis));
	json_object_set_new(document, "changes", changes_json(&naming, &diff, o.most));
	return finish(document, ret, e);
}

static json_t *both_json(const struct profile_join *j, uint32_t node)
{
	const struct profile_node *n = profile_tree_get(j->tree, node);
	const struct function *f = functions_get(&j->functions, n->key);
	const uint64_t *self = profile_tree_self(j->tree, node);
	const uint64_t *total = profile_tree_total(j->tree, node);

	return json_pack("{so so so s{so so} s{so so}}", "depth", json_value_count(n->depth - 1),
			 "name", json_value_text(f->name), "object", object_json(f->object),
			 "before", "self", values_json(self), "total", values_json(total), "after",
			 "self", values_json(self + PROFILE_VALUES), "total",
			 values_json(total + PROFILE_VALUES));
}

/* The nodes that have more than that part of either side, and at most so many. */
static json_t *nodes_json(const struct profile_join *j, const struct profile_fold_options *o)
{
	json_t *list = json_array();
	uint32_t node = profile_tree_next(j->tree, 0, false);
	const uint64_t *all = profile_tree_total(j->tree, 0), *total;
	size_t at[2] = { o->value, PROFILE_VALUES + o->value };
	bool skip;

	while (node != PROFILE_NODE_NONE && json_array_size(list) < o->limit) {
		total = profile_tree_total(j->tree, node);
		skip = (total[at[0]] <= o->least && total[at[1]] <= o->least) ||
		       (total[at[0]] < all[at[0]] / o->limit &&
			total[at[1]] < all[at[1]] / o->limit) ||
		       (o->depth && profile_tree_get(j->tree, node)->depth > o->depth);
		if (!skip)
			json_array_append_new(list, both_json(j, node));
		node = profile_tree_next(j->tree, node, skip);
	}
	return list;
}

int fact_answer_diff_tree(struct facts *f, const struct fact_request *r, json_t **ret,
			  struct error *e)
{
	CLEANUP_SIDES struct sides s = { .rows = { { .rows = NULL } } };
	CLEANUP_PROFILE_JOIN struct profile_join join = { .tree = NULL };
	struct profile_stacks stacks[2] = { { .tree = NULL } };
	struct profile_fold_options o;
	int i, code = fold_options(r, &o, e);

	if (code == 0)
		code = fact_request_sides(r, f, s.ranges, e);
	for (i = 0; code == 0 && i < 2; i++) {
		code = facts_tree(f, &s.ranges[i].q, &s.sets[i], &s.bases[i], e);
		stacks[i].tree = s.sets[i].tree;
		stacks[i].functions = &s.sets[i].functions;
	}
	if (code == 0)
		code = profile_join_init(&join, &stacks[0], &stacks[1], e);
	if (code < 0)
		return code;
	if (profile_join_sort(&join, (enum profile_value)(PROFILE_VALUES + o.value)) < 0)
		return no_memory(e);
	return finish(json_pack("{ss ss ss so so so}", "report", "fleet diff tree", "kind",
				fact_kind_words[s.ranges[1].q.kind], "value",
				fact_value_words[o.value == PROFILE_WEIGHT], "before",
				side_json(&s.ranges[0], &s.bases[0]), "after",
				side_json(&s.ranges[1], &s.bases[1]), "nodes",
				nodes_json(&join, &o)),
		      ret, e);
}

/* --- machines --- */

static json_t *classes_json(const struct fact_machine *m)
{
	json_t *o = json_object();
	size_t i;

	for (i = 0; o && i < VM_CLASSES; i++)
		json_object_set_new(o, vm_class_words[i], json_value_count(m->classes[i]));
	return o;
}

static json_t *causes_json(const struct fact_machine *m, const struct functions *functions)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < m->n_causes && i < CAUSES_MOST; i++)
		json_array_append_new(
			list,
			json_pack("{ss so so}", "class", vm_class_words[m->causes[i].kind], "name",
				  json_value_text(functions_get(functions, m->causes[i].key)->name),
				  "ns", json_value_count(m->causes[i].ns)));
	return list;
}

static json_t *machines_json(const struct fact_machines *m, const struct functions *functions,
			     size_t limit)
{
	const struct fact_machine *row;
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < m->n && (!limit || i < limit); i++) {
		row = &m->rows[i];
		json_array_append_new(list,
				      json_pack("{so so so so}", "name", json_value_text(row->name),
						"ns", json_value_count(row->ns), "classes",
						classes_json(row), "causes",
						causes_json(row, functions)));
	}
	return list;
}

int fact_answer_machines(struct facts *f, const struct fact_request *r, json_t **ret,
			 struct error *e)
{
	CLEANUP_FACT_RANGE struct fact_range range = { .devices = NULL };
	CLEANUP_FACT_SET struct fact_set set = { .tree = NULL };
	CLEANUP_FACT_MACHINES struct fact_machines machines = { .rows = NULL };
	uint64_t limit = FACT_REQUEST_LIMIT;
	struct facts_basis basis;
	int code = fact_request_count(r, "limit", FACT_REQUEST_LIMIT_MAX, &limit, e);

	if (code == 0)
		code = fact_request_range(r, f, &range, e);
	range.q.kind = FACT_VM;
	if (code == 0)
		code = facts_tree(f, &range.q, &set, &basis, e);
	if (code < 0)
		return code;
	if (fact_machines_init(&machines, &set) < 0)
		return no_memory(e);
	return finish(json_pack("{ss so so so}", "report", "fleet machines", "basis",
				side_json(&range, &basis), "machines", json_value_count(machines.n),
				"rows", machines_json(&machines, &set.functions, (size_t)limit)),
		      ret, e);
}

/* --- trend --- */

static json_t *point_json(const struct facts_point *p)
{
	return json_pack("{so so so so so so so}", "at", time_json(p->start_s), "length_s",
			 json_value_count(p->length_s), "self", values_json(p->self), "total",
			 values_json(p->total), "all", values_json(p->values), "sets",
			 json_value_count(p->sets), "covered_ns", json_value_count(p->covered_ns));
}

static int get_trend(const struct fact_request *r, const struct facts_query *q,
		     struct facts_trend *ret, struct error *e)
{
	const char *step = r->get(r->params, "step");
	uint64_t ns = 0;
	int code;

	*ret = (struct facts_trend){ .name = r->get(r->params, "name"),
				     .object = r->get(r->params, "object") };
	if (!ret->name || !*ret->name)
		return error_set(e, EINVAL, "cannot show a trend: name says of which function");
	code = fact_request_word(r, "by", facts_by_words, &ret->by, e);
	if (code == 0 && step)
		code = when_parse_length(step, &ns, e);
	if (code < 0)
		return code;
	if (!step)
		ns = (q->to_s - q->from_s >= FACT_REQUEST_LONG_S ? FACT_HOUR_S : FACT_MINUTE_S) *
		     NS_OF_S;
	if (!ns || ns % (FACT_MINUTE_S * NS_OF_S) || ns / NS_OF_S > UINT32_MAX)
		return error_set(e, EINVAL, "cannot take step=%s: it is not in whole minutes",
				 step);
	ret->step_s = (uint32_t)(ns / NS_OF_S);
	return 0;
}

int fact_answer_trend(struct facts *f, const struct fact_request *r, json_t **ret, struct error *e)
{
	CLEANUP_FACT_RANGE struct fact_range range = { .devices = NULL };
	CLEANUP_FACTS_POINTS struct facts_points points = { .points = NULL };
	struct facts_trend t;
	json_t *list;
	size_t i;
	int code = fact_request_range(r, f, &range, e);

	if (code == 0)
		code = get_trend(r, &range.q, &t, e);
	if (code == 0)
		code = facts_trend(f, &range.q, &t, &points, e);
	if (code < 0)
		return code;
	list = json_array();
	for (i = 0; i < points.n; i++)
		json_array_append_new(list, point_json(&points.points[i]));
	return finish(json_pack("{ss ss ss so so so so}", "report", "fleet trend", "kind",
				fact_kind_words[range.q.kind], "by", facts_by_words[t.by], "name",
				json_value_text(t.name), "object",
				t.object ? json_value_text(t.object) : json_null(), "basis",
				side_json(&range, &points.basis), "points", list),
		      ret, e);
}

/* --- labels --- */

struct listing {
	const struct message_id *device; /* NULL: all */
	json_t *all, *of;		 /* of the device that comes now */
	struct message_id now;
};

static int list_label(void *context, const struct facts_label_row *row)
{
	struct listing *l = context;
	char id[ID_TEXT_LEN];

	if (l->device) {
		if (!memcmp(l->device, &row->device, sizeof(row->device)))
			json_object_set_new(l->all, row->key, json_value_text(row->value));
		return 0;
	}
	if (!l->of || memcmp(&l->now, &row->device, sizeof(row->device))) {
		l->of = json_object(); /* borrowed from the list, which has it */
		l->now = row->device;
		json_array_append_new(l->all, json_pack("{ss so}", "device",
							hex_format(row->device.bytes,
								   sizeof(row->device.bytes), id),
							"labels", l->of));
	}
	return json_object_set_new(l->of, row->key, json_value_text(row->value)) < 0 ? -ENOMEM : 0;
}

int fact_answer_labels(struct facts *f, const struct message_id *device, json_t **ret,
		       struct error *e)
{
	struct listing l = { .device = device, .all = device ? json_object() : json_array() };
	int code = facts_labels(f, list_label, &l, e);

	if (code < 0) {
		json_decref(l.all);
		return code == -ENOMEM ? no_memory(e) : code;
	}
	return finish(json_pack("{so}", "labels", l.all), ret, e);
}
