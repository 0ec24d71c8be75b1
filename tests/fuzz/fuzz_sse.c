/* SPDX-License-Identifier: MIT */
/* fuzz_sse: any bytes as an event stream give the same events whole and in two pieces. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/sse.h"

static int sum(void *context, const char *name, const char *data, size_t len, struct error *e)
{
	uint64_t *s = context;
	size_t i;

	(void)e;
	for (i = 0; i <= len; i++)
		*s = *s * 31 + (unsigned char)data[i];
	for (i = 0; name[i]; i++)
		*s = *s * 37 + (unsigned char)name[i];
	return 0;
}

static uint64_t parse(const uint8_t *data, size_t size, size_t cut)
{
	struct error e = ERROR_INIT;
	uint64_t total = 1;
	struct sse s;

	sse_init(&s, sum, &total);
	if (sse_push(&s, (const char *)data, cut, &e) ||
	    sse_push(&s, (const char *)data + cut, size - cut, &e))
		total = 0;
	sse_done(&s);
	return total;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size && parse(data, size, 0) != parse(data, size, data[0] % size))
		abort();
	return 0;
}
