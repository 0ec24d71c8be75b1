/* SPDX-License-Identifier: MIT */
/* carry: any bytes as the state of a stream; what decodes must encode to one that decodes again. */
#include <assert.h>
#include <stdlib.h>

#include "collector/summary_carry.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct summary_carry *carry;
	static struct trace_info info;
	_cleanup_free_ uint8_t *again = NULL;
	struct trace_item item = { .type = ITEM_EVENT };
	size_t len;

	if (!carry)
		assert(summary_carry_new(&carry, NULL, NULL) == 0 && info_init(&info) == 0);
	summary_carry_reset(carry, &info);
	if (summary_carry_decode(carry, data, size) < 0)
		return 0;
	assert(summary_carry_encode(carry, &again, &len) == 0);
	summary_carry_reset(carry, &info);
	assert(summary_carry_decode(carry, again, len) == 0);
	item.event.tick = carry->slices.state.seen_ns + 3000000000U;
	slices_add(&carry->slices, &item);
	return 0;
}
