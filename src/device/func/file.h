/* SPDX-License-Identifier: MIT */
/*
 * file: makes the file that a process records into (docs/format/func-buffer.md, sections 1 to 3).
 *
 * Its size is that of the settings, less if the process may not have so much: an eighth of its
 * address space, what files may be long, and half of it again as long as the kernel refuses. No descriptor
 * stays open.
 */
#ifndef KISEKI_DEVICE_FUNC_FILE_H
#define KISEKI_DEVICE_FUNC_FILE_H

#include "device/func/gate.h"

/* Fills the gate but for `base`, and returns the header. NULL: *ret_verb, *ret_errno and g->path
 * say what failed. */
uint8_t *file_open(struct gate *g, const char **ret_verb, int *ret_errno);

/* The path with something behind it, in out. */
void file_path(const struct gate *g, const char *suffix, char out[GATE_PATH_MAX + 8]);

#endif
