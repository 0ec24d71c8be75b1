/* SPDX-License-Identifier: MIT */
/*
 * budget_lane: what a lane of the driver may cost, in figures that do not depend on a clock.
 *
 *	budget_lane [take=N] [encode=N] [start=N]
 *
 * A fixed stream of random events goes through a lane, N times, and as often through the bare encoder
 * into blocks of the same size: the difference is what blocks, frames and the ring cost. Start is the
 * first event of a segment, as often as there are events: all of it happens in one probe, with
 * interrupts off. The program itself checks the size of a lane, and how much of the ring is overhead. instructions.py
 * counts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/driver/core/lane.h"
#include "tools/sched_random.h"

#define EVENTS 20000U
#define SEED 2026U
#define RING (111U * 1024)
#define LANE_BUDGET (160U * 1024)
#define OVERHEAD_BUDGET 2.5 /* percent of the payload: heads, headers, the room before them */

static struct sched_random generator;
static struct sched_event events[EVENTS];
static struct lane lane;
static struct sched_encoder encoder;
static uint8_t ring[RING], room[LANE_BLOCK + SCHED_EVENT_ROOM + SCHED_FILENAME_MAX];
static uint64_t ring_bytes;

/* Returns the bytes of the blocks' payloads. */
static uint64_t encode(void)
{
	uint64_t bytes = 0;
	uint32_t i, segment = 0;

	sched_encoder_init(&encoder, 0);
	sched_encoder_begin(&encoder, room, sizeof(room), events[0].tick);
	for (i = 0; i < EVENTS; i++) {
		if (encoder.rc.pos >= LANE_BLOCK) {
			segment += encoder.rc.pos;
			bytes += sched_encoder_end(&encoder);
			if (segment >= LANE_SEGMENT) {
				sched_encoder_init(&encoder, 0);
				segment = 0;
			}
			sched_encoder_begin(&encoder, room, sizeof(room), events[i].tick);
		}
		if (sched_encode(&encoder, &events[i]) != WIRE_OK)
			return 0;
	}
	return bytes + sched_encoder_end(&encoder);
}

/* Returns the bytes of segments of one event each. */
static uint64_t start(void)
{
	uint64_t bytes = 0;
	uint32_t i;

	for (i = 0; i < EVENTS; i++) {
		sched_encoder_init(&encoder, 0);
		sched_encoder_begin(&encoder, room, sizeof(room), events[i].tick);
		if (sched_encode(&encoder, &events[i]) != WIRE_OK)
			return 0;
		bytes += sched_encoder_end(&encoder);
	}
	return bytes;
}

/* Returns how many events are in blocks. */
static uint64_t take(void)
{
	static const struct lane_settings s = { .codec = CODEC_SCHED,
						.block_bytes = LANE_BLOCK,
						.flush_ticks = UINT64_MAX };
	struct lane_counts counts;
	uint32_t i;

	ring_bytes = 0;
	block_ring_init(&lane.ring, ring, RING); /* each turn skips the same */
	lane_start(&lane, &s);
	for (i = 0; i < EVENTS; i++)
		if (lane_take(&lane, &events[i]) == LANE_WAKE) {
			ring_bytes += block_ring_used(&lane.ring);
			block_ring_free(&lane.ring, lane.ring.head);
		}
	lane_flush(&lane);
	ring_bytes += block_ring_used(&lane.ring);
	block_ring_free(&lane.ring, lane.ring.head);
	lane_get_counts(&lane, &counts);
	return counts.events - counts.lost[LOSS_BUFFER];
}

static int make_events(void)
{
	char *name;
	size_t i;

	sched_random_init(&generator, SEED, SCHED_RANDOM_REAL);
	for (i = 0; i < EVENTS; i++) {
		sched_random_next(&generator, &events[i]);
		if (!events[i].filename_len)
			continue;
		name = malloc(events[i].filename_len); /* lives as long as the program */
		if (!name)
			return -1;
		memcpy(name, events[i].filename, events[i].filename_len);
		events[i].filename = name;
	}
	return 0;
}

/* The number behind "what=" among the arguments, 1 if there is none. */
static unsigned turns_of(const char *what, int argc, char **argv)
{
	size_t len = strlen(what);
	int i;

	for (i = 1; i < argc; i++)
		if (!strncmp(argv[i], what, len) && argv[i][len] == '=')
			return (unsigned)strtoul(argv[i] + len + 1, NULL, 10);
	return 1;
}

int main(int argc, char **argv)
{
	unsigned takes = turns_of("take", argc, argv), encodes = turns_of("encode", argc, argv);
	unsigned starts = turns_of("start", argc, argv);
	uint64_t taken = 0, bytes = 0, started = 0;
	double overhead;

	if (make_events() < 0)
		return 1;
	lane_init(&lane, 0, ring, RING);
	for (; takes; takes--)
		taken = take();
	for (; encodes; encodes--)
		bytes = encode();
	for (; starts; starts--)
		started = start();
	if (taken != EVENTS || !bytes || !started) {
		fprintf(stderr, "budget_lane: events are lost\n");
		return 1;
	}
	overhead = 100.0 * ((double)ring_bytes - (double)bytes) / (double)bytes;
	printf("events %u\noverhead_percent %.2f of %.2f\nlane_bytes %zu of %u\n", EVENTS, overhead,
	       OVERHEAD_BUDGET, sizeof(lane), LANE_BUDGET);
	return overhead <= OVERHEAD_BUDGET && sizeof(lane) <= LANE_BUDGET ? 0 : 1;
}
