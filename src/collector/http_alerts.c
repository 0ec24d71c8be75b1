/* SPDX-License-Identifier: MIT */
/*
 * http_alerts: GET /api/v1/alerts: what is out of line with its own past, and was; GET /api/v1/work: whether those who work minutes
 * out keep up.
 */
#include <errno.h>
#include <string.h>

#include "analysis/json_value.h"
#include "base/clock.h"
#include "collector/alert_json.h"
#include "collector/collector.h"
#include "collector/http_coverage.h"
#include "collector/http_device.h"
#include "collector/work.h"

#define LIMIT_DEFAULT 100U

static bool is_wanted(const struct alert *a, bool only_open, const struct registry_row *device)
{
	return (!only_open || !a->until_s) &&
	       (!device || !memcmp(&a->device, &device->device.id, sizeof(a->device)));
}

int http_alerts(struct http_request *q, struct http_reply *reply, struct error *e)
{
	const char *device = http_target_get(&q->target, "device");
	struct alerts *alerts = work_alerts(q->http->options.work);
	_cleanup_free_ struct alert *list = NULL;
	struct http_names names = { 0 };
	struct registry_row row;
	uint64_t limit = LIMIT_DEFAULT, open = 0, n = 0;
	json_t *rows;
	size_t n_list = 0, i;
	int r;

	if (!alerts)
		return error_set(e, EOPNOTSUPP, "%s",
				 work_members(q->http->options.work)
					 ? "another collector watches for alerts"
					 : "this collector does not watch for alerts");
	r = http_target_get_count(&q->target, "limit", (struct http_bounds){ 1, ALERTS_KEPT },
				  &limit, e);
	if (r >= 0)
		r = http_target_get_count(&q->target, "open", (struct http_bounds){ 0, 1 }, &open,
					  e);
	if (r >= 0 && device)
		r = http_device_find(q->http, device, &row, e);
	if (r >= 0)
		r = http_names_init(&names, q->http->options.store, e);
	if (r < 0)
		return r;
	rows = alerts_dup(alerts, &list, &n_list) < 0 ? NULL : json_array();
	for (i = 0; rows && i < n_list && n < limit; i++) {
		if (!is_wanted(&list[i], open, device ? &row : NULL))
			continue;
		json_array_append_new(rows, alert_json(&list[i],
						       http_names_get(&names, &list[i].device)));
		n++;
	}
	http_names_done(&names);
	return http_reply_json(reply, json_pack("{so}", "alerts", rows), JSON_INDENT(2), e);
}

/* What storing a minute of one host takes: all commits, by all hosts and minutes since the start. */
static double store_s(struct http *h, const struct fact_pace *p)
{
	struct collector_counters c = { 0 };
	uint64_t ns = clock_mono_ns() - h->started_ns;

	if (!h->options.collector || !p->hosts || !ns)
		return 0;
	collector_count(h->options.collector, &c);
	return (double)c.commit_ns / (double)ns * p->t1_s / (double)p->hosts;
}

static json_t *members_json(struct fact_members *members)
{
	_cleanup_free_ struct facts_member *list = NULL;
	json_t *rows = json_array();
	size_t n = 0, i;

	if (members && fact_members_dup(members, &list, &n) < 0)
		n = 0;
	for (i = 0; i < n; i++)
		json_array_append_new(rows,
				      json_pack("{so sb sb so so so so so}", "name",
						json_value_text(list[i].name), "works",
						(int)list[i].works, "watches", (int)list[i].watches,
						"since_s", json_value_count(list[i].since_s),
						"threads", json_value_count(list[i].threads),
						"minutes", json_value_count(list[i].minutes),
						"waiting", json_value_count(list[i].waiting),
						"behind_s", json_value_count(list[i].behind_s)));
	return rows;
}

static json_t *work_json(const struct fact_workers_counters *c, struct fact_members *members)
{
	return json_pack("{so so so so so so so so so so so s{so sf sf sf sb so}}", "members",
			 members_json(members), "threads", json_value_count(c->threads), "passes",
			 json_value_count(c->passes), "minutes", json_value_count(c->minutes),
			 "again", json_value_count(c->again), "late", json_value_count(c->late),
			 "events", json_value_count(c->events), "errors",
			 json_value_count(c->errors), "last_error", json_value_text(c->last_error),
			 "waiting", json_value_count(c->waiting), "behind_s",
			 json_value_count(c->behind_s), "pace", "hosts",
			 json_value_count(c->pace.hosts), "t0_s", c->pace.t0_s, "t1_s",
			 c->pace.t1_s, "t2_s", c->pace.t2_s, "holds", (int)c->pace.holds,
			 "hosts_max", json_value_count(c->pace.hosts_max));
}

/* Of so many devices as are asked for; null: of none, since it costs a look at all their runs. */
static int get_uncovered(struct http_request *q, json_t **ret, struct error *e)
{
	uint64_t n = 0;
	int r = http_target_get_count(&q->target, "uncovered",
				      (struct http_bounds){ 0, HTTP_COVERAGE_DEVICES_MAX }, &n, e);

	if (r >= 0 && n)
		return http_coverage_devices(q->http, n, ret, e);
	*ret = json_null();
	return r;
}

int http_work(struct http_request *q, struct http_reply *reply, struct error *e)
{
	struct fact_workers *workers = work_workers(q->http->options.work);
	struct fact_members *members = work_members(q->http->options.work);
	struct fact_workers_counters c = { 0 };
	json_t *uncovered = NULL, *body;
	int r;

	if (!workers && !members)
		return error_set(e, EOPNOTSUPP, "this collector does not work minutes out");
	r = get_uncovered(q, &uncovered, e);
	if (r < 0)
		return r;
	if (workers)
		fact_workers_count(workers, &c);
	c.pace.t0_s = store_s(q->http, &c.pace);
	fact_pace_judge(&c.pace);
	body = work_json(&c, members);
	json_object_set_new(body, "uncovered", uncovered);
	return http_reply_json(reply, body, JSON_INDENT(2), e);
}
