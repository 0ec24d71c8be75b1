/* SPDX-License-Identifier: MIT */
/*
 * sigmask: the signals of threads that leave signals to others. What a thread has brought about itself is not left: blocked, such a
 * signal ends the process, whatever handler there is, like that for a page of a mapping (mapping.h) or for a refused system call.
 */
#ifndef KISEKI_BASE_SIGMASK_H
#define KISEKI_BASE_SIGMASK_H

#include <pthread.h>
#include <signal.h>

/* For this thread and those that it starts; *ret_before is for pthread_sigmask() afterwards. */
static inline void sigmask_leave(sigset_t *ret_before)
{
	static const int own[] = { SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP };
	sigset_t others;
	size_t i;

	sigfillset(&others);
	for (i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		sigdelset(&others, own[i]);
	pthread_sigmask(SIG_SETMASK, &others, ret_before);
}

#endif
