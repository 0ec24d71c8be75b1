/* SPDX-License-Identifier: MIT */
/*
 * func_run, stopped after every single instruction of what changes the file (tools/stepper.h).
 *
 * After each one a copy is opened as the next agent would. Some blocks were acknowledged before, and
 * so are known from the rows alone; all others are in the ring. The rows must say what both say, and a
 * block that is put now must go on behind them. No number of a process may be given twice. The run of
 * events beside it stays as it was.
 *
 * Skipped (77) where programs cannot be stepped through.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "device/agent/memory.h"
#include "device/agent/spool_ring.h"
#include "device/feed/func_run.h"
#include "tools/stepper.h"

#define ROWS 3U
#define STREAMS (FUNC_LANES * ROWS)
#define RING_KIB 77U

static const struct meta_clock clock_mono = { .name = "mono", .name_len = 4, .mult = 1 };

struct subject {
	char path[64];
	struct memory *memory;
	struct spool *spool;
	struct func_run *run;
};

struct found {
	struct func_run_place streams[STREAMS];
	uint64_t metas;
	uint32_t processes; /* the highest number that was given, + 1 */
	uint32_t ends;
};

static struct found gone; /* what was acknowledged, of the first run */
static uint32_t first_run;

static uint8_t room[BLOCK_HEADER_MAX + 256];

static int put(struct func_run *run, uint32_t row, enum func_run_lane lane)
{
	struct func_run_block b = { .row = row,
				    .lane = lane,
				    .payload = room + BLOCK_HEADER_MAX,
				    .until = 1000,
				    .block = {
					    .events = 7, .first_tick = 900, .payload_len = 40 } };

	b.block.lost[LOSS_RING] = 2;
	return func_run_put(run, &b);
}

static int take_process(struct func_run *run, int32_t pid, uint32_t *ret)
{
	struct func_run_process p = { .start_tick = 5,
				      .about = { .pid = pid, .command = { "a", 1 } } };
	int r = func_run_take_process(run, &p, NULL);

	*ret = p.about.number;
	return r;
}

static int take_thread(struct func_run *run, uint32_t process, uint32_t stream, uint32_t *ret_row)
{
	struct func_run_thread t = { .process = process, .stream = stream, .comm = "t" };

	return func_run_take_thread(run, &t, ret_row, NULL);
}

static void set_up(struct subject *s)
{
	struct memory_options mo = {
		.path = s->path, .cpus = 1, .slots = 1, .spool_bytes = 65536, .func_rows = ROWS
	};
	struct spool_run events = { .config = { .given = 1U << CONFIG_RING,
						.ring_kib = RING_KIB } };
	struct spool_options so = { .policy = POLICY_OLDEST };
	struct func_run_options fo = { .device = "box" };
	uint32_t number;

	memset(s, 0, sizeof(*s));
	strcpy(s->path, "/tmp/kiseki-test-func-steps-XXXXXX");
	close(mkstemp(s->path));
	assert_int_equal(memory_open(&s->memory, &mo, NULL), 0);
	so.memory = s->memory;
	assert_int_equal(spool_open(&s->spool, &so, NULL), 0);
	fo.spool = s->spool;
	assert_int_equal(func_run_new(&s->run, &fo, NULL), 0);
	assert_int_equal(spool_start_run(s->spool, &events, NULL), 0);
	assert_int_equal(func_run_start(s->run, &clock_mono, NULL), 0);
	assert_int_equal(take_process(s->run, 100, &number), 0);
	assert_int_equal(take_thread(s->run, number, 0, &number), 0);
	assert_int_equal(put(s->run, 0, FUNC_LANE_CALLS), 0);
	assert_int_equal(put(s->run, 0, FUNC_LANE_OS), 0);
}

static void tear_down(struct subject *s)
{
	func_run_free(s->run);
	spool_free(s->spool);
	memory_free(s->memory);
	unlink(s->path);
}

/* --- what the next agent finds --- */

static void find_processes(const struct block *b, struct found *f)
{
	struct meta_reader m;
	uint64_t number;

	meta_reader_init(&m, b->payload, b->payload_len);
	while (meta_reader_next(&m) == WIRE_OK) {
		number = m.type == META_PROCESSES ? reader_varint(&m.item) + 1 : 0;
		if (number > f->processes)
			f->processes = (uint32_t)number;
	}
}

/* NULL, or what is wrong with the entries of the run. */
static const char *read_entries(const struct spool *s, uint32_t run, struct found *f)
{
	struct func_run_place *p;
	struct spool_entry e;
	struct block b;
	uint64_t at = 0;

	memset(f, 0, sizeof(*f));
	if (run == first_run)
		*f = gone;
	while (spool_next(s, &at, &e)) {
		if (e.run != run)
			continue;
		f->ends += e.kind == FRAME_RUN_END;
		if (e.kind == FRAME_RUN_END)
			continue;
		if (block_decode(e.bytes, e.len, &b) != WIRE_OK)
			return "an entry is not whole";
		if (b.stream == STREAM_META) {
			if (b.sequence != f->metas++)
				return "a description's sequence is missing, or there twice";
			find_processes(&b, f);
			continue;
		}
		p = &f->streams[b.stream - STREAM_FUNC_FIRST];
		if (b.sequence != p->next_sequence || b.before != p->count + block_told(&b))
			return "a block does not go on where the one before it ended";
		p->next_sequence++;
		p->count = b.before + b.events;
		p->until = b.first_tick + b.ticks;
	}
	return NULL;
}

static const char *check_places(const struct func_run *run, const struct found *f)
{
	struct func_run_place at;
	uint32_t i;

	for (i = 0; i < STREAMS; i++) {
		func_run_get_place(run, i / FUNC_LANES, i % FUNC_LANES, &at);
		if (memcmp(&at, &f->streams[i], sizeof(at)))
			return "a row does not say what the blocks say";
	}
	return NULL;
}

/* Goes on with a run as a program's feeder would. */
static const char *go_on(struct func_run *run, const struct found *f)
{
	uint32_t old, new, row;

	if (take_process(run, 100, &old) < 0 || old)
		return "a process is not found again";
	if (take_process(run, 999, &new) < 0 || new < f->processes)
		return "a process gets a number that another one had";
	if (take_thread(run, 0, 0, &row) < 0 || row)
		return "a thread is not found again";
	if (func_run_left(run) && (take_thread(run, new, 8, &row) < 0 || put(run, row, 0) < 0))
		return "a new thread is not taken";
	return put(run, 0, FUNC_LANE_CALLS) < 0 ? "a block is not taken" : NULL;
}

static const char *look_at(struct spool *s, struct func_run *run)
{
	uint32_t number = s->mark.func >> 2;
	const char *wrong;
	struct found f;

	wrong = read_entries(s, number, &f);
	if (wrong)
		return wrong;
	if (f.ends && func_run_is_open(run))
		return "a run goes on behind its end";
	if (!func_run_is_open(run))
		return func_run_start(run, &clock_mono, NULL) < 0 ? "no run can be begun" : NULL;
	wrong = check_places(run, &f);
	if (!wrong && f.processes)
		wrong = go_on(run, &f);
	if (!wrong)
		wrong = read_entries(s, number, &f);
	return wrong ? wrong : check_places(run, &f);
}

static const char *look(uint8_t *copy, size_t len)
{
	CLEANUP(memory) struct memory *m = NULL;
	CLEANUP(spool) struct spool *s = NULL;
	CLEANUP(func_run) struct func_run *run = NULL;
	struct spool_options so = { .policy = POLICY_OLDEST };
	struct func_run_options fo = { .device = "box" };
	struct spool_run events;

	if (memory_adopt(&m, copy, len, NULL) < 0 || !memory_is_same_boot(m))
		return "the file cannot be used";
	so.memory = m;
	if (spool_open(&s, &so, NULL) < 0)
		return "the spool cannot be opened";
	fo.spool = s;
	if (func_run_new(&run, &fo, NULL) < 0)
		return "the run cannot be taken up";
	if (!spool_get_current(s, SPOOL_EVENTS, &events) || events.config.ring_kib < RING_KIB)
		return "the run of events is gone";
	return look_at(s, run);
}

/* --- what is stepped through --- */

static void act_put(void *context)
{
	struct subject *s = context;

	put(s->run, 0, FUNC_LANE_CALLS);
	put(s->run, 0, FUNC_LANE_OS);
	put(s->run, 0, FUNC_LANE_CALLS);
}

static void act_take(void *context)
{
	struct subject *s = context;
	uint32_t process, row;

	take_process(s->run, 200, &process);
	take_thread(s->run, process, 4, &row);
	put(s->run, row, FUNC_LANE_CALLS);
}

static void act_stop(void *context)
{
	struct subject *s = context;

	func_run_stop(s->run, NULL);
}

static void act_start(void *context)
{
	struct subject *s = context;

	func_run_stop(s->run, NULL);
	func_run_start(s->run, &clock_mono, NULL);
}

static void act_start_events(void *context)
{
	struct subject *s = context;
	struct spool_run run = { .config = { .given = 1U << CONFIG_RING,
					     .ring_kib = RING_KIB + 1 } };

	spool_start_run(s->spool, &run, NULL);
	spool_start_run(s->spool, &run, NULL);
}

static void act_recover(void *context)
{
	struct subject *s = context;
	struct func_run_options fo = { .spool = s->spool, .device = "box" };

	func_run_free(s->run);
	s->run = NULL;
	spool_recover(s->spool);
	func_run_new(&s->run, &fo, NULL);
}

/* What set_up() put has reached the collector, and leaves the ring. */
static void acknowledge(struct subject *s)
{
	struct spool_entry e;

	memset(&gone, 0, sizeof(gone));
	first_run = s->spool->mark.func >> 2;
	assert_null(read_entries(s->spool, first_run, &gone));
	assert_int_equal(gone.streams[0].next_sequence, 1);
	while (spool_peek(s->spool, &e))
		spool_sent(s->spool);
	assert_int_equal(spool_ack(s->spool, s->spool->sent), 0);
	assert_int_equal(spool_used(s->spool), 0);
}

static void step_through(void (*act)(void *context), bool lose_row)
{
	struct subject s;
	struct stepper stepper = { .act = act, .context = &s, .look = look };
	struct memory_func_row row;
	const char *wrong;
	uint32_t looked;

	set_up(&s);
	acknowledge(&s);
	if (lose_row) {
		row = memory_get_func_rows(s.memory)[0];
		assert_int_equal(put(s.run, 0, FUNC_LANE_CALLS), 0);
		memory_get_func_rows(s.memory)[0] = row;
	}
	stepper.file = (const uint8_t *)memory_get_head(s.memory);
	stepper.len = memory_get_len(s.memory);
	looked = stepper_run(&stepper, &wrong);
	print_message("%u states\n", looked);
	if (wrong)
		print_message("after %u changes: %s\n", looked, wrong);
	assert_null(wrong);
	assert_true(looked >= 3);
	tear_down(&s);
}

static void test_put(void **state)
{
	(void)state;
	step_through(act_put, false);
}

static void test_take(void **state)
{
	(void)state;
	step_through(act_take, false);
}

static void test_stop(void **state)
{
	(void)state;
	step_through(act_stop, false);
}

static void test_start(void **state)
{
	(void)state;
	step_through(act_start, false);
}

static void test_start_events(void **state)
{
	(void)state;
	step_through(act_start_events, false);
}

static void test_recover(void **state)
{
	(void)state;
	step_through(act_recover, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_put),	     cmocka_unit_test(test_take),
		cmocka_unit_test(test_stop),	     cmocka_unit_test(test_start),
		cmocka_unit_test(test_start_events), cmocka_unit_test(test_recover),
	};
	const char *obstacle = stepper_find_obstacle();

	if (obstacle) {
		printf("skipped: %s\n", obstacle);
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
