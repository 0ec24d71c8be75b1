/* SPDX-License-Identifier: MIT */
/* alert_build: see alert_build.h. */
#include "alert/alert_build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/array.h"

void alert_builds_done(struct alert_builds *b)
{
	size_t i;

	for (i = 0; i < b->n; i++)
		free(b->list[i].object);
	free(b->list);
	memset(b, 0, sizeof(*b));
}

static struct alert_build *find(const struct alert_builds *b, const char *object)
{
	size_t i;

	for (i = 0; i < b->n; i++)
		if (!strcmp(b->list[i].object, object))
			return &b->list[i];
	return NULL;
}

static int add(struct alert_builds *b, const char *object, struct alert_build **ret)
{
	int r = array_grow(&b->list, b->n, &b->room, sizeof(*b->list), ALERT_BUILDS_MAX);

	if (r < 0)
		return r;
	b->list[b->n] = (struct alert_build){ .object = strdup(object) };
	if (!b->list[b->n].object)
		return -ENOMEM;
	*ret = &b->list[b->n++];
	return 0;
}

static int note(struct alert_builds *b, const struct fact_object *o, uint64_t minute_s)
{
	struct alert_build *row = find(b, o->name);
	int r;

	if (!row) {
		r = add(b, o->name, &row);
		if (r < 0)
			return r == -E2BIG ? 0 : r;
	} else if (row->len == o->build_id_len && !memcmp(row->id, o->build_id, row->len)) {
		return 0;
	} else {
		row->since_s = minute_s;
	}
	row->len = o->build_id_len;
	memcpy(row->id, o->build_id, row->len);
	return 0;
}

/* Whether no other build of the same object has more. */
static bool is_main(const struct fact_set *s, size_t i)
{
	const struct fact_object *o = &s->objects[i], *p;
	size_t j;

	for (j = 0; j < s->n_objects; j++) {
		p = &s->objects[j];
		if (j != i && !strcmp(p->name, o->name) &&
		    (p->samples > o->samples || (p->samples == o->samples && j < i)))
			return false;
	}
	return true;
}

int alert_builds_put(struct alert_builds *b, const struct fact_set *minute)
{
	size_t i;
	int r = 0;

	for (i = 0; i < minute->n_objects && r >= 0; i++)
		if (is_main(minute, i))
			r = note(b, &minute->objects[i], minute->key.start_s);
	return r;
}

const struct alert_build *alert_builds_fresh(const struct alert_builds *b, const char *object,
					     uint64_t minute_s)
{
	const struct alert_build *row = find(b, object);
	bool is_fresh = row && row->since_s &&
			minute_s - row->since_s < (uint64_t)ALERT_FRESH_MINUTES * FACT_MINUTE_S;

	return is_fresh ? row : NULL;
}
