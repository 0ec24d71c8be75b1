/* SPDX-License-Identifier: MIT */
/* people_list: see people_list.h. */
#include "cli/people_list.h"

#include <errno.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/when.h"
#include "cli/key_folder.h"

_Static_assert(PEOPLE_WHEN_MAX >= WHEN_MAX, "a point in time fits");

int people_list_open(struct people **ret, const struct args *a, struct error *e)
{
	char room[KEY_FOLDER_ROOM];
	const char *folder = key_folder_get(a, room);

	if (!keys_exist(folder))
		return error_set(e, ENOENT,
				 "cannot find keys in %s: make them with `kiseki keys init`",
				 folder);
	return people_open(ret, folder, e);
}

int people_list_role(const struct args *a, enum people_role *ret, struct error *e)
{
	const char *text = args_get(a, "role");

	*ret = text ? people_role_parse(text) : ROLE_VIEW;
	return *ret == ROLE_NOBODY
		       ? error_set(e, EINVAL,
				   "cannot use --role %s: view, control or admin is wanted", text)
		       : 0;
}

const char *people_list_when(uint64_t s, char ret[PEOPLE_WHEN_MAX])
{
	if (s)
		return when_format(s * CLOCK_NS_PER_S, ret);
	snprintf(ret, PEOPLE_WHEN_MAX, "-");
	return ret;
}
