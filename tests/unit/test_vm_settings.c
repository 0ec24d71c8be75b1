/* SPDX-License-Identifier: MIT */
/* vm_settings: what the module for virtual machines is told, and what it refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "device/vm/core/vm_settings.h"

static enum vm_order parse(struct vm_settings *s, const char *text)
{
	return vm_settings_parse(s, text, (uint32_t)strlen(text));
}

static void test_takes(void **state)
{
	struct vm_settings s, d;

	(void)state;
	vm_settings_init(&d);
	assert_int_equal(parse(&s, "stop"), VM_ORDER_STOP);
	assert_int_equal(parse(&s, "stop\n"), VM_ORDER_STOP);
	assert_int_equal(parse(&s, "start\n"), VM_ORDER_START);
	assert_memory_equal(&s, &d, sizeof(s));
	assert_int_equal(parse(&s,
			       "start period_ns=50000 exits=0 jitter=0 switches=0 buffer_kib=16"),
			 VM_ORDER_START);
	assert_int_equal(s.period_ns, 50000);
	assert_int_equal(s.jitter, 0);
	assert_int_equal(s.exits, 0);
	assert_int_equal(s.switches, 0);
	assert_int_equal(s.buffer_kib, 16);
	assert_int_equal(parse(&s, "start period_ns=1000000000 jitter=50 buffer_kib=65536"),
			 VM_ORDER_START);
	assert_int_equal(s.period_ns, 1000000000);
	assert_int_equal(s.exits, 1);
	assert_int_equal(parse(&s, "start cycles=100000"), VM_ORDER_START);
	assert_int_equal(s.cycles, 100000);
	assert_int_equal(parse(&s, "start cycles=0"), VM_ORDER_START);
	assert_memory_equal(&s, &d, sizeof(s));
}

static void test_refuses(void **state)
{
	static const char *const bad[] = {
		"",
		"\n",
		"start\n\n",
		" start",
		"start ",
		"start  exits=1",
		"start exits",
		"start exits=",
		"start exits=2",
		"start exits=01x",
		"start exits=1 exits=1",
		"start period_ns=49999",
		"start period_ns=1000000001",
		"start period_ns=18446744073709551617",
		"start period_ns=+50000",
		"start jitter=51",
		"start buffer_kib=8",
		"start buffer_kib=24",
		"start buffer_kib=131072",
		"start period=1",
		"start cycles=99999",
		"start cycles=4000000001",
		"start=1",
		"stop now",
		"starts",
		"start\texits=1",
	};
	struct vm_settings s, before;
	size_t i;

	(void)state;
	memset(&s, 0x5a, sizeof(s));
	before = s;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(parse(&s, bad[i]), VM_ORDER_NONE);
		assert_memory_equal(&s, &before, sizeof(s));
	}
	assert_int_equal(vm_settings_parse(&s, "start\0 exits=1", 14), VM_ORDER_NONE);
}

static void test_shows_what_it_takes(void **state)
{
	struct vm_settings s = { .period_ns = 123456,
				 .jitter = 7,
				 .switches = 1,
				 .buffer_kib = 64 },
			   t;
	char line[VM_SETTINGS_MAX];
	uint32_t len;

	(void)state;
	len = vm_settings_format(&s, line);
	assert_int_equal(len, strlen(line));
	assert_string_equal(
		line, "start period_ns=123456 jitter=7 exits=0 switches=1 buffer_kib=64 cycles=0");
	assert_int_equal(parse(&t, line), VM_ORDER_START);
	assert_memory_equal(&s, &t, sizeof(s));
	s = (struct vm_settings){ .period_ns = UINT32_MAX,
				  .jitter = UINT32_MAX,
				  .exits = UINT32_MAX,
				  .switches = UINT32_MAX,
				  .buffer_kib = UINT32_MAX,
				  .cycles = UINT32_MAX };
	assert_true(vm_settings_format(&s, line) < sizeof(line));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_takes),
		cmocka_unit_test(test_refuses),
		cmocka_unit_test(test_shows_what_it_takes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
