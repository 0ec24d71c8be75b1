/* SPDX-License-Identifier: MIT */
/*
 * fact_run: a run that goes on for long, minute by minute. What workers keep of its description changes nothing of what comes out:
 * in order, out of order, when blocks come late, and for whoever takes it over; and it does not grow with the run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "facts/fact_build.h"
#include "facts/fact_run.h"
#include "facts/fact_workers.h"
#include "tools/fact_random.h"
#include "unit/stored.h"
#include "wire/sample_encode.h"
#include "wire/sample_meta_encode.h"

#define MINUTES 40U
#define CPUS 2U
#define EACH 24U     /* processes that begin in a minute, */
#define PIDS 300U    /* and numbers that they share */
#define SAMPLES 120U /* of a CPU in a minute */
#define NS 1000000000ULL
#define BASE (1000 * NS)		 /* the first tick */
#define REAL_S (1700000000ULL / 60 * 60) /* when that was */
#define LONG 10U			 /* minutes that some of them last */
#define SHELL 50
#define WAIT_MS 240000
#define ROOM 65536U

/* The blocks of each minute: the description, then those of the CPUs. */
struct piece {
	uint8_t *room, *bytes;
	uint32_t len;
	struct block block;
};
static struct piece pieces[MINUTES][1 + CPUS];

static uint64_t minute_tick(uint32_t minute)
{
	return BASE + minute * 60 * NS;
}

static int32_t pid_of(uint32_t minute, uint32_t i)
{
	return (int32_t)(1000 + (minute * EACH + i) % PIDS);
}

/* Some go on for longer. */
static uint32_t last_minute(uint32_t minute, uint32_t i)
{
	return i % 8 == 1 ? minute + LONG : i % 8 == 2 ? minute + 7 : minute;
}

/* --- the description --- */

static uint8_t *put_life(uint8_t *p, int32_t pid, uint64_t tick, enum sample_life what)
{
	char name[16];
	struct sample_life_row row = {
		.pid = pid, .parent = SHELL, .tick = tick, .what = (uint8_t)what, .comm = name
	};
	uint8_t *body = meta_item_begin(p, META_LIFE);

	row.comm_len = (uint32_t)snprintf(name, sizeof(name), "%s%d",
					  what == SAMPLE_LIFE_START ? "sh" : "job", pid % 7);
	if (what == SAMPLE_LIFE_END)
		row.comm_len = 0;
	return meta_item_end(body, sample_meta_put_life(body, &row));
}

static uint8_t *put_mapping(uint8_t *p, int32_t pid, uint64_t tick, uint32_t number)
{
	char path[32];
	struct sample_mapping row = { .pid = pid,
				      .tick = tick,
				      .from = 0x400000 + (uint64_t)(number % 4) * 0x10000,
				      .to = 0x410000 + (uint64_t)(number % 4) * 0x10000,
				      .path = path };
	uint8_t *body = meta_item_begin(p, META_MAPPED);

	row.path_len = (uint32_t)snprintf(path, sizeof(path), "/usr/lib/%u.so", number);
	return meta_item_end(body, sample_meta_put_mapping(body, &row));
}

static uint8_t *put_kernel(uint8_t *p, uint32_t minute)
{
	char name[32];
	struct sample_kernel_name row = { .from = 0xffff000000000000ULL + minute % 5 * 0x100,
					  .to = 0xffff000000000180ULL + minute % 7 * 0x100,
					  .name = name };
	uint8_t *body = meta_item_begin(p, META_KERNEL_NAMES);

	row.name_len = (uint32_t)snprintf(name, sizeof(name), "function_%u", minute);
	if (row.to <= row.from)
		return p;
	return meta_item_end(body, sample_meta_put_kernel_name(body, &row));
}

static uint8_t *put_pace(uint8_t *p, uint64_t tick, enum sample_pace_what what)
{
	const struct sample_pace_row row = { .tick = tick, .what = (uint8_t)what, .period = NS };
	uint8_t *body = meta_item_begin(p, META_PACE);

	return meta_item_end(body, sample_meta_put_pace(body, &row));
}

/* A process that executes, one that does not, and one whose start was lost; mappings of some come minutes later. */
static uint8_t *put_begin(uint8_t *p, uint32_t minute, uint32_t i)
{
	uint64_t tick = minute_tick(minute) + i * NS;
	int32_t pid = pid_of(minute, i);
	uint32_t k;

	if (i % 6)
		p = put_life(p, pid, tick, SAMPLE_LIFE_START);
	if (i % 4)
		p = put_life(p, pid, tick + 10, SAMPLE_LIFE_EXEC);
	for (k = 0; i % 4 && i % 5 && k < 4; k++)
		p = put_mapping(p, pid, tick + 20 + k, minute % 3 * 4 + k);
	return p;
}

static uint8_t *put_rest(uint8_t *p, uint32_t minute)
{
	uint32_t from, i;

	for (from = minute > LONG ? minute - LONG : 0; from <= minute; from++)
		for (i = 0; i < EACH; i++) {
			if (from + 3 == minute && i % 5 == 0)
				p = put_mapping(p, pid_of(from, i), minute_tick(from) + i * NS + 30,
						i);
			if (last_minute(from, i) == minute && i % 7)
				p = put_life(p, pid_of(from, i),
					     minute_tick(minute) + (30 + i) * NS, SAMPLE_LIFE_END);
		}
	return p;
}

static uint8_t *describe(uint8_t *p, uint32_t minute)
{
	const struct sample_sampling sampling = { .period = NS, .has = SAMPLE_HAS_WHOLE };
	uint32_t i;

	if (!minute) {
		p = sample_meta_put_sampling(p, &sampling);
		p = put_life(p, SHELL, BASE, SAMPLE_LIFE_EXEC);
		for (i = 0; i < 4; i++)
			p = put_mapping(p, SHELL, BASE + 1, 100 + i);
		/* Never executes: it has what the shell had then, for good. */
		p = put_life(p, SHELL + 1, BASE + 2, SAMPLE_LIFE_START);
	}
	if (minute == 5) {
		p = put_life(p, SHELL, minute_tick(5) + 1, SAMPLE_LIFE_EXEC);
		p = put_mapping(p, SHELL, minute_tick(5) + 2, 200);
	}
	p = put_pace(p, minute_tick(minute) + 20 * NS, SAMPLE_PACE_PAUSES);
	p = put_pace(p, minute_tick(minute) + 21 * NS, SAMPLE_PACE_GOES);
	p = put_kernel(p, minute);
	for (i = 0; i < EACH; i++)
		p = put_begin(p, minute, i);
	return put_rest(p, minute);
}

/* --- the samples --- */

/* Whoever is there, was there not long ago, or began with the run. */
static int32_t choose(uint32_t minute, uint32_t n, uint32_t cpu)
{
	uint32_t h = (minute * 977 + n * 131 + cpu * 31) * 2654435761U >> 8;

	if (n % 10 == 0)
		return SHELL + (int32_t)(n / 10 % 2);
	if (n % 10 < 4)
		return pid_of(minute < h % LONG ? 0 : minute - h % LONG,
			      h / LONG % EACH / 8 * 8 + 1);
	return pid_of(minute, h % EACH);
}

static void sample(struct sample_encoder *e, uint32_t minute, uint32_t n, uint32_t cpu)
{
	uint32_t h = (minute * 31 + n * 17 + cpu) * 2654435761U >> 4;
	uint64_t chain[3] = { 0xffff000000000000ULL + h % 0x600, 0x400000 + h % 0x40000,
			      0x400000 + h / 3 % 0x40000 };
	struct sample_event ev = { .tick = minute_tick(minute) + n * 60 * NS / SAMPLES + 7,
				   .kind = SAMPLE_TAKEN,
				   .mode = n % 3 ? SAMPLE_USER : SAMPLE_KERNEL,
				   .weight = NS,
				   .n_user = 2,
				   .chain = n % 3 ? chain + 1 : chain };

	ev.n_kernel = n % 3 == 0;
	/* Not its first thread: only the description says what the process is called. */
	ev.task.pid = choose(minute, n, cpu);
	ev.task.tid = ev.task.pid + 100000;
	ev.task.vcpu = SAMPLE_NO_VCPU;
	memcpy(ev.task.comm, "thread", 6);
	assert_int_equal(sample_encode(e, &ev), WIRE_OK);
}

static void make_samples(struct piece *p, uint32_t minute, uint32_t cpu)
{
	static struct sample_encoder e;
	uint64_t from = minute_tick(minute) + 7;
	uint32_t n;

	sample_encoder_init(&e);
	sample_encoder_begin(&e, p->room + BLOCK_HEADER_MAX, ROOM, from);
	for (n = 0; n < SAMPLES; n++)
		sample(&e, minute, n, cpu);
	p->block = (struct block){ .codec = CODEC_SAMPLE,
				   .flags = BLOCK_KEY,
				   .stream = STREAM_SAMPLE(cpu),
				   .first_tick = from,
				   .ticks = (SAMPLES - 1) * 60 * NS / SAMPLES,
				   .before = (uint64_t)minute * SAMPLES,
				   .events = SAMPLES };
	p->block.payload_len = sample_encoder_end(&e);
}

static int make_run(void **state)
{
	uint32_t minute, i;
	struct piece *p;

	(void)state;
	for (minute = 0; minute < MINUTES; minute++)
		for (i = 0; i <= CPUS; i++) {
			p = &pieces[minute][i];
			p->room = malloc(BLOCK_HEADER_MAX + ROOM);
			assert_non_null(p->room);
			if (i)
				make_samples(p, minute, i - 1);
			else
				p->block = (struct block){
					.codec = CODEC_META,
					.flags = BLOCK_KEY,
					.stream = STREAM_META,
					.payload_len =
						(uint32_t)(describe(p->room + BLOCK_HEADER_MAX,
								    minute) -
							   p->room - BLOCK_HEADER_MAX)
				};
			p->block.sequence = minute;
			p->bytes = block_encode(&p->block, p->room + BLOCK_HEADER_MAX, &p->len);
			assert_int_equal(block_decode(p->bytes, p->len, &p->block), WIRE_OK);
		}
	return 0;
}

static int free_run(void **state)
{
	uint32_t minute, i;

	(void)state;
	for (minute = 0; minute < MINUTES; minute++)
		for (i = 0; i <= CPUS; i++)
			free(pieces[minute][i].room);
	return 0;
}

/* --- stores --- */

struct rig {
	char folder[64];
	struct store *store;
	struct facts *facts;
	struct fact_workers *workers;
	uint32_t run;
	struct fact_run kept;
};

static void rig_open(struct rig *r)
{
	struct message_id device = stored_id(1), run = stored_id(2), boot = stored_id(3);
	struct store_device d = { .id = device, .name = "long", .cpus = CPUS };
	struct store_clock clock = { .device_ns = BASE,
				     .off_ns = (int64_t)(REAL_S * NS - BASE),
				     .err_ns = 1000 };
	struct error e = ERROR_INIT;

	memset(r, 0, sizeof(*r));
	stored_folder(r->folder);
	r->store = stored_open(r->folder, &(const struct store_options){ .file_bytes = 1 << 20 });
	if (facts_open(&r->facts, r->folder, &e) < 0)
		fail_msg("%s", e.text);
	assert_int_equal(store_device(r->store, &d, &e), 0);
	assert_int_equal(store_run(r->store, &device, &run, &boot, &r->run, &e), 0);
	clock.run = r->run;
	assert_int_equal(store_note(r->store, &clock, &e), 0);
	r->kept = (struct fact_run){ .number = r->run, .id = run, .device = device };
	clock_init(&r->kept.clock);
	r->kept.has_clock = true;
	r->kept.frontier.off_ns = clock.off_ns;
}

static void rig_start(struct rig *r, unsigned int threads)
{
	const struct fact_workers_options o = { .store = r->store,
						.facts = r->facts,
						.threads = threads };
	struct error e = ERROR_INIT;

	if (fact_workers_start(&r->workers, &o, &e) < 0)
		fail_msg("%s", e.text);
}

static void rig_stop(struct rig *r)
{
	struct fact_workers_counters n;

	fact_workers_count(r->workers, &n);
	assert_int_equal(n.errors, 0);
	fact_workers_stop(r->workers);
	r->workers = NULL;
}

static void rig_close(struct rig *r)
{
	fact_run_done(&r->kept);
	facts_free(r->facts);
	store_free(r->store);
	stored_remove(r->folder);
}

static void put(struct rig *r, uint32_t minute, uint32_t i)
{
	const struct piece *p = &pieces[minute][i];
	struct error e = ERROR_INIT;

	if (store_put(r->store, r->run, &p->block, p->bytes, &e) < 0)
		fail_msg("%s", e.text);
}

static void commit(struct rig *r)
{
	struct error e = ERROR_INIT;

	assert_int_equal(store_commit(r->store, NULL, &e), 0);
	assert_int_equal(store_settle(r->store, &e), 0);
}

static void put_minutes(struct rig *r, uint32_t from, uint32_t to)
{
	uint32_t i;

	for (; from < to; from++)
		for (i = 0; i <= CPUS; i++)
			put(r, from, i);
	commit(r);
}

/* --- facts --- */

/* A minute as text, with a description that is kept or, as if nobody kept one, without. */
static char *build(struct rig *r, uint32_t minute, const struct run_description *told)
{
	const struct fact_key key = { .device = r->kept.device,
				      .run = r->kept.id,
				      .kind = FACT_PROFILE,
				      .length_s = FACT_MINUTE_S,
				      .start_s = REAL_S + minute * FACT_MINUTE_S };
	const struct fact_build b = { .store = r->store,
				      .run = r->run,
				      .clock = &r->kept.clock,
				      .told = told,
				      .off_ns = r->kept.frontier.off_ns };
	CLEANUP_FACT_SET struct fact_set set;
	struct error e = ERROR_INIT;
	struct fact_part part = { .set = &set, .error = &e };
	char *text;

	assert_int_equal(fact_set_init(&set, &key), 0);
	fact_build_run(&b, &part, 1);
	if (part.result < 0)
		fail_msg("minute %u: %s", minute, e.text);
	text = fact_random_text(&set);
	assert_non_null(text);
	return text;
}

static void check_minute(struct rig *r, uint32_t minute)
{
	char *kept, *whole;

	assert_int_equal(fact_run_tell(&r->kept, r->store, REAL_S + minute * FACT_MINUTE_S), 0);
	kept = build(r, minute, r->kept.told);
	whole = build(r, minute, NULL);
	assert_non_null(strstr(whole, "job"));
	assert_string_equal(kept, whole);
	free(kept);
	free(whole);
}

struct texts {
	char *text[MINUTES];
};

static int take_text(void *context, const struct fact_set *s)
{
	struct texts *t = context;
	uint64_t minute = (s->key.start_s - REAL_S) / FACT_MINUTE_S;
	CLEANUP_FACT_SET struct fact_set copy;

	assert_true(minute < MINUTES && !t->text[minute]);
	assert_int_equal(fact_set_init(&copy, &s->key), 0);
	assert_int_equal(fact_set_add(&copy, s), 0);
	t->text[minute] = fact_random_text(&copy);
	return 0;
}

/* What the workers kept of these minutes is what comes out without them. */
static void check_facts(struct rig *r, uint32_t from, uint32_t to)
{
	const struct facts_query q = { .all_devices = true,
				       .kind = FACT_PROFILE,
				       .minutes_only = true,
				       .to_s = UINT64_MAX / 2 };
	struct texts t = { { NULL } };
	struct error e = ERROR_INIT;
	char *whole;

	if (facts_scan(r->facts, &q, take_text, &t, &e) < 0)
		fail_msg("%s", e.text);
	for (; from < to; from++) {
		assert_non_null(t.text[from]);
		whole = build(r, from, NULL);
		assert_string_equal(t.text[from], whole);
		free(whole);
	}
	for (from = 0; from < MINUTES; from++)
		free(t.text[from]);
}

/* --- tests --- */

/* As it comes: a minute is worked out when the next one begins. */
static void in_order(void **state)
{
	size_t rows, most_early = 0;
	struct rig r;
	uint32_t i;

	(void)state;
	rig_open(&r);
	for (i = 0; i < MINUTES; i++) {
		put_minutes(&r, i, i + 1);
		check_minute(&r, i);
		assert_int_equal(r.kept.told->sequence, i + 1);
		rows = sample_spaces_rows(r.kept.told->spaces);
		if (i < MINUTES / 2 && rows > most_early)
			most_early = rows;
	}
	/* It has forgotten, and does not grow but by names of the kernel. */
	assert_true(r.kept.told->forgotten > minute_tick(MINUTES - 10));
	assert_true(rows <= most_early + MINUTES);
	assert_true(r.kept.told_bytes < 4 * ROOM);
	rig_close(&r);
}

static void out_of_order(void **state)
{
	struct rig r;
	uint32_t i;

	(void)state;
	rig_open(&r);
	put_minutes(&r, 0, MINUTES);
	for (i = 0; i < MINUTES; i++)
		check_minute(&r, i * 17 % MINUTES);
	rig_close(&r);
}

/* Only what is new is read, also where a log file is full or its description was kept in another. */
static void what_is_new(void **state)
{
	const struct store_range range = { .to_tick = UINT64_MAX, .from_meta = 30 };
	struct block_reader *reader;
	struct error e = ERROR_INIT;
	uint64_t place = 0, at, sequence = 30;
	struct block b;
	struct rig r;

	(void)state;
	rig_open(&r);
	put_minutes(&r, 0, 35);
	put_minutes(&r, 35, MINUTES);
	assert_int_equal(store_reader_open(&reader, r.store, r.run, &range, &e), 0);
	while (reader->ops->next(reader, STREAM_META, &place, &b, &at) == 1)
		assert_int_equal(b.sequence, sequence++);
	assert_int_equal(sequence, MINUTES);
	/* In a folder each is looked at twice, and one before them. */
	assert_true(store_reader_count(reader) <= 2 * (MINUTES - 30) + 1);
	reader->ops->free(reader);
	rig_close(&r);
}

/* One CPU's blocks come when all others are worked out; its minutes are worked out again. Then somebody else goes on. */
static void late(void **state)
{
	struct fact_workers_counters n;
	struct rig r;
	uint32_t i;

	(void)state;
	rig_open(&r);
	rig_start(&r, 2);
	for (i = 0; i < 30; i++) {
		put(&r, i, 0);
		put(&r, i, 1);
		if (i < 5)
			put(&r, i, 2);
		commit(&r);
		if (i % 3 == 0)
			assert_int_equal(fact_workers_wait(r.workers, true, WAIT_MS), 0);
	}
	for (i = 5; i < 30; i++)
		put(&r, i, 2);
	commit(&r);
	assert_int_equal(fact_workers_wait(r.workers, true, WAIT_MS), 0);
	fact_workers_count(r.workers, &n);
	assert_true(n.again >= 20);
	check_facts(&r, 5, 30);
	rig_stop(&r);
	rig_start(&r, 1);
	for (i = 30; i < MINUTES; i++) {
		put_minutes(&r, i, i + 1);
		assert_int_equal(fact_workers_wait(r.workers, true, WAIT_MS), 0);
		check_facts(&r, i, i + 1);
	}
	rig_stop(&r);
	rig_close(&r);
}

static void at_once(void **state)
{
	struct rig r;

	(void)state;
	rig_open(&r);
	put_minutes(&r, 0, MINUTES);
	rig_start(&r, 2);
	assert_int_equal(fact_workers_wait(r.workers, true, WAIT_MS), 0);
	rig_stop(&r);
	check_facts(&r, 0, MINUTES);
	rig_close(&r);
}

/* The one that was used longest ago goes first. */
static void ceiling(void **state)
{
	struct fact_run runs[3] = { { .number = 1 } };
	const uint64_t now_ns = clock_mono_ns() - 1000;
	uint32_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		assert_int_equal(run_description_new(&runs[i].told), 0);
		runs[i].told_bytes = 100;
		runs[i].told_ns = now_ns + (i == 1 ? 1 : 10 + i);
	}
	fact_runs_shed(runs, 3, 300);
	assert_true(runs[0].told && runs[1].told && runs[2].told);
	fact_runs_shed(runs, 3, 299);
	assert_true(runs[0].told && !runs[1].told && runs[2].told);
	fact_runs_shed(runs, 3, 100);
	assert_true(!runs[0].told && runs[2].told);
	/* One that is not used any more goes, however much may be kept. */
	runs[2].told_ns = now_ns - FACT_TOLD_IDLE_NS;
	fact_runs_shed(runs, 3, UINT64_MAX);
	assert_null(runs[2].told);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_order),    cmocka_unit_test(out_of_order),
		cmocka_unit_test(what_is_new), cmocka_unit_test(late),
		cmocka_unit_test(at_once),     cmocka_unit_test(ceiling),
	};

	return cmocka_run_group_tests(tests, make_run, free_run);
}
