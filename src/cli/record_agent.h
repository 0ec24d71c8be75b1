/* SPDX-License-Identifier: MIT */
/*
 * record_agent: the agent as a child of `kiseki record`: one connection between the two, a folder
 * of its own for what it keeps, and its last words for when it fails.
 */
#ifndef KISEKI_CLI_RECORD_AGENT_H
#define KISEKI_CLI_RECORD_AGENT_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

#define RECORD_WORDS_MAX 2048U

struct record_agent {
	pid_t pid;		      /* 0: it is over */
	int status;		      /* as waitpid() gives it */
	bool asked;		      /* to end */
	int fd;			      /* the connection */
	int words_fd;		      /* its standard error */
	char words[RECORD_WORDS_MAX]; /* the last of them, terminated */
	size_t n_words;
	char folder[64];
	char socket[96]; /* where programs find it; "": they do not */
};

/* -1 in the descriptors, nothing to be done. */
void record_agent_init(struct record_agent *a);

/* Makes its folder, so that it is known where things will be; it starts later. With `takes_programs` it has a
 * socket for them there. */
int record_agent_open(struct record_agent *a, bool takes_programs, struct error *e);
int record_agent_start(struct record_agent *a, struct error *e);

/* Reads what it said. */
void record_agent_listen(struct record_agent *a);
/* The last line of it. */
const char *record_agent_last_line(struct record_agent *a);

/* Has it ended? */
void record_agent_check(struct record_agent *a);

/* Asks it to end, once: it sends what it still has. */
void record_agent_stop(struct record_agent *a);

/* Closes the connection, asks it to end, and after a while makes it; removes its folder. */
void record_agent_done(struct record_agent *a);

#endif
