/* SPDX-License-Identifier: MIT */
/* fuzz_filter: the option parsers. The first byte chooses the option, the rest is its text. */
#include <stdlib.h>
#include <string.h>

#include "trace/filter_parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int (*const parse[])(struct trace_filter *, const char *,
				    struct error *) = { filter_parse_cpus, filter_parse_pids,
							filter_parse_comms, filter_parse_kinds };
	char *text = size ? strndup((const char *)data + 1, size - 1) : NULL;
	struct error e = ERROR_INIT;
	struct trace_filter f;
	int r;

	if (!text)
		return 0;
	filter_init(&f);
	r = data[0] % 5 == 4 ? filter_parse_time(&f.from, text, &e)
			     : parse[data[0] % 5](&f, text, &e);
	if (r > 0 || (r < 0 && (!e.text[0] || strchr(e.text, '\n'))))
		abort();
	filter_done(&f);
	free(text);
	return 0;
}
