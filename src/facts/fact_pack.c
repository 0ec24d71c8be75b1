/* SPDX-License-Identifier: MIT */
/*
 * fact_pack: see fact_pack.h. The room for all of it is made at once, from the most bytes that each part can take.
 */
#include "facts/fact_pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PACK_VERSION 1
#define NUMBERS(n) ((size_t)(n)*VARINT_MAX)

/* --- trees --- */

static int compare_numbers(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* The numbers of a set, each once. */
static uint32_t *make_list(const struct fact_set *s, const uint32_t *numbers, size_t *ret_n)
{
	size_t n = s->functions.n, i, kept = 0;
	uint32_t *list = calloc(n + 1, sizeof(*list));

	if (!list)
		return NULL;
	if (n)
		memcpy(list, numbers, n * sizeof(*list));
	qsort(list, n, sizeof(*list), compare_numbers);
	for (i = 0; i < n; i++)
		if (!kept || list[kept - 1] != list[i])
			list[kept++] = list[i];
	*ret_n = kept;
	return list;
}

static uint8_t *put_values(uint8_t *p, const uint64_t *values, uint64_t period)
{
	p = varint_put(p, values[0]);
	return varint_put_signed(p, (int64_t)(values[1] - values[0] * period));
}

static uint8_t *put_nodes(uint8_t *p, const struct fact_set *s, const uint32_t *places,
			  uint64_t period)
{
	const struct profile_node *n;
	const uint64_t *self;
	uint32_t node, depth = 0;
	bool has_self;

	for (node = profile_tree_next(s->tree, 0, false); node != PROFILE_NODE_NONE;
	     node = profile_tree_next(s->tree, node, false)) {
		n = profile_tree_get(s->tree, node);
		self = profile_tree_self(s->tree, node);
		has_self = self[0] || self[1];
		p = varint_put(p, (uint64_t)(depth + 1 - n->depth) << 1 | has_self);
		p = varint_put(p, places[n->key]);
		if (has_self)
			p = put_values(p, self, period);
		depth = n->depth;
	}
	return p;
}

int fact_tree_encode(const struct fact_set *s, const uint32_t *numbers, uint8_t **ret,
		     size_t *ret_len)
{
	size_t n_list = 0, i, n_nodes = s->tree ? profile_tree_count(s->tree) : 1;
	_cleanup_free_ uint32_t *list = make_list(s, numbers, &n_list);
	_cleanup_free_ uint32_t *places = calloc(s->functions.n + 1, sizeof(*places));
	uint8_t *data = malloc(1 + NUMBERS(5 + n_list + 4 * n_nodes)), *p = data;
	uint64_t all[FACT_VALUES], period;
	uint32_t before = 0;

	if (!list || !places || !data) {
		free(data);
		return -ENOMEM;
	}
	for (i = 0; i < s->functions.n; i++)
		places[i] = (uint32_t)((const uint32_t *)bsearch(&numbers[i], list, n_list,
								 sizeof(*list), compare_numbers) -
				       list);
	fact_set_totals(s, all);
	period = all[0] ? all[1] / all[0] : 0;
	*p++ = PACK_VERSION;
	p = varint_put(p, n_list);
	for (i = 0; i < n_list; before = list[i++])
		p = varint_put(p, list[i] - before);
	p = varint_put(p, n_nodes - 1);
	p = varint_put(p, period);
	memset(all, 0, sizeof(all));
	p = put_values(p, s->tree ? profile_tree_self(s->tree, 0) : all, period);
	if (s->tree)
		p = put_nodes(p, s, places, period);
	*ret = data;
	*ret_len = (size_t)(p - data);
	return 0;
}

static void read_values(struct byte_reader *r, uint64_t period, uint64_t *ret)
{
	ret[0] = reader_varint(r);
	ret[1] = ret[0] * period + (uint64_t)reader_signed(r);
}

int fact_tree_open(struct fact_tree_reader *t, const uint8_t *data, size_t len)
{
	uint64_t n, number = 0;
	size_t i;

	memset(t, 0, sizeof(*t));
	if (!len || data[0] != PACK_VERSION)
		return -EBADMSG;
	reader_init(&t->r, data + 1, len - 1);
	n = reader_varint(&t->r);
	if (n > reader_left(&t->r) || n > FUNCTIONS_MAX) /* each takes a byte at the least */
		return -EBADMSG;
	t->numbers = calloc((size_t)n + 1, sizeof(*t->numbers));
	if (!t->numbers)
		return -ENOMEM;
	t->n_numbers = (size_t)n;
	for (i = 0; i < n; i++) {
		number += reader_varint(&t->r);
		t->numbers[i] = (uint32_t)number;
		if (number > UINT32_MAX)
			t->r.bad = true;
	}
	t->left = reader_varint(&t->r);
	t->period = reader_varint(&t->r);
	read_values(&t->r, t->period, t->root);
	if (!t->r.bad && t->left <= reader_left(&t->r) && t->left < PROFILE_NODES_MAX)
		return 0;
	fact_tree_done(t);
	return -EBADMSG;
}

void fact_tree_done(struct fact_tree_reader *t)
{
	free(t->numbers);
	t->numbers = NULL;
	t->left = 0;
}

bool fact_tree_next(struct fact_tree_reader *t, struct fact_tree_node *ret)
{
	uint64_t head, at;

	if (!t->left)
		return false;
	t->left--;
	head = reader_varint(&t->r);
	at = reader_varint(&t->r);
	ret->up = head >> 1;
	ret->number_at = (uint32_t)at;
	ret->self[0] = ret->self[1] = 0;
	if (head & 1)
		read_values(&t->r, t->period, ret->self);
	if (at >= t->n_numbers || ret->up > t->depth)
		t->r.bad = true;
	t->depth = t->depth - ret->up + 1;
	if (t->r.bad)
		t->left = 0;
	return !t->r.bad;
}

int fact_tree_add(struct fact_tree_reader *t, struct profile_tree *to, const uint32_t *keys)
{
	struct fact_tree_node n;
	_cleanup_free_ uint32_t *path = calloc((size_t)t->left + 1, sizeof(*path)); /* by depth */
	int r;

	if (!path)
		return -ENOMEM;
	if (t->root[0] || t->root[1])
		profile_tree_add(to, 0, t->root);
	while (fact_tree_next(t, &n)) {
		r = profile_tree_find(to, path[t->depth - 1], keys[n.number_at], &path[t->depth]);
		if (r < 0)
			return r;
		if (n.self[0] || n.self[1])
			profile_tree_add(to, path[t->depth], n.self);
	}
	return t->r.bad ? -EBADMSG : 0;
}

/* --- distributions --- */

static size_t histogram_room(const struct histogram *h)
{
	size_t most = NUMBERS(5);
	uint32_t i;

	for (i = 0; i < HISTOGRAM_OCTAVES; i++)
		most += h->octaves[i] ? NUMBERS(2 + 2 * HISTOGRAM_SUB) : 0;
	return most;
}

static uint8_t *put_octave(uint8_t *p, const uint64_t *buckets)
{
	uint32_t k, n = 0, next = 0;

	for (k = 0; k < HISTOGRAM_SUB; k++)
		n += buckets[k] != 0;
	p = varint_put(p, n);
	for (k = 0; k < HISTOGRAM_SUB; k++) {
		if (!buckets[k])
			continue;
		p = varint_put(p, k - next);
		p = varint_put(p, buckets[k]);
		next = k + 1;
	}
	return p;
}

static uint8_t *put_histogram(uint8_t *p, const struct histogram *h)
{
	uint32_t i, n = 0;

	for (i = 0; i < HISTOGRAM_OCTAVES; i++)
		n += h->octaves[i] != NULL;
	p = varint_put(p, n);
	if (!n)
		return p;
	p = varint_put(p, h->sum);
	p = varint_put(p, h->min);
	p = varint_put(p, h->max - h->min);
	for (i = 0; i < HISTOGRAM_OCTAVES; i++) {
		if (!h->octaves[i])
			continue;
		p = varint_put(p, i);
		p = put_octave(p, h->octaves[i]);
	}
	return p;
}

/* 0, -EBADMSG, -ENOMEM. */
static int read_octave(struct byte_reader *r, struct histogram *h)
{
	uint64_t i = reader_varint(r), n = reader_varint(r), at = 0, count;

	if (r->bad || i >= HISTOGRAM_OCTAVES || n > HISTOGRAM_SUB || h->octaves[i])
		return -EBADMSG;
	h->octaves[i] = calloc(HISTOGRAM_SUB, sizeof(uint64_t));
	if (!h->octaves[i])
		return -ENOMEM;
	for (; n; n--, at++) {
		at += reader_varint(r);
		count = reader_varint(r);
		if (r->bad || at >= HISTOGRAM_SUB || h->count + count < count)
			return -EBADMSG;
		h->octaves[i][at] = count;
		h->count += count;
	}
	return 0;
}

static int read_histogram(struct byte_reader *r, struct histogram *h)
{
	uint64_t n = reader_varint(r);
	int code = 0;

	if (r->bad || n > HISTOGRAM_OCTAVES)
		return -EBADMSG;
	if (!n)
		return 0;
	h->sum = reader_varint(r);
	h->min = reader_varint(r);
	h->max = h->min + reader_varint(r);
	if (r->bad || h->max < h->min)
		return -EBADMSG;
	for (; code >= 0 && n; n--)
		code = read_octave(r, h);
	return code;
}

/* --- tasks --- */

static uint8_t *put_text(uint8_t *p, const char *text)
{
	size_t len = strlen(text);

	p = varint_put(p, len);
	memcpy(p, text, len);
	return p + len;
}

int fact_tasks_encode(const struct fact_set *s, uint8_t **ret, size_t *ret_len)
{
	size_t most = 1 + NUMBERS(1), i;
	const struct fact_task *t;
	uint8_t *p;

	for (i = 0; i < s->n_tasks; i++)
		most += NUMBERS(5) + COMM_TEXT_LEN + histogram_room(&s->tasks[i].waits) +
			histogram_room(&s->tasks[i].preempted);
	*ret = p = malloc(most);
	if (!p)
		return -ENOMEM;
	*p++ = PACK_VERSION;
	p = varint_put(p, s->n_tasks);
	for (i = 0; i < s->n_tasks; i++) {
		t = &s->tasks[s->task_order[i]];
		p = put_text(p, t->name);
		p = varint_put(p, t->cpu_ns);
		p = varint_put(p, t->switches);
		p = varint_put(p, t->preemptions);
		p = varint_put(p, t->wakeups);
		p = put_histogram(p, &t->waits);
		p = put_histogram(p, &t->preempted);
	}
	*ret_len = (size_t)(p - *ret);
	return 0;
}

/* A text of at most that many bytes, without a NUL; its end is put behind it. */
static int read_text(struct byte_reader *r, char *text, size_t most)
{
	uint64_t len = reader_varint(r);
	const uint8_t *bytes = reader_bytes(r, len);

	if (r->bad || len > most || memchr(bytes, 0, (size_t)len))
		return -EBADMSG;
	memcpy(text, bytes, (size_t)len);
	text[len] = '\0';
	return 0;
}

static int read_task(struct fact_set *s, struct byte_reader *r)
{
	char name[COMM_TEXT_LEN];
	struct fact_task *t;
	size_t before = s->n_tasks;
	int code = read_text(r, name, sizeof(name) - 1);

	if (code >= 0)
		code = fact_set_find_task(s, name, &t);
	if (code < 0)
		return code;
	if (s->n_tasks == before) /* it was there */
		return -EBADMSG;
	t->cpu_ns = reader_varint(r);
	t->switches = reader_varint(r);
	t->preemptions = reader_varint(r);
	t->wakeups = reader_varint(r);
	code = read_histogram(r, &t->waits);
	if (code >= 0)
		code = read_histogram(r, &t->preempted);
	return code;
}

/* The number of rows; each has two bytes at the least. */
static int read_head(struct byte_reader *r, const uint8_t *data, size_t len, uint64_t *ret)
{
	if (!len || data[0] != PACK_VERSION)
		return -EBADMSG;
	reader_init(r, data + 1, len - 1);
	*ret = reader_varint(r);
	return r->bad || *ret > reader_left(r) / 2 ? -EBADMSG : 0;
}

int fact_tasks_decode(struct fact_set *s, const uint8_t *data, size_t len)
{
	struct byte_reader r;
	uint64_t n = 0;
	int code = read_head(&r, data, len, &n);

	for (; code >= 0 && n; n--)
		code = read_task(s, &r);
	return code;
}

/* --- objects --- */

int fact_objects_encode(const struct fact_set *s, uint8_t **ret, size_t *ret_len)
{
	size_t most = 1 + NUMBERS(1), i;
	const struct fact_object *o;
	uint8_t *p;

	for (i = 0; i < s->n_objects; i++)
		most += NUMBERS(2) + strlen(s->objects[i].name) + 1 + FACT_BUILD_ID_MAX;
	*ret = p = malloc(most);
	if (!p)
		return -ENOMEM;
	*p++ = PACK_VERSION;
	p = varint_put(p, s->n_objects);
	for (i = 0; i < s->n_objects; i++) {
		o = &s->objects[s->object_order[i]];
		p = put_text(p, o->name);
		*p++ = o->build_id_len;
		memcpy(p, o->build_id, o->build_id_len);
		p = varint_put(p + o->build_id_len, o->samples);
	}
	*ret_len = (size_t)(p - *ret);
	return 0;
}

static int read_object(struct fact_set *s, struct byte_reader *r)
{
	char name[FACT_OBJECT_NAME_MAX + 1];
	struct fact_object like = { .name = name }, *o;
	const uint8_t *bytes;
	size_t before = s->n_objects;
	int code = read_text(r, name, sizeof(name) - 1);

	if (code < 0)
		return code;
	bytes = reader_bytes(r, 1);
	if (!bytes || *bytes > FACT_BUILD_ID_MAX)
		return -EBADMSG;
	like.build_id_len = *bytes;
	bytes = reader_bytes(r, like.build_id_len);
	if (!bytes)
		return -EBADMSG;
	memcpy(like.build_id, bytes, like.build_id_len);
	code = fact_set_find_object(s, &like, &o);
	if (code < 0)
		return code;
	o->samples = reader_varint(r);
	return r->bad || s->n_objects == before ? -EBADMSG : 0;
}

int fact_objects_decode(struct fact_set *s, const uint8_t *data, size_t len)
{
	struct byte_reader r;
	uint64_t n = 0;
	int code = read_head(&r, data, len, &n);

	for (; code >= 0 && n; n--)
		code = read_object(s, &r);
	return code;
}
