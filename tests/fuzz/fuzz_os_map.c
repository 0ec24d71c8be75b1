/* SPDX-License-Identifier: MIT */
/* os_map: any bytes as a page of the kernel's ring; every record that is found is of a kind that there is. */
#include <assert.h>

#include "device/feed/os_map.h"
#include "ftrace/bytes.h"
#include "ftrace/page.h"
#include "tools/os_pages.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const formats[] = { os_format_switch, os_format_waking, os_format_enter,
					       os_format_exit };
	struct page_layout layout;
	struct page_record record;
	struct os_record found;
	struct os_map map;
	struct page page;
	size_t i;

	os_map_init(&map, BYTES_HOST_BIG);
	for (i = 0; i < 4; i++)
		assert(os_map_add(&map, i < 2 ? "sched" : "raw_syscalls", formats[i],
				  strlen(formats[i]), NULL) == 1);
	assert(os_map_settle(&map, "6.18", 8, NULL) == 0);
	page_layout_init(&layout, 8, BYTES_HOST_BIG);
	if (page_open(&page, &layout, data, size, NULL) < 0)
		return 0;
	while (page_next(&page, &record, NULL) > 0)
		if (os_map_decode(&map, record.data, record.len, &found) > 0)
			assert(found.kind <= OS_RETURN);
	return 0;
}
