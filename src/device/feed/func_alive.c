/* SPDX-License-Identifier: MIT */
/* func_alive: see func_alive.h. */
#include "device/feed/func_alive.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434 /* the same number everywhere but on alpha */
#endif
#define LINE_ROOM 8192U

int func_alive_open(int32_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	return fd < 0 ? -1 : fd; /* it is closed on execve by itself */
}

/* The part of /proc/PID/stat behind the name, which may hold anything. */
static bool read_stat(int32_t pid, char *text, size_t room, const char **ret)
{
	char path[64];
	_cleanup_close_ int fd = -1;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, room - 1);
	if (n <= 0)
		return false;
	text[n] = 0;
	*ret = strrchr(text, ')');
	return *ret && (*ret)[1] == ' ' && (*ret)[2];
}

uint64_t func_alive_born(int32_t pid)
{
	const char *at;
	char text[1024];
	int field;

	if (!read_stat(pid, text, sizeof(text), &at) || at[2] == 'Z' || at[2] == 'X')
		return 0;
	at += 2;
	for (field = 3; field < 22 && at; field++) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	return at ? strtoull(at, NULL, 10) : 0;
}

bool func_alive_is_gone(int32_t pid, int pidfd, uint64_t born)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };
	uint64_t now;

	if (pidfd >= 0)
		return poll(&p, 1, 0) > 0 && p.revents;
	now = func_alive_born(pid);
	return !now || (born && now != born);
}

/* "from-to perms offset major:minor inode   path"; the device is left out, because file systems
 * that lie above others name theirs differently there. */
static bool is_line_of(const char *line, uint64_t inode, const char *name)
{
	unsigned long long found = 0;
	const char *slash = strrchr(line, '/');

	return slash && sscanf(line, "%*s %*s %*s %*s %llu", &found) == 1 && found == inode &&
	       !strncmp(slash + 1, name, strlen(name));
}

int func_alive_has(int32_t pid, uint64_t inode, const char *name)
{
	char text[LINE_ROOM], path[64], *line, *end;
	_cleanup_close_ int fd = -1;
	size_t have = 0;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT || errno == ESRCH ? 0 : -errno;
	for (;;) {
		n = read(fd, text + have, sizeof(text) - 1 - have);
		if (n < 0)
			return errno == ESRCH ? 0 : -errno;
		if (n == 0)
			return 0;
		have += (size_t)n;
		text[have] = 0;
		for (line = text; (end = strchr(line, '\n')); line = end + 1) {
			*end = 0;
			if (is_line_of(line, inode, name))
				return 1;
		}
		have -= (size_t)(line - text);
		memmove(text, line, have);
		if (have >= sizeof(text) - 1)
			have = 0; /* no line of a map is so long */
	}
}
