/* SPDX-License-Identifier: MIT */
/*
 * timeline_json: a timeline as JSON.
 *
 *	{ "run": 3, "from_ns": …, "to_ns": …, "piece_ns": …, "pieces": 960, "decoded": false,
 *	  "run_from_ns": …, "run_to_ns": …, "from_tick": …, "to_tick": …, "pending_from_ns": null,
 *	  "total": { "busy_ns": …, "idle_ns": …, "unknown_ns": …, "switches": …, "wakeups": …,
 *	             "others": …, "lost": …, "uncounted": … },
 *	  "cpus": [ { "cpu": 0, "total": { … }, "busy_ns": [ … ], "idle_ns": [ … ], … }, … ],
 *	  "tasks_in_all": 412,
 *	  "tasks": [ { "pid": 1, "tgid": 1, "comm": "init", "process": "init", "run_ns": …,
 *	               "pieces_ns": [ … ] }, … ],
 *	  "other": { "run_ns": …, "pieces_ns": [ … ] } }
 *
 * An array has one number for each piece; where all of them are zero it is empty, which is most
 * often so for losses. Times are those of the trace's clock. The busy share of a piece is
 * busy_ns / (busy_ns + idle_ns + unknown_ns).
 */
#include <errno.h>
#include <string.h>

#include "collector/timeline.h"

static const struct {
	const char *name;
	size_t offset;
} fields[] = {
	{ "busy_ns", offsetof(struct bucket_counts, busy_ns) },
	{ "idle_ns", offsetof(struct bucket_counts, idle_ns) },
	{ "unknown_ns", offsetof(struct bucket_counts, unknown_ns) },
	{ "switches", offsetof(struct bucket_counts, switches) },
	{ "wakeups", offsetof(struct bucket_counts, wakeups) },
	{ "others", offsetof(struct bucket_counts, others) },
	{ "lost", offsetof(struct bucket_counts, lost) },
	{ "uncounted", offsetof(struct bucket_counts, uncounted) },
};

#define FIELDS (sizeof(fields) / sizeof(*fields))

static uint64_t get_field(const struct bucket_counts *c, size_t i)
{
	uint64_t v;

	memcpy(&v, (const char *)c + fields[i].offset, sizeof(v));
	return v;
}

static json_t *make_integer(uint64_t v)
{
	return json_integer(v > INT64_MAX ? INT64_MAX : (json_int_t)v);
}

static int set(json_t *object, const char *name, uint64_t v)
{
	return json_object_set_new(object, name, make_integer(v));
}

static json_t *make_counts(const struct bucket_counts *c)
{
	json_t *o = json_object();
	size_t i;

	for (i = 0; i < FIELDS; i++)
		if (set(o, fields[i].name, get_field(c, i)) < 0) {
			json_decref(o);
			return NULL;
		}
	return o;
}

/* values: `n` of them, `step` bytes apart. */
static json_t *make_array(const void *values, size_t step, uint32_t n)
{
	json_t *a = json_array();
	bool any = false;
	uint64_t v;
	uint32_t i;

	for (i = 0; i < n && !any; i++) {
		memcpy(&v, (const char *)values + i * step, sizeof(v));
		any = v;
	}
	for (i = 0; i < n && any && a; i++) {
		memcpy(&v, (const char *)values + i * step, sizeof(v));
		if (json_array_append_new(a, make_integer(v)) < 0) {
			json_decref(a);
			return NULL;
		}
	}
	return a;
}

static json_t *make_cpu(const struct timeline *t, uint32_t cpu)
{
	const struct bucket_counts *cells = &t->cells[(size_t)cpu * t->n];
	json_t *o = json_object();
	int r = set(o, "cpu", cpu);
	size_t i;

	r |= json_object_set_new(o, "total", make_counts(&t->totals[cpu]));
	for (i = 0; i < FIELDS && !r; i++)
		r = json_object_set_new(o, fields[i].name,
					make_array((const char *)cells + fields[i].offset,
						   sizeof(*cells), t->n));
	if (r) {
		json_decref(o);
		return NULL;
	}
	return o;
}

/* A name can have any bytes; JSON cannot. */
static json_t *make_name(const char comm[SCHED_COMM_LEN])
{
	char name[SCHED_COMM_LEN + 1] = "";
	json_t *s;
	size_t i;

	memcpy(name, comm, SCHED_COMM_LEN);
	s = json_string(name);
	for (i = 0; !s && i < SCHED_COMM_LEN; i++)
		if ((unsigned char)name[i] >= 0x80)
			name[i] = '?';
	return s ? s : json_string(name);
}

static json_t *make_share(uint64_t ns, const uint64_t *piece_ns, uint32_t n)
{
	json_t *o = json_object();

	if (set(o, "run_ns", ns) |
	    json_object_set_new(o, "pieces_ns", make_array(piece_ns, sizeof(*piece_ns), n))) {
		json_decref(o);
		return NULL;
	}
	return o;
}

static json_t *make_task(const struct timeline *t, const struct timeline_task *k)
{
	json_t *o = make_share(k->ns, k->piece_ns, t->n);

	if (json_object_set_new(o, "pid", json_integer(k->pid)) |
	    json_object_set_new(o, "tgid", k->tgid < 0 ? json_null() : json_integer(k->tgid)) |
	    json_object_set_new(o, "comm", make_name(k->comm)) |
	    json_object_set_new(o, "process",
				k->process[0] ? make_name(k->process) : json_null())) {
		json_decref(o);
		return NULL;
	}
	return o;
}

static int set_lists(json_t *o, const struct timeline *t)
{
	json_t *cpus = json_array(), *tasks = json_array();
	int r = json_object_set_new(o, "cpus", cpus) | json_object_set_new(o, "tasks", tasks);
	uint32_t i;

	for (i = 0; i < t->cpus && !r; i++)
		r = json_array_append_new(cpus, make_cpu(t, i));
	for (i = 0; i < t->n_tasks && !r; i++)
		r = json_array_append_new(tasks, make_task(t, &t->tasks[i]));
	return r |
	       json_object_set_new(o, "other", make_share(t->other_ns, t->other_piece_ns, t->n));
}

static json_t *make_timeline(const struct timeline *t, uint32_t run)
{
	uint64_t to_ns = t->from_ns + t->n * t->piece_ns;
	bool pending = t->pending_from_ns != UINT64_MAX;
	json_t *o = json_object();
	int r = set(o, "run", run) | set(o, "from_ns", t->from_ns) | set(o, "to_ns", to_ns);

	r |= set(o, "piece_ns", t->piece_ns) | set(o, "pieces", t->n);
	r |= json_object_set_new(o, "decoded", json_boolean(t->decoded));
	r |= set(o, "run_from_ns", t->run_from_ns) | set(o, "run_to_ns", t->run_to_ns);
	r |= set(o, "from_tick", clock_tick_at(&t->clock, t->from_ns));
	r |= set(o, "to_tick", clock_tick_at(&t->clock, to_ns));
	r |= json_object_set_new(o, "pending_from_ns",
				 pending ? make_integer(t->pending_from_ns) : json_null());
	r |= json_object_set_new(o, "total", make_counts(&t->total));
	r |= set(o, "tasks_in_all", t->tasks_in_all) | set_lists(o, t);
	if (r) {
		json_decref(o);
		return NULL;
	}
	return o;
}

int timeline_json(struct summaries *s, const struct timeline_query *q, json_t **ret,
		  struct error *e)
{
	CLEANUP(timeline) struct timeline *t = NULL;
	int r = timeline_make(&t, s, q, e);

	if (r < 0)
		return r;
	*ret = make_timeline(t, q->run);
	return *ret ? 0 : error_set(e, ENOMEM, "cannot make a timeline: out of memory");
}
