/* SPDX-License-Identifier: MIT */
/*
 * func_split: a program whose time is known, for tests/system/func_split.sh. A thread, a child and its first
 * thread do the same work at once, on one CPU that a hog runs on, too: some of their own code, system calls that compute, and
 * sleeps. What each function took is measured around its calls by what the kernel itself counts: getrusage
 * for user and system time, schedstat for time on the CPU and time spent waiting for it. Built with
 * -finstrument-functions; only the work is instrumented. One line of JSON for each thread.
 */
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define QUIET __attribute__((no_instrument_function, noinline))
#define SECOND 1000000000ULL
#define ROUNDS 3
#define WORK_NS 70000000U /* of CPU time, about, of a round's own code and of its system calls */
#define SLEEP_NS 70000000U
#define CALM_NS 100000U /* off the CPU that a reading may have been, */
#define TRIES 1000	/* else there is another */

static uint64_t spins, pieces; /* that last as long */
static uint8_t random_bytes[1 << 16];

struct figures {
	uint64_t wall, run, wait, user, kernel;
};

struct worker {
	const char *who;
	struct figures user, kernel, sleep, all;
};

/* --- the work --- */

__attribute__((noinline)) static void own_code(void)
{
	volatile uint64_t sum = 0;
	uint64_t i;

	for (i = 0; i < spins; i++)
		sum += i;
}

__attribute__((noinline)) static void system_calls(void)
{
	uint8_t bytes[1 << 14];
	uint64_t i;

	for (i = 0; i < pieces; i++)
		if (getrandom(bytes, sizeof(bytes), 0) < 0)
			abort();
}

__attribute__((noinline)) static void sleeps(void)
{
	const struct timespec t = { .tv_nsec = SLEEP_NS };

	clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

/* --- what is true --- */

QUIET static uint64_t now_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

QUIET static uint64_t of_timeval(struct timeval t)
{
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_usec * 1000;
}

QUIET static uint64_t wait_ns(void)
{
	char text[128] = "";
	uint64_t run, wait;
	FILE *in = fopen("/proc/thread-self/schedstat", "r");

	if (!in || !fgets(text, sizeof(text), in) ||
	    sscanf(text, "%" SCNu64 " %" SCNu64, &run, &wait) != 2)
		abort();
	fclose(in);
	return wait;
}

QUIET static void read_clocks(struct figures *f)
{
	f->wall = now_ns(CLOCK_MONOTONIC);
	f->run = now_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* How long a thread that does not sleep had no CPU between the two. */
QUIET static uint64_t off_ns(const struct figures *a, const struct figures *b)
{
	uint64_t wall = b->wall - a->wall, run = b->run - a->run;

	return wall > run ? wall - run : 0;
}

/* All of one moment: that of being called, or with `late` that of returning. How long it waited takes a while to
 * read; when it had to wait meanwhile it reads again, and what it waited since the call is taken off. */
QUIET static void take(struct figures *f, bool late)
{
	struct figures at, from, until;
	struct rusage u;
	int i;

	read_clocks(&at);
	for (i = 0; i < TRIES; i++) {
		read_clocks(&from);
		at.wait = wait_ns();
		read_clocks(&until);
		if (off_ns(&from, &until) < CALM_NS)
			break;
	}
	if (late) {
		at.wall = until.wall;
		at.run = until.run;
	} else {
		at.wait -= off_ns(&at, &from);
	}
	getrusage(RUSAGE_THREAD, &u);
	at.user = of_timeval(u.ru_utime);
	at.kernel = of_timeval(u.ru_stime);
	*f = at;
}

QUIET static void add(struct figures *to, const struct figures *from, const struct figures *until)
{
	to->wall += until->wall - from->wall;
	to->run += until->run - from->run;
	to->wait += until->wait - from->wait;
	to->user += until->user - from->user;
	to->kernel += until->kernel - from->kernel;
}

QUIET static void measure(void (*work)(void), struct figures *sum)
{
	struct figures from, until;

	take(&from, true);
	work();
	take(&until, false);
	add(sum, &from, &until);
}

/* --- who works --- */

/* The first call of a process asks for its record, which takes a while. */
__attribute__((noinline)) static void first_call(void)
{
	__asm__ volatile("");
}

/* Its own time is that of measuring. */
__attribute__((noinline)) static void rounds(struct worker *w)
{
	int i;

	for (i = 0; i < ROUNDS; i++) {
		measure(own_code, &w->user);
		measure(system_calls, &w->kernel);
		measure(sleeps, &w->sleep);
	}
}

QUIET static void print(const char *name, const struct figures *f)
{
	printf(", \"%s\": {\"wall\": %" PRIu64 ", \"run\": %" PRIu64 ", \"wait\": %" PRId64
	       ", \"user\": %" PRIu64 ", \"kernel\": %" PRIu64 "}",
	       name, f->wall, f->run, (int64_t)f->wait, f->user,
	       f->kernel); /* some nanoseconds of none may be below it */
}

QUIET static void *run_worker(void *who)
{
	struct worker w = { .who = who };
	struct figures from, until;

	first_call();
	take(&from, true);
	rounds(&w);
	take(&until, false);
	add(&w.all, &from, &until);
	flockfile(stdout);
	printf("{\"who\": \"%s\", \"tid\": %ld", w.who, (long)syscall(SYS_gettid));
	print("own_code", &w.user);
	print("system_calls", &w.kernel);
	print("sleeps", &w.sleep);
	print("rounds", &w.all);
	puts("}");
	fflush(stdout);
	funlockfile(stdout);
	return NULL;
}

QUIET static void pin(void)
{
	cpu_set_t set;
	int cpu = CPU_SETSIZE - 1;

	if (sched_getaffinity(0, sizeof(set), &set))
		abort();
	while (!CPU_ISSET(cpu, &set))
		cpu--;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		abort();
}

/* How much lasts how long here; nothing of it is recorded. */
QUIET static void calibrate(void)
{
	volatile uint64_t sum = 0;
	uint64_t from, i, n;

	for (n = 1 << 20, from = now_ns(CLOCK_THREAD_CPUTIME_ID), i = 0; i < n; i++)
		sum += i;
	spins = n * WORK_NS / (now_ns(CLOCK_THREAD_CPUTIME_ID) - from + 1) + 1;
	for (n = 64, from = now_ns(CLOCK_THREAD_CPUTIME_ID), i = 0; i < n; i++)
		if (getrandom(random_bytes, 1 << 14, 0) < 0)
			abort();
	pieces = n * WORK_NS / (now_ns(CLOCK_THREAD_CPUTIME_ID) - from + 1) + 1;
}

QUIET static pid_t start_hog(void)
{
	volatile uint64_t sum = 0;
	pid_t parent = getpid(), pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (getppid() == parent)
		for (sum = 0; sum < 1000000;)
			sum++;
	_exit(0);
}

QUIET int main(void)
{
	pthread_t thread;
	pid_t hog, child;
	int status = 1;

	pin();
	calibrate();
	hog = start_hog();
	child = fork();
	if (!child) {
		run_worker("child");
		_exit(0);
	}
	if (hog < 0 || child < 0 || pthread_create(&thread, NULL, run_worker, "thread"))
		abort();
	run_worker("main");
	pthread_join(thread, NULL);
	waitpid(child, &status, 0);
	kill(hog, SIGKILL);
	waitpid(hog, NULL, 0);
	return status ? 1 : 9;
}
