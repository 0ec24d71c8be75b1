/* SPDX-License-Identifier: MIT */
/* sse: the examples of the format, every way to cut them into pieces, and the ceilings. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/sse.h"

struct seen {
	char text[4096];
	int events, stop_at;
};

static int note(void *context, const char *name, const char *data, size_t len, struct error *e)
{
	struct seen *s = context;

	(void)e;
	assert_int_equal(strlen(data), len);
	snprintf(s->text + strlen(s->text), sizeof(s->text) - strlen(s->text), "%s=%s;", name,
		 data);
	return ++s->events == s->stop_at ? 7 : 0;
}

static void gives(const char *in, const char *want)
{
	struct error e = ERROR_INIT;
	size_t len = strlen(in), piece, at;

	for (piece = 1; piece <= len + 1; piece++) {
		struct seen seen = { .stop_at = -1 };
		struct sse s;

		sse_init(&s, note, &seen);
		for (at = 0; at < len; at += piece)
			assert_int_equal(sse_push(&s, in + at, len - at < piece ? len - at : piece,
						  &e),
					 0);
		sse_done(&s);
		if (strcmp(seen.text, want))
			fail_msg("in pieces of %zu: %s", piece, seen.text);
	}
}

static void test_format(void **state)
{
	(void)state;
	gives("data: a\n\n", "message=a;");
	gives("event: x\ndata: a\n\ndata: b\n\n", "x=a;message=b;");
	gives("data: a\ndata:b\ndata\n\n", "message=a\nb\n;");
	gives("data:  two blanks\n\n", "message= two blanks;");
	gives("data: a\r\ndata: b\r\rdata: c\n\n", "message=a\nb;message=c;");
	gives("\xef\xbb\xbf"
	      "data: a\n\n",
	      "message=a;");
	gives(": comment\n\n:\n\nevent: lone\n\ndata: a\n\n", "message=a;");
	gives("id: 7\nretry: 10\nunknown: x\ndata: a\n\n", "message=a;");
	gives("data: not whole\n", "");
	gives("data\n\n", "message=;");
	gives("\n\n\n", "");
	gives("Data: a\n data: b\n\n", "");
	gives("event: x\nevent: y\ndata: {\"a\": 1}\n\n", "y={\"a\": 1};");
}

static void test_stop(void **state)
{
	struct seen seen = { .stop_at = 2 };
	struct error e = ERROR_INIT;
	struct sse s;

	(void)state;
	sse_init(&s, note, &seen);
	assert_int_equal(sse_push(&s, "data: 1\n\ndata: 2\n\ndata: 3\n\n", 27, &e), 7);
	assert_int_equal(seen.events, 2);
	sse_done(&s);
}

static void test_ceilings(void **state)
{
	char *big = malloc(SSE_LINE_MAX + 2);
	struct seen seen = { .stop_at = -1 };
	struct error e = ERROR_INIT;
	struct sse s;
	size_t left;
	int r = 0, n;

	(void)state;
	memset(big, 'x', SSE_LINE_MAX + 1);
	sse_init(&s, note, &seen);
	assert_int_equal(sse_push(&s, big, SSE_LINE_MAX, &e), 0);
	assert_int_equal(sse_push(&s, big, 1, &e), -E2BIG);
	sse_done(&s);
	sse_init(&s, note, &seen);
	big[SSE_LINE_MAX] = '\n';
	assert_int_equal(sse_push(&s, big, SSE_LINE_MAX + 1, &e), 0);
	sse_done(&s);
	sse_init(&s, note, &seen);
	memcpy(big, "data:", 5);
	for (n = 0; n < 100 && r == 0; n++)
		r = sse_push(&s, big, SSE_LINE_MAX + 1, &e);
	assert_int_equal(r, -E2BIG);
	assert_true(s.data.len <= SSE_DATA_MAX);
	sse_done(&s);
	sse_init(&s, note, &seen);
	for (n = 0, left = SSE_DATA_MAX; left > 1; n++) { /* full to the last byte */
		size_t len = left - (n > 0) < SSE_LINE_MAX - 5 ? left - (n > 0) : SSE_LINE_MAX - 5;

		big[len + 5] = '\n';
		assert_int_equal(sse_push(&s, big, len + 6, &e), 0);
		big[len + 5] = 'x';
		left -= len + (n > 0);
	}
	assert_int_equal(s.data.len, SSE_DATA_MAX);
	assert_int_equal(sse_push(&s, "data:\n", 6, &e), -E2BIG);
	sse_done(&s);
	sse_init(&s, note, &seen);
	memset(big, 'x', SSE_LINE_MAX + 1);
	big[SSE_LINE_MAX + 1] = '\n';
	assert_int_equal(sse_push(&s, big, SSE_LINE_MAX + 2, &e), -E2BIG);
	sse_done(&s);
	sse_init(&s, note, &seen);
	assert_int_equal(sse_push(&s, big, 2, &e), 0);
	assert_int_equal(sse_push(&s, big + 2, SSE_LINE_MAX, &e), -E2BIG);
	sse_done(&s);
	free(big);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_format),
		cmocka_unit_test(test_stop),
		cmocka_unit_test(test_ceilings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
