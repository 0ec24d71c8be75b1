/* SPDX-License-Identifier: MIT */
/* Which block an acknowledgement means: in order, around the end of the list, and no more than was
 * sent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "device/driver/core/manifest.h"

static struct manifest m;

static void push(uint32_t run, uint32_t stream, uint64_t sequence)
{
	struct manifest_entry e = { .run = run, .stream = stream, .sequence = sequence };

	manifest_push(&m, &e);
}

static void gives_back_in_order(void **state)
{
	struct manifest_entry e;
	uint64_t sent = 0, acked = 0;
	uint32_t i;

	(void)state;
	manifest_init(&m);
	for (i = 0; i < 10000; i++) {
		while (!manifest_is_full(&m) && sent < acked + 1 + i % MANIFEST_SIZE) {
			push(1, (uint32_t)(sent % 3), sent);
			sent++;
		}
		assert_true(manifest_pop(&m, acked + 1, &e));
		assert_int_equal(e.sequence, acked);
		assert_int_equal(e.stream, acked % 3);
		acked++;
		assert_false(manifest_pop(&m, acked, &e));
	}
}

static void is_full_when_it_is(void **state)
{
	struct manifest_entry e;
	uint32_t i;

	(void)state;
	manifest_init(&m);
	for (i = 0; i < MANIFEST_SIZE; i++) {
		assert_false(manifest_is_full(&m));
		push(7, MANIFEST_END, i);
	}
	assert_true(manifest_is_full(&m));
	assert_true(manifest_pop(&m, 1, &e));
	assert_int_equal(e.run, 7);
	assert_true(e.stream == MANIFEST_END);
	assert_false(manifest_is_full(&m));
	/* An old acknowledgement says nothing new, a wild one gives all there is. */
	assert_false(manifest_pop(&m, 0, &e));
	for (i = 1; i < MANIFEST_SIZE; i++)
		assert_true(manifest_pop(&m, UINT64_MAX, &e));
	assert_false(manifest_pop(&m, UINT64_MAX, &e));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gives_back_in_order),
		cmocka_unit_test(is_full_when_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
