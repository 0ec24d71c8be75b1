/* SPDX-License-Identifier: MIT */
/*
 * lane: the first bytes are its settings and the size of its ring, the others say what happens, step by
 * step: events of any form, filtered ones, flushes, a reader that reads, frees, falls back or lingers.
 * Every event must be found as it was given, or counted.
 */
#include <assert.h>
#include <stdlib.h>

#include "tools/lane_ledger.h"

#define EVENTS_MAX 1024U
#define RING_MOST (48U * 1024)

static uint8_t ring[RING_MOST];
static char path[SCHED_FILENAME_MAX];
static struct sched_event events[EVENTS_MAX];
static uint64_t n_events;
static struct lane lane;
static struct lane_ledger ledger;
static struct sched_dialect dialect;

static const struct sched_event *get_event(void *context, uint64_t index)
{
	(void)context;
	return index < n_events ? &events[index] : NULL;
}

/* An event out of two bytes: kind and tasks out of the first, time and the rest out of the second. */
static void make_event(struct sched_event *ev, uint8_t a, uint8_t b)
{
	memset(ev, 0, sizeof(*ev));
	ev->tick = n_events ? events[n_events - 1].tick : 1000000;
	ev->tick += b == 255 ? (uint64_t)-500 : (uint64_t)(b & 15) << (b >> 3 & 28);
	ev->tick &= UINT64_MAX >> 4;
	ev->kind = a % SCHED_KINDS;
	ev->pid = ev->task.pid = a >> 4;
	ev->other.pid = b >> 4;
	ev->task.prio = ev->kind == SCHED_SWITCH || ev->kind == SCHED_SETPRIO ? 120 + (b & 1) : 0;
	ev->task.comm[0] = (char)('a' + (a >> 4));
	ev->other.comm[0] = (char)('a' + (b >> 4));
	if (ev->kind == SCHED_EXEC) {
		memset(ev->task.comm, 0, SCHED_COMM_LEN);
		ev->filename = path;
		ev->filename_len = (uint16_t)(b >= 240 ? b << 4 : b >> 2); /* long ones take long */
	}
	if (ev->kind >= SCHED_WAKING && ev->kind <= SCHED_WAKEUP_NEW)
		ev->value = b == 254 ? 2000 : b & 3;
	if (ev->kind != SCHED_SWITCH && ev->kind != SCHED_FORK && ev->kind != SCHED_RENAME &&
	    ev->kind != SCHED_SETPRIO)
		memset(&ev->other, 0, sizeof(ev->other));
	if (ev->kind == SCHED_SETPRIO)
		memset(ev->other.comm, 0, SCHED_COMM_LEN);
	if (ev->kind == SCHED_RENAME || ev->kind == SCHED_SETPRIO)
		ev->other.pid = 0;
}

static void read_entries(uint32_t *position, uint32_t n, bool linger)
{
	struct ring_entry e;

	while (n-- && block_ring_pin(&lane.ring, position, &e)) {
		assert(e.bytes >= ring && e.bytes + e.len <= ring + lane.ring.size);
		lane_ledger_take(&ledger, &e);
		*position = e.end;
		if (!linger)
			block_ring_unpin(&lane.ring);
	}
}

static void step(uint32_t *position, uint8_t what, const uint8_t *two)
{
	uint32_t i, n = what >> 4;

	switch (what & 7) {
	case 0:
		lane_flush(&lane);
		break;
	case 1:
		read_entries(position, n, what & 8);
		break;
	case 2:
		block_ring_free(&lane.ring, *position);
		break;
	case 3:
		*position = block_ring_oldest(&lane.ring);
		block_ring_unpin(&lane.ring);
		break;
	default:
		for (i = 0; i <= n * (what & 8) && n_events < EVENTS_MAX; i++) {
			make_event(&events[n_events], two[0], (uint8_t)(two[1] + i));
			lane_take(&lane, &events[n_events++]);
		}
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lane_settings s = { .mult = 1, .dialect = &dialect };
	uint32_t position;
	size_t at;

	if (size < 6)
		return 0;
	dialect_init(&dialect);
	s.codec = data[0] & 1 ? CODEC_BSF : CODEC_SCHED;
	s.policy = data[0] & 2 ? POLICY_FLIGHT : POLICY_OLDEST;
	s.block_bytes = (uint32_t)data[1] << 6;
	s.flush_ticks = (uint64_t)data[2] << (data[3] & 31);
	s.run = data[4];
	n_events = 0;
	lane_init(&lane, data[0] >> 2, ring, (uint32_t)data[5] * (RING_MOST / 255));
	lane_start(&lane, &s);
	lane_ledger_init(&ledger, &lane);
	ledger.get = get_event;
	position = block_ring_oldest(&lane.ring);
	for (at = 6; at + 2 < size; at += 3) {
		step(&position, data[at], data + at + 1);
		assert(!ledger.wrong);
	}
	block_ring_unpin(&lane.ring);
	for (at = 0; at < 2; at++) { /* the second time to tell what had no room */
		lane_flush(&lane);
		read_entries(&position, UINT32_MAX, false);
		block_ring_free(&lane.ring, position);
	}
	lane_ledger_end(&ledger, &lane, n_events);
	assert(!ledger.wrong);
	return 0;
}
