/* SPDX-License-Identifier: MIT */
/*
 * filter: see filter.h.
 *
 * The members of cgroups are two hash sets of pids: those that the last reading found, and forks
 * since then; and those of the reading before. Both count. Events are looked at up to some 200 ms
 * after they happened, and a task that has ended since then is in no list any more; without the
 * older set its last events would be kept out.
 *
 * Lists are read whole before they are parsed: the kernel makes each of them anew when it is read
 * from its start, and a list that changed between two reads would show a task twice or not at all.
 */
#include "device/agent/filter.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CGROUP_ROOT "/sys/fs/cgroup"
#define SLOTS (2 * FILTER_MEMBERS_MAX) /* a power of two; never more than half full */

struct member_set {
	uint32_t n;
	int32_t pids[SLOTS]; /* 0: empty */
};

struct event_filter {
	struct message_config config;
	size_t comm_len[CONFIG_COMMS_MAX]; /* bytes to compare; less than a name's: any rest */
	uint32_t generation;
	struct member_set *now, *before; /* NULL without cgroups */
	char *list;			 /* of FILTER_LIST_SIZE bytes */
	char path[PATH_MAX];
};

static uint32_t slot_of(int32_t pid)
{
	return ((uint32_t)pid * 2654435761U >> 7) & (SLOTS - 1);
}

static bool member_has(const struct member_set *m, int32_t pid)
{
	uint32_t i;

	for (i = slot_of(pid); m->pids[i]; i = (i + 1) & (SLOTS - 1))
		if (m->pids[i] == pid)
			return true;
	return false;
}

/* What is beyond the ceiling is not known, as filter.h says. */
static void member_add(struct member_set *m, int32_t pid)
{
	uint32_t i = slot_of(pid);

	if (pid <= 0 || m->n >= FILTER_MEMBERS_MAX)
		return;
	for (; m->pids[i]; i = (i + 1) & (SLOTS - 1))
		if (m->pids[i] == pid)
			return;
	m->pids[i] = pid;
	m->n++;
}

/* Pids in decimal, one a line. */
static void parse_list(struct member_set *m, const char *p)
{
	char *end;
	long pid;

	for (; *p; p = end) {
		pid = strtol(p, &end, 10);
		if (end == p)
			return;
		if (pid > 0 && pid <= INT32_MAX)
			member_add(m, (int32_t)pid);
	}
}

/* The list `name` of the cgroup at f->path; -ENOENT if there is none. */
static int read_list(struct event_filter *f, const char *name)
{
	size_t len = strlen(f->path), used = 0;
	_cleanup_close_ int fd = -EBADF;
	ssize_t n;

	if (snprintf(f->path + len, sizeof(f->path) - len, "/%s", name) >=
	    (int)(sizeof(f->path) - len)) {
		f->path[len] = 0;
		return -ENAMETOOLONG;
	}
	fd = open(f->path, O_RDONLY | O_CLOEXEC);
	f->path[len] = 0;
	if (fd < 0)
		return -errno;
	while ((n = read(fd, f->list + used, FILTER_LIST_SIZE - 1 - used)) > 0)
		used += (size_t)n;
	if (n < 0)
		return -errno;
	f->list[used] = 0;
	parse_list(f->now, f->list);
	return 0;
}

/* Version 2 lists threads in cgroup.threads (4.14 on; before, only the processes), version 1 in
 * tasks. */
static int read_cgroup(struct event_filter *f)
{
	static const char *const lists[] = { "cgroup.threads", "tasks", "cgroup.procs" };
	size_t i;
	int r = -ENOENT;

	for (i = 0; i < sizeof(lists) / sizeof(lists[0]) && r == -ENOENT; i++)
		r = read_list(f, lists[i]);
	return r;
}

/* The cgroup at f->path and all below it. */
static int read_tree(struct event_filter *f, unsigned int depth)
{
	size_t len = strlen(f->path);
	struct dirent *d;
	DIR *dir;
	int r = read_cgroup(f);

	if (r < 0 || depth == FILTER_DEPTH_MAX)
		return r;
	dir = opendir(f->path);
	while (dir && (d = readdir(dir))) {
		if (d->d_type != DT_DIR || d->d_name[0] == '.' ||
		    len + strlen(d->d_name) + 2 > sizeof(f->path))
			continue;
		snprintf(f->path + len, sizeof(f->path) - len, "/%s", d->d_name);
		read_tree(f, depth + 1); /* one that has gone meanwhile has no tasks */
		f->path[len] = 0;
	}
	if (dir)
		closedir(dir);
	return 0;
}

/* One cgroup in the hierarchy at root: 1 if it is there. */
static int read_hierarchy(struct event_filter *f, const char *root, const char *cgroup)
{
	while (*cgroup == '/')
		cgroup++;
	if (snprintf(f->path, sizeof(f->path), "%s%s%s", root, *cgroup ? "/" : "", cgroup) >=
	    (int)sizeof(f->path))
		return 0;
	return read_tree(f, 0) == 0;
}

/* The same path may be there in several hierarchies of version 1, and beside them in version 2's:
 * tasks that are in any of them are members. How many there were. */
static int read_everywhere(struct event_filter *f, const char *cgroup)
{
	char root[sizeof(CGROUP_ROOT) + 1 + NAME_MAX];
	int found = 0;
	struct dirent *d;
	DIR *dir;

	if (!access(CGROUP_ROOT "/cgroup.procs", F_OK))
		return read_hierarchy(f, CGROUP_ROOT, cgroup);
	dir = opendir(CGROUP_ROOT);
	while (dir && (d = readdir(dir))) {
		if (d->d_type != DT_DIR || d->d_name[0] == '.')
			continue;
		snprintf(root, sizeof(root), CGROUP_ROOT "/%s", d->d_name);
		found += read_hierarchy(f, root, cgroup);
	}
	if (dir)
		closedir(dir);
	return found;
}

int filter_refresh(struct event_filter *f, struct error *e)
{
	struct member_set *older;
	int r = 0;
	uint32_t i;

	if (!f || !f->now)
		return 0;
	older = f->before;
	f->before = f->now;
	f->now = older;
	memset(f->now, 0, sizeof(*f->now));
	f->generation++;
	for (i = 0; i < f->config.n_cgroups; i++)
		if (!read_everywhere(f, f->config.cgroups[i]) && !r)
			r = error_set(e, ENOENT, "cannot read cgroup %s: not found below %s",
				      f->config.cgroups[i], CGROUP_ROOT);
	return r;
}

/* A path that a collector sent stays below the root of the hierarchy. */
static bool leads_up(const char *path)
{
	const char *p;

	for (p = path; (p = strstr(p, "..")); p += 2)
		if ((p == path || p[-1] == '/') && (p[2] == 0 || p[2] == '/'))
			return true;
	return false;
}

static int prepare_cgroups(struct event_filter *f, struct error *e)
{
	uint32_t i;

	for (i = 0; i < f->config.n_cgroups; i++)
		if (leads_up(f->config.cgroups[i]))
			return error_set(e, EINVAL, "cannot filter by cgroup %s: .. in its path",
					 f->config.cgroups[i]);
	f->now = calloc(1, sizeof(*f->now));
	f->before = calloc(1, sizeof(*f->before));
	f->list = malloc(FILTER_LIST_SIZE);
	if (!f->now || !f->before || !f->list)
		return error_set(e, ENOMEM, "cannot filter by cgroup: out of memory");
	return filter_refresh(f, e);
}

int filter_new(struct event_filter **ret, const struct message_config *c, struct error *e)
{
	CLEANUP(event_filter) struct event_filter *f = NULL;
	uint32_t i;
	int r;

	if (!c->n_pids && !c->n_comms && !c->n_cgroups) {
		*ret = NULL;
		return 0;
	}
	f = calloc(1, sizeof(*f));
	if (!f)
		return error_set(e, ENOMEM, "cannot make a filter: out of memory");
	f->config = *c;
	for (i = 0; i < f->config.n_comms; i++) {
		size_t len = strnlen(c->comms[i], SCHED_COMM_LEN);

		f->comm_len[i] = len && c->comms[i][len - 1] == '*' ? len - 1 : SCHED_COMM_LEN;
	}
	if (f->config.n_cgroups) {
		r = prepare_cgroups(f, e);
		if (r < 0)
			return r;
	}
	*ret = take_ptr(f);
	return 0;
}

void filter_free(struct event_filter *f)
{
	if (!f)
		return;
	free(f->now);
	free(f->before);
	free(f->list);
	free(f);
}

static bool is_member(const struct event_filter *f, int32_t pid)
{
	return f->now && pid > 0 && (member_has(f->now, pid) || member_has(f->before, pid));
}

static bool passes_pid(const struct event_filter *f, int32_t pid)
{
	uint32_t i;

	for (i = 0; i < f->config.n_pids; i++)
		if (f->config.pids[i] == pid)
			return true;
	return is_member(f, pid);
}

static bool passes_comm(const struct event_filter *f, const char comm[SCHED_COMM_LEN])
{
	uint32_t i;

	for (i = 0; i < f->config.n_comms; i++)
		if (!memcmp(f->config.comms[i], comm, f->comm_len[i]))
			return true;
	return false;
}

bool filter_passes(struct event_filter *f, const struct sched_event *ev)
{
	if (!f)
		return true;
	if (ev->kind == SCHED_FORK && is_member(f, ev->task.pid))
		member_add(f->now, ev->other.pid);
	if (passes_pid(f, ev->pid) || passes_pid(f, ev->task.pid))
		return true;
	if ((ev->kind == SCHED_SWITCH || ev->kind == SCHED_FORK) && passes_pid(f, ev->other.pid))
		return true;
	if (ev->kind == SCHED_EXEC) /* has no name; a thread that execs takes its leader's pid */
		return passes_pid(f, ev->value);
	if (passes_comm(f, ev->task.comm))
		return true;
	return (ev->kind == SCHED_SWITCH || ev->kind == SCHED_FORK || ev->kind == SCHED_RENAME) &&
	       passes_comm(f, ev->other.comm);
}

uint32_t filter_get_generation(const struct event_filter *f)
{
	return f ? f->generation : 0;
}

bool filter_next_member(const struct event_filter *f, uint32_t *slot, int32_t *ret_pid)
{
	if (!f || !f->now)
		return false;
	for (; *slot < SLOTS; (*slot)++) {
		if (f->now->pids[*slot]) {
			*ret_pid = f->now->pids[(*slot)++];
			return true;
		}
	}
	return false;
}
