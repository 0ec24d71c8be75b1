/* SPDX-License-Identifier: MIT */
/*
 * types: what of the kernel's <linux/types.h> src/wire may rely on. These headers stand in for the
 * kernel's when tools/check-freestanding compiles src/wire; they hold less than the kernel's do, so
 * what compiles here compiles there.
 */
#ifndef _LINUX_TYPES_H
#define _LINUX_TYPES_H

typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef __SIZE_TYPE__ size_t;
typedef unsigned long uintptr_t;
typedef _Bool bool;

/* Words that a kernel's own headers and configuration have taken. */
#define BIT(nr) (1UL << (nr))
#define CONFIG_BLOCK 1
#define CONFIG_CGROUPS 1
#define FRAME_END "" /* x86's, for assembler */
#define SCHED_IDLE 5
#define current get_current()
#define noinline __attribute__((__noinline__))

#endif
