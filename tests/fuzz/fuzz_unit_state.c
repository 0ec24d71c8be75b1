/* SPDX-License-Identifier: MIT */
/* unit_state: any bytes as what systemd answers. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "device/boot/unit_state.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);
	size_t at = 0, len;

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	do {
		enum unit_answer answer = unit_state_parse(copy + at, size - at, &len);

		assert(len <= size - at || answer == UNIT_ANSWER_OTHER);
		assert((answer == UNIT_ANSWER_MORE || answer == UNIT_ANSWER_BAD) == !len);
		at += len <= size - at ? len : size - at;
	} while (len);
	free(copy);
	return 0;
}
