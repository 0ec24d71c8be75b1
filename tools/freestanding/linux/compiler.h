/* SPDX-License-Identifier: MIT */
/* compiler: see types.h. Words that several CPUs read and write. */
#ifndef _LINUX_COMPILER_H
#define _LINUX_COMPILER_H

#define READ_ONCE(x) (*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v) (*(volatile __typeof__(x) *)&(x) = (v))

#endif
