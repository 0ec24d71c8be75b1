/* SPDX-License-Identifier: MIT */
/*
 * profile_tasks: the processes and threads that samples are of, each once, numbered from 0 in the order in which they
 * came.
 *
 * A number that was used again is another process (trace/sample_spaces.h tells). A process is called as the run's
 * description says, else as its first thread was called last, else as any of its threads was.
 */
#ifndef KISEKI_ANALYSIS_PROFILE_TASKS_H
#define KISEKI_ANALYSIS_PROFILE_TASKS_H

#include "store/hashtable.h"
#include "trace/comm.h"
#include "trace/sample_source.h"

#define PROFILE_TASKS_MAX (1U << 22)
#define PROFILE_TASK_TEXT (COMM_TEXT_LEN + 32U)

struct profile_process {
	int32_t pid;
	uint32_t life; /* which of the processes with this number, from 0 */
	bool settled;  /* its name is its own */
	char name[COMM_TEXT_LEN];
};

struct profile_thread {
	uint32_t process;
	int32_t tid;
	char name[COMM_TEXT_LEN];
	char comm[SCHED_COMM_LEN]; /* of which the name was made */
};

struct profile_tasks {
	const struct sample_source *source;
	struct profile_process **processes;
	size_t n_processes, room_processes;
	struct profile_thread **threads;
	size_t n_threads, room_threads;
	struct hashtable process_table, thread_table;
	uint64_t renamed; /* how often a process that had a name got another */
};

void profile_tasks_init(struct profile_tasks *t, const struct sample_source *source);
void profile_tasks_done(struct profile_tasks *t);

/* The thread of a sample. -E2BIG, -ENOMEM. */
int profile_tasks_find(struct profile_tasks *t, const struct sample_event *ev, uint32_t *ret);

const struct profile_process *profile_tasks_process(const struct profile_tasks *t, uint32_t thread);

/* "name (pid)", and "name (pid#2)" of the second process with that number; without the number if not `numbered`. */
const char *profile_process_format(const struct profile_process *p, bool numbered,
				   char text[PROFILE_TASK_TEXT]);
const char *profile_thread_format(const struct profile_thread *t, bool numbered,
				  char text[PROFILE_TASK_TEXT]);

#endif
