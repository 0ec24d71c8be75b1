/* SPDX-License-Identifier: MIT */
/*
 * load_message: many tasks that pass small messages and do nothing else: the scheduler's worst day.
 *
 *	load_message [GROUPS]
 *
 * Each group has TASKS senders and TASKS receivers; every sender writes to every receiver of its
 * group in turn. Even groups are processes over socket pairs, odd ones are threads over pipes, so
 * that both kinds of task and both kinds of wakeup occur. A pause between rounds of a group, other
 * for each, keeps the machine at the edge of idle instead of only full. Runs until it is killed.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TASKS 10
#define GROUPS_MAX 64
#define MESSAGE 100 /* bytes */
#define ROUND 50    /* messages to each receiver before a pause */

struct group {
	unsigned number;
	int read_fd[TASKS];
	int write_fd[TASKS];
};

struct task {
	struct group *group;
	unsigned number;
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void name_task(const struct task *t, const char *role)
{
	char name[16];

	snprintf(name, sizeof(name), "%s-%u/%u", role, t->group->number, t->number);
	prctl(PR_SET_NAME, name);
}

static void send_to_all(const struct group *g, const char message[MESSAGE])
{
	unsigned to;

	for (to = 0; to < TASKS; to++)
		if (write(g->write_fd[to], message, MESSAGE) != MESSAGE)
			die("write");
}

static void *send_loop(void *arg)
{
	const struct task *t = arg;
	struct timespec pause = { .tv_nsec = 1000000L * (2 + (long)t->group->number % 7) };
	char message[MESSAGE];
	unsigned i;

	name_task(t, "send");
	memset(message, (int)t->number, sizeof(message));
	for (;;) {
		for (i = 0; i < ROUND; i++)
			send_to_all(t->group, message);
		nanosleep(&pause, NULL);
	}
	return NULL;
}

static void *receive_loop(void *arg)
{
	const struct task *t = arg;
	char message[MESSAGE];

	name_task(t, "recv");
	while (read(t->group->read_fd[t->number], message, MESSAGE) > 0)
		;
	die("read");
	return NULL;
}

static void start_task(struct group *g, unsigned number, void *(*loop)(void *))
{
	struct task *t = malloc(sizeof(*t));
	pthread_t thread;

	if (!t)
		die("malloc");
	t->group = g;
	t->number = number;
	if (g->number & 1) {
		if (pthread_create(&thread, NULL, loop, t))
			die("pthread_create");
		return;
	}
	switch (fork()) {
	case -1:
		die("fork");
		break;
	case 0:
		prctl(PR_SET_PDEATHSIG, 9);
		loop(t);
	}
}

static void start_group(struct group *g)
{
	unsigned i;
	int fd[2];

	for (i = 0; i < TASKS; i++) {
		if (g->number & 1 ? pipe(fd) : socketpair(AF_UNIX, SOCK_STREAM, 0, fd))
			die("pipe");
		g->read_fd[i] = fd[0];
		g->write_fd[i] = fd[1];
	}
	for (i = 0; i < TASKS; i++) {
		start_task(g, i, receive_loop);
		start_task(g, i, send_loop);
	}
}

/* Processes first: a thread must not exist when the others fork. */
int main(int argc, char **argv)
{
	static struct group groups[GROUPS_MAX];
	unsigned n = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 4, parity, i;

	if (!n || n > GROUPS_MAX) {
		fprintf(stderr, "usage: load_message [GROUPS], at most %d\n", GROUPS_MAX);
		return 2;
	}
	for (parity = 0; parity < 2; parity++)
		for (i = parity; i < n; i += 2) {
			groups[i].number = i;
			start_group(&groups[i]);
		}
	for (;;)
		pause();
}
