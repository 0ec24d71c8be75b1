/* SPDX-License-Identifier: MIT */
/* What is written to the driver's settings: any text. What it takes and shows, it takes again and
 * means the same. */
#include <assert.h>
#include <string.h>

#include "device/driver/core/settings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char line[SETTINGS_LINE_MAX], shown[2 * SETTINGS_LINE_MAX];
	static struct settings s, again;
	char why[SETTINGS_WHY_LEN];

	size = size < sizeof(line) - 1 ? size : sizeof(line) - 1;
	memcpy(line, data, size);
	line[size] = 0;
	settings_init(&s);
	again = s;
	if (!settings_parse(&s, line, why)) {
		assert(strlen(why) && strlen(why) < sizeof(why));
		return 0;
	}
	assert(settings_format(&s, shown, sizeof(shown)) < sizeof(shown) - 1);
	assert(settings_parse(&again, shown, why));
	assert(settings_is_same(&s, &again) && s.profile == again.profile);
	return 0;
}
