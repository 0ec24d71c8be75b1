/* SPDX-License-Identifier: MIT */
/*
 * sample: how many bits a record of a profile takes, beside general compressors, in the same run.
 *
 *	sample [LINES...]
 *
 * The records are those that tests/tools/sample_random.h makes, of a busy machine and of a host of virtual machines, or
 * those of files of lines (tests/tools/sample_text.h), a CPU after the other. Ours are segments of SEGMENT records in
 * blocks of BLOCK, so that each can be read alone and what is recorded is seen after a tenth of a second; every record is
 * decoded and compared before its size is believed. The compressors get all records at once, as structs with the chain
 * behind them and no bytes of padding.
 */
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>

#include "tools/sample_random.h"
#include "tools/sample_text.h"
#include "wire/block.h"
#include "wire/sample_decode.h"
#include "wire/sample_encode.h"

#define RECORDS_MAX 200000U
#define GENERATED 20000U
#define SEGMENT 10000U
#define BLOCK 100U
#define LINE_ROOM 8192U
#define RECORD_ROOM 1500U
#define ROOM (1U << 20)

struct records {
	struct sample_event *event;
	uint64_t (*chain)[SAMPLE_CHAIN_MAX];
	uint32_t n;
};

static struct sample_encoder encoder;
static struct sample_decoder decoder;
static uint8_t bytes[ROOM];

static void keep(struct records *r, const struct sample_event *ev)
{
	size_t n = (size_t)ev->n_kernel + ev->n_user;

	if (r->n == RECORDS_MAX)
		return;
	memcpy(r->chain[r->n], ev->chain, n * sizeof(uint64_t));
	r->event[r->n] = *ev;
	r->event[r->n].chain = r->chain[r->n];
	r->n++;
}

static void generate(struct records *r, unsigned style)
{
	static struct sample_random random;
	struct sample_event ev;

	sample_random_init(&random, 1, style);
	for (r->n = 0; r->n < GENERATED;) {
		sample_random_next(&random, &ev);
		keep(r, &ev);
	}
}

static bool load(struct records *r, const char *path)
{
	static char line[LINE_ROOM];
	static uint64_t chain[SAMPLE_CHAIN_MAX];
	FILE *f = fopen(path, "r");
	struct sample_event ev;
	uint32_t cpu;

	for (r->n = 0; f && fgets(line, sizeof(line), f);) {
		line[strcspn(line, "\n")] = 0;
		ev.chain = chain;
		if (sample_text_parse(line, &cpu, &ev, chain)) {
			ev.chain = chain;
			keep(r, &ev);
		}
	}
	if (f)
		fclose(f);
	return r->n > 0;
}

/* Bytes of a block of records, 0 if they do not come back. */
static uint32_t pass_block(const struct records *r, uint32_t from, uint32_t n, uint64_t tick)
{
	struct sample_event back;
	uint32_t i, len;

	sample_encoder_begin(&encoder, bytes, ROOM, tick);
	for (i = 0; i < n; i++)
		if (sample_encode(&encoder, &r->event[from + i]) != WIRE_OK)
			return 0;
	len = sample_encoder_end(&encoder);
	sample_decoder_begin(&decoder, bytes, len, tick);
	for (i = 0; i < n; i++)
		if (sample_decode(&decoder, &back) != WIRE_OK ||
		    !sample_event_equal(&back, &r->event[from + i]))
			return 0;
	return sample_decoder_end(&decoder) == WIRE_OK ? len : 0;
}

/* Bits of a record, headers of blocks as large as those of a device; 0 if one does not come back. */
static double ours(const struct records *r)
{
	const uint32_t header = 16;
	uint64_t sum = 0, tick = 0;
	uint32_t i, n, len;

	for (i = 0; i < r->n; i += n) {
		if (i % SEGMENT == 0) {
			sample_encoder_init(&encoder);
			sample_decoder_init(&decoder);
			tick = r->event[i].tick;
		}
		n = r->n - i < BLOCK ? r->n - i : BLOCK;
		len = pass_block(r, i, n, tick);
		if (!len)
			return 0;
		sum += len + header;
	}
	return 8.0 * (double)sum / r->n;
}

static uint8_t *put_task(uint8_t *p, const struct sample_task *t)
{
	memcpy(p, t, sizeof(*t));
	return p + sizeof(*t);
}

/* All records as bytes; returns how many. */
static size_t flatten(const struct records *r, uint8_t *out)
{
	uint8_t *p = out;
	uint32_t i;

	for (i = 0; i < r->n; i++) {
		const struct sample_event *ev = &r->event[i];
		uint64_t number[10] = { ev->tick,	   ev->value,	   ev->detail,
					ev->weight,	   ev->guest_pc,   ev->guest_table,
					ev->guest_context, ev->guest_task, ev->reason,
					ev->reason_detail };
		uint16_t small[4] = { ev->kind | (uint16_t)(ev->mode << 8), ev->guest, ev->n_kernel,
				      ev->n_user };
		size_t n = ((size_t)ev->n_kernel + ev->n_user) * sizeof(uint64_t);

		memcpy(p, number, sizeof(number));
		memcpy(p + sizeof(number), small, sizeof(small));
		p = put_task(p + sizeof(number) + sizeof(small), &ev->task);
		p = put_task(p, &ev->next);
		memcpy(p, ev->chain, n);
		p += n;
	}
	return (size_t)(p - out);
}

static bool measure(const char *name, const struct records *r)
{
	size_t room = (size_t)r->n * RECORD_ROOM + 4096, len, zstd, xz = 0;
	uint8_t *flat = malloc(room), *packed = malloc(room);
	double mine = ours(r);
	bool good = flat && packed && mine > 0;

	if (good) {
		len = flatten(r, flat);
		zstd = ZSTD_compress(packed, room, flat, len, 19);
		good = !ZSTD_isError(zstd) &&
		       lzma_easy_buffer_encode(9 | LZMA_PRESET_EXTREME, LZMA_CHECK_NONE, NULL, flat,
					       len, packed, &xz, room) == LZMA_OK;
		printf("| %s | %u | %.0f | %.1f | %.1f | %.1f |\n", name, r->n,
		       8.0 * (double)len / r->n, mine, 8.0 * (double)zstd / r->n,
		       8.0 * (double)xz / r->n);
	}
	free(flat);
	free(packed);
	return good;
}

int main(int argc, char **argv)
{
	struct records r = { calloc(RECORDS_MAX, sizeof(*r.event)),
			     calloc(RECORDS_MAX, sizeof(*r.chain)), 0 };
	bool good = r.event && r.chain;
	int i;

	printf("| bits of a record | records | struct | `sample` | `zstd -19` | `xz -9e` |\n"
	       "|---|--:|--:|--:|--:|--:|\n");
	if (good && argc < 2) {
		generate(&r, SAMPLE_RANDOM_NATIVE);
		good = measure("busy machine", &r);
		generate(&r, SAMPLE_RANDOM_VM);
		good = good && measure("virtual machines", &r);
	}
	for (i = 1; good && i < argc; i++)
		good = load(&r, argv[i]) && measure(argv[i], &r);
	free(r.event);
	free(r.chain);
	if (!good)
		fprintf(stderr, "sample: the records do not come back\n");
	return !good;
}
