/* SPDX-License-Identifier: MIT */
/* running_json: see running_json.h. */
#include "analysis/running_json.h"

#include "analysis/json_value.h"

const char *const running_order_words[RUNNING_ORDERS + 1] = {
	[RUNNING_BY_CPU] = "cpu",
	[RUNNING_BY_SWITCHES] = "switches",
	[RUNNING_BY_WAKEUPS] = "wakeups",
	[RUNNING_BY_PREEMPTIONS] = "preempted",
	[RUNNING_BY_MIGRATIONS] = "migrations",
	[RUNNING_BY_WAIT] = "wait",
	[RUNNING_BY_WAIT_MAX] = "max",
	[RUNNING_BY_PID] = "pid",
	[RUNNING_BY_COMM] = "comm",
	[RUNNING_ORDERS] = NULL,
};

static json_t *cpu_json(const struct running_cpu *c)
{
	return json_pack("{so so so so so so so so so so}", "busy_ns", json_value_count(c->busy_ns),
			 "idle_ns", json_value_count(c->idle_ns), "unknown_ns",
			 json_value_count(c->unknown_ns), "inferred_ns",
			 json_value_count(c->inferred_ns), "events", json_value_count(c->events),
			 "switches", json_value_count(c->switches), "inferred",
			 json_value_count(c->inferred), "losses", json_value_count(c->losses),
			 "lost", json_value_count(c->lost), "lost_uncounted",
			 json_value_count(c->lost_unknown));
}

static json_t *task_json(const struct running_task *t)
{
	return json_pack("{so so so so so so so so so so so so so}", "cpu_ns",
			 json_value_count(t->cpu_ns), "inferred_ns",
			 json_value_count(t->inferred_ns), "switches",
			 json_value_count(t->switches), "preemptions",
			 json_value_count(t->preemptions), "wakeups", json_value_count(t->wakeups),
			 "migrations", json_value_count(t->migrations), "waits",
			 json_value_count(t->waits), "wait_ns", json_value_count(t->wait_ns),
			 "wait_max_ns", json_value_count(t->wait_max_ns), "waits_unknown",
			 json_value_count(t->waits_unknown), "preempted_waits",
			 json_value_count(t->preempted_waits), "preempted_ns",
			 json_value_count(t->preempted_ns), "preempted_max_ns",
			 json_value_count(t->preempted_max_ns));
}

static json_t *cpus_json(const struct running *r)
{
	json_t *list = json_array(), *object;
	const struct running_cpu *c;
	size_t n, i;

	c = running_get_cpus(r, &n);
	for (i = 0; i < n; i++) {
		if (!running_has_cpu(&c[i]))
			continue;
		object = cpu_json(&c[i]);
		json_object_set_new(object, "cpu", json_value_count(i));
		json_array_append_new(list, object);
	}
	return list;
}

static json_t *tasks_json(const struct running *r, uint64_t limit)
{
	json_t *list = json_array(), *object;
	const struct running_task *t;
	size_t n, i;

	t = running_get_tasks(r, &n);
	for (i = 0; i < n && (!limit || i < limit); i++) {
		object = task_json(&t[i]);
		json_object_set_new(object, "pid", json_integer(t[i].pid));
		json_object_set_new(object, "tgid",
				    t[i].tgid < 0 ? json_null() : json_integer(t[i].tgid));
		json_object_set_new(object, "comm", json_value_comm(t[i].comm));
		json_object_set_new(object, "first_comm", json_value_comm(t[i].first_comm));
		json_object_set_new(object, "born_ns", json_value_count(t[i].born_ns));
		json_object_set_new(object, "birth_seen", json_boolean(t[i].birth_seen));
		json_object_set_new(object, "ended_ns",
				    t[i].ended ? json_value_count(t[i].ended_ns) : json_null());
		json_array_append_new(list, object);
	}
	return list;
}

/* Tasks that are in no list, as one. */
static json_t *others_json(const struct running_total *t)
{
	json_t *object = task_json(&t->others);

	json_object_set_new(object, "tasks", json_value_count(t->folded));
	return object;
}

json_t *running_json(const struct running *r, uint64_t limit)
{
	const struct running_total *t = running_get_total(r);

	return json_pack("{ss so so so so so so so so}", "report", "sched", "from_ns",
			 json_value_count(t->from_ns), "to_ns", json_value_count(t->to_ns), "cpus",
			 cpus_json(r), "tasks", tasks_json(r, limit), "all_cpus", cpu_json(&t->cpu),
			 "all_tasks", task_json(&t->task), "other_tasks", others_json(t), "n_tasks",
			 json_value_count(t->tasks));
}
