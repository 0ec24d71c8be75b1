/* SPDX-License-Identifier: MIT */
/*
 * ksk_random: writes a .ksk of random events, for tests of other readers.
 *
 *	ksk_random OUT.ksk EVENTS SEGMENT
 *
 * CPU n has EVENTS events of style n of sched_random.h, with a loss now and then. A
 * segment ends after SEGMENT bytes; blocks are short, so that a small file has many. The same
 * arguments give the same file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/sink_ksk.h"
#include "tools/sched_random.h"
#include "trace/info.h"
#include "trace/source.h"

#define LOSS_EVERY 997U

static struct sched_random cpu[SCHED_RANDOM_STYLES];

static void die(const char *what, const struct error *e)
{
	fprintf(stderr, "ksk_random: %s%s%s\n", what, e ? ": " : "", e ? e->text : "");
	exit(1);
}

static void put(struct trace_sink *sink, const struct trace_item *item)
{
	struct error e = ERROR_INIT;

	if (sink->ops->item(sink, item, &e) < 0)
		die("cannot write", &e);
}

static void put_event(struct trace_sink *sink, uint32_t n, uint32_t number)
{
	struct trace_item item = { .type = ITEM_EVENT, .cpu = n };
	struct trace_item loss = { .type = ITEM_LOSS, .cpu = n };

	sched_random_next(&cpu[n], &item.event);
	put(sink, &item);
	if (number % LOSS_EVERY)
		return;
	loss.loss.cause = (uint8_t)(number / LOSS_EVERY % LOSS_CAUSES);
	loss.loss.count = number % 2 ? number : LOSS_UNKNOWN;
	put(sink, &loss);
}

int main(int argc, char **argv)
{
	struct sink_ksk_options options = { .codec = CODEC_SCHED, .block_bytes = 700 };
	struct error e = ERROR_INIT;
	struct trace_sink *sink;
	struct trace_info info;
	uint32_t i, n, events;

	if (argc != 4 || info_init(&info) < 0)
		die("usage: ksk_random OUT.ksk EVENTS SEGMENT", NULL);
	info.cpus = SCHED_RANDOM_STYLES;
	events = (uint32_t)strtoul(argv[2], NULL, 10);
	options.segment_bytes = (uint32_t)strtoul(argv[3], NULL, 10);
	if (sink_ksk_new(&sink, argv[1], &options, &e) < 0)
		die("cannot open", &e);
	if (sink->ops->begin(sink, &info, &e) < 0)
		die("cannot begin", &e);
	for (n = 0; n < SCHED_RANDOM_STYLES; n++)
		sched_random_init(&cpu[n], 4711 + n, n);
	for (i = 1; i <= events; i++)
		for (n = 0; n < SCHED_RANDOM_STYLES; n++)
			put_event(sink, n, i);
	if (sink->ops->end(sink, &e) < 0)
		die("cannot finish", &e);
	sink->ops->free(sink);
	info_done(&info);
	return 0;
}
