/* SPDX-License-Identifier: MIT */
/* fuzz_bootchart: an archive of a bootchart: as a file, and in memory: opened, read to the end, made into a boot. */
#include <stdint.h>

#include "analysis/boot.h"
#include "as_file.h"
#include "convert/bootchart_archive.h"
#include "convert/source_bootchart.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_file(const uint8_t *data, size_t size)
{
	struct bootchart_archive a;
	struct as_file f;

	as_file_init(&f, data, size);
	if (bootchart_archive_read(&a, f.fd, f.path, NULL) == 0)
		bootchart_archive_done(&a);
	as_file_done(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(boot_source) struct boot_source *s = NULL;
	CLEANUP(boot) struct boot *b = NULL;
	struct error e = ERROR_INIT;
	struct boot_item item;

	bootchart_archive_is(data, size);
	if (as_file_is_due(data, size))
		read_file(data, size);
	if (source_bootchart_open_memory(data, size, &s, &e) < 0)
		return 0;
	while (s->ops->next(s, &item, &e) > 0)
		if (item.event.kind >= BOOT_KINDS || item.event.text_len > BOOT_TEXT_MAX)
			__builtin_trap();
	if (s->ops->rewind(s, &e) == 0 && boot_new(&b, s, &e) < 0)
		return 0;
	return 0;
}
