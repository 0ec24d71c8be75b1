/* SPDX-License-Identifier: MIT */
/*
 * boot_script: a boot in memory, for tests that say in a few lines what happened.
 *
 *	struct boot_script *s = boot_script_new();
 *	boot_script_pass(s, 20 * MS);
 *	boot_script_found(s, 20 * MS, 1, 0, 0);       pid 1 is there, and has been since 0
 *	boot_script_task(s, 20 * MS, 1, 'S', 3 * MS); it sleeps, and has run for 3 ms
 *	boot_script_start(s, 25 * MS, 7, 1);          the kernel tells of a fork
 *	boot_script_open(s, &source);                 any number of times
 *
 * A tick is a nanosecond of CLOCK_MONOTONIC. Items come out in the order in which they were put in. Each
 * call aborts if there is no memory.
 */
#ifndef KISEKI_TESTS_BOOT_SCRIPT_H
#define KISEKI_TESTS_BOOT_SCRIPT_H

#include "trace/boot_source.h"

#define BOOT_SCRIPT_MS 1000000ULL

struct boot_script;

struct boot_script *boot_script_new(void);
void boot_script_free(struct boot_script *s);

/* Its items; it borrows the script. */
void boot_script_open(struct boot_script *s, struct boot_source **ret);
struct trace_info *boot_script_info(struct boot_script *s); /* what its sources say, to be set */
void boot_script_set_cut(struct boot_script *s);	    /* its end was not seen */

/* Any record; the text may be NULL. It is copied. */
void boot_script_put(struct boot_script *s, const struct boot_event *event);
void boot_script_loss(struct boot_script *s, const struct trace_loss *loss);
size_t boot_script_count(const struct boot_script *s);
const struct boot_item *boot_script_at(const struct boot_script *s, size_t i);

/* The records of the kinds. */
void boot_script_pass(struct boot_script *s, uint64_t tick);
void boot_script_start(struct boot_script *s, uint64_t tick, uint32_t pid,
		       uint32_t parent); /* told by the kernel */
void boot_script_found(struct boot_script *s, uint64_t tick, uint32_t pid, uint32_t parent,
		       uint64_t start); /* in /proc */
void boot_script_thread(struct boot_script *s, uint64_t tick, uint32_t tid, uint32_t group);
void boot_script_name(struct boot_script *s, uint64_t tick, uint32_t pid, const char *comm);
void boot_script_exec(struct boot_script *s, uint64_t tick, uint32_t pid,
		      const char *words); /* with blanks between */
void boot_script_task(struct boot_script *s, uint64_t tick, uint32_t pid, char state,
		      uint64_t ran_ns);
void boot_script_wait(struct boot_script *s, uint64_t tick, uint32_t pid, const char *function);
void boot_script_exit(struct boot_script *s, uint64_t tick, uint32_t pid,
		      uint32_t code);					   /* told by the kernel */
void boot_script_gone(struct boot_script *s, uint64_t tick, uint32_t pid); /* not in /proc */
void boot_script_account(struct boot_script *s, uint64_t tick, uint32_t pid, uint64_t ran_ns,
			 uint64_t disk_ns);
void boot_script_cpu(struct boot_script *s, uint64_t tick, uint32_t cpu, uint64_t user_ns,
		     uint64_t idle_ns);
void boot_script_disk(struct boot_script *s, uint64_t tick, uint32_t disk, uint64_t read_bytes,
		      uint64_t busy_ns);
void boot_script_disk_name(struct boot_script *s, uint64_t tick, uint32_t disk, const char *name);
void boot_script_memory(struct boot_script *s, uint64_t tick, uint64_t total_kib,
			uint64_t free_kib);
void boot_script_mark(struct boot_script *s, uint64_t tick, uint32_t type, const char *text);

#endif
