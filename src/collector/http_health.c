/* SPDX-License-Identifier: MIT */
/*
 * http_health: GET /healthz: can the collector do its work? 200 if so, else 503, with the same
 * document.
 *
 * It cannot when the last commit failed (then nothing is acknowledged, and devices fill their
 * memory), or when the disk is about to be full.
 */
#include <time.h>

#include "analysis/json_value.h"
#include "collector/collector.h"
#include "collector/http_device.h"

#define FREE_LEAST (16ULL << 20)

/* Errors are counted, not their end: a commit that succeeded after the last look ends them. */
static bool is_committing(struct http *h, const struct collector_counters *c)
{
	bool failing;

	pthread_mutex_lock(&h->health_lock);
	if (c->commit_errors != h->commit_errors) {
		h->commit_errors = c->commit_errors;
		h->commits_then = c->commits;
	}
	failing = h->commit_errors && h->commits_then == c->commits;
	pthread_mutex_unlock(&h->health_lock);
	return !failing;
}

int http_health(struct http_request *q, struct http_reply *reply, struct error *e)
{
	struct collector_counters c = { 0 };
	struct store_damages d;
	uint64_t used = 0, left = 0;
	bool writable = true, has_space;
	const char *reason = "";

	store_space(q->http->options.store, &used, &left);
	store_get_damage(q->http->options.store, &d);
	if (q->http->options.collector) {
		collector_count(q->http->options.collector, &c);
		writable = is_committing(q->http, &c);
	}
	has_space = left >= FREE_LEAST;
	if (!writable)
		reason = "the last commit to the store failed";
	else if (!has_space)
		reason = "the store's disk is full";
	if (*reason)
		reply->status = 503;
	if (q->http->access && q->who->state.kind == WHO_STRANGER) /* a load balancer, or anybody */
		return http_reply_json(reply, json_pack("{sb}", "ok", !*reason), JSON_INDENT(2), e);
	return http_reply_json(
		reply,
		json_pack("{sb ss ss s{sb so so so so so s{so so so so so}}}", "ok", !*reason,
			  "reason", reason, "version", KISEKI_VERSION, "store", "writable",
			  (int)writable, "used_bytes", json_value_count(used), "free_bytes",
			  json_value_count(left), "waiting_bytes",
			  json_value_count(c.waiting_bytes), "commits", json_value_count(c.commits),
			  "commit_errors", json_value_count(c.commit_errors), "damage", "runs",
			  json_value_count(d.runs), "events", json_value_count(d.events), "places",
			  json_value_count(d.places), "bytes", json_value_count(d.bytes), "files",
			  json_value_count(d.files)),
		JSON_INDENT(2), e);
}
