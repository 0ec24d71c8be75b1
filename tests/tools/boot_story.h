/* SPDX-License-Identifier: MIT */
/*
 * boot_story: a boot in memory, for tests that say in a few lines what happened.
 *
 *	struct boot_story *s = boot_story_new();
 *	boot_story_pass(s, 20 * MS);
 *	boot_story_found(s, 20 * MS, 1, 0, 0);       pid 1 is there, and has been since 0
 *	boot_story_task(s, 20 * MS, 1, 'S', 3 * MS); it sleeps, and has run for 3 ms
 *	boot_story_start(s, 25 * MS, 7, 1);          the kernel tells of a fork
 *	boot_story_open(s, &source);                 any number of times
 *
 * A tick is a nanosecond of CLOCK_MONOTONIC. Items come out in the order in which they were put in. Each
 * call aborts if there is no memory.
 */
#ifndef KISEKI_TESTS_BOOT_STORY_H
#define KISEKI_TESTS_BOOT_STORY_H

#include "trace/boot_source.h"

#define BOOT_STORY_MS 1000000ULL

struct boot_story;

struct boot_story *boot_story_new(void);
void boot_story_free(struct boot_story *s);

/* Its items; it borrows the story. */
void boot_story_open(struct boot_story *s, struct boot_source **ret);
struct trace_info *boot_story_info(struct boot_story *s); /* what its sources say, to be set */
void boot_story_set_cut(struct boot_story *s);		  /* its end was not seen */

/* Any record; the text may be NULL. It is copied. */
void boot_story_put(struct boot_story *s, const struct boot_event *event);
void boot_story_loss(struct boot_story *s, const struct trace_loss *loss);
size_t boot_story_count(const struct boot_story *s);
const struct boot_item *boot_story_at(const struct boot_story *s, size_t i);

/* The records of the kinds. */
void boot_story_pass(struct boot_story *s, uint64_t tick);
void boot_story_start(struct boot_story *s, uint64_t tick, uint32_t pid,
		      uint32_t parent); /* told by the kernel */
void boot_story_found(struct boot_story *s, uint64_t tick, uint32_t pid, uint32_t parent,
		      uint64_t start);					     /* in /proc */
void boot_story_recorder(struct boot_story *s, uint64_t tick, uint32_t pid); /* in /proc: itself */
void boot_story_thread(struct boot_story *s, uint64_t tick, uint32_t tid, uint32_t group);
void boot_story_name(struct boot_story *s, uint64_t tick, uint32_t pid, const char *comm);
void boot_story_exec(struct boot_story *s, uint64_t tick, uint32_t pid,
		     const char *words); /* with blanks between */
void boot_story_task(struct boot_story *s, uint64_t tick, uint32_t pid, char state,
		     uint64_t ran_ns);
void boot_story_wait(struct boot_story *s, uint64_t tick, uint32_t pid, const char *function);
void boot_story_exit(struct boot_story *s, uint64_t tick, uint32_t pid,
		     uint32_t code);					 /* told by the kernel */
void boot_story_gone(struct boot_story *s, uint64_t tick, uint32_t pid); /* not in /proc */
void boot_story_account(struct boot_story *s, uint64_t tick, uint32_t pid, uint64_t ran_ns,
			uint64_t disk_ns);
void boot_story_cpu(struct boot_story *s, uint64_t tick, uint32_t cpu, uint64_t user_ns,
		    uint64_t idle_ns);
void boot_story_disk(struct boot_story *s, uint64_t tick, uint32_t disk, uint64_t read_bytes,
		     uint64_t busy_ns);
void boot_story_disk_name(struct boot_story *s, uint64_t tick, uint32_t disk, const char *name);
void boot_story_memory(struct boot_story *s, uint64_t tick, uint64_t total_kib, uint64_t free_kib);
void boot_story_mark(struct boot_story *s, uint64_t tick, uint32_t type, const char *text);

#endif
