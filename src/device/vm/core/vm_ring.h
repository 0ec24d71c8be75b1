/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * vm_ring: one CPU's records on their way out of the kernel.
 *
 * One producer, which nothing interrupts that would put as well (its interrupts are off), and one consumer, on any
 * CPU. Positions only grow; each is written by one side and read by the other. A record that does not fit is counted,
 * and the next one that does says how many are missing before it: so a reader knows the place of each loss.
 *
 * The producer's side is here, not in the .c file: it is a part of each sample, and what a guest waits for.
 */
#ifndef KISEKI_DEVICE_VM_CORE_VM_RING_H
#define KISEKI_DEVICE_VM_CORE_VM_RING_H

#include "device/driver/core/atomics.h"
#include "device/vm/vm_record.h"

struct vm_ring {
	uint8_t *data;	 /* the owner's; aligned to eight bytes */
	uint32_t size;	 /* a power of two */
	uint32_t head;	 /* the producer's */
	uint32_t unsaid; /* lost since the last record */
	uint64_t lost;	 /* in all */
	uint32_t tail;	 /* the consumer's */
};

/* Where whole records lie: in two parts, if they reach over the end of the memory. */
struct vm_ring_parts {
	const uint8_t *data[2];
	uint32_t len[2];
};

void vm_ring_init(struct vm_ring *r, uint8_t *data, uint32_t size);

/* A place in the ring, and how many bytes there are up to its end. */
static inline uint32_t vm_ring_split(const struct vm_ring *r, uint32_t at, uint32_t len,
				     uint32_t *ret_offset)
{
	*ret_offset = at & (r->size - 1);
	return r->size - *ret_offset < len ? r->size - *ret_offset : len;
}

/* A record had no room. */
void vm_ring_lose(struct vm_ring *r);

/* Copies a record of base.size bytes. false: there was no room. */
static inline __attribute__((always_inline)) bool vm_ring_put(struct vm_ring *r,
							      struct vm_record *record)
{
	uint32_t size = record->size, head = r->head, offset, first;

	if (r->size - (head - smp_load_acquire(&r->tail)) < size) {
		vm_ring_lose(r);
		return false;
	}
	record->lost = r->unsaid;
	r->unsaid = 0;
	first = vm_ring_split(r, head, size, &offset);
	if (first == sizeof(*record))
		memcpy(r->data + offset, record, sizeof(*record)); /* a plain one, in place */
	else
		memcpy(r->data + offset, record, first);
	if (first < size)
		memcpy(r->data, (const uint8_t *)record + first, size - first);
	smp_store_release(&r->head, head + size);
	return true;
}

/* Bytes that wait for the consumer. */
static inline uint32_t vm_ring_used(const struct vm_ring *r)
{
	return READ_ONCE(r->head) - READ_ONCE(r->tail);
}

/* As many whole records as `most` bytes hold; returns their length. They stay until vm_ring_pop(). */
uint32_t vm_ring_get(const struct vm_ring *r, uint32_t most, struct vm_ring_parts *ret);
void vm_ring_pop(struct vm_ring *r, uint32_t len);

#endif
