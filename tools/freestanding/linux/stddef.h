/* SPDX-License-Identifier: MIT */
/* stddef: see types.h. */
#ifndef _LINUX_STDDEF_H
#define _LINUX_STDDEF_H

#define NULL ((void *)0)
#define offsetof(type, member) __builtin_offsetof(type, member)

enum {
	false = 0,
	true = 1,
};

#endif
