/* SPDX-License-Identifier: MIT */
/* staging: see staging.h. */
#include "device/agent/staging.h"

#include <string.h>

#include "device/agent/tracefs.h"

/* Also makes sure that all of the slot is in memory: a fault inside the kernel's copy could end it
 * half way when the process is being killed. */
static void clear(const struct staging *s, uint8_t *page)
{
	uint32_t at;

	for (at = 0; at < s->bytes; at += MEMORY_PAGE)
		memset(page + at, 0, at ? 1 : s->layout.data_offset);
}

static bool has_head(const struct staging *s, const uint8_t *page)
{
	uint32_t i;

	for (i = 0; i < s->layout.data_offset; i++)
		if (page[i])
			return true;
	return false;
}

int staging_read(struct staging *s, int fd, uint32_t cpu, uint64_t number, uint64_t before)
{
	struct memory_slot *slot = memory_get_slot(s->memory, cpu, number);
	uint8_t *page = memory_get_page(s->memory, cpu, number);
	int n;

	clear(s, page);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	slot->number = number + 1;
	slot->before = before;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	n = tracefs_read_page(fd, page, s->bytes);
	return n < 0 ? n : has_head(s, page);
}

const uint8_t *staging_get(struct staging *s, uint32_t cpu, uint64_t number)
{
	const uint8_t *page = memory_get_page(s->memory, cpu, number);

	if (memory_get_slot(s->memory, cpu, number)->number != number + 1)
		return NULL;
	return has_head(s, page) ? page : NULL;
}

uint32_t staging_count(const struct staging *s, const uint8_t *page)
{
	struct page_record record;
	struct page p;
	uint32_t n = 0;

	if (page_open(&p, &s->layout, page, s->bytes, NULL) < 0)
		return 0;
	while (page_next(&p, &record, NULL) > 0)
		n++;
	return n;
}

uint64_t staging_total(struct staging *s, uint32_t cpu, uint64_t number)
{
	const uint8_t *page = staging_get(s, cpu, number);

	return page ? memory_get_slot(s->memory, cpu, number)->before + staging_count(s, page) : 0;
}

void staging_forget(struct staging *s, uint32_t cpu)
{
	uint32_t i;

	for (i = 0; i < s->slots; i++)
		memory_get_slot(s->memory, cpu, i)->number = 0;
}
