/* SPDX-License-Identifier: MIT */
/*
 * fill_store: puts the blocks of a .ksk file into a store, as if a device had sent them: for tests
 * of everything that reads a store.
 *
 *	fill_store DIR DEVICE FILE.ksk [END]
 *
 * FILE_BYTES in the environment is where a log file ends.
 * END, in seconds since 1970, is the real time of the last event; without it the clock of the run is
 * not known against real time. Ids are made of the device's name and the file's, so the same command
 * gives the same runs.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "store/ksk_file.h"
#include "store/store.h"
#include "trace/ksk_source.h"

struct place {
	uint64_t offset;
	struct block block;
};

static void fail(const char *what, const struct error *e)
{
	fprintf(stderr, "fill_store: %s: %s\n", what, e->text);
	exit(1);
}

static struct message_id make_id(const char *text, uint64_t h)
{
	struct message_id id;
	size_t i;

	for (; *text; text++)
		h = (h ^ (uint8_t)*text) * 0x100000001b3ULL;
	for (i = 0; i < sizeof(id.bytes); i++) {
		h = (h ^ i) * 0x100000001b3ULL;
		id.bytes[i] = (uint8_t)(h >> 32);
	}
	return id;
}

static int by_offset(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* All blocks of all streams, in the order of the file. */
static struct place *list_blocks(struct ksk_file *f, size_t *ret_n)
{
	struct place *list = NULL, *more;
	size_t n = 0, i;

	for (i = 0; i < f->n_streams; i++) {
		uint64_t offset = 0, at;
		struct block b;

		while (ksk_file_next(f, f->streams[i].stream, &offset, &b, &at) > 0) {
			more = realloc(list, (n + 1) * sizeof(*list));
			if (!more || !b.payload)
				abort();
			list = more;
			list[n].offset = at;
			list[n++].block = b;
		}
	}
	if (n)
		qsort(list, n, sizeof(*list), by_offset);
	*ret_n = n;
	return list;
}

static void put(struct store *s, uint32_t run, const struct place *p, const uint8_t *data)
{
	struct error e = ERROR_INIT;
	int r = store_put(s, run, &p->block, data + p->offset, &e);

	if (r == -EAGAIN && store_commit(s, NULL, &e) >= 0)
		r = store_put(s, run, &p->block, data + p->offset, &e);
	if (r < 0)
		fail("put", &e);
}

/* Where each stream of the file ended. */
static void end(struct store *s, uint32_t run, const struct place *list, size_t n)
{
	static uint8_t bytes[1U << 20];
	struct message_end m = { .n_rows = 0 };
	struct message_stream_end *rows = NULL, *more;
	struct error e = ERROR_INIT;
	struct byte_writer w;
	size_t i;
	uint32_t k;

	for (i = 0; i < n; i++) {
		const struct block *b = &list[i].block;

		for (k = 0; k < m.n_rows && rows[k].stream != b->stream; k++)
			;
		if (k == m.n_rows) {
			more = realloc(rows, ++m.n_rows * sizeof(*rows));
			if (!more)
				abort();
			rows = more;
			rows[k] = (struct message_stream_end){ .stream = b->stream };
		}
		rows[k].next_sequence = b->sequence + 1;
		rows[k].events += b->events + block_told(b);
	}
	writer_init(&w, bytes, sizeof(bytes));
	end_encode(&w, &m);
	for (k = 0; k < m.n_rows; k++)
		end_put(&w, &rows[k]);
	if (w.full || end_decode(&m, bytes, writer_len(&w)) != WIRE_OK)
		abort();
	if (store_end(s, run, &m, &e) < 0)
		fail("end", &e);
	free(rows);
}

/* The clock and the last event's time of the file. */
static void note_clock(struct store *s, uint32_t run, const char *path, const char *end_s)
{
	struct store_clock c = { .run = run, .err_ns = 1000 };
	struct trace_source *source = NULL;
	struct error e = ERROR_INIT;
	struct trace_item item;
	uint64_t last = 0;

	if (source_ksk_open(&source, path, &e) < 0)
		fail("open", &e);
	while (source->ops->next(source, &item, &e) > 0)
		if (item.type == ITEM_EVENT)
			last = clock_event_ns(&source->info.clock, &item.event);
	source_free(source);
	c.device_ns = last;
	c.off_ns = (int64_t)(strtoull(end_s, NULL, 10) * 1000000000ULL - last);
	if (store_note(s, &c, &e) < 0)
		fail("note", &e);
}

int main(int argc, char **argv)
{
	struct store_options o = { 0 };
	struct store_device d = {
		.kernel = "6.1", .machine = "aarch64", .agent = "test", .cpus = 2
	};
	CLEANUP(ksk_file) struct ksk_file *f = NULL;
	CLEANUP(store) struct store *s = NULL;
	_cleanup_free_ struct place *list = NULL;
	struct error e = ERROR_INIT;
	struct message_id run, boot;
	uint32_t number = 0;
	size_t n = 0, i;

	if (argc < 4 || argc > 5)
		return 2;
	o.file_bytes = getenv("FILE_BYTES") ? strtoull(getenv("FILE_BYTES"), NULL, 10) : 0;
	d.id = make_id(argv[2], 1);
	d.seen_ns = (uint64_t)time(NULL) * 1000000000;
	snprintf(d.name, sizeof(d.name), "%s", argv[2]);
	run = make_id(argv[3], 2);
	boot = make_id(argv[2], 3);
	if (ksk_file_open(&f, argv[3], &e) < 0 || store_open(&s, argv[1], &o, &e) < 0 ||
	    store_device(s, &d, &e) < 0 || store_run(s, &d.id, &run, &boot, &number, &e) < 0)
		fail("open", &e);
	list = list_blocks(f, &n);
	for (i = 0; i < n; i++)
		put(s, number, &list[i], f->data);
	if (argc == 5)
		note_clock(s, number, argv[3], argv[4]);
	end(s, number, list, n);
	if (store_commit(s, NULL, &e) < 0)
		fail("commit", &e);
	printf("%" PRIu32 "\n", number);
	return 0;
}
