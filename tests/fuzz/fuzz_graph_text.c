/* SPDX-License-Identifier: MIT */
/* fuzz_graph_text: function_graph text, opened and read to the end; numbers of names and threads must be in range. */
#include <stdint.h>
#include <stdlib.h>

#include "convert/source_graph_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct import_bytes in = { data, size };
	struct error e = ERROR_INIT;
	struct func_source *s;
	struct func_item it;

	graph_text_is(data, size);
	if (source_graph_text_open_bytes(in, &s, &e) < 0)
		return 0;
	while (s->ops->next(s, &it, &e) > 0) {
		if (it.thread >= s->n_threads)
			abort();
		if (it.type == FUNC_ITEM_EVENT && it.event.kind != FUNC_OS &&
		    it.event.value >= s->processes[0].n_names)
			abort();
	}
	func_source_free(s);
	return 0;
}
