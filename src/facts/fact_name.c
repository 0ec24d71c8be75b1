/* SPDX-License-Identifier: MIT */
/* fact_name: see fact_name.h. */
#include "facts/fact_name.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/siphash.h"

#define NAME_ROOM 512U

int fact_name_hash(const char *object, const char *name, uint64_t *ret)
{
	static const uint8_t key[16];
	size_t first = strlen(object) + 1, second = strlen(name);
	_cleanup_free_ char *large = NULL;
	char small[NAME_ROOM], *text = small;

	if (first + second > sizeof(small)) {
		large = malloc(first + second);
		if (!large)
			return -ENOMEM;
		text = large;
	}
	memcpy(text, object, first);
	memcpy(text + first, name, second);
	*ret = siphash64(key, text, first + second);
	return 0;
}
