/* SPDX-License-Identifier: MIT */
/* boot_told: any bytes as messages of the kernel about processes, and as accounts. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "device/boot/exit_account.h"
#include "device/boot/process_event.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct exit_sums sums;
	uint8_t *copy = malloc(size ? size : 1);
	struct process_event ev;
	struct exit_account a;
	size_t at = 0;

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	memset(&sums, 0, sizeof(sums));
	while (process_event_next(&ev, copy, size, &at))
		assert(ev.type <= PROCESS_OTHER);
	for (at = 0; exit_account_next(&a, copy, size, &at);)
		if (!a.strange)
			exit_sums_take(&sums, &a);
	free(copy);
	return 0;
}
