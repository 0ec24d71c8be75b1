/* SPDX-License-Identifier: MIT */
/*
 * checksum: CRC-32C with the instruction that the processor has for it.
 *
 * A collector checks every block of a thousand devices when it comes, and those who read a store or a
 * file check it again; byte by byte that was 60 % of the ingest's work. wire/crc32c.h cannot have
 * it: that is also compiled where nobody can be asked what the processor knows. The result is the
 * same.
 */
#ifndef KISEKI_STORE_CHECKSUM_H
#define KISEKI_STORE_CHECKSUM_H

#include "wire/block.h"

uint32_t checksum_crc32c(uint32_t crc, const void *data, size_t len);

/* block_decode(), faster. */
enum wire_status checksum_decode_block(const uint8_t *in, size_t len, struct block *ret);

#endif
