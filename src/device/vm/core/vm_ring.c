/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* vm_ring: see vm_ring.h. */
#include "device/vm/core/vm_ring.h"

void vm_ring_init(struct vm_ring *r, uint8_t *data, uint32_t size)
{
	memset(r, 0, sizeof(*r));
	r->data = data;
	r->size = size;
}

void vm_ring_lose(struct vm_ring *r)
{
	if (r->unsaid != UINT32_MAX)
		r->unsaid++;
	shared_write64(&r->lost, r->lost + 1);
}

/* Of the record at a place; its first eight bytes are the time, and no eight bytes are apart. */
static uint32_t size_at(const struct vm_ring *r, uint32_t at)
{
	uint16_t size;

	memcpy(&size, r->data + ((at + offsetof(struct vm_record, size)) & (r->size - 1)),
	       sizeof(size));
	return size;
}

uint32_t vm_ring_get(const struct vm_ring *r, uint32_t most, struct vm_ring_parts *ret)
{
	uint32_t tail = r->tail, ready = smp_load_acquire(&r->head) - tail, len = 0, size, offset;

	if (ready <= most)
		len = ready;
	while (len < ready) {
		size = size_at(r, tail + len);
		if (size > most - len)
			break;
		len += size;
	}
	ret->len[0] = vm_ring_split(r, tail, len, &offset);
	ret->data[0] = r->data + offset;
	ret->len[1] = len - ret->len[0];
	ret->data[1] = r->data;
	return len;
}

void vm_ring_pop(struct vm_ring *r, uint32_t len)
{
	smp_store_release(&r->tail, r->tail + len);
}
