/* SPDX-License-Identifier: MIT */
/*
 * load: programs whose functions take what they take, with the noise that real ones have, until a signal makes one of them slower.
 *
 *	server RATE PERCENT   so many requests a second, at random moments, of random size; four functions work on each
 *	heap                  a heap whose objects are marked and swept when it is full
 *	batch                 now and then a list is filled, sorted and summed up
 *
 * Which of them it is its name says, so that each is a process of that name.
 * Work is counted in steps, not in time: on a machine that others use a step takes longer, but there are no more of them. SIGUSR1
 * makes the server's render() do PERCENT more steps, and the heap keep most of what it allocates, so that there is hardly any room
 * and marking goes on all the time; SIGUSR2 ends it. All numbers come from one generator, with the process's number as its seed.
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000LL
#define KEYS                                                                                       \
	4096U /* that lookup() goes through: few enough to stay near, so that what others do to the caches is not seen */
#define OBJECTS 20000U /* of the heap */
#define LINKS 4U
#define KEPT 500U /* objects that something points to, as a rule */
#define KEPT_IN_STORM 19200U
#define LIST 100000U

static volatile sig_atomic_t is_slow;
static volatile uint64_t sink; /* so that no work is left out */
static uint64_t seed;

static void hear(int number)
{
	is_slow = number == SIGUSR1;
}

static uint64_t random_next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static double random_part(void)
{
	return (double)(random_next() >> 11) / 9007199254740992.0;
}

/* The gap to the next of events that know nothing of each other. */
static double random_gap(double mean)
{
	return -mean * log(1 - random_part());
}

/* At a moment, so that what takes longer does not put off all that follows. */
static void wait_until(struct timespec *at, double gap_s)
{
	int64_t ns = at->tv_nsec + (int64_t)(gap_s * (double)NS_PER_S);

	at->tv_sec += ns / NS_PER_S;
	at->tv_nsec = ns % NS_PER_S;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, at, NULL) == EINTR)
		;
}

/* --- server --- */

static uint32_t keys[KEYS];

#ifdef __clang__
#define FUNCTION __attribute__((noinline))
#else
#define FUNCTION __attribute__((noinline, noclone))
#endif

FUNCTION static uint64_t parse(uint64_t steps)
{
	uint64_t state = steps, i;

	for (i = 0; i < steps; i++)
		state = (state ^ (i & 0x7F)) * 0x100000001B3ULL;
	return state;
}

FUNCTION static uint64_t lookup(uint64_t steps)
{
	uint64_t at = steps, i;

	for (i = 0; i < steps; i++)
		at = keys[(at + i) % KEYS];
	return at;
}

FUNCTION static uint64_t render(uint64_t steps)
{
	uint64_t state = 1, i;

	for (i = 0; i < steps; i++)
		state = state * 6364136223846793005ULL + (state >> 33);
	return state;
}

FUNCTION static uint64_t pack(uint64_t steps)
{
	uint64_t state = ~0ULL, i;

	for (i = 0; i < steps; i++)
		state = (state >> 1) ^ (-(state & 1) & 0xC96C5795D7870F42ULL) ^ (i << 40);
	return state;
}

/* All of them together take about a fifth of a CPU, however many there are; render() is two fifths of each. */
static void serve(double rate, unsigned int percent)
{
	uint64_t least = (uint64_t)(3200000 / rate), steps;
	struct timespec at;
	uint32_t i;

	for (i = 0; i < KEYS; i++)
		keys[i] = (uint32_t)random_next() % KEYS;
	clock_gettime(CLOCK_MONOTONIC, &at);
	for (;;) {
		wait_until(&at, random_gap(1 / rate));
		steps = least + random_next() % (2 * least);
		sink += parse(steps * 3);
		sink += lookup(steps);
		sink += render(steps * 6 * (100 + (is_slow ? percent : 0)) / 100);
		sink += pack(steps * 4);
	}
}

/* --- heap --- */

struct object {
	uint32_t links[LINKS];
	uint8_t is_used, is_marked;
	uint8_t text[46];
};

static struct object heap[OBJECTS];
static uint32_t roots[KEPT_IN_STORM], stack[OBJECTS * LINKS + KEPT_IN_STORM];
static uint32_t free_list[OBJECTS], n_free;

FUNCTION static void gc_mark(uint32_t n_roots)
{
	uint32_t n = 0, i, k;

	for (i = 0; i < n_roots; i++)
		stack[n++] = roots[i];
	while (n) {
		i = stack[--n];
		if (!heap[i].is_used || heap[i].is_marked)
			continue;
		heap[i].is_marked = 1;
		for (k = 0; k < LINKS; k++)
			if (heap[i].links[k] < OBJECTS)
				stack[n++] = heap[i].links[k];
	}
}

FUNCTION static void gc_sweep(void)
{
	uint32_t i;

	n_free = 0;
	for (i = 0; i < OBJECTS; i++) {
		if (!heap[i].is_marked) {
			heap[i].is_used = 0;
			free_list[n_free++] = i;
		}
		heap[i].is_marked = 0;
	}
}

FUNCTION static uint32_t allocate(uint32_t n_roots)
{
	uint32_t i, k;

	if (!n_free) {
		gc_mark(n_roots);
		gc_sweep();
	}
	i = free_list[--n_free];
	heap[i].is_used = 1;
	for (k = 0; k < LINKS; k++)
		heap[i].links[k] = UINT32_MAX;
	return i;
}

/* What the program is there for. */
FUNCTION static void fill(struct object *o)
{
	unsigned int round, i;

	for (round = 0; round < 12; round++)
		for (i = 0; i < sizeof(o->text); i++)
			o->text[i] = (uint8_t)(o->text[i] * 31 + i + round);
}

static void keep_heap(void)
{
	struct timespec at;
	uint32_t n_roots, i, n;

	gc_sweep();
	for (i = 0; i < KEPT_IN_STORM; i++)
		roots[i] = allocate(0);
	clock_gettime(CLOCK_MONOTONIC, &at);
	for (;;) {
		wait_until(&at, random_gap(1 / 50.0));
		n_roots = is_slow ? KEPT_IN_STORM : KEPT;
		for (n = 1000 + (uint32_t)random_next() % 2000; n; n--) {
			i = allocate(n_roots);
			fill(&heap[i]);
			roots[random_next() % n_roots] = i;
		}
	}
}

/* --- batch --- */

static uint32_t list[LIST];

FUNCTION static int by_value(const void *pa, const void *pb)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	return (a > b) - (a < b);
}

FUNCTION static void fill_list(void)
{
	uint32_t i;

	for (i = 0; i < LIST; i++)
		list[i] = (uint32_t)random_next();
}

FUNCTION static void sum_list(void)
{
	uint32_t i, round;

	for (round = 0; round < 20; round++)
		for (i = 0; i < LIST; i++)
			sink += list[i] * (uint64_t)round;
}

static void sort_lists(void)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	for (;;) {
		wait_until(&at, random_gap(0.5));
		fill_list();
		qsort(list, LIST, sizeof(*list), by_value);
		sum_list();
	}
}

int main(int argc, char **argv)
{
	const struct sigaction action = { .sa_handler = hear, .sa_flags = SA_RESTART };
	const char *slash = strrchr(argv[0], '/'), *role = slash ? slash + 1 : argv[0];

	seed = 88172645463325252ULL + (uint64_t)getpid() * 2654435761U;
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
	if (argc == 3 && !strcmp(role, "server") && atof(argv[1]) >= 1)
		serve(atof(argv[1]), (unsigned int)atoi(argv[2]));
	else if (argc == 1 && !strcmp(role, "heap"))
		keep_heap();
	else if (argc == 1 && !strcmp(role, "batch"))
		sort_lists();
	fprintf(stderr, "usage: server RATE PERCENT | heap | batch\n");
	return 2;
}
