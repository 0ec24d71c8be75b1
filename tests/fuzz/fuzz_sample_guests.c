/* SPDX-License-Identifier: MIT */
/* sample_guests: any bytes as what guests say of themselves; whoever is found has a name that ends, also when others are
 * forgotten. */
#include <assert.h>
#include <string.h>

#include "trace/sample_guests.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct sample_horizon to = { .tick = 100, .end_tick = 50 };
	struct sample_event ev = { .guest = 0xff };
	struct sample_owner owner;
	struct sample_guests *g;
	uint32_t i;

	if (sample_guests_new(&g) < 0)
		return 0;
	if (sample_guests_decode(g, data, size) == 0 && sample_guests_settle(g) == 0 &&
	    (size % 2 == 0 || sample_guests_forget(g, &to) == 0))
		for (i = 0; i < 64; i++) {
			ev.tick = i * 5;
			ev.mode = i & 1 ? SAMPLE_GUEST_KERNEL : SAMPLE_GUEST_USER;
			ev.guest_table = ev.guest_task = (uint64_t)(i % 4) << 12;
			ev.guest_context = i % 3;
			if (sample_guests_find(g, (int32_t)(i % 2), SAMPLE_EXITS_SVM, &ev, &owner))
				assert(strlen(owner.comm) <= SCHED_COMM_LEN);
		}
	sample_guests_free(g);
	return 0;
}
