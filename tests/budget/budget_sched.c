/* SPDX-License-Identifier: MIT */
/*
 * budget_sched: what codec `sched` may cost, in figures that do not depend on a clock.
 *
 *	budget_sched [encode=N] [decode=N]
 *
 * A fixed stream of random events is encoded and decoded, N times each and once if not said. The
 * program itself checks that they come back, how many bytes they took and how large the encoder is.
 * instructions.py runs it under callgrind with one more turn of the one or the other: the difference
 * is what that turn costs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/sched_random.h"
#include "wire/sched_decode.h"
#include "wire/sched_encode.h"

#define EVENTS 20000U
#define SEED 2026U
#define ROOM (64U * 1024)
#define BLOCK_BYTES (32U * 1024)
#define BLOCKS 64U
#define BYTES_BUDGET 4.13 /* per event of this stream: 5 % above what it was when last changed */
#define STATE_BUDGET (192U * 1024)

struct payload {
	uint32_t len;
	uint32_t events;
	uint64_t tick;
	uint8_t data[ROOM];
};

static struct sched_random generator;
static struct sched_event events[EVENTS];
static struct sched_encoder encoder;
static struct sched_decoder decoder;
static struct payload payloads[BLOCKS];
static struct sched_event decoded;

/* Returns how many blocks there are, 0 if they do not fit. */
static size_t encode(void)
{
	struct payload *p = payloads;
	size_t i;

	sched_encoder_init(&encoder, 0);
	sched_encoder_begin(&encoder, p->data, ROOM, events[0].tick);
	p->tick = events[0].tick;
	p->events = 0;
	for (i = 0; i < EVENTS; i++) {
		if (encoder.rc.pos >= BLOCK_BYTES) {
			p->len = sched_encoder_end(&encoder);
			if (++p == payloads + BLOCKS)
				return 0;
			sched_encoder_begin(&encoder, p->data, ROOM, events[i].tick);
			p->events = 0;
		}
		if (sched_encode(&encoder, &events[i]) != WIRE_OK)
			return 0;
		p->events++;
	}
	p->len = sched_encoder_end(&encoder);
	return (size_t)(p - payloads) + 1;
}

/* Returns how many events there are, 0 if something is damaged. */
static size_t decode(void)
{
	size_t n = 0;
	uint32_t i;
	struct payload *p;

	sched_decoder_init(&decoder, 0);
	for (p = payloads; p->events; p++) {
		sched_decoder_begin(&decoder, p->data, p->len, p->tick);
		for (i = 0; i < p->events; i++, n++)
			if (sched_decode(&decoder, &decoded) != WIRE_OK)
				return 0;
		if (sched_decoder_end(&decoder) != WIRE_OK)
			return 0;
	}
	return n;
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
	unsigned encodes = turns_of("encode", argc, argv), decodes = turns_of("decode", argc, argv);
	size_t blocks = 0, n = 0, bytes = 0, i;
	double each;

	if (make_events() < 0)
		return 1;
	for (; encodes; encodes--)
		blocks = encode();
	for (; decodes && blocks; decodes--)
		n = decode();
	if (n != EVENTS || !sched_event_equal(&decoded, &events[EVENTS - 1])) {
		fprintf(stderr, "budget_sched: the events do not come back\n");
		return 1;
	}
	for (i = 0; i < blocks; i++)
		bytes += payloads[i].len;
	each = (double)bytes / EVENTS;
	printf("events %u\nbytes_per_event %.3f of %.3f\nencoder_bytes %zu of %u\n", EVENTS, each,
	       BYTES_BUDGET, sizeof(encoder), STATE_BUDGET);
	return each <= BYTES_BUDGET && sizeof(encoder) <= STATE_BUDGET ? 0 : 1;
}
