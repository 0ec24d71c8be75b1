/* SPDX-License-Identifier: MIT */
/*
 * state: any bytes as the agent's mapped file; what is accepted can be read, sent, acknowledged and
 * written on. The input goes on with zeros up to the file's length. If its last byte is odd, the
 * checksums are made right first, and if bit 1 is set the boot is this one: else no random change
 * would ever come past them. If bit 3 is set the file has rows of threads, which are the bytes before
 * that last one, and the run of calls goes on.
 */
#include <assert.h>
#include <stdlib.h>

#include "device/agent/memory.h"
#include "device/agent/spool_ring.h"
#include "device/feed/func_run.h"

#define LEN_MAX (256U << 10)
#define ROWS 2U
#define ROWS_BYTES (ROWS * sizeof(struct memory_func_row))

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

static void repair_rows(struct memory *m)
{
	struct memory_func_row *row = memory_get_func_rows(m);
	uint32_t i;

	for (i = 0; i < 2 * ROWS; i++) {
		struct memory_func_place *p = &row[i / 2].places[i % 2];

		p->crc = memory_crc(p, offsetof(struct memory_func_place, crc));
		row[i / 2].crc = memory_crc(&row[i / 2], offsetof(struct memory_func_row, crc));
	}
}

/* Whatever the rows say, the run can be gone on with, and ended or begun. */
static void use_calls(struct spool *s)
{
	static uint8_t room[BLOCK_HEADER_MAX + 300];
	struct func_run_options o = { .spool = s, .device = "fuzz" };
	struct func_run_process p = { .start_tick = 1, .about = { .pid = 1 } };
	struct func_run_thread t = { .stream = 1 };
	struct func_run_block b = { .payload = room + BLOCK_HEADER_MAX,
				    .block = { .events = 1, .payload_len = 300 } };
	struct meta_clock clock = { .name = "mono", .name_len = 4, .mult = 1 };
	CLEANUP(func_run) struct func_run *run = NULL;
	struct func_run_place before, after;

	if (func_run_new(&run, &o, NULL) < 0)
		return;
	if (!func_run_is_open(run) && func_run_start(run, &clock, NULL) < 0)
		return;
	if (func_run_take_process(run, &p, NULL) == 0) {
		t.process = p.about.number;
		func_run_take_thread(run, &t, &b.row, NULL);
	}
	func_run_get_place(run, b.row, FUNC_LANE_CALLS, &before);
	if (func_run_put(run, &b) == 0) {
		func_run_get_place(run, b.row, FUNC_LANE_CALLS, &after);
		assert(after.next_sequence == before.next_sequence + 1);
		assert(after.count == before.count + 1);
	}
	if (func_run_stop(run, NULL) == 0)
		assert(!func_run_is_open(run));
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
	use_calls(s);
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

	o.func_rows = flags & 8 ? ROWS : 0;
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
	if (o.func_rows && size > ROWS_BYTES)
		memcpy(memory_get_func_rows(m), data + size - 1 - ROWS_BYTES, ROWS_BYTES);
	if (flags & 1)
		repair_ring(m);
	if (flags & 1 && o.func_rows)
		repair_rows(m);
	use(m, flags & 4 ? POLICY_FLIGHT : POLICY_OLDEST);
	return 0;
}
