/* SPDX-License-Identifier: MIT */
/*
 * signals: Ctrl-C and its like as a descriptor, for commands that must end tidily: remove a half
 * written file, restore a terminal, stop a recording.
 */
#ifndef KISEKI_CLI_SIGNALS_H
#define KISEKI_CLI_SIGNALS_H

#include <stdbool.h>

#include "base/error.h"

/* SIGINT, SIGTERM, SIGHUP, SIGCHLD and SIGWINCH come through the descriptor from now on, and SIGPIPE
 * not at all. */
int signals_open(struct error *e);
void signals_close(int fd);

/* The next one that came, or 0. */
int signals_next(int fd);
bool signals_is_end(int signal); /* one that asks the program to end */

/* Waits: false if a signal asks to end before the time is over. */
bool signals_wait(int fd, int timeout_ms);

/* In a child before it becomes another program: all signals as they were. */
void signals_restore(void);

#define CLEANUP_SIGNALS __attribute__((cleanup(signals_closep)))
static inline void signals_closep(int *fd)
{
	signals_close(*fd);
}

#endif
