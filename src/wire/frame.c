/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* frame: see frame.h. */
#include "wire/frame.h"

enum wire_status frame_decode(const uint8_t *in, size_t len, struct frame *ret)
{
	struct byte_reader r;
	uint64_t body_len;

	memset(ret, 0, sizeof(*ret));
	if (len == 0)
		return WIRE_MORE;
	if (in[0] == 0 || in[0] > FRAME_TYPE_MAX)
		return WIRE_CORRUPT;
	reader_init(&r, in + 1, (len < FRAME_HEAD_MAX ? len : FRAME_HEAD_MAX) - 1);
	body_len = reader_varint(&r);
	if (r.bad)
		return len < FRAME_HEAD_MAX ? WIRE_MORE : WIRE_CORRUPT;
	if (body_len > FRAME_BODY_MAX)
		return WIRE_CORRUPT;
	ret->type = in[0];
	ret->body = r.at;
	ret->body_len = (uint32_t)body_len;
	ret->len = (uint32_t)(r.at - in) + ret->body_len;
	return ret->len > len ? WIRE_MORE : WIRE_OK;
}
