/* SPDX-License-Identifier: MIT */
/*
 * perf_rings: the rings that the kernel writes perf records into, one for each CPU, read in order of time.
 *
 *	perf_rings_begin(&r, until);          what is there by now
 *	while (perf_rings_next(&r, &piece))   the oldest record of all rings, up to that time
 *	perf_rings_end(&r);                   the kernel has the room again
 *
 * Who is who, a process's name and its mappings, may be told on another CPU than it is sampled on. So rings are not
 * emptied one by one. What was written after `until` stays for the next time: then whatever another CPU wrote before it
 * is there, too.
 */
#ifndef KISEKI_DEVICE_PROFILE_PERF_RINGS_H
#define KISEKI_DEVICE_PROFILE_PERF_RINGS_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "device/profile/perf_abi.h"

#define PERF_RINGS_MAX 4096U

#define PERF_RINGS_OTHERS 2U /* descriptors that are waited for beside the rings */

struct perf_ring {
	uint32_t cpu;
	int fd; /* borrowed: the event that it is mapped of */
	uint8_t *map;
	uint8_t *data;	   /* behind the first page */
	uint64_t at, head; /* read up to, written up to; they only rise */
	uint64_t given;	   /* the kernel knows that it was read up to here */
	uint64_t time;	   /* of the record at `at`, never less than that of the one before */
	uint32_t len;	   /* of that record; 0: there is none for now */
};

struct perf_rings {
	struct perf_ring *list;
	uint32_t n, n_max;
	uint32_t size; /* bytes of data of each, a power of two */
	uint32_t *heap;
	uint32_t n_heap;
	uint64_t until;
	bool is_out;			  /* the record at the heap's top was given out */
	struct pollfd *polls;		  /* one for each, and those of the caller */
	uint8_t record[PERF_RECORD_MOST]; /* one that goes across the end of its ring */
};

struct perf_piece {
	const uint8_t *
		bytes; /* until the next one is taken; NULL: the ring cannot be read, all of it is passed over */
	uint32_t len;
	uint32_t ring; /* place in the list */
};

int perf_rings_new(struct perf_rings **ret, uint32_t n_max, struct error *e);
void perf_rings_free(struct perf_rings *r);

/* Maps one; all have the same size. Returns 0 or a negative errno, for the caller to say. */
int perf_rings_add(struct perf_rings *r, int fd, uint32_t cpu);

/* Bytes of each ring, of those that are added next. */
void perf_rings_set_size(struct perf_rings *r, uint32_t size);
void perf_rings_clear(struct perf_rings *r); /* unmaps all */

/* Until a ring has something, or one of the others, whose number is -1 if there is none. True: the first of those has. */
bool perf_rings_wait(struct perf_rings *r, const struct pollfd others[PERF_RINGS_OTHERS],
		     int timeout_ms);

void perf_rings_begin(struct perf_rings *r, uint64_t until);
bool perf_rings_next(struct perf_rings *r, struct perf_piece *ret);
void perf_rings_end(struct perf_rings *r);

#endif
