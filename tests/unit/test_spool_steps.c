/* SPDX-License-Identifier: MIT */
/*
 * The spool, stopped after every single instruction of what changes it.
 *
 * A child does one thing to a spool in a shared file, traced instruction by instruction
 * (tools/stepper.h). After each one that changed the file, the published mark must lead to whole
 * entries and nothing else; and a copy is opened as the next agent would, and must hold: entries of a
 * stream without a gap, a checkpoint that says what the last of them says, all descriptions, a run.
 *
 * Skipped (77) where programs cannot be stepped through.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "device/agent/memory.h"
#include "device/agent/spool_ring.h"
#include "tools/stepper.h"

#define CPUS 2U
#define METAS 3U

struct subject {
	char path[64];
	struct memory *memory;
	struct spool *spool;
	struct spool_run run;
	uint64_t next[CPUS + 1];
};

#define HUGE 26000U /* bytes: more than such a spool ever keeps free */

static uint8_t room[BLOCK_HEADER_MAX + HUGE];
static struct spool_entry entry;

/* The entry that put_prepared() puts; apart, so that it is not stepped through. */
static void prepare(struct subject *s, uint32_t stream, uint32_t payload)
{
	struct block b = { .codec = stream ? CODEC_SCHED : CODEC_META,
			   .flags = BLOCK_KEY,
			   .stream = stream,
			   .payload_len = payload,
			   .sequence = s->next[stream] };

	memset(room, (int)(17 * s->next[stream] + stream + 1), sizeof(room));
	entry = (struct spool_entry){ .kind = FRAME_BLOCK,
				      .run = s->run.number,
				      .stream = stream,
				      .key = true,
				      .sequence = s->next[stream] };
	entry.bytes = block_encode(&b, room + BLOCK_HEADER_MAX, &entry.len);
}

static int put_prepared(struct subject *s)
{
	struct checkpoint at = { .position = 7, .next_sequence = entry.sequence + 1 };
	int r = spool_put(s->spool, &entry, entry.stream ? entry.stream - 1 : UINT32_MAX, &at);

	s->next[entry.stream] += !r;
	return r;
}

static int put(struct subject *s, uint32_t stream, uint32_t payload)
{
	prepare(s, stream, payload);
	return put_prepared(s);
}

static void set_up(struct subject *s, uint8_t policy)
{
	struct memory_options mo = {
		.path = s->path, .cpus = CPUS, .slots = 1, .spool_bytes = 65536
	};
	struct spool_options so = { .policy = policy };
	uint32_t i;

	memset(s, 0, sizeof(*s));
	strcpy(s->path, "/tmp/kiseki-test-steps-XXXXXX");
	close(mkstemp(s->path));
	assert_int_equal(memory_open(&s->memory, &mo, NULL), 0);
	so.memory = s->memory;
	assert_int_equal(spool_open(&s->spool, &so, NULL), 0);
	assert_int_equal(spool_start_run(s->spool, &s->run, NULL), 0);
	for (i = 0; i < METAS; i++)
		assert_int_equal(put(s, 0, 100), 0);
	spool_set_described(s->spool, SPOOL_EVENTS);
	spool_rewind(s->spool);
}

static void tear_down(struct subject *s)
{
	spool_free(s->spool);
	memory_free(s->memory);
	unlink(s->path);
}

static const char *check_checkpoints(struct spool *s, const uint64_t *n, const uint64_t *expected)
{
	struct checkpoint at;
	uint32_t i;

	for (i = 0; i < CPUS + 1; i++) {
		spool_get_checkpoint(s, i ? i - 1 : UINT32_MAX, &at);
		if (n[i] && at.next_sequence != expected[i])
			return "a checkpoint does not fit to the last entry";
	}
	return NULL;
}

/* Recovery would pass over what is damaged, and so hide that something was written over entries that
 * the mark still had: here every one of them is looked at, before anybody repairs it. */
static const char *check_marked(struct memory *m)
{
	const struct memory_mark *mark = memory_get_mark(m);
	struct spool s = { .ring = memory_get_ring(m),
			   .size = memory_get_head(m)->name.spool_bytes };
	const struct ring_head *h;
	uint64_t at;

	for (at = ring_align(&s, mark->tail); at < mark->head; at = ring_next(&s, at)) {
		h = ring_get(&s, at);
		if (h->magic != RING_MAGIC || h->at != at || h->crc != ring_head_crc(h) ||
		    at + ring_bytes(h->len) > mark->head)
			return "the mark leads to what is no entry";
		if (h->kind != RING_FILLER && h->body_crc != memory_crc(h + 1, h->len))
			return "the mark leads to an entry that was written over";
	}
	return NULL;
}

/* As the next agent would find it. */
static const char *look(uint8_t *copy, size_t len)
{
	uint64_t next[CPUS + 1] = { 0 }, n[CPUS + 1] = { 0 };
	uint64_t expected[CPUS + 1];
	uint32_t last_run[CPUS + 1] = { 0 };
	const char *wrong;
	CLEANUP(memory) struct memory *m = NULL;
	CLEANUP(spool) struct spool *s = NULL;
	struct spool_options so = { .policy = POLICY_OLDEST };
	struct spool_entry e;
	struct checkpoint at;
	struct spool_run run;
	struct block b;
	uint32_t i;

	if (memory_adopt(&m, copy, len, NULL) < 0 || !memory_is_same_boot(m))
		return "the file cannot be used";
	wrong = check_marked(m);
	if (wrong)
		return wrong;
	so.memory = m;
	if (spool_open(&s, &so, NULL) < 0)
		return "the spool cannot be opened";
	spool_rewind(s);
	for (; spool_peek(s, &e); spool_sent(s)) {
		if (e.kind == FRAME_RUN_END)
			continue;
		if (block_decode(e.bytes, e.len, &b) != WIRE_OK || b.sequence != e.sequence)
			return "an entry is not whole";
		if (n[e.stream]++ && e.stream && e.sequence != next[e.stream])
			return "an entry is missing in the middle";
		last_run[e.stream] = e.run;
		next[e.stream] = e.sequence + 1;
	}
	if (n[0] != METAS)
		return "a description is missing, or there twice";
	for (i = 0; i < CPUS + 1; i++)
		expected[i] = last_run[i] == s->mark.run ? next[i] : 0;
	wrong = check_checkpoints(s, n, expected);
	/* What a dead agent had half done must not come true when the next one goes on. */
	spool_get_checkpoint(s, CPUS - 1, &at);
	for (i = 0; i < 3 && !wrong; i++) {
		spool_save(s, CPUS - 1, &at);
		wrong = check_checkpoints(s, n, expected);
	}
	if (wrong)
		return wrong;
	if (!s->mark.run ||
	    (s->mark.state != MEMORY_IDLE && !spool_get_current(s, SPOOL_EVENTS, &run)))
		return "the run is gone";
	return NULL;
}

typedef void (*action)(void *context);

static uint32_t step_through(struct subject *s, action act)
{
	struct stepper stepper = { .file = (const uint8_t *)memory_get_head(s->memory),
				   .len = memory_get_len(s->memory),
				   .act = act,
				   .context = s,
				   .look = look };
	const char *wrong;
	uint32_t looked = stepper_run(&stepper, &wrong);

	if (wrong)
		print_message("after %u changes: %s\n", looked, wrong);
	assert_null(wrong);
	return looked;
}

static void act_put(void *context)
{
	struct subject *s = context;

	put(s, 1, 90);
	put(s, 2, 40);
}

static void act_save(void *context)
{
	struct subject *s = context;
	struct checkpoint at;

	spool_get_checkpoint(s->spool, 0, &at);
	at.position++;
	spool_save(s->spool, 0, &at);
	spool_save(s->spool, 0, &at);
}

static void act_ack(void *context)
{
	struct subject *s = context;
	struct spool_entry e;
	int i;

	for (i = 0; i < 6; i++)
		if (spool_peek(s->spool, &e))
			spool_sent(s->spool);
	spool_ack(s->spool, METAS);
	spool_ack(s->spool, 5);
}

static void act_end(void *context)
{
	struct subject *s = context;
	struct spool_entry e = { .kind = FRAME_RUN_END,
				 .run = s->run.number,
				 .bytes = (const uint8_t *)"\1\1\1\1",
				 .len = 4 };

	spool_put(s->spool, &e, UINT32_MAX, NULL);
}

static void act_start(void *context)
{
	struct subject *s = context;

	spool_start_run(s->spool, &s->run, NULL);
}

static void act_recover(void *context)
{
	struct subject *s = context;

	spool_recover(s->spool);
}

static void run_action(uint8_t policy, uint32_t before, uint32_t payload, action act)
{
	struct subject s;
	uint32_t i, looked;

	set_up(&s, policy);
	for (i = 0; i < before; i++)
		assert_int_equal(put(&s, 1 + i % 2, payload), 0);
	looked = step_through(&s, act);
	print_message("%u states\n", looked);
	assert_true(looked >= 3);
	tear_down(&s);
}

static void test_put(void **state)
{
	(void)state;
	run_action(POLICY_OLDEST, 4, 100, act_put);
}

static void act_put_large(void *context)
{
	struct subject *s = context;

	put(s, 1, 600);
	put(s, 2, 600);
}

/* More than is kept free: it reaches into what was dropped for it, which must be published before. */
static void act_put_huge(void *context)
{
	struct subject *s = context;

	put_prepared(s);
}

static uint64_t next_meta(const struct subject *s)
{
	struct checkpoint at;

	/* The child has changed the file, not this process's view of its mark. */
	s->spool->mark = *memory_get_mark(s->memory);
	spool_get_checkpoint(s->spool, UINT32_MAX, &at);
	return at.next_sequence;
}

/* The ring is full: old entries go, and the descriptions move behind the latest. */
static void test_flight(void **state)
{
	struct subject s;
	uint64_t moved = 0;
	uint32_t before, i;

	(void)state;
	for (before = 63; before < 69; before++) {
		set_up(&s, POLICY_FLIGHT);
		for (i = 0; i < before; i++)
			assert_int_equal(put(&s, 1 + i % 2, 600), 0);
		i = (uint32_t)next_meta(&s);
		assert_true(step_through(&s, act_put_large) > 10);
		moved += next_meta(&s) - i;
		tear_down(&s);
	}
	assert_true(moved >= METAS);

	set_up(&s, POLICY_FLIGHT);
	for (i = 0; i < 98; i++)
		assert_int_equal(put(&s, 1 + i % 2, 600), 0);
	prepare(&s, 1, HUGE);
	assert_true(ring_bytes(entry.len) > s.spool->size - spool_used(s.spool));
	assert_true(step_through(&s, act_put_huge) > 10);
	tear_down(&s);
}

static void test_save(void **state)
{
	(void)state;
	run_action(POLICY_OLDEST, 4, 100, act_save);
}

static void test_end(void **state)
{
	(void)state;
	run_action(POLICY_OLDEST, 4, 100, act_end);
}

static void test_start(void **state)
{
	(void)state;
	run_action(POLICY_OLDEST, 4, 100, act_start);
}

static void test_recover(void **state)
{
	(void)state;
	run_action(POLICY_OLDEST, 4, 100, act_recover);
}

/* What is acknowledged goes from the front: the rest is still in one piece. */
static void test_ack(void **state)
{
	struct subject s;
	struct spool_entry e;
	uint32_t i;

	(void)state;
	set_up(&s, POLICY_OLDEST);
	for (i = 0; i < 6; i++)
		put(&s, 1, 60);
	/* The descriptions are gone already, and come again behind the blocks. */
	for (i = 0; i < METAS; i++, spool_sent(s.spool))
		assert_true(spool_peek(s.spool, &e));
	assert_int_equal(spool_ack(s.spool, METAS), 0);
	for (i = 0; i < METAS; i++)
		assert_int_equal(put(&s, 0, 100), 0);
	spool_rewind(s.spool);
	assert_true(step_through(&s, act_ack) > 3);
	tear_down(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_put),   cmocka_unit_test(test_flight),
		cmocka_unit_test(test_save),  cmocka_unit_test(test_end),
		cmocka_unit_test(test_start), cmocka_unit_test(test_recover),
		cmocka_unit_test(test_ack),
	};
	const char *obstacle = stepper_find_obstacle();

	if (obstacle) {
		printf("skipped: %s\n", obstacle);
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
