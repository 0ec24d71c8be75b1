/* SPDX-License-Identifier: MIT */
/*
 * vm_guest: the only program of a guest, whose time the tests know.
 *
 * As /init of a virtual machine it does what lines on the console say, each by a process of its own, and answers with a
 * line when that is done. It prints nothing in between, for every character of an emulated line leaves the
 * guest. The guest's own account of that time (/proc/stat, in hundredths of a second) is in the answer:
 *
 *	spin SECONDS	computes: four parts of the time in heavy(), one in light()
 *	mix ROUNDS	computes in the same way, so much and no more
 *	pair ROUNDS	two processes that do so at once
 *	duty SECONDS	computes for 10 ms in light(), sleeps for 20 ms
 *	write LINES	writes to the console
 *	off		switches the guest off
 *
 *	go
 *	done spin pid=71 second=0 ns=5990112345 user=598 system=1 idle=0 steal=401
 *
 * Whoever looks from outside finds the time between "go" and "done" as the one in which nothing was printed. `ns` is how long the
 * process ran by the guest's own clock.
 *
 *	vm_guest mix ROUNDS
 *
 * does that on a machine without a guest, and prints the same line.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000ULL
#define BUSY_NS 10000000ULL
#define SLEEP_NS 20000000ULL
/* Rounds of the loop: about a millisecond in all, on a board that does 125 million instructions a second. */
#define UNIT 8000U
#define STAT_FIELDS 8U

enum stat_field { STAT_USER = 0, STAT_SYSTEM = 2, STAT_IDLE = 3, STAT_STEAL = 7 };

static volatile uint64_t sink;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/* Both are the same code, so that a round costs the same. */
#define WORK(rounds)                                                                               \
	do {                                                                                       \
		uint64_t x = sink;                                                                 \
		for (uint32_t i = 0; i < (rounds); i++)                                            \
			x = x * 6364136223846793005ULL + i;                                        \
		sink = x;                                                                          \
	} while (0)

/* Not static: the tests look for their addresses. */
void heavy(void);
void light(void);

__attribute__((noinline)) void heavy(void)
{
	WORK(4 * UNIT);
}

__attribute__((noinline)) void light(void)
{
	WORK(UNIT);
}

static void spin(uint64_t seconds)
{
	uint64_t end = now_ns() + seconds * NS_PER_S;

	while (now_ns() < end) {
		heavy();
		light();
	}
}

static void mix(uint64_t rounds)
{
	while (rounds--) {
		heavy();
		light();
	}
}

static void duty(uint64_t seconds)
{
	uint64_t at = now_ns(), end = at + seconds * NS_PER_S;
	struct timespec until;

	while (at < end) {
		while (now_ns() < at + BUSY_NS)
			light(); /* heavy() takes too long to end in time */
		at += BUSY_NS + SLEEP_NS;
		until.tv_sec = (time_t)(at / NS_PER_S);
		until.tv_nsec = (long)(at % NS_PER_S);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	}
}

static void print(uint64_t lines)
{
	while (lines--)
		if (write(1, "the console of a guest is slow\n", 31) < 0)
			_exit(1);
}

static void read_stat(uint64_t ret[STAT_FIELDS])
{
	FILE *f = fopen("/proc/stat", "re");
	char line[256], *at;

	memset(ret, 0, STAT_FIELDS * sizeof(*ret));
	if (f && fgets(line, sizeof(line), f)) {
		at = line + strlen("cpu");
		for (uint32_t i = 0; i < STAT_FIELDS; i++)
			ret[i] = strtoull(at, &at, 10);
	}
	if (f)
		fclose(f);
}

struct job {
	const char *name;
	void (*function)(uint64_t amount);
	unsigned int processes;
};

static const struct job jobs[] = {
	{ "spin", spin, 1 }, { "mix", mix, 1 },	    { "pair", mix, 2 },
	{ "duty", duty, 1 }, { "write", print, 1 }, { NULL, NULL, 0 },
};

static void run(const struct job *job, uint64_t amount)
{
	uint64_t before[STAT_FIELDS], after[STAT_FIELDS], d[STAT_FIELDS], start;
	pid_t pid[2] = { 0, 0 };
	int status;

	printf("go\n");
	read_stat(before);
	start = now_ns();
	for (unsigned int i = 0; i < job->processes; i++) {
		pid[i] = fork();
		if (!pid[i]) {
			if (getppid() == 1) /* in a guest, for whoever asks what runs there */
				prctl(PR_SET_NAME, job->name);
			job->function(amount);
			_exit(0);
		}
	}
	for (unsigned int i = 0; i < job->processes; i++)
		waitpid(pid[i], &status, 0);
	start = now_ns() - start;
	read_stat(after);
	for (uint32_t i = 0; i < STAT_FIELDS; i++)
		d[i] = after[i] - before[i];
	printf("done %s pid=%d second=%d ns=%llu user=%llu system=%llu idle=%llu steal=%llu\n",
	       job->name, (int)pid[0], (int)pid[1], (unsigned long long)start,
	       (unsigned long long)d[STAT_USER], (unsigned long long)d[STAT_SYSTEM],
	       (unsigned long long)d[STAT_IDLE], (unsigned long long)d[STAT_STEAL]);
}

/* Whether it knows the order. */
static bool obey(const char *name, uint64_t amount)
{
	const struct job *job = jobs;

	while (job->name && strcmp(job->name, name) != 0)
		job++;
	if (job->name)
		run(job, amount);
	return job->name;
}

int main(int argc, char **argv)
{
	char line[80], name[16];
	unsigned int amount;

	setvbuf(stdout, NULL, _IONBF, 0);
	if (argc == 3)
		return !obey(argv[1], strtoull(argv[2], NULL, 10));
	mkdir("/proc", 0755);
	mount("proc", "/proc", "proc", 0, NULL);
	printf("guest ready\n");
	while (fgets(line, sizeof(line), stdin)) {
		amount = 0;
		name[0] = 0;
		sscanf(line, "%15s %u", name, &amount);
		if (!strcmp(name, "off"))
			break;
		obey(name, amount);
	}
	reboot(RB_POWER_OFF);
	return 1;
}
