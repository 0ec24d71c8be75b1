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
#include "wire/meta.h"

#define TASKS_MAX (1U << 18) /* 2 MiB while the walk lasts; of more, the first events tell names */
#define NAMES_MAX 256U	     /* that an item can refer back to */
#define ROW_MAX (1 + 3 * VARINT_MAX + SCHED_COMM_LEN)
#define ITEM_HEAD 4	    /* type, and a length that is always three bytes */
#define ITEM_MAX (1U << 20) /* less than what three bytes of length can say */
#define KERNEL_NAME_MAX 64  /* /proc shows longer names of kernel threads than the task has */

struct task_ids {
	int32_t pid, tgid;
};

struct task_walk {
	struct task_ids *ids;
	size_t n, room, at;
	/* What a row may refer to; of one item only. */
	int32_t pid, tgid;
	char comm[SCHED_COMM_LEN];
	char names[NAMES_MAX][SCHED_COMM_LEN];
	uint32_t n_names;
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

static uint8_t *put_comm(struct task_walk *w, uint8_t *p, uint8_t *first,
			 const char comm[SCHED_COMM_LEN])
{
	size_t len = strnlen(comm, SCHED_COMM_LEN);
	uint32_t i = 0;

	if (!memcmp(w->comm, comm, SCHED_COMM_LEN))
		return p;
	memcpy(w->comm, comm, SCHED_COMM_LEN);
	while (i < w->n_names && memcmp(w->names[i], comm, SCHED_COMM_LEN) != 0)
		i++;
	if (i < w->n_names) {
		*first |= 1;
		return varint_put(p, i);
	}
	if (w->n_names < NAMES_MAX)
		memcpy(w->names[w->n_names++], comm, SCHED_COMM_LEN);
	*first |= 2;
	p = varint_put(p, len);
	memcpy(p, comm, len);
	return p + len;
}

static uint8_t *put_row(struct task_walk *w, uint8_t *p, const struct task_ids *t,
			const char comm[SCHED_COMM_LEN])
{
	int32_t step = t->pid - w->pid;
	uint8_t *first = p++;

	*first = step < 16 ? (uint8_t)(step << 4) : 0;
	if (!*first)
		p = varint_put_signed(p, step);
	if (t->tgid == t->pid) {
		*first |= 4;
	} else if (t->tgid == w->tgid) {
		*first |= 8;
	} else {
		*first |= 12;
		p = varint_put(p, (uint32_t)t->tgid);
	}
	w->pid = t->pid;
	w->tgid = t->tgid;
	return put_comm(w, p, first, comm);
}

size_t task_walk_encode(struct task_walk *w, uint8_t *out, size_t room)
{
	uint8_t *p = out + ITEM_HEAD;
	char comm[SCHED_COMM_LEN];
	size_t len;

	w->pid = w->tgid = 0;
	w->n_names = 0;
	memset(w->comm, 0, sizeof(w->comm));
	if (room > ITEM_MAX)
		room = ITEM_MAX;
	/* A process that ended while it was walked, and whose number was taken again, may be there
	 * twice; numbers must rise. */
	for (; w->at < w->n && room > ITEM_HEAD + ROW_MAX && (size_t)(p - out) <= room - ROW_MAX;
	     w->at++)
		if (w->ids[w->at].pid > w->pid && read_comm(&w->ids[w->at], comm))
			p = put_row(w, p, &w->ids[w->at], comm);
	len = (size_t)(p - out) - ITEM_HEAD;
	if (room <= ITEM_HEAD || !len)
		return 0;
	out[0] = META_TASKS;
	out[1] = (uint8_t)(len | 0x80);
	out[2] = (uint8_t)(len >> 7 | 0x80);
	out[3] = (uint8_t)(len >> 14 & 0x7f);
	return len + ITEM_HEAD;
}
