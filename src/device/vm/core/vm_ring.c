/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* vm_ring: see vm_ring.h. */
#include "device/vm/core/vm_ring.h"

#include "device/driver/core/atomics.h"

void vm_ring_init(struct vm_ring *r, uint8_t *data, uint32_t size)
{
	memset(r, 0, sizeof(*r));
	r->data = data;
	r->size = size;
}

/* A place in the ring, and how many bytes there are up to its end. */
static uint32_t split(const struct vm_ring *r, uint32_t at, uint32_t len, uint32_t *ret_offset)
{
	*ret_offset = at & (r->size - 1);
	return r->size - *ret_offset < len ? r->size - *ret_offset : len;
}

bool vm_ring_put(struct vm_ring *r, struct vm_record *record)
{
	uint32_t size = record->size, head = r->head, offset, first;

	if (r->size - (head - smp_load_acquire(&r->tail)) < size) {
		if (r->unsaid != UINT32_MAX)
			r->unsaid++;
		shared_write64(&r->lost, r->lost + 1);
		return false;
	}
	record->lost = r->unsaid;
	r->unsaid = 0;
	first = split(r, head, size, &offset);
	memcpy(r->data + offset, record, first);
	memcpy(r->data, (const uint8_t *)record + first, size - first);
	smp_store_release(&r->head, head + size);
	return true;
}

uint32_t vm_ring_used(const struct vm_ring *r)
{
	return READ_ONCE(r->head) - READ_ONCE(r->tail);
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
	ret->len[0] = split(r, tail, len, &offset);
	ret->data[0] = r->data + offset;
	ret->len[1] = len - ret->len[0];
	ret->data[1] = r->data;
	return len;
}

void vm_ring_pop(struct vm_ring *r, uint32_t len)
{
	smp_store_release(&r->tail, r->tail + len);
}
