/* SPDX-License-Identifier: MIT */
/* A collector that says anything, in pieces of any size, to a device that holds some blocks. */
#include <assert.h>

#include "device/agent/uplink.h"
#include "tools/fake_spool.h"

static int instruct(void *context, const struct message_instruction *m, struct error *e)
{
	(void)context;
	return m->verb == INSTRUCTION_STOP ? 0 : error_set(e, 5, "no");
}

static void clocks(void *context, uint64_t *ret_device_ns, uint64_t *ret_realtime_ns)
{
	(void)context;
	*ret_device_ns = *ret_realtime_ns = 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct uplink_options o = { .name = "n", .agent = "a", .kernel = "k", .machine = "m" };
	static struct spool spool;
	struct uplink *u = NULL;
	size_t step = size ? 1 + data[0] : 1, at, n, len;
	uint32_t i;

	memset(&spool, 0, sizeof(spool));
	for (i = 0; i < 8; i++)
		fake_spool_add(&spool, i % 4 == 3 ? FRAME_RUN_END : FRAME_BLOCK, 1 + i / 4, i & 1,
			       i, 99);
	o.spool = &spool;
	o.cpus = o.entry_max = 100;
	o.hooks = (struct uplink_hooks){ NULL, instruct, clocks };
	if (uplink_new(&u, &o, NULL) < 0)
		return 0;
	uplink_open(u, DEVICE_IDLE, 1);
	for (at = 1; at < size; at += n) {
		n = size - at < step ? size - at : step;
		n = n < uplink_room(u) ? n : uplink_room(u);
		if (uplink_push(u, data + at, n, 2, NULL) < 0)
			break;
		uplink_get(u, &len);
		assert(n || len); /* it reads, or it has something to say */
		uplink_pop(u, len < 300 ? len : 300);
	}
	uplink_close(u, 3);
	uplink_free(u);
	return 0;
}
