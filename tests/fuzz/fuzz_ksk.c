/* SPDX-License-Identifier: MIT */
/*
 * ksk: any bytes as a file or a pipe, and in memory: read through, from a tick on, and once more, which must give the same;
 * then checked as a whole.
 */
#include <assert.h>
#include <errno.h>

#include "as_file.h"
#include "items_log.h"
#include "ksk_bytes.h"
#include "trace/info_meta.h"
#include "trace/ksk_source.h"

static struct items_log first, second;

static void check_items(struct trace_source *s)
{
	struct error e = ERROR_INIT;
	struct trace_item item;
	uint32_t n;
	int r;

	for (n = 0; n < ITEMS_LOG_MAX; n++) {
		r = s->ops->next(s, &item, &e);
		assert(r >= 0 || r == -ENOMEM);
		if (r <= 0)
			break;
		assert(item.cpu < s->info.cpus);
		assert(item.type == ITEM_EVENT ? item.event.kind < SCHED_KINDS
					       : item.loss.cause < LOSS_CAUSES && item.loss.count);
	}
}

static void read_file(const uint8_t *data, size_t size)
{
	struct error e = ERROR_INIT;
	struct trace_source *s;
	uint64_t tick;

	if (source_ksk_open_memory(&s, data, size, &e) < 0)
		return;
	check_items(s);
	assert(s->ops->rewind(s, &e) == 0);
	items_log_read(&first, s);
	tick = first.n ? first.items[first.n - 1].tick - first.items[first.n - 1].tick / 4 : 0;
	assert(s->ops->seek(s, tick, &e) == 0);
	items_log_read(&second, s);
	items_log_expect_end(&first, &second, tick);
	assert(s->ops->rewind(s, &e) == 0);
	items_log_read(&second, s);
	items_log_expect_same(&first, &second);
	ksk_file_verify(source_ksk_file(s), &e);
	source_free(s);
}

static void open_path(struct as_file *f)
{
	struct ksk_file *k = NULL;
	struct trace_info info;
	int r = ksk_file_open(&k, f->path, NULL);

	if (r == 0)
		ksk_file_verify(k, NULL);
	if (r == 0 && info_init(&info) == 0) {
		r = info_read(&info, &k->reader, NULL);
		assert(r == 0 || r == -EBADE || r == -ENOMEM);
		info_done(&info);
	}
	ksk_file_free(k);
	as_file_done(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct as_file f;

	if (as_file_is_due(data, size)) {
		as_file_init(&f, data, size);
		open_path(&f);
		as_file_init_pipe(&f, data, size);
		open_path(&f);
	}
	ksk_bytes_read(data, size, read_file);
	return 0;
}
