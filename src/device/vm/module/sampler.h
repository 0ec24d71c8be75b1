/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sampler: a timer of each CPU that looks where the CPU is, or its counter of cycles (counter.h).
 *
 * The timer is bound to its CPU and runs in the interrupt itself. It goes off at a random moment of each period,
 * since a fixed one would meet a guest's own ticks again and again at the same point. CPUs that come
 * get one, those that go lose it.
 */
#ifndef KISEKI_DEVICE_VM_MODULE_SAMPLER_H
#define KISEKI_DEVICE_VM_MODULE_SAMPLER_H

#include <linux/types.h>

struct recorder;
struct recorder_cpu;

void sampler_init(struct recorder_cpu *cpu);

/* For who asks for samples: the length of the next period; a sample of the CPU that this runs on, in an interrupt. */
u64 sampler_next(struct recorder_cpu *cpu);
void sampler_take(struct recorder_cpu *cpu);

/* Says once of each CPU that its counter is gone. May sleep, and so does the kernel meanwhile
 * with CPUs that come or go. */
void sampler_look(struct recorder *r);

/* Both may sleep. */
int sampler_start(struct recorder *r);
void sampler_stop(struct recorder *r);

#endif
