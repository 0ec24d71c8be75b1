/* SPDX-License-Identifier: MIT */
/*
 * syscall: raw records of the ring buffer as system calls, of the system "raw_syscalls".
 *
 *	syscall_map_init(&map, big_endian);
 *	syscall_map_add(&map, format_text, len, &e);	of sys_enter and of sys_exit
 *	syscall_map_decode(&map, record.data, record.len, &event)
 *
 * A return has the number of its call. It is -1 where the kernel does not know it any more: after
 * rt_sigreturn, which leaves another context than it entered.
 */
#ifndef KISEKI_FTRACE_SYSCALL_H
#define KISEKI_FTRACE_SYSCALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum syscall_kind {
	SYSCALL_ENTER = 0,
	SYSCALL_RETURN = 1,
	SYSCALL_KINDS = 2,
};

/* Where an integer lies. */
struct syscall_ref {
	uint16_t offset;
	uint8_t size;
};

struct syscall_layout {
	struct syscall_ref type, pid, number;
	uint32_t min_len;
	uint32_t id; /* + 1; 0: not added */
};

struct syscall_map {
	bool big_endian;
	struct syscall_layout layouts[SYSCALL_KINDS];
};

struct syscall_event {
	enum syscall_kind kind;
	int32_t pid;
	int64_t number;
};

void syscall_map_init(struct syscall_map *m, bool big_endian);

/* The name of a kind's event. */
const char *syscall_map_get_name(enum syscall_kind kind);

/* 1: added; 0: another event; -EBADMSG and the cause otherwise. */
int syscall_map_add(struct syscall_map *m, const char *text, size_t len, struct error *e);

/* 1: *ret is the event; 0: one of another kind; -EBADMSG: it is too short for its format. */
int syscall_map_decode(const struct syscall_map *m, const uint8_t *record, size_t len,
		       struct syscall_event *ret);

#endif
