/* SPDX-License-Identifier: MIT */
/* calls_process: children of all kinds, and the ends that a process can come to. */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "func/calls.h"
#include "func/reference.h"

static int wait_for(pid_t pid)
{
	int status = -1;

	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* Three generations, and the parents go on meanwhile. */
static int case_fork(void)
{
	pid_t pid;

	calls_walk(2, 300);
	pid = fork();
	if (pid == 0) {
		pid_t inner;

		calls_walk(3, 300);
		inner = fork();
		if (inner == 0) {
			calls_walk(4, 300);
			_exit(0);
		}
		calls_walk(5, 300);
		exit(wait_for(inner));
	}
	calls_walk(6, 300);
	return wait_for(pid);
}

/* A child that the C library does not know of. */
static int case_clone(void)
{
	pid_t pid;

	calls_walk(2, 300);
	pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (pid == 0) {
		calls_walk(3, 300);
		_exit(0);
	}
	calls_walk(4, 300);
	return wait_for(pid);
}

static int case_vfork(char **argv)
{
	volatile int again = 0;
	pid_t pid;

	calls_walk(2, 100);
	reference_shared = 1;
	pid = vfork();
	if (pid == 0) {
		again = calls_twice(1);
		execl(argv[0], argv[0], "walk", "200", (char *)NULL);
		_exit(127);
	}
	reference_shared = 0;
	calls_walk(3, 100);
	return wait_for(pid) || !again;
}

/* Becomes another program, whose record must not replace this one's. */
static int case_exec(char **argv)
{
	calls_walk(2, 300);
	execl(argv[0], argv[0], "walk", "200", (char *)NULL);
	return 127;
}

static int case_close(void)
{
	int fd;

	calls_walk(2, 100);
	for (fd = 0; fd < 256; fd++)
		close(fd);
	calls_walk(3, 60000);
	/* Nothing of the recording may have a low number now. */
	fd = open("/dev/null", O_RDWR);
	return fd;
}

/* All of these end the process at once; what was called before is to be in the record. */
static int case_end(const char *how)
{
	volatile int *nowhere = NULL;

	calls_walk(2, 8000);
	if (!strcmp(how, "kill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(how, "segv"))
		*nowhere = calls_leaf(1);
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "overflow"))
		return calls_deep(1 << 30);
	_exit(0);
}

/* Address space as on a small device. */
QUIET static int case_limit(char **argv, const char *inner)
{
	struct rlimit limit = { 64 << 20, 64 << 20 };

	if (setrlimit(RLIMIT_AS, &limit) < 0)
		return 1;
	execl(argv[0], argv[0], inner, "20000", (char *)NULL);
	return 127;
}

QUIET static int case_fsize(char **argv)
{
	struct rlimit limit = { 9 << 20, 9 << 20 };

	if (setrlimit(RLIMIT_FSIZE, &limit) < 0)
		return 1;
	execl(argv[0], argv[0], "walk", "2000", (char *)NULL);
	return 127;
}

/* There is no room for anything more. */
QUIET static int case_no_room(void)
{
	struct rlimit limit = { 1 << 20, 1 << 20 };

	if (setrlimit(RLIMIT_AS, &limit) < 0)
		return 1;
	return calls_walk(2, 1000);
}

/* Runs until it is killed; says when it is at it. */
static int case_forever(void)
{
	unsigned i;

	for (i = 0;; i++) {
		calls_walk(i, 1000);
		if (i == 10 && write(1, "running\n", 8) != 8)
			return 1;
		if (i == 300)
			pause();
	}
}

QUIET int case_process(const char *name, int argc, char **argv)
{
	if (!strcmp(name, "fork"))
		return case_fork();
	if (!strcmp(name, "clone"))
		return case_clone();
	if (!strcmp(name, "vfork"))
		return case_vfork(argv);
	if (!strcmp(name, "exec"))
		return case_exec(argv);
	if (!strcmp(name, "close"))
		return case_close();
	if (!strcmp(name, "end") && argc > 2)
		return case_end(argv[2]);
	if (!strcmp(name, "limit"))
		return case_limit(argv, argc > 2 ? argv[2] : "walk");
	if (!strcmp(name, "fsize"))
		return case_fsize(argv);
	if (!strcmp(name, "no_room"))
		return case_no_room();
	if (!strcmp(name, "forever"))
		return case_forever();
	return NO_SUCH_CASE;
}
