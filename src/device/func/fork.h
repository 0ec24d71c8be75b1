/* SPDX-License-Identifier: MIT */
/*
 * fork: a hook that is under way when its thread forks.
 *
 * A signal handler may interrupt a hook, fork, and return in the child. There the hook goes on with the
 * addresses that it had, of a mapping that the child does not inherit. So the child of the C library's
 * fork gets empty memory in its place: a header that is off, and the slot as the hook needs it. What the hook
 * writes there is nobody's. The child's next hook prepares a record of its own.
 *
 * A child cannot know whether such a hook is left, so it keeps this memory, of which it uses a page or two; and
 * that of its parent, for a handler may fork twice. That of generations before them is given back.
 */
#ifndef KISEKI_DEVICE_FUNC_FORK_H
#define KISEKI_DEVICE_FUNC_FORK_H

#include "device/func/gate.h"

/* The record is mapped: its children are to have memory in its place. */
void fork_watch(const struct gate *g);

#endif
