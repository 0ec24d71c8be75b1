/* SPDX-License-Identifier: MIT */
/*
 * tasks: the walk over /proc, decoded with the collector's reader of metadata, has this process, a
 * child with a strange name, a thread of the child, and the kernel's first thread; and it has them
 * alike however small the items are.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "device/agent/tasks.h"
#include "trace/info.h"
#include "trace/info_meta.h"

static const char strange[] = "a:b+c)\n\x01-d"; /* no worker of the kernel, so nothing is cut */

static void *sleep_named(void *fd)
{
	pid_t tid = (pid_t)syscall(SYS_gettid);

	prctl(PR_SET_NAME, "walk-thread", 0, 0, 0);
	if (write(*(int *)fd, &tid, sizeof(tid)) != sizeof(tid))
		_exit(1);
	for (;;)
		pause();
	return NULL;
}

/* A child of a strange name with a thread; *ret_tid is that one's number. */
static pid_t start_child(pid_t *ret_tid)
{
	pthread_t thread;
	int fds[2];
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_NAME, strange, 0, 0, 0);
		if (pthread_create(&thread, NULL, sleep_named, &fds[1]))
			_exit(1);
		for (;;)
			pause();
	}
	assert_int_equal(read(fds[0], ret_tid, sizeof(*ret_tid)), sizeof(*ret_tid));
	close(fds[0]);
	close(fds[1]);
	return pid;
}

static const struct trace_task *find(const struct trace_info *i, pid_t pid)
{
	size_t n;

	for (n = 0; n < i->n_tasks; n++)
		if (i->tasks[n].pid == pid)
			return &i->tasks[n];
	return NULL;
}

static void check_task(const struct trace_info *i, pid_t pid, pid_t tgid, const char *comm)
{
	const struct trace_task *t = find(i, pid);
	char padded[SCHED_COMM_LEN];

	assert_non_null(t);
	assert_int_equal(t->tgid, tgid);
	sched_comm_set(padded, comm, strlen(comm));
	assert_memory_equal(t->comm, padded, SCHED_COMM_LEN);
}

/* All items of a walk with this much room for each. */
static size_t walk(struct trace_info *i, size_t room)
{
	uint8_t *out = malloc(room);
	struct task_walk *w = NULL;
	struct error e = ERROR_INIT;
	size_t len, items = 0;

	assert_non_null(out);
	assert_int_equal(info_init(i), 0);
	assert_int_equal(task_walk_open(&w, &e), 0);
	while ((len = task_walk_encode(w, out, room))) {
		assert_true(len <= room);
		assert_int_equal(info_decode(i, NULL, out, len), 0);
		items++;
	}
	task_walk_free(w);
	free(out);
	return items;
}

static void walk_finds_all(void **state)
{
	static const size_t rooms[] = { 64, 100, 1000, 8192, 4U << 20 };
	struct trace_info info;
	char own[32] = "";
	pid_t pid, tid;
	size_t r, items, last = 0;

	(void)state;
	prctl(PR_GET_NAME, own, 0, 0, 0);
	pid = start_child(&tid);
	for (r = 0; r < sizeof(rooms) / sizeof(rooms[0]); r++) {
		memset(&info, 0, sizeof(info));
		items = walk(&info, rooms[r]);
		check_task(&info, getpid(), getpid(), own);
		check_task(&info, pid, pid, strange);
		check_task(&info, tid, pid, "walk-thread");
		if (!access("/proc/2/task", F_OK) && find(&info, 2) && find(&info, 2)->tgid == 2 &&
		    !memcmp(find(&info, 2)->comm, "kthr", 4))
			check_task(&info, 2, 2, "kthreadd");
		assert_true(!last || items <= last);
		last = items;
		info_done(&info);
	}
	assert_int_equal(last, 1);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void no_room_is_no_item(void **state)
{
	struct task_walk *w = NULL;
	uint8_t out[32];

	(void)state;
	assert_int_equal(task_walk_open(&w, NULL), 0);
	assert_int_equal(task_walk_encode(w, out, 0), 0);
	assert_int_equal(task_walk_encode(w, out, sizeof(out)), 0);
	task_walk_free(w);
	task_walk_free(NULL);
}

/* The worker's name in events, "kworker/0:1", has neither '+' nor what it works on behind it. */
static void workers_have_their_plain_name(void **state)
{
	struct trace_info info;
	size_t n, workers = 0;

	(void)state;
	memset(&info, 0, sizeof(info));
	walk(&info, 8192);
	for (n = 0; n < info.n_tasks; n++) {
		const struct trace_task *t = &info.tasks[n];
		const char *colon = memchr(t->comm, ':', SCHED_COMM_LEN);

		if (strncmp(t->comm, "kworker/", 8) != 0 || !colon)
			continue;
		workers++;
		assert_null(memchr(colon, '-', (size_t)(t->comm + SCHED_COMM_LEN - colon)));
		assert_null(memchr(colon, '+', (size_t)(t->comm + SCHED_COMM_LEN - colon)));
	}
	info_done(&info);
	if (!workers) {
		puts("skipped: no kernel workers in this /proc");
		skip();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(walk_finds_all),
		cmocka_unit_test(no_room_is_no_item),
		cmocka_unit_test(workers_have_their_plain_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
