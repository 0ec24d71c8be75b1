/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * crc32c: the checksum of blocks (Castagnoli, reflected, polynomial 0x82f63b78; docs/format/wire.md,
 * section 3.1).
 *
 * crc = crc32c_add(0, part1); crc = crc32c_add(crc, part2) gives the checksum of both. An event is
 * two bytes of a block: for a small one a byte at a time from one table of 1 KiB costs next to nothing,
 * and leaves a device its cache. Long ones go through eight tables, eight bytes at a time. Who has
 * an operating system can ask for the processor's instruction: store/checksum.h.
 */
#ifndef KISEKI_WIRE_CRC32C_H
#define KISEKI_WIRE_CRC32C_H

#include "wire/types.h"

uint32_t crc32c_add(uint32_t crc, const void *data, size_t len);

#endif
