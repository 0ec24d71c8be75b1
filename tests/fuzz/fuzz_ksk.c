/* SPDX-License-Identifier: MIT */
/* ksk: any bytes as a file: read through, then from a tick on, then checked as a whole. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "trace/ksk_source.h"
#include "wire/crc32c.h"
#include "wire/varint.h"

#define ITEMS_MAX 2000U

static uint64_t read_some(struct trace_source *s)
{
	struct error e = ERROR_INIT;
	struct trace_item item;
	uint64_t last = 0;
	uint32_t n;
	int r;

	for (n = 0; n < ITEMS_MAX; n++) {
		r = s->ops->next(s, &item, &e);
		assert(r >= 0 || r == -ENOMEM);
		if (r <= 0)
			break;
		assert(item.cpu < s->info.cpus);
		assert(item.type == ITEM_EVENT ? item.event.kind < SCHED_KINDS
					       : item.loss.cause < LOSS_CAUSES && item.loss.count);
		last = item_tick(&item);
	}
	return last;
}

/* Checksums keep a fuzzer out of all that lies behind them: so they are made right. */
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
	struct trace_source *s;
	uint64_t last;

	if (source_ksk_open_memory(&s, data, size, &e) < 0)
		return;
	last = read_some(s);
	assert(s->ops->seek(s, last - last / 4, &e) == 0);
	read_some(s);
	assert(s->ops->rewind(s, &e) == 0);
	read_some(s);
	ksk_file_verify(source_ksk_file(s), &e);
	source_free(s);
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
