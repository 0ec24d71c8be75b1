/* SPDX-License-Identifier: MIT */
/*
 * fill_store: puts the blocks of a .ksk file into a store, as if a device had sent them: for tests
 * of everything that reads a store.
 *
 *	fill_store DIR DEVICE FILE.ksk [END]
 *
 * FILE_BYTES in the environment is where a log file ends.
 * END, in seconds since 1970 (1700000000.5), is the real time of the last event; without it the clock of the run is
 * not known against real time. Ids are made of the device's name and the file's, so the same command
 * gives the same runs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tools/trace_store.h"
#include "trace/ksk_source.h"
#include "trace/sample_ksk.h"

static void fail(const char *what, const struct error *e)
{
	fprintf(stderr, "fill_store: %s: %s\n", what, e->text);
	exit(1);
}

static struct message_id make_id(const char *text, uint64_t h)
{
	struct message_id id = { { 0 } };
	size_t i;

	for (; *text; text++)
		h = (h ^ (uint8_t)*text) * 0x100000001b3ULL;
	for (i = 0; i < sizeof(id.bytes); i++) {
		h = (h ^ i) * 0x100000001b3ULL;
		id.bytes[i] = (uint8_t)(h >> 32);
	}
	return id;
}

/* Of a profile; 0: it is none. */
static uint64_t last_sample_ns(const char *path)
{
	CLEANUP(sample_source) struct sample_source *source = NULL;
	struct error e = ERROR_INIT;
	uint64_t from, to;

	if (sample_ksk_open(path, &source, &e) < 0 || sample_ksk_span(source, &from, &to) != 1)
		return 0;
	return clock_ns(&source->info.clock, to);
}

static uint64_t last_event_ns(const char *path)
{
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
	return last;
}

static uint64_t parse_ns(const char *text)
{
	char *rest;
	uint64_t ns = strtoull(text, &rest, 10) * 1000000000;

	return ns + (*rest == '.' ? (uint64_t)(strtod(rest, NULL) * 1e9) : 0);
}

/* The clock and the last event's time of the file. */
static void note_clock(struct store *s, uint32_t run, const char *path, const char *end_s)
{
	struct store_clock c = { .run = run, .err_ns = 1000 };
	struct error e = ERROR_INIT;
	uint64_t last = last_sample_ns(path);

	last = last ? last : last_event_ns(path);
	c.device_ns = last;
	c.off_ns = (int64_t)(parse_ns(end_s) - last);
	if (store_note(s, &c, &e) < 0)
		fail("note", &e);
}

int main(int argc, char **argv)
{
	struct store_options o = { 0 };
	struct store_device d = {
		.kernel = "6.1", .machine = "aarch64", .agent = "test", .cpus = 2
	};
	CLEANUP(store) struct store *s = NULL;
	struct trace_blocks blocks;
	struct error e = ERROR_INIT;
	struct message_id run, boot;
	uint32_t number = 0;

	if (argc < 4 || argc > 5)
		return 2;
	o.file_bytes = getenv("FILE_BYTES") ? strtoull(getenv("FILE_BYTES"), NULL, 10) : 0;
	d.id = make_id(argv[2], 1);
	d.seen_ns = (uint64_t)time(NULL) * 1000000000;
	snprintf(d.name, sizeof(d.name), "%s", argv[2]);
	run = make_id(argv[3], 2);
	boot = make_id(argv[2], 3);
	if (store_open(&s, argv[1], &o, &e) < 0 || store_device(s, &d, &e) < 0 ||
	    store_run(s, &d.id, &run, &boot, &number, &e) < 0)
		fail("open", &e);
	trace_blocks_open(&blocks, argv[3]);
	trace_store_put(s, number, &blocks, 0, blocks.n);
	if (argc == 5)
		note_clock(s, number, argv[3], argv[4]);
	trace_store_end(s, number, &blocks);
	trace_blocks_done(&blocks);
	printf("%" PRIu32 "\n", number);
	return 0;
}
