/* SPDX-License-Identifier: MIT */
/* kallsyms: any text; what is found starts at or before the address and has a name. */
#include <assert.h>

#include "symbol/kallsyms.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kallsyms_symbol s;
	struct kallsyms *k = NULL;
	uint64_t i, at;

	if (kallsyms_parse((const char *)data, size, &k, NULL) < 0)
		return 0;
	for (i = 0; i < 256; i++) {
		at = (i % 3 ? 0xffffffc008000000ULL : 0xc0008000ULL) + i * 256;
		if (kallsyms_find(k, at, &s))
			assert(s.start <= at && s.name[0] && (!s.module || s.module[0] == '['));
	}
	kallsyms_free(k);
	return 0;
}
