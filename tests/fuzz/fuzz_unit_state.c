/* SPDX-License-Identifier: MIT */
/* unit_state: any bytes as what systemd answers. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "device/boot/unit_state.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);
	size_t at = 0, len = 1;

	assert(copy);
	memcpy(copy, data, size);
	for (; len; at += len) {
		enum unit_answer answer = unit_state_parse(copy + at, size - at, &len);

		assert(len <= size - at);
		assert((answer == UNIT_ANSWER_MORE || answer == UNIT_ANSWER_BAD) == !len);
	}
	free(copy);
	return 0;
}
