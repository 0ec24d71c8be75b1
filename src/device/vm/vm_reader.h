/* SPDX-License-Identifier: MIT */
/*
 * vm_reader: what a collector inside the kernel hands out (vm_record.h), record by record as events.
 *
 * The bytes are the kernel's, but a file may have held them in between: each length, count and number is checked before
 * it is believed. An event's addresses lie in the reader until the next one is asked for.
 */
#ifndef KISEKI_DEVICE_VM_VM_READER_H
#define KISEKI_DEVICE_VM_VM_READER_H

#include "device/vm/vm_record.h"
#include "wire/sample_event.h"

#ifdef __cplusplus
extern "C" {
#endif

struct vm_reader {
	const uint8_t *at, *end; /* what was read, the caller's */
	uint32_t left;		 /* of the chunk */
	uint32_t cpu;
	uint16_t exits; /* enum sample_exits */
	uint64_t lost;	/* records of this CPU since the start, as its last chunk says */
	uint64_t last_tick;
	uint64_t chain[VM_RECORD_CHAIN];
};

/* Whole chunks, as one read() gives them. */
void vm_reader_init(struct vm_reader *r, const uint8_t *data, size_t len);

/* The next event, of r->cpu; *ret_lost: how many are missing right before it. WIRE_MORE: that was all; WIRE_CORRUPT: no
 * collector of this version made it. */
enum wire_status vm_reader_next(struct vm_reader *r, struct sample_event *ret, uint32_t *ret_lost);

#ifdef __cplusplus
}
#endif
#endif
