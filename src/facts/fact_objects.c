/* SPDX-License-Identifier: MIT */
/* fact_objects: see fact_objects.h. */
#include "facts/fact_objects.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct fact_seen_object {
	const struct sample_mapping
		*mapping; /* the first with it; NULL: places of no known build */
	uint64_t last;	  /* the turn in which it was added last */
	uint64_t samples;
};

void fact_objects_done(struct fact_objects *o)
{
	free(o->list);
	free(o->of_place);
	memset(o, 0, sizeof(*o));
}

static bool is_same(const struct sample_mapping *a, const struct sample_mapping *b)
{
	if (!a || !b)
		return a == b;
	return a->build_id_len == b->build_id_len && a->path_len == b->path_len &&
	       !memcmp(a->build_id, b->build_id, a->build_id_len) &&
	       !memcmp(a->path, b->path, a->path_len);
}

static int find_object(struct fact_objects *o, const struct sample_mapping *m, uint32_t *ret)
{
	struct fact_seen_object *list;
	size_t room = o->room ? o->room * 2 : 64, i;

	for (i = 0; i < o->n && !is_same(o->list[i].mapping, m); i++)
		;
	if (i == FACT_OBJECTS_MAX)
		return -E2BIG;
	if (i == o->room) {
		list = realloc(o->list, room * sizeof(*list));
		if (!list)
			return -ENOMEM;
		o->list = list;
		o->room = room;
	}
	if (i == o->n)
		o->list[o->n++] = (struct fact_seen_object){ .mapping = m };
	*ret = (uint32_t)i + 1;
	return 0;
}

static int grow_places(struct fact_objects *o, uint32_t place)
{
	size_t n = o->n_places ? o->n_places : 1024;
	uint32_t *list;

	while (n <= place)
		n *= 2;
	list = realloc(o->of_place, n * sizeof(*list));
	if (!list)
		return -ENOMEM;
	memset(list + o->n_places, 0, (n - o->n_places) * sizeof(*list));
	o->of_place = list;
	o->n_places = n;
	return 0;
}

static int find_place(struct fact_objects *o, const struct profile_names *names, uint32_t place)
{
	const struct sample_mapping *m;
	int r = place < o->n_places ? 0 : grow_places(o, place);

	if (r < 0 || o->of_place[place])
		return r;
	m = profile_names_get(names, place)->mapping;
	return find_object(o, m && m->build_id_len ? m : NULL, &o->of_place[place]);
}

int fact_objects_find(struct fact_objects *o, const struct profile_names *names, uint32_t place,
		      uint32_t *ret)
{
	int r = find_place(o, names, place);

	if (r >= 0)
		*ret = o->of_place[place] - 1;
	return r < 0 ? r : 0;
}

void fact_objects_begin(struct fact_objects *o)
{
	o->turns++;
}

void fact_objects_add(struct fact_objects *o, uint32_t object, uint64_t samples)
{
	struct fact_seen_object *row = &o->list[object];

	row->samples += row->last != o->turns ? samples : 0;
	row->last = o->turns;
}

int fact_objects_give(const struct fact_objects *o, struct fact_set *set)
{
	const struct sample_mapping *m;
	struct fact_object like, *row;
	const char *slash;
	size_t i;
	int r;

	for (i = 0; i < o->n; i++) {
		m = o->list[i].mapping;
		if (!m)
			continue;
		slash = strrchr(m->path, '/');
		like = (struct fact_object){ .name = slash && slash[1] ? slash + 1 : m->path,
					     .build_id_len = m->build_id_len };
		memcpy(like.build_id, m->build_id, m->build_id_len);
		r = fact_set_find_object(set, &like, &row);
		if (r < 0)
			return r;
		row->samples += o->list[i].samples;
	}
	return 0;
}
