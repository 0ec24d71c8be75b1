/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * meta: the payload of `meta` blocks, what a trace says about itself (docs/format/wire.md,
 * section 7).
 *
 * A row of items, each a type, a length and that many bytes. Items of unknown type are skipped, an
 * item that comes again replaces or adds to what the earlier one said. A later version may add
 * fields at the end of an item; those of version 1 are always there.
 */
#ifndef KISEKI_WIRE_META_H
#define KISEKI_WIRE_META_H

#include "wire/varint.h"

enum meta_item {
	META_DEVICE = 1,  /* text */
	META_KERNEL = 2,  /* text: release */
	META_MACHINE = 3, /* text: uname -m */
	META_ORIGIN = 4,  /* text */
	META_CPUS = 5,	  /* number of CPUs */
	META_CLOCK = 6,
	META_DIALECT = 7,
	META_TASKS = 8,
	META_ORDER = 9,		/* events of the same tick on several CPUs: their true order */
	META_SKIPPED = 10,	/* events of the input that the trace cannot hold */
	META_AGENT = 11,	/* thread group of the program that recorded it */
	META_PROCESSES = 12,	/* whose calls the function streams have */
	META_MAPPINGS = 13,	/* of one process: which file lay where, and when */
	META_THREADS = 14,	/* which thread a function stream is of */
	META_FUNC_CLOCK = 15,	/* as META_CLOCK, of the function streams */
	META_FUNC_SYNCS = 16,	/* the same moments by that clock's ticks and by CLOCK_MONOTONIC */
	META_NAMES = 17,	/* of one process: its functions, where there are no addresses */
	META_SAMPLING = 18,	/* how a profile was made */
	META_MAPPED = 19,	/* which file lay where in a process, since when */
	META_LIFE = 20,		/* processes that began, executed a program, ended, and when */
	META_KERNEL_NAMES = 21, /* functions of the kernel that samples were in */
	META_GUEST =
		22, /* what a virtual machine says of itself: its number, then items as these */
	META_TABLES =
		23, /* of a guest: whose a page table and a task's place in memory are, since when */
	META_GUEST_LINK = 24, /* of a guest: how it went with its program */
	META_PACE = 25,	      /* how often a profile was sampled, from when on, and its pauses */
};

/* Whose real time META_CLOCK has: the device's own, or that of the collector that it came from. */
enum meta_whose {
	META_WHOSE_DEVICE = 0,
	META_WHOSE_COLLECTOR = 1,
	META_WHOSE_BOTH = 2, /* a collector's; the device's own follows */
};

/* How a row of META_TASKS starts: one byte. */
#define META_TASK_COMM 0x03 /* 0 as before, 1 number of an earlier name, 2 a new name */
#define META_TASK_TGID 0x0c /* 0 unknown, 4 its own pid, 8 as before, 12 follows */
#define META_TASK_STEP 0xf0 /* pid - last pid; 0: follows as a signed number */

struct meta_reader {
	struct byte_reader bytes;
	uint32_t type;
	struct byte_reader item; /* the current item's bytes */
};

static inline void meta_reader_init(struct meta_reader *r, const void *data, size_t len)
{
	reader_init(&r->bytes, data, len);
	r->type = 0;
}

/* WIRE_OK: the next item; WIRE_MORE: there is none; WIRE_CORRUPT. */
static inline enum wire_status meta_reader_next(struct meta_reader *r)
{
	const uint8_t *p;
	uint64_t type, len;

	if (!reader_left(&r->bytes))
		return WIRE_MORE;
	type = reader_varint(&r->bytes);
	len = reader_varint(&r->bytes);
	p = reader_bytes(&r->bytes, len);
	if (r->bytes.bad || type > UINT32_MAX)
		return WIRE_CORRUPT;
	r->type = (uint32_t)type;
	reader_init(&r->item, p, (size_t)len);
	return WIRE_OK;
}

#endif
