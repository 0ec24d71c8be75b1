/* SPDX-License-Identifier: MIT */
/* ending: what a path says of its file's format. */
#ifndef KISEKI_BASE_ENDING_H
#define KISEKI_BASE_ENDING_H

#include <stdbool.h>
#include <string.h>

/* Whether a path ends with one of these, words in blanks: ".pb.gz .pprof". An ending alone is no path. */
static inline bool ending_fits(const char *path, const char *endings)
{
	size_t len, path_len = strlen(path);

	for (; *endings; endings += len + (endings[len] == ' ')) {
		len = strcspn(endings, " ");
		if (path_len > len && !memcmp(path + path_len - len, endings, len))
			return true;
	}
	return false;
}

#endif
