/* SPDX-License-Identifier: MIT */
/*
 * perf_events: the kernel's sampling, set up: an event for each CPU, or for each thread of some processes and each CPU,
 * and a ring for each CPU that all of its events write into.
 *
 * What the kernel does not let this user have, or does not know yet, is left out, as far as a profile makes sense
 * without it; `note` then has a line about it. Nothing counts before perf_events_start(), or before the command
 * executes its program.
 *
 * The period. A fixed one locks to whatever the machine does at a fixed rate, such as its own tick. Where all of a CPU
 * is sampled by the clock, it is changed at random each time the rings are emptied, uniformly within half of it either
 * way, and a sample has the weight of the period that it ended. Events that tasks inherit keep the period
 * that they were made with, so there it is a little longer than was asked for, which no usual rate is a multiple of.
 */
#ifndef KISEKI_DEVICE_PROFILE_PERF_EVENTS_H
#define KISEKI_DEVICE_PROFILE_PERF_EVENTS_H

#include <sys/types.h>

#include "base/cleanup.h"
#include "device/profile/perf_record.h"
#include "device/profile/perf_rings.h"
#include "device/profile/profile_settings.h"
#include "wire/sample_meta.h"

#define PERF_EVENTS_MAX 65536U
#define PERF_EVENTS_JITTER 50U /* percent, either way */

struct perf_events;

/* command: a process that waits to be executed, or 0. */
int perf_events_open(struct perf_events **ret, const struct profile_settings *s, pid_t command,
		     struct error *e);
void perf_events_free(struct perf_events *p);
DEFINE_CLEANUP(perf_events, perf_events_free)

/* Starts those that no exec starts; stops all. */
int perf_events_start(struct perf_events *p, bool is_paused, struct error *e);
void perf_events_stop(struct perf_events *p);

/* No samples from here on, or some again. Tasks and mappings are told all the time. */
void perf_events_pause(struct perf_events *p, bool on);

/* Another mean, of all CPUs; the next change draws from it. */
void perf_events_set_period(struct perf_events *p, uint64_t period_ns);

/* Another period from here on, where that is done. */
void perf_events_change_period(struct perf_events *p, uint64_t now);

/* What a sample of this ring stands for; of each ring in order of time. */
uint64_t perf_events_get_weight(struct perf_events *p, uint32_t ring, const struct perf_record *r);

/* Samples of this ring are missing: the next one does not stand for them. */
void perf_events_forget(struct perf_events *p, uint32_t ring);

/* Borrowed. */
struct perf_rings *perf_events_get_rings(struct perf_events *p);
const char *perf_events_get_note(const struct perf_events *p); /* "" or a line */

/* How it samples. */
void perf_events_get_sampling(const struct perf_events *p, struct sample_sampling *ret);
bool perf_events_has_chains(const struct perf_events *p);
bool perf_events_has_kernel(const struct perf_events *p);
bool perf_events_is_cycles(const struct perf_events *p);

/* ns that the kernel needs for one sample; 0: not known. */
uint64_t perf_events_measure_cost(const struct perf_events *p);

#endif
