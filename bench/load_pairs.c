/* SPDX-License-Identifier: MIT */
/*
 * load_pairs: tasks that wake each other at a known rate, and do nothing else.
 *
 *	load_pairs PAIRS RATE SECONDS
 *
 * Each pair passes a byte to and fro through two pipes, RATE round trips a second in all pairs
 * together, in bursts of 10 ms; RATE 0 is as fast as it goes. At the end it prints how many round
 * trips there were and the CPU seconds they took, so that what a tracer costs the traced can be
 * told.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BURST_MS 10

static double now_s(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void answer(int in, int out)
{
	char byte;

	while (read(in, &byte, 1) == 1 && write(out, &byte, 1) == 1)
		;
	_exit(0);
}

/* Plays for so many seconds; the round trips made. */
static uint64_t play(int out, int in, unsigned long rate, double seconds)
{
	double start = now_s(CLOCK_MONOTONIC), due = start;
	uint64_t trips = 0, burst = rate * BURST_MS / 1000 + 1, i;
	struct timespec pause = { 0 };
	char byte = 0;

	while (now_s(CLOCK_MONOTONIC) < start + seconds) {
		for (i = 0; i < burst; i++, trips++)
			if (write(out, &byte, 1) != 1 || read(in, &byte, 1) != 1)
				return trips;
		due += rate ? (double)burst / (double)rate : 0;
		pause.tv_nsec = (long)((due - now_s(CLOCK_MONOTONIC)) * 1e9);
		if (rate && pause.tv_nsec > 0)
			nanosleep(&pause, NULL);
	}
	return trips;
}

static void start_pair(int report, unsigned long rate, double seconds)
{
	int to[2], fro[2];
	uint64_t trips;

	if (fork() != 0)
		return;
	if (pipe(to) < 0 || pipe(fro) < 0)
		_exit(1);
	if (fork() == 0) {
		close(to[1]);
		answer(to[0], fro[1]);
	}
	trips = play(to[1], fro[0], rate, seconds);
	close(to[1]);
	wait(NULL);
	_exit(write(report, &trips, sizeof(trips)) != sizeof(trips));
}

int main(int argc, char **argv)
{
	unsigned long pairs, rate, i;
	uint64_t trips, all = 0;
	struct rusage used;
	int report[2];
	double cpu;

	if (argc != 4 || pipe(report) < 0) {
		fprintf(stderr, "usage: load_pairs PAIRS RATE SECONDS\n");
		return 2;
	}
	pairs = strtoul(argv[1], NULL, 10);
	rate = strtoul(argv[2], NULL, 10);
	for (i = 0; i < pairs; i++)
		start_pair(report[1], rate / pairs, strtod(argv[3], NULL));
	close(report[1]);
	while (read(report[0], &trips, sizeof(trips)) == sizeof(trips))
		all += trips;
	while (wait(NULL) > 0)
		;
	getrusage(RUSAGE_CHILDREN, &used);
	cpu = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
	      (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
	printf("%llu %.3f\n", (unsigned long long)all, cpu);
	return 0;
}
