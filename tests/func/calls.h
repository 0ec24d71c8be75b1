/* SPDX-License-Identifier: MIT */
/*
 * calls: the parts of a test program that do what real programs do. Each case is a function that
 * returns the program's exit status.
 */
#ifndef KISEKI_TESTS_FUNC_CALLS_H
#define KISEKI_TESTS_FUNC_CALLS_H

#define QUIET __attribute__((no_instrument_function))

/* Calls that depend on the seed alone, about so many. */
int calls_walk(unsigned seed, int calls);

/* Recursion so deep. */
int calls_deep(int depth);

/* Plain ones for others to be built of. */
int calls_leaf(int x);
int calls_twice(int x);

int case_process(const char *name, int argc, char **argv);
int case_thread(const char *name, int argc, char **argv);
int case_jump(const char *name, int argc, char **argv);

/* An argument, or another number if there are not so many. Not by atoi(), which some compilers take from the header, and instrument. */
int number_at(int argc, char **argv, int at, int otherwise);

#define NO_SUCH_CASE 64

#endif
