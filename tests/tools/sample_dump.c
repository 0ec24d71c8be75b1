/* SPDX-License-Identifier: MIT */
/*
 * sample_dump: the records of a profile as they are in its streams, a line each (sample_text.h), CPU by CPU.
 *
 *	sample_dump FILE.ksk [bits|about]
 *
 * With `bits` it prints instead how many records and bits each has there, with `about` what the profile says about itself, as lines of a
 * script for sample_make: the two together make such a file again. Blocks are read as they come, without the
 * reader of the program: what is damaged ends it.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "store/ksk_file.h"
#include "tools/sample_text.h"
#include "wire/meta.h"
#include "wire/sample_decode.h"
#include "wire/sample_meta_decode.h"

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

/* --- what it says about itself --- */

static bool print_mapping(struct byte_reader *r)
{
	struct sample_mapping m;
	uint32_t i;

	if (!sample_meta_get_mapping(r, &m))
		return false;
	printf("mapping %d %" PRIu64 " 0x%" PRIx64 " 0x%" PRIx64 " 0x%" PRIx64 " ", m.pid, m.tick,
	       m.from, m.to, m.offset);
	for (i = 0; i < m.build_id_len; i++)
		printf("%02x", m.build_id[i]);
	printf("%s %.*s\n", m.build_id_len ? "" : "-", (int)m.path_len, m.path);
	return true;
}

static bool print_life(struct byte_reader *r)
{
	static const char *const whats[] = { "start", "exec", "end" };
	struct sample_life_row l;

	if (!sample_meta_get_life(r, &l) || l.what > SAMPLE_LIFE_END)
		return false;
	printf("life %d %d %" PRIu64 " %s %.*s\n", l.pid, l.parent, l.tick, whats[l.what],
	       (int)l.comm_len, l.comm_len ? l.comm : "");
	return true;
}

static bool print_function(struct byte_reader *r)
{
	struct sample_kernel_name k;

	if (!sample_meta_get_kernel_name(r, &k))
		return false;
	printf("function 0x%" PRIx64 " 0x%" PRIx64 " %.*s\n", k.from, k.to, (int)k.name_len,
	       k.name);
	return true;
}

static bool print_table(struct byte_reader *r)
{
	struct sample_table_row t;

	if (!sample_meta_get_table(r, &t))
		return false;
	printf("table %d %d %" PRIu64 " 0x%" PRIx64 " 0x%" PRIx64 " %s %.*s\n", t.pid, t.tid,
	       t.tick, t.table, t.task, t.is_end ? "end" : "begin", (int)t.comm_len,
	       t.comm_len ? t.comm : "");
	return true;
}

static bool print_sampling(struct byte_reader *r)
{
	struct sample_sampling s;

	if (!sample_meta_get_sampling(r, &s))
		return false;
	printf("sampling %" PRIu64 " %u %u %u %u %u\n", s.period, s.jitter, s.collector, s.method,
	       s.exits, s.has);
	return true;
}

static const struct {
	uint32_t type;
	bool (*print)(struct byte_reader *r);
} rows[] = {
	{ META_SAMPLING, print_sampling }, { META_MAPPED, print_mapping },
	{ META_LIFE, print_life },	   { META_KERNEL_NAMES, print_function },
	{ META_TABLES, print_table },
};

/* All rows of an item. Of a guest, vm is its machine's number, and each line says so; else -1. */
static bool print_rows(struct meta_reader *r, int64_t vm)
{
	bool sound = true;
	size_t i = 0;

	while (i < sizeof(rows) / sizeof(rows[0]) && rows[i].type != r->type)
		i++;
	if (i == sizeof(rows) / sizeof(rows[0]))
		return true;
	while (sound && reader_left(&r->item)) {
		if (vm >= 0)
			printf("guest %" PRId64 " ", vm);
		sound = rows[i].print(&r->item);
	}
	return sound;
}

static bool print_items(const uint8_t *in, size_t len, int64_t vm)
{
	struct meta_reader r;
	enum wire_status status;
	bool sound = true;
	int64_t number;
	size_t left;

	meta_reader_init(&r, in, len);
	while (sound && (status = meta_reader_next(&r)) == WIRE_OK) {
		if (r.type != META_GUEST || vm >= 0) {
			sound = print_rows(&r, vm);
			continue;
		}
		number = reader_signed(&r.item);
		left = reader_left(&r.item);
		sound = print_items(reader_bytes(&r.item, left), left, number);
	}
	return sound && status == WIRE_MORE;
}

static bool dump_about(struct block_reader *r)
{
	uint64_t place = 0, at;
	struct block b;
	bool sound = true;

	while (sound && r->ops->next(r, STREAM_META, &place, &b, &at) == 1)
		sound = b.payload && print_items(b.payload, b.payload_len, -1);
	return sound;
}

int main(int argc, char **argv)
{
	struct error e = ERROR_INIT;
	struct ksk_file *f = NULL;
	const char *what = argc == 3 ? argv[2] : "";
	bool quiet = !strcmp(what, "bits"), about = !strcmp(what, "about"), sound = true;
	uint32_t stream = STREAM_SAMPLE_FIRST;
	struct tally t = { 0 };

	if ((argc != 2 && !quiet && !about) || ksk_file_open(&f, argv[1], &e) < 0) {
		fprintf(stderr, "sample_dump: %s\n",
			argc < 2 || argc > 3 ? "sample_dump FILE.ksk [bits|about]" : e.text);
		return 1;
	}
	if (about)
		sound = dump_about(&f->reader);
	while (!about && sound && f->reader.ops->find(&f->reader, stream, &stream) &&
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
