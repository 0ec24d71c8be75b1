/* SPDX-License-Identifier: MIT */
/* record_command: see record_command.h. */
#include "cli/record_command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/signals.h"

/* Where the hierarchy of version 2 is, alone or beside those of version 1. */
static const char *const roots[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };

#define PATH_MAX_LEN 320U

void record_command_init(struct record_command *c)
{
	memset(c, 0, sizeof(*c));
	c->go_fd = -1;
}

/* --- a cgroup of its own --- */

static int write_number(const char *path, long number)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC);
	char text[24];
	int len = snprintf(text, sizeof(text), "%ld\n", number);

	return fd >= 0 && write(fd, text, (size_t)len) == len ? 0 : -errno;
}

static void make_path(const struct record_command *c, const char *file, char path[PATH_MAX_LEN])
{
	snprintf(path, PATH_MAX_LEN, "%s%s%s", c->cgroup_root, c->cgroup, file);
}

static bool make_cgroup_at(struct record_command *c, const char *root)
{
	char path[PATH_MAX_LEN];

	c->cgroup_root = root;
	snprintf(path, sizeof(path), "%s/cgroup.procs", root);
	if (access(path, W_OK))
		return false;
	make_path(c, "", path);
	if (mkdir(path, 0755))
		return false;
	make_path(c, "/cgroup.procs", path);
	if (write_number(path, c->pid) == 0)
		return true;
	make_path(c, "", path);
	rmdir(path);
	return false;
}

/* Best effort: without it, only the program's first thread can be told from the others. */
static void make_cgroup(struct record_command *c)
{
	size_t i;

	snprintf(c->cgroup, sizeof(c->cgroup), "/kiseki-record-%ld", (long)c->pid);
	for (i = 0; i < sizeof(roots) / sizeof(roots[0]); i++)
		if (make_cgroup_at(c, roots[i]))
			return;
	c->cgroup[0] = 0;
}

/* --- the program --- */

/* The child waits for a byte, or for the end of whom it waits for. */
static void run_command(const char *const argv[], int go)
{
	char byte;

	signals_restore();
	if (read(go, &byte, 1) != 1)
		_exit(127);
	execvp(argv[0], (char *const *)argv);
	fprintf(stderr, "kiseki: cannot run %s: %s\n", argv[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

int record_command_new(struct record_command *c, const char *const argv[], bool own_cgroup,
		       struct error *e)
{
	int pair[2];

	if (pipe2(pair, O_CLOEXEC) < 0)
		return error_set(e, errno, "cannot run %s: %s", argv[0], strerror(errno));
	c->pid = fork();
	if (c->pid < 0) {
		close(pair[0]);
		close(pair[1]);
		c->pid = 0;
		return error_set(e, errno, "cannot run %s: %s", argv[0], strerror(errno));
	}
	if (!c->pid) {
		close(pair[1]);
		run_command(argv, pair[0]);
	}
	close(pair[0]);
	c->given = true;
	c->go_fd = pair[1];
	if (own_cgroup)
		make_cgroup(c);
	return 0;
}

void record_command_go(struct record_command *c)
{
	if (c->go_fd < 0)
		return;
	if (write(c->go_fd, "", 1) != 1)
		c->status = 127;
	close(c->go_fd);
	c->go_fd = -1;
}

void record_command_check(struct record_command *c)
{
	int status;

	if (!c->pid || waitpid(c->pid, &status, WNOHANG) != c->pid)
		return;
	c->pid = 0;
	c->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void record_command_signal(struct record_command *c, int signal)
{
	if (c->pid)
		kill(c->pid, signal);
}

void record_command_done(struct record_command *c)
{
	char path[PATH_MAX_LEN];

	if (c->go_fd >= 0) {
		close(c->go_fd);
		waitpid(c->pid, NULL, 0);
	}
	if (c->cgroup[0]) {
		make_path(c, "", path);
		rmdir(path); /* stays if something of it still runs */
	}
	record_command_init(c);
}
