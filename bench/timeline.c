/* SPDX-License-Identifier: MIT */
/*
 * timeline: how long the overview of a day takes.
 *
 *	timeline [--events N] [--hours H | --minutes M] [--folder DIR] [--json FILE] [--markdown FILE] RECORDING
 *
 * The day is synthetic, and honest as far as that goes: the recording is encoded once as an agent
 * would (100 ms, 64 KiB segments), and its blocks are stored again and again under new headers, with
 * later times and counts, until there are enough events. Payloads do not hold absolute times, so
 * each repetition decodes to the recording at another hour. Repetitions are spread evenly over the
 * day; between two of them the CPUs do what they did last. A recording with too few events a second
 * for that is made one of a larger machine: each of its CPUs is encoded several times, under other
 * numbers. All of it goes through the real store and
 * the real summariser, which decodes every event once; the last segments are not summarised and are
 * decoded by each query, as in a run that goes on. Every query's counts are checked. A folder that
 * was named stays: web.py shows its store in the browser.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collector/summaries.h"
#include "collector/timeline.h"
#include "convert/input.h"
#include "convert/sink_ksk.h"
#include "stopwatch.h"
#include "store/ksk_file.h"
#include "store/store.h"
#include "trace/ksk_source.h"

#define BATCH_BYTES (8U << 20)
#define SUMMARISE_MS (3600U * 1000)
#define REPEATS 7
#define CPUS_MAX 64U

struct day {
	const char *recording, *folder, *json, *markdown;
	uint64_t events_wanted, minutes;
	struct ksk_file *file;
	struct trace_clock clock;
	struct block *blocks; /* of the CPUs, in the order of the file */
	size_t n_blocks;
	uint64_t events, lost, length_ns; /* of one repetition */
	uint32_t cpus, copies;		  /* of the recording; that are made of each */
	uint64_t repetitions, period_ns, period_ticks;
	struct store *store;
	struct summaries *summaries;
	uint32_t run;
	FILE *out, *table; /* of --json and --markdown, or NULL */
};

static int fail(const struct error *e)
{
	fprintf(stderr, "timeline: %s\n", e->text);
	exit(1);
}

static double seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

/* --- the recording --- */

static void encode_recording(const char *path, const char *to, struct day *d)
{
	struct sink_ksk_options o = { .codec = CODEC_SCHED, .flush_ns = 100000000 };
	struct error e = ERROR_INIT;
	struct input *in = NULL;
	struct trace_source *source;
	struct trace_sink *sink = NULL;
	struct trace_item item;
	uint32_t cpus, i;
	int r;

	if (input_open(&in, path, &e) < 0)
		fail(&e);
	source = input_take_source(in);
	cpus = d->cpus = source->info.cpus;
	source->info.cpus *= d->copies;
	if (sink_ksk_new(&sink, to, &o, &e) < 0 || sink->ops->begin(sink, &source->info, &e) < 0)
		fail(&e);
	while ((r = source->ops->next(source, &item, &e)) == 1)
		for (i = 0; i < d->copies; i++, item.cpu += cpus)
			if (sink->ops->item(sink, &item, &e) < 0)
				fail(&e);
	source->info.cpus = cpus; /* it frees by that */
	if (r < 0 || sink->ops->end(sink, &e) < 0)
		fail(&e);
	d->clock = source->info.clock;
	sink_free(sink);
	source_free(source);
	input_free(in);
}

static int by_payload(const void *pa, const void *pb)
{
	const struct block *a = pa, *b = pb;

	return (a->payload > b->payload) - (a->payload < b->payload);
}

static void list_blocks(struct day *d)
{
	uint64_t first = UINT64_MAX, last = 0, until = 0, offset, at;
	struct block b;
	size_t i;

	for (i = 0; i < d->file->n_streams; i++) {
		uint32_t stream = d->file->streams[i]->stream;

		offset = 0;
		while (stream != STREAM_META &&
		       ksk_file_next(d->file, stream, &offset, &b, &at) == 1) {
			d->blocks = realloc(d->blocks, (d->n_blocks + 1) * sizeof(b));
			if (!d->blocks)
				exit(1);
			d->blocks[d->n_blocks++] = b;
			d->events += b.events;
			d->lost += block_told(&b);
			until = (b.flags & BLOCK_KEY ? b.first_tick : until) + b.ticks;
			first = b.flags & BLOCK_KEY && b.first_tick < first ? b.first_tick : first;
			last = until > last ? until : last;
		}
	}
	if (!d->events) {
		fprintf(stderr, "timeline: %s has no events\n", d->recording);
		exit(1);
	}
	qsort(d->blocks, d->n_blocks, sizeof(*d->blocks), by_payload);
	d->length_ns = clock_ns(&d->clock, last) - clock_ns(&d->clock, first);
}

static void load_recording(struct day *d, const char *path)
{
	struct error e = ERROR_INIT;

	ksk_file_free(d->file);
	d->file = NULL;
	d->n_blocks = 0;
	d->events = d->lost = 0;
	encode_recording(d->recording, path, d);
	if (ksk_file_open(&d->file, path, &e) < 0)
		fail(&e);
	list_blocks(d);
}

/* How many copies of each CPU make enough events in the time there is. */
static uint32_t plan_copies(const struct day *d)
{
	double have = (double)d->events / seconds(d->length_ns + 1);
	double want = (double)d->events_wanted / (double)(d->minutes * 60);
	uint32_t copies = have < want ? (uint32_t)(want / have) + 1 : 1;

	return copies * d->cpus <= CPUS_MAX ? copies : CPUS_MAX / d->cpus;
}

static void plan_day(struct day *d)
{
	d->repetitions = (d->events_wanted + d->events - 1) / d->events;
	d->period_ns = d->minutes * 60 * 1000000000ULL / d->repetitions;
	if (d->period_ns <= d->length_ns)
		d->period_ns = d->length_ns + 1000000;
	d->period_ticks = clock_tick_at(&d->clock, d->clock.base_ns + d->period_ns);
}

/* --- the store --- */

static void commit(struct day *d)
{
	struct error e = ERROR_INIT;

	if (store_commit(d->store, NULL, &e) < 0)
		fail(&e);
}

static void put(struct day *d, struct block *b)
{
	static uint8_t buffer[BLOCK_HEADER_MAX + BLOCK_PAYLOAD_MAX];
	struct error e = ERROR_INIT;
	uint8_t *start;
	uint32_t len;

	memcpy(buffer + BLOCK_HEADER_MAX, b->payload, b->payload_len);
	start = block_encode(b, buffer + BLOCK_HEADER_MAX, &len);
	b->len = len;
	b->payload = start + len - b->payload_len;
	if (store_put(d->store, d->run, b, start, &e) < 0)
		fail(&e);
	if (store_waiting(d->store) > BATCH_BYTES)
		commit(d);
}

static void put_meta(struct day *d)
{
	uint64_t offset = 0, at;
	struct block b;

	while (ksk_file_next(d->file, STREAM_META, &offset, &b, &at) == 1)
		put(d, &b);
}

static void put_repetition(struct day *d, uint64_t k)
{
	const struct ksk_stream *s;
	struct block b;
	size_t i;

	for (i = 0; i < d->n_blocks; i++) {
		b = d->blocks[i];
		s = ksk_file_stream(d->file, b.stream);
		b.sequence += k * s->end_sequence;
		if (b.flags & BLOCK_KEY) {
			b.first_tick += k * d->period_ticks;
			b.before += k * s->end;
		}
		put(d, &b);
	}
}

static void make_day(struct day *d)
{
	struct store_device device = { .name = "bench" };
	struct message_id run = { { 1 } };
	struct error e = ERROR_INIT;
	uint64_t k;

	if (store_open(&d->store, d->folder, NULL, &e) < 0 ||
	    store_device(d->store, &device, &e) < 0 ||
	    store_run(d->store, &device.id, &run, &run, &d->run, &e) < 0)
		fail(&e);
	put_meta(d);
	for (k = 0; k < d->repetitions; k++)
		put_repetition(d, k);
	commit(d);
}

/* --- the queries --- */

static void check(const struct day *d, const struct timeline *t)
{
	uint64_t events = t->total.switches + t->total.wakeups + t->total.others;

	if (events == d->events * d->repetitions && t->total.lost == d->lost * d->repetitions)
		return;
	fprintf(stderr, "timeline: %" PRIu64 " events and %" PRIu64 " lost are wrong\n", events,
		t->total.lost);
	exit(1);
}

static void ask(struct day *d, const char *name, uint64_t length_ns, uint32_t width)
{
	uint64_t day_ticks = d->period_ticks * d->repetitions, best = UINT64_MAX, first = 0, ns;
	uint64_t ticks = clock_tick_at(&d->clock, d->clock.base_ns + length_ns);
	struct timeline_query q = { .run = d->run, .width = width, .tasks_max = 20 };
	struct store_run run;
	struct error e = ERROR_INIT;
	struct timeline *t = NULL;
	json_t *json = NULL;
	int i;

	if (store_get_run(d->store, d->run, &run, &e) < 0)
		fail(&e);
	q.from_tick = ticks ? run.first_tick + day_ticks / 3 : 0;
	q.to_tick = ticks ? q.from_tick + ticks : UINT64_MAX;
	for (i = 0; i < REPEATS; i++) {
		ns = stopwatch_wall_ns();
		if (timeline_json(d->summaries, &q, &json, &e) < 0)
			fail(&e);
		ns = stopwatch_wall_ns() - ns;
		json_decref(json);
		first = i ? first : ns;
		best = ns < best ? ns : best;
	}
	if (timeline_make(&t, d->summaries, &q, &e) < 0)
		fail(&e);
	if (!ticks)
		check(d, t);
	printf("  %-22s %5u pieces of %9.3f s  first %7.1f ms  best %7.1f ms  %8" PRIu64
	       " events decoded\n",
	       name, t->n, seconds(t->piece_ns), (double)first / 1e6, (double)best / 1e6,
	       t->events);
	if (d->table)
		fprintf(d->table, "| %s | %u | %.3f s | %.1f ms | %.1f ms | %" PRIu64 " |\n", name,
			t->n, seconds(t->piece_ns), (double)first / 1e6, (double)best / 1e6,
			t->events);
	if (d->out)
		fprintf(d->out,
			"%s{\"name\": \"%s\", \"width\": %u, \"pieces\": %u, \"piece_ns\": %" PRIu64
			", \"first_ns\": %" PRIu64 ", \"best_ns\": %" PRIu64
			", \"events_decoded\": %" PRIu64 "}",
			ticks || width != 1000 ? ",\n    " : "\n    ", name, width, t->n,
			t->piece_ns, first, best, t->events);
	timeline_free(t);
}

static void ask_all(struct day *d)
{
	ask(d, "the whole day", 0, 1000);
	ask(d, "the whole day", 0, 1920);
	ask(d, "the whole day, small", 0, 200);
	ask(d, "six hours", 6 * 3600 * 1000000000ULL, 1000);
	ask(d, "an hour", 3600 * 1000000000ULL, 1000);
	ask(d, "a minute", 60 * 1000000000ULL, 1000);
	ask(d, "a second", 1000000000ULL, 1000);
}

static void summarise(struct day *d)
{
	struct error e = ERROR_INIT;
	struct summaries_counters c;
	uint64_t ns = stopwatch_wall_ns();

	if (summaries_open(&d->summaries, d->folder, d->store, &e) < 0)
		fail(&e);
	if (summaries_wait(d->summaries, SUMMARISE_MS) < 0) {
		fprintf(stderr, "timeline: the summaries take too long\n");
		exit(1);
	}
	ns = stopwatch_wall_ns() - ns;
	summaries_count(d->summaries, &c);
	if (c.last_error[0]) {
		fprintf(stderr, "timeline: %s\n", c.last_error);
		exit(1);
	}
	if (d->table)
		fprintf(d->table,
			"The summariser decoded all of it in %.1f s, %.1f M events/s in one thread "
			"in the background; the queries:\n\n"
			"| range | pieces | of | first | best of %d | events decoded |\n"
			"|---|--:|--:|--:|--:|--:|\n",
			seconds(ns), (double)c.events / 1e6 / seconds(ns), REPEATS);
	printf("summarised %.1f M events in %.1f s: %.1f M events/s in one thread, in the "
	       "background\n",
	       (double)c.events / 1e6, seconds(ns), (double)c.events / 1e6 / seconds(ns));
}

static void measure(struct day *d)
{
	uint64_t ns = stopwatch_wall_ns(), used = 0, left = 0;

	plan_day(d);
	make_day(d);
	ns = stopwatch_wall_ns() - ns;
	store_space(d->store, &used, &left);
	printf("%s, %u CPUs, %u copies of each: %" PRIu64 " events in %.1f s, repeated %" PRIu64
	       " times under new headers, one each %.1f s:\n%.1f M events in %.1f hours, %.0f MB "
	       "of log; stored in %.1f s\n",
	       d->recording, d->cpus, d->copies, d->events, seconds(d->length_ns), d->repetitions,
	       seconds(d->period_ns), (double)(d->events * d->repetitions) / 1e6,
	       seconds(d->period_ns * d->repetitions) / 3600, (double)used / 1e6, seconds(ns));
	if (d->table)
		fprintf(d->table,
			"%.1f M events in %.1f hours on %u CPUs, %.0f MB of log, stored in %.1f "
			"s. ",
			(double)(d->events * d->repetitions) / 1e6,
			seconds(d->period_ns * d->repetitions) / 3600, d->cpus * d->copies,
			(double)used / 1e6, seconds(ns));
	summarise(d);
	if (d->out)
		fprintf(d->out,
			"{\"version\": 1, \"recording\": \"%s\", \"repetitions\": %" PRIu64
			", \"events\": %" PRIu64 ", \"log_bytes\": %" PRIu64 ",\n  \"queries\": [",
			d->recording, d->repetitions, d->events * d->repetitions, used);
	ask_all(d);
	if (d->out)
		fprintf(d->out, "\n  ]}\n");
	if (d->table)
		fprintf(d->table, "| goal, the whole day | | | | 200 ms or less | |\n");
}

static void usage(void)
{
	fprintf(stderr, "usage: timeline [--events N] [--hours H | --minutes M] [--folder DIR] "
			"[--json FILE] "
			"[--markdown FILE] RECORDING\n");
	exit(2);
}

static void parse_options(struct day *d, int argc, char **argv)
{
	static const struct option options[] = { { "events", required_argument, NULL, 'e' },
						 { "hours", required_argument, NULL, 'h' },
						 { "minutes", required_argument, NULL, 'n' },
						 { "folder", required_argument, NULL, 'f' },
						 { "json", required_argument, NULL, 'j' },
						 { "markdown", required_argument, NULL, 'm' },
						 { NULL, 0, NULL, 0 } };
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'e')
			d->events_wanted = strtoull(optarg, NULL, 10);
		else if (c == 'h')
			d->minutes = 60 * strtoull(optarg, NULL, 10);
		else if (c == 'n')
			d->minutes = strtoull(optarg, NULL, 10);
		else if (c == 'f')
			d->folder = optarg;
		else if (c == 'j')
			d->json = optarg;
		else if (c == 'm')
			d->markdown = optarg;
		else
			usage();
	}
	if (optind + 1 != argc || !d->events_wanted || !d->minutes)
		usage();
	d->recording = argv[optind];
}

int main(int argc, char **argv)
{
	struct day d = { .events_wanted = 500000000, .minutes = 24 * 60, .copies = 1 };
	char own[] = "/tmp/kiseki-bench-XXXXXX", path[4096];

	parse_options(&d, argc, argv);
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!d.folder && !(d.folder = mkdtemp(own))) {
		perror("timeline: cannot make a folder");
		return 1;
	}
	snprintf(path, sizeof(path), "%s/recording.ksk", d.folder);
	if ((d.json && !(d.out = fopen(d.json, "w"))) ||
	    (d.markdown && !(d.table = fopen(d.markdown, "w")))) {
		perror("timeline: cannot write");
		return 1;
	}
	load_recording(&d, path);
	d.copies = plan_copies(&d);
	if (d.copies > 1)
		load_recording(&d, path);
	measure(&d);
	summaries_free(d.summaries);
	store_free(d.store);
	ksk_file_free(d.file);
	free(d.blocks);
	if (d.out)
		fclose(d.out);
	if (d.table)
		fclose(d.table);
	if (d.folder == own && snprintf(path, sizeof(path), "rm -rf %s", own) > 0)
		return system(path) ? 1 : 0;
	return 0;
}
