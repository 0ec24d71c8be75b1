/* SPDX-License-Identifier: MIT */
/* fuzz_bootchart: an archive of a bootchart: opened, read to the end, made into a boot. */
#include <stdint.h>

#include "analysis/boot.h"
#include "convert/source_bootchart.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(boot_source) struct boot_source *s = NULL;
	CLEANUP(boot) struct boot *b = NULL;
	struct error e = ERROR_INIT;
	struct boot_item item;

	if (source_bootchart_open_memory(data, size, &s, &e) < 0)
		return 0;
	while (s->ops->next(s, &item, &e) > 0)
		if (item.event.kind >= BOOT_KINDS || item.event.text_len > BOOT_TEXT_MAX)
			__builtin_trap();
	if (s->ops->rewind(s, &e) == 0 && boot_new(&b, s, &e) < 0)
		return 0;
	return 0;
}
