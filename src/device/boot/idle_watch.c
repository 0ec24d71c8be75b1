/* SPDX-License-Identifier: MIT */
/* idle_watch: see idle_watch.h. */
#include "device/boot/idle_watch.h"

#include "base/clock.h"
#include "wire/boot_event.h"

#define BUSY_PART 20U

static bool is_idle_time(uint32_t i)
{
	return i == BOOT_CPU_IDLE || i == BOOT_CPU_IOWAIT;
}

static void begin(struct idle_watch *w, const struct machine_stat *m, uint64_t own_ns,
		  uint64_t now_ns)
{
	uint32_t i;

	w->busy = w->all = 0;
	for (i = 0; i < CPU_TIMES; i++) {
		w->all += m->times[i];
		w->busy += is_idle_time(i) ? 0 : m->times[i];
	}
	w->forks = m->forks;
	w->own_ns = own_ns;
	w->second_ns = now_ns + CLOCK_NS_PER_S;
}

bool idle_watch_take(struct idle_watch *w, const struct machine_stat *m, uint64_t tick_ns,
		     uint64_t own_ns, uint64_t now_ns)
{
	struct idle_watch before = *w;
	uint64_t busy_ns, all_ns, own;
	bool is_idle;

	if (before.second_ns && now_ns < before.second_ns)
		return false;
	begin(w, m, own_ns, now_ns);
	if (!before.second_ns)
		return false;
	own = own_ns - before.own_ns;
	busy_ns = (w->busy - before.busy) * tick_ns;
	busy_ns = busy_ns > own ? busy_ns - own : 0;
	all_ns = (w->all - before.all) * tick_ns;
	is_idle = busy_ns * BUSY_PART < all_ns && !m->blocked &&
		  w->forks - before.forks <= IDLE_FORKS_MOST;
	w->idle_ns = is_idle ? before.idle_ns + now_ns - (before.second_ns - CLOCK_NS_PER_S) : 0;
	return true;
}
