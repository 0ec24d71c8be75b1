/* SPDX-License-Identifier: MIT */
/* fuzz_sse: any bytes as an event stream give the same events whole and in two pieces. */
#include <errno.h>
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

static int parse(const uint8_t *data, size_t size, size_t cut, uint64_t *total)
{
	struct error e = ERROR_INIT;
	struct sse s;
	int r;

	*total = 1;
	sse_init(&s, sum, total);
	r = sse_push(&s, (const char *)data, cut, &e);
	if (r == 0)
		r = sse_push(&s, (const char *)data + cut, size - cut, &e);
	sse_done(&s);
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t whole = 0, cut = 0;
	int r, s;

	if (!size)
		return 0;
	r = parse(data, size, 0, &whole);
	s = parse(data, size, data[0] % size, &cut);
	if (r != -ENOMEM && s != -ENOMEM && (r != s || (r == 0 && whole != cut)))
		abort();
	return 0;
}
