/* SPDX-License-Identifier: MIT */
/*
 * spend: runs a program and says what it cost.
 *
 *	spend FILE COMMAND [ARGUMENT...]
 *
 * FILE gets one line of JSON when the program has ended: its name, the CPU time in user space and in
 * the kernel of it and of all that it waited for, and how often these tasks gave up a CPU. The
 * kernel's sums are exact to the nanosecond, unlike samples of /proc, and none is missed because a
 * process was gone too early. SIGINT and SIGTERM go on to the program; FILE.pid has the number to
 * send them to.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile pid_t child;

static void forward(int number)
{
	if (child > 0)
		kill(child, number);
}

static int write_pid(const char *file)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s.pid", file);
	f = fopen(path, "w");
	if (!f)
		return -errno;
	fprintf(f, "%d\n", (int)getpid());
	return fclose(f) ? -errno : 0;
}

static double seconds(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec / 1e6;
}

static int write_cost(const char *file, const char *name)
{
	struct rusage used;
	FILE *f = fopen(file, "w");

	if (!f)
		return -errno;
	getrusage(RUSAGE_CHILDREN, &used);
	fprintf(f,
		"{\"name\": \"%s\", \"user_s\": %.6f, \"system_s\": %.6f, \"voluntary\": %ld, "
		"\"involuntary\": %ld}\n",
		name, seconds(&used.ru_utime), seconds(&used.ru_stime), used.ru_nvcsw,
		used.ru_nivcsw);
	return fclose(f) ? -errno : 0;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = forward };
	const char *slash;
	int status, r;

	if (argc < 3) {
		fprintf(stderr, "usage: spend FILE COMMAND [ARGUMENT...]\n");
		return 2;
	}
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	child = fork();
	if (child == 0) {
		signal(SIGINT, SIG_DFL); /* a shell's background job would ignore it */
		execvp(argv[2], argv + 2);
		fprintf(stderr, "spend: cannot run %s: %s\n", argv[2], strerror(errno));
		_exit(127);
	}
	/* A pipe that this process held open, too, would never end. */
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	r = child < 0 ? -errno : write_pid(argv[1]);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	slash = strrchr(argv[2], '/');
	r = r < 0 ? r : write_cost(argv[1], slash ? slash + 1 : argv[2]);
	if (r < 0) {
		fprintf(stderr, "spend: cannot write %s: %s\n", argv[1], strerror(-r));
		return 1;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}
