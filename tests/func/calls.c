/* SPDX-License-Identifier: MIT */
/*
 * calls: a program built with -finstrument-functions, with a case for each thing that may happen to a
 * recording.
 *
 *	calls CASE [ARGUMENT]…
 */
#include "func/calls.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define KEEP __attribute__((noinline))

static volatile int sink;

KEEP int calls_leaf(int x)
{
	sink = x;
	return x + 1;
}

KEEP int calls_twice(int x)
{
	return calls_leaf(x) + calls_leaf(x + 1);
}

KEEP int calls_deep(int depth)
{
	return depth ? calls_deep(depth - 1) + 1 : calls_leaf(0);
}

/* A dozen functions that call one another as a random number says. */
struct walk {
	unsigned state;
	int left;
};

QUIET static unsigned draw(struct walk *w)
{
	w->state = w->state * 1664525U + 1013904223U;
	return w->state >> 16;
}

static void step(struct walk *w, int depth);

#define NODE(n)                                                                                    \
	KEEP static void node_##n(struct walk *w, int depth)                                       \
	{                                                                                          \
		w->left--;                                                                         \
		while (depth < 40 && w->left > 0 && draw(w) % 16 < 3 + (n) % 8)                    \
			step(w, depth + 1);                                                        \
	}
NODE(0)
NODE(1)
NODE(2)
NODE(3)
NODE(4)
NODE(5)
NODE(6)
NODE(7)
NODE(8)
NODE(9)
NODE(10)
NODE(11)

QUIET static void step(struct walk *w, int depth)
{
	static void (*const nodes[])(struct walk *, int) = { node_0, node_1, node_2,  node_3,
							     node_4, node_5, node_6,  node_7,
							     node_8, node_9, node_10, node_11 };

	nodes[draw(w) % 12](w, depth);
}

int calls_walk(unsigned seed, int calls)
{
	struct walk w = { seed, calls };

	while (w.left > 0)
		step(&w, 0);
	return 0;
}

static int case_errno(void)
{
	int i;

	for (i = 0; i < 20000; i++) {
		errno = 4711;
		calls_twice(i);
		if (errno != 4711)
			return 1;
	}
	return 0;
}

KEEP static void sleep_ms(int ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&t, NULL);
}

KEEP static void slow(int ms)
{
	calls_twice(1);
	sleep_ms(ms);
}

/* Three long calls among many short ones. */
KEEP static int case_slow(void)
{
	int i;

	for (i = 0; i < 30; i++) {
		calls_twice(i);
		if (i % 10 == 9)
			slow(20);
	}
	return 0;
}

QUIET static int run_plain(const char *name, int argument)
{
	if (!strcmp(name, "walk"))
		return calls_walk(1, argument);
	if (!strcmp(name, "deep"))
		return calls_deep(argument) == argument + 1 ? 0 : 1;
	if (!strcmp(name, "errno"))
		return case_errno();
	if (!strcmp(name, "slow"))
		return case_slow();
	if (!strcmp(name, "pace")) { /* so many walks, a moment apart */
		while (argument--) {
			calls_walk((unsigned)argument, 500);
			usleep(1000);
		}
		return 0;
	}
	if (!strcmp(name, "drip")) { /* for minutes, a little at a time */
		while (argument--) {
			calls_walk((unsigned)argument, 20);
			usleep(5000);
		}
		return 0;
	}
	return NO_SUCH_CASE;
}

QUIET int number_at(int argc, char **argv, int at, int otherwise)
{
	return argc > at ? (int)strtol(argv[at], NULL, 10) : otherwise;
}

QUIET int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "walk";
	int status = run_plain(name, number_at(argc, argv, 2, 1000));

	if (status == NO_SUCH_CASE)
		status = case_process(name, argc, argv);
	if (status == NO_SUCH_CASE)
		status = case_thread(name, argc, argv);
	if (status == NO_SUCH_CASE)
		status = case_jump(name, argc, argv);
	return status;
}
