/* SPDX-License-Identifier: MIT */
/*
 * profile_child: the command that is sampled, and the signals that end a recording.
 *
 * The command exists before the recording and waits in a read of a pipe, so that nothing of it is missed and nothing of
 * us is in it.
 */
#ifndef KISEKI_DEVICE_PROFILE_PROFILE_CHILD_H
#define KISEKI_DEVICE_PROFILE_PROFILE_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

struct profile_child {
	int signals; /* descriptor: there is a signal */
	sigset_t old_mask;
	void (*old_int)(int);
	pid_t pid; /* 0: there is none, or it is over */
	int go_fd;
	int status;   /* its exit status, once it is over */
	bool is_over; /* it has ended, or a signal said so */
	bool is_told; /* a signal did */
};

#define PROFILE_CHILD_INIT                                                                         \
	{                                                                                          \
		.signals = -1, .go_fd = -1                                                         \
	}

/* argv ends with NULL; NULL: there is no command, only signals. */
int profile_child_start(struct profile_child *c, const char *const *argv, struct error *e);

/* Lets it execute its program. */
int profile_child_go(struct profile_child *c, struct error *e);

/* Takes the signals that came. */
void profile_child_take(struct profile_child *c);

/* Waits for its end, of one that never went: ends it. */
void profile_child_done(struct profile_child *c);

#endif
