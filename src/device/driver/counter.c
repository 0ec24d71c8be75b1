/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * counter: see counter.h.
 *
 * The machine's counter is believed only after a look: the frequency that firmware wrote into CNTFRQ
 * is wrong on some boards (their device tree says it right, but not to modules), and the TSC's is
 * measured once more in the first seconds after boot. Both are compared with the kernel's raw
 * monotonic clock over some milliseconds; a counter that differs by more than a percent is not used.
 * While a run lasts the two are compared again and again: what was right at load may be wrong
 * later.
 *
 * Behind local_clock() is a counter, too, often a slow one: its nanoseconds move in steps. A tick is
 * then the largest power of two of nanoseconds that is not above such a step. No two values of
 * the counter become one tick, and no stamp carries bits that say nothing.
 */
#include "device/driver/counter.h"

#include <linux/delay.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/sched/clock.h>
#include <linux/sort.h>
#include <linux/timekeeping.h>

#ifdef CONFIG_ARM64
#include <asm/arch_timer.h>
#include <clocksource/arm_arch_timer.h>
#elif defined(CONFIG_X86_64)
#include <asm/cpufeature.h>
#include <asm/msr.h>
#include <asm/tsc.h>
#endif

#define CHECK_US 10000U
#define CHECK_TRIES 8
#define CHECK_SHARE 100U		  /* may differ by 1 / this */
#define CHECK_LEAST_NS (NSEC_PER_SEC / 2) /* below it a percent is too little to be sure of */
#define SHIFT_MOST 32U			  /* up to which the kernel's 96-bit product is right */
#define STEPS 64U
#define STEP_LEAST_NS 8U /* below this, rounding and true steps cannot be told apart */
#define DROP_MOST 20U
#define TSC_SETTLES_NS (10 * (u64)NSEC_PER_SEC)

/* Only where it is known to be there: asked for at load, then for each event. */
static u64 read_raw(void)
{
#ifdef CONFIG_ARM64
	return arch_timer_read_counter();
#elif defined(CONFIG_X86_64)
	return rdtsc_ordered();
#else
	return 0;
#endif
}

/* Hz of a counter that is the same for all CPUs and never stops; 0: there is none. */
static u64 raw_frequency(const char **ret_name)
{
#ifdef CONFIG_ARM64
	*ret_name = "counter";
	return arch_timer_get_cntfrq();
#elif defined(CONFIG_X86_64)
	*ret_name = "x86-tsc";
	if (!boot_cpu_has(X86_FEATURE_CONSTANT_TSC) || !boot_cpu_has(X86_FEATURE_NONSTOP_TSC) ||
	    check_tsc_unstable())
		return 0;
	if (!boot_cpu_has(X86_FEATURE_TSC_KNOWN_FREQ) && ktime_get_boottime_ns() < TSC_SETTLES_NS)
		return 0;
	return (u64)tsc_khz * 1000;
#else
	return 0;
#endif
}

/* The counter and the clock at one moment: of several tries, that with the least between. */
static void read_both(u64 *ret_tick, u64 *ret_ns)
{
	u64 before, after, ns, least = U64_MAX;
	unsigned long irq;
	int i;

	for (i = 0; i < CHECK_TRIES; i++) {
		local_irq_save(irq);
		before = read_raw();
		ns = ktime_get_raw_ns();
		after = read_raw();
		local_irq_restore(irq);
		if (after - before >= least)
			continue;
		least = after - before;
		*ret_tick = before + least / 2;
		*ret_ns = ns;
	}
}

static bool runs_at(const struct counter *c)
{
	u64 tick[2] = { 0 }, ns[2] = { 0 }, counted, passed;

	read_both(&tick[0], &ns[0]);
	usleep_range(CHECK_US, 2 * CHECK_US);
	read_both(&tick[1], &ns[1]);
	counted = counter_to_ns(c, tick[1] - tick[0]);
	passed = ns[1] - ns[0];
	return (counted > passed ? counted - passed : passed - counted) <=
	       div_u64(passed, CHECK_SHARE);
}

/* The most exact mult that has 32 bits, in its smallest form. */
static void set_frequency(struct counter *c, u64 hz)
{
	u64 mult = div64_u64(((u64)NSEC_PER_SEC << SHIFT_MOST) + hz / 2, hz);

	c->shift = SHIFT_MOST;
	while (mult > U32_MAX) {
		mult = (mult + 1) >> 1;
		c->shift--;
	}
	while (c->shift && !(mult & 1)) {
		mult >>= 1;
		c->shift--;
	}
	c->mult = (u32)mult;
}

static int by_value(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return (x > y) - (x < y);
}

/* Steps of the clock are multiples of its counter's period, rounded to nanoseconds: those that differ by
 * one are the same multiple, and the least distance between two multiples is the period. */
static u32 period_of(u32 *step, u32 n)
{
	u32 period = U32_MAX, multiple = 0, i;

	sort(step, n, sizeof(*step), by_value, NULL);
	for (i = 0; i < n; i++) {
		if (step[i] - multiple > 1)
			period = min(period, step[i] - multiple);
		if (step[i] - multiple > 1 || !i)
			multiple = step[i];
	}
	return period == U32_MAX ? 0 : period;
}

static u32 find_drop(void)
{
	u32 step[STEPS], period, drop = 0, i;
	u64 last, now;
	unsigned long irq;

	local_irq_save(irq);
	last = local_clock();
	for (i = 0; i < STEPS; i++) {
		now = local_clock();
		step[i] = (u32)min_t(u64, now - last, U32_MAX);
		last = now;
	}
	local_irq_restore(irq);
	period = period_of(step, STEPS);
	if (period < STEP_LEAST_NS)
		return 0;
	/* A distance between rounded numbers may be one too large. */
	while (drop < DROP_MOST && 2U << drop <= period - 1)
		drop++;
	return drop;
}

/* The kernel has found out that it goes wrong. */
static bool is_unstable(void)
{
#ifdef CONFIG_X86_64
	return check_tsc_unstable();
#else
	return false;
#endif
}

static bool agrees(const struct counter *c, u64 tick, u64 ns)
{
	u64 passed = ns - c->seen_ns, counted = counter_to_ns(c, tick - c->seen_tick);

	return tick >= c->seen_tick && (counted > passed ? counted - passed : passed - counted) <=
					       div_u64(passed, CHECK_SHARE);
}

bool counter_is_right(struct counter *c)
{
	u64 tick = 0, ns = 0;
	int tries;

	if (!c->raw)
		return true;
	if (is_unstable())
		return false;
	/* A virtual CPU may be stopped between the two looks, but not each time. */
	for (tries = 0; tries < CHECK_TRIES; tries++) {
		read_both(&tick, &ns);
		if (ns - c->seen_ns < CHECK_LEAST_NS)
			return true;
		if (!agrees(c, tick, ns))
			continue;
		c->seen_tick = tick;
		c->seen_ns = ns;
		return true;
	}
	return false;
}

int counter_init(struct counter *c)
{
	u32 generation = c->generation + 1;
	u64 hz;

	memset(c, 0, sizeof(*c));
	c->generation = generation;
	hz = raw_frequency(&c->name);
	if (hz) {
		set_frequency(c, hz);
		c->raw = runs_at(c);
	}
	if (c->raw) {
		read_both(&c->seen_tick, &c->seen_ns);
		return 0;
	}
	c->name = "local";
	c->drop = find_drop();
	c->mult = 1U << c->drop;
	c->shift = 0;
	return 0;
}

u64 counter_read(const struct counter *c)
{
	return c->raw ? read_raw() : local_clock() >> c->drop;
}

u64 counter_to_ns(const struct counter *c, u64 tick)
{
	return mul_u64_u32_shr(tick, c->mult, c->shift);
}

/* (ns << shift) / mult: what is left of a division by a number of 32 bits has room for the shift. */
u64 counter_from_ns(const struct counter *c, u64 ns)
{
	u32 rest;
	u64 whole = div_u64_rem(ns, c->mult, &rest);

	return (whole << c->shift) + div_u64((u64)rest << c->shift, c->mult);
}
