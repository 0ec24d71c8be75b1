/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * frame: how blocks and messages follow each other on a connection (docs/format/wire.md,
 * section 9).
 *
 * A type, a length, and that many bytes. Who does not know a type skips the frame. A block carries
 * its own checksum and TCP carries the rest, so a frame has none. The length is bounded, so that a
 * peer can be told from garbage before memory is spent on it.
 */
#ifndef KISEKI_WIRE_FRAME_H
#define KISEKI_WIRE_FRAME_H

#include "wire/block.h"
#include "wire/varint.h"

#define FRAME_HEAD_MAX 6U
#define FRAME_BODY_MAX (BLOCK_HEADER_MAX + BLOCK_PAYLOAD_MAX)
#define FRAME_TYPE_MAX 127U

/* Types 1 to 63 are the protocol's (docs/format/protocol.md), 64 to 127 are free for experiments. */
enum frame_type {
	FRAME_BLOCK = 1,       /* device: one block as block.h has it */
	FRAME_HELLO = 2,       /* device: who it is, and what it holds; the first frame */
	FRAME_WELCOME = 3,     /* collector: where to go on; its first frame */
	FRAME_RUN = 4,	       /* device: the frames that follow are of this run */
	FRAME_RUN_END = 5,     /* device: the run is over, and how much it had */
	FRAME_ACK = 6,	       /* collector: so many blocks and ends are durable */
	FRAME_INSTRUCTION = 7, /* collector: start, stop, configure */
	FRAME_RESULT = 8,      /* device: what became of an instruction */
	FRAME_STATUS = 9,      /* device: how it is */
	FRAME_PING = 10,       /* collector: what time is it there? */
	FRAME_PONG = 11,       /* device: the answer */
	FRAME_BYE = 12,	       /* either: why it closes the connection */
	FRAME_WANT = 13,   /* collector: a piece of an object is wanted; skipped by who has none */
	FRAME_PIECE = 14,  /* device: the answer */
	FRAME_ENROLL = 32, /* device: wants a certificate (enroll.h); its first frame then */
	FRAME_CERTIFICATE = 33, /* collector: here it is */
};

static inline bool frame_is_known(uint32_t type)
{
	return (type >= FRAME_BLOCK && type <= FRAME_PIECE) || type == FRAME_ENROLL ||
	       type == FRAME_CERTIFICATE;
}

struct frame {
	uint32_t type;
	const uint8_t *body; /* borrowed */
	uint32_t body_len;
	uint32_t len; /* of the whole frame */
};

/* The head of a frame whose body of body_len bytes follows; returns its length. */
static inline uint32_t frame_encode_head(uint8_t head[FRAME_HEAD_MAX], uint32_t type,
					 uint32_t body_len)
{
	uint8_t *p = head;

	*p++ = (uint8_t)type;
	return (uint32_t)(varint_put(p, body_len) - head);
}

/* WIRE_MORE: read on, the frame is not whole; ret->len is its length if that is known, else 0. */
enum wire_status frame_decode(const uint8_t *in, size_t len, struct frame *ret);

#endif
