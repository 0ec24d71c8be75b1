/* SPDX-License-Identifier: MIT */
/* call_marks: see call_marks.h. */
#include "analysis/call_marks.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "store/array.h"

struct call_marks {
	pthread_mutex_t lock;
	unsigned int refs;
	uint64_t every;
	struct call_mark *marks; /* by rising tick */
	size_t n, room;
	size_t calls; /* of all */
};

void call_mark_done(struct call_mark *m)
{
	free(m->calls);
	free(m->generations);
	memset(m, 0, sizeof(*m));
}

int call_marks_new(struct call_marks **ret, uint64_t every)
{
	struct call_marks *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	pthread_mutex_init(&m->lock, NULL);
	m->refs = 1;
	m->every = every;
	*ret = m;
	return 0;
}

struct call_marks *call_marks_ref(struct call_marks *m)
{
	pthread_mutex_lock(&m->lock);
	m->refs++;
	pthread_mutex_unlock(&m->lock);
	return m;
}

void call_marks_unref(struct call_marks *m)
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
		call_mark_done(&m->marks[i]);
	free(m->marks);
	pthread_mutex_destroy(&m->lock);
	free(m);
}

uint64_t call_marks_every(const struct call_marks *m)
{
	return m->every;
}

/* With the lock held. */
static bool is_wanted(const struct call_marks *m, uint64_t tick)
{
	return m->n < CALL_MARKS_MAX && m->calls < CALL_MARKS_CALLS_MAX &&
	       (!m->n || tick > m->marks[m->n - 1].tick);
}

bool call_marks_wants(struct call_marks *m, uint64_t tick)
{
	bool wanted;

	pthread_mutex_lock(&m->lock);
	wanted = is_wanted(m, tick);
	pthread_mutex_unlock(&m->lock);
	return wanted;
}

void call_marks_push(struct call_marks *m, struct call_mark *mark)
{
	pthread_mutex_lock(&m->lock);
	if (is_wanted(m, mark->tick) && m->calls + mark->n <= CALL_MARKS_CALLS_MAX &&
	    array_grow(&m->marks, m->n, &m->room, sizeof(*m->marks), CALL_MARKS_MAX) == 0) {
		m->calls += mark->n;
		m->marks[m->n++] = *mark;
		memset(mark, 0, sizeof(*mark));
	}
	pthread_mutex_unlock(&m->lock);
	call_mark_done(mark);
}

static int copy(const struct call_mark *from, struct call_mark *ret)
{
	struct call_mark m = {
		.tick = from->tick, .n = from->n, .room = from->n, .n_processes = from->n_processes
	};

	m.calls = malloc((m.n + 1) * sizeof(*m.calls));
	m.generations = malloc((m.n_processes + 1) * sizeof(*m.generations));
	if (!m.calls || !m.generations) {
		call_mark_done(&m);
		return -ENOMEM;
	}
	if (m.n)
		memcpy(m.calls, from->calls, m.n * sizeof(*m.calls));
	if (m.n_processes)
		memcpy(m.generations, from->generations, m.n_processes * sizeof(*m.generations));
	*ret = m;
	return 1;
}

int call_marks_dup(struct call_marks *m, uint64_t tick, struct call_mark *ret)
{
	size_t low = 0, high, middle;
	int r;

	pthread_mutex_lock(&m->lock);
	for (high = m->n; low < high;) {
		middle = low + (high - low) / 2;
		if (m->marks[middle].tick <= tick)
			low = middle + 1;
		else
			high = middle;
	}
	r = low ? copy(&m->marks[low - 1], ret) : 0;
	pthread_mutex_unlock(&m->lock);
	return r;
}

size_t call_marks_count(struct call_marks *m)
{
	size_t n;

	pthread_mutex_lock(&m->lock);
	n = m->n;
	pthread_mutex_unlock(&m->lock);
	return n;
}
