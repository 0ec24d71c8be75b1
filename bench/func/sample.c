/* SPDX-License-Identifier: MIT */
/*
 * sample: a program of which it is known how often each function is called, for test_func.py. It is
 * built with -finstrument-functions and prints the number of its calls; two threads make them.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#define DEPTH 15

/* By hand, in each function, so that it does not depend on what is tested. */
static __thread unsigned long calls;

__attribute__((noinline)) static unsigned fibonacci(unsigned n)
{
	calls++;
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static void *work(void *unused)
{
	(void)unused;
	calls++;
	for (unsigned i = 0; i < DEPTH; i++)
		fibonacci(i);
	return (void *)(uintptr_t)calls;
}

int main(void)
{
	pthread_t thread;
	void *other;

	calls++;
	if (pthread_create(&thread, NULL, work, NULL))
		return 1;
	work(NULL);
	if (pthread_join(thread, &other))
		return 1;
	printf("%lu\n", calls + (unsigned long)(uintptr_t)other);
	return 0;
}
