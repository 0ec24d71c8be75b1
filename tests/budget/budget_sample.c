/* SPDX-License-Identifier: MIT */
/*
 * budget_sample: what codec `sample` may cost, in figures that do not depend on a clock.
 *
 *	budget_sample [encode=N] [decode=N]
 *
 * The records of a fixed host of virtual machines and of a fixed busy machine (tools/sample_random.h), as many of each,
 * are encoded and decoded, each N times, once if not said; the program itself checks that they come back, how many bits
 * they took and how large encoder and decoder are: a device has one for each CPU. instructions.py runs it under
 * callgrind with one more turn: the difference is what that turn costs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/sample_random.h"
#include "wire/sample_decode.h"
#include "wire/sample_encode.h"

#define RECORDS 10000U
#define ROOM (1U << 20)
#define BITS_BUDGET 80.0 /* 5 % above what it was when last changed */
#define STATE_BUDGET (256U * 1024)

static struct sample_random source;
static struct sample_event records[RECORDS];
static uint64_t chains[RECORDS][SAMPLE_CHAIN_MAX];
static struct sample_encoder encoder;
static struct sample_decoder decoder;
static struct sample_event decoded;
static uint8_t bytes[ROOM];

static bool make(void)
{
	uint32_t i;

	for (i = 0; i < RECORDS; i++) {
		if (i % (RECORDS / 2) == 0)
			sample_random_init(&source, 1, i ? SAMPLE_RANDOM_NATIVE : SAMPLE_RANDOM_VM);
		sample_random_next(&source, &records[i]);
		memcpy(chains[i], records[i].chain, sizeof(chains[i]));
		records[i].chain = chains[i];
	}
	return true;
}

/* Returns how many bytes there are, 0 if they do not fit. */
static uint32_t encode(void)
{
	uint32_t i;

	sample_encoder_init(&encoder);
	sample_encoder_begin(&encoder, bytes, ROOM, records[0].tick);
	for (i = 0; i < RECORDS; i++)
		if (sample_encode(&encoder, &records[i]) != WIRE_OK)
			return 0;
	return sample_encoder_end(&encoder);
}

/* Returns how many records there are, 0 if something is damaged. */
static uint32_t decode(uint32_t len)
{
	uint32_t i;

	sample_decoder_init(&decoder);
	if (sample_decoder_begin(&decoder, bytes, len, records[0].tick) != WIRE_OK)
		return 0;
	for (i = 0; i < RECORDS; i++)
		if (sample_decode(&decoder, &decoded) != WIRE_OK)
			return 0;
	return sample_decoder_end(&decoder) == WIRE_OK ? i : 0;
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
	uint32_t len = 0, n = 0;
	double bits;

	if (!make())
		return 1;
	for (; encodes; encodes--)
		len = encode();
	for (; decodes && len; decodes--)
		n = decode(len);
	if (n != RECORDS || !sample_event_equal(&decoded, &records[RECORDS - 1])) {
		fprintf(stderr, "budget_sample: the records do not come back\n");
		return 1;
	}
	bits = 8.0 * len / RECORDS;
	printf("events %u\nbits_per_event %.3f of %.3f\n", RECORDS, bits, BITS_BUDGET);
	printf("encoder_bytes %zu of %u\n", sizeof(encoder), STATE_BUDGET);
	return bits <= BITS_BUDGET && sizeof(encoder) <= STATE_BUDGET ? 0 : 1;
}
