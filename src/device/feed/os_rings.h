/* SPDX-License-Identifier: MIT */
/*
 * os_rings: what an instance recorded, of all CPUs as one, by time.
 *
 *	os_rings_begin(r)                      what comes from now on may be asked for
 *	os_rings_next(r, safe_ns, &record, e)  1: the next one that is not behind safe_ns; 0: there is none
 *
 * Each CPU's ring is in order, so this is a merge. A CPU that has nothing may still record something
 * that is earlier than what others have: so nothing is given behind safe_ns, a moment before
 * os_rings_begin(). What is behind it stays in the page that was read, for the next time.
 *
 * A page says whether records are missing before it; how many, the kernel counts (`stats`). That is
 * OS_LOST, right behind the last record before the gap, and OS_FOUND where it ends. A page that cannot be
 * followed to its end is the same, with a number that nobody knows: LOSS_UNKNOWN.
 */
#ifndef KISEKI_DEVICE_FEED_OS_RINGS_H
#define KISEKI_DEVICE_FEED_OS_RINGS_H

#include "base/cleanup.h"
#include "device/feed/os_map.h"

#define OS_RINGS_PAGE_MOST (256U << 10)

struct os_rings;

/* The folder of an instance. */
int os_rings_open(struct os_rings **ret, const char *folder, uint32_t cpus, struct error *e);
void os_rings_close(struct os_rings *r);
DEFINE_CLEANUP(os_rings, os_rings_close)

void os_rings_begin(struct os_rings *r);
int os_rings_next(struct os_rings *r, uint64_t safe_ns, struct os_record *ret, struct error *e);

/* Bytes of the fullest ring since os_rings_begin(). */
uint64_t os_rings_get_taken(const struct os_rings *r);

uint64_t os_rings_fixed_bytes(const struct os_rings *r);

#endif
