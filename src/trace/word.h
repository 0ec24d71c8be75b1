/* SPDX-License-Identifier: MIT */
/*
 * word: the words that stand for event kinds and loss causes wherever people or other programs
 * read or write them: exports, reports, options. They are part of the documented formats.
 */
#ifndef KISEKI_TRACE_WORD_H
#define KISEKI_TRACE_WORD_H

#include <stddef.h>
#include <stdint.h>

/* "switch", "waking", …; "unknown" for a number that is none. */
const char *word_kind(uint32_t kind);

/* "ring", "buffer", …; "unknown" for a number that is none. */
const char *word_cause(uint32_t cause);

/* Bit `bit` of the dialect's features (enum dialect_feature); NULL for a bit that is none. */
const char *word_feature(uint32_t bit);

/* The kind of this name, or of the kernel's own name for it (sched_switch, task_rename, …); -1 if
 * it is none. */
int word_parse_kind(const char *name, size_t len);

#endif
