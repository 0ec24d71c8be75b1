/* SPDX-License-Identifier: MIT */
/* call_select: see call_select.h. */
#include "analysis/call_select.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "trace/comm.h"

#define WORD_MAX 256U

static bool fits_word(const char *word, int32_t number, const char *name)
{
	char *end;
	long value = strtol(word, &end, 10);

	if (*word && !*end)
		return value == number;
	return !fnmatch(word, name, 0);
}

bool call_select_fits(const char *list, int32_t number, const char *name)
{
	char word[WORD_MAX];
	size_t len;

	for (; list; list = list[len] ? list + len + 1 : NULL) {
		len = strcspn(list, ",");
		if (len >= sizeof(word))
			continue;
		memcpy(word, list, len);
		word[len] = 0;
		if (fits_word(word, number, name))
			return true;
	}
	return false;
}

bool call_select_has(const struct call_select *select, const struct func_source *source,
		     uint32_t thread)
{
	const struct func_thread *t = &source->threads[thread];
	const struct func_process *p = &source->processes[t->process];
	char comm[COMM_TEXT_LEN];

	if (!select)
		return true;
	if (select->one && select->thread != thread)
		return false;
	if (select->processes && !call_select_fits(select->processes, p->pid, p->command))
		return false;
	return !select->threads || call_select_fits(select->threads, t->tid, comm_format(t->comm, comm));
}
