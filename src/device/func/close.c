/* SPDX-License-Identifier: MIT */
/*
 * close: dlclose, watched. Only in the shared library.
 *
 * What is opened announces itself by its first call, from an address that no object had. What is
 * closed does not; and the next object may lie at the same addresses, whose calls would then get
 * the names of the closed one. So the maps are looked at after each dlclose. dlopen is left alone: it
 * looks at who calls it to find its files.
 */
#include <dlfcn.h>

#include "device/func/hook.h"

__attribute__((visibility("default"))) int dlclose(void *handle)
{
	static int (*real)(void *handle);
	int result;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "dlclose");
	result = real ? real(handle) : -1;
	hook_look();
	return result;
}
