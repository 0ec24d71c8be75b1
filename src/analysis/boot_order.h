/* SPDX-License-Identifier: MIT */
/*
 * boot_order: the processes of a boot in the order of their tree.
 *
 * Whoever makes processes or adds some puts them anywhere and calls this: it finds the parent of each by
 * parent_pid (the process with that pid that lived when the child started), sets depth, sorts, and moves
 * what refers to processes by number (`whom` of spans, marks) along. Children stand behind their parent by
 * start; what has no parent is a root.
 */
#ifndef KISEKI_ANALYSIS_BOOT_ORDER_H
#define KISEKI_ANALYSIS_BOOT_ORDER_H

#include "analysis/boot.h"

/* 0 or -ENOMEM: then nothing has changed. */
int boot_order(struct boot *b);

#endif
