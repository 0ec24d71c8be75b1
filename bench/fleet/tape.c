/* SPDX-License-Identifier: MIT */
/* tape: see tape.h. */
#include "tape.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/array.h"
#include "trace/info_meta.h"

#define GAP_NS 1000000U	     /* between two passes */
#define HEAD_BYTES_ABOUT 16U /* of a block and its frame */

/* --- loading --- */

static int refuse(const char *path, struct error *e, const char *why)
{
	return error_set(e, EINVAL, "cannot play %s: %s", path, why);
}

static int take_description(struct tape *t, const struct block *b, const char *path,
			    struct error *e)
{
	struct meta_reader r;
	enum wire_status status;

	meta_reader_init(&r, b->payload, b->payload_len);
	while ((status = meta_reader_next(&r)) == WIRE_OK) {
		if (r.type == META_CLOCK && info_decode_clock(&t->clock, &r.item) < 0)
			return refuse(path, e, "its clock is damaged");
		if (r.type == META_CPUS)
			t->cpus = (uint32_t)reader_varint(&r.item);
	}
	return status == WIRE_CORRUPT ? refuse(path, e, "its description is damaged") : 0;
}

static int add_block(struct tape *t, const struct block *b, uint32_t slot, uint64_t end_tick)
{
	int r = array_grow(&t->blocks, t->n, &t->room, sizeof(*t->blocks), TAPE_BLOCKS_MAX);

	if (r < 0)
		return r;
	/* Ticks for now: they are nanoseconds when the clock is known. */
	t->blocks[t->n++] = (struct tape_block){ .block = *b, .slot = slot, .due_ns = end_tick };
	return 0;
}

/* Whether a block goes on where its stream is; from then on it is numbered from 0. */
static int check_block(struct tape_stream *s, struct block *b, const char *path, struct error *e)
{
	uint64_t told = block_told(b);
	uint32_t i;

	for (i = 0; i < LOSS_CAUSES; i++)
		if (b->lost[i] == LOSS_UNKNOWN)
			return refuse(path, e, "it has losses that nobody counted");
	if (b->flags & BLOCK_KEY) {
		if (!s->blocks)
			s->start = b->before - told;
		b->before -= s->start;
		if (b->before != s->events + told)
			return refuse(path, e, "blocks are missing in it");
	}
	b->sequence = s->blocks++;
	s->events += told + b->events;
	return 0;
}

static int load_stream(struct tape *t, const char *path, uint32_t slot, struct error *e)
{
	struct tape_stream *s = &t->streams[slot];
	uint64_t offset = 0, at, until = 0, sequence = 0;
	struct block b;
	int r;

	while ((r = ksk_file_next(t->file, s->number, &offset, &b, &at)) == 1 && b.payload) {
		bool key = b.flags & BLOCK_KEY;

		if (!key && (!s->blocks || b.sequence != sequence))
			return refuse(path, e, "blocks are missing in it");
		sequence = b.sequence + 1;
		until = (key ? b.first_tick : until) + b.ticks;
		if (key && b.codec != CODEC_META && b.first_tick < t->first_tick)
			t->first_tick = b.first_tick;
		r = check_block(s, &b, path, e);
		if (r == 0 && b.codec == CODEC_META)
			r = take_description(t, &b, path, e);
		if (r < 0)
			return r;
		if (add_block(t, &b, slot, b.codec == CODEC_META ? 0 : until) < 0)
			return refuse(path, e, "out of memory");
	}
	return r < 0 ? refuse(path, e, "out of memory") : 0;
}

/* The description first, then by time; what is of one stream stays in its order. */
static int compare_blocks(const void *pa, const void *pb)
{
	const struct tape_block *a = pa, *b = pb;
	bool a_meta = a->block.codec == CODEC_META, b_meta = b->block.codec == CODEC_META;

	if (a_meta != b_meta)
		return a_meta ? -1 : 1;
	if (a->due_ns != b->due_ns)
		return a->due_ns < b->due_ns ? -1 : 1;
	return (a->block.payload > b->block.payload) - (a->block.payload < b->block.payload);
}

static void count_blocks(struct tape *t)
{
	uint64_t first_ns = clock_ns(&t->clock, t->first_tick), last_ns = first_ns;
	size_t i;

	for (i = 0; i < t->n; i++) {
		struct tape_block *b = &t->blocks[i];

		if (b->block.codec == CODEC_META) {
			t->n_meta++;
			continue;
		}
		last_ns = clock_ns(&t->clock, b->due_ns);
		b->due_ns = last_ns > first_ns ? last_ns - first_ns : 0;
		b->events = t->events;
		b->lost = t->lost;
		b->bytes = t->bytes;
		t->events += b->block.events;
		t->lost += block_told(&b->block);
		t->bytes += b->block.payload_len + HEAD_BYTES_ABOUT;
	}
	t->ticks = clock_tick_at(&t->clock, last_ns + GAP_NS) - t->first_tick;
	t->span_ns = clock_ns(&t->clock, t->first_tick + t->ticks) - first_ns;
}

static int load(struct tape *t, const char *path, struct error *e)
{
	uint32_t i;
	int r = ksk_file_open(&t->file, path, e);

	if (r == 0)
		r = ksk_file_verify(t->file, e);
	if (r < 0)
		return r;
	if (t->file->n_damage)
		return refuse(path, e, "it is damaged");
	if (!t->file->n_streams || t->file->n_streams > TAPE_STREAMS_MAX)
		return refuse(path, e, "it has no stream, or too many");
	t->streams = calloc(t->file->n_streams, sizeof(*t->streams));
	if (!t->streams)
		return refuse(path, e, "out of memory");
	t->n_streams = (uint32_t)t->file->n_streams;
	for (i = 0; r == 0 && i < t->n_streams; i++) {
		t->streams[i].number = t->file->streams[i]->stream;
		r = load_stream(t, path, i, e);
	}
	if (r < 0)
		return r;
	qsort(t->blocks, t->n, sizeof(*t->blocks), compare_blocks);
	count_blocks(t);
	return t->events ? 0 : refuse(path, e, "it has no event");
}

int tape_open(struct tape *t, const char *path, struct error *e)
{
	int r;

	memset(t, 0, sizeof(*t));
	clock_init(&t->clock);
	t->first_tick = UINT64_MAX;
	r = load(t, path, e);
	if (r < 0)
		tape_close(t);
	return r;
}

void tape_close(struct tape *t)
{
	ksk_file_free(t->file);
	free(t->blocks);
	free(t->streams);
	memset(t, 0, sizeof(*t));
}

/* --- places --- */

static uint64_t pass_blocks(const struct tape *t)
{
	return t->n - t->n_meta;
}

static const struct tape_block *get_block(const struct tape *t, uint64_t place, uint64_t *ret_pass)
{
	if (place < t->n_meta) {
		*ret_pass = 0;
		return &t->blocks[place];
	}
	*ret_pass = (place - t->n_meta) / pass_blocks(t);
	return &t->blocks[t->n_meta + (place - t->n_meta) % pass_blocks(t)];
}

uint64_t tape_get_due_ns(const struct tape *t, uint64_t place)
{
	uint64_t pass;
	const struct tape_block *b = get_block(t, place, &pass);

	return pass * t->span_ns + b->due_ns;
}

uint64_t tape_find(const struct tape *t, uint64_t ns)
{
	uint64_t pass = ns / t->span_ns, lo = 0, hi = pass_blocks(t), mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (t->blocks[t->n_meta + mid].due_ns <= ns % t->span_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	return t->n_meta + pass * pass_blocks(t) + lo;
}

uint64_t tape_next_pass(const struct tape *t, uint64_t place)
{
	uint64_t pass;

	if (place < t->n_meta)
		return t->n_meta;
	pass = (place - t->n_meta) / pass_blocks(t);
	return t->n_meta + (pass + 1) * pass_blocks(t);
}

struct tape_count tape_count(const struct tape *t, uint64_t place)
{
	uint64_t pass;
	const struct tape_block *b = get_block(t, place, &pass);

	if (b->block.codec == CODEC_META)
		return (struct tape_count){ 0 };
	return (struct tape_count){ .events = pass * t->events + b->events,
				    .lost = pass * t->lost + b->lost,
				    .bytes = pass * t->bytes + b->bytes };
}

uint32_t tape_get_bytes(const struct tape *t, uint64_t place)
{
	uint64_t pass;

	return get_block(t, place, &pass)->block.payload_len + TAPE_FRAME_MAX - BLOCK_PAYLOAD_MAX;
}

uint32_t tape_get_slot(const struct tape *t, uint64_t place)
{
	uint64_t pass;

	return get_block(t, place, &pass)->slot;
}

uint64_t tape_get_sequence(const struct tape *t, uint64_t place)
{
	uint64_t pass;
	const struct tape_block *b = get_block(t, place, &pass);

	return pass * t->streams[b->slot].blocks + b->block.sequence;
}

void tape_get_stream(const struct tape *t, uint64_t place, uint32_t slot, uint64_t *ret_sequence,
		     uint64_t *ret_events)
{
	const struct tape_stream *s = &t->streams[slot];
	bool is_meta = s->number == STREAM_META;
	uint64_t pass, i;
	const struct tape_block *b = get_block(t, place, &pass);

	*ret_sequence = is_meta ? 0 : pass * s->blocks;
	*ret_events = is_meta ? 0 : pass * s->events;
	if (is_meta && place >= t->n_meta)
		*ret_sequence = s->blocks;
	for (i = is_meta && place >= t->n_meta ? t->n : 0; i < t->n && &t->blocks[i] < b; i++) {
		if (t->blocks[i].slot != slot)
			continue;
		++*ret_sequence;
		*ret_events += t->blocks[i].block.events + block_told(&t->blocks[i].block);
	}
}

/* --- sealing --- */

/* A payload that says another clock and another name. */
static uint32_t rewrite(const struct tape *t, const struct tape_block *b,
			const struct tape_owner *owner, uint8_t *out)
{
	struct meta_clock clock = info_get_clock(&t->clock);
	uint8_t *p = out;
	struct meta_reader r;

	clock.base_ns += owner->shift_ns;
	clock.has_realtime = true;
	clock.realtime_off_ns = owner->realtime_off_ns;
	clock.whose = META_WHOSE_DEVICE;
	meta_reader_init(&r, b->block.payload, b->block.payload_len);
	while (meta_reader_next(&r) == WIRE_OK) {
		if (r.type == META_CLOCK) {
			p = meta_put_clock(p, &clock);
		} else if (r.type == META_DEVICE) {
			p = meta_put_text(p, META_DEVICE, owner->name, strlen(owner->name));
		} else {
			p = varint_put(varint_put(p, r.type), reader_left(&r.item));
			memcpy(p, r.item.at, reader_left(&r.item));
			p += reader_left(&r.item);
		}
	}
	return (uint32_t)(p - out);
}

uint8_t *tape_seal(const struct tape *t, uint64_t place, const struct tape_owner *owner,
		   uint8_t *out, uint32_t *ret_len)
{
	uint8_t *payload = out + FRAME_HEAD_MAX + BLOCK_HEADER_MAX, *start, head[FRAME_HEAD_MAX];
	uint64_t pass;
	const struct tape_block *from = get_block(t, place, &pass);
	const struct tape_stream *s = &t->streams[from->slot];
	struct block b = from->block;
	uint32_t len, head_len;

	if (b.codec == CODEC_META)
		b.payload_len = rewrite(t, from, owner, payload);
	else
		memcpy(payload, b.payload, b.payload_len);
	b.payload = payload;
	b.sequence += pass * s->blocks;
	if (b.flags & BLOCK_KEY && b.codec != CODEC_META) {
		b.before += pass * s->events;
		b.first_tick += pass * t->ticks;
	}
	start = block_encode(&b, payload, &len);
	head_len = frame_encode_head(head, FRAME_BLOCK, len);
	memcpy(start - head_len, head, head_len);
	*ret_len = head_len + len;
	return start - head_len;
}
