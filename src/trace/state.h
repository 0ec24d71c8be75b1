/* SPDX-License-Identifier: MIT */
/*
 * state: a task's prev_state in the letters of its kernel: "S", "R+", "S|D".
 */
#ifndef KISEKI_TRACE_STATE_H
#define KISEKI_TRACE_STATE_H

#include <stdint.h>

#include "wire/dialect.h"

/* Every bit as a letter with '|' between, and '+': the most a dialect can print, and a NUL. */
#define STATE_TEXT_MAX (2U * DIALECT_STATE_BITS + 2U)

/* Writes the text and a NUL to ret, which has STATE_TEXT_MAX bytes; returns its length. It is what
 * the kernel prints after "prev_state=": the letters of the bits under the dialect's mask from the
 * lowest bit up, 'R' where none is set, and '+' where the preempted bit is. Bits without a letter
 * in the dialect print nothing, as in the kernel; the number keeps them. */
uint32_t state_format(char ret[STATE_TEXT_MAX], const struct sched_dialect *d, uint64_t state);

#endif
