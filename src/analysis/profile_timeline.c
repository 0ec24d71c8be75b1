/* SPDX-License-Identifier: MIT */
/* profile_timeline: see profile_timeline.h. */
#include "analysis/profile_timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/json_value.h"
#include "analysis/profile_json.h"
#include "store/array.h"

#define OTHERS UINT32_MAX

struct profile_timeline {
	struct profile_timeline_options o;
	struct profile_walk walk;
	struct profile_timeline_row *rows;
	size_t n, room;
	uint32_t *places; /* by key: its row + 1; 0: none */
	size_t n_places;
	struct profile_timeline_row rest;
	uint64_t n_rest; /* rows that are in it */
	uint64_t cells;
};

static void row_done(struct profile_timeline_row *row)
{
	size_t i;

	for (i = 0; i < SAMPLE_MODES; i++)
		free(row->cells[i]);
}

void profile_timeline_free(struct profile_timeline *t)
{
	size_t i;

	if (!t)
		return;
	for (i = 0; i < t->n; i++)
		row_done(&t->rows[i]);
	row_done(&t->rest);
	free(t->rows);
	free(t->places);
	free(t);
}

/* Numbers are dense: those of CPUs, and of tasks in the order in which they come. */
static int get_place(struct profile_timeline *t, uint32_t key, uint32_t **ret)
{
	size_t n = t->n_places ? t->n_places : 64;
	uint32_t *grown;

	if (key >= PROFILE_TASKS_MAX)
		return -E2BIG;
	while (n <= key)
		n *= 2;
	if (n > t->n_places) {
		grown = realloc(t->places, n * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		memset(grown + t->n_places, 0, (n - t->n_places) * sizeof(*grown));
		t->places = grown;
		t->n_places = n;
	}
	*ret = &t->places[key];
	return 0;
}

/* The row of a key, made if it is new and there is room. */
static int get_row(struct profile_timeline *t, uint32_t key, struct profile_timeline_row **ret)
{
	uint32_t *place = NULL;
	int r = get_place(t, key, &place);

	if (r < 0)
		return r;
	if (!*place) {
		r = array_grow(&t->rows, t->n, &t->room, sizeof(*t->rows),
			       PROFILE_TIMELINE_ROWS_MAX);
		if (r == -E2BIG ||
		    t->cells + (uint64_t)SAMPLE_MODES * t->o.width > PROFILE_TIMELINE_CELLS_MAX) {
			*place = OTHERS;
			t->n_rest++;
		} else if (r < 0) {
			return r;
		} else {
			t->rows[t->n++] = (struct profile_timeline_row){ .key = key };
			*place = (uint32_t)t->n;
			t->cells += (uint64_t)SAMPLE_MODES * t->o.width;
		}
	}
	*ret = *place == OTHERS ? &t->rest : &t->rows[*place - 1];
	return 0;
}

static uint64_t *get_cells(const struct profile_timeline *t, struct profile_timeline_row *row,
			   size_t mode)
{
	if (!row->cells[mode])
		row->cells[mode] = calloc(t->o.width, sizeof(uint64_t));
	return row->cells[mode];
}

static uint32_t key_of(const struct profile_timeline *t, const struct profile_sample *s)
{
	switch (t->o.by) {
	case PROFILE_BY_CPU:
		return s->cpu;
	case PROFILE_BY_PROCESS:
		return t->walk.tasks->threads[s->thread]->process;
	default:
		return s->thread;
	}
}

/* Where a bucket begins: number * length / width, rounded down, without the product. */
static uint64_t begin_of(const struct profile_timeline *t, uint64_t number)
{
	uint64_t length = t->o.to_ns - t->o.from_ns;

	return number * (length / t->o.width) + number * (length % t->o.width) / t->o.width;
}

static uint32_t bucket_of(const struct profile_timeline *t, uint64_t ns)
{
	uint64_t length = t->o.to_ns - t->o.from_ns, at = ns - t->o.from_ns, number;

	if (at < UINT64_MAX / t->o.width)
		return (uint32_t)(((at + 1) * t->o.width - 1) / length);
	/* Of weeks: a guess that is one too large at most. */
	number = at / (length / t->o.width);
	if (number >= t->o.width)
		number = t->o.width - 1;
	return (uint32_t)(begin_of(t, number) > at ? number - 1 : number);
}

static int take(void *data, const struct profile_sample *s)
{
	struct profile_timeline *t = data;
	uint64_t value = s->values[t->o.value], *cells;
	struct profile_timeline_row *row;
	int r;

	if (s->ns < t->o.from_ns || s->ns >= t->o.to_ns || s->mode >= SAMPLE_MODES)
		return 0;
	r = get_row(t, key_of(t, s), &row);
	if (r < 0)
		return r;
	cells = get_cells(t, row, s->mode);
	if (!cells)
		return -ENOMEM;
	cells[bucket_of(t, s->ns)] += value;
	*(s->mode == SAMPLE_IDLE ? &row->idle : &row->total) += value;
	return 0;
}

/* --- the order --- */

static int by_key(const void *a, const void *b)
{
	uint32_t x = ((const struct profile_timeline_row *)a)->key;
	uint32_t y = ((const struct profile_timeline_row *)b)->key;

	return (x > y) - (x < y);
}

static int by_total(const void *a, const void *b)
{
	const struct profile_timeline_row *x = a, *y = b;

	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return by_key(a, b);
}

static int add_rest(struct profile_timeline *t, const struct profile_timeline_row *row)
{
	uint64_t *cells;
	size_t mode, i;

	for (mode = 0; mode < SAMPLE_MODES; mode++) {
		if (!row->cells[mode])
			continue;
		cells = get_cells(t, &t->rest, mode);
		if (!cells)
			return -ENOMEM;
		for (i = 0; i < t->o.width; i++)
			cells[i] += row->cells[mode][i];
	}
	t->rest.total += row->total;
	t->rest.idle += row->idle;
	t->n_rest++;
	return 0;
}

static int settle(struct profile_timeline *t)
{
	size_t limit = t->o.by == PROFILE_BY_CPU || t->o.limit > t->n ? t->n : (size_t)t->o.limit;
	size_t i;
	int r = 0;

	if (t->n)
		qsort(t->rows, t->n, sizeof(*t->rows),
		      t->o.by == PROFILE_BY_CPU ? by_key : by_total);
	for (i = limit; r == 0 && i < t->n; i++)
		r = add_rest(t, &t->rows[i]);
	for (i = limit; i < t->n; i++)
		row_done(&t->rows[i]);
	t->n = limit;
	if (r < 0 || !t->n_rest)
		return r;
	r = array_grow(&t->rows, t->n, &t->room, sizeof(*t->rows), PROFILE_TIMELINE_ROWS_MAX + 1);
	if (r == 0) {
		t->rows[t->n++] = t->rest;
		memset(&t->rest, 0, sizeof(t->rest));
		t->rows[t->n - 1].key = OTHERS;
	}
	return r;
}

int profile_timeline_new(struct profile_timeline **ret, const struct profile_walk *w,
			 const struct profile_timeline_options *o, struct error *e)
{
	CLEANUP(profile_timeline) struct profile_timeline *t = calloc(1, sizeof(*t));
	struct profile_totals totals;
	int r;

	if (!t)
		return error_set(e, ENOMEM, "cannot make the timeline: out of memory");
	t->o = *o;
	t->walk = *w;
	t->walk.sample = take;
	t->walk.data = t;
	r = profile_walk_run(&t->walk, &totals, e);
	if (r < 0)
		return r;
	if (settle(t) < 0)
		return error_set(e, ENOMEM, "cannot make the timeline: out of memory");
	*ret = take_ptr(t);
	return 0;
}

const struct profile_timeline_row *profile_timeline_get(const struct profile_timeline *t,
							size_t *ret_n)
{
	*ret_n = t->n;
	return t->rows;
}

/* --- JSON --- */

static json_t *modes_json(const struct profile_timeline *t, const struct profile_timeline_row *row)
{
	json_t *modes = json_object(), *list;
	size_t mode, i;

	for (mode = 0; mode < SAMPLE_MODES; mode++) {
		if (!row->cells[mode])
			continue;
		list = json_array();
		for (i = 0; i < t->o.width; i++)
			json_array_append_new(list, json_value_count(row->cells[mode][i]));
		json_object_set_new(modes, profile_mode_words[mode], list);
	}
	return modes;
}

static void set_name(json_t *o, const char *name, json_t *id, const char *object)
{
	json_object_set_new(o, "name", json_value_text(name));
	json_object_set_new(o, "id", id);
	json_object_set_new(o, "object", object ? json_value_text(object) : json_null());
}

static json_t *row_json(const struct profile_timeline *t, const struct profile_timeline_row *row)
{
	const struct profile_tasks *tasks = t->walk.tasks;
	char text[PROFILE_TASK_TEXT], process[PROFILE_TASK_TEXT];
	const struct profile_process *p;
	json_t *o = json_object();

	if (row->key == OTHERS) {
		set_name(o, "(others)", json_null(), NULL);
	} else if (t->o.by == PROFILE_BY_CPU) {
		snprintf(text, sizeof(text), "%u", row->key);
		set_name(o, text, json_integer(row->key), NULL);
	} else if (t->o.by == PROFILE_BY_PROCESS) {
		p = tasks->processes[row->key];
		set_name(o, profile_process_format(p, true, text), json_integer(p->pid), NULL);
	} else {
		p = profile_tasks_process(tasks, row->key);
		profile_process_format(p, true, process);
		set_name(o, profile_thread_format(tasks->threads[row->key], true, text),
			 json_integer(tasks->threads[row->key]->tid), process);
	}
	json_object_set_new(o, "total", json_value_count(row->total));
	json_object_set_new(o, "modes", modes_json(t, row));
	return o;
}

json_t *profile_timeline_json(const struct profile_timeline *t)
{
	bool samples = t->o.value == PROFILE_SAMPLES;
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < t->n; i++)
		json_array_append_new(list, row_json(t, &t->rows[i]));
	return json_pack("{so so si ss ss ss so so}", "from_ns", json_value_count(t->o.from_ns),
			 "to_ns", json_value_count(t->o.to_ns), "width", (int)t->o.width, "by",
			 profile_by_words[t->o.by], "value", samples ? "samples" : "weight", "unit",
			 samples ? "samples" : profile_walk_unit(t->walk.source), "rows", list,
			 "others", json_value_count(t->n_rest));
}
