/* SPDX-License-Identifier: MIT */
/* state: prev_state prints as the kernels of each time print it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "trace/state.h"
#include "trace/word.h"
#include "wire/loss.h"
#include "wire/sched_event.h"

static void expect(const char *release, uint64_t value, const char *want)
{
	struct sched_dialect d;
	char got[STATE_TEXT_MAX];

	dialect_from_release(&d, release);
	assert_int_equal(state_format(got, &d, value), strlen(want));
	assert_string_equal(got, want);
}

static void test_letters(void **state)
{
	(void)state;
	expect("6.18.0", 0, "R");
	expect("6.18.0", 0x100, "R+");
	expect("6.18.0", 1, "S");
	expect("6.18.0", 3, "S|D");
	expect("6.18.0", 0x80, "I");
	expect("6.18.0", 0x102, "D+");
	expect("6.18.0", 0xff, "S|D|T|t|X|Z|P|I");
	expect("6.18.0", UINT64_MAX, "S|D|T|t|X|Z|P|I+");
	expect("6.18.0", 0x1000, "R");
	expect("4.4.302", 0x800, "R+");
	expect("4.4.302", 0x40, "x");
	expect("4.4.302", 0x82, "D|K");
	expect("4.4.302", UINT64_MAX, "S|D|T|t|Z|X|x|K|W|P|N+");
}

/* A full dialect must fit the buffer. */
static void test_longest(void **state)
{
	char got[STATE_TEXT_MAX];
	struct sched_dialect d;

	(void)state;
	dialect_init(&d);
	memset(d.state_letters, 'A', sizeof(d.state_letters));
	d.state_mask = UINT64_MAX;
	assert_int_equal(state_format(got, &d, UINT64_MAX), 2 * DIALECT_STATE_BITS);
	memset(d.state_letters, 0, sizeof(d.state_letters));
	assert_int_equal(state_format(got, &d, 1), 0);
}

static void test_words(void **state)
{
	uint32_t i;

	(void)state;
	for (i = 0; i < SCHED_KINDS; i++)
		assert_int_equal(word_parse_kind(word_kind(i), strlen(word_kind(i))), i);
	assert_int_equal(word_parse_kind("sched_process_fork", 18), SCHED_FORK);
	assert_int_equal(word_parse_kind("unknown", 7), -1);
	assert_int_equal(word_parse_kind("switc", 5), -1);
	assert_string_equal(word_kind(SCHED_KINDS), "unknown");
	assert_string_equal(word_cause(LOSS_SPOOL), "spool");
	assert_string_equal(word_cause(LOSS_CAUSES), "unknown");
	assert_string_equal(word_feature(8), "lazy_resched");
	assert_null(word_feature(32));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_letters),
		cmocka_unit_test(test_longest),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
