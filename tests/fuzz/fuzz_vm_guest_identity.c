/* SPDX-License-Identifier: MIT */
/* vm_guest_identity: any bytes as a command line. */
#include "device/vm/vm_guest_identity.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t uuid[GUEST_UUID_LEN] = { 0x8a, 0x2b };

	vm_guest_identity_has_cid((const char *)data, size, 3);
	vm_guest_identity_has_uuid((const char *)data, size, uuid);
	return 0;
}
