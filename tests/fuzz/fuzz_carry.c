/* SPDX-License-Identifier: MIT */
/* carry: any bytes as the state of a stream; what decodes must encode to one that decodes again. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "collector/summary_carry.h"

static void run(struct summary_carry *carry, const uint8_t *data, size_t size)
{
	static struct trace_info info;
	_cleanup_free_ uint8_t *again = NULL;
	struct trace_item item = { .type = ITEM_EVENT };
	size_t len;
	int r;

	if (!info.device)
		assert(info_init(&info) == 0);
	summary_carry_reset(carry, &info);
	r = summary_carry_decode(carry, data, size);
	assert(r == 0 || r == -ENOMEM || r == -EBADMSG);
	if (r < 0)
		return;
	r = summary_carry_encode(carry, &again, &len);
	assert(r == 0 || r == -ENOMEM);
	if (r < 0)
		return;
	summary_carry_reset(carry, &info);
	r = summary_carry_decode(carry, again, len);
	assert(r == 0 || r == -ENOMEM);
	if (r < 0)
		return;
	item.event.tick = carry->slices.state.seen_ns + 3000000000U;
	slices_add(&carry->slices, &item);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(summary_carry) struct summary_carry *carry = NULL;

	if (summary_carry_new(&carry, NULL, NULL) < 0)
		return 0;
	run(carry, data, size);
	return 0;
}
