/* SPDX-License-Identifier: MIT */
/*
 * idle_watch: has the machine been idle for so long?
 *
 * Second by second: in an idle one the CPUs, the recorder's own time aside, were busy for less than a twentieth,
 * nobody waited for a disk at its end, and fewer than a handful of processes were started in it.
 */
#ifndef KISEKI_DEVICE_BOOT_IDLE_WATCH_H
#define KISEKI_DEVICE_BOOT_IDLE_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "device/boot/machine_stat.h"

#define IDLE_FORKS_MOST 4U

struct idle_watch {
	uint64_t second_ns; /* when the one under way ends; 0: none was begun */
	uint64_t busy, all, forks, own_ns;
	uint64_t idle_ns; /* for so long by now */
};

/* own_ns: CPU time of the recorder; tick_ns: of the numbers in *m. True if a second has ended: idle_ns is new. */
bool idle_watch_take(struct idle_watch *w, const struct machine_stat *m, uint64_t tick_ns,
		     uint64_t own_ns, uint64_t now_ns);

#endif
