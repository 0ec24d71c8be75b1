/* SPDX-License-Identifier: MIT */
/* fuzz_tracedat: a whole trace.dat: read to the end, read again, which gives the same, and from a tick on, which gives its end. */
#include <stdint.h>

#include "convert/import.h"
#include "items_log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct items_log first, second;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct import_bytes in = { data, size };
	struct error e = ERROR_INIT;
	struct trace_source *s;
	struct trace_item item;
	uint64_t middle;

	if (source_tracedat_open(&s, in, &e) < 0)
		return 0;
	items_log_read(&first, s);
	while (s->ops->next(s, &item, &e) > 0)
		;
	if (s->ops->rewind(s, &e) == 0) {
		items_log_read(&second, s);
		items_log_expect_same(&first, &second);
	}
	middle = first.n ? first.items[first.n / 2].tick : 0;
	if (s->ops->seek(s, middle, &e) == 0) {
		items_log_read(&second, s);
		items_log_expect_end(&first, &second, middle);
	}
	source_free(s);
	return 0;
}
