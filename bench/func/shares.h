/* SPDX-License-Identifier: MIT */
/*
 * shares: what `rtc` makes of each field of its records, as the paper's Table 2 has it, and how fast.
 *
 * The input is records with ids in memory, as the paper's hardware got them; a table of addresses
 * and block headers are not counted here, but in stage_rtc.c.
 */
#ifndef KISEKI_BENCH_FUNC_SHARES_H
#define KISEKI_BENCH_FUNC_SHARES_H

#include "../stopwatch.h"
#include "recording.h"

struct shares {
	uint64_t records;
	uint64_t carries;
	/* Bits before and after; a function has 16, its start/end bit is not counted, nor is the
	 * class bit: so counts the paper. */
	uint64_t time_in, time_out;
	uint64_t function_in, function_out;
	/* Every bit. */
	uint64_t in, out;
	uint64_t encode_ns, decode_ns;
};

/* `tick_ns` 0: times are ticks as they are; else they are divided to become units of 10 ns. 0, or a
 * negative errno: memory, more than 65536 functions, or a record that did not come back. */
int shares_measure(const struct recording *r, double tick_ns, const struct stopwatch *watch,
		   struct shares *ret);

#endif
