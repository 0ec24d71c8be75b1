/* SPDX-License-Identifier: MIT */
/* fuzz_format: a format text, up to the first NUL, and behind it a record of that event. */
#include <stdint.h>

#include "ftrace/page.h"
#include "ftrace/sched.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t len = strnlen((const char *)data, size), rest = size - len;
	struct page_layout layout;
	struct sched_dialect d;
	struct sched_event ev;
	struct sched_map m;
	struct error e;

	page_layout_parse(&layout, (const char *)data, len, false, &e);
	sched_map_init(&m, rest % 2);
	if (sched_map_add(&m, "sched", (const char *)data, len, &e) <= 0 &&
	    sched_map_add(&m, "task", (const char *)data, len, &e) <= 0)
		return 0;
	sched_map_get_dialect(&m, "", 8, &d);
	if (rest)
		sched_map_decode(&m, data + len + 1, rest - 1, &ev);
	return 0;
}
