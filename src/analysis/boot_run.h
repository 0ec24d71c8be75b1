/* SPDX-License-Identifier: MIT */
/*
 * boot_run: the boot that a run of a store has, made exact by the scheduler's run of the same boot, where there is
 * one.
 *
 * That is the run of the same device, of the same boot of its kernel, that shares most time with it, or came nearest to
 * it. Of a trace of days only the time of the boot is read.
 */
#ifndef KISEKI_ANALYSIS_BOOT_RUN_H
#define KISEKI_ANALYSIS_BOOT_RUN_H

#include "analysis/boot.h"
#include "store/store.h"

/* Both may come to a collector as far apart as this: they wait on the device until there is a network. */
#define BOOT_RUN_APART_NS 3600000000000ULL

/* The time of which the scheduler's events are wanted: what tasks did before the chart says where they were. */
uint64_t boot_run_from(const struct boot *b);
uint64_t boot_run_to(const struct boot *b);

struct boot_run {
	struct boot *boot;     /* owned by who opened it */
	uint32_t sched;	       /* the scheduler's run; 0: there is none, or it was not asked for */
	bool has_common_clock; /* with it; else it was left out */
	int64_t offset_ns;     /* add it to a time of the boot to have that of `sched` */
};

/* -ENODATA: the run has no boot chart. */
int boot_run_open(struct boot_run *ret, struct store *s, const struct store_run *run, bool exact,
		  struct error *e);

#endif
