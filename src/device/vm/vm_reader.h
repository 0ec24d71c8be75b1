/* SPDX-License-Identifier: MIT */
/*
 * vm_reader: what a collector inside the kernel hands out (vm_record.h), record by record as events.
 *
 * The bytes are the kernel's, but a file may have held them in between: each length, count and number is checked before
 * it is believed. An event's addresses lie in the reader until the next one is asked for.
 *
 * An exit that has no record of its own (VM_RECORD_LEFT) is an event here, with what the sample before it said, which may have been in a
 * chunk long ago. So the last sample of each CPU is kept by who reads.
 */
#ifndef KISEKI_DEVICE_VM_VM_READER_H
#define KISEKI_DEVICE_VM_VM_READER_H

#include "device/vm/vm_record.h"
#include "wire/sample_event.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of one CPU: the exit that its last sample in a guest caused, if it is said to have caused one. */
struct vm_reader_exit {
	bool is_there;
	struct sample_event event;
};

struct vm_reader {
	const uint8_t *at, *end; /* what was read, the caller's */
	struct vm_reader_exit *exit;
	uint32_t n_cpus;
	bool is_told;  /* the exit before the next record was given out */
	uint32_t left; /* of the chunk */
	uint32_t cpu;
	uint16_t exits;	  /* enum sample_exits */
	uint64_t lost;	  /* records of this CPU since the start, as its last chunk says */
	uint64_t used_ns; /* what its records took since the start, likewise */
	uint64_t last_tick;
	uint64_t chain[VM_RECORD_CHAIN];
};

/* Whole chunks, as one read() gives them. `exits` has one for each CPU, all 0 at first, and is kept from one read to the next; chunks of
 * other CPUs are corrupt. */
void vm_reader_init(struct vm_reader *r, struct vm_reader_exit *exits, uint32_t n_cpus);
void vm_reader_feed(struct vm_reader *r, const uint8_t *data, size_t len);

/* The next event, of r->cpu; *ret_lost: how many are missing right before it. WIRE_MORE: that was all; WIRE_CORRUPT: no
 * collector of this version made it. */
enum wire_status vm_reader_next(struct vm_reader *r, struct sample_event *ret, uint32_t *ret_lost);

#ifdef __cplusplus
}
#endif
#endif
