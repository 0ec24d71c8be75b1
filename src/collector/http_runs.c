/* SPDX-License-Identifier: MIT */
/* http_runs: the lists of runs, and one run. */
#include <errno.h>

#include "analysis/json_value.h"
#include "collector/http_calls.h"
#include "collector/http_device.h"
#include "collector/http_profile.h"
#include "collector/http_range.h"
#include "trace/func_ksk.h"

#define RUNS_DEFAULT 1000U
#define RUNS_MOST 100000U

struct run_list {
	json_t *list, *alive; /* those that go on are told first */
	enum http_run_kind kind;
	struct http_names names;
	uint64_t limit, n;
	uint32_t *sent; /* by connections that are there now */
	size_t n_sent;
};

static bool is_alive(const struct run_list *l, const struct store_run *r)
{
	size_t lo = 0, hi = l->n_sent;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (l->sent[mid] < r->number)
			lo = mid + 1;
		else
			hi = mid;
	}
	return !r->ended && lo < l->n_sent && l->sent[lo] == r->number;
}

static int add_run(void *context, const struct store_run *r)
{
	struct run_list *l = context;
	json_t *to;

	if ((l->kind == HTTP_RUN_SCHED &&
	     (store_run_is_func(r) || store_run_is_boot(r) || store_run_is_profile(r))) ||
	    (l->kind == HTTP_RUN_PROFILE && !r->samplers) ||
	    (l->kind == HTTP_RUN_VM && !(r->samplers && r->has_guests)) ||
	    (l->kind == HTTP_RUN_FUNC && !r->threads) || (l->kind == HTTP_RUN_BOOT && !r->has_boot))
		return 0;
	l->n++;
	to = is_alive(l, r) ? l->alive : l->list;
	if (json_array_size(to) < l->limit)
		json_array_append_new(to, http_run_json(r, &l->names));
	return 0;
}

/* Both lists as one, which has no more than the limit. */
static json_t *take_list(struct run_list *l)
{
	json_t *all = take_ptr(l->alive);

	json_array_extend(all, l->list);
	json_decref(l->list);
	l->list = NULL;
	while (json_array_size(all) > l->limit)
		json_array_remove(all, json_array_size(all) - 1);
	return all;
}

/* device NULL: of all. */
static int list_runs(struct http_request *q, const struct message_id *device,
		     struct http_reply *reply, struct error *e)
{
	struct run_list l = { .limit = RUNS_DEFAULT };
	_cleanup_free_ uint32_t *sent = NULL;
	int r = http_target_get_count(&q->target, "limit", (struct http_bounds){ 1, RUNS_MOST },
				      &l.limit, e);

	if (r >= 0)
		r = http_range_get_kind(q, &l.kind, e);
	if (r >= 0)
		r = registry_list_sent(q->http->options.registry, &sent, &l.n_sent, e);
	if (r >= 0)
		r = http_names_init(&l.names, q->http->options.store, e);
	if (r < 0)
		return r;
	l.sent = sent;
	l.list = json_array();
	l.alive = json_array();
	r = store_runs(q->http->options.store, device, add_run, &l, e);
	http_names_done(&l.names);
	if (r < 0) {
		json_decref(l.list);
		json_decref(l.alive);
		return r;
	}
	return http_reply_json(reply,
			       json_pack("{so so}", "runs", take_list(&l), "more",
					 json_value_count(l.n > l.limit ? l.n - l.limit : 0)),
			       JSON_INDENT(2), e);
}

int http_runs(struct http_request *q, struct http_reply *reply, struct error *e)
{
	return list_runs(q, NULL, reply, e);
}

int http_device_runs(struct http_request *q, struct http_reply *reply, struct error *e)
{
	struct registry_row row;
	int r = http_device_find(q->http, q->captured[0], &row, e);

	return r < 0 ? r : list_runs(q, &row.device.id, reply, e);
}

/* Whose calls it has; a description that is not understood does not hide the run. 0 or -ENOMEM. */
static int add_processes(struct http_request *q, const struct store_run *run, json_t *o)
{
	struct func_source *calls = NULL;
	_cleanup_free_ uint32_t *threads = NULL;
	json_t *list;
	size_t i;
	int r = func_ksk_open_run(q->http->options.store, run->number, &calls, NULL);

	if (r < 0)
		return r == -ENOMEM ? r : 0;
	list = json_array();
	threads = calloc(calls->n_processes + 1, sizeof(*threads));
	for (i = 0; threads && i < calls->n_threads; i++)
		threads[calls->threads[i].process]++;
	for (i = 0; threads && i < calls->n_processes; i++) {
		const struct func_process *p = &calls->processes[i];

		json_array_append_new(list,
				      json_pack("{so so so so}", "pid",
						p->pid >= 0 ? json_integer(p->pid) : json_null(),
						"command", json_value_text(p->command), "path",
						json_value_text(p->exe), "threads",
						json_value_count(threads[i])));
	}
	func_source_free(calls);
	r = json_object_set_new(o, "processes", list);
	return threads && r == 0 ? 0 : -ENOMEM;
}

/* What there is to say of a run of its kind. 0 or -ENOMEM. */
static int add_kind(struct http_request *q, const struct store_run *run, json_t *o)
{
	int r = run->threads ? add_processes(q, run, o) : 0;

	if (r == 0 && run->threads)
		r = json_object_set_new(o, "calls", http_calls_json(q, run));
	if (r == 0 && run->samplers)
		r = json_object_set_new(o, "profile", http_profile_json(q, run));
	return r < 0 ? -ENOMEM : 0;
}

int http_run(struct http_request *q, struct http_reply *reply, struct error *e)
{
	struct http_names names;
	struct store_run run;
	json_t *o;
	int r = http_range_find_run(q, HTTP_RUN_ANY, &run, e);

	if (r >= 0)
		r = http_names_init(&names, q->http->options.store, e);
	if (r < 0)
		return r;
	o = http_run_json(&run, &names);
	http_names_done(&names);
	if (o && add_kind(q, &run, o) < 0) {
		json_decref(o);
		o = NULL;
	}
	return http_reply_json(reply, o, JSON_INDENT(2), e);
}
