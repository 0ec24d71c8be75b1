/* SPDX-License-Identifier: MIT */
/* text_lines: lines of a file that is read bit by bit, also those that no buffer holds. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "convert/text_lines.h"

#define LONG (400U << 10) /* more than the buffer starts with */

static struct text_lines lines;

static void expect(const char *text, size_t len, bool torn)
{
	struct error e = ERROR_INIT;
	struct text_line line;

	if (text_lines_next(&lines, &line, &e) != 1)
		fail_msg("no line: %s", e.text);
	assert_int_equal(line.len, len);
	assert_memory_equal(line.text, text, len);
	assert_int_equal(line.torn, torn);
}

static void expect_end(void)
{
	struct text_line line;

	assert_int_equal(text_lines_next(&lines, &line, NULL), 0);
}

/* Of a line without an end a first part is given, and the rest dropped: once the buffer slides. */
static void test_long(void **state)
{
	static char text[LONG];
	int fd = memfd_create("text", MFD_CLOEXEC);

	(void)state;
	memset(text, 'x', sizeof(text));
	assert_int_equal(write(fd, "first\n", 6), 6);
	assert_int_equal(write(fd, text, sizeof(text)), sizeof(text));
	assert_int_equal(write(fd, "\nlast\r\n", 7), 7);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	text_lines_init_fd(&lines, fd);
	expect("first", 5, false);
	assert_int_equal(text_lines_rewind(&lines), 0);
	expect("first", 5, false);
	expect(text, (128U << 10) - 6, true);
	expect("last", 4, false);
	assert_int_equal(lines.line_no, 3);
	expect_end();
	assert_int_equal(text_lines_rewind(&lines), -ESPIPE);
	text_lines_done(&lines);
}

/* Bit by bit: from the first bytes on nothing leaves the buffer that is not a whole line. */
static void test_bits(void **state)
{
	int ends[2];

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	text_lines_init_fd(&lines, ends[0]);
	assert_int_equal(text_lines_rewind(&lines), 0);
	assert_int_equal(write(ends[1], "on", 2), 2);
	lines.no_wait = true;
	expect_end();
	lines.no_wait = false;
	assert_int_equal(write(ends[1], "e\ntw", 4), 4);
	expect("one", 3, false);
	assert_int_equal(write(ends[1], "o", 1), 1);
	close(ends[1]);
	expect("two", 3, true);
	assert_int_equal(text_lines_offset(&lines), 7);
	expect_end();
	text_lines_done(&lines);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
