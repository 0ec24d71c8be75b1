/* SPDX-License-Identifier: MIT */
/* sample_spaces: any bytes as what a profile says about itself, and every answer holds for as long as it says, and for as long as it is
 * needed: what is forgotten changes none of those that are asked for later. */
#include <assert.h>

#include "trace/sample_spaces.h"

#define ASKED 64U
#define FORGOTTEN 100U

static void ask(const struct sample_spaces *s, int32_t pid, uint64_t tick, uint64_t address)
{
	struct sample_span span;
	const struct sample_mapping *m = sample_spaces_find(s, pid, tick, address, &span);

	assert(span.since <= tick && (tick < span.until || span.until == UINT64_MAX));
	assert(!m || (m->from <= address && address < m->to && m->path));
	assert(sample_spaces_get(s, pid, span.since, address) == m);
	assert(span.until == UINT64_MAX || sample_spaces_get(s, pid, span.until - 1, address) == m);
}

/* Where what lies there begins, and since when it does; 0, 0: nothing. */
struct answer {
	uint64_t from, tick;
};

static struct answer answer(const struct sample_spaces *s, uint64_t i)
{
	const struct sample_mapping *m =
		sample_spaces_get(s, (int32_t)(i % 4), FORGOTTEN + i * 5, i << 10);

	return m ? (struct answer){ m->from, m->tick } : (struct answer){ 0, 0 };
}

static void forget(struct sample_spaces *s)
{
	const struct sample_horizon to = { .tick = FORGOTTEN };
	struct answer before[ASKED], after;
	uint64_t i;

	for (i = 0; i < ASKED; i++)
		before[i] = answer(s, i);
	if (sample_spaces_forget(s, &to) < 0)
		return;
	for (i = 0; i < ASKED; i++) {
		after = answer(s, i);
		assert(after.from == before[i].from && after.tick == before[i].tick);
	}
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
		for (i = 0; i < ASKED; i++) {
			ask(s, (int32_t)(i % 4), i * 5, i << 10);
			k = sample_spaces_get_kernel(s, i << 8);
			assert(!k || (k->from <= i << 8 && i << 8 < k->to));
			sample_spaces_life(s, (int32_t)(i % 4), i * 5);
		}
		forget(s);
	}
	sample_spaces_free(s);
	return 0;
}
