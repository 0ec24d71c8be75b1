/* SPDX-License-Identifier: MIT */
/*
 * func_feed: what programs record comes out as it was, once, whatever dies and wherever there is no
 * room; and what a record says that it cannot be does no harm to others.
 */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tools/func_random.h"
#include "tools/func_rig.h"
#include "wire/func_door.h"
#include "wire/varint.h"

#define MIB (1U << 20)
#define MOST_EVENTS 800000U

static const struct func_rig_options plain = { 4 * MIB, 64, 8 * MIB };
static const struct func_file_layout layout = { 8, 16, 16384, FUNC_KEEP_OLDEST, 1 };

/* A thread of a test: what it did, and how much of it found no room. */
struct source {
	struct func_file *file;
	uint32_t thread;
	int32_t tid;
	struct func_random random;
	struct func_event *made; /* those that were recorded */
	size_t n;
	uint64_t lost;
};

static void source_init(struct source *s, struct func_file *f, int32_t tid,
			enum func_random_style style)
{
	memset(s, 0, sizeof(*s));
	s->file = f;
	s->tid = tid;
	s->thread = func_file_add_thread(f, (uint32_t)tid, "worker");
	s->made = calloc(MOST_EVENTS, sizeof(*s->made));
	assert_non_null(s->made);
	func_random_init(&s->random, (uint64_t)tid, style);
}

static void source_push(struct source *s, uint32_t events)
{
	struct func_event ev;

	for (; events; events--) {
		func_random_next(&s->random, &ev);
		if (!func_file_push(s->file, s->thread, &ev)) {
			s->lost++;
			continue;
		}
		assert_true(s->n < MOST_EVENTS);
		s->made[s->n++] = ev;
	}
}

/* All of it is there, or told as lost because the record was full. */
static void source_check(struct source *s, const struct func_rig *r)
{
	const struct func_rig_events *e = func_rig_get(r, s->tid);
	size_t i;

	assert_non_null(e);
	assert_int_equal(e->n, s->n);
	for (i = 0; i < s->n; i++) {
		assert_int_equal(e->at[i].kind, s->made[i].kind);
		assert_int_equal(e->at[i].value, s->made[i].value);
		assert_int_equal(e->at[i].tick, s->made[i].tick);
	}
	assert_int_equal(e->lost[LOSS_BUFFER], s->lost);
	assert_int_equal(e->lost[LOSS_DAMAGE] + e->lost[LOSS_SPOOL] + e->lost[LOSS_RING], 0);
	assert_int_equal(e->unknown, 0);
	free(s->made);
}

static uint32_t count_files(const struct func_rig *r)
{
	char path[128];
	struct dirent *entry;
	uint32_t n = 0;
	DIR *d;

	snprintf(path, sizeof(path), "%s/records", r->folder);
	d = opendir(path);
	assert_non_null(d);
	while ((entry = readdir(d)))
		n += entry->d_name[0] != '.';
	closedir(d);
	return n;
}

/* --- what is recorded comes out --- */

static void passes_everything_on(void **state)
{
	static struct func_rig r;
	struct source s[3];
	struct func_file *f;
	uint32_t i, turn;

	(void)state;
	func_rig_init(&r, &plain);
	f = func_rig_start(&r, 0, &layout);
	for (i = 0; i < 3; i++)
		source_init(&s[i], f, 100 + (int32_t)i,
			    i == 1 ? FUNC_RANDOM_BROKEN : FUNC_RANDOM_REAL);
	for (turn = 0; turn < 60; turn++) {
		for (i = 0; i < 3; i++)
			source_push(&s[i], 50 + 900 * ((turn + i) % 4));
		func_rig_turn(&r, 100);
		if (turn % 10 == 9)
			func_rig_collect(&r);
	}
	func_rig_end(&r, 0);
	func_rig_turn(&r, 30000);
	func_rig_collect(&r);
	for (i = 0; i < 3; i++) {
		assert_int_equal(s[i].lost, 0);
		source_check(&s[i], &r);
	}
	assert_int_equal(r.runs, 1);
	assert_int_equal(r.ends, 1); /* nobody came for a while */
	assert_int_equal(r.processes, 1);
	assert_int_equal(r.mappings, 1);
	assert_int_equal(count_files(&r), 0);
	assert_int_equal(func_feed_next(r.feed), UINT64_MAX);
	func_rig_done(&r);
}

/* A little waits for a second, but not longer. */
static void lets_a_little_wait(void **state)
{
	static struct func_rig r;
	const struct func_rig_events *e;
	struct source s;

	(void)state;
	func_rig_init(&r, &plain);
	source_init(&s, func_rig_start(&r, 0, &layout), 7, FUNC_RANDOM_REAL);
	source_push(&s, 20);
	func_rig_turn(&r, 500);
	func_rig_collect(&r);
	e = func_rig_get(&r, 7);
	assert_true(!e || e->n == 0);
	func_rig_turn(&r, 1000);
	func_rig_collect(&r);
	source_check(&s, &r);
	func_rig_done(&r);
}

static void sends_chunks_as_they_are_when_behind(void **state)
{
	static struct func_rig r;
	struct source s;

	(void)state;
	func_rig_init(&r, &plain);
	source_init(&s, func_rig_start(&r, 0, &layout), 7, FUNC_RANDOM_BROKEN);
	while (!s.lost)
		source_push(&s, 1000);
	func_rig_turn(&r, 100);
	source_push(&s, 1000);
	func_rig_turn(&r, 2000);
	func_rig_collect(&r);
	assert_true(func_rig_get(&r, 7)->as_written > 4);
	source_check(&s, &r);
	func_rig_done(&r);
}

/* --- deaths --- */

static void survives_the_agent(void **state)
{
	static struct func_rig r;
	struct source s[2];
	struct func_file *f;
	uint32_t turn;

	(void)state;
	func_rig_init(&r, &plain);
	f = func_rig_start(&r, 0, &layout);
	source_init(&s[0], f, 20, FUNC_RANDOM_REAL);
	source_init(&s[1], f, 21, FUNC_RANDOM_BROKEN);
	for (turn = 0; turn < 40; turn++) {
		source_push(&s[0], 3000);
		source_push(&s[1], turn % 3 ? 10 : 2500);
		func_rig_turn(&r, turn % 5 * 100);
		if (turn % 3 == 0)
			func_rig_restart(&r);
		if (turn % 7 == 0)
			func_rig_collect(&r);
	}
	func_rig_end(&r, 0);
	func_rig_turn(&r, 30000);
	func_rig_collect(&r);
	source_check(&s[0], &r);
	source_check(&s[1], &r);
	assert_int_equal(r.runs, 1);
	func_rig_done(&r);
}

/* An agent that ends in order ends the run, switches programs off, and says how far it came. */
static void goes_on_after_an_end_in_order(void **state)
{
	static struct func_rig r;
	struct func_file *f;
	struct source s;

	(void)state;
	func_rig_init(&r, &plain);
	f = func_rig_start(&r, 0, &layout);
	source_init(&s, f, 30, FUNC_RANDOM_REAL);
	source_push(&s, 5000);
	func_rig_turn(&r, 100);
	source_push(&s, 300);
	assert_int_equal(func_feed_stop(r.feed, r.now_ms, NULL), 0);
	assert_int_equal(get_le32(f->data + FUNC_BUFFER_AT_ON), 0);
	func_rig_restart(&r);
	source_push(&s, 4000);
	func_rig_turn(&r, 100);
	assert_int_equal(get_le32(f->data + FUNC_BUFFER_AT_ON), 1);
	assert_int_equal(get_le32(f->data + FUNC_BUFFER_AT_DRAINED), getpid());
	func_rig_end(&r, 0);
	func_rig_turn(&r, 30000);
	func_rig_collect(&r);
	source_check(&s, &r);
	assert_int_equal(r.runs, 2);
	assert_int_equal(r.ends, 2);
	assert_int_equal(count_files(&r), 0);
	func_rig_done(&r);
}

/* One that comes while the agent ends, and was never looked at, is not forgotten. */
static void switches_on_who_came_last(void **state)
{
	static struct func_rig r;
	struct func_file *f;
	struct source s;

	(void)state;
	func_rig_init(&r, &plain);
	f = func_rig_start(&r, 0, &layout);
	source_init(&s, f, 32, FUNC_RANDOM_REAL);
	source_push(&s, 100);
	assert_int_equal(func_feed_stop(r.feed, r.now_ms, NULL), 0);
	assert_int_equal(get_le32(f->data + FUNC_BUFFER_AT_ON), 0);
	func_rig_restart(&r);
	func_rig_turn(&r, 100);
	assert_int_equal(get_le32(f->data + FUNC_BUFFER_AT_ON), 1);
	func_rig_end(&r, 0);
	func_rig_turn(&r, 30000);
	func_rig_collect(&r);
	source_check(&s, &r);
	func_rig_done(&r);
}

/* What is known of a thread that rests is kept from one run to the next, also by an agent that never
 * had anything of it. */
static void remembers_threads_that_rest(void **state)
{
	static struct func_rig r;
	struct func_file *f;
	struct source s;
	uint32_t i;

	(void)state;
	func_rig_init(&r, &plain);
	f = func_rig_start(&r, 0, &layout);
	source_init(&s, f, 31, FUNC_RANDOM_REAL);
	source_push(&s, 2000);
	func_rig_turn(&r, 2000);
	func_feed_set_mode(r.feed, FUNC_MODE_OFF, r.now_ms);
	func_rig_turn(&r, 5000);
	for (i = 0; i < 3; i++) {
		assert_int_equal(func_feed_stop(r.feed, r.now_ms, NULL), 0);
		func_rig_restart(&r);
		func_feed_set_mode(r.feed, FUNC_MODE_OFF, r.now_ms);
		func_rig_turn(&r, i * 1500);
	}
	func_feed_set_mode(r.feed, FUNC_MODE_ON, r.now_ms);
	source_push(&s, 2000);
	func_rig_turn(&r, 100);
	func_rig_end(&r, 0);
	func_rig_turn(&r, 30000);
	func_rig_collect(&r);
	source_check(&s, &r);
	func_rig_done(&r);
}

/* A program that switched itself off stays so, whatever happens to the agent. */
static void leaves_alone_who_is_off(void **state)
{
	static struct func_rig r;
	struct func_file *f;

	(void)state;
	func_rig_init(&r, &plain);
	f = func_rig_start(&r, 0, &layout);
	func_rig_turn(&r, 100);
	put_le32(f->data + FUNC_BUFFER_AT_ON, 0);
	func_rig_restart(&r);
	func_rig_turn(&r, 100);
	assert_int_equal(get_le32(f->data + FUNC_BUFFER_AT_ON), 0);
	assert_int_equal(func_feed_stop(r.feed, r.now_ms, NULL), 0);
	func_rig_restart(&r);
	func_rig_turn(&r, 100);
	assert_int_equal(get_le32(f->data + FUNC_BUFFER_AT_ON), 0);
	func_rig_done(&r);
}

/* --- no room --- */

static void loses_nothing_twice_in_a_full_spool(void **state)
{
	static const struct func_rig_options small = { 256U << 10, 16, 8 * MIB };
	static struct func_rig r;
	struct source s[2];
	uint32_t turn;

	(void)state;
	func_rig_init(&r, &small);
	source_init(&s[0], func_rig_start(&r, 0, &layout), 40, FUNC_RANDOM_REAL);
	source_init(&s[1], func_rig_start(&r, 1, &layout), 41, FUNC_RANDOM_BROKEN);
	for (turn = 0; turn < 30; turn++) {
		source_push(&s[0], 25000);
		source_push(&s[1], 15000);
		func_rig_turn(&r, 200);
		if (turn == 18 || turn == 24)
			func_rig_collect(&r);
		if (turn == 16)
			func_rig_restart(&r);
	}
	func_rig_end(&r, 0);
	func_rig_end(&r, 1);
	for (turn = 0; turn < 20; turn++) {
		func_rig_turn(&r, 10000);
		func_rig_collect(&r);
	}
	assert_true(s[0].lost && s[1].lost);
	source_check(&s[0], &r);
	source_check(&s[1], &r);
	assert_int_equal(count_files(&r), 0);
	func_rig_done(&r);
}

/* Threads come and go until the rows of a run are used up, and in one more. */
static void begins_another_run_for_rows(void **state)
{
	static const struct func_rig_options few = { 4 * MIB, 5, 8 * MIB };
	static struct func_rig r;
	static struct source s[24];
	struct func_file *f;
	uint32_t i;

	(void)state;
	func_rig_init(&r, &few);
	f = func_rig_start(&r, 0, &layout);
	source_init(&s[0], f, 50, FUNC_RANDOM_REAL);
	for (i = 1; i < 24; i++) {
		source_init(&s[i], f, 50 + (int32_t)i, FUNC_RANDOM_REAL);
		source_push(&s[i], 700);
		source_push(&s[0], 300);
		func_rig_turn(&r, 900);
		if (i % 2)
			func_rig_restart(&r);
		func_file_end_thread(f, s[i].thread);
	}
	func_rig_end(&r, 0);
	func_rig_turn(&r, 60000);
	func_rig_collect(&r);
	for (i = 0; i < 24; i++)
		source_check(&s[i], &r);
	assert_true(r.runs > 3);
	assert_int_equal(r.runs, r.ends);
	func_rig_done(&r);
}

/* Threads that had no slot, and what was lost last, is told when the process is gone. */
static void tells_what_was_lost_at_the_end(void **state)
{
	static const struct func_file_layout narrow = { 1, 2, 16384, FUNC_KEEP_OLDEST, 1 };
	static struct func_rig r;
	struct func_file *f;
	struct source s, none;

	(void)state;
	func_rig_init(&r, &plain);
	f = func_rig_start(&r, 0, &narrow);
	source_init(&s, f, 60, FUNC_RANDOM_REAL);
	source_init(&none, f, 61, FUNC_RANDOM_REAL);
	source_push(&none, 123);
	while (s.lost < 5000)
		source_push(&s, 1000);
	func_rig_end(&r, 0);
	func_rig_turn(&r, 30000);
	func_rig_collect(&r);
	source_check(&s, &r);
	assert_non_null(func_rig_get(&r, 0));
	assert_int_equal(func_rig_get(&r, 0)->lost[LOSS_BUFFER], 123);
	assert_null(func_rig_get(&r, 61));
	free(none.made);
	func_rig_done(&r);
}

/* --- what cannot be --- */

static void refuses_headers_that_cannot_be(void **state)
{
	static const struct {
		uint32_t at, value;
	} wrong[] = {
		{ FUNC_BUFFER_AT_VERSION, 2 },	     { FUNC_BUFFER_AT_HEADER_BYTES, 64 },
		{ FUNC_BUFFER_AT_SLOTS, 1U << 30 },  { FUNC_BUFFER_AT_SLOT_BYTES, 8 },
		{ FUNC_BUFFER_AT_CHUNKS, 1U << 20 }, { FUNC_BUFFER_AT_CHUNK_BYTES, 64 },
		{ FUNC_BUFFER_AT_SLOTS_AT, 0 },	     { FUNC_BUFFER_AT_CHUNKS_AT + 4, 1 },
		{ FUNC_BUFFER_AT_CLOCK, 9 },	     { FUNC_BUFFER_AT_TICK_SHIFT, 99 },
		{ FUNC_BUFFER_AT_CLOCK, 1 },	     { FUNC_BUFFER_AT_CHUNK_BYTES, UINT32_MAX },
	};
	static struct func_rig r;
	struct error e = ERROR_INIT;
	struct func_file *f;
	struct source s;
	uint32_t i;

	(void)state;
	func_rig_init(&r, &plain);
	source_init(&s, func_rig_start(&r, 0, &layout), 70, FUNC_RANDOM_REAL);
	func_rig_turn(&r, 100);
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		f = func_rig_start(&r, 1, &layout);
		put_le32(f->data + wrong[i].at, wrong[i].value);
		source_push(&s, 500);
		e.text[0] = 0;
		func_feed_turn(r.feed, r.now_ms, &e);
		assert_non_null(strstr(e.text, "cannot read the record sample."));
		assert_int_equal(get_le32(f->data + FUNC_BUFFER_AT_ON), 0);
		assert_int_equal(count_files(&r), 2);
		func_rig_end(&r, 1);
	}
	func_rig_end(&r, 0);
	func_rig_turn(&r, 30000);
	func_rig_collect(&r);
	source_check(&s, &r);
	func_rig_done(&r);
}

/* The events of a stream that are not there are lost; no other stream has anything to do with it. */
static void tells_broken_chunks_as_lost(void **state)
{
	static struct func_rig r;
	const struct func_rig_events *e;
	struct source s[2];
	struct func_file *f;
	uint64_t lost;

	(void)state;
	func_rig_init(&r, &plain);
	f = func_rig_start(&r, 0, &layout);
	source_init(&s[0], f, 80, FUNC_RANDOM_REAL);
	source_init(&s[1], f, 81, FUNC_RANDOM_REAL);
	source_push(&s[0], 30000);
	source_push(&s[1], 30000);
	/* The first is of thread 80 alone, as is the second. */
	memset(func_file_chunk(f, 0) + FUNC_CHUNK_HEAD + 3000, 0xff, 500);
	put_le32(func_file_chunk(f, 1) + FUNC_CHUNK_AT_FLAGS, 0);
	func_rig_turn(&r, 1000);
	source_push(&s[0], 1000);
	func_rig_end(&r, 0);
	func_rig_turn(&r, 30000);
	func_rig_collect(&r);
	source_check(&s[1], &r);
	e = func_rig_get(&r, 80);
	lost = e->lost[LOSS_DAMAGE];
	assert_int_equal(e->n + lost + e->lost[LOSS_BUFFER], s[0].n + s[0].lost);
	assert_true(lost > 10000 && e->n > 2000);
	assert_int_equal(e->unknown, 0);
	free(s[0].made);
	func_rig_done(&r);
}

static void scribble(struct func_file *f, uint32_t seed)
{
	uint32_t i, at;

	for (i = 0; i < 64; i++) {
		seed = seed * 1664525U + 1013904223U;
		at = FUNC_BUFFER_AT_ON + seed % (uint32_t)(f->len - FUNC_BUFFER_AT_ON);
		if (i % 2) /* where it hurts: heads of chunks */
			at = (uint32_t)(func_file_chunk(f, seed % f->chunks) - f->data) +
			     seed / 7 % FUNC_CHUNK_HEAD;
		f->data[at] = (uint8_t)(seed >> 24);
	}
}

/* A program that writes anything anywhere harms itself alone. */
static void survives_a_program_gone_wild(void **state)
{
	static struct func_rig r;
	struct source good, wild;
	struct func_file *f;
	uint32_t turn;

	(void)state;
	func_rig_init(&r, &plain);
	source_init(&good, func_rig_start(&r, 0, &layout), 90, FUNC_RANDOM_BROKEN);
	f = func_rig_start(&r, 1, &layout);
	source_init(&wild, f, 91, FUNC_RANDOM_HOSTILE);
	for (turn = 0; turn < 200; turn++) {
		source_push(&good, 100);
		wild.n = 0;
		source_push(&wild, 500);
		scribble(f, turn);
		func_rig_turn(&r, 100);
		if (turn % 50 == 9)
			func_rig_restart(&r);
	}
	func_rig_end(&r, 0);
	func_rig_turn(&r, 30000);
	func_rig_end(&r, 1);
	func_rig_turn(&r, 30000);
	func_rig_collect(&r);
	source_check(&good, &r);
	free(wild.made);
	assert_int_equal(count_files(&r), 0);
	func_rig_done(&r);
}

/* A file that is cut short under the agent. */
static void survives_a_record_that_shrinks(void **state)
{
	static struct func_rig r;
	char path[256];
	struct source s;

	(void)state;
	func_rig_init(&r, &plain);
	source_init(&s, func_rig_start(&r, 0, &layout), 95, FUNC_RANDOM_REAL);
	source_push(&s, 5000);
	func_rig_turn(&r, 100);
	snprintf(path, sizeof(path), "%s/records/sample.%d", r.folder, (int)getpid());
	assert_int_equal(truncate(path, 20000), 0);
	func_rig_turn(&r, 1000);
	assert_int_equal(truncate(path, 100), 0);
	func_rig_turn(&r, 1000);
	assert_int_equal(count_files(&r), 0);
	func_rig_end(&r, 0);
	free(s.made);
	func_rig_done(&r);
}

/* --- the door --- */

static void close_both(int fds[2])
{
	close(fds[0]);
	if (fds[1] >= 0)
		close(fds[1]);
}

static void answers_requests(void **state)
{
	uint8_t q[FUNC_DOOR_REQUEST + 1] = { 0 };
	static struct func_rig r;
	struct stat st;
	int fds[2], code, n;

	(void)state;
	func_rig_init(&r, &plain);
	assert_int_equal(func_rig_ask(&r, q, FUNC_DOOR_REQUEST, fds), EINVAL);
	memcpy(q, FUNC_DOOR_MAGIC, 8);
	assert_int_equal(func_rig_ask(&r, q, FUNC_DOOR_REQUEST, fds), EOPNOTSUPP);
	put_le32(q + FUNC_DOOR_AT_VERSION, FUNC_DOOR_VERSION);
	put_le32(q + FUNC_DOOR_AT_VERB, FUNC_DOOR_OPEN);
	assert_int_equal(func_rig_ask(&r, q, FUNC_DOOR_REQUEST - 1, fds), EINVAL);
	assert_int_equal(func_rig_ask(&r, q, FUNC_DOOR_REQUEST + 1, fds), EINVAL);
	assert_int_equal(func_rig_ask_for(&r, FUNC_DOOR_MAPS, 0, fds), ENOENT);
	assert_int_equal(count_files(&r), 0);
	assert_int_equal(func_rig_ask_for(&r, FUNC_DOOR_OPEN, 300U << 10, fds), 0);
	assert_int_equal(fstat(fds[0], &st), 0);
	assert_int_equal(st.st_size, 256U << 10); /* in steps */
	assert_int_equal(st.st_mode & 0777, 0600);
	close_both(fds);
	assert_int_equal(func_rig_ask_for(&r, FUNC_DOOR_MAPS, 0, fds), 0);
	assert_true(fds[0] >= 0 && fds[1] < 0);
	close_both(fds);
	/* Another clock, while there is a program. */
	put_le32(q + FUNC_DOOR_AT_CLOCK, FUNC_CLOCK_MONOTONIC);
	assert_int_equal(func_rig_ask(&r, q, FUNC_DOOR_REQUEST, fds), EINVAL);
	for (n = 1; n < 100; n++) {
		code = func_rig_ask_for(&r, FUNC_DOOR_OPEN, 0, fds);
		if (code)
			break;
		close_both(fds);
	}
	assert_int_equal(code, ENOSPC);
	assert_true(n >= 8);
	func_rig_done(&r);
}

static void has_a_ceiling_of_programs(void **state)
{
	static const struct func_rig_options much = { 4 * MIB, 64, 1024U * MIB };
	static struct func_rig r;
	uint32_t n;
	int fds[2], code;

	(void)state;
	func_rig_init(&r, &much);
	for (n = 0; (code = func_rig_ask_for(&r, FUNC_DOOR_OPEN, MIB, fds)) == 0; n++)
		close_both(fds);
	assert_int_equal(code, EBUSY);
	assert_int_equal(n, FUNC_FEED_PROGRAMS);
	func_rig_done(&r);
}

/* --- on and off --- */

static void switches_programs(void **state)
{
	static struct func_rig r;
	struct func_file *f;
	struct source s;

	(void)state;
	func_rig_init(&r, &plain);
	f = func_rig_start(&r, 0, &layout);
	source_init(&s, f, 33, FUNC_RANDOM_REAL);
	source_push(&s, 3000);
	func_rig_turn(&r, 100);
	func_feed_set_mode(r.feed, FUNC_MODE_OFF, r.now_ms);
	assert_int_equal(get_le32(f->data + FUNC_BUFFER_AT_ON), 0);
	source_push(&s, 100); /* it had not seen it yet */
	func_rig_turn(&r, 5000);
	func_rig_collect(&r);
	assert_int_equal(r.ends, 1);
	func_rig_restart(&r); /* as it was said last, whatever the settings say */
	assert_int_equal(func_feed_get_mode(r.feed), FUNC_MODE_OFF);
	func_rig_turn(&r, 5000);
	assert_int_equal(get_le32(f->data + FUNC_BUFFER_AT_ON), 0);
	r.turns = 0;
	func_rig_turn(&r, 10000);
	assert_true(r.turns <= 10); /* hardly ever looked at */
	func_feed_set_mode(r.feed, FUNC_MODE_ON, r.now_ms);
	assert_int_equal(get_le32(f->data + FUNC_BUFFER_AT_ON), 1);
	source_push(&s, 3000);
	func_rig_turn(&r, 100);
	func_rig_end(&r, 0);
	func_rig_turn(&r, 30000);
	func_rig_collect(&r);
	source_check(&s, &r);
	assert_int_equal(r.ends, r.runs);
	func_rig_done(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(passes_everything_on),
		cmocka_unit_test(lets_a_little_wait),
		cmocka_unit_test(sends_chunks_as_they_are_when_behind),
		cmocka_unit_test(survives_the_agent),
		cmocka_unit_test(goes_on_after_an_end_in_order),
		cmocka_unit_test(switches_on_who_came_last),
		cmocka_unit_test(remembers_threads_that_rest),
		cmocka_unit_test(leaves_alone_who_is_off),
		cmocka_unit_test(loses_nothing_twice_in_a_full_spool),
		cmocka_unit_test(begins_another_run_for_rows),
		cmocka_unit_test(tells_what_was_lost_at_the_end),
		cmocka_unit_test(refuses_headers_that_cannot_be),
		cmocka_unit_test(tells_broken_chunks_as_lost),
		cmocka_unit_test(survives_a_program_gone_wild),
		cmocka_unit_test(survives_a_record_that_shrinks),
		cmocka_unit_test(answers_requests),
		cmocka_unit_test(has_a_ceiling_of_programs),
		cmocka_unit_test(switches_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
