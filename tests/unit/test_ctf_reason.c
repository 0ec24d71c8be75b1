/* SPDX-License-Identifier: MIT */
/* libbabeltrace2's log and causes as reasons for people. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "convert/ctf_reason.h"

static void check_tidy(const char *in, const char *expected)
{
	char text[256];

	strcpy(text, in);
	ctf_reason_tidy(text);
	assert_string_equal(text, expected);
}

static void test_tidy(void **state)
{
	(void)state;
	check_tidy("", "");
	check_tidy("nothing to cut", "nothing to cut");
	check_tidy("Invalid size: msg-it-addr=0xaa, field-addr=(nil), size=5",
		   "Invalid size: size=5");
	check_tidy("Cannot create it: mdec-addr=0xaaab058b41f0", "Cannot create it");
	check_tidy("-addr=", "");
	check_tidy("x-addr=y-addr=z", "");
}

static bool from_log(const char *log, char *ret, size_t size)
{
	int fd = memfd_create("log", 0);
	bool r;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, log, strlen(log)), strlen(log));
	r = ctf_reason_from_log(fd, ret, size);
	close(fd);
	return r;
}

static void test_log(void **state)
{
	char text[64];

	(void)state;
	assert_true(from_log("11-15 02:30:13.722 1 1 E PLUGIN/CTF yyerror@parser.y:943 At line 61\n"
			     "11-15 02:30:13.722 1 1 E PLUGIN other@other.c:1 Later\n",
			     text, sizeof(text)));
	assert_string_equal(text, "At line 61");
	assert_true(from_log("d t 1 1 E M f@fs.c:803 [in] Failed: a-addr=0x1", text, sizeof(text)));
	assert_string_equal(text, "Failed");
	assert_true(from_log("d t 1 1 F M f@fs.c:803 Failed", text, 4));
	assert_string_equal(text, "Fai");
	assert_true(from_log("d t 1 1 E M f@fs.c:803 [in Failed", text, sizeof(text)));
	assert_string_equal(text, "[in Failed");
	assert_false(from_log("d t 1 1 E M f@fs.c:803 Failed", text, 0));
	assert_false(from_log("", text, sizeof(text)));
	assert_false(from_log("no such line", text, sizeof(text)));
	assert_false(from_log("f@x", text, sizeof(text)));
	assert_false(from_log("f@x:1 ", text, sizeof(text)));
}

/* What the library only warns of, it gets over: the reason is another one. */
static void test_warnings(void **state)
{
	char text[64];

	(void)state;
	assert_false(
		from_log("d t 1 1 W M f@fs.c:803 Invalid LTTng trace index\n", text, sizeof(text)));
	assert_true(from_log("d t 1 1 W M f@fs.c:803 Invalid LTTng trace index\n"
			     "d t 1 1 W M f@fs.c:803 Invalid packet size\n"
			     "d t 1 1 E M f@fs.c:9 Failed to index\n",
			     text, sizeof(text)));
	assert_string_equal(text, "Invalid packet size");
	assert_false(from_log("d t E@f x", text, sizeof(text)));
	assert_true(from_log("\n(process:1): GLib-ERROR **: 02:00:00.000: "
			     "../gmem.c:136: failed to allocate 8589934592 bytes\n",
			     text, sizeof(text)));
	assert_string_equal(text, "its reader ran out of the memory that it may use");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tidy),
		cmocka_unit_test(test_log),
		cmocka_unit_test(test_warnings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
