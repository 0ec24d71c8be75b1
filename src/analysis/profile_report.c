/* SPDX-License-Identifier: MIT */
/*
 * profile_report: see profile_report.h.
 *
 * Rows are found by key: a function's number, a thread's, a process's, a CPU's; of an object the number of its name among
 * the labels of the functions. A row remembers the last sample it was in, so that it is counted once in each.
 */
#include "analysis/profile_report.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/array.h"

const char *const profile_by_words[PROFILE_BYS + 1] = { "function", "object", "process",
							 "thread",   "cpu",    NULL };
const char *const profile_order_words[PROFILE_ORDERS + 1] = { "self", "total", "name", NULL };

#define NO_ROW UINT32_MAX

struct profile_report {
	const struct profile_walk *walk;
	enum profile_by by;
	struct profile_row *rows;
	size_t n, room;
	uint32_t *by_key; /* place in rows, NO_ROW: none */
	size_t n_keys;
	uint32_t *objects; /* of a function: the label of its object, NO_ROW: not asked yet */
	size_t n_objects;
	char **texts; /* names that are made */
	size_t n_texts, room_texts;
	struct profile_totals totals;
};

/* Room for an index in a list of numbers that are NO_ROW at first. */
static int reach(uint32_t **list, size_t *n, uint32_t index)
{
	size_t wanted = *n ? *n : 256;
	uint32_t *grown;

	if (index < *n)
		return 0;
	while (wanted <= index)
		wanted *= 2;
	grown = realloc(*list, wanted * sizeof(**list));
	if (!grown)
		return -ENOMEM;
	memset(grown + *n, 0xff, (wanted - *n) * sizeof(**list));
	*list = grown;
	*n = wanted;
	return 0;
}

/* --- rows --- */

static int keep_text(struct profile_report *r, const char *text, const char **ret)
{
	int rc = array_grow(&r->texts, r->n_texts, &r->room_texts, sizeof(*r->texts),
			    2 * (size_t)PROFILE_TASKS_MAX);
	char *copy;

	if (rc < 0)
		return rc;
	copy = strdup(text);
	if (!copy)
		return -ENOMEM;
	r->texts[r->n_texts++] = copy;
	*ret = copy;
	return 0;
}

/* Tasks are called as they were last, so their rows get their names at the end. */
static int get_row(struct profile_report *r, uint32_t key, struct profile_row **ret)
{
	int rc = reach(&r->by_key, &r->n_keys, key);

	if (rc >= 0 && r->by_key[key] == NO_ROW) {
		rc = array_grow(&r->rows, r->n, &r->room, sizeof(*r->rows), FUNCTIONS_MAX);
		if (rc >= 0) {
			r->rows[r->n] = (struct profile_row){ .key = key };
			r->by_key[key] = (uint32_t)r->n++;
		}
	}
	if (rc >= 0)
		*ret = &r->rows[r->by_key[key]];
	return rc;
}

static int get_object(struct profile_report *r, uint32_t function, uint32_t *ret)
{
	struct functions *f = profile_names_functions(r->walk->names);
	const char *object = functions_get(f, function)->object;
	int rc = reach(&r->objects, &r->n_objects, function);

	if (rc >= 0 && r->objects[function] == NO_ROW)
		rc = functions_find_label(f, *object ? object : "[unknown]", "object",
					  &r->objects[function]);
	if (rc >= 0)
		*ret = r->objects[function];
	return rc;
}

static int get_key(struct profile_report *r, uint32_t place, uint32_t *ret)
{
	uint32_t function = profile_names_get(r->walk->names, place)->function;

	if (r->by == PROFILE_BY_OBJECT)
		return get_object(r, function, ret);
	*ret = function;
	return 0;
}

static void add(uint64_t *to, const uint64_t *values)
{
	to[PROFILE_SAMPLES] += values[PROFILE_SAMPLES];
	to[PROFILE_WEIGHT] += values[PROFILE_WEIGHT];
}

static void add_self(struct profile_row *row, const struct profile_sample *s)
{
	add(row->self, s->values);
	row->kernel += s->mode == SAMPLE_KERNEL;
	row->guest += s->mode == SAMPLE_GUEST_KERNEL || s->mode == SAMPLE_GUEST_USER;
}

static int take_frames(struct profile_report *r, const struct profile_sample *s, uint64_t number)
{
	struct profile_row *row;
	uint32_t key;
	size_t i;
	int rc;

	for (i = 0; i < s->n; i++) {
		rc = get_key(r, s->places[i], &key);
		if (rc >= 0)
			rc = get_row(r, key, &row);
		if (rc < 0)
			return rc;
		if (i == 0)
			add_self(row, s);
		if (row->seen != number)
			add(row->total, s->values);
		row->seen = number;
	}
	return 0;
}

static int take(void *data, const struct profile_sample *s)
{
	struct profile_report *r = data;
	struct profile_row *row;
	uint32_t key;
	int rc;

	if (r->by <= PROFILE_BY_OBJECT)
		return take_frames(r, s, r->totals.values[PROFILE_SAMPLES]);
	key = r->by == PROFILE_BY_CPU	   ? s->cpu
	      : r->by == PROFILE_BY_THREAD ? s->thread
					   : r->walk->tasks->threads[s->thread]->process;
	rc = get_row(r, key, &row);
	if (rc < 0)
		return rc;
	add_self(row, s);
	add(row->total, s->values);
	return 0;
}

/* --- names --- */

static int name_task(struct profile_report *r, struct profile_row *row)
{
	const struct profile_tasks *t = r->walk->tasks;
	char text[PROFILE_TASK_TEXT];
	int rc;

	if (r->by == PROFILE_BY_PROCESS)
		return keep_text(r, profile_process_format(t->processes[row->key], true, text),
				 &row->name);
	rc = keep_text(r, profile_thread_format(t->threads[row->key], true, text), &row->name);
	if (rc < 0)
		return rc;
	return keep_text(r, profile_process_format(profile_tasks_process(t, row->key), true, text),
			 &row->object);
}

static int name_row(struct profile_report *r, struct profile_row *row)
{
	const struct function *f;
	char text[PROFILE_TASK_TEXT];

	row->object = "";
	if (r->by == PROFILE_BY_CPU) {
		snprintf(text, sizeof(text), "CPU %" PRIu32, row->key);
		return keep_text(r, text, &row->name);
	}
	if (r->by > PROFILE_BY_OBJECT)
		return name_task(r, row);
	f = functions_get(profile_names_functions(r->walk->names), row->key);
	row->name = f->name;
	if (r->by == PROFILE_BY_FUNCTION)
		row->object = f->object;
	return 0;
}

/* --- all of it --- */

int profile_report_new(struct profile_report **ret, const struct profile_walk *w,
		       enum profile_by by, struct error *e)
{
	CLEANUP(profile_report) struct profile_report *r = calloc(1, sizeof(*r));
	struct profile_walk mine = *w;
	size_t i;
	int rc;

	if (!r)
		return error_set(e, ENOMEM, "cannot make the report: out of memory");
	r->walk = w;
	r->by = by;
	mine.sample = take;
	mine.data = r;
	rc = profile_walk_run(&mine, &r->totals, e);
	if (rc < 0)
		return rc;
	for (i = 0; rc >= 0 && i < r->n; i++)
		rc = name_row(r, &r->rows[i]);
	if (rc < 0)
		return error_set(e, -rc, "cannot make the report: %s", strerror(-rc));
	*ret = take_ptr(r);
	return 0;
}

void profile_report_free(struct profile_report *r)
{
	size_t i;

	if (!r)
		return;
	for (i = 0; i < r->n_texts; i++)
		free(r->texts[i]);
	free(r->texts);
	free(r->rows);
	free(r->by_key);
	free(r->objects);
	free(r);
}

struct sorting {
	enum profile_order order;
	enum profile_value value;
};

static int compare(const void *a, const void *b, void *data)
{
	const struct profile_row *x = a, *y = b;
	const struct sorting *s = data;
	uint64_t p = s->order == PROFILE_ORDER_TOTAL ? x->total[s->value] : x->self[s->value];
	uint64_t q = s->order == PROFILE_ORDER_TOTAL ? y->total[s->value] : y->self[s->value];
	int r;

	if (s->order != PROFILE_ORDER_NAME && p != q)
		return p < q ? 1 : -1;
	if (s->order == PROFILE_ORDER_SELF && x->total[s->value] != y->total[s->value])
		return x->total[s->value] < y->total[s->value] ? 1 : -1;
	r = strcmp(x->name, y->name);
	return r ? r : strcmp(x->object, y->object);
}

void profile_report_sort(struct profile_report *r, enum profile_order order,
			 enum profile_value value)
{
	struct sorting s = { order, value };

	if (r->n)
		qsort_r(r->rows, r->n, sizeof(*r->rows), compare, &s);
}

void profile_report_filter(struct profile_report *r, const char *pattern, double percent,
			   enum profile_value value)
{
	double least = percent / 100 * (double)r->totals.values[value];
	size_t i, n = 0;

	for (i = 0; i < r->n; i++)
		if ((!pattern || !fnmatch(pattern, r->rows[i].name, 0)) &&
		    (double)r->rows[i].total[value] >= least)
			r->rows[n++] = r->rows[i];
	r->n = n;
}

enum profile_by profile_report_by(const struct profile_report *r)
{
	return r->by;
}

const struct profile_row *profile_report_get(const struct profile_report *r, size_t *ret_n)
{
	*ret_n = r->n;
	return r->rows;
}

const struct profile_totals *profile_report_totals(const struct profile_report *r)
{
	return &r->totals;
}
