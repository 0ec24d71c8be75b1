/* SPDX-License-Identifier: MIT */
/* key_folder: the folder of keys that a command of `kiseki keys` works on. */
#ifndef KISEKI_CLI_KEY_FOLDER_H
#define KISEKI_CLI_KEY_FOLDER_H

#include "base/error.h"
#include "command/args.h"
#include "keys/keys.h"

#define KEY_FOLDER_OPTION                                                                          \
	{                                                                                          \
		0, "dir", "DIR", "the folder of keys (`keys` in the default --data of serve)",     \
			NULL                                                                       \
	}
#define KEY_FOLDER_ROOM 1040U

/* What --dir says, or the default. */
const char *key_folder_get(const struct args *a, char room[KEY_FOLDER_ROOM]);

/* The same, open. */
int key_folder_open(struct keys **ret, const struct args *a, struct error *e);

#endif
