/* SPDX-License-Identifier: MIT */
/* export_format: see export_format.h. */
#include "cli/export_format.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "command/say.h"

static int find(const struct args *a, const char *command, const struct profile_format **ret,
		struct error *e)
{
	const char *name = args_get(a, "format"), *path = args_get(a, "output");

	if (!path)
		return error_set(e, EINVAL, "cannot export: no output given; add -o OUT");
	*ret = name ? profile_export_find(name) : profile_export_from_path(path);
	if (*ret)
		return 0;
	if (name)
		return error_set(e, EINVAL, "cannot export: unknown format '%s'; see %s --help",
				 name, command);
	return error_set(e, EINVAL, "cannot export: the ending of %s names no format; add --format",
			 path);
}

int export_format_choose(const struct args *a, const char *command,
			 const struct profile_format **ret)
{
	struct error e = ERROR_INIT;

	if (find(a, command, ret, &e) < 0)
		return say_usage(&e);
	if (!strcmp(args_get(a, "output"), "-") && !(*ret)->text && isatty(STDOUT_FILENO)) {
		error_set(&e, 1, "cannot write %s to a terminal: it is not text", (*ret)->name);
		return say_failure(&e);
	}
	return EXIT_OK;
}
