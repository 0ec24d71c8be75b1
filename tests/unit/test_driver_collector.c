/* SPDX-License-Identifier: MIT */
/*
 * The driver's side of the protocol against the collector's own, over a wire that cuts anywhere and
 * breaks often: each block arrives once, each is acknowledged, and neither blames the other.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tools/driver_peer.h"
#include "tools/owner.h"

#define BLOCKS 50U
#define WINDOW 4096U
#define PIECE 2000U

static struct owner owner;
static struct session session;
static struct session_env env;
static struct session_now now = { 1000000000, 5000000000 };
static uint32_t random_state;

static uint32_t below(uint32_t n)
{
	random_state = random_state * 1664525 + 1013904223;
	return (random_state >> 8) % n;
}

/* Moves a piece to the collector. */
static size_t move_there(void)
{
	uint8_t bytes[PIECE];
	size_t n;

	if (session.stalled)
		return 0;
	n = driver_peer_pull(bytes, 1 + below(PIECE));
	session_push(&session, bytes, n, &now);
	return n;
}

static size_t move_back(void)
{
	size_t n = below(64) + 1;

	n = n < owner.sent_len ? n : owner.sent_len;
	if (driver_peer_push(owner.sent, n) < 0)
		fail_msg("%s", driver_peer_why());
	owner.sent_len -= n;
	memmove(owner.sent, owner.sent + n, owner.sent_len);
	return n;
}

static void begin_connection(uint64_t number)
{
	owner.sent_len = 0;
	owner.log[0] = 0;
	session_init(&session, &env, &owner, number);
	driver_peer_open();
}

/* `steps` of a connection, 0: until all is done and nothing is under way. */
static void run_connection(uint32_t steps)
{
	const struct message_instruction stop = { .id = 1, .verb = INSTRUCTION_STOP };
	uint32_t i, idle = 0;

	for (i = 0; steps ? i < steps : idle < 10; i++) {
		size_t moved = move_there() + move_back();

		now.mono_ns += 1000000;
		if (!below(4) || !moved)
			owner_commit(&owner, &session, &now);
		if (i % 64 == 63 && session.state == SESSION_OPEN)
			session_ping(&session, &now);
		if (i == 100)
			session_instruct(&session, &stop);
		idle = moved ? 0 : idle + 1;
		assert_false(session_is_over(&session));
		assert_true(i < 100000);
	}
}

static void run_all(uint32_t seed, bool breaks)
{
	uint32_t stream, connections = 0;

	random_state = seed;
	memset(&owner, 0, sizeof(owner));
	owner.batch_max = 5;
	driver_peer_init(BLOCKS);
	while (breaks && connections++ < 8) {
		begin_connection(connections);
		run_connection(1 + below(60));
		driver_peer_close();
		session_done(&session);
	}
	begin_connection(99);
	run_connection(0);
	assert_string_equal(owner.log, "");
	assert_true(driver_peer_is_done());
	assert_int_equal(owner.n_runs, 1);
	assert_true(owner.runs[0].ended);
	for (stream = 1; stream <= 2; stream++) {
		assert_true(owner.runs[0].next[stream] == BLOCKS);
		assert_true(owner.runs[0].events[stream] == BLOCKS * 10);
	}
	assert_true(owner.puts >= 2 * BLOCKS + 1);
	driver_peer_close();
	session_done(&session);
}

static int begin(void **state)
{
	(void)state;
	env = (struct session_env){ &owner_ops, session_room_new(), WINDOW };
	return 0;
}

static int finish(void **state)
{
	(void)state;
	session_room_free(env.room);
	return 0;
}

static void sends_all(void **state)
{
	(void)state;
	run_all(1, false);
	assert_true(owner.puts == 2 * BLOCKS + 1); /* none twice */
	assert_int_equal(driver_peer_verb(), INSTRUCTION_STOP);
	assert_int_equal(owner.result_id, 1);
	assert_true(owner.clock.round_trip_ns > 0); /* a PONG was understood */
}

static void sends_all_over_breaks(void **state)
{
	uint32_t seed;

	(void)state;
	for (seed = 2; seed < 200; seed++)
		run_all(seed, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(sends_all, begin, finish),
		cmocka_unit_test_setup_teardown(sends_all_over_breaks, begin, finish),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
