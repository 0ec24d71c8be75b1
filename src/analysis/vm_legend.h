/* SPDX-License-Identifier: MIT */
/*
 * vm_legend: what the numbers in spans of virtual CPUs stand for: places in guests, reasons of exits, tasks of the host.
 *
 * Each is numbered from 0 as it first comes. Of a long time most are never shown, since short spans are merged: those
 * that are get a second number, from 0 without gaps, when they are asked for.
 */
#ifndef KISEKI_ANALYSIS_VM_LEGEND_H
#define KISEKI_ANALYSIS_VM_LEGEND_H

#include "analysis/vm_correct.h"
#include "analysis/vm_exit.h"
#include "store/hashtable.h"

#define VM_LEGEND_MAX (1U << 20) /* of each kind */

struct vm_legend_entry {
	struct vm_place place;
	char exit[VM_EXIT_NAME_LEN];
	struct sample_task task;
	int32_t number;
	int32_t shown; /* -1: not asked for */
};

/* Entries of one kind. */
struct vm_legend_table {
	struct hashtable entries;
	struct vm_legend_entry **list; /* by number */
	size_t n, room;
	struct vm_legend_entry **shown; /* by the second number */
	size_t n_shown, room_shown;
};

struct vm_legend {
	struct vm_legend_table places, exits, tasks;
};

void vm_legend_init(struct vm_legend *l);
void vm_legend_done(struct vm_legend *l);

/* -ENOMEM, -E2BIG. */
int vm_legend_put_place(struct vm_legend *l, const struct vm_place *p, int32_t *ret);
int vm_legend_put_exit(struct vm_legend *l, const char *name, int32_t *ret);

/* Threads by their number and process; that one runs a virtual CPU may be known later. */
int vm_legend_put_task(struct vm_legend *l, const struct sample_task *t, int32_t *ret);

/* The second number; -1 stays -1. -ENOMEM. */
int vm_legend_show(struct vm_legend_table *t, int32_t number, int32_t *ret);

#endif
