/* SPDX-License-Identifier: MIT */
/* recognise: any first bytes give a format that has a name, and the same one each time. */
#include <assert.h>

#include "convert/recognise.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t len = size < RECOGNISE_BYTES ? size : RECOGNISE_BYTES;
	enum recognised r = recognise_bytes(data, len);

	assert(r < RECOGNISED_COUNT && recognise_name(r) && *recognise_name(r));
	assert(recognise_bytes(data, len) == r);
	return 0;
}
