/* SPDX-License-Identifier: MIT */
/* sample_spaces: any bytes as what a profile says about itself, and every answer holds for as long as it says. */
#include <assert.h>

#include "trace/sample_spaces.h"

static void ask(const struct sample_spaces *s, int32_t pid, uint64_t tick, uint64_t address)
{
	struct sample_span span;
	const struct sample_mapping *m = sample_spaces_find(s, pid, tick, address, &span);

	assert(span.since <= tick && (tick < span.until || span.until == UINT64_MAX));
	assert(!m || (m->from <= address && address < m->to && m->path));
	assert(sample_spaces_get(s, pid, span.since, address) == m);
	assert(span.until == UINT64_MAX || sample_spaces_get(s, pid, span.until - 1, address) == m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sample_sampling sampling = { 0 };
	const struct sample_kernel_name *k;
	struct sample_spaces *s;
	uint64_t i;

	if (sample_spaces_new(&s) < 0)
		return 0;
	if (sample_spaces_decode(s, &sampling, data, size) == 0) {
		sample_spaces_settle(s);
		for (i = 0; i < 64; i++) {
			ask(s, (int32_t)(i % 4), i * 5, i << 10);
			k = sample_spaces_get_kernel(s, i << 8);
			assert(!k || (k->from <= i << 8 && i << 8 < k->to));
			sample_spaces_life(s, (int32_t)(i % 4), i * 5);
		}
	}
	sample_spaces_free(s);
	return 0;
}
