/* SPDX-License-Identifier: MIT */
/*
 * filter: which events pass by pid, name and cgroup. The cgroup of the test is a real one, made
 * below the first hierarchy that lets it; where none does, that test is skipped and says so.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "device/agent/filter.h"

static struct sched_event switch_of(int32_t prev, const char *prev_comm, int32_t next,
				    const char *next_comm)
{
	struct sched_event ev;

	memset(&ev, 0, sizeof(ev));
	ev.kind = SCHED_SWITCH;
	ev.pid = ev.task.pid = prev;
	ev.other.pid = next;
	sched_comm_set(ev.task.comm, prev_comm, strlen(prev_comm));
	sched_comm_set(ev.other.comm, next_comm, strlen(next_comm));
	return ev;
}

static struct sched_event event_of(enum sched_kind kind, int32_t current, int32_t pid,
				   const char *comm)
{
	struct sched_event ev = switch_of(pid, comm, 0, "");

	ev.kind = (uint8_t)kind;
	ev.pid = current;
	return ev;
}

static bool passes(struct event_filter *f, struct sched_event ev)
{
	return filter_passes(f, &ev);
}

static void nothing_asked_passes_all(void **state)
{
	struct message_config c = { .given = ~0U };
	struct event_filter *f = (void *)1;

	(void)state;
	assert_int_equal(filter_new(&f, &c, NULL), 0);
	assert_null(f);
	assert_true(passes(f, event_of(SCHED_EXIT, 1, 1, "a")));
	assert_int_equal(filter_refresh(f, NULL), 0);
	filter_free(f);
}

static void pids_of_every_role(void **state)
{
	struct message_config c = { .n_pids = 2, .pids = { 5, 77 } };
	CLEANUP(event_filter) struct event_filter *f = NULL;
	struct sched_event ev;

	(void)state;
	assert_int_equal(filter_new(&f, &c, NULL), 0);
	assert_true(passes(f, switch_of(5, "a", 6, "b")));
	assert_true(passes(f, switch_of(6, "b", 77, "a")));
	assert_false(passes(f, switch_of(6, "b", 7, "a")));
	assert_true(passes(f, event_of(SCHED_WAKING, 5, 9, "w")));
	assert_true(passes(f, event_of(SCHED_WAKEUP, 9, 5, "w")));
	assert_false(passes(f, event_of(SCHED_WAKEUP, 9, 8, "w")));
	ev = event_of(SCHED_FORK, 9, 9, "p");
	assert_false(passes(f, ev));
	ev.other.pid = 77;
	assert_true(passes(f, ev));
	ev = event_of(SCHED_EXEC, 9, 9, "");
	assert_false(passes(f, ev));
	ev.value = 77;
	assert_true(passes(f, ev));
	/* The value of other kinds is no pid. */
	ev = event_of(SCHED_WAKEUP, 9, 8, "w");
	ev.value = 5;
	assert_false(passes(f, ev));
	/* What a kind has in `other` besides pids is none, either. */
	ev = event_of(SCHED_SETPRIO, 9, 8, "w");
	ev.other.prio = 5;
	assert_false(passes(f, ev));
}

static void names_and_their_starts(void **state)
{
	struct message_config c = { .n_comms = 3,
				    .comms = { "exact", "pre*", "sixteen_bytes_ok" } };
	CLEANUP(event_filter) struct event_filter *f = NULL;
	struct sched_event ev;

	(void)state;
	assert_int_equal(filter_new(&f, &c, NULL), 0);
	assert_true(passes(f, switch_of(1, "exact", 2, "b")));
	assert_true(passes(f, switch_of(1, "a", 2, "exact")));
	assert_false(passes(f, switch_of(1, "exac", 2, "exactly")));
	assert_true(passes(f, switch_of(1, "pre", 2, "b")));
	assert_true(passes(f, switch_of(1, "b", 2, "prefix")));
	assert_false(passes(f, switch_of(1, "b", 2, "pr")));
	assert_true(passes(f, event_of(SCHED_EXIT, 1, 1, "sixteen_bytes_ok")));
	assert_false(passes(f, event_of(SCHED_EXIT, 1, 1, "sixteen_bytes_o")));
	ev = event_of(SCHED_RENAME, 1, 1, "old");
	assert_false(passes(f, ev));
	sched_comm_set(ev.other.comm, "prenew", 6);
	assert_true(passes(f, ev));
}

static void any_name(void **state)
{
	struct message_config c = { .n_comms = 1, .comms = { "*" } };
	CLEANUP(event_filter) struct event_filter *f = NULL;

	(void)state;
	assert_int_equal(filter_new(&f, &c, NULL), 0);
	assert_true(passes(f, event_of(SCHED_WAKEUP, 1, 2, "whatever")));
}

static void wrong_cgroups_are_refused(void **state)
{
	struct message_config c = { .n_cgroups = 1 };
	struct event_filter *f = NULL;
	struct error e = ERROR_INIT;

	(void)state;
	strcpy(c.cgroups[0], "a/../../../proc");
	assert_int_equal(filter_new(&f, &c, &e), -EINVAL);
	strcpy(c.cgroups[0], "kiseki-test-there-is-none");
	assert_int_equal(filter_new(&f, &c, &e), -ENOENT);
	assert_non_null(strstr(e.text, "kiseki-test-there-is-none"));
	assert_null(f);
}

/* A child that sleeps in the cgroup at path, or -1. */
static pid_t put_child(const char *path, const char *list)
{
	char file[512], number[16];
	pid_t pid = fork();
	int fd;

	if (pid == 0) {
		pause();
		_exit(0);
	}
	snprintf(file, sizeof(file), "%s/%s", path, list);
	snprintf(number, sizeof(number), "%d", (int)pid);
	fd = open(file, O_WRONLY);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, number, strlen(number)), strlen(number));
	close(fd);
	return pid;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void check_cgroup(const char *root, const char *list)
{
	char path[256], below[300];
	struct message_config c = { .n_cgroups = 1 };
	CLEANUP(event_filter) struct event_filter *f = NULL;
	struct sched_event fork_event;
	pid_t in, deep;

	snprintf(c.cgroups[0], sizeof(c.cgroups[0]), "/kiseki-test-%d", (int)getpid());
	snprintf(path, sizeof(path), "%s%s", root, c.cgroups[0]);
	snprintf(below, sizeof(below), "%s/below", path);
	if (mkdir(path, 0700) < 0 || mkdir(below, 0700) < 0) {
		printf("skipped: cannot make a cgroup %s\n", path);
		rmdir(path);
		skip();
	}
	in = put_child(path, list);
	deep = put_child(below, list);
	assert_int_equal(filter_new(&f, &c, NULL), 0);
	assert_true(passes(f, switch_of((int32_t)in, "a", 1, "b")));
	assert_true(passes(f, switch_of(1, "a", (int32_t)deep, "b")));
	assert_false(passes(f, switch_of(1, "a", (int32_t)getpid(), "b")));
	assert_false(passes(f, switch_of(1, "a", 0, "swapper")));
	/* Forks are followed, for as long as the reading after the next. */
	fork_event = event_of(SCHED_FORK, (int32_t)in, (int32_t)in, "a");
	fork_event.other.pid = INT32_MAX;
	assert_true(passes(f, fork_event));
	assert_true(passes(f, switch_of(1, "a", INT32_MAX, "b")));
	end_child(in);
	assert_int_equal(filter_refresh(f, NULL), 0);
	assert_true(passes(f, switch_of(1, "a", INT32_MAX, "b")));
	assert_true(passes(f, switch_of((int32_t)in, "a", 1, "b")));
	assert_int_equal(filter_refresh(f, NULL), 0);
	assert_false(passes(f, switch_of(1, "a", INT32_MAX, "b")));
	assert_false(passes(f, switch_of((int32_t)in, "a", 1, "b")));
	assert_true(passes(f, switch_of(1, "a", (int32_t)deep, "b")));
	assert_int_equal(filter_get_generation(f), 3);
	end_child(deep);
	assert_int_equal(rmdir(below), 0);
	assert_int_equal(rmdir(path), 0);
}

static void cgroups_of_version_2(void **state)
{
	(void)state;
	check_cgroup(access("/sys/fs/cgroup/cgroup.procs", F_OK) ? "/sys/fs/cgroup/unified"
								 : "/sys/fs/cgroup",
		     "cgroup.procs");
}

static void cgroups_of_version_1(void **state)
{
	(void)state;
	check_cgroup("/sys/fs/cgroup/pids", "tasks");
}

static void members_can_be_listed(void **state)
{
	struct message_config c = { .n_cgroups = 1, .cgroups = { "/" } };
	CLEANUP(event_filter) struct event_filter *f = NULL;
	struct error e = ERROR_INIT;
	uint32_t slot = 0, n = 0;
	bool found = false;
	int32_t pid;

	(void)state;
	if (filter_new(&f, &c, &e) < 0) {
		printf("skipped: %s\n", e.text);
		skip();
	}
	for (; filter_next_member(f, &slot, &pid); n++)
		found |= pid == (int32_t)getpid();
	assert_true(n > 0);
	assert_true(found || n == FILTER_MEMBERS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_asked_passes_all),
		cmocka_unit_test(pids_of_every_role),
		cmocka_unit_test(names_and_their_starts),
		cmocka_unit_test(any_name),
		cmocka_unit_test(wrong_cgroups_are_refused),
		cmocka_unit_test(cgroups_of_version_2),
		cmocka_unit_test(cgroups_of_version_1),
		cmocka_unit_test(members_can_be_listed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
