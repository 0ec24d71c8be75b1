/* SPDX-License-Identifier: MIT */
/* fuzz_tracedat: a whole trace.dat: opened, read to the end, sought in, read again. */
#include <stdint.h>

#include "convert/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct import_bytes in = { data, size };
	struct error e = ERROR_INIT;
	struct trace_source *s;
	struct trace_item it;
	uint64_t middle = 0, n = 0;

	if (source_tracedat_open(&s, in, &e) < 0)
		return 0;
	while (s->ops->next(s, &it, &e) > 0)
		if (it.type == ITEM_EVENT && n++ % 64 == 0)
			middle = it.event.tick;
	if (s->ops->seek(s, middle, &e) == 0)
		while (s->ops->next(s, &it, &e) > 0)
			;
	source_free(s);
	return 0;
}
