/* SPDX-License-Identifier: MIT */
/* What a device of virtual machines hands out: any bytes. What is taken for an event is within its bounds. */
#include <assert.h>

#include "device/vm/vm_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct vm_reader_exit exits[4] = { 0 };
	struct sample_event e;
	struct vm_reader r;
	uint64_t sum = 0;
	uint32_t lost, i;

	vm_reader_init(&r, exits, 4);
	vm_reader_feed(&r, data, size);
	while (vm_reader_next(&r, &e, &lost) == WIRE_OK) {
		assert(e.kind < SAMPLE_KINDS && e.mode < SAMPLE_MODES);
		assert(e.task.vcpu >= SAMPLE_NO_VCPU);
		for (i = 0; i < (uint32_t)e.n_kernel + e.n_user; i++)
			sum += e.chain[i];
	}
	(void)sum;
	return 0;
}
