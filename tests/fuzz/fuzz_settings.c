/* SPDX-License-Identifier: MIT */
/* The agent's configuration file: any text. */
#include <stdint.h>

#include "device/agent/settings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error e = ERROR_INIT;
	struct settings s;

	settings_init(&s);
	settings_parse(&s, (const char *)data, size, "fuzz.conf", &e);
	return 0;
}
