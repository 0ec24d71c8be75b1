/* SPDX-License-Identifier: MIT */
/*
 * boot_states: what tasks of the scheduler's trace did, laid together to what their process did. Private to
 * boot_exact.c.
 *
 * The result is a list of steps, each holding until the next one. `whom` is who ended the state before. Where
 * events were lost, whoever is not seen on a CPU may have been on another: its state is BOOT_UNKNOWN there. Behind
 * it, a sleep goes on if it is a wakeup that ends it, since nobody who sleeps is woken twice; all else stays
 * unknown until the task is told of again.
 *
 * A process is on a CPU while any of its tasks is; else, what is not known of one is not known of all; else
 * it wants one while any does, else waits for the disk while any does, and so on in the order of enum
 * boot_state. BOOT_TASK_OFF comes last: a task that has not been told of yet was not on a CPU, and says no more.
 */
#ifndef KISEKI_ANALYSIS_BOOT_STATES_H
#define KISEKI_ANALYSIS_BOOT_STATES_H

#include "analysis/boot_tasks.h"

struct boot_state_step {
	uint64_t ns;
	uint32_t whom;	/* task that ended the state before, BOOT_INTERRUPT or BOOT_NONE */
	uint8_t state;	/* enum boot_state or boot_task_state */
	uint8_t before; /* state of the task before; of no meaning after merging */
};

struct boot_states {
	struct boot_state_step *list;
	size_t n, room;
	size_t most; /* tasks at a time, after merging */
};

/* Adds the steps of one task, from its start to GONE or to the end of the trace. 0 or -ENOMEM. */
int boot_states_add(struct boot_states *s, const struct boot_tasks *t, uint32_t task);

/* Lays together all that were added: afterwards each step differs from the one before. */
void boot_states_merge(struct boot_states *s);

void boot_states_done(struct boot_states *s);

#endif
