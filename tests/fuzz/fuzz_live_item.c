/* SPDX-License-Identifier: MIT */
/* fuzz_live_item: any JSON as a live event; what is taken is within its bounds and can be printed. */
#include <stdlib.h>
#include <string.h>

#include "cli/live_item.h"
#include "convert/ftrace_line.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct ftrace_line line;
	static struct trace_info info;
	static struct live_item item;
	char text[FTRACE_LINE_MAX];
	struct error e = ERROR_INIT;
	json_t *o = json_loadb((const char *)data, size, 0, NULL);
	int r = o ? live_item_parse(&item, o, &e) : -1;

	json_decref(o);
	if (r)
		return 0;
	if (!info.device && info_init(&info) == 0)
		ftrace_line_init(&line, &info);
	if (item.item.cpu >= TRACE_CPUS_MAX || item.item.event.kind >= SCHED_KINDS)
		abort();
	if (item.item.type == ITEM_EVENT &&
	    ftrace_line_format(&line, &item.item, text) > sizeof(text))
		abort();
	return 0;
}
