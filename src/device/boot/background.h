/* SPDX-License-Identifier: MIT */
/*
 * background: the recorder as a process of its own, that nobody sees: its own session, /dev/null for its standard
 * files, its words in the kernel's log.
 *
 * Whoever starts it waits until it is ready, but not for long: a boot must not depend on it.
 */
#ifndef KISEKI_DEVICE_BOOT_BACKGROUND_H
#define KISEKI_DEVICE_BOOT_BACKGROUND_H

#include <sys/types.h>

#include "base/error.h"
#include "device/boot/boot_settings.h"
#include "device/boot/place.h"

#define BACKGROUND_WAIT_MS 2000

struct background {
	bool is_init;		 /* it is started by pid 1, before init */
	struct boot_settings *s; /* given, or NULL: read from file and command line of the kernel */
	char **argv;		 /* of this process: its room is where the new name goes */
};

/* Starts it and waits. ret_init: the init that was asked for, "" if none was. 0: it records; negative: it does not, or
 * not yet. The caller goes on in any case. */
int background_start(const struct background *b, char ret_init[BOOT_PATH_MAX]);

/* A line for the kernel's log. */
void background_log(void *context, const char *line);

#endif
