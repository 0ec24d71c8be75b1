/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * counter: a CPU's own counter of cycles, which asks for a sample each time it has counted so many.
 *
 * Where its interrupt cannot be held off by others (x86), nothing may be recorded in it; then it asks for another
 * interrupt, which comes as soon as it may, while the guest that was left is still known.
 */
#ifndef KISEKI_DEVICE_VM_MODULE_COUNTER_H
#define KISEKI_DEVICE_VM_MODULE_COUNTER_H

#include <linux/types.h>

struct recorder_cpu;

void counter_init(struct recorder_cpu *cpu);

/* Both may sleep. -ENOENT and the like: this CPU has none. */
int counter_start(struct recorder_cpu *cpu, unsigned int number);
void counter_stop(struct recorder_cpu *cpu);

/* The kernel has given the CPU's counters to somebody else, and this one counts no more. */
bool counter_is_dead(const struct recorder_cpu *cpu);

#endif
