/* SPDX-License-Identifier: MIT */
/* http_marks: see http_marks.h. */
#include "collector/http_marks.h"

#include <pthread.h>
#include <stdlib.h>

struct http_marks {
	pthread_mutex_t lock;
	uint64_t asked; /* so often */
	struct {
		uint32_t run; /* 0: free */
		uint64_t asked;
		struct call_marks *marks;
		struct vm_marks *vm_marks;
	} runs[HTTP_MARKS_RUNS];
};

struct http_marks *http_marks_new(void)
{
	struct http_marks *m = calloc(1, sizeof(*m));

	if (m)
		pthread_mutex_init(&m->lock, NULL);
	return m;
}

void http_marks_free(struct http_marks *m)
{
	size_t i;

	if (!m)
		return;
	for (i = 0; i < HTTP_MARKS_RUNS; i++) {
		call_marks_unref(m->runs[i].marks);
		vm_marks_unref(m->runs[i].vm_marks);
	}
	pthread_mutex_destroy(&m->lock);
	free(m);
}

/* Where the run is, or else the place that is to be given up. */
static size_t find_place(const struct http_marks *m, uint32_t run)
{
	size_t i, oldest = 0;

	for (i = 0; i < HTTP_MARKS_RUNS; i++) {
		if (m->runs[i].run == run)
			return i;
		if (m->runs[i].asked < m->runs[oldest].asked)
			oldest = i;
	}
	return oldest;
}

/* With the lock held: the run's place, which is its own from here on. */
static size_t take_place(struct http_marks *m, uint32_t run)
{
	size_t at = find_place(m, run);

	if (m->runs[at].run != run) {
		call_marks_unref(m->runs[at].marks);
		vm_marks_unref(m->runs[at].vm_marks);
		m->runs[at].marks = NULL;
		m->runs[at].vm_marks = NULL;
		m->runs[at].run = run;
	}
	m->runs[at].asked = ++m->asked;
	return at;
}

struct call_marks *http_marks_get(struct http_marks *m, uint32_t run)
{
	struct call_marks **marks, *ret = NULL;

	pthread_mutex_lock(&m->lock);
	marks = &m->runs[take_place(m, run)].marks;
	if (*marks || call_marks_new(marks, CALL_MARK_EVERY) == 0)
		ret = call_marks_ref(*marks);
	pthread_mutex_unlock(&m->lock);
	return ret;
}

struct vm_marks *http_marks_get_vm(struct http_marks *m, uint32_t run)
{
	struct vm_marks **marks, *ret = NULL;

	pthread_mutex_lock(&m->lock);
	marks = &m->runs[take_place(m, run)].vm_marks;
	if (*marks || vm_marks_new(marks, VM_MARK_EVERY) == 0)
		ret = vm_marks_ref(*marks);
	pthread_mutex_unlock(&m->lock);
	return ret;
}
