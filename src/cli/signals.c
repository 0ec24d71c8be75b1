/* SPDX-License-Identifier: MIT */
/* signals: see signals.h. */
#include "cli/signals.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

static void fill_set(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
	sigaddset(set, SIGCHLD);
	sigaddset(set, SIGWINCH);
}

int signals_open(struct error *e)
{
	sigset_t set;
	int fd;

	fill_set(&set);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0 || sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return error_set(e, errno, "cannot watch for signals: %s", strerror(errno));
	signal(SIGPIPE, SIG_IGN);
	return fd;
}

void signals_close(int fd)
{
	if (fd < 0)
		return;
	close(fd);
	signals_restore();
}

void signals_restore(void)
{
	sigset_t set;

	fill_set(&set);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	signal(SIGPIPE, SIG_DFL);
}

int signals_next(int fd)
{
	struct signalfd_siginfo s;

	if (read(fd, &s, sizeof(s)) != (ssize_t)sizeof(s))
		return 0;
	return (int)s.ssi_signo;
}

bool signals_is_end(int signal)
{
	return signal == SIGINT || signal == SIGTERM || signal == SIGHUP;
}

bool signals_wait(int fd, int timeout_ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int s;

	if (poll(&p, 1, timeout_ms) <= 0)
		return true;
	while ((s = signals_next(fd)))
		if (signals_is_end(s))
			return false;
	return true;
}
