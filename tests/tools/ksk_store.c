/* SPDX-License-Identifier: MIT */
/*
 * ksk_store: makes a store out of .ksk files, each a run of a device of its own, as a collector
 * would have received their blocks. For tests that need a folder to look into.
 *
 *	ksk_store DIR FILE_BYTES FILE.ksk...
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/ksk.h"
#include "store/ksk_file.h"
#include "store/store.h"

static void fail(const struct error *e)
{
	fprintf(stderr, "ksk_store: %s\n", e->text);
	exit(1);
}

static void put_blocks(struct store *s, uint32_t run, const struct ksk_file *f)
{
	struct error e = ERROR_INIT;
	size_t at = KSK_HEAD_LEN;
	struct block b;

	for (; at < f->end; at += b.len) {
		if (block_decode(f->data + at, f->end - at, &b) != WIRE_OK)
			error_set(&e, 1, "offset %zu: no block", at);
		else if (store_put(s, run, &b, f->data + at, &e) == STORE_TAKEN)
			continue;
		fail(&e);
	}
}

static void put_end(struct store *s, uint32_t run, const struct ksk_file *f)
{
	struct message_end m = { .n_rows = (uint32_t)f->n_streams };
	uint8_t *bytes = malloc((f->n_streams + 1) * 30);
	struct error e = ERROR_INIT;
	struct byte_writer w;
	size_t i;

	writer_init(&w, bytes, (f->n_streams + 1) * 30);
	end_encode(&w, &m);
	for (i = 0; i < f->n_streams; i++) {
		const struct message_stream_end row = { f->streams[i].stream,
							f->streams[i].end_sequence,
							f->streams[i].end };

		end_put(&w, &row);
	}
	if (end_decode(&m, bytes, writer_len(&w)) != WIRE_OK || store_end(s, run, &m, &e) < 0)
		fail(&e);
	free(bytes);
}

static void put_file(struct store *s, const char *path, uint8_t number)
{
	struct message_id run = { { 'r', 'u', 'n', number } }, boot = { { 'b', number } };
	struct store_device d = { .id = { { 'd', number } }, .cpus = 1, .seen_ns = 1 };
	struct error e = ERROR_INIT;
	struct ksk_file *f;
	uint32_t n;

	snprintf(d.name, sizeof(d.name), "board-%u", number);
	if (ksk_file_open(&f, path, &e) < 0 || store_device(s, &d, &e) < 0 ||
	    store_run(s, &d.id, &run, &boot, &n, &e) < 0)
		fail(&e);
	put_blocks(s, n, f);
	put_end(s, n, f);
	if (store_commit(s, NULL, &e) < 0)
		fail(&e);
	ksk_file_free(f);
}

int main(int argc, char **argv)
{
	struct store_options o = { 0 };
	struct error e = ERROR_INIT;
	struct store *s;
	int i;

	if (argc < 4) {
		fprintf(stderr, "usage: %s DIR FILE_BYTES FILE.ksk...\n", argv[0]);
		return 2;
	}
	o.file_bytes = strtoull(argv[2], NULL, 10);
	if (store_open(&s, argv[1], &o, &e) < 0)
		fail(&e);
	for (i = 3; i < argc; i++)
		put_file(s, argv[i], (uint8_t)(i - 2));
	store_free(s);
	return 0;
}
