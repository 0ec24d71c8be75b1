/* SPDX-License-Identifier: MIT */
/* profile_child: see profile_child.h. */
#include "device/profile/profile_child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXIT_SIGNALLED 128
#define EXIT_NOT_FOUND 127
#define EXIT_NOT_RUN 126

static void run_command(const struct profile_child *c, const char *const *argv, int go_fd)
{
	char word;
	ssize_t n;

	signal(SIGPIPE, SIG_DFL);
	signal(SIGINT, c->old_int);
	sigprocmask(SIG_SETMASK, &c->old_mask, NULL);
	do
		n = read(go_fd, &word, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(1);
	execvp(argv[0], (char *const *)argv);
	fprintf(stderr, "kiseki-agent: cannot run %s: %s\n", argv[0], strerror(errno));
	_exit(errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUN);
}

static int open_signals(struct profile_child *c, struct error *e)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, &c->old_mask);
	signal(SIGPIPE, SIG_IGN);
	/* A shell lets what it starts with & ignore SIGINT; scripts end a recording with it. */
	c->old_int = signal(SIGINT, SIG_DFL);
	c->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return c->signals < 0 ? error_set(e, errno, "cannot take signals: %m") : 0;
}

int profile_child_start(struct profile_child *c, const char *const *argv, struct error *e)
{
	int ends[2], r = open_signals(c, e);

	if (r < 0 || !argv)
		return r;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_set(e, errno, "cannot make a pipe: %m");
	c->pid = fork();
	if (c->pid == 0) {
		close(ends[1]);
		run_command(c, argv, ends[0]);
	}
	r = c->pid < 0 ? error_set(e, errno, "cannot start a process: %m") : 0;
	close(ends[0]);
	c->go_fd = ends[1];
	if (c->pid < 0)
		c->pid = 0;
	return r;
}

int profile_child_go(struct profile_child *c, struct error *e)
{
	if (c->go_fd < 0)
		return 0;
	if (write(c->go_fd, "g", 1) != 1)
		return error_set(e, errno, "cannot start the command: %m");
	close(c->go_fd);
	c->go_fd = -1;
	return 0;
}

static void set_status(struct profile_child *c, int status)
{
	c->status = WIFSIGNALED(status) ? EXIT_SIGNALLED + WTERMSIG(status) : WEXITSTATUS(status);
	c->pid = 0;
	c->is_over = true;
}

void profile_child_take(struct profile_child *c)
{
	struct signalfd_siginfo s;
	int status;

	while (read(c->signals, &s, sizeof(s)) == (ssize_t)sizeof(s)) {
		if (s.ssi_signo == SIGCHLD) {
			if (c->pid && waitpid(c->pid, &status, WNOHANG) == c->pid)
				set_status(c, status);
			continue;
		}
		/* One from the terminal has reached the command already. */
		if (c->pid && s.ssi_signo != SIGINT)
			kill(c->pid, (int)s.ssi_signo);
		c->is_over = c->is_told = true;
	}
}

void profile_child_done(struct profile_child *c)
{
	int status;

	if (c->go_fd >= 0)
		close(c->go_fd);
	c->go_fd = -1;
	if (c->pid > 0) {
		while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
			;
		set_status(c, status);
	}
	if (c->signals >= 0)
		close(c->signals);
	c->signals = -1;
}
