/* SPDX-License-Identifier: MIT */
/* trace_store: see trace_store.h. */
#include "tools/trace_store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/ksk.h"

static void die(const char *what)
{
	fprintf(stderr, "trace_store: %s\n", what);
	exit(1);
}

struct found {
	uint64_t offset;
	struct block block;
};

static int by_offset(const void *pa, const void *pb)
{
	const struct found *a = pa, *b = pb;

	return (a->offset > b->offset) - (a->offset < b->offset);
}

static struct found *find_blocks(struct ksk_file *f, size_t *ret_n)
{
	struct found *all = NULL;
	size_t n = 0, i;
	uint64_t offset;
	struct block b;

	for (i = 0; i < f->n_streams; i++) {
		offset = 0;
		for (;; n++) {
			all = realloc(all, (n + 1) * sizeof(*all));
			if (!all)
				die("out of memory");
			if (ksk_file_next(f, f->streams[i]->stream, &offset, &b, &all[n].offset) !=
			    1)
				break;
			all[n].block = b;
		}
	}
	if (n)
		qsort(all, n, sizeof(*all), by_offset);
	*ret_n = n;
	return all;
}

static void list_blocks(struct trace_blocks *t)
{
	struct found *all;
	size_t i;

	all = find_blocks(t->file, &t->n);
	t->blocks = calloc(t->n + 1, sizeof(*t->blocks));
	t->offsets = calloc(t->n + 1, sizeof(*t->offsets));
	if (!t->blocks || !t->offsets)
		die("out of memory");
	for (i = 0; i < t->n; i++) {
		t->blocks[i] = all[i].block;
		t->offsets[i] = all[i].offset;
	}
	free(all);
}

void trace_blocks_init(struct trace_blocks *t, const struct trace_random *trace,
		       const struct sink_ksk_options *o)
{
	struct error e = ERROR_INIT;
	size_t len;

	memset(t, 0, sizeof(*t));
	t->data = trace_random_ksk(trace, o, &len);
	if (ksk_file_open_memory(&t->file, t->data, len, &e) < 0)
		die(e.text);
	list_blocks(t);
}

void trace_blocks_open(struct trace_blocks *t, const char *path)
{
	struct error e = ERROR_INIT;

	memset(t, 0, sizeof(*t));
	if (ksk_file_open(&t->file, path, &e) < 0)
		die(e.text);
	list_blocks(t);
}

void trace_blocks_done(struct trace_blocks *t)
{
	ksk_file_free(t->file);
	free(t->data);
	free(t->blocks);
	free(t->offsets);
}

uint32_t trace_store_run(struct store *s, uint8_t seed)
{
	struct store_device d = { .name = "test", .cpus = 1 };
	struct message_id run, boot;
	struct error e = ERROR_INIT;
	uint32_t number = 0;

	memset(&d.id, seed, sizeof(d.id));
	memset(&run, seed + 100, sizeof(run));
	memset(&boot, seed, sizeof(boot));
	if (store_device(s, &d, &e) < 0 || store_run(s, &d.id, &run, &boot, &number, &e) < 0)
		die(e.text);
	return number;
}

void trace_store_put(struct store *s, uint32_t run, const struct trace_blocks *t, size_t from,
		     size_t to)
{
	struct error e = ERROR_INIT;
	size_t i;
	int r;

	for (i = from; i < to; i++) {
		const uint8_t *bytes = t->file->data + t->offsets[i];

		r = store_put(s, run, &t->blocks[i], bytes, &e);
		if (r == -EAGAIN && store_commit(s, NULL, &e) >= 0)
			r = store_put(s, run, &t->blocks[i], bytes, &e);
		if (r < 0)
			die(e.text);
	}
	if (store_commit(s, NULL, &e) < 0)
		die(e.text);
}

void trace_store_end(struct store *s, uint32_t run, const struct trace_blocks *t)
{
	size_t room = 64 + t->file->n_streams * 64, i;
	struct message_stream_end row;
	struct message_end m = { .n_rows = (uint32_t)t->file->n_streams };
	uint8_t *bytes = malloc(room);
	struct error e = ERROR_INIT;
	struct byte_writer w;

	if (!bytes)
		die("out of memory");
	writer_init(&w, bytes, room);
	end_encode(&w, &m);
	for (i = 0; i < t->file->n_streams; i++) {
		const struct ksk_stream *k = t->file->streams[i];

		row.stream = k->stream;
		row.next_sequence = k->end_sequence;
		row.events = k->end;
		end_put(&w, &row);
	}
	if (w.full || end_decode(&m, bytes, (size_t)(w.at - bytes)) != WIRE_OK ||
	    store_end(s, run, &m, &e) < 0 || store_commit(s, NULL, &e) < 0)
		die(e.text[0] ? e.text : "cannot make an END");
	free(bytes);
}
