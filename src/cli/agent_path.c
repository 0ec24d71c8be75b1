/* SPDX-License-Identifier: MIT */
/* agent_path: see agent_path.h. */
#include "cli/agent_path.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_program(char path[AGENT_PATH_MAX], const char *name, const char *folder, size_t len)
{
	int n = snprintf(path, AGENT_PATH_MAX, "%.*s%s%s", (int)len, folder, len ? "/" : "./",
			 name);

	return n > 0 && n < (int)AGENT_PATH_MAX && !access(path, X_OK);
}

static bool is_beside(char path[AGENT_PATH_MAX], const char *name, const char *program)
{
	const char *slash = strrchr(program, '/');

	return slash && is_program(path, name, program, (size_t)(slash - program));
}

static bool is_in_path(char path[AGENT_PATH_MAX], const char *name)
{
	const char *list = getenv("PATH");
	size_t len;

	for (; list; list = list[len] ? list + len + 1 : NULL) {
		len = strcspn(list, ":");
		if (is_program(path, name, list, len))
			return true;
	}
	return false;
}

int agent_path_find(char path[AGENT_PATH_MAX], struct error *e)
{
	return agent_path_find_other(path, "kiseki-agent", "KISEKI_AGENT", e);
}

int agent_path_find_other(char path[AGENT_PATH_MAX], const char *name, const char *variable,
			  struct error *e)
{
	const char *told = getenv(variable);
	char self[AGENT_PATH_MAX];
	ssize_t n;

	if (told && *told) {
		snprintf(path, AGENT_PATH_MAX, "%s", told);
		return 0;
	}
	if (is_beside(path, name, program_invocation_name))
		return 0;
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n > 0) {
		self[n] = 0;
		if (is_beside(path, name, self))
			return 0;
	}
	if (is_in_path(path, name))
		return 0;
	return error_set(e, ENOENT,
			 "cannot find %s: it is neither beside kiseki nor in PATH; %s names it",
			 name, variable);
}
