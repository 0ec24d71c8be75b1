/* SPDX-License-Identifier: MIT */
/* vm_marks: see vm_marks.h. */
#include "analysis/vm_marks.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "analysis/vm_slices.h"
#include "store/array.h"

struct mark {
	uint64_t tick;
	struct vm_slices *state;
};

struct vm_marks {
	pthread_mutex_t lock;
	unsigned int refs;
	uint64_t every;
	struct mark *marks; /* by rising tick */
	size_t n, room;
	size_t bytes;
};

int vm_marks_new(struct vm_marks **ret, uint64_t every)
{
	struct vm_marks *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	pthread_mutex_init(&m->lock, NULL);
	m->refs = 1;
	m->every = every;
	*ret = m;
	return 0;
}

struct vm_marks *vm_marks_ref(struct vm_marks *m)
{
	pthread_mutex_lock(&m->lock);
	m->refs++;
	pthread_mutex_unlock(&m->lock);
	return m;
}

void vm_marks_unref(struct vm_marks *m)
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
		vm_slices_free(m->marks[i].state);
	free(m->marks);
	pthread_mutex_destroy(&m->lock);
	free(m);
}

uint64_t vm_marks_every(const struct vm_marks *m)
{
	return m->every;
}

/* With the lock held. */
static bool is_wanted(const struct vm_marks *m, uint64_t tick)
{
	return m->n < VM_MARKS_MAX && m->bytes < VM_MARKS_BYTES_MAX &&
	       (!m->n || tick > m->marks[m->n - 1].tick);
}

bool vm_marks_wants(struct vm_marks *m, uint64_t tick)
{
	bool wanted;

	pthread_mutex_lock(&m->lock);
	wanted = is_wanted(m, tick);
	pthread_mutex_unlock(&m->lock);
	return wanted;
}

void vm_marks_push(struct vm_marks *m, uint64_t tick, struct vm_slices *state, size_t bytes)
{
	pthread_mutex_lock(&m->lock);
	if (is_wanted(m, tick) &&
	    array_grow(&m->marks, m->n, &m->room, sizeof(*m->marks), VM_MARKS_MAX) == 0) {
		m->bytes += bytes;
		m->marks[m->n++] = (struct mark){ tick, state };
		state = NULL;
	}
	pthread_mutex_unlock(&m->lock);
	vm_slices_free(state);
}

const struct vm_slices *vm_marks_get(struct vm_marks *m, uint64_t tick, uint64_t *ret_tick)
{
	const struct vm_slices *state = NULL;
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

size_t vm_marks_count(struct vm_marks *m)
{
	size_t n;

	pthread_mutex_lock(&m->lock);
	n = m->n;
	pthread_mutex_unlock(&m->lock);
	return n;
}
