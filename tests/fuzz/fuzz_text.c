/* SPDX-License-Identifier: MIT */
/* fuzz_text: the text importer, read twice, and what it yields printed again. */
#include <stdint.h>
#include <stdlib.h>

#include "convert/ftrace_line.h"
#include "convert/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct ftrace_line line;
	static char buf[FTRACE_LINE_MAX];
	struct trace_source *s = NULL;
	struct trace_item item;
	size_t pass, len;

	if (source_text_open(&s, (struct import_bytes){ data, size }, NULL) < 0)
		return 0;
	ftrace_line_init(&line, &s->info);
	for (pass = 0; pass < 2 && s->ops->rewind(s, NULL) == 0; pass++)
		while (s->ops->next(s, &item, NULL) > 0) {
			len = item.type == ITEM_EVENT
				      ? ftrace_line_format(&line, item.cpu, &item.event, buf)
				      : ftrace_line_format_loss(item.cpu, &item.loss, buf);
			if (item.cpu >= s->info.cpus || len > sizeof(buf))
				abort();
		}
	source_free(s);
	return 0;
}
