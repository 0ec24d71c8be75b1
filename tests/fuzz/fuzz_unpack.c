/* SPDX-License-Identifier: MIT */
/* fuzz_unpack: compressed files, by what they are recognised as, up to a bound of what comes out. */
#include <assert.h>
#include <errno.h>

#include "convert/unpack.h"

#define MOST (4U << 20)

static int take(void *context, const uint8_t *data, size_t len)
{
	size_t *left = context;
	volatile uint8_t last;

	assert(len > 0 && len <= 65536);
	last = data[len - 1];
	(void)last;
	if (len > *left)
		return -EFBIG;
	*left -= len;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum recognised format = recognise_bytes(data, size);
	struct error e = ERROR_INIT;
	size_t left = MOST;
	int r;

	if (!unpack_can(format))
		return 0;
	r = unpack_bytes(format, (struct import_bytes){ data, size }, take, &left, &e);
	assert(r == 0 || r == -EBADMSG || r == -ENOMEM || r == -EFBIG);
	return 0;
}
