/* SPDX-License-Identifier: MIT */
/*
 * rename_generator: makes a known number of scheduler events.
 *
 *	rename_generator PREFIX COUNT RATE
 *
 * prctl(PR_SET_NAME) is one task_rename event, no more and no less, and its new name can carry a
 * number. One process per CPU that this one may use, bound to it, gives itself the names
 * "<prefix><cpu>-<number>", COUNT times in all processes together or until SIGINT, about RATE times a
 * second in all. What was made is thereby known to the single event, without asking any tracer.
 * Prints one line per CPU: its number and how many names were taken on it.
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BURST_MS 10

static volatile sig_atomic_t interrupted;

static void interrupt(int signal)
{
	(void)signal;
	interrupted = 1;
}

static int generate(const char *prefix, int cpu, unsigned long count, unsigned long rate)
{
	unsigned long i, burst = rate * BURST_MS / 1000 + 1;
	struct timespec pause = { .tv_nsec = BURST_MS * 1000000L };
	char name[40]; /* the kernel takes the first 15 */
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || sched_setaffinity(0, sizeof(one), &one) < 0)
		return 1;
	for (i = 0; i < count && !interrupted; i++) {
		snprintf(name, sizeof(name), "%s%d-%lu", prefix, cpu, i);
		if (prctl(PR_SET_NAME, name) < 0)
			return 1;
		if (i % burst == burst - 1)
			nanosleep(&pause, NULL);
	}
	printf("%d %lu\n", cpu, i);
	return fflush(stdout) ? 1 : 0;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = interrupt };
	int cpu, n = 0, status, failed = 0;
	unsigned long count, rate;
	pid_t children[CPU_SETSIZE], ended;
	cpu_set_t mine;

	if (argc != 4 || sched_getaffinity(0, sizeof(mine), &mine) < 0) {
		fprintf(stderr, "usage: rename_generator PREFIX COUNT RATE\n");
		return 2;
	}
	sigaction(SIGINT, &action, NULL);
	count = strtoul(argv[2], NULL, 10) / (unsigned int)CPU_COUNT(&mine);
	rate = strtoul(argv[3], NULL, 10) / (unsigned int)CPU_COUNT(&mine);
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &mine))
			continue;
		children[n] = fork();
		if (children[n] == 0)
			_exit(generate(argv[1], cpu, count, rate));
		n++;
	}
	while ((ended = wait(&status)) > 0 || interrupted) {
		failed |= ended > 0 ? status : 0;
		for (cpu = 0; interrupted && cpu < n; cpu++)
			kill(children[cpu], SIGINT);
		interrupted = 0;
	}
	return failed != 0;
}
