/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * filter: see filter.h.
 *
 * A busy device asks a few hundred thousand times a second, and mostly the answer is no. So pids go
 * through a sieve of 256 bits before the list is searched. The references to cgroups keep them in
 * memory; one that is removed meanwhile has no members any more, and needs no care.
 */
#include "device/driver/filter.h"

#include <linux/bitops.h>
#include <linux/cgroup.h>
#include <linux/err.h>
#include <linux/rcupdate.h>
#include <linux/string.h>

#ifdef CONFIG_CGROUPS
static int find_cgroup(struct task_filter *f, const char *path)
{
	struct cgroup *found = cgroup_get_from_path(path);

	if (IS_ERR(found))
		return -ENOENT;
	f->cgroups[f->n_cgroups++] = found;
	return 0;
}

static void put_cgroups(struct task_filter *f)
{
	while (f->n_cgroups)
		cgroup_put(f->cgroups[--f->n_cgroups]);
}

static bool is_member(const struct task_filter *f, struct task_struct *t)
{
	bool is = false;
	u32 i;

	if (!f->n_cgroups || !t || !t->pid)
		return false;
	rcu_read_lock();
	for (i = 0; i < f->n_cgroups && !is; i++)
		is = cgroup_is_descendant(task_dfl_cgroup(t), f->cgroups[i]);
	rcu_read_unlock();
	return is;
}
#else
static int find_cgroup(struct task_filter *f, const char *path)
{
	return -ENOENT;
}

static void put_cgroups(struct task_filter *f)
{
}

static bool is_member(const struct task_filter *f, struct task_struct *t)
{
	return false;
}
#endif

static void add_pid(struct task_filter *f, s32 pid)
{
	f->pids[f->n_pids++] = pid;
	__set_bit((u32)pid % FILTER_SIEVE_BITS, f->sieve);
}

static void add_comm(struct task_filter *f, const char comm[SCHED_COMM_LEN])
{
	size_t len = strnlen(comm, SCHED_COMM_LEN);

	memcpy(f->comms[f->n_comms], comm, SCHED_COMM_LEN);
	f->comm_len[f->n_comms++] = len && comm[len - 1] == '*' ? len - 1 : SCHED_COMM_LEN;
}

int filter_init(struct task_filter *f, const struct message_config *c)
{
	u32 i;
	int r;

	memset(f, 0, sizeof(*f));
	for (i = 0; i < min(c->n_pids, CONFIG_PIDS_MAX); i++)
		add_pid(f, c->pids[i]);
	for (i = 0; i < min(c->n_comms, CONFIG_COMMS_MAX); i++)
		add_comm(f, c->comms[i]);
	for (i = 0; i < min(c->n_cgroups, CONFIG_CGROUPS_MAX); i++) {
		r = find_cgroup(f, c->cgroups[i]);
		if (r < 0) {
			put_cgroups(f);
			return r;
		}
	}
	f->is_on = f->n_pids || f->n_comms || f->n_cgroups;
	return 0;
}

void filter_done(struct task_filter *f)
{
	f->is_on = false;
	put_cgroups(f);
}

static bool passes_pid(const struct task_filter *f, s32 pid)
{
	u32 i;

	if (!test_bit((u32)pid % FILTER_SIEVE_BITS, f->sieve))
		return false;
	for (i = 0; i < f->n_pids; i++)
		if (f->pids[i] == pid)
			return true;
	return false;
}

static bool passes_comm(const struct task_filter *f, const char comm[SCHED_COMM_LEN])
{
	u32 i;

	for (i = 0; i < f->n_comms; i++)
		if (!memcmp(f->comms[i], comm, f->comm_len[i]))
			return true;
	return false;
}

bool filter_passes(const struct task_filter *f, const struct sched_event *ev,
		   const struct filter_tasks *tasks)
{
	bool has_other = ev->kind == SCHED_SWITCH || ev->kind == SCHED_FORK;

	if (!f->is_on || passes_pid(f, ev->pid) || passes_pid(f, ev->task.pid))
		return true;
	if (has_other && passes_pid(f, ev->other.pid))
		return true;
	if (is_member(f, current) || is_member(f, tasks->task) || is_member(f, tasks->other))
		return true;
	if (ev->kind == SCHED_EXEC) /* has no name; a thread that execs takes its leader's pid */
		return passes_pid(f, ev->value);
	if (passes_comm(f, ev->task.comm))
		return true;
	return (has_other || ev->kind == SCHED_RENAME) && passes_comm(f, ev->other.comm);
}
