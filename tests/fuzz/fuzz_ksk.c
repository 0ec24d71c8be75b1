/* SPDX-License-Identifier: MIT */
/* ksk: any bytes as a file or a pipe, and in memory: read through, then from a tick on, then checked as a whole. */
#include <assert.h>
#include <errno.h>

#include "as_file.h"
#include "ksk_bytes.h"
#include "trace/info_meta.h"
#include "trace/ksk_source.h"

#define ITEMS_MAX 2000U

static uint64_t read_some(struct trace_source *s)
{
	struct error e = ERROR_INIT;
	struct trace_item item;
	uint64_t last = 0;
	uint32_t n;
	int r;

	for (n = 0; n < ITEMS_MAX; n++) {
		r = s->ops->next(s, &item, &e);
		assert(r >= 0 || r == -ENOMEM);
		if (r <= 0)
			break;
		assert(item.cpu < s->info.cpus);
		assert(item.type == ITEM_EVENT ? item.event.kind < SCHED_KINDS
					       : item.loss.cause < LOSS_CAUSES && item.loss.count);
		last = item_tick(&item);
	}
	return last;
}

static void read_file(const uint8_t *data, size_t size)
{
	struct error e = ERROR_INIT;
	struct trace_source *s;
	uint64_t last;

	if (source_ksk_open_memory(&s, data, size, &e) < 0)
		return;
	last = read_some(s);
	assert(s->ops->seek(s, last - last / 4, &e) == 0);
	read_some(s);
	assert(s->ops->rewind(s, &e) == 0);
	read_some(s);
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
