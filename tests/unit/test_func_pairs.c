/* SPDX-License-Identifier: MIT */
/* func_pairs: the line of a counter, and which pairs are told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "device/feed/func_pairs.h"
#include "wire/varint.h"

static struct func_traced_header header;

static void add(uint64_t tick, uint64_t ns)
{
	uint32_t n = get_le32(header.bytes + FUNC_BUFFER_AT_SYNC_NEXT);
	uint8_t *p = header.bytes + FUNC_BUFFER_AT_SYNC + 16 * (size_t)(n % FUNC_BUFFER_SYNCS);

	put_le64(p, tick);
	put_le64(p + 8, ns);
	put_le32(header.bytes + FUNC_BUFFER_AT_SYNC_NEXT, n + 1);
}

/* What the line says, with more bits than it needs. */
static uint64_t ns_of(const struct meta_clock *c, uint64_t tick)
{
	long double ns = (long double)tick * c->mult;
	uint32_t i;

	for (i = 0; i < c->shift; i++)
		ns /= 2;
	return c->base_ns + (uint64_t)ns;
}

static void makes_a_line(void **state)
{
	static const uint64_t rates[] = { 24000000, 62500000, 1000000000, 1050000000, 3400000000 };
	struct func_traced t = { .clock = FUNC_CLOCK_COUNTER };
	struct func_pairs p;
	uint64_t tick, off, ns;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		memset(&header, 0, sizeof(header));
		t.tick_hz = rates[i];
		tick = rates[i] * 100;
		add(tick, 5000000000);
		func_pairs_init(&p, &t, &header);
		ns = ns_of(&p.line, tick);
		off = ns > 5000000000 ? ns - 5000000000 : 5000000000 - ns;
		assert_true(off < 100);
		ns = ns_of(&p.line, tick + rates[i] * 1000); /* after a quarter of an hour */
		off = ns > 1005000000000 ? ns - 1005000000000 : 1005000000000 - ns;
		assert_true(off < 2000);
		assert_true(p.line.has_realtime);
	}
	t.clock = FUNC_CLOCK_MONOTONIC;
	t.shift = 3;
	func_pairs_init(&p, &t, &header);
	assert_int_equal(p.line.mult, 8);
	assert_int_equal(p.line.shift, 0);
	assert_false(func_pairs_next(&p, &header)); /* it needs none */
	/* A rate that cannot be is that of nanoseconds. */
	t.clock = FUNC_CLOCK_COUNTER;
	t.tick_hz = 0;
	func_pairs_init(&p, &t, &header);
	assert_int_equal(p.hz, 1000000000);
}

static void tells_pairs_that_fit(void **state)
{
	struct func_traced t = { .clock = FUNC_CLOCK_COUNTER, .tick_hz = 1000000000 };
	uint64_t now = clock_mono_ns(), ns = now > 20000000000 ? now - 20000000000 : 1000;
	struct func_pairs p;

	(void)state;
	memset(&header, 0, sizeof(header));
	func_pairs_init(&p, &t, &header);
	assert_false(func_pairs_next(&p, &header));
	add(1000, ns);
	assert_true(func_pairs_next(&p, &header));
	assert_false(func_pairs_next(&p, &header));
	if (now <= 20000000000)
		return;			/* a machine that was just started has no past to tell of */
	add(500001000, ns + 500000000); /* too soon */
	assert_false(func_pairs_next(&p, &header));
	add(1200001000, ns + 1200000000);
	assert_true(func_pairs_next(&p, &header));
	add(2500001000, ns + 3000000000); /* interrupted */
	assert_false(func_pairs_next(&p, &header));
	add(1100001000, ns + 4000000000); /* backwards */
	assert_false(func_pairs_next(&p, &header));
	add(UINT64_MAX, now + 1000000000000); /* of the future */
	assert_false(func_pairs_next(&p, &header));
	add(3000001000, ns + 3000000300);
	assert_true(func_pairs_next(&p, &header));
	assert_int_equal(p.tick, 3000001000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(makes_a_line),
		cmocka_unit_test(tells_pairs_that_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
