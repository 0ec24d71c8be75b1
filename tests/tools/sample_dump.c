/* SPDX-License-Identifier: MIT */
/*
 * sample_dump: the records of a profile as they are in its streams, a line each (sample_text.h), CPU by CPU.
 *
 *	sample_dump FILE.ksk [bits]
 *
 * With `bits` it prints instead how many records and bits each has there. Blocks are read as they come, without the
 * reader of the program: what is damaged ends it.
 */
#include <stdlib.h>

#include "store/ksk_file.h"
#include "tools/sample_text.h"
#include "wire/sample_decode.h"

static struct sample_decoder decoder;

struct tally {
	unsigned long long records, bytes;
};

static bool dump_block(const struct block *b, uint32_t cpu, uint64_t *first_tick, bool quiet)
{
	struct sample_event ev;
	uint32_t i;

	for (i = 0; i < LOSS_CAUSES && !quiet; i++) {
		if (b->lost[i] == LOSS_UNKNOWN)
			printf("loss %u %u ?\n", cpu, i);
		else if (b->lost[i])
			printf("loss %u %u %llu\n", cpu, i, (unsigned long long)b->lost[i]);
	}
	if (b->flags & BLOCK_KEY) {
		sample_decoder_init(&decoder);
		*first_tick = b->first_tick;
	}
	if (b->codec != CODEC_SAMPLE ||
	    sample_decoder_begin(&decoder, b->payload, b->payload_len, *first_tick) != WIRE_OK)
		return false;
	for (i = 0; i < b->events; i++) {
		if (sample_decode(&decoder, &ev) != WIRE_OK)
			return false;
		if (!quiet)
			sample_text_put(stdout, cpu, &ev);
	}
	return sample_decoder_end(&decoder) == WIRE_OK;
}

static bool dump_stream(struct block_reader *r, uint32_t stream, bool quiet, struct tally *t)
{
	uint64_t place = 0, at, first_tick = 0;
	struct block b;

	while (r->ops->next(r, stream, &place, &b, &at) == 1) {
		if (!b.payload || !dump_block(&b, stream - STREAM_SAMPLE_FIRST, &first_tick, quiet))
			return false;
		t->records += b.events;
		t->bytes += b.len;
	}
	return true;
}

int main(int argc, char **argv)
{
	struct error e = ERROR_INIT;
	struct ksk_file *f = NULL;
	bool quiet = argc == 3 && !strcmp(argv[2], "bits"), sound = true;
	uint32_t stream = STREAM_SAMPLE_FIRST;
	struct tally t = { 0 };

	if ((argc != 2 && !quiet) || ksk_file_open(&f, argv[1], &e) < 0) {
		fprintf(stderr, "sample_dump: %s\n",
			argc < 2 || argc > 3 ? "sample_dump FILE.ksk [bits]" : e.text);
		return 1;
	}
	while (sound && f->reader.ops->find(&f->reader, stream, &stream) &&
	       stream_is_sample(stream))
		sound = dump_stream(&f->reader, stream++, quiet, &t);
	ksk_file_free(f);
	if (quiet)
		printf("%llu records, %.2f bits each\n", t.records,
		       t.records ? 8.0 * (double)t.bytes / (double)t.records : 0);
	if (!sound)
		fprintf(stderr, "sample_dump: damaged\n");
	return !sound;
}
