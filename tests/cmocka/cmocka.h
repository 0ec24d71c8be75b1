/* SPDX-License-Identifier: MIT */
/*
 * cmocka: the calls of cmocka that the unit tests use, in one header that needs a C library only.
 *
 * The tests of what runs on a device are also built for processors this machine does not have
 * (32-bit, big-endian), statically, and run under an emulator. Distributions ship cmocka for those
 * only as packages of a foreign architecture, which would have to be fetched and unpacked beside
 * the package system at every fresh checkout; a test run must not depend on that. Native builds use
 * the real library, so a test that leans on a difference fails there. A call that is missing here
 * is a compile error: add it.
 *
 * A failed assertion leaves the test by longjmp, as in cmocka; what it held is not released.
 */
#ifndef KISEKI_TESTS_CMOCKA_H
#define KISEKI_TESTS_CMOCKA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void (*CMUnitTestFunction)(void **state);
typedef int (*CMFixtureFunction)(void **state);

struct CMUnitTest {
	const char *name;
	CMUnitTestFunction test_func;
	CMFixtureFunction setup_func;
	CMFixtureFunction teardown_func;
	void *initial_state;
};

enum cmocka_outcome {
	CMOCKA_RAN = 0,
	CMOCKA_FAILED = 1,
	CMOCKA_SKIPPED = 2,
};

static jmp_buf cmocka_exit;

__attribute__((noreturn, unused)) static void cmocka_leave(enum cmocka_outcome outcome)
{
	longjmp(cmocka_exit, outcome);
}

__attribute__((noreturn, unused, format(printf, 3, 4))) static void cmocka_fail(const char *file,
										int line,
										const char *fmt,
										...)
{
	va_list ap;

	fprintf(stderr, "%s:%d: error: ", file, line);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	cmocka_leave(CMOCKA_FAILED);
}

#define cmocka_unit_test(f)                                                                        \
	{                                                                                          \
#f, f, NULL, NULL, NULL                                                            \
	}
#define cmocka_unit_test_setup(f, setup)                                                           \
	{                                                                                          \
#f, f, setup, NULL, NULL                                                           \
	}
#define cmocka_unit_test_teardown(f, teardown)                                                     \
	{                                                                                          \
#f, f, NULL, teardown, NULL                                                        \
	}
#define cmocka_unit_test_setup_teardown(f, setup, teardown)                                        \
	{                                                                                          \
#f, f, setup, teardown, NULL                                                       \
	}
#define cmocka_unit_test_prestate(f, state)                                                        \
	{                                                                                          \
#f, f, NULL, NULL, state                                                           \
	}

#define fail() cmocka_fail(__FILE__, __LINE__, "failed")
#define fail_msg(...) cmocka_fail(__FILE__, __LINE__, __VA_ARGS__)
#define skip() cmocka_leave(CMOCKA_SKIPPED)
#define print_message(...) printf(__VA_ARGS__)
#define print_error(...) fprintf(stderr, __VA_ARGS__)
#define test_malloc(size) malloc(size)
#define test_calloc(n, size) calloc(n, size)
#define test_realloc(p, size) realloc(p, size)
#define test_free(p) free(p)

#define assert_true(c)                                                                             \
	do {                                                                                       \
		if (!(c))                                                                          \
			fail_msg("%s", #c);                                                        \
	} while (0)
#define assert_false(c) assert_true(!(c))
#define assert_null(p) assert_true((p) == NULL)
#define assert_non_null(p) assert_true((p) != NULL)
#define assert_ptr_equal(a, b) assert_true((const void *)(a) == (const void *)(b))
#define assert_ptr_not_equal(a, b) assert_true((const void *)(a) != (const void *)(b))
#define assert_return_code(r, error) assert_true((r) >= 0)

/* As in cmocka, both sides are compared as the widest unsigned integer. */
#define cmocka_compare(a, op, b)                                                                   \
	do {                                                                                       \
		uintmax_t a_ = (uintmax_t)(a), b_ = (uintmax_t)(b);                                \
		if (!(a_ op b_))                                                                   \
			fail_msg("%s " #op " %s: %#jx and %#jx", #a, #b, a_, b_);                  \
	} while (0)
#define assert_int_equal(a, b) cmocka_compare(a, ==, b)
#define assert_int_not_equal(a, b) cmocka_compare(a, !=, b)
#define assert_uint_equal(a, b) cmocka_compare(a, ==, b)
#define assert_in_range(v, low, high)                                                              \
	do {                                                                                       \
		cmocka_compare(v, >=, low);                                                        \
		cmocka_compare(v, <=, high);                                                       \
	} while (0)
#define assert_not_in_range(v, low, high)                                                          \
	assert_true((uintmax_t)(v) < (uintmax_t)(low) || (uintmax_t)(v) > (uintmax_t)(high))

#define assert_string_equal(a, b)                                                                  \
	do {                                                                                       \
		const char *a_ = (a), *b_ = (b);                                                   \
		if (strcmp(a_, b_))                                                                \
			fail_msg("\"%s\" is not \"%s\"", a_, b_);                                  \
	} while (0)
#define assert_string_not_equal(a, b) assert_true(strcmp(a, b))
#define assert_memory_equal(a, b, len) assert_true(!memcmp(a, b, len))
#define assert_memory_not_equal(a, b, len) assert_true(memcmp(a, b, len))

__attribute__((unused)) static enum cmocka_outcome cmocka_run(const struct CMUnitTest *t)
{
	void *state = t->initial_state;
	enum cmocka_outcome outcome;

	if (t->setup_func && t->setup_func(&state))
		return CMOCKA_FAILED;
	outcome = (enum cmocka_outcome)setjmp(cmocka_exit);
	if (outcome == CMOCKA_RAN)
		t->test_func(&state);
	if (t->teardown_func && t->teardown_func(&state))
		outcome = CMOCKA_FAILED;
	return outcome;
}

__attribute__((unused)) static int cmocka_run_all(const struct CMUnitTest *tests, size_t n,
						  CMFixtureFunction setup,
						  CMFixtureFunction teardown)
{
	static const char *const words[] = { "ok", "FAILED", "skipped" };
	void *state = NULL;
	int failed = 0;
	size_t i;

	if (setup && setup(&state))
		return 1;
	for (i = 0; i < n; i++) {
		struct CMUnitTest test = tests[i];
		enum cmocka_outcome outcome;

		if (!test.initial_state)
			test.initial_state = state;
		outcome = cmocka_run(&test);
		printf("%s: %s\n", test.name, words[outcome]);
		failed += outcome == CMOCKA_FAILED;
	}
	if (teardown && teardown(&state))
		failed++;
	return failed;
}

#define cmocka_run_group_tests(tests, setup, teardown)                                             \
	cmocka_run_all(tests, sizeof(tests) / sizeof((tests)[0]), setup, teardown)
#define cmocka_run_group_tests_name(name, tests, setup, teardown)                                  \
	cmocka_run_group_tests(tests, setup, teardown)

#endif
