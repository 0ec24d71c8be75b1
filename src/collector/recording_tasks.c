/* SPDX-License-Identifier: MIT */
/* recording_tasks: see recording_tasks.h. */
#include "collector/recording_tasks.h"

#include <errno.h>
#include <stdlib.h>

#include "trace/info_meta.h"
#include "trace/pidmap.h"
#include "wire/message.h"
#include "wire/meta.h"
#include "wire/sched_decode.h"

struct stream {
	uint64_t first_tick; /* of the segment */
	struct sched_decoder decoder;
};

struct recording_tasks {
	struct trace_info all; /* as described; only its tasks are used */
	struct trace_info used;
	struct pidmap *seen; /* a record is its pid */
	bool keeps_all;	     /* not every event could be looked at */
	bool is_over;	     /* `used` is made */
	size_t next;	     /* of them, to be encoded */
	struct stream *streams[MESSAGE_STREAMS_MAX];
};

int recording_tasks_new(struct recording_tasks **ret)
{
	CLEANUP(recording_tasks) struct recording_tasks *t = calloc(1, sizeof(*t));

	if (!t || info_init(&t->all) < 0 || info_init(&t->used) < 0)
		return -ENOMEM;
	t->seen = pidmap_new(sizeof(int32_t));
	if (!t->seen)
		return -ENOMEM;
	*ret = take_ptr(t);
	return 0;
}

void recording_tasks_free(struct recording_tasks *t)
{
	uint32_t i;

	if (!t)
		return;
	for (i = 0; i < MESSAGE_STREAMS_MAX; i++)
		free(t->streams[i]);
	pidmap_free(t->seen);
	info_done(&t->all);
	info_done(&t->used);
	free(t);
}

/* --- which occur --- */

static void see_event(struct recording_tasks *t, const struct sched_event *ev)
{
	bool room = pidmap_add(t->seen, ev->pid) && pidmap_add(t->seen, ev->task.pid);

	if (ev->kind == SCHED_SWITCH || ev->kind == SCHED_FORK)
		room = room && pidmap_add(t->seen, ev->other.pid);
	if (ev->kind == SCHED_EXEC)
		room = room && pidmap_add(t->seen, ev->value); /* the thread that called it */
	if (!room)
		t->keeps_all = true;
}

/* -ENOMEM, or 0. */
static int see_events(struct recording_tasks *t, const struct block *b)
{
	struct stream *s = t->streams[b->stream];
	struct sched_event ev;
	uint32_t i;

	if (!s && b->events)
		s = t->streams[b->stream] = calloc(1, sizeof(*s));
	if (!s)
		return b->events ? -ENOMEM : 0;
	if (b->flags & BLOCK_KEY) {
		s->first_tick = b->first_tick;
		sched_decoder_init(&s->decoder, b->stream - 1);
	}
	sched_decoder_begin(&s->decoder, b->payload, b->payload_len, s->first_tick);
	for (i = 0; i < b->events && !t->keeps_all; i++) {
		if (sched_decode(&s->decoder, &ev) == WIRE_OK)
			see_event(t, &ev);
		else
			t->keeps_all = true;
	}
	return 0;
}

/* --- what describes them --- */

static bool is_tasks_only(const struct block *b)
{
	struct meta_reader r;

	meta_reader_init(&r, b->payload, b->payload_len);
	while (meta_reader_next(&r) == WIRE_OK)
		if (r.type != META_TASKS)
			return false;
	return b->payload_len && !r.bytes.bad;
}

int recording_tasks_push(struct recording_tasks *t, const struct block *b)
{
	int r;

	if (b->codec == CODEC_META && is_tasks_only(b)) {
		r = info_decode(&t->all, NULL, b->payload, b->payload_len);
		return r == -ENOMEM ? r : r == 0;
	}
	if (b->codec == CODEC_META || stream_is_func(b->stream) || t->keeps_all)
		return 0;
	if (b->codec == CODEC_SCHED && b->stream != STREAM_META)
		return see_events(t, b);
	t->keeps_all = true;
	return 0;
}

/* A thread's process has a pid of its own. */
static int see_processes(struct recording_tasks *t)
{
	const struct trace_task *task;
	size_t i, n = pidmap_count(t->seen);

	for (i = 0; i < n; i++) {
		task = info_get_task(&t->all, *(const int32_t *)pidmap_at(t->seen, i));
		if (task && task->tgid >= 0 && !pidmap_add(t->seen, task->tgid))
			return -ENOMEM;
	}
	return 0;
}

static int select_used(struct recording_tasks *t)
{
	const struct trace_task *task = t->all.tasks;
	size_t i;
	int r = see_processes(t);

	for (i = 0; r == 0 && i < t->all.n_tasks; i++, task++)
		if (t->keeps_all || pidmap_get(t->seen, task->pid))
			r = info_add_task(&t->used, task->pid, task->tgid, task->comm);
	t->is_over = r == 0;
	return r;
}

ssize_t recording_tasks_encode(struct recording_tasks *t, uint8_t *out, size_t room)
{
	int r = t->is_over ? 0 : select_used(t);

	return r < 0 ? r : (ssize_t)info_encode_tasks(&t->used, &t->next, out, room);
}
