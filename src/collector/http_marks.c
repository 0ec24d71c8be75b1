/* SPDX-License-Identifier: MIT */
/* http_marks: see http_marks.h. */
#include "collector/http_marks.h"

#include <pthread.h>
#include <stdlib.h>

#include "analysis/call_marks.h"
#include "analysis/vm_report.h"
#include "analysis/vm_slices.h"

struct http_marks {
	pthread_mutex_t lock;
	uint64_t asked; /* so often */
	struct {
		uint32_t run; /* 0: free */
		uint64_t asked;
		struct marks *marks[HTTP_MARKS_KINDS];
	} runs[HTTP_MARKS_RUNS];
};

struct http_marks *http_marks_new(void)
{
	struct http_marks *m = calloc(1, sizeof(*m));

	if (m)
		pthread_mutex_init(&m->lock, NULL);
	return m;
}

static void drop(struct http_marks *m, size_t at)
{
	size_t i;

	for (i = 0; i < HTTP_MARKS_KINDS; i++)
		marks_unref(take_ptr(m->runs[at].marks[i]));
}

void http_marks_free(struct http_marks *m)
{
	size_t i;

	if (!m)
		return;
	for (i = 0; i < HTTP_MARKS_RUNS; i++)
		drop(m, i);
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

static int make(struct marks **ret, enum http_marks_kind kind)
{
	if (kind == HTTP_MARKS_CALLS)
		return call_marks_new(ret, CALL_MARK_EVERY);
	return kind == HTTP_MARKS_VM ? vm_slices_marks_new(ret, VM_MARK_EVERY)
				     : vm_report_marks_new(ret, VM_MARK_EVERY);
}

struct marks *http_marks_get(struct http_marks *m, uint32_t run, enum http_marks_kind kind)
{
	struct marks **marks, *ret = NULL;
	size_t at;

	pthread_mutex_lock(&m->lock);
	at = find_place(m, run);
	if (m->runs[at].run != run)
		drop(m, at);
	m->runs[at].run = run;
	m->runs[at].asked = ++m->asked;
	marks = &m->runs[at].marks[kind];
	if (*marks || make(marks, kind) == 0)
		ret = marks_ref(*marks);
	pthread_mutex_unlock(&m->lock);
	return ret;
}
