/* SPDX-License-Identifier: MIT */
/* symbol_tables: see symbol_tables.h. */
#include "cli/symbol_tables.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

static const char *find_folder(char *out, size_t room)
{
	const char *set = getenv("KISEKI_SYMBOL_CACHE"), *home = getenv("HOME");
	const char *caches = getenv("XDG_CACHE_HOME");
	struct symcache *c = NULL;
	int n = -1;

	if (set)
		return *set ? set : NULL;
	if (caches && *caches == '/')
		n = snprintf(out, room, "%s/kiseki/symbols", caches);
	else if (home && *home == '/')
		n = snprintf(out, room, "%s/.cache/kiseki/symbols", home);
	if (n < 0 || (size_t)n >= room || symcache_open(out, 0, &c, NULL) < 0)
		return NULL;
	symcache_close(c);
	return out;
}

const char *symbol_tables_folder(void)
{
	static char path[PATH_MAX];
	static const char *folder;
	static bool known;

	if (!known)
		folder = find_folder(path, sizeof(path));
	known = true;
	return folder;
}

int symbol_tables_open(struct symcache **ret, struct error *e)
{
	const char *folder = symbol_tables_folder();

	if (!folder)
		return error_set(e, ENOENT,
				 "cannot open tables of symbols: KISEKI_SYMBOL_CACHE is empty, or "
				 "there is no home folder");
	return symcache_open(folder, 0, ret, e);
}
