/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* block_encode: the writing half of block.h. */
#include "wire/block.h"
#include "wire/crc32c.h"
#include "wire/varint.h"

static uint8_t *put_lost(uint8_t *p, const struct block *b)
{
	uint32_t i, causes = 0;

	for (i = 0; i < LOSS_CAUSES; i++)
		if (b->lost[i])
			causes |= 1U << i;
	p = varint_put(p, causes);
	for (i = 0; i < LOSS_CAUSES; i++)
		if (b->lost[i]) /* an unknown count is written as 0 */
			p = varint_put(p, b->lost[i] == LOSS_UNKNOWN ? 0 : b->lost[i]);
	return p;
}

uint8_t *block_encode_open(const struct block *b, uint8_t *payload, uint32_t *ret_len)
{
	uint8_t header[BLOCK_HEADER_MAX], *p = header, *start;
	uint32_t len, i, flags = b->flags & BLOCK_KEY;

	for (i = 0; i < LOSS_CAUSES; i++)
		if (b->lost[i])
			flags |= BLOCK_LOST;
	*p++ = BLOCK_MAGIC0;
	*p++ = BLOCK_MAGIC1;
	*p++ = (uint8_t)(BLOCK_VERSION << 4 | b->codec);
	*p++ = (uint8_t)flags;
	put_le32(p, 0);
	p += 4;
	p = varint_put(p, b->stream);
	p = varint_put(p, b->sequence);
	if (flags & BLOCK_KEY) {
		p = varint_put(p, b->first_tick);
		p = varint_put(p, b->before);
	}
	p = varint_put(p, b->ticks);
	p = varint_put(p, b->events);
	if (flags & BLOCK_LOST)
		p = put_lost(p, b);
	p = varint_put(p, b->payload_len);

	len = (uint32_t)(p - header);
	start = payload - len;
	memcpy(start, header, len);
	*ret_len = len + b->payload_len;
	return start;
}

void block_seal(uint8_t *block, uint32_t len)
{
	uint32_t crc = crc32c_add(0, block, 4);

	put_le32(block + 4, crc32c_add(crc, block + 8, len - 8));
}

uint8_t *block_encode(const struct block *b, uint8_t *payload, uint32_t *ret_len)
{
	uint8_t *start = block_encode_open(b, payload, ret_len);

	block_seal(start, *ret_len);
	return start;
}
