/* SPDX-License-Identifier: MIT */
/* block: any bytes as blocks; what decodes must encode to a block that says the same. */
#include <assert.h>

#include "wire/block.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t buffer[BLOCK_HEADER_MAX + BLOCK_PAYLOAD_MAX];
	struct block b, again;
	size_t at = 0;
	uint32_t len;
	uint8_t *start;

	while (at < size) {
		if (block_peek(data + at, size - at, &b) == WIRE_OK) {
			assert(b.len <= size - at &&
			       b.payload + b.payload_len == data + at + b.len);
			memcpy(buffer + BLOCK_HEADER_MAX, b.payload, b.payload_len);
			start = block_encode(&b, buffer + BLOCK_HEADER_MAX, &len);
			assert(start >= buffer && block_decode(start, len, &again) == WIRE_OK);
			assert(again.stream == b.stream && again.sequence == b.sequence &&
			       again.first_tick == b.first_tick && again.before == b.before &&
			       again.ticks == b.ticks && again.events == b.events &&
			       again.payload_len == b.payload_len &&
			       !memcmp(again.lost, b.lost, sizeof(b.lost)));
			assert(len <= b.len); /* an encoder's varints are the shortest */
		}
		at += block_decode(data + at, size - at, &b) == WIRE_OK ? b.len : 1;
	}
	return 0;
}
