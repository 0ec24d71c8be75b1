/* SPDX-License-Identifier: MIT */
/* fuzz_text: the text importer, read twice from memory and once as a pipe, and what it yields printed again. */
#include <stdint.h>
#include <stdlib.h>

#include "as_file.h"
#include "convert/ftrace_line.h"
#include "convert/import.h"

static void read_items(struct trace_source *s)
{
	static struct ftrace_line line;
	static char buf[FTRACE_LINE_MAX];
	struct trace_item item;
	size_t len;

	ftrace_line_init(&line, &s->info);
	while (s->ops->next(s, &item, NULL) > 0) {
		len = item.type == ITEM_EVENT
			      ? ftrace_line_format(&line, item.cpu, &item.event, buf)
			      : ftrace_line_format_loss(item.cpu, &item.loss, buf);
		if (item.cpu >= s->info.cpus || len > sizeof(buf))
			abort();
	}
}

static void read_pipe(const uint8_t *data, size_t size)
{
	struct trace_source *s = NULL;
	struct as_file f;

	as_file_init(&f, data, size);
	if (source_text_open_fd(&s, f.fd, NULL) < 0)
		return;
	read_items(s);
	if (s->ops->rewind(s, NULL) == 0)
		abort();
	source_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trace_source *s = NULL;
	size_t pass;

	read_pipe(data, size);
	if (source_text_open(&s, (struct import_bytes){ data, size }, NULL) < 0)
		return 0;
	for (pass = 0; pass < 2 && s->ops->rewind(s, NULL) == 0; pass++)
		read_items(s);
	source_free(s);
	return 0;
}
