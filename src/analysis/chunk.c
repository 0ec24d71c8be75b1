/* SPDX-License-Identifier: MIT */
/* chunk: see chunk.h. */
#include "analysis/chunk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Of a row's first byte: the low bits are the type of the holder before. */
#define ROW_HOLDER 0x03
#define ROW_UNKNOWN 0x04 /* unknown time follows */
#define ROW_LOST 0x08	 /* losses follow */
#define ROW_REST 0x10	 /* time of tasks that are not in the list follows */
#define ROW_FLAGS 0x1f

#define NAME_ROOM (VARINT_MAX + VARINT_MAX + 1 + SCHED_COMM_LEN)
#define ROW_ROOM(tasks)                                                                            \
	(1 + 12 * VARINT_MAX + NAME_ROOM + (size_t)(tasks) * (NAME_ROOM + VARINT_MAX))

void chunk_writer_reset(struct chunk_writer *w)
{
	w->len = 0;
	w->known.n = 0;
	w->known.next_index = 0;
}

void chunk_writer_done(struct chunk_writer *w)
{
	free(w->data);
	memset(w, 0, sizeof(*w));
}

static int reserve(struct chunk_writer *w, size_t more)
{
	size_t room = w->room ? w->room : 4096;
	uint8_t *data;

	while (room - w->len < more)
		room *= 2;
	if (room == w->room)
		return 0;
	data = realloc(w->data, room);
	if (!data)
		return -ENOMEM;
	w->data = data;
	w->room = room;
	return 0;
}

static void learn(struct chunk_names *k, int32_t pid, const char *comm)
{
	if (k->n == CHUNK_NAMES_MAX)
		return;
	k->names[k->n].pid = pid;
	memcpy(k->names[k->n++].comm, comm, SCHED_COMM_LEN);
}

/* 0 and the task, or its number from 1 on. Most often it is where it was in the bucket before. */
static uint8_t *put_name(struct chunk_names *k, uint8_t *p, int32_t pid, const char *comm)
{
	uint32_t i;
	size_t len;

	for (i = 0; i < k->n; i++)
		if (k->names[i].pid == pid && !memcmp(k->names[i].comm, comm, SCHED_COMM_LEN))
			return varint_put(p, i + 1);
	len = strnlen(comm, SCHED_COMM_LEN);
	p = varint_put(p, 0);
	p = varint_put_signed(p, pid);
	*p++ = (uint8_t)len;
	memcpy(p, comm, len);
	learn(k, pid, comm);
	return p + len;
}

int chunk_writer_push(struct chunk_writer *w, const struct bucket *b)
{
	const struct bucket_counts *c = &b->counts;
	bool lost = c->lost || c->uncounted;
	uint8_t *p;
	uint32_t i;
	int r = reserve(w, ROW_ROOM(b->n_tasks));

	if (r < 0)
		return r;
	p = w->data + w->len;
	if (!w->len)
		*p++ = CHUNK_VERSION;
	*p++ = (uint8_t)(b->before.type | (c->unknown_ns ? ROW_UNKNOWN : 0) |
			 (lost ? ROW_LOST : 0) | (b->rest_ns ? ROW_REST : 0));
	p = varint_put(p, b->index - w->known.next_index);
	if (b->before.type == HOLDER_TASK)
		p = put_name(&w->known, p, b->before.pid, b->before.comm);
	p = varint_put(p, c->idle_ns);
	if (c->unknown_ns)
		p = varint_put(p, c->unknown_ns);
	p = varint_put(p, c->switches);
	p = varint_put(p, c->wakeups);
	p = varint_put(p, c->others);
	if (lost) {
		p = varint_put(p, c->lost);
		p = varint_put(p, c->uncounted);
	}
	if (b->rest_ns)
		p = varint_put(p, b->rest_ns);
	p = varint_put(p, b->n_tasks);
	for (i = 0; i < b->n_tasks; i++) {
		p = put_name(&w->known, p, b->tasks[i].pid, b->tasks[i].comm);
		p = varint_put(p, b->tasks[i].ns);
	}
	w->len = (size_t)(p - w->data);
	w->known.next_index = b->index + 1;
	return 0;
}

void chunk_reader_init(struct chunk_reader *r, const uint8_t *data, size_t len)
{
	static const uint8_t nothing;

	reader_init(&r->bytes, len ? data : &nothing, len);
	r->known.n = 0;
	r->known.next_index = 0;
	if (len && (len > CHUNK_BYTES_MAX || *r->bytes.at++ != CHUNK_VERSION))
		r->bytes.bad = true;
}

static void read_name(struct chunk_reader *r, struct chunk_name *ret)
{
	uint64_t number = reader_varint(&r->bytes), len;
	const uint8_t *text;
	int64_t pid;

	memset(ret, 0, sizeof(*ret));
	if (number > r->known.n) {
		r->bytes.bad = true;
		return;
	}
	if (number) {
		*ret = r->known.names[number - 1];
		return;
	}
	pid = reader_signed(&r->bytes);
	len = reader_varint(&r->bytes);
	text = len <= SCHED_COMM_LEN ? reader_bytes(&r->bytes, len) : NULL;
	if (!text || pid < INT32_MIN || pid > INT32_MAX || memchr(text, 0, (size_t)len)) {
		r->bytes.bad = true;
		return;
	}
	ret->pid = (int32_t)pid;
	memcpy(ret->comm, text, (size_t)len);
	learn(&r->known, ret->pid, ret->comm);
}

static void read_before(struct chunk_reader *r, uint8_t type, struct holder *ret)
{
	struct chunk_name name;

	memset(ret, 0, sizeof(*ret));
	ret->type = type;
	if (type != HOLDER_TASK)
		return;
	read_name(r, &name);
	ret->pid = name.pid;
	memcpy(ret->comm, name.comm, SCHED_COMM_LEN);
}

static void read_tasks(struct chunk_reader *r, struct bucket *ret)
{
	uint64_t n = reader_varint(&r->bytes);
	struct chunk_name name;
	struct bucket_task *t;

	if (n > BUCKET_TASKS_MAX)
		r->bytes.bad = true;
	for (; n && !r->bytes.bad; n--) {
		read_name(r, &name);
		t = &ret->tasks[ret->n_tasks++];
		t->pid = name.pid;
		memcpy(t->comm, name.comm, SCHED_COMM_LEN);
		t->ns = reader_varint(&r->bytes);
		ret->counts.busy_ns += t->ns;
	}
}

enum wire_status chunk_reader_next(struct chunk_reader *r, struct bucket *ret)
{
	struct bucket_counts *c = &ret->counts;
	uint64_t skip;
	uint8_t flags;

	if (r->bytes.bad)
		return WIRE_CORRUPT;
	if (!reader_left(&r->bytes))
		return WIRE_MORE;
	flags = *r->bytes.at++;
	skip = reader_varint(&r->bytes);
	if (flags & ~ROW_FLAGS || skip >= UINT64_MAX - r->known.next_index)
		r->bytes.bad = true;
	memset(ret, 0, offsetof(struct bucket, slots)); /* thousands are read to be shown */
	ret->index = r->known.next_index + skip;
	read_before(r, flags & ROW_HOLDER, &ret->before);
	c->idle_ns = reader_varint(&r->bytes);
	c->unknown_ns = flags & ROW_UNKNOWN ? reader_varint(&r->bytes) : 0;
	c->switches = reader_varint(&r->bytes);
	c->wakeups = reader_varint(&r->bytes);
	c->others = reader_varint(&r->bytes);
	c->lost = flags & ROW_LOST ? reader_varint(&r->bytes) : 0;
	c->uncounted = flags & ROW_LOST ? reader_varint(&r->bytes) : 0;
	ret->rest_ns = flags & ROW_REST ? reader_varint(&r->bytes) : 0;
	c->busy_ns = ret->rest_ns;
	read_tasks(r, ret);
	r->known.next_index = ret->index + 1;
	return r->bytes.bad ? WIRE_CORRUPT : WIRE_OK;
}

int chunk_writer_resume(struct chunk_writer *w, const struct chunk_reader *at_end,
			const uint8_t *data, size_t len)
{
	int r;

	chunk_writer_reset(w);
	r = reserve(w, len);
	if (r < 0)
		return r;
	if (len)
		memcpy(w->data, data, len);
	w->len = len;
	w->known.n = at_end->known.n;
	w->known.next_index = at_end->known.next_index;
	memcpy(w->known.names, at_end->known.names, w->known.n * sizeof(*w->known.names));
	return 0;
}
