/* SPDX-License-Identifier: MIT */
/*
 * tasks: see tasks.h.
 *
 * /proc gives processes in order of their pids, and below each its threads; the rows of an item
 * want all of them by pid. So the walk first collects the numbers alone, eight bytes a thread,
 * sorts them, and reads a name when its row is written. A task that ends in between is left out,
 * and one that starts in between comes with its fork event.
 */
#include "device/agent/tasks.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "wire/task_encode.h"

#define TASKS_MAX (1U << 18) /* 2 MiB while the walk lasts; of more, the first events tell names */
#define KERNEL_NAME_MAX 64   /* /proc shows longer names of kernel threads than the task has */

struct task_ids {
	int32_t pid, tgid;
};

struct task_walk {
	struct task_ids *ids;
	size_t n, room, at;
	struct task_encoder encoder;
};

DEFINE_CLEANUP(task_walk, task_walk_free)

void task_walk_free(struct task_walk *w)
{
	if (!w)
		return;
	free(w->ids);
	free(w);
}

/* The number that a folder of /proc is named by; 0 for all other folders. */
static int32_t number_of(const char *name)
{
	char *end;
	long v = *name >= '1' && *name <= '9' ? strtol(name, &end, 10) : 0;

	return v > 0 && v <= INT32_MAX && !*end ? (int32_t)v : 0;
}

static int add(struct task_walk *w, int32_t pid, int32_t tgid)
{
	size_t room = w->room ? 2 * w->room : 1024;
	struct task_ids *grown;

	if (w->n == TASKS_MAX)
		return 0;
	if (w->n == w->room) {
		grown = realloc(w->ids, room * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		w->ids = grown;
		w->room = room;
	}
	w->ids[w->n++] = (struct task_ids){ .pid = pid, .tgid = tgid };
	return 0;
}

static int add_threads(struct task_walk *w, int32_t tgid)
{
	char path[48];
	struct dirent *d;
	DIR *dir;
	int32_t pid;
	int r = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)tgid);
	dir = opendir(path);
	while (dir && !r && (d = readdir(dir))) {
		pid = number_of(d->d_name);
		r = pid ? add(w, pid, tgid) : 0;
	}
	if (dir)
		closedir(dir);
	return r;
}

static int by_pid(const void *a, const void *b)
{
	const struct task_ids *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

int task_walk_open(struct task_walk **ret, struct error *e)
{
	CLEANUP(task_walk) struct task_walk *w = calloc(1, sizeof(*w));
	struct dirent *d;
	DIR *dir = opendir("/proc");
	int32_t tgid;
	int r = 0;

	if (!dir)
		return error_set(e, errno, "cannot read /proc: %s", strerror(errno));
	if (!w)
		r = -ENOMEM;
	while (!r && (d = readdir(dir))) {
		tgid = number_of(d->d_name);
		r = tgid ? add_threads(w, tgid) : 0;
	}
	closedir(dir);
	if (r)
		return error_set(e, -r, "cannot list the tasks: %s", strerror(-r));
	if (w->n)
		qsort(w->ids, w->n, sizeof(*w->ids), by_pid);
	*ret = take_ptr(w);
	return 0;
}

/* For workers of the kernel /proc appends what they last did, "kworker/0:1-events"; the name that
 * events have ends before that. */
static size_t cut_worker(const char *name, size_t len)
{
	size_t i = strlen("kworker/");

	if (len < i || memcmp(name, "kworker/", i) != 0)
		return len;
	while (i < len && name[i] != ':')
		i++;
	while (i < len && name[i] != '+' && name[i] != '-')
		i++;
	return i;
}

static bool read_comm(const struct task_ids *t, char comm[SCHED_COMM_LEN])
{
	_cleanup_close_ int fd = -EBADF;
	char path[64], name[KERNEL_NAME_MAX + 1];
	ssize_t n;
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)t->tgid, (int)t->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, name, sizeof(name));
	if (n <= 0)
		return false;
	len = (size_t)n;
	if (name[len - 1] == '\n')
		len--;
	len = cut_worker(name, len);
	sched_comm_set(comm, name, len < SCHED_COMM_LEN - 1 ? len : SCHED_COMM_LEN - 1);
	return true;
}

size_t task_walk_encode(struct task_walk *w, uint8_t *out, size_t room)
{
	char comm[SCHED_COMM_LEN];
	int32_t last = 0;

	task_encoder_begin(&w->encoder, out, room);
	/* A process that ended while it was walked, and whose number was taken again, may be there
	 * twice; numbers must rise. */
	for (; w->at < w->n && task_encoder_has_room(&w->encoder); w->at++) {
		const struct task_ids *t = &w->ids[w->at];

		if (t->pid <= last || !read_comm(t, comm))
			continue;
		task_encode(&w->encoder, t->pid, t->tgid, comm);
		last = t->pid;
	}
	return task_encoder_end(&w->encoder);
}
