/* SPDX-License-Identifier: MIT */
/*
 * reference: what the hooks were called with, written down without any cleverness.
 *
 * A test program is linked with --wrap for both hooks, so that each call is first put into a file of
 * its thread, eight bytes a call, and then handed on. The file is mapped shared: it survives what the
 * record is to survive. REFERENCE in the environment names the folder; without it nothing is
 * written down.
 */
#ifndef KISEKI_TESTS_FUNC_REFERENCE_H
#define KISEKI_TESTS_FUNC_REFERENCE_H

#ifdef __cplusplus
extern "C" {
#endif

/* While this is set, another pid does not mean another process: a child of vfork. */
extern volatile int reference_shared;

/* Hooks that this thread is in, what writes them down included. Who jumps out of them all sets it to 0. */
extern __thread volatile int reference_depth;

#ifdef __cplusplus
}
#endif

#endif
