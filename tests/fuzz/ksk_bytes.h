/* SPDX-License-Identifier: MIT */
/*
 * ksk_bytes: any bytes as a .ksk file, twice: as they are, and with the checksums of their blocks made right, which
 * keep a fuzzer out of all that lies behind them. Where they are right already, once is enough.
 */
#ifndef KISEKI_FUZZ_KSK_BYTES_H
#define KISEKI_FUZZ_KSK_BYTES_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "wire/block.h"
#include "wire/crc32c.h"
#include "wire/varint.h"

#define KSK_BYTES_HEADER 16U /* blocks are behind the file's own header */

/* Returns how many checksums were wrong. */
static inline unsigned int ksk_bytes_repair(uint8_t *data, size_t size)
{
	size_t at = KSK_BYTES_HEADER;
	unsigned int wrong = 0;
	struct block b;
	uint32_t crc;

	while (at < size) {
		if (block_peek(data + at, size - at, &b) != WIRE_OK) {
			at++;
			continue;
		}
		crc = crc32c_add(0, data + at, 4);
		crc = crc32c_add(crc, data + at + 8, b.len - 8);
		wrong += get_le32(data + at + 4) != crc;
		put_le32(data + at + 4, crc);
		at += b.len;
	}
	return wrong;
}

static inline void ksk_bytes_read(const uint8_t *data, size_t size,
				  void (*read)(const uint8_t *data, size_t size))
{
	uint8_t *copy = malloc(size + 1);

	if (!copy)
		return;
	read(data, size);
	memcpy(copy, data, size);
	if (ksk_bytes_repair(copy, size))
		read(copy, size);
	free(copy);
}

#endif
