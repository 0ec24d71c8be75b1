/* SPDX-License-Identifier: MIT */
/*
 * emulator: whether a program plays the processor, and often the kernel, for this one. Such programs do not know all system calls and show another
 * /proc/self/maps, so what tests those cannot pass there.
 */
#ifndef KISEKI_TESTS_EMULATOR_H
#define KISEKI_TESTS_EMULATOR_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline bool emulator_is_valgrind(void)
{
	const char *preloaded = getenv("LD_PRELOAD");

	return preloaded && strstr(preloaded, "vgpreload");
}

static inline bool emulator_is_qemu(void)
{
	char name[32] = "";
	FILE *f = fopen("/proc/self/comm", "r");

	if (f && !fgets(name, sizeof(name), f))
		name[0] = 0;
	if (f)
		fclose(f);
	return !strncmp(name, "qemu-", 5);
}

static inline bool emulator_is_there(void)
{
	return emulator_is_valgrind() || emulator_is_qemu();
}

#endif
