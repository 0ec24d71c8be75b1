/* SPDX-License-Identifier: MIT */
/* fuzz_text: the text importer, read twice from memory and once as a pipe, which gives the same, and what it yields printed again. */
#include <stdint.h>
#include <stdlib.h>

#include "as_file.h"
#include "convert/ftrace_line.h"
#include "convert/import.h"
#include "items_log.h"

static struct items_log first, second;

static void read_items(struct trace_source *s)
{
	static struct ftrace_line line;
	static char buf[FTRACE_LINE_MAX];
	struct trace_item item;
	size_t len;

	ftrace_line_init(&line, &s->info);
	while (s->ops->next(s, &item, NULL) > 0) {
		len = item.type == ITEM_EVENT ? ftrace_line_format(&line, &item, buf)
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
	items_log_read(&second, s);
	items_log_expect_same(&first, &second);
	if (s->ops->rewind(s, NULL) == 0)
		abort();
	source_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trace_source *s = NULL;

	first.ended = false;
	if (source_text_open(&s, (struct import_bytes){ data, size }, NULL) == 0) {
		read_items(s);
		if (s->ops->rewind(s, NULL) == 0)
			items_log_read(&first, s);
		if (s->ops->rewind(s, NULL) == 0) {
			items_log_read(&second, s);
			items_log_expect_same(&first, &second);
		}
		source_free(s);
	}
	read_pipe(data, size);
	return 0;
}
