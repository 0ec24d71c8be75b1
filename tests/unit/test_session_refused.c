/* SPDX-License-Identifier: MIT */
/*
 * session: who may not have what it asks for: frames that only a collector sends, more runs than there is room for, and ENROLL where
 * nobody waits for a certificate.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tools/session_talk.h"

static void test_instruction_too_early(void **state)
{
	const struct message_instruction m = { .id = 1 };

	(void)state;
	session_instruct(&session, &m);
	session_resume(&session, &now); /* nothing was stalled */
	expect_nothing();
}

static void test_limit_of_runs(void **state)
{
	(void)state;
	owner.n_runs = OWNER_RUNS;
	say_hello(1, 1);
	expect_bye(BYE_LIMIT, "too many runs");
}

static void test_collectors_frames(void **state)
{
	static const uint32_t types[] = { FRAME_ACK,	     FRAME_WELCOME, FRAME_PING,
					  FRAME_INSTRUCTION, FRAME_WANT,    FRAME_CERTIFICATE };
	size_t i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++, finish(state), begin(state)) {
		come_in();
		send_frame(types[i], (const uint8_t *)"\1", 1);
		expect_bye(BYE_PROTOCOL, "which only a collector");
	}
}

static int enroll_busy(void *o, const struct message_enroll *m, struct message_certificate *ret,
		       struct error *e)
{
	(void)o;
	(void)m;
	(void)ret;
	return error_set(e, EAGAIN, "no time for it");
}

static void test_enroll_behind_hello(void **state)
{
	(void)state;
	come_in();
	send_frame(FRAME_ENROLL, (const uint8_t *)"\1", 1);
	expect_bye(BYE_PROTOCOL, "ENROLL behind HELLO");
}

/* What cannot be had now is refused. Who has none to give takes no ENROLL. */
static void test_enroll(void **state)
{
	struct message_enroll m = { .version = 1, .request = { (const uint8_t *)"r", 1 } };
	struct session_ops ops = owner_ops;
	struct byte_writer w;

	send_frame(FRAME_ENROLL, (const uint8_t *)"\1", 1);
	expect_bye(BYE_PROTOCOL, "not HELLO");
	ops.enroll = enroll_busy;
	finish(state);
	begin(state);
	env.ops = &ops;
	send_frame(FRAME_ENROLL, (const uint8_t *)"\1", 1);
	expect_bye(BYE_PROTOCOL, "ENROLL is cut short");
	finish(state);
	begin(state);
	env.ops = &ops;
	writer_init(&w, room, sizeof(room));
	enroll_encode(&w, &m);
	send_frame(FRAME_ENROLL, room, writer_len(&w));
	expect_bye(BYE_LIMIT, "no time for it");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, finish)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_instruction_too_early),
		TEST(test_limit_of_runs),
		TEST(test_collectors_frames),
		TEST(test_enroll_behind_hello),
		TEST(test_enroll),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
