/* SPDX-License-Identifier: MIT */
/* boot_ksk: any bytes as a file with a boot stream, its checksums made right. */
#include <assert.h>

#include "ksk_bytes.h"
#include "trace/boot_ksk.h"

#define ITEMS_MAX 2000U

static void read_file(const uint8_t *data, size_t size)
{
	struct error e = ERROR_INIT;
	struct boot_source *s;
	struct boot_item item;
	uint32_t n;
	int r = 1;

	if (boot_ksk_open_memory(data, size, &s, &e) < 0)
		return;
	for (n = 0; n < ITEMS_MAX && (r = s->ops->next(s, &item, &e)) == 1; n++)
		assert(item.type == ITEM_EVENT ? item.event.kind < BOOT_KINDS
					       : item.loss.cause < LOSS_CAUSES);
	assert(r >= 0);
	boot_source_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ksk_bytes_read(data, size, read_file);
	return 0;
}
