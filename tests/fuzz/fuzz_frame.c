/* SPDX-License-Identifier: MIT */
/* frame: any bytes as frames; what decodes lies inside, and its head encodes to no more bytes. */
#include <assert.h>

#include "wire/frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t head[FRAME_HEAD_MAX];
	struct frame f, again;
	size_t at = 0;

	while (at < size && frame_decode(data + at, size - at, &f) == WIRE_OK) {
		assert(f.len <= size - at && f.body + f.body_len == data + at + f.len);
		assert(f.len - f.body_len >= frame_encode_head(head, f.type, f.body_len));
		assert(frame_decode(data + at, f.len - 1, &again) == WIRE_MORE);
		at += f.len;
	}
	return 0;
}
