/* SPDX-License-Identifier: MIT */
/* http_instructions: GET /instructions: who told which device what, and what came of it. */
#include <errno.h>

#include "analysis/json_value.h"
#include "collector/config_json.h"
#include "collector/http_device.h"

#define LIMIT_DEFAULT 100U
#define LIMIT_MOST 10000U

struct listing {
	json_t *list;
	struct http_names names;
	uint64_t limit, n, last;
	bool more;
};

static const char *verb_word(uint8_t verb)
{
	return verb == INSTRUCTION_START  ? "start"
	       : verb == INSTRUCTION_STOP ? "stop"
					  : "configure";
}

static json_t *row_json(const struct fleet_row *row, const struct http_names *names)
{
	char id[ID_TEXT_LEN];

	return json_pack("{so so so ss ss so so so ss so so so}", "number",
			 json_value_count(row->number), "at", http_time_json(row->at_ns), "device",
			 json_value_text(http_names_get(names, &row->device)), "device_id",
			 http_id_format(&row->device, id), "verb", verb_word(row->verb), "config",
			 config_json_format(&row->config), "from", json_value_text(row->from),
			 "client", json_value_text(row->client), "outcome",
			 fleet_outcome_words[row->result.outcome], "settled",
			 http_time_json(row->settled_ns), "code",
			 json_value_count(row->result.code), "text",
			 json_value_text(row->result.text));
}

static int add_row(void *context, const struct fleet_row *row)
{
	struct listing *l = context;

	if (l->n == l->limit) {
		l->more = true;
		return 1;
	}
	l->n++;
	l->last = row->number;
	json_array_append_new(l->list, row_json(row, &l->names));
	return 0;
}

static int find_device(struct http_request *q, struct registry_row *row, struct fleet_query *query,
		       struct error *e)
{
	const char *name = http_target_get(&q->target, "device");
	int r = name ? http_device_find(q->http, name, row, e) : 0;

	if (name && r >= 0)
		query->device = &row->device.id;
	return r;
}

static int list(struct http_request *q, const struct fleet_query *query, struct listing *l,
		struct error *e)
{
	int r = http_names_init(&l->names, q->http->options.store, e);

	if (r < 0)
		return r;
	l->list = json_array();
	r = fleet_list(registry_get_fleet(q->http->options.registry), query, add_row, l, e);
	http_names_done(&l->names);
	return r;
}

int http_instructions(struct http_request *q, struct http_reply *reply, struct error *e)
{
	struct listing l = { .limit = LIMIT_DEFAULT };
	struct fleet_query query = { .before = 0 };
	struct registry_row row;
	int r = http_target_get_count(&q->target, "limit", (struct http_bounds){ 1, LIMIT_MOST },
				      &l.limit, e);

	if (r >= 0)
		r = http_target_get_count(&q->target, "before",
					  (struct http_bounds){ 1, INT64_MAX }, &query.before, e);
	if (r >= 0 && !q->http->options.registry)
		r = error_set(e, EOPNOTSUPP,
			      "this collector only reads; it has told devices nothing");
	if (r >= 0)
		r = find_device(q, &row, &query, e);
	if (r >= 0)
		r = list(q, &query, &l, e);
	if (r < 0) {
		json_decref(l.list);
		return r;
	}
	return http_reply_json(reply,
			       json_pack("{so so}", "instructions", l.list, "next",
					 l.more ? json_value_count(l.last) : json_null()),
			       JSON_INDENT(2), e);
}
