/* SPDX-License-Identifier: MIT */
/*
 * call_select: which threads of a source are looked at.
 *
 * A list is words with commas between them; a word is a number (a pid, a tid) or a pattern for the
 * name, as shells have them.
 */
#ifndef KISEKI_ANALYSIS_CALL_SELECT_H
#define KISEKI_ANALYSIS_CALL_SELECT_H

#include "trace/func_source.h"

struct call_select {
	const char *processes; /* NULL: all */
	const char *threads;
	bool one; /* only this thread of the source, if the lists have it */
	uint32_t thread;
};

bool call_select_has(const struct call_select *select, const struct func_source *source,
		     uint32_t thread);

/* Does a list have this number or this name? */
bool call_select_fits(const char *list, int32_t number, const char *name);

#endif
