/* SPDX-License-Identifier: MIT */
/*
 * clock: what a tick of a trace is.
 *
 * ns(tick) = base_ns + (tick * mult >> shift), the kernel's own arithmetic, so a counter's ticks
 * give back the very nanoseconds the kernel printed. A source that knows only nanoseconds has
 * mult 1, shift 0, base 0: then ticks are nanoseconds.
 *
 * A clock that counts something of unknown length (x86-tsc without its rate,
 * counter) has no decimals: ns() gives ticks then, which are no time. Whoever knows the rate sets it.
 */
#ifndef KISEKI_TRACE_CLOCK_H
#define KISEKI_TRACE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/sched_event.h"

#define TRACE_CLOCK_NAME_LEN 24

struct trace_clock {
	char name[TRACE_CLOCK_NAME_LEN]; /* the kernel's trace clock: local, mono, boot, … */
	uint32_t mult;
	uint32_t shift; /* at most 63 */
	uint64_t base_ns;
	uint32_t print_digits;	 /* 6: stamps are whole microseconds (text); 0: no time; else 9 */
	bool has_realtime;	 /* are the next two known? */
	int64_t realtime_off_ns; /* CLOCK_REALTIME - this clock */
	uint64_t realtime_err_ns;
	/* The above is a collector's real time, which nobody sets in the middle of a boot. What the device itself took for
	 * the real time when the trace began is then here, if that is known. */
	bool is_measured, has_own;
	int64_t own_off_ns;
};

void clock_init(struct trace_clock *c); /* nanoseconds of an unnamed clock */
uint64_t clock_ns(const struct trace_clock *c, uint64_t tick);

/* Its ticks have no known length. */
static inline bool clock_is_ticks(const struct trace_clock *c)
{
	return c->print_digits == 0;
}

/* A kernel's clock that counts no nanoseconds. */
bool clock_name_is_ticks(const char *name);

/* So many ticks are a second; from 1 to CLOCK_HZ_MAX. */
#define CLOCK_HZ_MAX 1000000000000ULL
void clock_set_rate(struct trace_clock *c, uint64_t hz);

/* "2.5G", "1200MHz", "50000000". 0 or -EINVAL. */
int clock_parse_rate(const char *text, uint64_t *ret);

/* The smallest tick whose nanoseconds are >= ns. */
uint64_t clock_tick_at(const struct trace_clock *c, uint64_t ns);

/* The tick whose nanoseconds are ns, else the one nearest to it; 0 for all before base_ns. */
uint64_t clock_tick_near(const struct trace_clock *c, uint64_t ns);

/* (ns << shift) / mult and the rest of that division; UINT64_MAX where it does not fit. mult is not
 * 0, shift at most 63. */
uint64_t clock_divide(uint64_t ns, uint32_t mult, uint32_t shift, uint32_t *ret_rest);

/* A collector has found out what its real time is on this clock. */
void clock_set_measured(struct trace_clock *c, int64_t off_ns, uint64_t err_ns);

/* The device's own CLOCK_REALTIME - this clock when the trace began. False: it is not known. */
bool clock_get_own(const struct trace_clock *c, int64_t *ret_off_ns);

static inline uint64_t clock_event_ns(const struct trace_clock *c, const struct sched_event *e)
{
	return clock_ns(c, e->tick) + (uint64_t)(int64_t)e->tick_off_ns;
}

#endif
