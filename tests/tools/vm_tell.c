/* SPDX-License-Identifier: MIT */
/*
 * vm_tell: adds to a recording of virtual machines what a guest says of its processes, for tests whose guests say nothing.
 *
 *	vm_tell FILE.ksk OUT.ksk { VM PID NAME FROM TO OFFSET PATH | thread VM PID TID NAME TABLE TASK }...
 *
 * In machine VM the process PID is called NAME and has PATH at these addresses, from the beginning on; a thread has a page table, or 0, and
 * what its kernel has for it, as META_TABLES has them. Blocks are copied as they are; one of metadata comes behind them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/ksk.h"
#include "store/ksk_file.h"
#include "store/ksk_writer.h"
#include "wire/sample_meta_encode.h"

#define FIELDS 7
#define ROOM (64U * 1024)

static int copy_blocks(const struct ksk_file *f, struct ksk_writer *w, uint64_t *ret_sequence,
		       struct error *e)
{
	size_t at = KSK_HEAD_LEN;
	struct block b;
	int r = 0;

	while (r == 0 && at < f->end && block_decode(f->data + at, f->end - at, &b) == WIRE_OK) {
		if (b.stream == STREAM_META)
			*ret_sequence = b.sequence + 1;
		r = ksk_writer_put(w, &b, f->data + at, b.len, e);
		at += b.len;
	}
	return r;
}

static uint8_t *put_process(uint8_t *p, char **words)
{
	struct sample_mapping m = { .pid = atoi(words[1]), .path = words[6] };
	struct sample_life_row life = { .pid = m.pid, .comm = words[2] };
	uint8_t *guest = meta_item_begin(p, META_GUEST), *rows;

	m.from = strtoull(words[3], NULL, 0);
	m.to = strtoull(words[4], NULL, 0);
	m.offset = strtoull(words[5], NULL, 0);
	m.path_len = (uint32_t)strlen(m.path);
	life.comm_len = (uint32_t)strlen(life.comm);
	rows = meta_item_begin(sample_meta_put_guest(guest, atoi(words[0])), META_LIFE);
	p = meta_item_end(rows, sample_meta_put_life(rows, &life));
	rows = meta_item_begin(p, META_MAPPED);
	p = meta_item_end(rows, sample_meta_put_mapping(rows, &m));
	return meta_item_end(guest, p);
}

static uint8_t *put_thread(uint8_t *p, char **words)
{
	struct sample_table_row row = { .pid = atoi(words[2]),
					.tid = atoi(words[3]),
					.comm = words[4] };
	uint8_t *guest = meta_item_begin(p, META_GUEST), *rows;

	row.table = strtoull(words[5], NULL, 0);
	row.task = strtoull(words[6], NULL, 0);
	row.comm_len = (uint32_t)strlen(row.comm);
	rows = meta_item_begin(sample_meta_put_guest(guest, atoi(words[1])), META_TABLES);
	p = meta_item_end(rows, sample_meta_put_table(rows, &row));
	return meta_item_end(guest, p);
}

static int put_told(struct ksk_writer *w, uint64_t sequence, char **words, struct error *e)
{
	static uint8_t room[BLOCK_HEADER_MAX + ROOM];
	uint8_t *payload = room + BLOCK_HEADER_MAX, *p = payload;
	struct block b = {
		.codec = CODEC_META, .flags = BLOCK_KEY, .stream = STREAM_META, .sequence = sequence
	};
	uint32_t len;

	for (; *words; words += FIELDS) {
		if ((size_t)(p - payload) + strlen(words[6]) + 1024 > ROOM)
			return error_set(e, 0, "too many processes");
		p = strcmp(words[0], "thread") ? put_process(p, words) : put_thread(p, words);
	}
	b.payload_len = (uint32_t)(p - payload);
	p = block_encode(&b, payload, &len);
	return ksk_writer_put(w, &b, p, len, e);
}

int main(int argc, char **argv)
{
	CLEANUP(ksk_file) struct ksk_file *f = NULL;
	CLEANUP(ksk_writer) struct ksk_writer *w = NULL;
	struct error e = ERROR_INIT;
	uint64_t sequence = 0;

	if (argc < 3 || (argc - 3) % FIELDS) {
		fprintf(stderr, "usage: vm_tell FILE OUT { VM PID NAME FROM TO OFFSET PATH | "
				"thread VM PID TID NAME TABLE TASK }...\n");
		return 2;
	}
	if (ksk_file_open(&f, argv[1], &e) < 0 || ksk_writer_open(&w, argv[2], &e) < 0 ||
	    copy_blocks(f, w, &sequence, &e) < 0 || put_told(w, sequence, argv + 3, &e) < 0 ||
	    ksk_writer_commit(w, &e) < 0) {
		fprintf(stderr, "vm_tell: %s\n", e.text);
		return 1;
	}
	return 0;
}
