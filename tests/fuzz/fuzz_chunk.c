/* SPDX-License-Identifier: MIT */
/* chunk: any bytes as buckets; what decodes must encode to buckets that say the same. */
#include <assert.h>
#include <stdlib.h>

#include "analysis/ladder.h"

static struct chunk_reader reader, again;
static struct chunk_writer writer;
static struct bucket bucket, other;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ladder *ladder = NULL;
	size_t n = 0;

	chunk_writer_reset(&writer);
	chunk_reader_init(&reader, data, size);
	for (; chunk_reader_next(&reader, &bucket) == WIRE_OK; n++) {
		assert(chunk_writer_push(&writer, &bucket) == 0);
		chunk_reader_init(&again, writer.data, writer.len);
		while (chunk_reader_next(&again, &other) == WIRE_OK)
			;
		assert(!again.bytes.bad && other.index == bucket.index);
		assert(!memcmp(&other.counts, &bucket.counts, sizeof(other.counts)));
		assert(other.n_tasks == bucket.n_tasks && other.before.type == bucket.before.type);
	}
	if (!n) /* a ladder is large, and has nothing else to refuse */
		return 0;
	assert(ladder_new(&ladder, NULL, NULL) == 0);
	if (ladder_load(ladder, 0, data, size) == 0 && bucket.index < UINT64_MAX - 1000) {
		bucket.index += 1000;
		assert(ladder_push(ladder, &bucket) == 0);
	}
	ladder_free(ladder);
	return 0;
}
