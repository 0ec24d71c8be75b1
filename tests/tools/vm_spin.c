/* SPDX-License-Identifier: MIT */
/*
 * vm_spin: a process in a guest whose name and time the tests know.
 *
 *	vm_spin spin MS		computes
 *	vm_spin hold MS		has pages that are all alike, for the kernel's thread that merges such, and sleeps
 *
 * It prints its name, pid and the milliseconds of CPU time that it used.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define HELD (16U << 20)

static volatile uint64_t sink;

static uint64_t ms_of(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void spin(uint64_t end)
{
	uint32_t i;

	while (ms_of(CLOCK_MONOTONIC) < end)
		for (i = 0; i < 10000; i++)
			sink = sink * 6364136223846793005ULL + i;
}

static int hold(uint64_t ms)
{
	char *p = mmap(NULL, HELD, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || madvise(p, HELD, MADV_MERGEABLE))
		return 1;
	memset(p, 1, HELD);
	usleep((useconds_t)ms * 1000);
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t ms = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000;

	if (argc > 1 && !strcmp(argv[1], "hold")) {
		if (hold(ms))
			return 1;
	} else {
		spin(ms_of(CLOCK_MONOTONIC) + ms);
	}
	printf("ran %s %d %llu\n", argv[0], (int)getpid(),
	       (unsigned long long)ms_of(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}
