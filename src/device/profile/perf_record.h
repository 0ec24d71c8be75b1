/* SPDX-License-Identifier: MIT */
/*
 * perf_record: a record of a perf ring, out of its bytes.
 *
 * The kernel wrote them; still no length in them is believed, since a ring that was overrun, or a kernel with other
 * ideas, must not lead a recorder astray that runs as root. Numbers are in the machine's own order.
 *
 * All events are opened with the same choice of fields: address, task, time, CPU, period and, if wanted, the chain;
 * and each record that is no sample has task, time and CPU behind it.
 */
#ifndef KISEKI_DEVICE_PROFILE_PERF_RECORD_H
#define KISEKI_DEVICE_PROFILE_PERF_RECORD_H

#include <stddef.h>

#include "device/profile/perf_abi.h"
#include "wire/sample_event.h"
#include "wire/sample_meta.h"

#define PERF_RECORD_FIELDS                                                                         \
	(PERF_HAS_IP | PERF_HAS_TID | PERF_HAS_TIME | PERF_HAS_CPU | PERF_HAS_PERIOD)

struct perf_record {
	uint16_t type; /* enum perf_abi_record */
	uint16_t misc;
	int32_t pid, tid;
	uint64_t time;
	uint32_t cpu;

	int32_t parent, parent_tid; /* FORK */
	int32_t other, other_tid;   /* SWITCH_WIDE: the one that comes, or the one that was there */
	uint64_t count;		    /* LOST */
	char comm[SCHED_COMM_LEN];  /* COMM */

	struct sample_mapping map; /* MMAP2; the path is borrowed from the bytes */
	uint64_t device, inode;	   /* of its file; 0, 0: not told */

	uint8_t mode; /* of a sample, enum sample_mode */
	uint64_t ip, period;
	uint16_t n_kernel, n_user;
	uint64_t chain[SAMPLE_CHAIN_MAX];
};

/* The length of the record with this head (PERF_RECORD_HEAD bytes), of which `left` bytes can be there; 0: there is none. */
uint32_t perf_record_length(const uint8_t *head, uint32_t left);

/* Where in it its time is, 0: nowhere. */
uint32_t perf_record_time_at(const uint8_t *head, uint32_t len);

/* 1; 0: a kind that is of no use here; -EBADMSG. */
int perf_record_parse(struct perf_record *r, const uint8_t *bytes, uint32_t len, bool has_chain);

#endif
