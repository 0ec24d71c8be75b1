/* SPDX-License-Identifier: MIT */
/* func_buffer: any bytes as the record of a process, and as its maps: read through, twice. */
#include <assert.h>

#include "trace/func_buffer.h"

static uint64_t read_all(struct func_source *s)
{
	struct error e = ERROR_INIT;
	struct func_item item;
	uint64_t n = 0;
	int r;

	while ((r = s->ops->next(s, &item, &e)) == 1) {
		assert(item.thread < s->n_threads);
		assert(item.type == FUNC_ITEM_EVENT ? item.event.kind <= FUNC_OS
						    : item.loss.cause < LOSS_CAUSES);
		n++;
	}
	assert(r == 0);
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct func_buffer_bytes bytes = { .data = data, .len = size };
	struct error e = ERROR_INIT;
	struct func_source *s;
	uint64_t n;

	bytes.maps = (const char *)data;
	bytes.maps_len = size;
	if (func_buffer_open_memory(&bytes, &s, &e) < 0)
		return 0;
	n = read_all(s);
	assert(s->ops->rewind(s, &e) == 0);
	assert(read_all(s) == n);
	func_source_free(s);
	return 0;
}
