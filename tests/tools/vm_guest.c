/* SPDX-License-Identifier: MIT */
/*
 * vm_guest: the only program of a guest, whose time the tests know.
 *
 * As /init of a virtual machine it does what lines on the console say, each by a process of its own, and answers with a
 * line when that is done. It prints nothing in between, for every character of an emulated line leaves the
 * guest. The guest's own account of that time (/proc/stat, in hundredths of a second) is in the answer:
 *
 *	spin SECONDS	computes: three parts of the time in heavy(), one in light()
 *	duty SECONDS	computes for 10 ms, sleeps for 10 ms
 *	write SECONDS	writes to the console
 *	off		switches the guest off
 *
 *	go
 *	done spin pid=71 user=598 system=1 idle=0 steal=401
 *
 * Whoever looks from outside finds the time between "go" and "done" as the one in which nothing was printed.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000ULL
#define DUTY_NS 10000000ULL
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
	WORK(3 * UNIT);
}

__attribute__((noinline)) void light(void)
{
	WORK(UNIT);
}

static void spin(uint64_t end)
{
	while (now_ns() < end) {
		heavy();
		light();
	}
}

static void duty(uint64_t end)
{
	uint64_t at = now_ns();
	struct timespec until;

	while (at < end) {
		spin(at + DUTY_NS);
		at += 2 * DUTY_NS;
		until.tv_sec = (time_t)(at / NS_PER_S);
		until.tv_nsec = (long)(at % NS_PER_S);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	}
}

static void print(uint64_t end)
{
	while (now_ns() < end)
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

static void run(const char *name, void (*what)(uint64_t end), uint64_t seconds)
{
	uint64_t before[STAT_FIELDS], after[STAT_FIELDS], d[STAT_FIELDS];
	int status;
	pid_t pid;

	printf("go\n");
	read_stat(before);
	pid = fork();
	if (!pid) {
		what(now_ns() + seconds * NS_PER_S);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	read_stat(after);
	for (uint32_t i = 0; i < STAT_FIELDS; i++)
		d[i] = after[i] - before[i];
	printf("done %s pid=%d user=%llu system=%llu idle=%llu steal=%llu\n", name, (int)pid,
	       (unsigned long long)d[STAT_USER], (unsigned long long)d[STAT_SYSTEM],
	       (unsigned long long)d[STAT_IDLE], (unsigned long long)d[STAT_STEAL]);
}

int main(void)
{
	char line[80], name[16];
	unsigned int seconds;

	setvbuf(stdout, NULL, _IONBF, 0);
	mkdir("/proc", 0755);
	mount("proc", "/proc", "proc", 0, NULL);
	printf("guest ready\n");
	while (fgets(line, sizeof(line), stdin)) {
		seconds = 0;
		name[0] = 0;
		sscanf(line, "%15s %u", name, &seconds);
		if (!strcmp(name, "spin"))
			run(name, spin, seconds);
		else if (!strcmp(name, "duty"))
			run(name, duty, seconds);
		else if (!strcmp(name, "write"))
			run(name, print, seconds);
		else if (!strcmp(name, "off"))
			break;
	}
	reboot(RB_POWER_OFF);
	return 1;
}
