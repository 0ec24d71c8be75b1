/* SPDX-License-Identifier: MIT */
/* flight: what is under way is never believed to be less than it is, however frames and acknowledgements come. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "wire/flight.h"

#define WINDOW 12800U

/* Frames of 100 bytes. */
static void send_frames(struct flight *f, uint32_t n)
{
	while (n--)
		flight_sent(f, 100);
}

static void test_window(void **state)
{
	struct flight f;

	(void)state;
	flight_init(&f, WINDOW);
	assert_true(flight_has_room(&f, WINDOW + 1)); /* nothing is under way */
	send_frames(&f, 127);
	assert_true(flight_has_room(&f, 100));
	assert_false(flight_has_room(&f, 101));
	assert_false(flight_has_room(&f, UINT64_MAX));
	assert_false(flight_acked(&f, 128));
	assert_true(flight_acked(&f, 100));
	assert_int_equal(f.acked_bytes, 10000);
	assert_true(flight_acked(&f, 127));
	assert_int_equal(f.acked_bytes, 12700);
	assert_true(flight_acked(&f, 3)); /* an old one changes nothing */
	assert_int_equal(f.acked_bytes, 12700);
}

/* More than there are marks for: what has none is known when all is. */
static void test_marks(void **state)
{
	struct flight f;

	(void)state;
	flight_init(&f, WINDOW);
	send_frames(&f, FLIGHT_MARKS + 50);
	assert_int_equal(f.n, FLIGHT_MARKS);
	assert_true(flight_acked(&f, FLIGHT_MARKS + 49));
	assert_int_equal(f.acked_bytes, FLIGHT_MARKS * 100);
	assert_true(flight_acked(&f, FLIGHT_MARKS + 50));
	assert_int_equal(f.acked_bytes, f.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_marks),
	};

	return cmocka_run_group_tests_name("flight", tests, NULL, NULL);
}
