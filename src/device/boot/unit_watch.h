/* SPDX-License-Identifier: MIT */
/*
 * unit_watch: units of systemd as marks, when they begin and when they are over.
 *
 * systemd gives every start of a unit a number, and puts that into a folder under the unit's name, for its log.
 * The kernel tells of changes in the folder as they are made (inotify), so nobody is asked, and nothing needs to
 * be set up. Units that were there before the folder could be watched have the time at which they were found.
 */
#ifndef KISEKI_DEVICE_BOOT_UNIT_WATCH_H
#define KISEKI_DEVICE_BOOT_UNIT_WATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "device/boot/record_sink.h"

#define UNIT_FOLDER "/run/systemd/units"

struct unit_watch {
	int fd; /* -1: not yet */
	uint64_t look_ns;
};

void unit_watch_init(struct unit_watch *w);
void unit_watch_close(struct unit_watch *w);

/* Begins to watch, if the folder is there by now. */
void unit_watch_look(struct unit_watch *w, const char *folder, struct record_sink *sink,
		     uint64_t now_ns);

/* Takes what the kernel has told. */
void unit_watch_take(struct unit_watch *w, struct record_sink *sink, uint64_t now_ns);

/* The unit that a name in the folder is of; NULL: none. */
const char *unit_watch_name(const char *entry);

#endif
