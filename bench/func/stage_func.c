/* SPDX-License-Identifier: MIT */
/*
 * stage_func: codec `func`, as the hook writes it and as it is sent.
 *
 * Segments end as those of a traced program do, after so many of the hook's bytes; each starts with
 * nothing but the open calls. A segment of the hook's bytes has a head of 16 bytes here, about what
 * the heads of its chunks are; what is sent are blocks with their headers.
 */
#include <stdlib.h>

#include "stage_block.h"
#include "wire/func_decode.h"
#include "wire/func_encode.h"
#include "wire/func_hook_decode.h"
#include "wire/func_hook_encode.h"

#define SEGMENT_BYTES (256U << 10)
#define SEGMENTS_MAX 4096U
#define SEGMENT_HEAD 16U /* le32 events, le32 bytes, le64 first tick */

struct segment {
	size_t from, count;
	struct func_stack *stack; /* what is open when it starts */
};

static struct segment segments[SEGMENTS_MAX];
static size_t segments_count;
static struct func_hook hook;
static struct func_hook_decoder hook_decoder;
static struct func_encoder encoder;
static struct func_decoder decoder;

static uint8_t *put_event(uint8_t *out, const struct func_event *ev)
{
	if (ev->kind == FUNC_ENTER)
		return func_hook_enter(&hook, out, ev->value, ev->tick);
	if (ev->kind == FUNC_EXIT)
		return func_hook_exit(&hook, out, ev->value, ev->tick);
	return func_hook_os(&hook, out, ev->os, ev->value, ev->tick);
}

/* One segment of the hook's bytes; returns its length, and moves *at on. */
static size_t put_segment(const struct thread *t, size_t *at, uint8_t *out)
{
	size_t from = *at;
	uint64_t tick = t->events[from].tick;
	uint8_t *bytes = out + SEGMENT_HEAD, *to = bytes;

	to += func_hook_begin(&hook, to, tick);
	while (*at < t->count && (size_t)(to - bytes) < SEGMENT_BYTES)
		to = put_event(to, &t->events[(*at)++]);
	put_le32(out, (uint32_t)(*at - from));
	put_le32(out + 4, (uint32_t)(to - bytes));
	put_le64(out + 8, tick);
	return (size_t)(to - out);
}

static size_t hook_encode(const struct thread *t, uint8_t *out, size_t room)
{
	size_t at = 0, len = 0;

	func_hook_init(&hook);
	while (at < t->count) {
		if (room - len < SEGMENT_HEAD + SEGMENT_BYTES + FUNC_HOOK_BEGIN_ROOM)
			return 0;
		len += put_segment(t, &at, out + len);
	}
	return len;
}

static bool hook_decode(const struct thread *t, const uint8_t *in, size_t len)
{
	struct byte_reader all, r;
	struct func_event ev;
	uint32_t n, i;
	size_t at = 0;

	for (reader_init(&all, in, len); reader_left(&all);) {
		const uint8_t *head = reader_bytes(&all, SEGMENT_HEAD);

		n = get_le32(head);
		reader_init(&r, reader_bytes(&all, get_le32(head + 4)), get_le32(head + 4));
		func_hook_decoder_init(&hook_decoder);
		if (n > t->count - at ||
		    func_hook_decode_begin(&hook_decoder, &r, get_le64(head + 8)))
			return false;
		for (i = 0; i < n; i++)
			if (func_hook_decode(&hook_decoder, &r, &ev) ||
			    !stage_same(&ev, &t->events[at++]))
				return false;
	}
	return at == t->count;
}

static void forget(void)
{
	while (segments_count)
		free(segments[--segments_count].stack);
}

/* Where the hook ends segments, and what is open there. */
static void prepare(const struct thread *t)
{
	uint8_t *scratch = malloc(SEGMENT_HEAD + SEGMENT_BYTES + FUNC_HOOK_BEGIN_ROOM);
	size_t at = 0;

	forget();
	func_hook_init(&hook);
	while (scratch && at < t->count && segments_count < SEGMENTS_MAX) {
		struct segment *s = &segments[segments_count++];

		s->from = at;
		s->stack = malloc(sizeof(*s->stack));
		if (s->stack)
			*s->stack = hook.model.stack;
		put_segment(t, &at, scratch);
		s->count = at - s->from;
	}
	free(scratch);
}

/* The blocks of a segment; 0 if something is wrong. */
static size_t put_blocks(const struct thread *t, const struct segment *s, struct block *b,
			 uint8_t *out, size_t room)
{
	size_t at = s->from, end = s->from + s->count, len = 0;
	enum wire_status status = WIRE_OK;

	func_encoder_init(&encoder, s->stack);
	while (at < end) {
		if (room - len < STAGE_BLOCK_ROOM || !s->stack)
			return 0;
		func_encoder_begin(&encoder, out + len + BLOCK_HEADER_MAX, BLOCK_PAYLOAD_MAX,
				   t->events[at].tick);
		for (b->events = 0; at + b->events < end; b->events++) {
			status = func_encode(&encoder, &t->events[at + b->events]);
			if (status != WIRE_OK)
				break;
		}
		if (status == WIRE_CORRUPT || !b->events)
			return 0;
		b->flags = at == s->from ? BLOCK_KEY : 0;
		b->payload_len = func_encoder_end(&encoder);
		len += stage_block_put(b, t, at, out + len);
		b->sequence++;
		at += b->events;
	}
	return len;
}

static size_t sent_encode(const struct thread *t, uint8_t *out, size_t room)
{
	struct block b = { .codec = CODEC_FUNC };
	size_t len = 0, n, i;

	for (i = 0; i < segments_count; i++) {
		n = put_blocks(t, &segments[i], &b, out + len, room - len);
		if (!n)
			return 0;
		len += n;
	}
	return len;
}

static bool sent_decode(const struct thread *t, const uint8_t *in, size_t len)
{
	struct func_event ev;
	struct block b;
	size_t at = 0;
	uint32_t i;

	for (; len; in += b.len, len -= b.len) {
		if (block_decode(in, len, &b) || b.events > t->count - at)
			return false;
		if (b.flags & BLOCK_KEY)
			func_decoder_init(&decoder);
		if (func_decoder_begin(&decoder, b.payload, b.payload_len, b.first_tick))
			return false;
		for (i = 0; i < b.events; i++)
			if (func_decode(&decoder, &ev) || !stage_same(&ev, &t->events[at++]))
				return false;
		if (func_decoder_end(&decoder))
			return false;
	}
	return at == t->count;
}

static const struct stage in_hook = { "func_hook", "func, in the hook", false,
				      NULL,	   hook_encode,		hook_decode };
static const struct stage sent = {
	"func", "func, as sent", false, prepare, sent_encode, sent_decode
};

const struct stage *const stage_func_list[] = { &in_hook, &sent, NULL };
