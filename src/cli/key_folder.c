/* SPDX-License-Identifier: MIT */
/* key_folder: see key_folder.h. */
#include "cli/key_folder.h"

#include <stdio.h>

#include "cli/serve_settings.h"

const char *key_folder_get(const struct args *a, char room[KEY_FOLDER_ROOM])
{
	const char *given = args_get(a, "dir");
	struct serve_settings s;

	if (given)
		return given;
	serve_settings_init(&s);
	snprintf(room, KEY_FOLDER_ROOM, "%s/keys", s.data);
	return room;
}

int key_folder_open(struct keys **ret, const struct args *a, struct error *e)
{
	char room[KEY_FOLDER_ROOM];

	return keys_open(ret, key_folder_get(a, room), e);
}
