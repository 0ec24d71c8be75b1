/* SPDX-License-Identifier: MIT */
/* json_whole: see json_whole.h. */
#include "analysis/json_whole.h"

#include <stdlib.h>

static __thread bool has_gap;

static void *take(size_t size)
{
	void *p = malloc(size);

	has_gap |= !p;
	return p;
}

void json_whole_init(void)
{
	json_set_alloc_funcs(take, free);
}

bool json_whole_is(void)
{
	bool is_whole = !has_gap;

	has_gap = false;
	return is_whole;
}

char *json_whole_text(json_t *document, size_t flags)
{
	char *text = document ? json_dumps(document, flags) : NULL;

	json_decref(document);
	if (json_whole_is())
		return text;
	free(text);
	return NULL;
}
