/* SPDX-License-Identifier: MIT */
/* os_map: the records of a kernel's scheduler that threads are watched by, and the others. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "device/feed/os_map.h"
#include "ftrace/bytes.h"
#include "tools/os_pages.h"

#define ID_WAKEUP 203U

/* Without switches nobody knows what a thread does. */
static void needs_switches(void **state)
{
	struct error e = ERROR_INIT;
	struct os_map m;

	(void)state;
	os_map_init(&m, BYTES_HOST_BIG);
	assert_int_equal(os_map_settle(&m, "6.18", 8, &e), -ENOENT);
	assert_non_null(strstr(e.text, "no switches"));
	assert_int_equal(os_map_add(&m, "sched", os_format_waking, strlen(os_format_waking), &e),
			 1);
	assert_int_equal(os_map_settle(&m, "6.18", 8, &e), -ENOENT);
	assert_int_equal(os_map_add(&m, "sched", os_format_switch, strlen(os_format_switch), &e),
			 1);
	assert_int_equal(os_map_settle(&m, "6.18", 8, &e), 0);
}

/* A waking is a waking; a wakeup, which has the same fields, is none. */
static void passes_over_others(void **state)
{
	char wakeup[1024];
	struct os_record found;
	uint8_t record[36] = { 0 };
	const uint16_t ids[] = { OS_ID_WAKING, ID_WAKEUP };
	const int32_t waker = 7, woken = 9;
	struct os_map m;

	(void)state;
	os_map_init(&m, BYTES_HOST_BIG);
	snprintf(wakeup, sizeof(wakeup), "name: sched_wakeup\nID: %u\n%s", ID_WAKEUP,
		 strstr(os_format_waking, "format:"));
	assert_int_equal(os_map_add(&m, "sched", os_format_switch, strlen(os_format_switch), NULL),
			 1);
	assert_int_equal(os_map_add(&m, "sched", os_format_waking, strlen(os_format_waking), NULL),
			 1);
	assert_int_equal(os_map_add(&m, "sched", wakeup, strlen(wakeup), NULL), 1);
	assert_int_equal(os_map_settle(&m, "6.18", 8, NULL), 0);
	memcpy(record + 4, &waker, sizeof(waker));
	memcpy(record + 24, &woken, sizeof(woken));
	memcpy(record, &ids[0], sizeof(ids[0]));
	assert_int_equal(os_map_decode(&m, record, sizeof(record), &found), 1);
	assert_int_equal(found.kind, OS_WAKING);
	assert_int_equal(found.tid, woken);
	assert_int_equal(found.other, waker);
	memcpy(record, &ids[1], sizeof(ids[1]));
	assert_int_equal(os_map_decode(&m, record, sizeof(record), &found), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(needs_switches),
		cmocka_unit_test(passes_over_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
