/* SPDX-License-Identifier: MIT */
/* init_wrapper: see init_wrapper.h. The order of the places is the kernel's. */
#include "device/boot/init_wrapper.h"

#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/boot/background.h"

#define NOT_FOUND 127

/* Are we called by that name ourselves? Then it would start us again, for ever. */
static bool is_self(const char *path)
{
	const char *self = (const char *)getauxval(AT_EXECFN);
	struct stat own, other;

	return self && !stat(self, &own) && !stat(path, &other) && own.st_dev == other.st_dev &&
	       own.st_ino == other.st_ino;
}

static void become(const char *path, char **argv)
{
	char *first = argv[0];

	if (is_self(path))
		return;
	argv[0] = (char *)(uintptr_t)path;
	execv(path, argv);
	argv[0] = first;
}

int init_wrapper_run(char **argv)
{
	static const char *const places[] = { "/sbin/init", "/etc/init", "/bin/init", "/bin/sh" };
	const struct background b = { .is_init = true, .argv = argv };
	char asked[BOOT_PATH_MAX], line[BOOT_PATH_MAX + 64];
	size_t i;
	int r = background_start(&b, asked);

	if (r < 0)
		background_log(NULL, "init starts without a recorder, or before it is ready");
	if (asked[0]) {
		become(asked, argv);
		snprintf(line, sizeof(line), "cannot start %s: %m", asked);
		background_log(NULL, line);
	}
	if (place_is_first_root())
		become("/init", argv);
	for (i = 0; i < sizeof(places) / sizeof(*places); i++)
		become(places[i], argv);
	background_log(NULL, "cannot start init: there is none");
	return NOT_FOUND;
}
