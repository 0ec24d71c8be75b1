/* SPDX-License-Identifier: MIT */
/*
 * vm_clock: runs a program of BPF on each CPU, in its timer's interrupt, at a period that varies.
 *
 * A perf event keeps its period until it is told another one. So the period is drawn anew whenever the rings are read, from
 * its whole range; between two of those moments the samples of a CPU are evenly spaced.
 */
#ifndef KISEKI_DEVICE_VM_VM_CLOCK_H
#define KISEKI_DEVICE_VM_VM_CLOCK_H

#include <stdint.h>

#include "base/error.h"
#include "device/vm/core/vm_settings.h"

struct vm_clock {
	int *fds; /* of each CPU; negative: it is off */
	uint32_t n;
	uint32_t period_ns, jitter;
	uint64_t random;
	uint64_t changed_ns; /* when it was last drawn; 0: it has to be */
};

int vm_clock_open(struct vm_clock *c, const struct vm_settings *s, int program, struct error *e);
void vm_clock_close(struct vm_clock *c);

/* Another period on each CPU, from here on. */
void vm_clock_change(struct vm_clock *c);

#endif
