/* SPDX-License-Identifier: MIT */
/*
 * fuzz_ticks: any eight-byte little-endian stamps. A counter that is said to be found must hold
 * for 199 of 200 of them exactly, and every stamp must be within a tick of its grid.
 */
#include <stdlib.h>

#include "convert/ticks.h"

#define STAMPS_MAX 512U

static uint64_t stamp_at(const uint8_t *p)
{
	uint64_t v = 0;
	int i;

	for (i = 7; i >= 0; i--)
		v = v << 8 | p[i];
	return v;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t n = size / 8 < STAMPS_MAX ? size / 8 : STAMPS_MAX, i, off = 0;
	struct ticks *t = ticks_new();
	struct trace_clock c;
	bool found;

	if (!t)
		return 0;
	for (i = 0; i < n; i++)
		ticks_feed(t, stamp_at(data + 8 * i));
	clock_init(&c);
	found = ticks_decide(t, &c);
	for (i = 0; i < n; i++) {
		uint64_t ns = stamp_at(data + 8 * i);
		int64_t rest = (int64_t)(ns - clock_ns(&c, clock_tick_near(&c, ns)));

		off += rest != 0;
		if (rest > (int64_t)c.mult >> c.shift || rest < -(int64_t)c.mult)
			abort();
	}
	if (off * 200 > n || (!found && off))
		abort();
	ticks_free(t);
	return 0;
}
