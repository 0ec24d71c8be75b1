/* SPDX-License-Identifier: MIT */
/* marks: see marks.h. */
#include "analysis/marks.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "store/array.h"

struct mark {
	uint64_t tick;
	void *state;
};

struct marks {
	pthread_mutex_t lock;
	unsigned int refs;
	struct marks_options o;
	struct mark *marks; /* by rising tick */
	size_t n, room;
	size_t weight; /* of all */
};

int marks_new(struct marks **ret, const struct marks_options *o)
{
	struct marks *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	pthread_mutex_init(&m->lock, NULL);
	m->refs = 1;
	m->o = *o;
	*ret = m;
	return 0;
}

struct marks *marks_ref(struct marks *m)
{
	pthread_mutex_lock(&m->lock);
	m->refs++;
	pthread_mutex_unlock(&m->lock);
	return m;
}

void marks_unref(struct marks *m)
{
	unsigned int left;
	size_t i;

	if (!m)
		return;
	pthread_mutex_lock(&m->lock);
	left = --m->refs;
	pthread_mutex_unlock(&m->lock);
	if (left)
		return;
	for (i = 0; i < m->n; i++)
		m->o.free(m->marks[i].state);
	free(m->marks);
	pthread_mutex_destroy(&m->lock);
	free(m);
}

uint64_t marks_every(const struct marks *m)
{
	return m->o.every;
}

/* With the lock held. */
static bool is_wanted(const struct marks *m, uint64_t tick)
{
	return m->n < m->o.most && m->weight < m->o.most_weight &&
	       (!m->n || tick > m->marks[m->n - 1].tick);
}

bool marks_wants(struct marks *m, uint64_t tick)
{
	bool wanted;

	pthread_mutex_lock(&m->lock);
	wanted = is_wanted(m, tick);
	pthread_mutex_unlock(&m->lock);
	return wanted;
}

void marks_push(struct marks *m, uint64_t tick, void *state, size_t weight)
{
	pthread_mutex_lock(&m->lock);
	if (is_wanted(m, tick) && weight <= m->o.most_weight - m->weight &&
	    array_grow(&m->marks, m->n, &m->room, sizeof(*m->marks), m->o.most) == 0) {
		m->weight += weight;
		m->marks[m->n++] = (struct mark){ tick, state };
		state = NULL;
	}
	pthread_mutex_unlock(&m->lock);
	if (state)
		m->o.free(state);
}

const void *marks_get(struct marks *m, uint64_t tick, uint64_t *ret_tick)
{
	const void *state = NULL;
	size_t low = 0, high, middle;

	pthread_mutex_lock(&m->lock);
	for (high = m->n; low < high;) {
		middle = low + (high - low) / 2;
		if (m->marks[middle].tick <= tick)
			low = middle + 1;
		else
			high = middle;
	}
	if (low) {
		state = m->marks[low - 1].state;
		*ret_tick = m->marks[low - 1].tick;
	}
	pthread_mutex_unlock(&m->lock);
	return state;
}

bool marks_pace_put(struct marks_pace *p, const struct marks *m, uint64_t tick)
{
	uint64_t before = p->last_tick;

	p->items++;
	p->last_tick = tick > before ? tick : before;
	if (!m || p->items < m->o.every || tick <= before)
		return false;
	p->items = 0;
	return true;
}

size_t marks_count(struct marks *m)
{
	size_t n;

	pthread_mutex_lock(&m->lock);
	n = m->n;
	pthread_mutex_unlock(&m->lock);
	return n;
}
