/* SPDX-License-Identifier: MIT */
/*
 * bsf_event: an event becomes the record the paper's kernel would have made, what the record cannot
 * hold is named, and what it can hold comes back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tools/sched_random.h"
#include "wire/bsf_decode.h"
#include "wire/bsf_encode.h"
#include "wire/bsf_event.h"
#include "wire/bsf_text.h"

static struct sched_event switch_event(void)
{
	struct sched_event e = { .kind = SCHED_SWITCH, .pid = 42, .state = 1 };

	e.task = (struct sched_task){ .pid = 42, .prio = 120, .comm = "cat" };
	e.other = (struct sched_task){ .pid = 7, .prio = -1, .comm = "irq" };
	return e;
}

static struct sched_event wakeup_event(uint8_t kind, int32_t waker)
{
	struct sched_event e = { .kind = kind, .pid = waker, .value = 3 };

	e.task = (struct sched_task){ .pid = 43, .prio = 98, .comm = "woken" };
	return e;
}

static struct bsf_context context(const char *release, uint32_t cpu)
{
	struct sched_dialect d;
	struct bsf_context c;

	dialect_from_release(&d, release);
	bsf_context_init(&c, &d, cpu);
	return c;
}

static void test_switch(void **state)
{
	struct bsf_context c = context("6.1.0", 2);
	struct sched_event e = switch_event(), back;
	char line[BSF_LINE_MAX];
	struct bsf_record r;

	(void)state;
	assert_true(bsf_from_event(&c, &e, 4154504421591616000ULL, &r));
	assert_true(bsf_record_valid(&r));
	bsf_format(&r, line);
	assert_string_equal(line, "cat-42 [002] 4154504421.591616: 42:120:S ==> [002] 7:255:R");
	bsf_to_event(&c, &r, &back);
	e.tick = 4154504421591616000ULL;
	memset(e.other.comm, 0, SCHED_COMM_LEN);
	assert_true(sched_event_equal(&e, &back));
}

/* The waker's name and priority come from the switch before; without one it is nameless. */
static void test_wakeup(void **state)
{
	struct bsf_context c = context("6.1.0", 2);
	struct sched_event e = wakeup_event(SCHED_WAKING, 7), sw = switch_event(), back;
	char line[BSF_LINE_MAX];
	struct bsf_record r;

	(void)state;
	assert_true(bsf_from_event(&c, &e, 1000, &r));
	bsf_format(&r, line);
	assert_string_equal(line, "<...>-7 [002] 0.000001: 7:0:R +w [003] 43:98:R");
	bsf_to_event(&c, &r, &back);
	e.tick = 1000;
	memset(e.task.comm, 0, SCHED_COMM_LEN);
	assert_true(sched_event_equal(&e, &back));

	assert_true(bsf_from_event(&c, &sw, 2000, &r));
	assert_true(bsf_from_event(&c, &e, 3000, &r));
	bsf_format(&r, line);
	assert_string_equal(line, "irq-7 [002] 0.000003: 7:255:R +w [003] 43:98:R");
	e = wakeup_event(SCHED_WAKEUP, 0);
	assert_true(bsf_from_event(&c, &e, 4000, &r));
	bsf_format(&r, line);
	assert_string_equal(line, "<idle>-0 [002] 0.000004: 0:0:R + [003] 43:98:R");
	e = wakeup_event(SCHED_WAKEUP_NEW, 8);
	assert_true(bsf_from_event(&c, &e, 5000, &r));
	bsf_format(&r, line);
	assert_string_equal(line, "<...>-8 [002] 0.000005: 8:0:R +n [003] 43:98:R");
}

/* Renames and priority changes have no record, but the next wakeup shows them. */
static void test_follows(void **state)
{
	struct bsf_context c = context("6.1.0", 0);
	struct sched_event e = switch_event();
	char line[BSF_LINE_MAX];
	struct bsf_record r;

	(void)state;
	assert_true(bsf_from_event(&c, &e, 0, &r));
	e = (struct sched_event){ .kind = SCHED_RENAME, .pid = 7 };
	e.task.pid = 7;
	memcpy(e.other.comm, "new", 3);
	assert_false(bsf_from_event(&c, &e, 0, &r));
	e = (struct sched_event){ .kind = SCHED_SETPRIO, .pid = 7 };
	e.task.pid = 7;
	e.other.prio = 10;
	assert_false(bsf_from_event(&c, &e, 0, &r));
	e = wakeup_event(SCHED_WAKEUP, 7);
	assert_true(bsf_from_event(&c, &e, 0, &r));
	bsf_format(&r, line);
	assert_string_equal(line, "new-7 [000] 0.000000: 7:10:R + [003] 43:98:R");
}

static void test_can_hold(void **state)
{
	struct sched_event e;
	struct bsf_context c = context("6.1.0", 1000);
	struct bsf_record r;
	uint8_t kind;

	(void)state;
	for (kind = 0; kind < SCHED_KINDS; kind++) {
		e = (struct sched_event){ .kind = kind };
		assert_int_equal(bsf_can_hold(&e), kind <= SCHED_WAKEUP_NEW);
	}
	e = switch_event();
	assert_true(bsf_can_hold(&e));
	assert_false(bsf_from_event(&c, &e, 0, &r)); /* CPU 1000 */
	e.task.prio = 254;
	assert_true(bsf_can_hold(&e));
	e.task.prio = 255;
	assert_false(bsf_can_hold(&e));
	e = switch_event();
	e.other.prio = -2;
	assert_false(bsf_can_hold(&e));
	e = wakeup_event(SCHED_WAKING, 1);
	e.value = 999;
	assert_true(bsf_can_hold(&e));
	e.value = 1000;
	assert_false(bsf_can_hold(&e));
	e.value = -1;
	assert_false(bsf_can_hold(&e));
}

static void test_time(void **state)
{
	static const struct {
		uint64_t ns;
		uint64_t secs;
		uint32_t usec;
	} times[] = {
		{ 0, 0, 0 },
		{ 499, 0, 0 },
		{ 500, 0, 1 },
		{ 999999499, 0, 999999 },
		{ 999999500, 1, 0 },
		{ 1999999500, 2, 0 },
		{ 3999999499, 3, 999999 },
		{ 1000, 0, 1 }, /* back */
		{ 9999999999999999499ULL, 9999999999ULL, 999999 },
		{ 4294967296000000000ULL, 4294967296ULL, 0 },
	};
	static const uint64_t too_late[] = { 9999999999999999500ULL, UINT64_MAX - 499, UINT64_MAX };
	struct bsf_context c = context(NULL, 0);
	struct sched_event e = switch_event();
	struct bsf_record r;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		assert_true(bsf_from_event(&c, &e, times[i].ns, &r));
		assert_true(r.secs == times[i].secs);
		assert_int_equal(r.usec_rem, times[i].usec);
	}
	for (i = 0; i < 3; i++)
		assert_false(bsf_from_event(&c, &e, too_late[i], &r));
	assert_true(bsf_from_event(&c, &e, 5000000000ULL, &r));
	assert_true(r.secs == 5 && r.usec_rem == 0);
}

static void assert_state(const char *release, uint64_t bits, char letter, uint64_t back_bits)
{
	struct bsf_context c = context(release, 0);
	struct sched_event e = switch_event(), back;
	char line[BSF_LINE_MAX];
	struct bsf_record r;

	e.state = bits;
	assert_true(bsf_from_event(&c, &e, 0, &r));
	bsf_format(&r, line);
	assert_int_equal(strstr(line, ":120:")[5], letter);
	bsf_to_event(&c, &r, &back);
	assert_true(back.state == back_bits);
	assert_int_equal(!!(bsf_event_lacks(&c, &e, 0) & BSF_LACK_STATE), bits != back_bits);
}

static void test_states(void **state)
{
	static const char now[] = "SDTtXZ";
	static const char old[] = "SDTtZX";
	unsigned i;

	(void)state;
	assert_state("6.1.0", 0, 'R', 0);
	assert_state("6.1.0", 0x100, 'R', 0); /* R+ */
	for (i = 0; now[i]; i++)
		assert_state("6.1.0", 1ULL << i, now[i], 1ULL << i);
	assert_state("6.1.0", 0x40, 'S', 1); /* parked */
	assert_state("6.1.0", 0x80, 'I', 0x80);
	assert_state("6.1.0", 0x81, 'S', 1);
	assert_state("6.1.0", 1ULL << 40, 'R', 0);
	for (i = 0; old[i]; i++)
		assert_state("4.4.302", 1ULL << i, old[i], 1ULL << i);
	assert_state("4.4.302", 64, 'X', 32);
	assert_state("4.4.302", 0x82, 'D', 2); /* killable */
	assert_state("4.4.302", 0x800, 'R', 0);
}

static void test_lacks(void **state)
{
	struct bsf_context c = context("6.1.0", 0), old = context("4.4.302", 0);
	struct sched_event e = switch_event();

	(void)state;
	assert_int_equal(bsf_event_lacks(&c, &e, 1000), BSF_LACK_NAME);
	memset(e.other.comm, 0, SCHED_COMM_LEN);
	assert_int_equal(bsf_event_lacks(&c, &e, 1000), 0);
	assert_int_equal(bsf_event_lacks(&c, &e, 1001), BSF_LACK_TIME);
	e.flags = 1;
	e.state = 0x100;
	assert_int_equal(bsf_event_lacks(&c, &e, 0), BSF_LACK_FLAGS | BSF_LACK_STATE);
	e = wakeup_event(SCHED_WAKEUP, 1);
	memset(e.task.comm, 0, SCHED_COMM_LEN);
	assert_int_equal(bsf_event_lacks(&c, &e, 0), 0);
	e.preempt_count = 1;
	assert_int_equal(bsf_event_lacks(&old, &e, 0), BSF_LACK_FLAGS | BSF_LACK_SUCCESS);
	e.extra = 1;
	assert_int_equal(bsf_event_lacks(&old, &e, 0), BSF_LACK_FLAGS);
	e.kind = SCHED_FORK;
	assert_int_equal(bsf_event_lacks(&c, &e, 0), BSF_LACK_EVENT);
}

static void test_next_comm(void **state)
{
	static struct bsf_entry log[600];
	size_t i;

	(void)state;
	for (i = 0; i < 600; i++) {
		log[i].rec.entry_type = BSF_WAKEUP;
		log[i].rec.entry_pid = log[i].rec.prev_pid = log[i].rec.next_pid = 5;
		memcpy(log[i].rec.comm, "<...>", 5);
	}
	assert_null(bsf_next_comm(log, 600, 0));
	log[256].rec.entry_type = BSF_SWITCH;
	memcpy(log[256].rec.comm, "near\0", 5);
	assert_string_equal(bsf_next_comm(log, 600, 0), "near");
	assert_string_equal(bsf_next_comm(log, 600, 512), "near");
	assert_null(bsf_next_comm(log, 600, 513));
	assert_null(bsf_next_comm(log, 256, 0));
	log[300].rec.entry_type = BSF_SWITCH;
	memcpy(log[300].rec.comm, "later", 5);
	assert_string_equal(bsf_next_comm(log, 600, 260), "later");
	assert_null(bsf_next_comm(log, 1, 0));
}

/* A decoded event against the one that was sent: the same but for what `lacks` names. */
static void assert_same_but(const struct sched_event *sent, uint64_t ns, uint32_t lacks,
			    const struct sched_event *got)
{
	struct sched_event expected = *sent;
	bool is_switch = sent->kind == SCHED_SWITCH;

	expected.tick = lacks & BSF_LACK_TIME ? got->tick : ns;
	assert_true(got->tick <= ns + 500 && got->tick + 500 > ns && got->tick % 1000 == 0);
	expected.tick_off_ns = 0;
	if (lacks & BSF_LACK_FLAGS)
		expected.flags = expected.preempt_count = 0;
	if (lacks & BSF_LACK_STATE)
		expected.state = got->state;
	if (lacks & BSF_LACK_NAME)
		memset(is_switch ? expected.other.comm : expected.task.comm, 0, SCHED_COMM_LEN);
	if (lacks & BSF_LACK_SUCCESS)
		expected.extra = got->extra;
	assert_true(sched_event_equal(&expected, got));
}

#define BLOCK_EVENTS 1000

/* A block of random events on its way. */
static struct {
	struct sched_event sent[BLOCK_EVENTS];
	uint32_t lacks[BLOCK_EVENTS];
	struct bsf_entry work[BLOCK_EVENTS];
	uint8_t bytes[BSF_BLOCK_MAX];
	size_t len;
} block;

static void send_block(struct bsf_context *c, struct sched_random *random)
{
	struct bsf_encoder encoder;
	struct bsf_record r;
	struct sched_event e;
	unsigned n = 0;
	size_t len;

	bsf_encoder_init(&encoder);
	block.len = 0;
	while (n < BLOCK_EVENTS) {
		sched_random_next(random, &e);
		block.lacks[n] = bsf_event_lacks(c, &e, e.tick);
		if (!bsf_from_event(c, &e, e.tick, &r)) {
			assert_int_equal(block.lacks[n], BSF_LACK_EVENT);
			continue;
		}
		assert_int_equal(block.lacks[n] & BSF_LACK_EVENT, 0);
		len = bsf_encode(&encoder, block.bytes + block.len, BSF_BLOCK_MAX - block.len, &r);
		assert_in_range(len, BSF_HEADER_LEN, BSF_RECORD_MAX);
		block.len += len;
		block.sent[n++] = e;
	}
}

static void receive_block(const struct bsf_context *c)
{
	struct sched_event e;
	struct bsf_log log;
	unsigned i;

	bsf_log_init(&log, block.work, BLOCK_EVENTS);
	assert_int_equal(bsf_decode(&log, block.bytes, block.len), WIRE_OK);
	assert_int_equal(log.count, BLOCK_EVENTS);
	for (i = 0; i < BLOCK_EVENTS; i++) {
		bsf_to_event(c, &log.first[i].rec, &e);
		assert_same_but(&block.sent[i], block.sent[i].tick, block.lacks[i], &e);
	}
}

/* Events of every style through encoder and decoder. */
static void test_random_events(void **state)
{
	static struct sched_random random;
	struct bsf_context c;
	unsigned style, blocks;

	(void)state;
	for (style = 0; style < SCHED_RANDOM_STYLES; style++) {
		sched_random_init(&random, style, style);
		c = context("6.1.0", 3);
		for (blocks = 0; blocks < 30; blocks++) {
			send_block(&c, &random);
			receive_block(&c);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_switch),	      cmocka_unit_test(test_wakeup),
		cmocka_unit_test(test_follows),	      cmocka_unit_test(test_can_hold),
		cmocka_unit_test(test_time),	      cmocka_unit_test(test_states),
		cmocka_unit_test(test_lacks),	      cmocka_unit_test(test_next_comm),
		cmocka_unit_test(test_random_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
