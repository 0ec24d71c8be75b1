/* SPDX-License-Identifier: MIT */
/*
 * budget_boot: what codec `boot` may cost, in figures that do not depend on a clock.
 *
 *	budget_boot [encode=N] [decode=N]
 *
 * The records of a fixed boot (tools/boot_random.h) are encoded and decoded, each N times, once if not said; the
 * program itself checks that they come back, how many bits they took and how large encoder and decoder
 * are: a recorder has a megabyte for all. instructions.py runs it under callgrind with one more turn: the
 * difference is what that turn costs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/boot_random.h"
#include "wire/boot_decode.h"
#include "wire/boot_encode.h"

#define RECORDS 20000U
#define ROOM (1U << 20)
#define TEXTS (1U << 20)
#define BITS_BUDGET 34.2 /* 5 % above what it was when last changed */
#define STATE_BUDGET (160U * 1024)

static struct boot_random source;
static struct boot_event records[RECORDS];
static char texts[TEXTS];
static struct boot_encoder encoder;
static struct boot_decoder decoder;
static struct boot_event decoded;
static uint8_t bytes[ROOM];

static bool make(void)
{
	uint32_t i, used = 0;

	boot_random_init(&source, 1, BOOT_RANDOM_REAL);
	for (i = 0; i < RECORDS; i++) {
		boot_random_next(&source, &records[i]);
		if (used + records[i].text_len > TEXTS)
			return false;
		if (records[i].text_len)
			memcpy(texts + used, records[i].text, records[i].text_len);
		records[i].text = texts + used;
		used += records[i].text_len;
	}
	return true;
}

/* Returns how many bytes there are, 0 if they do not fit. */
static uint32_t encode(void)
{
	uint32_t i;

	boot_encoder_init(&encoder);
	boot_encoder_begin(&encoder, bytes, ROOM, records[0].tick);
	for (i = 0; i < RECORDS; i++)
		if (boot_encode(&encoder, &records[i]) != WIRE_OK)
			return 0;
	return boot_encoder_end(&encoder);
}

/* Returns how many records there are, 0 if something is damaged. */
static uint32_t decode(uint32_t len)
{
	uint32_t i;

	boot_decoder_init(&decoder);
	if (boot_decoder_begin(&decoder, bytes, len, records[0].tick) != WIRE_OK)
		return 0;
	for (i = 0; i < RECORDS; i++)
		if (boot_decode(&decoder, &decoded) != WIRE_OK)
			return 0;
	return boot_decoder_end(&decoder) == WIRE_OK ? i : 0;
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
	if (n != RECORDS || !boot_event_equal(&decoded, &records[RECORDS - 1])) {
		fprintf(stderr, "budget_boot: the records do not come back\n");
		return 1;
	}
	bits = 8.0 * len / RECORDS;
	printf("events %u\nbits_per_event %.3f of %.3f\n", RECORDS, bits, BITS_BUDGET);
	printf("encoder_bytes %zu of %u\n", sizeof(encoder), STATE_BUDGET);
	return bits <= BITS_BUDGET && sizeof(encoder) <= STATE_BUDGET ? 0 : 1;
}
