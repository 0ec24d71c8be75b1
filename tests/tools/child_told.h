/* SPDX-License-Identifier: MIT */
/*
 * child_told: stands in for convert/child_process.c: the process that reads is none, and what it sends are bytes that a test has, as
 * those of a reader that was taken over by the file it read. Started again, it sends them again.
 */
#ifndef KISEKI_TESTS_CHILD_TOLD_H
#define KISEKI_TESTS_CHILD_TOLD_H

#include <stddef.h>

/* For all that are started from here on. Not more than the buffer of a child_pipe; the rest is not sent. */
void child_told_set(const void *bytes, size_t len);

#endif
