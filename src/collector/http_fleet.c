/* SPDX-License-Identifier: MIT */
/*
 * http_fleet: /fleet/top, tree, diff, machines and trend: questions over any devices and any time, answered from facts; and labels of devices, which
 * say which are meant.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "collector/http_device.h"
#include "collector/http_turn.h"
#include "collector/work.h"
#include "facts/fact_answer.h"

static const char *get_param(const void *params, const char *name)
{
	return http_target_get(params, name);
}

/* Who knows the names of devices; the list is made when the first is asked for. */
struct finder {
	struct http *http;
	struct registry_row *rows;
	size_t n;
};

static int find_device(void *context, const char *name, struct message_id *ret, struct error *e)
{
	struct finder *f = context;
	struct registry_row row;
	int r = http_device_find(f->http, name, &row, e);

	if (r == 0)
		*ret = row.device.id;
	return r;
}

static const char *name_device(void *context, const char *id)
{
	struct finder *f = context;
	struct error e = ERROR_INIT;
	size_t i;

	if (!f->rows && http_device_list(f->http, &f->rows, &f->n, &e) < 0)
		return NULL; /* a device without a name is its id */
	for (i = 0; i < f->n; i++)
		if (registry_id_match(&f->rows[i].device.id, id))
			return f->rows[i].device.name;
	return NULL;
}

static int get_facts(struct http_request *q, struct facts **ret, struct error *e)
{
	*ret = work_facts(q->http->options.work);
	return *ret ? 0 : error_set(e, EOPNOTSUPP, "this collector keeps no facts");
}

typedef int (*answer_fn)(struct facts *f, const struct fact_request *r, json_t **ret,
			 struct error *e);

static int answer(struct http_request *q, struct http_reply *reply, answer_fn fn, struct error *e)
{
	struct finder finder = { .http = q->http };
	const struct fact_request request = { .get = get_param,
					      .params = &q->target,
					      .find = find_device,
					      .name = name_device,
					      .finder = &finder,
					      .now_ns = clock_real_ns() };
	struct facts *f;
	json_t *document = NULL;
	int r = get_facts(q, &f, e);

	if (r >= 0)
		r = http_turn_take(q, e);
	if (r < 0)
		return r;
	r = fn(f, &request, &document, e);
	http_turn_put(q);
	free(finder.rows);
	return r < 0 ? r : http_reply_json(reply, document, JSON_COMPACT, e);
}

int http_fleet_top(struct http_request *q, struct http_reply *reply, struct error *e)
{
	return answer(q, reply, fact_answer_top, e);
}

int http_fleet_tree(struct http_request *q, struct http_reply *reply, struct error *e)
{
	return answer(q, reply, fact_answer_tree, e);
}

int http_fleet_diff(struct http_request *q, struct http_reply *reply, struct error *e)
{
	return answer(q, reply, fact_answer_diff, e);
}

int http_fleet_diff_tree(struct http_request *q, struct http_reply *reply, struct error *e)
{
	return answer(q, reply, fact_answer_diff_tree, e);
}

int http_fleet_machines(struct http_request *q, struct http_reply *reply, struct error *e)
{
	return answer(q, reply, fact_answer_machines, e);
}

int http_fleet_trend(struct http_request *q, struct http_reply *reply, struct error *e)
{
	return answer(q, reply, fact_answer_trend, e);
}

/* --- labels --- */

int http_labels(struct http_request *q, struct http_reply *reply, struct error *e)
{
	json_t *document = NULL;
	struct facts *f;
	int r = get_facts(q, &f, e);

	if (r >= 0)
		r = fact_answer_labels(f, NULL, &document, e);
	return r < 0 ? r : http_reply_json(reply, document, JSON_COMPACT, e);
}

static int reply_labels(struct facts *f, const struct message_id *device, struct http_reply *reply,
			struct error *e)
{
	json_t *document = NULL;
	int r = fact_answer_labels(f, device, &document, e);

	return r < 0 ? r : http_reply_json(reply, document, JSON_INDENT(2), e);
}

int http_device_labels(struct http_request *q, struct http_reply *reply, struct error *e)
{
	struct registry_row row;
	struct facts *f;
	int r = get_facts(q, &f, e);

	if (r >= 0)
		r = http_device_find(q->http, q->captured[0], &row, e);
	return r < 0 ? r : reply_labels(f, &row.device.id, reply, e);
}

/* All of them are looked at before one is written. */
static int check_labels(json_t *labels, struct error *e)
{
	const char *key;
	json_t *value;

	if (!json_is_object(labels))
		return error_set(
			e, EINVAL,
			"cannot read the labels: the body is {\"labels\": {\"key\": \"value\", "
			"\"gone\": null}}");
	json_object_foreach(labels, key, value)
	{
		if (!facts_is_label_key(key, strlen(key)))
			return error_set(e, EINVAL, "'%s' is no key of a label", key);
		if (!json_is_null(value) &&
		    (!json_is_string(value) ||
		     !facts_is_label_value(json_string_value(value), json_string_length(value))))
			return error_set(e, EINVAL, "the value of '%s' is none of a label", key);
	}
	return 0;
}

static int put_labels(struct facts *f, const struct message_id *device, json_t *labels,
		      struct error *e)
{
	const char *key;
	json_t *value;
	int r = check_labels(labels, e);

	if (r < 0)
		return r;
	json_object_foreach(labels, key, value)
	{
		r = facts_label(f, device, key, json_string_value(value), e);
		if (r < 0)
			return r;
	}
	return 0;
}

int http_label(struct http_request *q, struct http_reply *reply, struct error *e)
{
	struct registry_row row;
	struct facts *f;
	json_error_t why;
	json_t *document;
	int r = get_facts(q, &f, e);

	if (r >= 0)
		r = http_device_find(q->http, q->captured[0], &row, e);
	if (r < 0)
		return r;
	document = json_loadb(q->body ? q->body : "", q->body_len, JSON_REJECT_DUPLICATES, &why);
	if (!document)
		return error_set(e, EINVAL, "cannot read the labels: %s, line %d", why.text,
				 why.line);
	r = put_labels(f, &row.device.id, json_object_get(document, "labels"), e);
	json_decref(document);
	return r < 0 ? r : reply_labels(f, &row.device.id, reply, e);
}
