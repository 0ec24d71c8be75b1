/* SPDX-License-Identifier: MIT */
/*
 * comm: names of tasks as they can be shown, by the rule of our exports: valid UTF-8 as it is, a
 * backslash twice, control characters and all other bytes as \xNN.
 */
#ifndef KISEKI_TRACE_COMM_H
#define KISEKI_TRACE_COMM_H

#define COMM_TEXT_LEN (16 * 4 + 1)

/* Fills and returns the caller's buffer. */
const char *comm_format(const char comm[16], char buffer[COMM_TEXT_LEN]);

#endif
