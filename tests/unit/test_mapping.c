/* SPDX-License-Identifier: MIT */
/* mapping: pages that cannot be had are zeros, and it is said; no other signal is kept from the program. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "base/mapping.h"
#include "tools/emulator.h"

#define PAGES 8U

static size_t page;

/* A file of full pages whose bytes are the page's number and one. */
static FILE *make_file(void)
{
	FILE *f = tmpfile();
	size_t i;

	assert_non_null(f);
	for (i = 0; i < PAGES * page; i++)
		putc((int)(i / page + 1), f);
	assert_int_equal(fflush(f), 0);
	return f;
}

static struct mapping *map(FILE *f)
{
	struct mapping *m;

	assert_int_equal(mapping_open(&m, fileno(f), SIZE_MAX), 0);
	return m;
}

static void test_whole(void **state)
{
	FILE *f = make_file();
	struct mapping *m = map(f);
	size_t i;

	(void)state;
	fclose(f);
	assert_int_equal(m->len, PAGES * page);
	for (i = 0; i < m->len; i++)
		assert_int_equal(m->data[i], i / page + 1);
	assert_false(mapping_is_torn(m));
	mapping_close(m);
}

static void test_torn(void **state)
{
	FILE *f = make_file(), *g = make_file();
	struct mapping *one = map(f), *two = map(g), *three = map(f);

	(void)state;
	mapping_guard(); /* cmocka has a handler of its own */
	assert_int_equal(ftruncate(fileno(f), (off_t)(3 * page)), 0);
	assert_int_equal(one->data[3 * page - 1], 3);
	assert_false(mapping_is_torn(one));
	errno = 0;
	assert_int_equal(one->data[3 * page], 0);
	assert_int_equal(errno, 0);
	assert_true(mapping_is_torn(one));
	assert_int_equal(one->data[PAGES * page - 1], 0);
	assert_int_equal(one->data[page], 2);
	/* Each for itself. */
	assert_false(mapping_is_torn(three));
	assert_int_equal(two->data[5 * page], 6);
	assert_false(mapping_is_torn(two));
	mapping_close(one);
	assert_int_equal(three->data[5 * page], 0);
	assert_true(mapping_is_torn(three));
	mapping_close(two);
	mapping_close(three);
	fclose(f);
	fclose(g);
}

static void test_sizes(void **state)
{
	FILE *f = make_file(), *empty = tmpfile();
	struct mapping *m;

	(void)state;
	assert_int_equal(mapping_open(&m, fileno(f), PAGES * page - 1), -EFBIG);
	assert_int_equal(mapping_open(&m, -1, SIZE_MAX), -EBADF);
	m = map(empty);
	assert_int_equal(m->len, 0);
	assert_false(mapping_is_torn(m));
	mapping_close(m);
	mapping_close(NULL);
	fclose(f);
	fclose(empty);
}

/* What ends a process: 0 if nothing does. */
static int end_of(void (*fn)(void))
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		fn();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void send_it(void)
{
	raise(SIGBUS);
}

static void touch_what_is_not_ours(void)
{
	FILE *f = make_file();
	volatile uint8_t *p = mmap(NULL, page, PROT_READ, MAP_PRIVATE, fileno(f), 0);

	if (p == MAP_FAILED || ftruncate(fileno(f), 0) < 0)
		_exit(1);
	(void)*p;
}

static void touch_what_is_closed(void)
{
	FILE *f = make_file();
	struct mapping *m = map(f);
	volatile const uint8_t *p = m->data;

	mapping_close(m);
	p = mmap((void *)(uintptr_t)p, page, PROT_READ, MAP_PRIVATE | MAP_FIXED, fileno(f), 0);
	if (p == MAP_FAILED || ftruncate(fileno(f), 0) < 0)
		_exit(1);
	(void)*p;
}

static void test_others(void **state)
{
	(void)state;
	mapping_guard();
	assert_int_equal(end_of(send_it), SIGBUS);
	assert_int_equal(end_of(touch_what_is_not_ours), SIGBUS);
	assert_int_equal(end_of(touch_what_is_closed), SIGBUS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_torn),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_others),
	};

	if (emulator_is_qemu()) {
		puts("skipped: the program is emulated, and what it touches in vain it touches "
		     "forever");
		return 77;
	}
	page = (size_t)sysconf(_SC_PAGESIZE);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
