/* SPDX-License-Identifier: MIT */
/*
 * timeline: what is shown against what the events say, on every level and for odd ranges, while the
 * summaries know nothing, something or everything. The events' side is the tracker of `report sched`,
 * which shares no line with the summaries.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/ladder.h"
#include "analysis/tracker.h"
#include "collector/summary_db.h"
#include "collector/timeline.h"
#include "tools/sched_random.h"
#include "tools/trace_store.h"
#include "trace/pidmap.h"
#include "trace/run_source.h"

#define WAIT_MS 120000

static char folder[] = "/tmp/kiseki-test-timeline-XXXXXX";

static void remove_folder(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	assert_int_equal(system(command), 0);
}

/* --- what the events say --- */

struct lane {
	int32_t pid;
	uint64_t ns;
	uint64_t *piece_ns;
};

struct reference {
	const struct timeline *t; /* its pieces */
	struct bucket_counts *cells;
	struct pidmap *lanes;
	struct tracker *tracker;
	uint64_t *seen_ns;
	struct bucket_counts *waiting; /* losses before the next event of the CPU */
	struct bucket_counts *beyond;  /* ... where that is the first behind the last piece */
	bool *is_beyond;
};

static struct bucket_counts *cell_at(struct reference *f, uint32_t cpu, uint64_t ns)
{
	const struct timeline *t = f->t;

	if (ns < t->from_ns || (ns - t->from_ns) / t->piece_ns >= t->n)
		return NULL;
	return &f->cells[cpu * t->n + (ns - t->from_ns) / t->piece_ns];
}

static void add_task(struct reference *f, int32_t pid, uint64_t piece, uint64_t ns)
{
	struct lane *lane = pidmap_add(f->lanes, pid);

	assert_non_null(lane);
	if (!lane->piece_ns)
		lane->piece_ns = calloc(f->t->n, sizeof(*lane->piece_ns));
	assert_non_null(lane->piece_ns);
	lane->piece_ns[piece] += ns;
	lane->ns += ns;
}

static int on_slice(void *context, const struct tracker_slice *s)
{
	struct reference *f = context;
	const struct timeline *t = f->t;
	uint64_t at = s->from_ns, edge;
	struct bucket_counts *c;

	for (; at < s->to_ns; at = edge) {
		edge = (at / t->piece_ns + 1) * t->piece_ns;
		if (edge > s->to_ns)
			edge = s->to_ns;
		c = cell_at(f, s->cpu, at);
		if (!c && at < t->from_ns) {
			edge = s->to_ns < t->from_ns ? s->to_ns : t->from_ns;
			continue;
		}
		if (!c)
			break;
		if (s->type == SLICE_IDLE)
			c->idle_ns += edge - at;
		if (s->type == SLICE_UNKNOWN)
			c->unknown_ns += edge - at;
		if (s->type != SLICE_TASK)
			continue;
		c->busy_ns += edge - at;
		add_task(f, tracker_get_task(f->tracker, s->task)->pid,
			 (at - t->from_ns) / t->piece_ns, edge - at);
	}
	return 0;
}

static void count_item(struct reference *f, const struct trace_item *item)
{
	struct bucket_counts *wait = &f->waiting[item->cpu], *c;
	uint64_t *seen = &f->seen_ns[item->cpu], ns;

	if (item->type == ITEM_LOSS) {
		if (item->loss.count == LOSS_UNKNOWN)
			wait->uncounted++;
		else
			wait->lost += item->loss.count;
		return;
	}
	ns = clock_event_ns(&f->t->clock, &item->event);
	*seen = ns > *seen ? ns : *seen;
	c = cell_at(f, item->cpu, *seen);
	if (c) {
		bucket_add_counts(c, wait);
		if (item->event.kind == SCHED_SWITCH)
			c->switches++;
		else if (item->event.kind >= SCHED_WAKING && item->event.kind <= SCHED_WAKEUP_NEW)
			c->wakeups++;
		else
			c->others++;
	} else if (*seen >= f->t->from_ns && !f->is_beyond[item->cpu]) {
		f->beyond[item->cpu] = *wait;
		f->is_beyond[item->cpu] = true;
	}
	memset(wait, 0, sizeof(*wait));
}

static void reference_init(struct reference *f, const struct timeline *t)
{
	memset(f, 0, sizeof(*f));
	f->t = t;
	f->cells = calloc((size_t)t->cpus * t->n + 1, sizeof(*f->cells));
	f->lanes = pidmap_new(sizeof(struct lane));
	f->seen_ns = calloc(t->cpus + 1, sizeof(*f->seen_ns));
	f->waiting = calloc(t->cpus + 1, sizeof(*f->waiting));
	f->beyond = calloc(t->cpus + 1, sizeof(*f->beyond));
	f->is_beyond = calloc(t->cpus + 1, sizeof(*f->is_beyond));
	assert_true(f->cells && f->lanes && f->seen_ns && f->waiting && f->beyond && f->is_beyond);
}

static void reference_done(struct reference *f)
{
	size_t i;

	for (i = 0; i < pidmap_count(f->lanes); i++)
		free(((struct lane *)pidmap_at(f->lanes, i))->piece_ns);
	pidmap_free(f->lanes);
	tracker_free(f->tracker);
	free(f->cells);
	free(f->seen_ns);
	free(f->waiting);
	free(f->beyond);
	free(f->is_beyond);
}

/* Losses at the end of a CPU's stream are where its last event is, or where the run starts. */
static void count_last_losses(struct reference *f)
{
	struct bucket_counts *c;
	uint32_t cpu;

	for (cpu = 0; cpu < f->t->cpus; cpu++) {
		c = cell_at(f, cpu, f->seen_ns[cpu] ? f->seen_ns[cpu] : f->t->run_from_ns);
		if (c)
			bucket_add_counts(c, &f->waiting[cpu]);
	}
}

static const struct tracker_ops reference_ops = { .slice = on_slice };

/* --- the comparison --- */

struct stage {
	struct store *store;
	struct summaries *summaries;
	uint32_t run;
	struct trace_info info;
	struct trace_item *items; /* what the store has of it */
	size_t n;
	bool exact_tasks; /* fewer than are kept of each bucket */
};

static void read_items(struct stage *g)
{
	static const struct store_range all = { .to_tick = UINT64_MAX };
	struct trace_source *source = NULL;
	struct error e = ERROR_INIT;

	if (source_run_open(&source, g->store, g->run, &all, &e) < 0)
		fail_msg("%s", e.text);
	g->n = trace_items_read(source, &g->items);
	assert_int_equal(info_dup(&g->info, &source->info), 0);
	source_free(source);
}

static void compare_tasks(struct reference *f, const struct timeline *t, bool exact)
{
	struct lane *lane;
	uint64_t listed = 0;
	uint32_t i, k;

	for (k = 0; k < t->n_tasks; k++) {
		listed += t->tasks[k].ns;
		assert_true(k == 0 || t->tasks[k].ns <= t->tasks[k - 1].ns);
		lane = exact ? pidmap_get(f->lanes, t->tasks[k].pid) : NULL;
		if (!exact || t->n_tasks < t->tasks_in_all)
			continue;
		assert_non_null(lane); /* a pid has a row for each of its names */
		lane->ns -= t->tasks[k].ns;
		for (i = 0; i < t->n; i++)
			lane->piece_ns[i] -= t->tasks[k].piece_ns[i];
	}
	for (i = 0; exact && t->n_tasks == t->tasks_in_all && i < pidmap_count(f->lanes); i++) {
		lane = pidmap_at(f->lanes, i);
		assert_int_equal(lane->ns, 0);
		for (k = 0; k < t->n; k++)
			assert_int_equal(lane->piece_ns[k], 0);
	}
	assert_int_equal(listed + t->other_ns, t->total.busy_ns);
	for (i = 0; i < t->n; i++)
		for (listed = t->other_piece_ns[i], k = 0; k <= t->n_tasks; k++) {
			if (k < t->n_tasks)
				listed += t->tasks[k].piece_ns[i];
			assert_true(listed <= t->cpus * t->piece_ns);
		}
}

/* The last piece of a CPU also has the losses that it lies within, and may have those behind them that are counted
 * with them: what is summed up says no more. */
static bool is_right(const struct reference *f, const struct timeline *t, size_t i)
{
	const struct bucket_counts *beyond = &f->beyond[i / t->n], *want = &f->cells[i];
	struct bucket_counts cell = t->cells[i];
	uint64_t lost = cell.lost - want->lost, uncounted = cell.uncounted - want->uncounted;

	if (i % t->n != t->n - 1)
		return !memcmp(want, &cell, sizeof(cell));
	if (cell.lost < want->lost || cell.uncounted < want->uncounted || lost < beyond->lost ||
	    uncounted < beyond->uncounted)
		return false;
	cell.lost = want->lost;
	cell.uncounted = want->uncounted;
	return !memcmp(want, &cell, sizeof(cell)) &&
	       (beyond->lost || beyond->uncounted || !(lost || uncounted));
}

static void compare_cells(const struct reference *f, const struct timeline *t)
{
	size_t i;

	for (i = 0; i < (size_t)t->cpus * t->n; i++) {
		if (is_right(f, t, i))
			continue;
		fail_msg(
			"cpu %zu piece %zu of %u (%llu ns each from %llu): busy %llu is %llu, "
			"idle %llu is %llu, unknown %llu is %llu, switches %llu is %llu, lost %llu "
			"is %llu",
			i / t->n, i % t->n, t->n, (unsigned long long)t->piece_ns,
			(unsigned long long)t->from_ns, (unsigned long long)f->cells[i].busy_ns,
			(unsigned long long)t->cells[i].busy_ns,
			(unsigned long long)f->cells[i].idle_ns,
			(unsigned long long)t->cells[i].idle_ns,
			(unsigned long long)f->cells[i].unknown_ns,
			(unsigned long long)t->cells[i].unknown_ns,
			(unsigned long long)f->cells[i].switches,
			(unsigned long long)t->cells[i].switches,
			(unsigned long long)f->cells[i].lost, (unsigned long long)t->cells[i].lost);
	}
}

static uint32_t used[LADDER_LEVELS + 1]; /* queries that were answered on each level; by decoding */

static void note_level(const struct timeline *t)
{
	uint32_t level = 0;

	while (level + 1 < LADDER_LEVELS && t->piece_ns >= ladder_width_ns(level + 1))
		level++;
	used[t->decoded ? LADDER_LEVELS : level]++;
}

static void compare(struct stage *g, uint32_t width, uint64_t from_tick, uint64_t to_tick)
{
	struct timeline_query q = { .run = g->run,
				    .width = width,
				    .from_tick = from_tick,
				    .to_tick = to_tick,
				    .tasks_max = 12 };
	struct error e = ERROR_INIT;
	struct timeline *t = NULL;
	struct reference f;
	size_t i;

	if (timeline_make(&t, g->summaries, &q, &e) < 0)
		fail_msg("%s", e.text);
	assert_in_range(t->n, 1, width);
	assert_true(t->from_ns <= clock_ns(&t->clock, from_tick) || t->from_ns <= t->run_from_ns);
	assert_true(t->pending_from_ns == UINT64_MAX);
	reference_init(&f, t);
	assert_int_equal(tracker_new(&f.tracker, &g->info, &reference_ops, &f), 0);
	for (i = 0; i < g->n; i++) {
		assert_int_equal(tracker_add(f.tracker, &g->items[i], &e), 0);
		count_item(&f, &g->items[i]);
	}
	assert_int_equal(tracker_finish(f.tracker, &e), 0);
	count_last_losses(&f);
	compare_cells(&f, t);
	compare_tasks(&f, t, g->exact_tasks);
	reference_done(&f);
	note_level(t);
	timeline_free(t);
}

static const uint32_t widths[] = { 1, 2, 3, 7, 50, 333, 1000, 5000 };
#define WIDTHS (sizeof(widths) / sizeof(*widths))

static void compare_all(struct stage *g, struct sched_random *r)
{
	struct store_run run;
	uint64_t length, from;
	size_t i;

	read_items(g);
	assert_int_equal(store_get_run(g->store, g->run, &run, NULL), 0);
	length = run.last_tick - run.first_tick;
	for (i = 0; i < WIDTHS; i++)
		compare(g, widths[i], 0, UINT64_MAX);
	for (i = 0; i < 24; i++) {
		uint64_t part = length >> (i % 12);

		from = run.first_tick +
		       (part < length ? sched_random_bits(r) % (length - part) : 0);
		compare(g, widths[i % WIDTHS], from, from + part);
	}
	trace_items_free(g->items, g->n);
	info_done(&g->info);
}

/* A trace comes in four parts; each time, everything is compared with and without what came last
 * being summarised. */
/* The clock makes it 2^slower times as long: days, for all levels. */
static void play(const struct trace_random_options *o, uint32_t slower, uint8_t seed)
{
	struct sink_ksk_options options = { .codec = CODEC_SCHED,
					    .block_bytes = 400,
					    .segment_bytes = 1500 };
	struct stage g = { .exact_tasks = o->style == SCHED_RANDOM_IDLE };
	struct sched_random *r = malloc(sizeof(*r));
	struct store_options store_options = { .file_bytes = 1 << 20 };
	struct error e = ERROR_INIT;
	struct trace_random trace;
	struct trace_blocks b;
	size_t part;

	assert_non_null(r);
	sched_random_init(r, seed, SCHED_RANDOM_REAL);
	trace_random_init(&trace, o);
	trace.info.clock.shift -= slower;
	trace_blocks_init(&b, &trace, &options);
	if (store_open(&g.store, folder, &store_options, &e) < 0 ||
	    summaries_open(&g.summaries, folder, g.store, &e) < 0)
		fail_msg("%s", e.text);
	g.run = trace_store_run(g.store, seed);
	for (part = 0; part < 4; part++) {
		trace_store_put(g.store, g.run, &b, b.n * part / 4, b.n * (part + 1) / 4);
		compare_all(&g, r);
		assert_int_equal(summaries_wait(g.summaries, WAIT_MS), 0);
		compare_all(&g, r);
	}
	trace_store_end(g.store, g.run, &b);
	assert_int_equal(summaries_wait(g.summaries, WAIT_MS), 0);
	compare_all(&g, r);
	summaries_free(g.summaries);
	store_free(g.store);
	trace_blocks_done(&b);
	trace_random_done(&trace);
	free(r);
}

static void test_idle(void **state)
{
	struct trace_random_options o = {
		.seed = 3, .cpus = 3, .events = 2500, .style = SCHED_RANDOM_IDLE
	};

	(void)state;
	play(&o, 0, 1);
	o.seed = 4;
	o.loss_every = 60;
	play(&o, 9, 2);
	for (o.seed = 0; o.seed <= LADDER_LEVELS; o.seed++)
		assert_true(used[o.seed] > 10);
}

static void test_busy(void **state)
{
	struct trace_random_options o = {
		.seed = 5, .cpus = 2, .events = 5000, .style = SCHED_RANDOM_REAL, .loss_every = 300
	};

	(void)state;
	play(&o, 0, 3);
	o.seed = 6;
	play(&o, 8, 4);
}

/* --- when the store forgets --- */

static uint64_t first_chunk(uint32_t run, uint32_t level)
{
	struct summary_key key = { .run = run, .level = level };
	struct summary_db *db = NULL;
	struct error e = ERROR_INIT;
	const uint8_t *data;
	char path[128];
	size_t len;

	snprintf(path, sizeof(path), "%s/summary.sqlite", folder);
	if (summary_db_open_reader(&db, path, &e) < 0)
		fail_msg("%s", e.text);
	assert_int_equal(summary_db_next_chunk(db, &key, &data, &len), 1);
	summary_db_free(db);
	return key.chunk;
}

/* A tick at which all CPUs have had an event of what is left. */
static uint64_t find_settled(const struct stage *g, uint32_t cpus)
{
	bool seen[8] = { false };
	size_t i;

	for (i = 0; i < g->n; i++) {
		if (g->items[i].type != ITEM_EVENT)
			continue;
		cpus -= !seen[g->items[i].cpu];
		seen[g->items[i].cpu] = true;
		if (!cpus)
			return g->items[i].event.tick;
	}
	fail_msg("a CPU has no events left");
	return 0;
}

/* The oldest files go, and with them their summaries; what is shown of the rest stays as exact. */
static void test_retained(void **state)
{
	struct trace_random_options o = {
		.seed = 9, .cpus = 2, .events = 30000, .style = SCHED_RANDOM_IDLE
	};
	struct sink_ksk_options options = { .codec = CODEC_SCHED,
					    .block_bytes = 400,
					    .segment_bytes = 1500 };
	struct store_options store_options = { .file_bytes = 1 << 16, .retain_bytes = 3 << 15 };
	struct stage g = { .exact_tasks = true };
	struct error e = ERROR_INIT;
	struct trace_random trace;
	struct trace_blocks b;
	uint64_t before, settled;
	size_t i;

	(void)state;
	trace_random_init(&trace, &o);
	trace.info.clock.shift -= 9;
	trace_blocks_init(&b, &trace, &options);
	if (store_open(&g.store, folder, &store_options, &e) < 0 ||
	    summaries_open(&g.summaries, folder, g.store, &e) < 0)
		fail_msg("%s", e.text);
	g.run = trace_store_run(g.store, 7);
	for (i = 0; i < 20; i++)
		trace_store_put(g.store, g.run, &b, b.n * i / 20, b.n * (i + 1) / 20);
	assert_int_equal(summaries_wait(g.summaries, WAIT_MS), 0);
	before = first_chunk(g.run, 0);
	assert_int_equal(store_retain(g.store, &e), 0);
	assert_int_equal(store_commit(g.store, NULL, &e), 0);
	assert_int_equal(store_retain(g.store, &e), 0); /* now they can go */
	trace_store_end(g.store, g.run, &b);
	assert_int_equal(summaries_wait(g.summaries, WAIT_MS), 0);
	assert_true(first_chunk(g.run, 0) > before);
	read_items(&g);
	assert_true(g.n < trace.n);
	settled = find_settled(&g, o.cpus);
	settled += (g.items[g.n - 1].event.tick - settled) / 4;
	for (i = 0; i < WIDTHS; i++)
		if (widths[i] >= 7) /* else pieces would reach back behind it */
			compare(&g, widths[i], settled, UINT64_MAX);
	trace_items_free(g.items, g.n);
	info_done(&g.info);
	summaries_free(g.summaries);
	store_free(g.store);
	trace_blocks_done(&b);
	trace_random_done(&trace);
}

/* A run that can never end, since its device has booted, is taken as complete; then the device finds
 * the rest of its blocks on its disk after all. */
static void test_late_blocks(void **state)
{
	struct trace_random_options o = {
		.seed = 11, .cpus = 2, .events = 3000, .style = SCHED_RANDOM_IDLE
	};
	struct sink_ksk_options options = { .codec = CODEC_SCHED,
					    .block_bytes = 400,
					    .segment_bytes = 1 << 20 };
	struct message_id device, run = { { 1 } }, boot = { { 2 } };
	struct stage g = { .exact_tasks = true };
	struct error e = ERROR_INIT;
	struct trace_random trace;
	struct trace_blocks b;
	uint32_t other;

	(void)state;
	trace_random_init(&trace, &o);
	trace_blocks_init(&b, &trace, &options);
	if (store_open(&g.store, folder, NULL, &e) < 0 ||
	    summaries_open(&g.summaries, folder, g.store, &e) < 0)
		fail_msg("%s", e.text);
	g.run = trace_store_run(g.store, 9);
	memset(&device, 9, sizeof(device));
	trace_store_put(g.store, g.run, &b, 0, b.n / 2);
	assert_int_equal(store_run(g.store, &device, &run, &boot, &other, &e), 0);
	assert_int_equal(store_commit(g.store, NULL, &e), 0);
	assert_int_equal(summaries_wait(g.summaries, WAIT_MS), 0);
	trace_store_put(g.store, g.run, &b, b.n / 2, b.n);
	assert_int_equal(summaries_wait(g.summaries, WAIT_MS), 0);
	read_items(&g);
	compare(&g, 1000, 0, UINT64_MAX);
	compare(&g, 10, 0, UINT64_MAX);
	trace_items_free(g.items, g.n);
	info_done(&g.info);
	summaries_free(g.summaries);
	store_free(g.store);
	trace_blocks_done(&b);
	trace_random_done(&trace);
}

/* --- all at once --- */

struct asker {
	struct summaries *summaries;
	uint32_t run;
	uint32_t width;
	atomic_bool stop;
	uint32_t answers;
};

static void *ask(void *context)
{
	struct asker *a = context;
	struct timeline_query q = {
		.run = a->run, .to_tick = UINT64_MAX, .width = a->width, .tasks_max = 3
	};
	struct timeline *t = NULL;

	while (!atomic_load(&a->stop)) {
		if (timeline_make(&t, a->summaries, &q, NULL) < 0)
			continue;
		a->answers++;
		timeline_free(t);
	}
	return NULL;
}

/* Blocks come in, are summarised, and are asked for by several; in the end all is right. */
static void test_together(void **state)
{
	struct trace_random_options o = {
		.seed = 10, .cpus = 2, .events = 8000, .style = SCHED_RANDOM_IDLE
	};
	struct sink_ksk_options options = { .codec = CODEC_SCHED,
					    .block_bytes = 300,
					    .segment_bytes = 1000 };
	struct stage g = { .exact_tasks = true };
	struct asker askers[3] = { 0 };
	struct error e = ERROR_INIT;
	struct trace_random trace;
	struct trace_blocks b;
	pthread_t threads[3];
	size_t i;

	(void)state;
	trace_random_init(&trace, &o);
	trace_blocks_init(&b, &trace, &options);
	if (store_open(&g.store, folder, NULL, &e) < 0 ||
	    summaries_open(&g.summaries, folder, g.store, &e) < 0)
		fail_msg("%s", e.text);
	g.run = trace_store_run(g.store, 8);
	for (i = 0; i < 3; i++) {
		askers[i].summaries = g.summaries;
		askers[i].run = g.run;
		askers[i].width = (uint32_t[]){ 3, 100, 4000 }[i];
		assert_int_equal(pthread_create(&threads[i], NULL, ask, &askers[i]), 0);
	}
	for (i = 0; i < 30; i++) {
		trace_store_put(g.store, g.run, &b, b.n * i / 30, b.n * (i + 1) / 30);
		if (i % 3 == 0)
			assert_int_equal(summaries_wait(g.summaries, WAIT_MS), 0);
	}
	for (i = 0; i < 3; i++) {
		atomic_store(&askers[i].stop, true);
		pthread_join(threads[i], NULL);
	}
	read_items(&g);
	for (i = 0; i < WIDTHS; i++)
		compare(&g, widths[i], 0, UINT64_MAX);
	trace_items_free(g.items, g.n);
	info_done(&g.info);
	summaries_free(g.summaries);
	store_free(g.store);
	trace_blocks_done(&b);
	trace_random_done(&trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_idle),	 cmocka_unit_test(test_busy),
		cmocka_unit_test(test_retained), cmocka_unit_test(test_late_blocks),
		cmocka_unit_test(test_together),
	};
	int failed;

	if (!mkdtemp(folder))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	remove_folder();
	return failed;
}
