/* SPDX-License-Identifier: MIT */
/*
 * hook: what a compiler calls at each entry and exit of a function with -finstrument-functions.
 */
#ifndef KISEKI_DEVICE_FUNC_HOOK_H
#define KISEKI_DEVICE_FUNC_HOOK_H

struct slot;

#ifdef __cplusplus
extern "C" {
#endif

void __cyg_profile_func_enter(void *function, void *call_site);
void __cyg_profile_func_exit(void *function, void *call_site);

/* The calling thread's slot, which may be that of its parent before a fork. */
struct slot *hook_slot(void);

/* An object may have been closed: looks at the maps anew. */
void hook_look(void);

#ifdef __cplusplus
}
#endif

#endif
