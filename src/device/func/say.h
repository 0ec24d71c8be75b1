/* SPDX-License-Identifier: MIT */
/*
 * say: the one line on standard error when a program cannot be traced.
 *
 * A library does not print; but this one is in a program that does not know of it, so there is
 * nobody else to say it. Once for a program, children included.
 */
#ifndef KISEKI_DEVICE_FUNC_SAY_H
#define KISEKI_DEVICE_FUNC_SAY_H

/* "libkiseki-func: cannot VERB OBJECT: REASON; this program is not traced". */
void say_failure(const char *verb, const char *object, const char *reason);

/* The text of an errno; 0: of a value that cannot be used. */
const char *say_reason(int number);

#endif
