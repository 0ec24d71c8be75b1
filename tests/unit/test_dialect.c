/* SPDX-License-Identifier: MIT */
/* dialect: the kernel's history, on both sides of every change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "wire/dialect.h"

static uint32_t features(const char *release)
{
	struct sched_dialect d;

	dialect_from_release(&d, release);
	return d.features;
}

static void check_states(const char *release, const char *letters, uint64_t preempt)
{
	struct sched_dialect d;

	dialect_from_release(&d, release);
	assert_string_equal(d.state_letters, letters);
	assert_true(d.state_preempt == preempt);
	assert_true(d.state_mask == preempt - 1);
}

static void test_states(void **state)
{
	(void)state;
	check_states("3.4.0", "SDTtZXxW", 0x200);
	check_states("3.18.31-g1234", "SDTtZXxKWP", 0x400);
	check_states("4.4", "SDTtZXxKWPN", 0x800);
	check_states("4.9.112", "SDTtZXxKWPN", 0x1000);
	check_states("4.14.0", "SDTtXZPI", 0x100);
	check_states("6.18.0", "SDTtXZPI", 0x100);
}

static void test_features(void **state)
{
	const uint32_t success = DIALECT_SUCCESS | DIALECT_SUCCESS_SILENT;

	(void)state;
	assert_int_equal(features("4.2.9") & success, DIALECT_SUCCESS);
	assert_int_equal(features("4.3.0") & success, DIALECT_SUCCESS_SILENT);
	assert_int_equal(features("5.13.1") & success, DIALECT_SUCCESS_SILENT);
	assert_int_equal(features("5.14.0") & success, 0);
	assert_false(features("6.12.1") & DIALECT_LAZY_RESCHED);
	assert_true(features("6.13.1") & DIALECT_LAZY_RESCHED);
	assert_true(features("6.15.0") & DIALECT_FIXED_COMM);
	assert_false(features("6.16.0") & DIALECT_FIXED_COMM);
	assert_false(features("6.15.0") & DIALECT_GROUP_DEAD);
	assert_true(features("6.16.0") & DIALECT_GROUP_DEAD);
	assert_false(features("6.13.0") & DIALECT_RENAME_NO_PID);
	assert_true(features("6.14.0") & DIALECT_RENAME_NO_PID);
	assert_false(features("7.0.0") & DIALECT_RENAME_NO_PID);
}

static void test_columns(void **state)
{
	struct sched_dialect d;

	(void)state;
	dialect_from_release(&d, "5.8.1");
	assert_int_equal(d.pid_width, 5);
	dialect_from_release(&d, "5.10.1");
	assert_int_equal(d.pid_width, 7);
	assert_int_equal(d.flag_columns, 4);
	dialect_from_release(&d, "5.15-rc1"); /* what stands behind the numbers is no matter */
	assert_int_equal(d.flag_columns, 5);
	dialect_from_release(&d, "5.15a");
	assert_int_equal(d.flag_columns, 5);
	dialect_from_release(&d, "5.15.1");
	assert_int_equal(d.flag_columns, 5);
}

static void test_unreadable(void **state)
{
	static const char *const odd[] = { "", "x", "6", "6.", ".6", "99999999999.1", "6x1" };
	struct sched_dialect now, d;
	size_t i;

	(void)state;
	dialect_init(&now);
	for (i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		dialect_from_release(&d, odd[i]);
		assert_memory_equal(&d, &now, sizeof(d));
	}
	dialect_from_release(&d, NULL);
	assert_memory_equal(&d, &now, sizeof(d));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_features),
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_unreadable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
