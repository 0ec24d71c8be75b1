/* SPDX-License-Identifier: MIT */
/* sample_ksk: any bytes as a file with a profile, its checksums made right. */
#include <assert.h>
#include <errno.h>

#include "ksk_bytes.h"
#include "trace/sample_ksk.h"

#define ITEMS_MAX 2000U

static void read_file(const uint8_t *data, size_t size)
{
	struct error e = ERROR_INIT;
	struct sample_source *s;
	struct sample_item item;
	uint32_t n;
	int r = 1;

	if (sample_ksk_open_memory(data, size, &s, &e) < 0)
		return;
	for (n = 0; n < ITEMS_MAX && (r = s->ops->next(s, &item, &e)) == 1; n++)
		assert(item.type == ITEM_EVENT ? item.event.kind < SAMPLE_KINDS
					       : item.loss.cause < LOSS_CAUSES);
	assert(r >= 0 || r == -ENOMEM);
	sample_source_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ksk_bytes_read(data, size, read_file);
	return 0;
}
