/* SPDX-License-Identifier: MIT */
/* latency_json: see latency_json.h. */
#include "analysis/latency_json.h"

#include "analysis/json_value.h"

const char *const latency_order_words[LATENCY_ORDERS + 1] = {
	[LATENCY_BY_MAX] = "max",     [LATENCY_BY_P99] = "p99",	    [LATENCY_BY_AVERAGE] = "avg",
	[LATENCY_BY_TOTAL] = "total", [LATENCY_BY_COUNT] = "count", [LATENCY_BY_PID] = "pid",
	[LATENCY_BY_COMM] = "comm",   [LATENCY_ORDERS] = NULL,
};

static json_t *number_or_null(uint32_t value)
{
	return value == TRACKER_NONE ? json_null() : json_value_count(value);
}

static json_t *waits_json(const struct latency_waits *w)
{
	const struct histogram *h = &w->known;

	return json_pack("{so so so so so so so so so so so so so}", "waits",
			 json_value_count(h->count), "total_ns", json_value_count(h->sum), "min_ns",
			 json_value_count(h->min), "avg_ns", json_value_count(latency_average(w)),
			 "p50_ns", json_value_count(histogram_permille(h, 500)), "p90_ns",
			 json_value_count(histogram_permille(h, 900)), "p99_ns",
			 json_value_count(histogram_permille(h, 990)), "p999_ns",
			 json_value_count(histogram_permille(h, 999)), "max_ns",
			 json_value_count(h->max), "unknown",
			 json_value_count(w->ends[WAIT_UNKNOWN]), "inferred",
			 json_value_count(w->ends[WAIT_INFERRED]), "never_ran",
			 json_value_count(w->ends[WAIT_NEVER]), "unseen",
			 json_value_count(w->ends[WAIT_UNSEEN]));
}

/* The powers of two that occurred, rising. */
static json_t *histogram_json(const struct histogram *h)
{
	json_t *list = json_array();
	uint32_t power;

	for (power = 0; power < 64; power++) {
		if (!histogram_power(h, power))
			continue;
		json_array_append_new(
			list, json_pack("{so so so}", "from_ns",
					json_value_count(power ? 1ULL << power : 0), "to_ns",
					json_value_count(power < 63 ? 2ULL << power : UINT64_MAX),
					"waits", json_value_count(histogram_power(h, power))));
	}
	return list;
}

static json_t *with_histogram(const struct latency_waits *w)
{
	json_t *object = waits_json(w);

	json_object_set_new(object, "histogram", histogram_json(&w->known));
	return object;
}

/* A task under its names, and when it lived. */
static json_t *task_json(const struct latency_task *t)
{
	return json_pack("{so so so so so so so}", "pid", json_integer(t->pid), "tgid",
			 t->tgid < 0 ? json_null() : json_integer(t->tgid), "comm",
			 json_value_comm(t->comm), "first_comm", json_value_comm(t->first_comm),
			 "born_ns", json_value_count(t->born_ns), "birth_seen",
			 json_boolean(t->birth_seen), "ended_ns",
			 t->ended ? json_value_count(t->ended_ns) : json_null());
}

static json_t *tasks_json(const struct latency *l, uint64_t limit)
{
	json_t *list = json_array(), *object;
	const struct latency_task *t;
	size_t n, i;

	t = latency_get_tasks(l, &n);
	for (i = 0; i < n && (!limit || i < limit); i++) {
		object = task_json(&t[i]);
		json_object_set_new(object, "wakeup", with_histogram(&t[i].waits[WAIT_WAKEUP]));
		json_object_set_new(object, "preempted", waits_json(&t[i].waits[WAIT_PREEMPTED]));
		json_array_append_new(list, object);
	}
	return list;
}

static json_t *blockers_json(const struct latency_case *c)
{
	json_t *list = json_array();
	uint32_t i;

	for (i = 0; i < c->n_blockers; i++)
		json_array_append_new(list,
				      json_pack("{so so so so so so}", "pid",
						json_integer(c->blockers[i].pid), "comm",
						json_value_comm(c->blockers[i].comm), "born_ns",
						json_value_count(c->blockers[i].born_ns), "from_ns",
						json_value_count(c->blockers[i].from_ns), "to_ns",
						json_value_count(c->blockers[i].to_ns), "ns",
						json_value_count(c->blockers[i].ns)));
	return list;
}

static json_t *case_json(const struct latency_case *c)
{
	json_t *waker = json_pack("{so so so so}", "pid", json_integer(c->waker_pid), "comm",
				  json_value_comm(c->waker_comm), "born_ns",
				  c->waker_pid ? json_value_count(c->waker_born_ns) : json_null(),
				  "cpu", number_or_null(c->waker_cpu));

	return json_pack("{so so so so so so so so so so so so so}", "pid", json_integer(c->pid),
			 "comm", json_value_comm(c->comm), "born_ns", json_value_count(c->born_ns),
			 "cpu", json_value_count(c->cpu), "target_cpu",
			 number_or_null(c->target_cpu), "from_ns", json_value_count(c->from_ns),
			 "to_ns", json_value_count(c->to_ns), "wait_ns",
			 json_value_count(c->to_ns - c->from_ns), "waker", waker, "ran_instead",
			 blockers_json(c), "others_ns", json_value_count(c->others_ns), "idle_ns",
			 json_value_count(c->idle_ns), "unknown_ns",
			 json_value_count(c->unknown_ns));
}

static json_t *cases_json(const struct latency *l)
{
	json_t *list = json_array();
	const struct latency_case *c;
	size_t n, i;

	c = latency_get_cases(l, &n);
	for (i = 0; i < n; i++)
		json_array_append_new(list, case_json(&c[i]));
	return list;
}

json_t *latency_json(const struct latency *l, uint64_t limit)
{
	size_t n;

	latency_get_tasks(l, &n);
	return json_pack("{ss so so so so so so so so}", "report", "latency", "from_ns",
			 json_value_count(latency_from_ns(l)), "to_ns",
			 json_value_count(latency_to_ns(l)), "wakeup",
			 with_histogram(latency_get_all(l, WAIT_WAKEUP)), "preempted",
			 with_histogram(latency_get_all(l, WAIT_PREEMPTED)), "tasks",
			 tasks_json(l, limit), "other_tasks",
			 json_value_count(latency_get_folded(l)), "n_tasks", json_value_count(n),
			 "worst", cases_json(l));
}
