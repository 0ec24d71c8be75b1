/* SPDX-License-Identifier: MIT */
/* func_ksk: any bytes as a file with function streams, its checksums made right. */
#include <assert.h>
#include <errno.h>

#include "as_file.h"
#include "ksk_bytes.h"
#include "trace/func_ksk.h"

#define ITEMS_MAX 2000U

static void read_some(struct func_source *s)
{
	struct error e = ERROR_INIT;
	struct func_item item;
	uint32_t n;
	int r = 1;

	for (n = 0; n < ITEMS_MAX && (r = s->ops->next(s, &item, &e)) == 1; n++) {
		assert(item.thread < s->n_threads);
		assert(s->threads[item.thread].process < s->n_processes);
	}
	assert(r >= 0 || r == -ENOMEM);
	func_source_free(s);
}

/* With the scheduler's side, and by its calls alone. */
static void read_file(const uint8_t *data, size_t size)
{
	struct error e = ERROR_INIT;
	struct func_source *s;
	struct as_file f;

	if (as_file_is_due(data, size)) {
		as_file_init(&f, data, size);
		if (func_ksk_open_joined(f.path, &s, &e) == 0)
			read_some(s);
		as_file_done(&f);
	}
	if (func_ksk_open_memory(data, size, &s, &e) == 0)
		read_some(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ksk_bytes_read(data, size, read_file);
	return 0;
}
