/* SPDX-License-Identifier: MIT */
/* fuzz_when: any text as a time and as a length; a time that is understood formats and parses back. */
#include <stdlib.h>
#include <string.h>

#include "base/when.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size), out[WHEN_MAX];
	struct error e = ERROR_INIT;
	uint64_t ns, again, now_ns = UINT64_C(1763200000123456789);

	if (!text)
		return 0;
	if (when_parse(text, now_ns, &ns, &e) == 0 && ns / 1000000000 < UINT64_MAX / 1000000000 &&
	    (when_parse(when_format(ns, out), 0, &again, &e) < 0 || again != ns))
		abort();
	if (when_parse_length(text, &ns, &e) < 0 && (!e.text[0] || strchr(e.text, '\n')))
		abort();
	free(text);
	return 0;
}
