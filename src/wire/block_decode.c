/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* block_decode: the reading half of block.h. Every length is checked before it is believed. */
#include "wire/block.h"
#include "wire/crc32c.h"
#include "wire/varint.h"

static bool get_lost(struct byte_reader *r, struct block *b)
{
	uint64_t causes = reader_varint(r);
	uint32_t i;

	if (!causes || causes >> LOSS_CAUSES)
		return false;
	for (i = 0; i < LOSS_CAUSES; i++) {
		if (!(causes >> i & 1))
			continue;
		b->lost[i] = reader_varint(r);
		if (!b->lost[i])
			b->lost[i] = LOSS_UNKNOWN;
	}
	return true;
}

enum wire_status block_peek(const uint8_t *in, size_t len, struct block *b)
{
	struct byte_reader r;
	uint64_t stream, events, payload_len;
	bool fine = true;

	memset(b, 0, sizeof(*b));
	if (len < 9)
		return WIRE_MORE;
	if (in[0] != BLOCK_MAGIC0 || in[1] != BLOCK_MAGIC1 || in[2] >> 4 != BLOCK_VERSION ||
	    in[3] & ~BLOCK_FLAGS)
		return WIRE_CORRUPT;
	b->codec = in[2] & 15;
	b->flags = in[3];
	reader_init(&r, in + 8, len - 8);
	stream = reader_varint(&r);
	b->sequence = reader_varint(&r);
	if (b->flags & BLOCK_KEY) {
		b->first_tick = reader_varint(&r);
		b->before = reader_varint(&r);
	}
	b->ticks = reader_varint(&r);
	events = reader_varint(&r);
	if (b->flags & BLOCK_LOST)
		fine = get_lost(&r, b);
	payload_len = reader_varint(&r);
	if (r.bad)
		return len < BLOCK_HEADER_MAX ? WIRE_MORE : WIRE_CORRUPT;
	if (!fine || stream > UINT32_MAX || events > BLOCK_EVENTS_MAX ||
	    payload_len > BLOCK_PAYLOAD_MAX)
		return WIRE_CORRUPT;
	b->stream = (uint32_t)stream;
	b->events = (uint32_t)events;
	b->payload_len = (uint32_t)payload_len;
	b->payload = r.at;
	b->len = (uint32_t)(r.at - in) + b->payload_len;
	return b->payload_len > reader_left(&r) ? WIRE_MORE : WIRE_OK;
}

enum wire_status block_decode(const uint8_t *in, size_t len, struct block *b)
{
	enum wire_status status = block_peek(in, len, b);
	uint32_t crc;

	if (status != WIRE_OK)
		return status;
	crc = crc32c_add(0, in, 4);
	crc = crc32c_add(crc, in + 8, b->len - 8);
	return crc == get_le32(in + 4) ? WIRE_OK : WIRE_CORRUPT;
}
