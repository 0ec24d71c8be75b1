/* SPDX-License-Identifier: MIT */
/* fuzz_config: any body of a request as what to trace; what is taken is the same after JSON again. */
#include <stdlib.h>
#include <string.h>

#include "collector/config_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct message_config a = { 0 }, b = { 0 };
	json_t *in = json_loadb((const char *)data, size, JSON_ALLOW_NUL, NULL), *out;
	struct error e = ERROR_INIT;
	int r = in ? config_json_parse(&a, in, &e) : -1;

	json_decref(in);
	if (r < 0)
		return 0;
	out = config_json_format(&a);
	if (!out || config_json_parse(&b, out, &e) < 0 || memcmp(&a, &b, sizeof(a)))
		abort();
	json_decref(out);
	return 0;
}
