/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * bsf_text: a record as a line for people, in the form of the kernel's old sched_switch tracer:
 *	cat-42 [000] 4154504421.591616: 42:120:S ==> [000] 0:140:R
 * and a line of the intermediate log, with `_` for what is left out (docs/format/bsf.md, 7).
 */
#ifndef KISEKI_WIRE_BSF_TEXT_H
#define KISEKI_WIRE_BSF_TEXT_H

#include "wire/bsf.h"

/* Enough for either line and its NUL, whatever the record holds. */
#define BSF_LINE_MAX 192

/* Both return the length without the NUL, and write no newline. The name goes out as it is. */
size_t bsf_format(const struct bsf_record *r, char line[BSF_LINE_MAX]);

/* "comm cpu secs usec_rem next_cpu | entry_type prev_state next_state | entry_pid prev_pid next_pid
 * prev_prio next_prio". Names are escaped, so that each word is one field and only a mark is `_`. */
size_t bsf_format_entry(const struct bsf_entry *entry, char line[BSF_LINE_MAX]);

#endif
