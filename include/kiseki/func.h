/* SPDX-License-Identifier: MIT */
/*
 * kiseki/func: what a program may tell libkiseki-func about its own function trace.
 *
 * No program needs this: settings come from the environment, and whoever may write a process's
 * record can turn it on and off from outside. It is for a program that knows best when something of
 * interest begins. Linking libkiseki-func, or a weak reference to these functions, is enough.
 */
#ifndef KISEKI_FUNC_H
#define KISEKI_FUNC_H

#ifdef __cplusplus
extern "C" {
#endif

/* Turns recording of this process on (1) or off (0). 0, or -1 if it cannot be traced. */
int kiseki_func_set(int on);

/* 1 if this process is being recorded, else 0. */
int kiseki_func_get(void);

#ifdef __cplusplus
}
#endif

#endif
