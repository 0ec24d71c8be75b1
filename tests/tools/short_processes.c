/* SPDX-License-Identifier: MIT */
/*
 * short_processes: starts many processes that hardly live.
 *
 *	short_processes NUMBER
 *
 * One after the other, each a fork and an exec of this file, with arguments of its own: "short-K", which it makes
 * its name too, and how many milliseconds it lives, 1 to 10; those with an even number compute, the others sleep. Whoever samples /proc
 * sees few of them. A line for each tells its pid, the number and the milliseconds, in the order of their
 * ends, so a recording can be compared with what was really there. Exits with the sum of wrong exit codes:
 * process K ends with K modulo 100.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PREFIX "short-"
#define LIVES_MS 10U
#define CODES 100U

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static int live(const char *name, unsigned int ms)
{
	unsigned int number = (unsigned int)strtoul(name + strlen(PREFIX), NULL, 10);
	uint64_t end = now_us() + ms * 1000U;

	prctl(PR_SET_NAME, name);
	if (number % 2)
		usleep(ms * 1000U);
	while (now_us() < end)
		continue;
	return (int)(number % CODES);
}

static pid_t start(const char *program, unsigned int number, unsigned int ms)
{
	char name[32], length[16];
	pid_t pid = fork();

	if (pid)
		return pid;
	snprintf(name, sizeof(name), PREFIX "%u", number);
	snprintf(length, sizeof(length), "%u", ms);
	execl(program, name, "live", length, (char *)NULL);
	_exit(127);
}

int main(int argc, char **argv)
{
	unsigned int count = argc == 2 ? (unsigned int)strtoul(argv[1], NULL, 10) : 0;
	unsigned int number, wrong = 0;

	if (argc == 3 && !strncmp(argv[0], PREFIX, strlen(PREFIX)))
		return live(argv[0], (unsigned int)strtoul(argv[2], NULL, 10));
	for (number = 0; number < count; number++) {
		unsigned int ms = 1 + number * 7 % LIVES_MS;
		pid_t pid = start("/proc/self/exe", number, ms);
		int status = 0;

		if (pid < 0 || waitpid(pid, &status, 0) != pid)
			return 99;
		wrong += !WIFEXITED(status) || WEXITSTATUS(status) != (int)(number % CODES);
		printf("%d %u %u\n", (int)pid, number, ms);
	}
	return (int)(wrong < 98 ? wrong : 98);
}
