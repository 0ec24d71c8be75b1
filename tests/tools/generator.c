/* SPDX-License-Identifier: MIT */
/* generator: see generator.h. */
#include "tools/generator.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct command {
	uint32_t work, n;
};

static pthread_mutex_t shared;
static int ping[2], pong[2];

static void must(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	_exit(99);
}

static void give(int fd)
{
	must(write(fd, "", 1) == 1, "generator: write");
}

static void get(int fd)
{
	char c;

	if (read(fd, &c, 1) != 1)
		_exit(0); /* the other side ended */
}

static void stay(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	must(!sched_setaffinity(0, sizeof(set), &set), "generator: sched_setaffinity");
}

static void start_children(uint32_t n, int runs)
{
	pid_t pid;

	for (; n; n--) {
		pid = fork();
		must(pid >= 0, "generator: fork");
		if (!pid && runs)
			execl("/bin/true", "true", (char *)NULL);
		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
}

/* Priorities are inherited only where they differ. */
static void *want_mutex(void *unused)
{
	struct sched_param param = { .sched_priority = 10 };

	sched_setscheduler(0, SCHED_FIFO, &param);
	pthread_mutex_lock(&shared);
	pthread_mutex_unlock(&shared);
	return unused;
}

static void inherit(uint32_t n)
{
	pthread_mutexattr_t attr;
	pthread_t thread;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&shared, &attr);
	for (; n; n--) {
		pthread_mutex_lock(&shared);
		must(!pthread_create(&thread, NULL, want_mutex, NULL), "generator: thread");
		usleep(2000);
		pthread_mutex_unlock(&shared);
		pthread_join(thread, NULL);
	}
}

static void work(const struct command *c)
{
	char name[32];
	uint32_t i;

	switch (c->work) {
	case GENERATOR_PING:
		for (i = 0; i < c->n; i++) {
			give(ping[1]);
			get(pong[0]);
		}
		break;
	case GENERATOR_RENAME:
		for (i = 1; i < c->n; i++) {
			snprintf(name, sizeof(name), "gen-name-%u", i & 255);
			prctl(PR_SET_NAME, name, 0, 0, 0);
		}
		prctl(PR_SET_NAME, "gen-renamed", 0, 0, 0);
		break;
	case GENERATOR_SLEEP:
		for (i = 0; i < c->n; i++)
			usleep(2000);
		break;
	case GENERATOR_PRIO:
		inherit(c->n);
		break;
	default:
		start_children(c->n, c->work == GENERATOR_EXEC);
	}
}

/* The helper ends when the generator does: its pipe is then closed. */
static void help(void)
{
	prctl(PR_SET_NAME, "helper", 0, 0, 0);
	close(ping[1]);
	close(pong[0]);
	for (;;) {
		get(ping[0]);
		give(pong[1]);
	}
}

static void serve(int in, int out, const char *name)
{
	struct command c;
	pid_t helper;

	stay();
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	prctl(PR_SET_NAME, name, 0, 0, 0);
	must(!pipe(ping) && !pipe(pong), "generator: pipe");
	helper = fork();
	must(helper >= 0, "generator: fork");
	if (!helper) {
		close(in);
		close(out);
		help();
	}
	close(ping[0]);
	close(pong[1]);
	must(write(out, &helper, sizeof(helper)) == sizeof(helper), "generator: write");
	while (read(in, &c, sizeof(c)) == sizeof(c)) {
		work(&c);
		give(out);
	}
	close(ping[1]);
	waitpid(helper, NULL, 0);
	_exit(0);
}

static uint64_t read_status(const struct generator *g, char *ret_state)
{
	unsigned long voluntary = 0, other = 0;
	char path[64], line[256];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)g->pid, (int)g->pid);
	f = fopen(path, "r");
	must(f != NULL, path);
	while (fgets(line, sizeof(line), f)) {
		sscanf(line, "State: %c", ret_state);
		sscanf(line, "voluntary_ctxt_switches: %lu", &voluntary);
		sscanf(line, "nonvoluntary_ctxt_switches: %lu", &other);
	}
	fclose(f);
	return voluntary + other;
}

/* The state says S before it is true: a task may have it and still be on the CPU, or wait for one. To
 * tell in which system call it sleeps, the kernel waits until it is off the run queue; one that does
 * not sleep is "running". Where there is no such file, two looks at the counts must do. */
static bool is_asleep(const struct generator *g)
{
	uint64_t before = read_status(g, &(char){ 0 });
	char path[64], text[16] = "", state = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", (int)g->pid, (int)g->pid);
	f = fopen(path, "r");
	if (!f || !fgets(text, sizeof(text), f))
		usleep(2000);
	if (f)
		fclose(f);
	return strncmp(text, "running", 7) && read_status(g, &state) == before && state == 'S';
}

static void wait_asleep(const struct generator *g)
{
	while (!is_asleep(g))
		usleep(500);
}

void generator_open(struct generator *g, const char *name)
{
	int to[2], from[2];

	must(!pipe(to) && !pipe(from), "generator: pipe");
	g->pid = fork();
	must(g->pid >= 0, "generator: fork");
	if (!g->pid) {
		close(to[1]);
		close(from[0]);
		serve(to[0], from[1], name);
	}
	close(to[0]);
	close(from[1]);
	g->to = to[1];
	g->from = from[0];
	must(read(g->from, &g->helper, sizeof(g->helper)) == sizeof(g->helper), "generator: read");
	wait_asleep(g);
}

void generator_run(struct generator *g, enum generator_work what, uint32_t n)
{
	struct command c = { .work = what, .n = n };
	char done;

	must(write(g->to, &c, sizeof(c)) == sizeof(c), "generator: write");
	must(read(g->from, &done, 1) == 1, "generator: read");
	wait_asleep(g);
}

uint64_t generator_get_switches(const struct generator *g)
{
	return read_status(g, &(char){ 0 });
}

void generator_close(struct generator *g)
{
	if (g->to < 0)
		return;
	close(g->to);
	g->to = -1;
	waitpid(g->pid, NULL, 0);
	close(g->from);
	/* Reaping may overtake the last switch away from it. */
	usleep(20000);
}
