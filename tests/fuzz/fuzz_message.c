/* SPDX-License-Identifier: MIT */
/* message: any bytes as frames of the protocol; what decodes, encodes, and then stays the same. */
#include <assert.h>

#include "tools/recode.h"

#define ROOM (2U << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t first[ROOM], second[ROOM];
	struct byte_writer w, again;
	struct frame f;

	for (; frame_decode(data, size, &f) == WIRE_OK; data += f.len, size -= f.len) {
		writer_init(&w, first, ROOM);
		if (recode(f.type, f.body, f.body_len, &w) != WIRE_OK)
			continue;
		assert(!w.full && writer_len(&w) <= f.body_len);
		writer_init(&again, second, ROOM);
		assert(recode(f.type, first, writer_len(&w), &again) == WIRE_OK);
		assert(writer_len(&again) == writer_len(&w) &&
		       !memcmp(first, second, writer_len(&w)));
	}
	return 0;
}
