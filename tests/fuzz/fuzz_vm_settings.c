/* SPDX-License-Identifier: MIT */
/* What is written to the device of virtual machines: any text. What it takes is in bounds, and it takes it again. */
#include <assert.h>

#include "device/vm/core/vm_settings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct vm_settings s, again;
	char line[VM_SETTINGS_MAX];

	if (size > UINT32_MAX ||
	    vm_settings_parse(&s, (const char *)data, (uint32_t)size) != VM_ORDER_START)
		return 0;
	assert(s.period_ns >= VM_PERIOD_LEAST_NS && s.period_ns <= VM_PERIOD_MOST_NS);
	assert(s.jitter <= VM_JITTER_MOST && !(s.buffer_kib & (s.buffer_kib - 1)));
	assert(vm_settings_parse(&again, line, vm_settings_format(&s, line)) == VM_ORDER_START);
	assert(!memcmp(&s, &again, sizeof(s)));
	return 0;
}
