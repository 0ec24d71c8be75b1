/* SPDX-License-Identifier: MIT */
/* func_library: see func_library.h. */
#include "cli/func_library.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME "libkiseki-func.so.1"

/* From the folder of the program. */
static const char *const beside[] = { "", "../device/func/", "../lib/" };

static bool is_there(char path[FUNC_LIBRARY_MAX], const char *folder, const char *below)
{
	int n = snprintf(path, FUNC_LIBRARY_MAX, "%s/%s" NAME, folder, below);

	return n > 0 && n < (int)FUNC_LIBRARY_MAX && !access(path, R_OK);
}

int func_library_find(char path[FUNC_LIBRARY_MAX], struct error *e)
{
	const char *told = getenv("KISEKI_LIBFUNC");
	char self[FUNC_LIBRARY_MAX];
	ssize_t n;
	size_t i;

	if (told && *told) {
		snprintf(path, FUNC_LIBRARY_MAX, "%s", told);
		if (!access(path, R_OK))
			return 0;
		return error_set(e, errno, "cannot use %s: %s", told, strerror(errno));
	}
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n > 0) {
		self[n] = 0;
		*strrchr(self, '/') = 0;
		for (i = 0; i < sizeof(beside) / sizeof(beside[0]); i++)
			if (is_there(path, self, beside[i]))
				return 0;
	}
	if (is_there(path, KISEKI_LIBDIR, ""))
		return 0;
	return error_set(e, ENOENT,
			 "cannot find " NAME ": it is neither beside kiseki nor in " KISEKI_LIBDIR
			 "; KISEKI_LIBFUNC names it");
}
