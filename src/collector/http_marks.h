/* SPDX-License-Identifier: MIT */
/*
 * http_marks: the marks (analysis/marks.h) of the runs whose calls or virtual machines were looked at last.
 *
 * Who moves through a timeline asks for one part after the other; only the first has to read the run from
 * its start. A few runs are kept, the one that was not asked of for longest goes.
 */
#ifndef KISEKI_COLLECTOR_HTTP_MARKS_H
#define KISEKI_COLLECTOR_HTTP_MARKS_H

#include "analysis/marks.h"

#define HTTP_MARKS_RUNS 8U

enum http_marks_kind {
	HTTP_MARKS_CALLS = 0, /* call_marks.h */
	HTTP_MARKS_VM = 1,    /* vm_slices.h */
	HTTP_MARKS_VM_REPORT = 2,
	HTTP_MARKS_KINDS = 3,
};

struct http_marks;

struct http_marks *http_marks_new(void); /* NULL: out of memory */
void http_marks_free(struct http_marks *m);

/* Of a run that has ended; the caller's to unref. NULL: out of memory. */
struct marks *http_marks_get(struct http_marks *m, uint32_t run, enum http_marks_kind kind);

#endif
