/* SPDX-License-Identifier: MIT */
/*
 * os_map: raw records of the kernel's rings as what they say about threads: a switch, a waking, a
 * system call or its return. Formats are the kernel's own texts; what they say is found once.
 */
#ifndef KISEKI_DEVICE_FEED_OS_MAP_H
#define KISEKI_DEVICE_FEED_OS_MAP_H

#include "ftrace/sched.h"
#include "ftrace/syscall.h"

enum os_kind {
	OS_SWITCH = 0, /* tid left the CPU with the state in value, 0: preempted; other has it */
	OS_WAKING,     /* tid was woken by other */
	OS_SYSCALL,    /* tid; value: number */
	OS_RETURN,
	OS_LOST,  /* from here on records of this CPU are missing; value: so many; other 1: they
			* already were */
	OS_FOUND, /* from here on they are there again */
};

struct os_record {
	enum os_kind kind;
	uint32_t cpu;
	int32_t tid, other;
	uint64_t ns; /* CLOCK_MONOTONIC */
	uint64_t value;
};

struct os_map {
	struct sched_map sched;
	struct syscall_map calls;
	uint64_t state_mask;
};

/* The events of interest, by system and name; false: there are no more. */
bool os_map_get_event(uint32_t n, const char **ret_system, const char **ret_name);

void os_map_init(struct os_map *m, bool big_endian);

/* A format of one of them. 1, 0: it is another's, or -EBADMSG. */
int os_map_add(struct os_map *m, const char *system, const char *text, size_t len, struct error *e);

/* After the last format: what this kernel is like. -ENOENT: it has no switches. */
int os_map_settle(struct os_map *m, const char *release, uint32_t long_size, struct error *e);

/* 1: *ret has kind, tids and value; 0: of no interest; -EBADMSG: it does not fit its format. */
int os_map_decode(const struct os_map *m, const uint8_t *record, size_t len, struct os_record *ret);

/* Whether a thread that left its CPU with this state is gone for good. */
static inline bool os_state_is_dead(uint64_t state)
{
	return (state & 0x30) != 0; /* X and Z, which have changed places; both were always here */
}

#endif
