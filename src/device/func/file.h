/* SPDX-License-Identifier: MIT */
/*
 * file: the file that a process records into (docs/format/func-buffer.md, sections 1 to 3), made here or
 * by the agent that is asked for it.
 *
 * Its size is that of the settings, less if the process may not have so much: an eighth of its
 * address space, what files may be long, and half of it again as long as the kernel refuses. The agent may
 * give less, too. No descriptor stays open.
 */
#ifndef KISEKI_DEVICE_FUNC_FILE_H
#define KISEKI_DEVICE_FUNC_FILE_H

#include "device/func/gate.h"

/* What failed; the object is the gate's path. */
struct file_failure {
	const char *verb;
	int number;
	char text[FUNC_DOOR_TEXT_LEN + 1]; /* the reason in the agent's words, or "" */
};

/* Fills the gate but for `base`, and returns the header; NULL: *ret says why. */
uint8_t *file_open(struct gate *g, struct file_failure *ret);

/* A descriptor for another generation of the maps, -1 if there is none to be had. The caller closes it. */
int file_open_maps(struct gate *g);

/* Closes what of the first generation's descriptor is left, if nobody took it. */
void file_close_maps(struct gate *g);

#endif
