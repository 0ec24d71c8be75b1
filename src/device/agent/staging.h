/* SPDX-License-Identifier: MIT */
/*
 * staging: pages of the kernel's ring on their way into blocks, in the agent's memory.
 *
 * Reading a page takes it out of the kernel; from then on it exists only where it was read to. So it
 * is read into the mapped file. Before that, the head of the slot is cleared and then the slot gets
 * the page's number: a slot whose page has a head holds that page, even if the reader died inside
 * the call, for the kernel copies a page in one go into memory that is there.
 *
 * A slot also says how many records there were in the pages before it. With the kernel's own count
 * of what was read, that tells what a death may still have lost.
 */
#ifndef KISEKI_DEVICE_AGENT_STAGING_H
#define KISEKI_DEVICE_AGENT_STAGING_H

#include "device/agent/memory.h"
#include "ftrace/page.h"

struct staging {
	struct memory *memory;
	struct page_layout layout;
	uint32_t bytes; /* of a page, at most a slot's */
	uint32_t slots;
};

/* 1: the page was read, 0: there is none. `before`: records of the pages before it. */
int staging_read(struct staging *s, int fd, uint32_t cpu, uint64_t number, uint64_t before);

/* The page of that number, NULL if it is not here. */
const uint8_t *staging_get(struct staging *s, uint32_t cpu, uint64_t number);

/* The records in it, and all up to its end. */
uint32_t staging_count(const struct staging *s, const uint8_t *page);
uint64_t staging_total(struct staging *s, uint32_t cpu, uint64_t number);

/* Nothing is staged of this CPU. */
void staging_forget(struct staging *s, uint32_t cpu);

#endif
