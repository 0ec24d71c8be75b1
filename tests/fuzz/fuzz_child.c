/* SPDX-License-Identifier: MIT */
/*
 * child: a byte for what is read, then any bytes as what a sandboxed reader of foreign files sends. The reader may have been taken over by its
 * file: whatever it sends, its parent takes items that are some, which analyses can be given, or says in a line what is wrong.
 */
#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analysis/boot.h"
#include "analysis/spans.h"
#include "convert/boot_child.h"
#include "convert/func_child.h"
#include "convert/source_child.h"
#include "tools/child_told.h"
#include "trace/summary.h"

static void check_error(int r, const struct error *e)
{
	assert(r >= 0 || (*e->text && !strchr(e->text, '\n')));
}

static void read_events(void)
{
	const struct source_child_job job = { .child = { .fd = -1 } };
	CLEANUP(spans) struct spans *spans = NULL;
	struct error e = ERROR_INIT;
	struct trace_source *s = NULL;
	struct trace_summary sum;
	struct trace_item item;
	int r = source_child_open(&s, &job, &e);

	check_error(r, &e);
	if (r < 0)
		return;
	summary_init(&sum);
	assert(spans_new(&spans, &s->info, 0, UINT64_MAX) >= 0);
	while ((r = s->ops->next(s, &item, &e)) > 0) {
		assert(item.cpu < s->info.cpus);
		assert(summary_add_item(&sum, &s->info.clock, &item, &e) >= 0);
		if (spans_add(spans, &item, &e) < 0)
			break;
	}
	check_error(r, &e);
	spans_finish(spans, &e);
	summary_done(&sum);
	source_free(s);
}

static void read_boot(void)
{
	const struct boot_child_job job = { .path = "x", .fd = open("/dev/null", O_RDONLY) };
	struct boot_source *s = NULL;
	struct error e = ERROR_INIT;
	struct boot *b = NULL;
	int r = boot_child_open(&s, &job, &e);

	check_error(r, &e);
	if (r < 0)
		return;
	r = boot_new(&b, s, &e);
	check_error(r, &e);
	if (r >= 0)
		boot_free(b);
	boot_source_free(s);
}

static void read_calls(void)
{
	const size_t page = 4096;
	void *map = mmap(NULL, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct func_source *s = NULL;
	struct error e = ERROR_INIT;
	struct func_item item;
	int i, r;

	assert(map != MAP_FAILED);
	r = func_child_open(&s, NULL, (struct import_bytes){ map, page }, &e);
	check_error(r, &e);
	for (i = 0; r >= 0 && i < 2; i++) {
		while ((r = s->ops->next(s, &item, &e)) > 0) {
			assert(item.thread < s->n_threads);
			assert(item.type == FUNC_ITEM_LOSS ? item.loss.cause < LOSS_CAUSES
							   : item.event.kind <= FUNC_OS);
		}
		check_error(r, &e);
		if (r >= 0)
			r = s->ops->rewind(s, &e);
	}
	func_source_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	child_told_set(data + 1, size - 1);
	switch (data[0] % 3) {
	case 0:
		read_events();
		break;
	case 1:
		read_boot();
		break;
	default:
		read_calls();
		break;
	}
	return 0;
}
