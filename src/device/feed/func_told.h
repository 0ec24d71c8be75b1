/* SPDX-License-Identifier: MIT */
/*
 * func_told: how far the threads of a process were told of, in a file beside its record.
 *
 * While a run is open its rows say so (func_run.h). When it ends they are forgotten, and a process may
 * go on: then the next run, perhaps another agent's, must know where to begin. So before a run ends
 * this is written, under another name first: it is there whole, or as it was. A row of an open run goes
 * before it.
 */
#ifndef KISEKI_DEVICE_FEED_FUNC_TOLD_H
#define KISEKI_DEVICE_FEED_FUNC_TOLD_H

#include <stdio.h>

#include "device/feed/func_traced.h"

/* was_on: the process recorded until the agent switched it off, so the next one switches it on. NULL:
 * it cannot be written. */
FILE *func_told_start(const struct func_traced *t, bool was_on);
void func_told_put(FILE *f, uint32_t stream, uint64_t count);
/* Takes the place of the one before. */
int func_told_stop(FILE *f, const struct func_traced *t);

bool func_told_was_on(const struct func_traced *t);

/* Events of the stream that were told of, found or lost; -ENOENT: it does not say. */
int func_told_get(const struct func_traced *t, uint32_t stream, uint64_t *ret);

#endif
