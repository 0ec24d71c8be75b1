/* SPDX-License-Identifier: MIT */
/* call_slices: the vector of docs/format/calls-slices.md byte for byte, and the limits. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/call_slices.h"
#include "tools/func_script.h"
#include "tools/vector.h"
#include "wire/varint.h"

/* Two threads with calls and one without. */
static const char script[] = "process 10 demo\n"
			     "thread 10 demo\n"
			     "thread 11 worker\n"
			     "process 20 other\n"
			     "thread 20 other\n"
			     "1000 10 > main\n"
			     "1100 10 > f\n"
			     "1200 10 > g\n"
			     "1201 10 < g\n"
			     "1250 11 > work\n"
			     "1400 10 < f\n"
			     "1450 10 > f\n"
			     "1460 10 > g\n"
			     "1500 11 < work\n"
			     "1700 10 < f\n"
			     "1750 11 > work\n"
			     "1800 10 > f\n"
			     "1900 11 lost 3\n"
			     "2500 10 < f\n"
			     "2600 10 < main\n"
			     "2600 20 > main\n";

static struct func_source *source;
static struct call_names *names;

static int open_all(void **state)
{
	struct error e = ERROR_INIT;

	(void)state;
	return func_script_new(&source, script, &e) < 0 ||
	       call_names_new(&names, source, NULL, &e) < 0;
}

static int close_all(void **state)
{
	(void)state;
	call_names_free(names);
	func_source_free(source);
	return 0;
}

static int make(const struct call_window *window, const struct call_slices_options *o,
		uint8_t **ret, size_t *ret_len, struct error *e)
{
	struct call_walk walk = { .source = source, .names = names, .window = window };
	struct call_slices *s = NULL;
	int r;

	assert_int_equal(source->ops->rewind(source, e), 0);
	r = call_slices_new(&s, &walk, o, e);
	if (r >= 0)
		r = call_slices_encode(s, ret, ret_len, e);
	call_slices_free(s);
	return r;
}

static void is_the_vector(void **state)
{
	const struct call_window window = { .from_ns = 1150, .to_ns = 2000 };
	const struct call_slices_options o = {
		.min_ns = 50, .limit = 100, .final = true, .join = { 7, -300 }
	};
	static uint8_t wanted[4096];
	static struct vector v;
	struct error e = ERROR_INIT;
	uint8_t *made = NULL;
	size_t len = 0, wanted_len, i;

	(void)state;
	assert_int_equal(make(&window, &o, &made, &len, &e), 0);
	vector_open(&v, "calls-slices.txt");
	wanted_len = vector_bytes(&v, wanted, sizeof(wanted));
	if (len != wanted_len || memcmp(made, wanted, len)) {
		for (i = 0; i < len; i++)
			fprintf(stderr, "%02x ", made[i]);
		fail_msg("other bytes than the vector's; made were those above");
	}
	free(made);
}

/* How many spans there are, and how many were left out. */
static void count(const uint8_t *bytes, size_t len, uint64_t *ret_spans, uint64_t *ret_left)
{
	struct byte_reader r;
	uint64_t n, spans;

	reader_init(&r, bytes + 4, len - 4);
	for (n = 0; n < 6; n++)
		reader_varint(&r);
	*ret_left = reader_varint(&r);
	for (n = reader_varint(&r) * 2; n; n--)
		reader_bytes(&r, reader_varint(&r));
	*ret_spans = 0;
	for (n = reader_varint(&r); n; n--) {
		reader_varint(&r);
		reader_varint(&r);
		reader_varint(&r);
		reader_varint(&r);
		reader_bytes(&r, reader_varint(&r));
		spans = reader_varint(&r);
		*ret_spans += spans;
		for (; spans; spans--) {
			reader_varint(&r);
			reader_varint(&r);
			reader_varint(&r);
			reader_varint(&r);
		}
	}
	assert_false(r.bad);
	assert_int_equal(reader_left(&r), 0);
}

/* Whatever is left out is counted: both together are all calls. */
static void counts_what_is_left_out(void **state)
{
	const struct call_window window = { .from_ns = 0, .to_ns = 10000 };
	static const uint64_t min_ns[] = { 0, 1, 2, 100, 250, 700, 1600, 100000 };
	struct call_slices_options o = { .limit = 100 };
	struct error e = ERROR_INIT;
	uint64_t spans, left, before = 100;
	uint8_t *made;
	size_t len, i;

	(void)state;
	for (i = 0; i < sizeof(min_ns) / sizeof(min_ns[0]); i++) {
		o.min_ns = min_ns[i];
		made = NULL;
		assert_int_equal(make(&window, &o, &made, &len, &e), 0);
		count(made, len, &spans, &left);
		assert_int_equal(spans + left, 9);
		assert_true(spans <= before);
		before = spans;
		free(made);
	}
	assert_int_equal(before, 0);
}

static void refuses_too_many(void **state)
{
	const struct call_window window = { .from_ns = 0, .to_ns = 10000 };
	struct call_slices_options o = { .limit = 8 };
	struct error e = ERROR_INIT;
	uint8_t *made = NULL;
	size_t len;

	(void)state;
	assert_int_equal(make(&window, &o, &made, &len, &e), -E2BIG);
	assert_non_null(strstr(e.text, "more than 8 calls of 0 ns"));
	o.limit = 9;
	assert_int_equal(make(&window, &o, &made, &len, &e), 0);
	free(made);
	/* Those that are too short do not count. */
	made = NULL;
	o.limit = 8;
	o.min_ns = 1;
	assert_int_equal(make(&window, &o, &made, &len, &e), 0);
	free(made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_the_vector),
		cmocka_unit_test(counts_what_is_left_out),
		cmocka_unit_test(refuses_too_many),
	};

	return cmocka_run_group_tests(tests, open_all, close_all);
}
