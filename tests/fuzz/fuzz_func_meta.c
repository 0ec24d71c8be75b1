/* SPDX-License-Identifier: MIT */
/* func_meta: any bytes as what a run says of its programs; moved behind others, it says the same. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "trace/func_meta.h"
#include "trace/func_meta_shift.h"

#define BY 130U /* needs more bytes than most numbers have; more of it takes longer */

static void check_moved(const uint8_t *data, size_t size, const struct func_meta *in)
{
	struct func_meta_shift s = { BY, BY, BY, BY };
	uint8_t *out = malloc(FUNC_META_SHIFT_ROOM(size));
	struct func_meta back;
	ssize_t len;
	size_t i;
	int r;

	if (!out)
		return;
	len = func_meta_shift_encode(&s, data, size, out);
	assert(len <= (ssize_t)FUNC_META_SHIFT_ROOM(size));
	func_meta_init(&back);
	r = len >= 0 && in ? func_meta_decode(&back, out, (size_t)len) : -ENODATA;
	assert(r == 0 || r == -ENODATA || r == -ENOMEM);
	if (r == 0) {
		assert(back.n_threads == in->n_threads);
		for (i = 0; i < in->n_threads; i++)
			assert(back.threads[i].number == in->threads[i].number + BY);
		assert(!in->tables.n_processes ||
		       back.tables.n_processes == in->tables.n_processes + BY);
	}
	func_meta_done(&back);
	free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct func_meta m;

	func_meta_init(&m);
	check_moved(data, size, func_meta_decode(&m, data, size) == 0 ? &m : NULL);
	func_meta_done(&m);
	return 0;
}
