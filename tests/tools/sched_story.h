/* SPDX-License-Identifier: MIT */
/*
 * sched_story: a scheduler's trace in memory, for tests that say in a few lines what happened.
 *
 * A tick is a nanosecond of CLOCK_MONOTONIC. Items come out in the order in which they were put in. A task is
 * called "task<pid>" until it is forked by another, whose name it then has, or executes a program. Each call aborts if there is no memory.
 */
#ifndef KISEKI_TESTS_SCHED_STORY_H
#define KISEKI_TESTS_SCHED_STORY_H

#include "trace/source.h"

struct sched_story;

struct sched_story *sched_story_new(uint32_t cpus);
void sched_story_free(struct sched_story *s);

/* Its items from the start; it is borrowed, and not to be freed. */
struct trace_source *sched_story_open(struct sched_story *s);

void sched_story_put(struct sched_story *s, const struct trace_item *item);

/* state: a letter of a current kernel: R S D T X I. */
void sched_story_switch(struct sched_story *s, uint64_t ns, uint32_t cpu, int32_t prev, char state,
			int32_t next);
/* by 0: by an interrupt of the idle task. */
void sched_story_wake(struct sched_story *s, uint64_t ns, uint32_t cpu, int32_t by, int32_t pid);
void sched_story_wake_irq(struct sched_story *s, uint64_t ns, uint32_t cpu, int32_t interrupted,
			  int32_t pid);
void sched_story_fork(struct sched_story *s, uint64_t ns, uint32_t cpu, int32_t parent,
		      int32_t child);
void sched_story_exec(struct sched_story *s, uint64_t ns, uint32_t cpu, int32_t pid,
		      const char *comm, const char *program); /* a rename, too */
void sched_story_exit(struct sched_story *s, uint64_t ns, uint32_t cpu, int32_t pid,
		      bool group_dead);
void sched_story_loss(struct sched_story *s, uint64_t from_ns, uint64_t to_ns, uint32_t cpu,
		      uint64_t count);

#endif
