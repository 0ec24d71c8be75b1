/* SPDX-License-Identifier: MIT */
/*
 * func_alive: whether a process is still there, and still the same, and has a file mapped.
 *
 * A pid is used again when its process is gone, and a process that executes another program keeps
 * it. So a process is held by a descriptor of it where the kernel has such (Linux 5.3), else known by
 * the moment of its start; and whether a record is still written is asked of its memory map.
 */
#ifndef KISEKI_DEVICE_FEED_FUNC_ALIVE_H
#define KISEKI_DEVICE_FEED_FUNC_ALIVE_H

#include <stdbool.h>
#include <stdint.h>

/* A descriptor of the process; -1: it is gone, or the kernel has none. */
int func_alive_open(int32_t pid);

/* When it was started, as /proc/PID/stat has it; 0: it is gone. */
uint64_t func_alive_born(int32_t pid);

/* pidfd: may be -1; born: 0 if it was not known. */
bool func_alive_is_gone(int32_t pid, int pidfd, uint64_t born);

/* 1: its memory map has the file, 0: it has not, -errno: nobody can say. */
int func_alive_has(int32_t pid, uint64_t inode, const char *name);

#endif
