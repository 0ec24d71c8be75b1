/* SPDX-License-Identifier: MIT */
/*
 * state: any bytes as the agent's mapped file; what is accepted can be read, sent, acknowledged and
 * written on. The input goes on with zeros up to the file's length. If its last byte is odd, the
 * checksums are made right first, and if bit 1 is set the boot is this one: else no random change
 * would ever come past them.
 */
#include <assert.h>
#include <stdlib.h>

#include "device/agent/memory.h"
#include "device/agent/spool_ring.h"

#define LEN_MAX (256U << 10)

static void repair(uint8_t *bytes, const uint8_t boot[16], bool same_boot)
{
	struct memory_head *h = (struct memory_head *)bytes;
	int i;

	h->name.crc = memory_crc(&h->name, offsetof(struct memory_name, crc));
	for (i = 0; i < 2; i++) {
		if (same_boot)
			memcpy(h->mark[i].boot, boot, 16);
		h->mark[i].crc = memory_crc(&h->mark[i], offsetof(struct memory_mark, crc));
	}
	for (i = 0; i < (int)MESSAGE_RUNS_MAX; i++)
		h->runs[i].crc = memory_crc(&h->runs[i], offsetof(struct memory_run, crc));
}

static void repair_ring(struct memory *m)
{
	uint32_t size = memory_get_head(m)->name.spool_bytes, at;

	for (at = 0; at + sizeof(struct ring_head) <= size; at += 8) {
		struct ring_head *h = (struct ring_head *)(memory_get_ring(m) + at);

		if (h->magic != RING_MAGIC)
			continue;
		if (h->len <= size - at - sizeof(*h))
			h->body_crc = memory_crc(h + 1, h->len);
		h->crc = ring_head_crc(h);
	}
}

static void use(struct memory *m, uint8_t policy)
{
	struct spool_options o = { .memory = m, .policy = policy };
	CLEANUP(spool) struct spool *s = NULL;
	uint32_t numbers[MESSAGE_RUNS_MAX], i;
	struct spool_run run;
	struct spool_entry e;
	struct checkpoint at;
	uint64_t sent = 0;

	if (spool_open(&s, &o, NULL) < 0)
		return;
	spool_get_current(s, SPOOL_EVENTS, &run);
	for (i = spool_get_runs(s, numbers); i--;)
		assert(spool_get_run(s, numbers[i]));
	spool_rewind(s);
	for (; sent < 64 && spool_peek(s, &e); sent++, spool_sent(s))
		assert(memory_crc(e.bytes, e.len) ==
		       ((const struct ring_head *)(const void *)e.bytes)[-1].body_crc);
	assert(spool_ack(s, sent / 2) == 0);
	memset(&run, 0, sizeof(run));
	if (spool_start_run(s, &run, NULL) < 0)
		return;
	spool_get_checkpoint(s, 0, &at);
	for (i = 0; i < 60; i++) {
		e = (struct spool_entry){ .kind = FRAME_BLOCK,
					  .run = run.number,
					  .stream = 1,
					  .sequence = i,
					  .key = true,
					  .bytes = (const uint8_t *)&run,
					  .len = 1500 };
		if (!spool_put(s, &e, 0, &at))
			assert(spool_used(s) <= spool_size(s));
	}
	assert(spool_ack(s, sent) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t bytes[LEN_MAX] __attribute__((aligned(4096)));
	struct memory_options o = {
		.cpus = 1, .slots = 1, .slot_bytes = 4096, .spool_bytes = MEMORY_SPOOL_LEAST
	};
	CLEANUP(memory) struct memory *fresh = NULL, *m = NULL;
	uint8_t flags = size ? data[size - 1] : 0;
	size_t len;

	memory_check(data, size, NULL);
	if (memory_open(&fresh, &o, NULL) < 0)
		return 0;
	len = memory_get_len(fresh);
	assert(len <= LEN_MAX);
	memset(bytes, 0, len);
	memcpy(bytes, data, size < len ? size : len);
	if (flags & 1)
		repair(bytes, memory_get_mark(fresh)->boot, flags & 2);
	if (memory_adopt(&m, bytes, len, NULL) < 0)
		return 0;
	if (flags & 1)
		repair_ring(m);
	use(m, flags & 4 ? POLICY_FLIGHT : POLICY_OLDEST);
	return 0;
}
