/* SPDX-License-Identifier: MIT */
/* func_pack: see func_pack.h. */
#include "trace/func_pack.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/func_meta.h"
#include "trace/info_meta.h"
#include "wire/func_encode.h"

#define DEFAULT_BLOCK_BYTES (32U * 1024)
#define DEFAULT_SEGMENT_BYTES (64U * 1024)
#define BLOCK_ROOM (64U * 1024)
#define META_ROOM (64U * 1024)

/* What encoding a thread takes, while it is at work. */
struct coder {
	bool key;	 /* the open block starts a segment */
	bool in_segment; /* the next block can lean on what was learned, */
	bool begun;	 /* or at least on what is open */
	uint64_t first_tick;
	uint64_t max_tick;
	uint32_t events;
	uint32_t segment_used;
	uint8_t buffer[BLOCK_HEADER_MAX + BLOCK_ROOM];
	struct func_encoder func;
};
_Static_assert(BLOCK_ROOM >= DEFAULT_BLOCK_BYTES + FUNC_BEGIN_ROOM + FUNC_EVENT_ROOM,
	       "a block that is due still has room");

/* A stream's numbers, as its blocks count them. */
struct lane {
	uint32_t stream;
	bool open; /* a block */
	uint64_t sequence;
	uint64_t total; /* events so far, encoded or counted as lost */
	uint64_t until; /* the header's time: where the last block ended */
	uint64_t lost[LOSS_CAUSES];
};

enum phase {
	PHASE_WAITS = 0, /* for its first item */
	PHASE_WORKS,
	PHASE_LATER, /* for another pass: too many work */
	PHASE_DONE,
};

struct thread {
	enum phase phase;
	uint64_t left; /* items, if they were counted */
	struct lane calls, os;
	struct coder *coder;
};

struct pack {
	struct ksk_writer *writer;
	struct func_source *source;
	struct func_packing *packing;
	uint32_t block_bytes, segment_bytes, most_threads;
	struct thread *threads;
	bool counted; /* `left` is known */
	uint32_t working;
};

static void pack_done(struct pack *p)
{
	size_t i;

	for (i = 0; p->threads && i < p->source->n_threads; i++)
		free(p->threads[i].coder);
	free(p->threads);
}

static int put_block(struct pack *p, struct block *b, uint8_t *payload, struct error *e)
{
	uint32_t len;
	uint8_t *start = block_encode(b, payload, &len);

	p->packing->bytes += b->stream == STREAM_META ? 0 : len;
	return ksk_writer_put(p->writer, b, start, len, e);
}

static int put_meta(struct pack *p, struct error *e)
{
	_cleanup_free_ uint8_t *buffer = malloc(BLOCK_HEADER_MAX + META_ROOM);
	struct func_meta_place at = { 0 };
	uint8_t *payload;
	size_t len;
	int r = 0;

	if (!buffer)
		return error_set(e, ENOMEM, "out of memory");
	payload = buffer + BLOCK_HEADER_MAX;
	while (r == 0 && (len = func_meta_encode(p->source, &at, payload, META_ROOM))) {
		struct block b = { .codec = CODEC_META,
				   .flags = BLOCK_KEY,
				   .stream = STREAM_META,
				   .sequence = p->packing->meta_sequence++,
				   .payload_len = (uint32_t)len };

		r = put_block(p, &b, payload, e);
	}
	return r;
}

static void open_block(struct pack *p, struct thread *t, uint64_t tick)
{
	struct coder *c = t->coder;
	struct func_stack open;

	c->key = !c->in_segment || c->segment_used >= p->segment_bytes;
	if (c->key) {
		open = c->func.model.stack; /* what is open stays so */
		func_encoder_init(&c->func, c->begun ? &open : NULL);
		c->segment_used = 0;
		t->calls.until = t->calls.until > tick ? t->calls.until : tick;
	}
	func_encoder_begin(&c->func, c->buffer + BLOCK_HEADER_MAX, BLOCK_ROOM, tick);
	c->events = 0;
	c->first_tick = c->max_tick = tick;
	c->in_segment = c->begun = true;
	t->calls.open = true;
}

/* Moves the lane on by a block of so many events, and the losses before it into its header. */
static void fill_header(struct lane *l, struct block *b, uint64_t until)
{
	b->codec = CODEC_FUNC;
	b->stream = l->stream;
	b->sequence = l->sequence++;
	memcpy(b->lost, l->lost, sizeof(b->lost));
	memset(l->lost, 0, sizeof(l->lost));
	b->before = l->total + block_told(b);
	b->ticks = b->flags & BLOCK_KEY ? (until > b->first_tick ? until - b->first_tick : 0)
					: until - l->until;
	l->until = until;
	l->total = b->before + b->events;
}

static int close_block(struct pack *p, struct thread *t, struct error *e)
{
	struct coder *c = t->coder;
	struct block b = { 0 };

	if (!t->calls.open)
		return 0;
	b.flags = c->key ? BLOCK_KEY : 0;
	b.events = c->events;
	b.first_tick = c->first_tick;
	b.payload_len = func_encoder_end(&c->func);
	fill_header(&t->calls, &b, t->calls.until > c->max_tick ? t->calls.until : c->max_tick);
	c->segment_used += b.payload_len;
	t->calls.open = false;
	p->packing->events += b.events;
	return put_block(p, &b, c->buffer + BLOCK_HEADER_MAX, e);
}

/* A block of no events, for what was lost where no event follows, or where one header cannot say
 * it. It starts a segment, so that it needs nothing. */
static int put_empty(struct pack *p, struct lane *l, struct error *e)
{
	uint8_t buffer[BLOCK_HEADER_MAX + 1];
	struct block b = { .flags = BLOCK_KEY, .first_tick = l->until };

	fill_header(l, &b, l->until);
	return put_block(p, &b, buffer + BLOCK_HEADER_MAX, e);
}

static int put_event(struct pack *p, struct thread *t, const struct func_event *ev, struct error *e)
{
	struct coder *c = t->coder;
	int r = 0, tries;

	if (t->calls.open &&
	    (c->func.rc.pos >= p->block_bytes || c->events >= BLOCK_EVENTS_MAX - 1))
		r = close_block(p, t, e);
	for (tries = 0; r == 0 && tries < 2; tries++) {
		if (!t->calls.open)
			open_block(p, t, ev->tick);
		if (func_encode(&c->func, ev) == WIRE_OK) {
			c->events++;
			c->max_tick = ev->tick > c->max_tick ? ev->tick : c->max_tick;
			return 0;
		}
		r = close_block(p, t, e);
	}
	return r < 0 ? r : error_set(e, EMSGSIZE, "an event does not fit into a block");
}

static int put_loss(struct pack *p, struct thread *t, const struct func_item *item, struct error *e)
{
	const struct trace_loss *loss = &item->loss;
	struct lane *l = item->os_only ? &t->os : &t->calls;
	uint64_t *sum;
	int r = 0;

	if (loss->cause >= LOSS_CAUSES || !loss->count)
		return 0;
	sum = &l->lost[loss->cause];
	if (!item->os_only)
		r = close_block(p, t, e);
	/* A header has one count of a cause: an unknown one beside it needs a block of its own. */
	if (r == 0 && *sum && *sum != loss->count &&
	    (*sum == LOSS_UNKNOWN || loss->count > LOSS_UNKNOWN - 1 - *sum)) {
		r = put_empty(p, l, e);
		t->coder->in_segment = t->coder->in_segment && item->os_only;
	}
	if (r == 0 && *sum != LOSS_UNKNOWN)
		*sum += loss->count;
	return r;
}

static bool has_lost(const struct lane *l)
{
	uint32_t i;

	for (i = 0; i < LOSS_CAUSES; i++)
		if (l->lost[i])
			return true;
	return false;
}

static int start_thread(struct pack *p, uint32_t number, struct error *e)
{
	struct thread *t = &p->threads[number];

	t->coder = malloc(sizeof(*t->coder));
	if (!t->coder)
		return error_set(e, ENOMEM, "out of memory");
	t->coder->in_segment = t->coder->begun = false;
	t->coder->segment_used = 0;
	t->calls.stream = STREAM_FUNC(number);
	t->os.stream = STREAM_FUNC_OS(number);
	t->phase = PHASE_WORKS;
	p->working++;
	return 0;
}

/* Losses after the last event have no block to go into: an empty one is made. */
static int finish_thread(struct pack *p, struct thread *t, struct error *e)
{
	int r = close_block(p, t, e);

	if (r == 0 && has_lost(&t->calls))
		r = put_empty(p, &t->calls, e);
	if (r == 0 && has_lost(&t->os))
		r = put_empty(p, &t->os, e);
	free(t->coder);
	t->coder = NULL;
	t->phase = PHASE_DONE;
	p->working--;
	return r;
}

static int put_item(struct pack *p, const struct func_item *item, struct error *e)
{
	struct thread *t = &p->threads[item->thread];
	int r = 0;

	if (t->phase == PHASE_WAITS && p->working >= p->most_threads)
		t->phase = PHASE_LATER;
	if (t->phase == PHASE_WAITS)
		r = start_thread(p, item->thread, e);
	if (r < 0 || t->phase != PHASE_WORKS)
		return r;
	r = item->type == FUNC_ITEM_EVENT ? put_event(p, t, &item->event, e)
					  : put_loss(p, t, item, e);
	if (r == 0 && p->counted && --t->left == 0)
		r = finish_thread(p, t, e);
	return r;
}

/* One reading of the source; 1: threads are left for another. */
static int pass(struct pack *p, struct error *e)
{
	struct func_item item;
	int r, more = 0;
	size_t i;

	while ((r = p->source->ops->next(p->source, &item, e)) == 1) {
		r = put_item(p, &item, e);
		if (r < 0)
			return r;
	}
	for (i = 0; r == 0 && i < p->source->n_threads; i++) {
		struct thread *t = &p->threads[i];

		if (t->phase == PHASE_WORKS)
			r = finish_thread(p, t, e);
		if (t->phase != PHASE_LATER)
			continue;
		t->phase = PHASE_WAITS;
		more = 1;
	}
	return r < 0 ? r : more;
}

/* How many items each thread has, so that its encoder can go when the last of them came. */
static int count_items(struct pack *p, struct error *e)
{
	struct func_item item;
	int r;

	while ((r = p->source->ops->next(p->source, &item, e)) == 1)
		p->threads[item.thread].left++;
	p->counted = true;
	return r < 0 ? r : p->source->ops->rewind(p->source, e);
}

static int pack_all(struct pack *p, struct error *e)
{
	int r = 0;

	p->threads = calloc(p->source->n_threads + 1, sizeof(*p->threads));
	if (!p->threads)
		return error_set(e, ENOMEM, "out of memory");
	r = put_meta(p, e);
	if (r == 0 && p->source->n_threads > p->most_threads)
		r = count_items(p, e);
	while (r == 0 && (r = pass(p, e)) == 1)
		r = p->source->ops->rewind(p->source, e);
	return r < 0 ? r : put_meta(p, e);
}

int func_pack(struct ksk_writer *w, struct func_source *s, struct func_packing *g, struct error *e)
{
	struct pack p = {
		.writer = w,
		.source = s,
		.packing = g,
		.block_bytes = g->block_bytes ? g->block_bytes : DEFAULT_BLOCK_BYTES,
		.segment_bytes = g->segment_bytes ? g->segment_bytes : DEFAULT_SEGMENT_BYTES,
		.most_threads = g->threads ? g->threads : FUNC_PACK_THREADS,
	};
	int r;

	if (p.block_bytes > DEFAULT_BLOCK_BYTES)
		p.block_bytes = DEFAULT_BLOCK_BYTES;
	r = pack_all(&p, e);
	pack_done(&p);
	return r;
}

/* The file's own description: all that is known of it is where the calls came from. */
static int put_origin(struct ksk_writer *w, const char *origin, struct func_packing *p,
		      struct error *e)
{
	_cleanup_free_ uint8_t *buffer = malloc(BLOCK_HEADER_MAX + META_ROOM);
	struct block b = { .codec = CODEC_META, .flags = BLOCK_KEY, .stream = STREAM_META };
	struct trace_info info;
	uint8_t *payload, *start;
	uint32_t len;
	int r;

	if (!buffer || info_init(&info) < 0)
		return error_set(e, ENOMEM, "out of memory");
	r = info_set(&info.origin, origin, strlen(origin));
	payload = buffer + BLOCK_HEADER_MAX;
	b.payload_len = (uint32_t)info_encode(&info, payload, META_ROOM);
	b.sequence = p->meta_sequence++;
	info_done(&info);
	if (r < 0)
		return error_set(e, r, "out of memory");
	start = block_encode(&b, payload, &len);
	return ksk_writer_put(w, &b, start, len, e);
}

int func_pack_file(const char *path, struct func_source *s, struct func_packing *p, struct error *e)
{
	CLEANUP(ksk_writer) struct ksk_writer *w = NULL;
	int r = ksk_writer_open(&w, path, e);

	if (r == 0)
		r = put_origin(w, s->origin ? s->origin : "", p, e);
	if (r == 0)
		r = func_pack(w, s, p, e);
	return r < 0 ? r : ksk_writer_commit(w, e);
}
