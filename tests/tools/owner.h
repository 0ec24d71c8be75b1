/* SPDX-License-Identifier: MIT */
/*
 * owner: who a session of the collector belongs to in tests and fuzzing: a store in memory with the
 * rules of the real one, and a record of what was sent and said.
 */
#ifndef KISEKI_TESTS_OWNER_H
#define KISEKI_TESTS_OWNER_H

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "collector/session.h"

#define OWNER_STREAMS 8U
#define OWNER_RUNS 8U
#define OWNER_SENT (1U << 18)

struct owner_run {
	struct message_id id;
	uint64_t next[OWNER_STREAMS], events[OWNER_STREAMS];
	bool used[OWNER_STREAMS], ended;
};

struct owner {
	uint8_t sent[OWNER_SENT];
	size_t sent_len;
	char log[4096];
	struct owner_run runs[OWNER_RUNS];
	uint32_t n_runs;
	uint64_t puts, durable, commits;
	uint64_t batch_max; /* puts that wait at most, then -EAGAIN; 0: any */
	bool refuse;	    /* the device */
	uint32_t busy;	    /* so often it has no time for a device or a run */
	uint32_t arrived;
	struct session_clock clock;
	uint32_t clock_run;
	uint64_t status_events, result_id;
};

static inline void owner_send(void *o, const uint8_t *bytes, size_t len)
{
	struct owner *owner = o;

	if (len > OWNER_SENT - owner->sent_len)
		len = OWNER_SENT - owner->sent_len;
	memcpy(owner->sent + owner->sent_len, bytes, len);
	owner->sent_len += len;
}

static inline int owner_arrive(void *o, const struct message_hello *m, struct error *e)
{
	struct owner *owner = o;

	(void)m;
	if (owner->busy && owner->busy--)
		return -EAGAIN;
	if (owner->refuse)
		return error_set(e, EDQUOT, "too many devices");
	owner->arrived++;
	return 0;
}

static inline int owner_run(void *o, const struct message_id *run, uint32_t *ret, struct error *e)
{
	struct owner *owner = o;
	uint32_t i;

	if (owner->busy && owner->busy--)
		return -EAGAIN;
	for (i = 0; i < owner->n_runs; i++)
		if (!memcmp(&owner->runs[i].id, run, sizeof(*run)))
			break;
	if (i == OWNER_RUNS)
		return error_set(e, ENOSPC, "too many runs");
	if (i == owner->n_runs) {
		owner->n_runs++;
		owner->runs[i].id = *run;
	}
	*ret = i + 1;
	return 0;
}

static inline int owner_find(void *o, const struct message_id *run, uint32_t *ret, struct error *e)
{
	struct owner *owner = o;
	uint32_t i;

	(void)e;
	if (owner->busy && owner->busy--)
		return -EAGAIN;
	*ret = 0;
	for (i = 0; i < owner->n_runs; i++)
		if (!memcmp(&owner->runs[i].id, run, sizeof(*run)))
			*ret = i + 1;
	return 0;
}

/* Where it keeps a stream: the first few of CPUs, and of threads. */
static inline uint32_t owner_slot(uint32_t stream)
{
	uint32_t half = OWNER_STREAMS / 2;

	if (!stream_is_func(stream))
		return stream < half ? stream : OWNER_STREAMS;
	return stream - STREAM_FUNC_FIRST < half ? half + stream - STREAM_FUNC_FIRST
						 : OWNER_STREAMS;
}

static inline uint32_t owner_stream(uint32_t slot)
{
	uint32_t half = OWNER_STREAMS / 2;

	return slot < half ? slot : STREAM_FUNC_FIRST + slot - half;
}

static inline size_t owner_next(void *o, uint32_t run, struct message_resume *rows, size_t n)
{
	struct owner_run *r = &((struct owner *)o)->runs[run - 1];
	size_t found = 0;
	uint32_t i;

	for (i = 0; i < OWNER_STREAMS; i++) {
		if (!r->used[i])
			continue;
		if (found < n)
			rows[found] = (struct message_resume){ 0, owner_stream(i), r->next[i] };
		found++;
	}
	return found;
}

static inline int owner_put(void *o, uint32_t run, const struct block *b, const uint8_t *bytes,
			    struct error *e)
{
	struct owner *owner = o;
	struct owner_run *r = &owner->runs[run - 1];
	uint32_t slot = owner_slot(b->stream);

	(void)bytes;
	if (slot >= OWNER_STREAMS || r->ended)
		return error_set(e, EPROTO, "no such stream, or the run has ended");
	if (b->sequence < r->next[slot])
		return 1;
	if (owner->batch_max && owner->puts - owner->durable >= owner->batch_max)
		return -EAGAIN;
	if (b->flags & BLOCK_KEY && b->before < r->events[slot])
		return error_set(e, EPROTO, "KEY block says %llu events before it, there are more",
				 (unsigned long long)b->before);
	if (b->flags & BLOCK_KEY)
		r->events[slot] = b->before;
	r->events[slot] += b->events;
	r->next[slot] = b->sequence + 1;
	r->used[slot] = true;
	owner->puts++;
	return 0;
}

static inline int owner_end(void *o, uint32_t run, const struct message_end *m, struct error *e)
{
	struct owner *owner = o;
	struct message_end rows = *m;
	struct message_stream_end row;

	while (end_next(&rows, &row))
		if (owner_slot(row.stream) < OWNER_STREAMS &&
		    row.events < owner->runs[run - 1].events[owner_slot(row.stream)])
			return error_set(e, EPROTO, "END below what is stored");
	owner->runs[run - 1].ended = true;
	owner->puts++;
	return 0;
}

static inline uint64_t owner_puts(void *o)
{
	return ((struct owner *)o)->puts;
}

static inline uint64_t owner_commits(void *o)
{
	return ((struct owner *)o)->commits;
}

static inline void owner_clock(void *o, uint32_t run, const struct session_clock *c)
{
	((struct owner *)o)->clock = *c;
	((struct owner *)o)->clock_run = run;
}

static inline void owner_status(void *o, const struct message_status *m)
{
	((struct owner *)o)->status_events = m->events;
}

static inline void owner_result(void *o, const struct message_result *m)
{
	((struct owner *)o)->result_id = m->id;
}

static inline void owner_log(void *o, const char *text)
{
	struct owner *owner = o;
	size_t len = strlen(owner->log);

	snprintf(owner->log + len, sizeof(owner->log) - len, "%s\n", text);
}

static const struct session_ops owner_ops = {
	.send = owner_send,
	.arrive = owner_arrive,
	.find = owner_find,
	.run = owner_run,
	.next_sequences = owner_next,
	.put = owner_put,
	.end = owner_end,
	.puts = owner_puts,
	.commits = owner_commits,
	.clock = owner_clock,
	.status = owner_status,
	.result = owner_result,
	.log = owner_log,
};

/* What a server does around a commit. */
static inline void owner_commit(struct owner *o, struct session *s, const struct session_now *now)
{
	o->commits++;
	o->durable = o->puts;
	session_durable(s, o->durable);
	if (s->stalled)
		session_resume(s, now);
}

#endif
