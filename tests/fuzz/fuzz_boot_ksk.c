/* SPDX-License-Identifier: MIT */
/* boot_ksk: any bytes as a file with a boot stream, its checksums made right. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "trace/boot_ksk.h"
#include "wire/crc32c.h"
#include "wire/varint.h"

#define ITEMS_MAX 2000U

/* Checksums keep a fuzzer out of all that lies behind them. */
static void repair(uint8_t *data, size_t size)
{
	size_t at = 16;
	struct block b;
	uint32_t crc;

	while (at < size) {
		if (block_peek(data + at, size - at, &b) != WIRE_OK) {
			at++;
			continue;
		}
		crc = crc32c(0, data + at, 4);
		put_le32(data + at + 4, crc32c(crc, data + at + 8, b.len - 8));
		at += b.len;
	}
}

static void read_file(const uint8_t *data, size_t size)
{
	struct error e = ERROR_INIT;
	struct boot_source *s;
	struct boot_item item;
	uint32_t n;
	int r = 1;

	if (boot_ksk_open_memory(data, size, &s, &e) < 0)
		return;
	for (n = 0; n < ITEMS_MAX && (r = s->ops->next(s, &item, &e)) == 1; n++)
		assert(item.type == ITEM_EVENT ? item.event.kind < BOOT_KINDS
					       : item.loss.cause < LOSS_CAUSES);
	assert(r >= 0);
	boot_source_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size + 1);

	if (!copy)
		return 0;
	read_file(data, size);
	memcpy(copy, data, size);
	repair(copy, size);
	read_file(copy, size);
	free(copy);
	return 0;
}
