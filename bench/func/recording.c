/* SPDX-License-Identifier: MIT */
/* recording: see recording.h. The record is described in raw_hook.c. */
#include "recording.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "wire/varint.h"

#define LEFT (UINT64_C(1) << 63)
#define STEP (1U << 20) /* events by which a thread grows */

/* Zeros are behind the last record; every function has an address. */
static bool parse_record(const uint8_t *p, struct func_event *ret)
{
	uint64_t what = get_le64(p);

	ret->value = what & ~LEFT;
	ret->kind = what & LEFT ? FUNC_EXIT : FUNC_ENTER;
	ret->os = 0;
	ret->tick = get_le64(p + 8);
	return what != 0;
}

int recording_push(struct thread *t, const struct func_event *ev)
{
	if (t->count % STEP == 0) {
		void *p = realloc(t->events, (t->count + STEP) * sizeof(*t->events));

		if (!p)
			return -ENOMEM;
		t->events = p;
	}
	t->events[t->count++] = *ev;
	return 0;
}

static int read_thread(struct thread *t, const char *path, size_t limit)
{
	uint8_t record[RECORDING_RECORD];
	struct func_event ev;
	FILE *f = fopen(path, "rb");
	int r = 0;

	if (!f)
		return -errno;
	while (!r && t->count < limit && fread(record, sizeof(record), 1, f) == 1 &&
	       parse_record(record, &ev))
		r = recording_push(t, &ev);
	if (ferror(f))
		r = -EIO;
	fclose(f);
	return r;
}

int recording_open(struct recording *r, char *const *paths, size_t n, size_t limit)
{
	int status = 0;

	r->events = 0;
	r->count = 0;
	r->threads = n <= RECORDING_THREADS_MAX ? calloc(n, sizeof(*r->threads)) : NULL;
	if (!r->threads)
		return -ENOMEM;
	for (; r->count < n && !status; r->count++) {
		status = read_thread(&r->threads[r->count], paths[r->count], limit);
		r->events += r->threads[r->count].count;
	}
	if (status)
		recording_close(r);
	return status;
}

void recording_close(struct recording *r)
{
	size_t i;

	for (i = 0; i < r->count; i++)
		free(r->threads[i].events);
	free(r->threads);
	r->threads = NULL;
	r->count = 0;
}

void recording_format(const struct thread *t, uint8_t *out)
{
	size_t i;

	for (i = 0; i < t->count; i++, out += RECORDING_RECORD) {
		const struct func_event *ev = &t->events[i];

		put_le64(out, ev->value | (ev->kind == FUNC_EXIT ? LEFT : 0));
		put_le64(out + 8, ev->tick);
	}
}
