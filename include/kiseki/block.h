/* SPDX-License-Identifier: MIT */
/*
 * kiseki/block: events of one CPU as blocks, the unit that is sent and stored (docs/format/wire.md), and back.
 *
 * The blocks of a stream belong together: a decoder is given all of them, in order, from one that starts a segment on.
 */
#ifndef KISEKI_BLOCK_H
#define KISEKI_BLOCK_H

#include <stddef.h>

#include <kiseki/event.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define KS_BLOCK_KEY 1U	 /* it starts a segment */
#define KS_BLOCK_LOST 2U /* events are missing before it */

#define KS_CODEC_META 0U
#define KS_CODEC_SCHED 1U

/* What the header of a block says. */
struct ks_block {
	uint32_t codec;
	uint32_t flags;
	uint32_t stream;
	uint32_t events;
	uint64_t sequence;
	uint64_t first_tick; /* with KS_BLOCK_KEY */
	uint64_t
		before; /* with KS_BLOCK_KEY: events of the stream until then, lost ones included */
	uint64_t ticks; /* it lasts */
	uint64_t lost[8];	/* by enum ks_cause; KS_COUNT_UNKNOWN: some */
	const uint8_t *payload; /* borrowed from the bytes */
	uint32_t payload_len;
	uint32_t len; /* of all of it */
	uint64_t reserved[4];
};

/* 0; -EAGAIN: the bytes do not hold all of it; -EBADMSG: they are no block, or damaged. */
int ks_block_decode(const void *bytes, size_t len, struct ks_block *ret);

struct ks_encoder;

/* -EINVAL: there is no such CPU; -ENOMEM. */
int ks_encoder_new(struct ks_encoder **ret, uint32_t cpu);
void ks_encoder_free(struct ks_encoder *c);

/* 0; -EAGAIN: the block is full: take it, and push the event again; -EINVAL: it is no event. */
int ks_encoder_push(struct ks_encoder *c, const struct ks_event *event);

/* Tells of events that are missing before the next one. -EAGAIN: take the block first. */
int ks_encoder_push_loss(struct ks_encoder *c, uint32_t cause, uint64_t count);

/* Ends the block. 1: *ret and *ret_len are its bytes, until the next push; 0: there is nothing in it. With `key`, the
 * next block starts a segment, from which on the stream can be read without what was before. */
int ks_encoder_take(struct ks_encoder *c, int key, const uint8_t **ret, size_t *ret_len);

struct ks_decoder;

int ks_decoder_new(struct ks_decoder **ret, uint32_t cpu);
void ks_decoder_free(struct ks_decoder *c);

/* The next block of the stream, whose bytes must stay until its last event was got. 0; -EBADMSG: it is damaged, or of
 * another stream; -ESTALE: it is not what follows, and starts no segment. After either only a KEY block is taken. */
int ks_decoder_push(struct ks_decoder *c, const void *bytes, size_t len, struct ks_block *ret);

/* 1: *ret is the next event of the block; 0: that was all of it; -EBADMSG: the rest of the segment is damaged. */
int ks_decoder_next(struct ks_decoder *c, struct ks_event *ret);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
