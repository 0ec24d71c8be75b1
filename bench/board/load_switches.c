/* SPDX-License-Identifier: MIT */
/*
 * load_switches: two tasks on one CPU that do nothing but take turns.
 *
 *	load_switches TRIPS ROUNDS
 *
 * A byte goes to and fro through two pipes TRIPS times: two switches and two wakeups each. Prints the
 * nanoseconds of each of ROUNDS such rounds, and the switches that both tasks made in all of them. On a
 * board whose clock counts instructions (qemu's -icount) the nanoseconds are instructions, and the
 * difference between two tracers is exactly what they execute more for each switch.
 */
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS_MAX 100

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static _Noreturn void answer(int in, int out)
{
	char byte;

	while (read(in, &byte, 1) == 1 && write(out, &byte, 1) == 1)
		;
	_exit(0);
}

static void play(int out, int in, unsigned long trips)
{
	char byte = 0;

	while (trips--)
		if (write(out, &byte, 1) != 1 || read(in, &byte, 1) != 1)
			exit(1);
}

static long switches(int who)
{
	struct rusage used;

	getrusage(who, &used);
	return used.ru_nvcsw + used.ru_nivcsw;
}

int main(int argc, char **argv)
{
	unsigned long trips, rounds, i;
	uint64_t ns[ROUNDS_MAX];
	int to[2], fro[2];
	cpu_set_t one;

	if (argc != 3 || pipe(to) < 0 || pipe(fro) < 0) {
		fprintf(stderr, "usage: load_switches TRIPS ROUNDS\n");
		return 2;
	}
	trips = strtoul(argv[1], NULL, 10);
	rounds = strtoul(argv[2], NULL, 10);
	if (rounds > ROUNDS_MAX)
		return 2;
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	sched_setaffinity(0, sizeof(one), &one);
	switch (fork()) {
	case -1:
		return 1;
	case 0:
		close(to[1]);
		answer(to[0], fro[1]);
	}
	play(to[1], fro[0], trips / 10 + 1); /* until all is in place */
	for (i = 0; i < rounds; i++) {
		uint64_t start = now_ns();

		play(to[1], fro[0], trips);
		ns[i] = now_ns() - start;
	}
	close(to[1]);
	wait(NULL);
	printf("{\"trips\": %lu, \"switches\": %ld, \"ns\": [", trips,
	       switches(RUSAGE_SELF) + switches(RUSAGE_CHILDREN));
	for (i = 0; i < rounds; i++)
		printf("%s%llu", i ? ", " : "", (unsigned long long)ns[i]);
	printf("]}\n");
	return 0;
}
