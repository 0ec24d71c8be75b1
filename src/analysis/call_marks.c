/* SPDX-License-Identifier: MIT */
/* call_marks: see call_marks.h. */
#include "analysis/call_marks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void call_mark_done(struct call_mark *m)
{
	free(m->calls);
	free(m->generations);
	memset(m, 0, sizeof(*m));
}

static void free_mark(void *state)
{
	call_mark_done(state);
	free(state);
}

int call_marks_new(struct marks **ret, uint64_t every)
{
	const struct marks_options o = { every, CALL_MARKS_MAX, CALL_MARKS_CALLS_MAX, free_mark };

	return marks_new(ret, &o);
}

/* Without memory for it there is one less. */
void call_marks_push(struct marks *m, struct call_mark *mark)
{
	struct call_mark *kept = malloc(sizeof(*kept));

	if (kept) {
		*kept = *mark;
		memset(mark, 0, sizeof(*mark));
		marks_push(m, kept->tick, kept, kept->n);
	}
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

int call_marks_dup(struct marks *m, uint64_t tick, struct call_mark *ret)
{
	uint64_t at;
	const struct call_mark *mark = marks_get(m, tick, &at);

	return mark ? copy(mark, ret) : 0;
}
