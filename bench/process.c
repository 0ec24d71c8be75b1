/* SPDX-License-Identifier: MIT */
/* process: see process.h. */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "stopwatch.h"

bool process_exists(const char *program)
{
	_cleanup_free_ char *list = NULL;
	char path[4096], *dir, *rest;

	if (strchr(program, '/'))
		return access(program, X_OK) == 0;
	list = strdup(getenv("PATH") ? getenv("PATH") : "/usr/bin:/bin");
	for (dir = strtok_r(list, ":", &rest); dir; dir = strtok_r(NULL, ":", &rest)) {
		snprintf(path, sizeof(path), "%s/%s", dir, program);
		if (access(path, X_OK) == 0)
			return true;
	}
	return false;
}

/* In the child: never returns. */
static void become(char *const argv[], const char *out)
{
	int null = open("/dev/null", O_RDWR);
	int fd = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0666);

	if (null < 0 || fd < 0 || dup2(null, 0) < 0 || dup2(fd, 1) < 0 || dup2(null, 2) < 0)
		_exit(127);
	execvp(argv[0], argv);
	_exit(127);
}

static uint64_t time_ns(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_usec * 1000ULL;
}

static int run_once(char *const argv[], const char *out, struct process_cost *ret)
{
	uint64_t start = stopwatch_wall_ns();
	struct rusage use;
	pid_t child;
	int status;

	child = fork();
	if (child < 0)
		return -errno;
	if (child == 0)
		become(argv, out);
	while (wait4(child, &status, 0, &use) < 0)
		if (errno != EINTR)
			return -errno;
	ret->wall_ns = stopwatch_wall_ns() - start;
	ret->cpu_ns = time_ns(use.ru_utime) + time_ns(use.ru_stime);
	return status == 0 ? 0 : -ECHILD;
}

int process_best(char *const argv[], const char *out, unsigned runs, struct process_cost *ret)
{
	struct process_cost best = { UINT64_MAX, UINT64_MAX }, cost = { 0 };
	unsigned i;
	int r;

	for (i = 0; i < runs; i++) {
		r = run_once(argv, out, &cost);
		if (r < 0)
			return r;
		if (cost.cpu_ns < best.cpu_ns)
			best.cpu_ns = cost.cpu_ns;
		if (cost.wall_ns < best.wall_ns)
			best.wall_ns = cost.wall_ns;
	}
	*ret = best;
	return 0;
}
