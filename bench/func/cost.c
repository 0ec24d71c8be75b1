/* SPDX-License-Identifier: MIT */
/*
 * cost: runs a command and says what it took, in one line of JSON.
 *
 *	cost FILE COMMAND...
 *
 * Wall time, CPU time of the command and of the children that it waited for, and the most memory that
 * any of them had at once. It is as small as can be, because a process keeps the memory of the one it
 * was forked from in its maximum. Its own exit code is the command's.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

int main(int argc, char **argv)
{
	struct timespec start, end;
	struct rusage use;
	int status;
	pid_t pid;
	FILE *f;

	if (argc < 3) {
		fprintf(stderr, "usage: cost FILE COMMAND...\n");
		return 2;
	}
	clock_gettime(CLOCK_MONOTONIC, &start);
	pid = vfork();
	if (pid == 0) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &use) < 0) {
		perror("cannot run the command");
		return 2;
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	f = fopen(argv[1], "w");
	if (!f) {
		perror(argv[1]);
		return 2;
	}
	fprintf(f, "{\"wall_s\": %.6f, \"user_s\": %.6f, \"system_s\": %.6f, \"max_kib\": %ld}\n",
		(double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) * 1e-9,
		seconds(use.ru_utime), seconds(use.ru_stime), use.ru_maxrss);
	if (fclose(f))
		return 2;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
