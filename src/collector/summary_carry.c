/* SPDX-License-Identifier: MIT */
/* summary_carry: see summary_carry.h. */
#include "collector/summary_carry.h"

#include <errno.h>
#include <string.h>

#define CARRY_VERSION 1
#define HEAD_ROOM (1 + (7 + LOSS_CAUSES + 1) * VARINT_MAX + 5 * VARINT_MAX + 2 * VARINT_MAX + 32)
#define MARK_GAP (1U << LOSS_CAUSES)
#define STATE_BEGUN 1U
#define STATE_LOST_FIRST 2U
#define STATE_NOW 2 /* shifts of the types of holders */
#define STATE_FIRST 4
#define STATE_FLAGS 0x3fU

static int push_bucket(void *context, struct bucket *b)
{
	return ladder_push(context, b);
}

int summary_carry_new(struct summary_carry **ret, ladder_fn put, void *context)
{
	CLEANUP(summary_carry) struct summary_carry *c = calloc(1, sizeof(*c));

	if (!c || ladder_new(&c->ladder, put, context) < 0)
		return -ENOMEM;
	*ret = take_ptr(c);
	return 0;
}

void summary_carry_free(struct summary_carry *c)
{
	if (!c)
		return;
	ladder_free(c->ladder);
	chunk_writer_done(&c->open);
	free(c);
}

void summary_carry_reset(struct summary_carry *c, const struct trace_info *info)
{
	c->start = c->known_ns = 0;
	memset(&c->mark, 0, sizeof(c->mark));
	ladder_reset(c->ladder);
	slices_init(&c->slices, info, LADDER_BASE_NS);
	c->slices.put = push_bucket;
	c->slices.context = c->ladder;
}

static uint8_t *put_mark(uint8_t *p, const struct stream_mark *m)
{
	uint64_t flags = m->gap ? MARK_GAP : 0;
	uint32_t i;

	p = varint_put(p, m->place);
	p = varint_put(p, m->next_sequence);
	p = varint_put(p, m->seen);
	p = varint_put(p, m->pending);
	p = varint_put(p, m->last_tick);
	for (i = 0; i < LOSS_CAUSES; i++) {
		p = varint_put(p, m->lost[i]);
		flags |= m->lost_some[i] ? 1ULL << i : 0;
	}
	return varint_put(p, flags);
}

static uint8_t *put_state(uint8_t *p, const struct slices_state *s)
{
	size_t len = strnlen(s->now.comm, SCHED_COMM_LEN);

	p = varint_put(p, (s->begun ? STATE_BEGUN : 0U) | (s->lost_first ? STATE_LOST_FIRST : 0U) |
				  (uint32_t)s->now.type << STATE_NOW |
				  (uint32_t)s->first.type << STATE_FIRST);
	p = varint_put(p, s->first_ns);
	p = varint_put(p, s->seen_ns);
	p = varint_put(p, s->lost);
	p = varint_put(p, s->uncounted);
	if (s->now.type != HOLDER_TASK)
		return p;
	p = varint_put_signed(p, s->now.pid);
	*p++ = (uint8_t)len;
	memcpy(p, s->now.comm, len);
	return p + len;
}

static uint8_t *put_bytes(uint8_t *p, const uint8_t *data, size_t len)
{
	p = varint_put(p, len);
	if (len)
		memcpy(p, data, len);
	return p + len;
}

int summary_carry_encode(struct summary_carry *c, uint8_t **ret, size_t *ret_len)
{
	size_t room = HEAD_ROOM + VARINT_MAX, len;
	const uint8_t *chunk;
	uint8_t *data, *p;
	uint32_t level;

	chunk_writer_reset(&c->open);
	if (c->slices.state.begun && chunk_writer_push(&c->open, &c->slices.open) < 0)
		return -ENOMEM;
	room += c->open.len;
	for (level = 0; level < LADDER_LEVELS; level++) {
		ladder_get_open(c->ladder, level, &len);
		room += len + VARINT_MAX;
	}
	data = malloc(room);
	if (!data)
		return -ENOMEM;
	data[0] = CARRY_VERSION;
	p = data + 1;
	p = varint_put(p, c->start);
	p = varint_put(p, c->known_ns);
	p = put_mark(p, &c->mark);
	p = put_state(p, &c->slices.state);
	p = put_bytes(p, c->open.data, c->open.len);
	for (level = 0; level < LADDER_LEVELS; level++) {
		chunk = ladder_get_open(c->ladder, level, &len);
		p = put_bytes(p, chunk, len);
	}
	*ret = data;
	*ret_len = (size_t)(p - data);
	return 0;
}

static void get_mark(struct byte_reader *r, struct stream_mark *ret)
{
	uint64_t flags;
	uint32_t i;

	ret->place = reader_varint(r);
	ret->next_sequence = reader_varint(r);
	ret->seen = reader_varint(r);
	ret->pending = reader_varint(r);
	ret->last_tick = reader_varint(r);
	for (i = 0; i < LOSS_CAUSES; i++)
		ret->lost[i] = reader_varint(r);
	flags = reader_varint(r);
	for (i = 0; i < LOSS_CAUSES; i++)
		ret->lost_some[i] = flags >> i & 1;
	ret->gap = flags & MARK_GAP;
	if (flags >= 2 * MARK_GAP)
		r->bad = true;
}

static void get_state(struct byte_reader *r, struct slices_state *ret)
{
	uint64_t flags = reader_varint(r), len;
	const uint8_t *comm;
	int64_t pid;

	if (flags & ~(uint64_t)STATE_FLAGS)
		r->bad = true;
	ret->begun = flags & STATE_BEGUN;
	ret->lost_first = flags & STATE_LOST_FIRST;
	ret->now.type = flags >> STATE_NOW & 3;
	ret->first.type = flags >> STATE_FIRST & 3;
	ret->first_ns = reader_varint(r);
	ret->seen_ns = reader_varint(r);
	ret->lost = reader_varint(r);
	ret->uncounted = reader_varint(r);
	if (ret->now.type != HOLDER_TASK)
		return;
	pid = reader_signed(r);
	len = reader_varint(r);
	comm = len <= SCHED_COMM_LEN ? reader_bytes(r, len) : NULL;
	if (!comm || pid < INT32_MIN || pid > INT32_MAX) {
		r->bad = true;
		return;
	}
	ret->now.pid = (int32_t)pid;
	memcpy(ret->now.comm, comm, (size_t)len);
}

/* The bucket that is being filled must be the one of the last event. */
static int get_open(struct summary_carry *c, struct byte_reader *r)
{
	const struct slices_state *s = &c->slices.state;
	uint64_t len = reader_varint(r);
	const uint8_t *data = reader_bytes(r, len);

	if (!data || s->begun != (len > 0))
		return -EBADMSG;
	if (!len)
		return 0;
	chunk_reader_init(&c->reader, data, (size_t)len);
	if (chunk_reader_next(&c->reader, &c->slices.open) != WIRE_OK ||
	    reader_left(&c->reader.bytes) || c->slices.open.index != s->seen_ns / LADDER_BASE_NS)
		return -EBADMSG;
	bucket_index(&c->slices.open);
	return 0;
}

int summary_carry_decode(struct summary_carry *c, const uint8_t *data, size_t len)
{
	struct byte_reader r;
	const uint8_t *chunk;
	uint32_t level;
	uint64_t n;
	int rc;

	reader_init(&r, data, len);
	if (!len || *r.at++ != CARRY_VERSION)
		return -EBADMSG;
	c->start = reader_varint(&r);
	c->known_ns = reader_varint(&r);
	get_mark(&r, &c->mark);
	get_state(&r, &c->slices.state);
	if (r.bad)
		return -EBADMSG;
	rc = get_open(c, &r);
	for (level = 0; level < LADDER_LEVELS && rc == 0; level++) {
		n = reader_varint(&r);
		chunk = reader_bytes(&r, n);
		rc = chunk ? ladder_load(c->ladder, level, chunk, (size_t)n) : -EBADMSG;
	}
	return rc < 0 ? rc : reader_left(&r) ? -EBADMSG : 0;
}
