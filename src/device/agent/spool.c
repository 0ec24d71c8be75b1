/* SPDX-License-Identifier: MIT */
/*
 * spool: see spool.h; the ring's layout is in spool_ring.h, the mark's in memory.h.
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

#define ROWS_KEPT 2U /* rows of runs that calls leave to events */

_Static_assert(sizeof(struct ring_head) == 56, "the entries' layout is part of the version");

static void publish(struct spool *s)
{
	memory_publish(s->memory, &s->mark);
	s->is_dirty = true;
}

static uint64_t used(const struct spool *s)
{
	return s->mark.head - s->mark.tail;
}

struct memory_run *spool_find_run(const struct spool *s, uint32_t number)
{
	struct memory_run *run = memory_get_head(s->memory)->runs;
	uint32_t i;

	for (i = 0; number && i < MESSAGE_RUNS_MAX; i++)
		if (run[i].number == number &&
		    run[i].crc == memory_crc(&run[i], offsetof(struct memory_run, crc)))
			return &run[i];
	return NULL;
}

static struct ring_run *run_of(struct spool *s, uint32_t number)
{
	const struct memory_run *run = spool_find_run(s, number);

	return run ? &s->runs[run - memory_get_head(s->memory)->runs] : NULL;
}

static bool is_current(const struct spool *s, uint32_t number)
{
	return (number == ring_last(s, SPOOL_EVENTS) && ring_state(s, SPOOL_EVENTS)) ||
	       (number == ring_last(s, SPOOL_CALLS) && ring_state(s, SPOOL_CALLS));
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

/* Room for the last words of either run, with the filler that may take as much again. */
static void reserve(struct spool *s, const struct memory_name *name)
{
	uint32_t end = name->cpus * SPOOL_END_ROW + 2 * SPOOL_END_ROW;
	uint32_t end_calls = name->func_rows ? (2 * name->func_rows + 2) * SPOOL_END_ROW : 0;

	s->largest = SPOOL_META_MOST + BLOCK_HEADER_MAX;
	s->largest = end > s->largest ? end : s->largest;
	s->keep_end[SPOOL_EVENTS] = 2 * (uint32_t)ring_bytes(s->largest + BLOCK_HEADER_MAX) +
				    name->cpus * 2 * (uint32_t)ring_bytes(BLOCK_HEADER_MAX);
	s->keep_end[SPOOL_CALLS] = end_calls ? 2 * (uint32_t)ring_bytes(end_calls) : 0;
	s->largest = end_calls > s->largest ? end_calls : s->largest;
	s->keep_last = 2 * (uint32_t)ring_bytes(s->largest + BLOCK_HEADER_MAX);
	s->keep_free = s->keep_last + s->keep_end[SPOOL_EVENTS] + s->keep_end[SPOOL_CALLS];
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
	s->sync_ms = o->sync_ms;
	reserve(s, name);
	if (s->keep_free > s->size / 2)
		return error_set(e, EINVAL,
				 "cannot open the spool: %u bytes are too few for %u "
				 "CPUs, it needs %u",
				 s->size, name->cpus, 2 * s->keep_free);
	s->copy = malloc(s->largest + BLOCK_HEADER_MAX);
	for (i = 0; i < MESSAGE_RUNS_MAX; i++) {
		s->runs[i].collector = calloc(s->streams, sizeof(uint64_t));
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

/* The oldest entry goes; the caller publishes. */
static void pop(struct spool *s)
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
		pop(s);
	}
	if (s->mark.tail != before)
		publish(s);
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
	publish(s);
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
	uint32_t cpu = kind == SPOOL_CALLS ? SPOOL_FUNC_META : SPOOL_META;
	struct checkpoint meta;
	uint64_t head;
	uint8_t *body;

	if (h.len > s->largest || free_bytes(s) < cost(s, h.len + BLOCK_HEADER_MAX)) {
		pop(s);
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
	pop(s);
	s->mark.head = head;
	s->mark.sequence++;
	publish(s);
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
		pop(s);
	}
	/* What is overwritten next must be gone for good before. */
	if (s->mark.tail != memory_get_mark(s->memory)->tail)
		publish(s);
	return r;
}

bool spool_has_room(const struct spool *s, uint32_t len)
{
	if (s->policy == POLICY_FLIGHT)
		return 2 * ring_bytes(len) + s->keep_free <= s->size;
	return free_bytes(s) >= cost(s, len) + s->keep_free;
}

/* The last words of a run need no more than was kept for them, and leave what was kept for the other
 * run's. Of calls they are the end alone: their descriptions never cease. */
static uint32_t room_to_keep(const struct spool *s, const struct spool_entry *entry,
			     enum spool_kind kind)
{
	enum spool_kind other = kind == SPOOL_CALLS ? SPOOL_EVENTS : SPOOL_CALLS;
	bool is_last = entry->kind == FRAME_RUN_END ||
		       (kind == SPOOL_EVENTS &&
			(entry->stream == STREAM_META || entry->len <= BLOCK_HEADER_MAX));

	if (!is_last)
		return s->keep_free;
	return s->keep_last + (ring_state(s, other) != MEMORY_IDLE ? s->keep_end[other] : 0);
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

	if (!row || !ring_has_stream(s, h.stream) || (stream_is_func(h.stream) && (after || !h.key)))
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
	publish(s);
	return 0;
}

static bool get_config(const struct spool *s, const struct memory_run *run,
		       struct message_config *ret)
{
	const uint8_t *config = memory_get_head(s->memory)->config[run->number & 1];
	struct byte_reader r;

	if (run->config_len > MEMORY_CONFIG_MAX ||
	    run->config_crc != memory_crc(config, run->config_len))
		return false;
	reader_init(&r, config, run->config_len);
	return config_decode(ret, &r) == WIRE_OK;
}

bool spool_get_current(const struct spool *s, enum spool_kind kind, struct spool_run *ret)
{
	const struct memory_run *run = spool_find_run(s, ring_last(s, kind));

	if (ring_state(s, kind) == MEMORY_IDLE || !run || ring_kind(run) != kind)
		return false;
	memset(ret, 0, sizeof(*ret));
	if (kind == SPOOL_EVENTS && !get_config(s, run, &ret->config))
		return false;
	ret->number = run->number;
	ret->kind = (uint8_t)kind;
	ret->is_described = ring_state(s, kind) == MEMORY_TRACING;
	ret->origin = (uint8_t)run->origin;
	memcpy(ret->id.bytes, run->id, sizeof(run->id));
	return true;
}

/* A row whose run nobody asks for any more. Programs that come and go make many runs of calls, which
 * must not keep events from being traced. */
static struct memory_run *find_free_row(struct spool *s, uint8_t kind)
{
	struct memory_run *rows = memory_get_head(s->memory)->runs, *found = NULL;
	uint32_t i, n = 0;

	for (i = 0; i < MESSAGE_RUNS_MAX; i++) {
		if (spool_find_run(s, rows[i].number) &&
		    (s->runs[i].entries || is_current(s, rows[i].number)))
			continue;
		found = &rows[i];
		n++;
	}
	return n > (kind == SPOOL_CALLS ? ROWS_KEPT : 0) ? found : NULL;
}

static struct memory_run *make_free_row(struct spool *s, uint8_t kind, struct error *e)
{
	struct memory_run *row = find_free_row(s, kind);
	uint64_t tail = s->mark.tail;

	for (; !row && s->policy == POLICY_FLIGHT && used(s); row = find_free_row(s, kind))
		pop(s);
	if (s->mark.tail != tail)
		publish(s);
	if (!row)
		error_set(e, ENOSPC,
			  "cannot begin a run: the collector still lacks blocks of %u others",
			  MESSAGE_RUNS_MAX - (kind == SPOOL_CALLS ? ROWS_KEPT : 0));
	return row;
}

/* Behind those of both kinds. A configuration lies where the number says, and the last one's must
 * stay until this run is published: so theirs are odd and even in turn. */
static uint32_t next_number(const struct spool *s, uint8_t kind)
{
	uint32_t events = ring_last(s, SPOOL_EVENTS), calls = ring_last(s, SPOOL_CALLS);
	uint32_t next = (events > calls ? events : calls) + 1;

	return kind == SPOOL_EVENTS && (next & 1) == (events & 1) ? next + 1 : next;
}

static int put_config(struct spool *s, struct memory_run *row, const struct message_config *c,
		      struct error *e)
{
	uint8_t *config = memory_get_head(s->memory)->config[row->number & 1];
	struct byte_writer w;

	writer_init(&w, config, MEMORY_CONFIG_MAX);
	config_encode(&w, c);
	if (w.full)
		return error_set(e, E2BIG, "cannot begin a run: its configuration is too large");
	row->config_len = (uint32_t)writer_len(&w);
	row->config_crc = memory_crc(config, row->config_len);
	return 0;
}

int spool_start_run(struct spool *s, struct spool_run *run, struct error *e)
{
	const struct memory_head *h = memory_get_head(s->memory);
	bool is_calls = run->kind == SPOOL_CALLS;
	struct memory_run row, *to;
	int r;

	if (is_calls && !s->func_rows)
		return error_set(e, EOPNOTSUPP, "cannot begin a run of calls: the spool has no "
						"room for its threads");
	to = make_free_row(s, run->kind, e);
	if (!to)
		return -ENOSPC;
	memset(&row, 0, sizeof(row));
	row.number = next_number(s, run->kind);
	row.origin = is_calls ? MEMORY_ORIGIN_FUNC : run->origin;
	memcpy(row.id, run->id.bytes, sizeof(row.id));
	r = is_calls ? memory_clear_func_rows(s->memory, e)
		     : put_config(s, &row, &run->config, e);
	if (r < 0)
		return r;
	row.crc = memory_crc(&row, offsetof(struct memory_run, crc));
	*to = row;
	memset(s->runs[to - h->runs].collector, 0, s->streams * sizeof(uint64_t));
	s->runs[to - h->runs].entries = 0;
	s->runs[to - h->runs].next_meta = 0;
	if (is_calls)
		s->mark.func = row.number << 2;
	else
		s->mark.run = row.number;
	ring_set_state(s, run->kind, MEMORY_STARTING);
	s->mark.sequence++;
	publish(s);
	run->number = row.number;
	return 0;
}

void spool_set_described(struct spool *s, enum spool_kind kind)
{
	ring_set_state(s, kind, MEMORY_TRACING);
	publish(s);
}

void spool_abandon(struct spool *s, enum spool_kind kind)
{
	ring_set_state(s, kind, MEMORY_IDLE);
	publish(s);
}

int spool_sync(struct spool *s, uint64_t now_ms, struct error *e)
{
	if (!s->sync_ms || !s->is_dirty || now_ms - s->synced_ms < s->sync_ms)
		return 0;
	s->synced_ms = now_ms;
	s->is_dirty = false;
	return memory_sync(s->memory, e);
}

void spool_rewind(struct spool *s)
{
	uint32_t i;

	s->connection++;
	s->next = s->mark.tail;
	s->sent = s->gone = 0;
	for (i = 0; i < MESSAGE_RUNS_MAX; i++)
		memset(s->runs[i].collector, 0, s->streams * sizeof(uint64_t));
}

/* Would the collector want it, and could it do anything with it? */
static bool is_wanted(struct spool *s, const struct ring_head *h)
{
	struct ring_run *run = h->kind == RING_FILLER ? NULL : run_of(s, h->run);

	if (!run)
		return false;
	if (h->kind == FRAME_RUN_END || stream_is_func(h->stream))
		return true;
	if (h->sequence < run->collector[h->stream])
		return false;
	return h->key || is_meta(h) || h->sequence == run->collector[h->stream];
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
	if (h->kind == FRAME_BLOCK && run && h->stream < s->streams)
		run->collector[h->stream] = h->sequence + 1;
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
		pop(s);
	if (s->mark.tail != tail)
		publish(s);
	trim(s);
	return 0;
}

void spool_resume(struct spool *s, uint32_t number, uint32_t stream, uint64_t next_sequence)
{
	struct ring_run *run = run_of(s, number);

	if (run && stream < s->streams)
		run->collector[stream] = next_sequence;
}

uint32_t spool_get_runs(const struct spool *s, uint32_t numbers[MESSAGE_RUNS_MAX])
{
	const struct memory_run *rows = memory_get_head(s->memory)->runs;
	uint32_t i, j, n = 0;

	for (i = 0; i < MESSAGE_RUNS_MAX; i++) {
		if (spool_find_run(s, rows[i].number) != &rows[i] ||
		    (!s->runs[i].entries && !is_current(s, rows[i].number)))
			continue;
		for (j = n++; j && numbers[j - 1] > rows[i].number; j--)
			numbers[j] = numbers[j - 1];
		numbers[j] = rows[i].number;
	}
	return n;
}

const struct message_id *spool_get_run(const struct spool *s, uint32_t number)
{
	const struct memory_run *run = spool_find_run(s, number);

	return run ? (const struct message_id *)run->id : NULL;
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
