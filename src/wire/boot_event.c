/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* boot_event: see boot_event.h. */
#include "wire/boot_event.h"

const struct boot_shape boot_shapes[BOOT_KINDS] = {
	[BOOT_PASS] = { 7, false },	[BOOT_START] = { 5, false },
	[BOOT_NAME] = { 0, true },	[BOOT_EXEC] = { 0, true },
	[BOOT_TASK] = { 7, false },	[BOOT_WAIT] = { 0, true },
	[BOOT_EXIT] = { 2, false },	[BOOT_ACCOUNT] = { 12, false },
	[BOOT_CPU] = { 8, false },	[BOOT_DISK] = { 7, false },
	[BOOT_DISK_NAME] = { 0, true }, [BOOT_MEMORY] = { 9, false },
	[BOOT_PRESSURE] = { 2, false }, [BOOT_MARK] = { 4, true },
};
