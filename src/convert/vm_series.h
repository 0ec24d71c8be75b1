/* SPDX-License-Identifier: MIT */
/*
 * vm_series: the time of virtual CPUs span by span (stack_series.h): threads are virtual CPUs, a sample is a span of one stack, its weight
 * how long it was; and what kept a virtual CPU from its guest is a marker.
 */
#ifndef KISEKI_CONVERT_VM_SERIES_H
#define KISEKI_CONVERT_VM_SERIES_H

#include "analysis/vm_tree.h"
#include "convert/stack_series.h"

struct vm_series {
	struct stack_series series;
	struct profile_list list;
	struct vm_tree tree;
};

int vm_series_init(struct vm_series *s, const struct vm_tree_options *o, struct error *e);
void vm_series_done(struct vm_series *s);
#define CLEANUP_VM_SERIES __attribute__((cleanup(vm_series_done)))

#endif
