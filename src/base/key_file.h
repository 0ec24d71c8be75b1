/* SPDX-License-Identifier: MIT */
/*
 * key_file: the files of the folder of keys: small, readable by their owner alone, and there as a
 * whole or not at all.
 *
 * Who runs `kiseki keys` is often root, and the collector is not: what root writes belongs to the
 * owner of the folder.
 */
#ifndef KISEKI_BASE_KEY_FILE_H
#define KISEKI_BASE_KEY_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define KEY_FILE_MAX 65536U /* bytes of one */
#define KEY_FOLDER_MAX 1024U
#define KEY_PATH_MAX (KEY_FOLDER_MAX + 32U)

/* Makes the folder, with mode 0700, where it is missing; its parent is there. */
int key_folder_make(const char *folder, struct error *e);

/* Both for a file of this name in the folder; it is on the disk when they return. */
int key_file_write(const char *folder, const char *name, const void *data, size_t len,
		   struct error *e);
int key_file_remove(const char *folder, const char *name, struct error *e);

/* All of it, with a NUL behind that *ret_len does not count. */
int key_file_dup(const char *folder, const char *name, char **ret, size_t *ret_len,
		 struct error *e);

bool key_file_exists(const char *folder, const char *name);

/* An empty file with mode 0600, if there is none. */
int key_file_touch(const char *folder, const char *name, struct error *e);

#endif
