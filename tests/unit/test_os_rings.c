/* SPDX-License-Identifier: MIT */
/* os_rings: pages of several CPUs as one stream by time, with gaps where they are; and pages that no
 * kernel writes. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "device/feed/os_rings.h"
#include "tools/os_pages.h"
#include "wire/loss.h"

#define ALL UINT64_MAX

static char folder[64];
static struct os_rings *rings;

static void open_rings(uint32_t cpus)
{
	struct error e = ERROR_INIT;

	if (os_rings_open(&rings, folder, cpus, &e) < 0)
		fail_msg("%s", e.text);
}

static void close_rings(void)
{
	os_rings_close(rings);
	os_folder_done(folder);
}

static struct os_record next(uint64_t safe_ns)
{
	struct os_record r;
	struct error e = ERROR_INIT;

	if (os_rings_next(rings, safe_ns, &r, &e) != 1)
		fail_msg("no record: %s", e.text);
	return r;
}

static void expect(uint64_t safe_ns, enum os_kind kind, uint64_t ns, int32_t tid)
{
	struct os_record r = next(safe_ns);

	assert_int_equal(r.kind, kind);
	assert_int_equal(r.ns, ns);
	assert_int_equal(r.tid, tid);
}

static void expect_none(uint64_t safe_ns)
{
	struct os_record r;

	assert_int_equal(os_rings_next(rings, safe_ns, &r, NULL), 0);
}

static void test_order(void **state)
{
	struct os_page p;
	struct os_record r;

	(void)state;
	os_folder_init(folder, 3);
	os_page_init(&p, 1000);
	os_page_call(&p, 1100, 7, 63);
	os_page_switch(&p, 1300, 7, 1, 9);
	os_page_switch(&p, 1700, 9, 256, 0);
	os_folder_add(folder, 0, &p);
	os_page_init(&p, 1150);
	os_page_waking(&p, 1200, 9, 7);
	os_page_switch(&p, 1400, 0, 0, 7);
	os_page_return(&p, 1500, 7, 63);
	os_folder_add(folder, 2, &p);
	open_rings(4); /* the fourth one is not there */
	expect(1350, OS_SYSCALL, 1100, 7);
	r = next(1350);
	assert_int_equal(r.kind, OS_WAKING);
	assert_int_equal(r.cpu, 2);
	assert_int_equal(r.other, 9);
	r = next(1350);
	assert_int_equal(r.kind, OS_SWITCH);
	assert_int_equal(r.value, 1);
	assert_int_equal(r.other, 9);
	assert_int_equal(r.cpu, 0);
	expect_none(1350);
	/* What is behind the moment waits; what comes meanwhile has its place. */
	os_page_init(&p, 1450);
	os_page_call(&p, 1450, 11, 1);
	os_folder_add(folder, 1, &p);
	os_rings_begin(rings);
	expect(ALL, OS_SWITCH, 1400, 0);
	expect(ALL, OS_SYSCALL, 1450, 11);
	expect(ALL, OS_RETURN, 1500, 7);
	r = next(ALL);
	assert_int_equal(r.kind, OS_SWITCH);
	assert_int_equal(r.value, 0); /* preempted */
	expect_none(ALL);
	assert_true(os_rings_fixed_bytes(rings) > 4 * OS_PAGE_BYTES);
	close_rings();
}

static void test_gap(void **state)
{
	struct os_page p;
	struct os_record r;

	(void)state;
	os_folder_init(folder, 2);
	os_page_init(&p, 1000);
	os_page_call(&p, 1100, 7, 63);
	os_folder_add(folder, 0, &p);
	open_rings(2);
	expect(5000, OS_SYSCALL, 1100, 7);
	expect_none(5000);
	os_page_init(&p, 9000);
	os_page_miss(&p);
	os_page_return(&p, 9100, 7, 63);
	os_folder_add(folder, 0, &p);
	os_page_init(&p, 6000);
	os_page_call(&p, 6000, 8, 1);
	os_folder_add(folder, 1, &p);
	os_folder_set_overrun(folder, 0, 42);
	os_rings_begin(rings);
	/* It was empty at 5000, so nothing is missing before that. */
	r = next(ALL);
	assert_int_equal(r.kind, OS_LOST);
	assert_int_equal(r.ns, 5000);
	assert_int_equal(r.value, 42);
	assert_int_equal(r.other, 0);
	expect(ALL, OS_SYSCALL, 6000, 8);
	r = next(ALL);
	assert_int_equal(r.kind, OS_FOUND);
	assert_int_equal(r.ns, 9100);
	expect(ALL, OS_RETURN, 9100, 7);
	expect_none(ALL);
	close_rings();
}

/* Two gaps in a row whose numbers the kernel tells in one, and none behind the last. */
static void test_gaps(void **state)
{
	struct os_page p;
	struct os_record r;

	(void)state;
	os_folder_init(folder, 1);
	os_folder_set_overrun(folder, 0, 5);
	os_page_init(&p, 9000);
	os_page_miss(&p);
	os_folder_add(folder, 0, &p);
	os_folder_add(folder, 0, &p);
	open_rings(1);
	r = next(9500);
	assert_int_equal(r.kind, OS_LOST);
	assert_int_equal(r.value, 5);
	assert_int_equal(r.ns, 9000);
	r = next(9500);
	assert_int_equal(r.kind, OS_LOST);
	assert_int_equal(r.value, 0);
	assert_int_equal(r.other, 1);
	r = next(9500);
	assert_int_equal(r.kind, OS_FOUND);
	assert_int_equal(r.ns, 9500);
	expect_none(9500);
	close_rings();
}

static void test_bad_pages(void **state)
{
	struct os_page p;
	struct os_record r;
	uint64_t commit = 100000;

	(void)state;
	os_folder_init(folder, 1);
	/* It says that it has more than it has. */
	os_page_init(&p, 1000);
	memcpy(p.bytes + 8, &commit, 8);
	os_folder_add(folder, 0, &p);
	/* A record that is longer than the page's data. */
	os_page_init(&p, 2000);
	os_page_call(&p, 2100, 7, 63);
	commit = p.used - 8;
	memcpy(p.bytes + 8, &commit, 8);
	os_folder_add(folder, 0, &p);
	/* And a good one. */
	os_page_init(&p, 3000);
	os_page_call(&p, 3100, 7, 64);
	os_folder_add(folder, 0, &p);
	open_rings(1);
	r = next(ALL);
	assert_int_equal(r.kind, OS_LOST);
	assert_true(r.value == LOSS_UNKNOWN);
	r = next(ALL);
	assert_int_equal(r.kind, OS_LOST);
	assert_true(r.value == LOSS_UNKNOWN);
	assert_int_equal(r.other, 1);
	expect(ALL, OS_FOUND, 3100, 7);
	expect(ALL, OS_SYSCALL, 3100, 7);
	expect_none(ALL);
	close_rings();
}

static void test_no_folder(void **state)
{
	struct error e = ERROR_INIT;

	(void)state;
	assert_int_equal(os_rings_open(&rings, "/nonexistent/kiseki", 1, &e), -ENOENT);
	assert_non_null(strstr(e.text, "/nonexistent/kiseki"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),	  cmocka_unit_test(test_gap),
		cmocka_unit_test(test_gaps),	  cmocka_unit_test(test_bad_pages),
		cmocka_unit_test(test_no_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
