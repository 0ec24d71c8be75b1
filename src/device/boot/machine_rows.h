/* SPDX-License-Identifier: MIT */
/*
 * machine_rows: the rows of the chart that are of the machine: CPUs, disks, memory, pressure.
 *
 * The files stay open. /proc/stat is read when the sampler wants to know whether anybody ran; disks less often, and
 * memory and pressure with every second look at the disks, as they cost more and change slowly. Only what has changed is
 * said.
 */
#ifndef KISEKI_DEVICE_BOOT_MACHINE_ROWS_H
#define KISEKI_DEVICE_BOOT_MACHINE_ROWS_H

#include "base/cleanup.h"
#include "base/error.h"
#include "device/boot/machine_stat.h"
#include "device/boot/record_sink.h"

#define MACHINE_DISKS_MAX 32U

struct machine_rows;

/* proc: a descriptor of /proc, borrowed, as is the sink. */
int machine_rows_new(struct machine_rows **ret, struct record_sink *sink, int proc,
		     struct error *e);
void machine_rows_free(struct machine_rows *m);
DEFINE_CLEANUP(machine_rows, machine_rows_free)

/* What is not there on this machine: marks. */
void machine_rows_say_missing(struct machine_rows *m, uint64_t tick);

/* Reads /proc/stat and says the CPUs' times. NULL if it cannot be read. Borrowed until the next call. */
const struct machine_stat *machine_rows_pass(struct machine_rows *m, uint64_t tick);

/* The others. */
void machine_rows_look(struct machine_rows *m, uint64_t tick);

/* Everything is to be said again. */
void machine_rows_forget(struct machine_rows *m);

uint64_t machine_rows_tick_ns(const struct machine_rows *m); /* of a clock tick in those files */

#endif
