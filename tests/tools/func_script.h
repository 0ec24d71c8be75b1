/* SPDX-License-Identifier: MIT */
/*
 * func_script: a function source out of a small text, for tests that say in a few lines what happened.
 *
 *	process PID COMMAND [kernel]
 *	thread TID COMM			of the process above it
 *	TICK TID > NAME			a call; the name may have blanks
 *	TICK TID < NAME			a return
 *	TICK TID in CPU | out STATE | wake PID | call NUMBER | ret NUMBER | irq NUMBER | iret NUMBER |
 *		maps NUMBER | watch BITS
 *	TICK TID lost COUNT		"?" if it is not known
 *
 * A tick is a nanosecond. Lines that are empty or begin with # are comments; items come as they stand.
 */
#ifndef KISEKI_TESTS_FUNC_SCRIPT_H
#define KISEKI_TESTS_FUNC_SCRIPT_H

#include "trace/func_source.h"

/* -EINVAL, with the line that is wrong in e. */
int func_script_new(struct func_source **ret, const char *text, struct error *e);

#endif
