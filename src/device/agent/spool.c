/* SPDX-License-Identifier: MIT */
/*
 * spool: see spool.h; the ring's layout is in spool_ring.h, the mark's in memory.h. Runs begin and end
 * in spool_runs.c.
 *
 * Bytes are only ever written where the published mark sees free room: behind the head, or where
 * entries were whose removal is published already. So whatever a dying process was writing, the mark
 * does not lead there.
 *
 * Which blocks are worth sending is known from what the collector should have of a stream: a block
 * that is no key block can be decoded only if it follows right behind that.
 */
#include "device/agent/spool.h"

#include <errno.h>

#include "device/agent/spool_ring.h"

_Static_assert(sizeof(struct ring_head) == 56, "the entries' layout is part of the version");

void spool_publish(struct spool *s)
{
	memory_publish(s->memory, &s->mark);
	s->is_dirty = true;
}

static uint64_t used(const struct spool *s)
{
	return s->mark.head - s->mark.tail;
}

static struct ring_run *run_of(struct spool *s, uint32_t number)
{
	const struct memory_run *run = spool_find_run(s, number);

	return run ? &s->runs[run - memory_get_head(s->memory)->runs] : NULL;
}

static bool is_meta(const struct ring_head *h)
{
	return h->kind == FRAME_BLOCK && h->stream == STREAM_META;
}

/* Without it, other entries are of no use. */
static bool is_vital(const struct ring_head *h)
{
	return h->kind == FRAME_RUN_END || (is_meta(h) && h->key);
}

struct ring_run *spool_count(struct spool *s, const struct ring_head *h, int by)
{
	const struct memory_run *row = h->kind == RING_FILLER ? NULL : spool_find_run(s, h->run);
	struct ring_run *run;

	if (!row)
		return NULL;
	run = &s->runs[row - memory_get_head(s->memory)->runs];
	if (by > 0 || run->entries)
		run->entries += (uint32_t)by;
	if (is_meta(h) && h->key && ring_kind(row) == SPOOL_CALLS)
		s->func_meta += by < 0 ? 0 - ring_bytes(h->len) : ring_bytes(h->len);
	return run;
}

/* Of a run beside the agent's: its end, what each stream tells as lost, and the description. */
static uint32_t room_beside(const struct spool_options *o)
{
	uint32_t streams = 1 + o->samplers;

	return 2 * (uint32_t)ring_bytes((streams + 2) * SPOOL_END_ROW) +
	       streams * 4 * (uint32_t)ring_bytes(BLOCK_HEADER_MAX) + o->keep_meta;
}

/* Room for the last words of each run, with the filler that may take as much again. */
static void reserve(struct spool *s, const struct memory_name *name, const struct spool_options *o)
{
	uint32_t end = name->cpus * SPOOL_END_ROW + 2 * SPOOL_END_ROW;
	uint32_t beside = (o->samplers + 3) * SPOOL_END_ROW;
	uint32_t end_calls = name->func_rows ? (2 * name->func_rows + 2) * SPOOL_END_ROW : 0;

	s->largest = SPOOL_META_MOST + BLOCK_HEADER_MAX;
	s->largest = end > s->largest ? end : s->largest;
	s->largest = beside > s->largest ? beside : s->largest;
	s->keep_end[SPOOL_EVENTS] = 2 * (uint32_t)ring_bytes(s->largest + BLOCK_HEADER_MAX) +
				    name->cpus * 2 * (uint32_t)ring_bytes(BLOCK_HEADER_MAX);
	s->keep_end[SPOOL_CALLS] = end_calls ? 2 * (uint32_t)ring_bytes(end_calls) : 0;
	s->keep_end[SPOOL_BESIDE] = o->has_beside ? room_beside(o) : 0;
	s->largest = end_calls > s->largest ? end_calls : s->largest;
	s->keep_last = 2 * (uint32_t)ring_bytes(s->largest + BLOCK_HEADER_MAX);
	s->keep_free = s->keep_last + s->keep_end[SPOOL_EVENTS] + s->keep_end[SPOOL_CALLS] +
		       s->keep_end[SPOOL_BESIDE];
}

int spool_open(struct spool **ret, const struct spool_options *o, struct error *e)
{
	const struct memory_name *name = &memory_get_head(o->memory)->name;
	CLEANUP(spool) struct spool *s = calloc(1, sizeof(*s));
	uint32_t i;

	if (!s)
		return error_set(e, ENOMEM, "cannot open the spool: %m");
	s->memory = o->memory;
	s->ring = memory_get_ring(o->memory);
	s->size = name->spool_bytes;
	s->streams = name->cpus + 1;
	s->func_rows = name->func_rows;
	s->policy = o->policy;
	s->has_beside = o->has_beside;
	s->samplers = o->samplers;
	s->sync_ms = o->sync_ms;
	reserve(s, name, o);
	if (s->keep_free > s->size / 2)
		return error_set(e, EINVAL,
				 "cannot open the spool: %u bytes are too few for %u "
				 "CPUs, it needs %u",
				 s->size, name->cpus, 2 * s->keep_free);
	s->copy = malloc(s->largest + BLOCK_HEADER_MAX);
	for (i = 0; i < MESSAGE_RUNS_MAX; i++) {
		s->runs[i].collector = calloc(ring_rows(s), sizeof(uint64_t));
		if (!s->runs[i].collector || !s->copy)
			return error_set(e, ENOMEM, "cannot open the spool: %m");
	}
	spool_recover(s);
	*ret = take_ptr(s);
	return 0;
}

void spool_free(struct spool *s)
{
	uint32_t i;

	if (!s)
		return;
	for (i = 0; i < MESSAGE_RUNS_MAX; i++)
		free(s->runs[i].collector);
	free(s->copy);
	free(s);
}

void spool_set_policy(struct spool *s, uint8_t policy)
{
	s->policy = policy;
}

void spool_pop(struct spool *s)
{
	uint64_t at = ring_align(s, s->mark.tail), next;
	struct ring_head *h;

	if (at >= s->mark.head) {
		s->mark.tail = s->mark.head;
		return;
	}
	h = ring_get(s, at);
	next = ring_next(s, at);
	spool_count(s, h, -1);
	if (at < s->next && h->kind != RING_FILLER && h->sent == s->connection)
		s->gone++;
	s->mark.tail = next < s->mark.head ? next : s->mark.head;
	if (s->next < s->mark.tail)
		s->next = s->mark.tail;
}

/* Entries that were passed over and not sent wait for no acknowledgement. */
static void trim(struct spool *s)
{
	uint64_t before = s->mark.tail, at;
	struct ring_head *h;

	for (;;) {
		at = ring_align(s, s->mark.tail);
		h = ring_get(s, at);
		if (at >= s->next || (h->kind != RING_FILLER && h->sent == s->connection))
			break;
		spool_pop(s);
	}
	if (s->mark.tail != before)
		spool_publish(s);
}

static uint64_t free_bytes(const struct spool *s)
{
	return s->size - used(s);
}

/* With the filler that it may need. */
static uint64_t cost(const struct spool *s, uint32_t len)
{
	uint64_t at = ring_align(s, s->mark.head), bytes = ring_bytes(len);
	uint32_t left = s->size - ring_place(s, at);

	return at - s->mark.head + bytes + (bytes > left ? left : 0);
}

static void write_head(struct ring_head *h, const struct ring_head *from)
{
	*h = *from;
	h->magic = RING_MAGIC;
	h->sent = 0;
	h->crc = ring_head_crc(h);
}

/* Writes the entry behind the head, where nothing is; *ret_head is the head after it. The caller
 * publishes. */
static void write_entry(struct spool *s, struct ring_head *h, const uint8_t *body,
			uint64_t *ret_head)
{
	uint64_t at = ring_align(s, s->mark.head), bytes = ring_bytes(h->len);
	uint32_t left = s->size - ring_place(s, at);
	struct ring_head filler = { .at = at, .kind = RING_FILLER };

	if (bytes > left) {
		filler.len = left - (uint32_t)sizeof(filler);
		write_head(ring_get(s, at), &filler);
		at += left;
	}
	h->at = at;
	h->body_crc = memory_crc(body, h->len);
	memcpy(ring_get(s, at) + 1, body, h->len);
	write_head(ring_get(s, at), h);
	*ret_head = at + bytes;
}

const struct memory_checkpoint *spool_find_checkpoint(const struct spool *s, uint32_t stream,
						      struct memory_checkpoint **ret_free)
{
	struct memory_checkpoint *c = memory_get_checkpoints(s->memory, stream);
	const struct memory_checkpoint *best = NULL;
	uint32_t run = ring_last(s, stream < s->streams ? SPOOL_EVENTS : SPOOL_CALLS);
	int i;

	for (i = 0; i < 2; i++)
		if (c[i].sequence && c[i].sequence <= s->mark.sequence && c[i].run == run &&
		    c[i].crc == memory_crc(&c[i], offsetof(struct memory_checkpoint, crc)) &&
		    (!best || c[i].sequence > best->sequence))
			best = &c[i];
	if (ret_free)
		*ret_free = best == &c[0] ? &c[1] : &c[0];
	return best;
}

static uint32_t checkpoint_of(const struct spool *s, uint32_t cpu)
{
	return cpu == SPOOL_META ? 0 : cpu == SPOOL_FUNC_META ? s->streams : 1 + cpu;
}

/* It counts with the next mark. */
static void write_checkpoint(struct spool *s, uint32_t cpu, const struct checkpoint *at)
{
	struct memory_checkpoint c, *to;

	if (cpu == SPOOL_BESIDE_META) {
		s->beside_meta = *at;
		return;
	}
	memset(&c, 0, sizeof(c));
	c.sequence = s->mark.sequence + 1;
	c.at = *at;
	c.run = ring_last(s, cpu == SPOOL_FUNC_META ? SPOOL_CALLS : SPOOL_EVENTS);
	c.crc = memory_crc(&c, offsetof(struct memory_checkpoint, crc));
	spool_find_checkpoint(s, checkpoint_of(s, cpu), &to);
	*to = c;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

void spool_get_checkpoint(struct spool *s, uint32_t cpu, struct checkpoint *ret)
{
	const struct memory_checkpoint *c = NULL;

	if (cpu == SPOOL_BESIDE_META) {
		*ret = s->beside_meta;
		return;
	}
	if (cpu != SPOOL_FUNC_META || s->func_rows)
		c = spool_find_checkpoint(s, checkpoint_of(s, cpu), NULL);
	memset(ret, 0, sizeof(*ret));
	if (c)
		*ret = c->at;
}

void spool_save(struct spool *s, uint32_t cpu, const struct checkpoint *at)
{
	write_checkpoint(s, cpu, at);
	s->mark.sequence++;
	spool_publish(s);
}

/* A description that is moved gets the next sequence: the collector would take its old number,
 * behind later ones, for a block that came again. */
static uint32_t copy_entry(struct spool *s, const struct ring_head *h, struct ring_run *run,
			   uint8_t **ret)
{
	const uint8_t *body = (const uint8_t *)(h + 1);
	uint8_t *payload = s->copy + BLOCK_HEADER_MAX;
	struct block b;
	uint32_t len;

	if (h->kind == FRAME_RUN_END || block_decode(body, h->len, &b) != WIRE_OK) {
		memcpy(s->copy, body, h->len);
		*ret = s->copy;
		return h->len;
	}
	b.sequence = run->next_meta;
	memcpy(payload, b.payload, b.payload_len);
	*ret = block_encode(&b, payload, &len);
	return len;
}

/* The oldest entry, which is vital, behind the latest. What is kept free makes sure that there is
 * room; a file that somebody else filled may have none, and then the entry is lost. */
static void move_oldest(struct spool *s)
{
	struct ring_head h = *ring_get(s, ring_align(s, s->mark.tail));
	struct ring_run *run = run_of(s, h.run);
	enum spool_kind kind = ring_kind(spool_find_run(s, h.run));
	uint32_t cpu = spool_meta_of(kind);
	struct checkpoint meta;
	uint64_t head;
	uint8_t *body;

	if (h.len > s->largest || free_bytes(s) < cost(s, h.len + BLOCK_HEADER_MAX)) {
		spool_pop(s);
		return;
	}
	h.len = copy_entry(s, ring_get(s, h.at), run, &body);
	if (h.kind == FRAME_BLOCK)
		h.sequence = run->next_meta++;
	write_entry(s, &h, body, &head);
	if (h.kind == FRAME_BLOCK && h.run == ring_last(s, kind)) {
		spool_get_checkpoint(s, cpu, &meta);
		meta.next_sequence = run->next_meta;
		write_checkpoint(s, cpu, &meta);
	}
	spool_count(s, &h, 1);
	spool_pop(s);
	s->mark.head = head;
	s->mark.sequence++;
	spool_publish(s);
}

/* Until `need` bytes are free and `keep` beside them. */
static int make_room(struct spool *s, uint32_t len, uint32_t keep)
{
	uint64_t moved = 0;
	const struct ring_head *h;
	int r = 0;

	while (free_bytes(s) < cost(s, len) + keep) {
		h = ring_get(s, ring_align(s, s->mark.tail));
		if (s->policy == POLICY_OLDEST || !used(s) || moved > s->size / 2) {
			r = -ENOSPC;
			break;
		}
		if (is_vital(h) && run_of(s, h->run)) {
			moved += ring_bytes(h->len);
			move_oldest(s);
			continue;
		}
		spool_pop(s);
	}
	/* What is overwritten next must be gone for good before. */
	if (s->mark.tail != memory_get_mark(s->memory)->tail)
		spool_publish(s);
	return r;
}

bool spool_has_room(const struct spool *s, uint32_t len)
{
	if (s->policy == POLICY_FLIGHT)
		return 2 * ring_bytes(len) + s->keep_free <= s->size;
	return free_bytes(s) >= cost(s, len) + s->keep_free;
}

/* The last words of a run may take what was kept for them. Of calls they are the end alone, which is
 * never more than that: their descriptions never cease. Those of events could be more, so they leave
 * what is kept for the ends of the others. */
static uint32_t room_to_keep(const struct spool *s, const struct spool_entry *entry,
			     enum spool_kind kind)
{
	uint32_t keep = s->keep_last, i;
	bool is_last = entry->kind == FRAME_RUN_END ||
		       (kind != SPOOL_CALLS &&
			(entry->stream == STREAM_META || entry->len <= BLOCK_HEADER_MAX));

	if (!is_last)
		return s->keep_free;
	for (i = 0; kind != SPOOL_CALLS && i < SPOOL_KINDS; i++)
		if (i != kind && ring_state(s, i) != MEMORY_IDLE)
			keep += s->keep_end[i];
	return keep;
}

/* Descriptions that are never dropped must not become all that there is. */
static bool is_too_much(const struct spool *s, const struct ring_head *h, enum spool_kind kind)
{
	return s->policy == POLICY_FLIGHT && kind == SPOOL_CALLS && is_meta(h) && h->key &&
	       s->func_meta + ring_bytes(h->len) > s->size / 4;
}

int spool_put(struct spool *s, const struct spool_entry *entry, uint32_t cpu,
	      const struct checkpoint *after)
{
	struct ring_head h = {
		.sequence = entry->sequence,
		.len = entry->len,
		.kind = entry->kind,
		.run = entry->run,
		.stream = entry->kind == FRAME_BLOCK ? entry->stream : 0,
		.events = entry->events,
		.key = entry->key,
	};
	const struct memory_run *row = spool_find_run(s, entry->run);
	enum spool_kind kind;
	struct ring_run *run;
	uint64_t head;
	int r;

	if (!row || !ring_has_stream(s, h.stream) ||
	    (stream_is_func(h.stream) && (after || !h.key)))
		return -EINVAL;
	kind = ring_kind(row);
	if (is_too_much(s, &h, kind))
		return -ENOSPC;
	r = make_room(s, entry->len, room_to_keep(s, entry, kind));
	if (r < 0)
		return r;
	write_entry(s, &h, entry->bytes, &head);
	if (after)
		write_checkpoint(s, cpu, after);
	run = spool_count(s, &h, 1);
	if (is_meta(&h))
		run->next_meta = entry->sequence + 1;
	s->mark.head = head;
	s->mark.sequence++;
	if (entry->kind == FRAME_RUN_END && entry->run == ring_last(s, kind))
		ring_set_state(s, kind, MEMORY_IDLE);
	spool_publish(s);
	return 0;
}

int spool_sync(struct spool *s, uint64_t now_ms, struct error *e)
{
	int r;

	if (!s->sync_ms || !s->is_dirty || now_ms - s->synced_ms < s->sync_ms)
		return 0;
	s->synced_ms = now_ms;
	r = memory_sync(s->memory, e);
	s->is_dirty = r < 0;
	return r < 0 ? r : 1;
}

void spool_rewind(struct spool *s)
{
	uint32_t i;

	s->connection++;
	s->next = s->mark.tail;
	s->sent = s->gone = 0;
	for (i = 0; i < MESSAGE_RUNS_MAX; i++)
		memset(s->runs[i].collector, 0, ring_rows(s) * sizeof(uint64_t));
}

/* Would the collector want it, and could it do anything with it? */
static bool is_wanted(struct spool *s, const struct ring_head *h)
{
	struct ring_run *run = h->kind == RING_FILLER ? NULL : run_of(s, h->run);
	uint64_t next;

	if (!run)
		return false;
	if (h->kind == FRAME_RUN_END || stream_is_func(h->stream))
		return true;
	next = run->collector[ring_row(s, h->stream)];
	if (h->sequence < next)
		return false;
	return h->key || is_meta(h) || h->sequence == next;
}

static void get_entry(const struct ring_head *h, struct spool_entry *ret)
{
	ret->kind = h->kind;
	ret->run = h->run;
	ret->stream = h->stream;
	ret->sequence = h->sequence;
	ret->key = h->key;
	ret->events = h->events;
	ret->bytes = (const uint8_t *)(h + 1);
	ret->len = h->len;
}

bool spool_next(const struct spool *s, uint64_t *place, struct spool_entry *ret)
{
	uint64_t at = ring_align(s, *place < s->mark.tail ? s->mark.tail : *place);

	while (at < s->mark.head && ring_get(s, at)->kind == RING_FILLER)
		at = ring_next(s, at);
	if (at >= s->mark.head)
		return false;
	get_entry(ring_get(s, at), ret);
	*place = ring_next(s, at);
	return true;
}

struct memory *spool_get_memory(const struct spool *s)
{
	return s->memory;
}

bool spool_peek(struct spool *s, struct spool_entry *ret)
{
	const struct ring_head *h = NULL;
	uint64_t at = ring_align(s, s->next);

	while (at < s->mark.head && !is_wanted(s, h = ring_get(s, at)))
		at = ring_next(s, at);
	s->next = at < s->mark.head ? at : s->mark.head;
	trim(s);
	if (at >= s->mark.head)
		return false;
	get_entry(h, ret);
	return true;
}

void spool_sent(struct spool *s)
{
	struct ring_head *h = ring_get(s, s->next);
	struct ring_run *run;

	if (ring_align(s, s->next) >= s->mark.head)
		return;
	run = run_of(s, h->run);
	if (h->kind == FRAME_BLOCK && run && ring_has_row(s, h->stream))
		run->collector[ring_row(s, h->stream)] = h->sequence + 1;
	h->sent = s->connection;
	s->sent++;
	s->next = ring_next(s, s->next);
	if (s->next > s->mark.head)
		s->next = s->mark.head;
}

int spool_ack(struct spool *s, uint64_t frames)
{
	uint64_t tail = s->mark.tail;

	if (frames > s->sent)
		return -EPROTO;
	while (s->gone < frames && used(s))
		spool_pop(s);
	if (s->mark.tail != tail)
		spool_publish(s);
	trim(s);
	return 0;
}

void spool_resume(struct spool *s, uint32_t number, uint32_t stream, uint64_t next_sequence)
{
	struct ring_run *run = run_of(s, number);

	if (run && ring_has_row(s, stream))
		run->collector[ring_row(s, stream)] = next_sequence;
}

void spool_give_back(struct spool *s)
{
	if (!used(s))
		memory_give_back_ring(s->memory);
}

uint64_t spool_used(const struct spool *s)
{
	return used(s);
}

uint64_t spool_size(const struct spool *s)
{
	return s->size;
}

uint64_t spool_unsent(const struct spool *s)
{
	return s->mark.head - (s->next < s->mark.tail ? s->mark.tail : s->next);
}
