/* SPDX-License-Identifier: MIT */
/* sampler_events: what the kernel tells of processes; see sampler.h. */
#include "base/clock.h"
#include "device/boot/sampler_state.h"

/* A number that is used again: the one before is gone, whatever the table thinks. */
static void end_former(struct sampler *s, uint32_t pid)
{
	struct task *t = task_table_find(s->tasks, pid);

	if (t)
		sampler_drop(s, t);
}

/* It runs, or will: the next pass looks at it. */
static void wake(struct task *t)
{
	t->wait = t->quiet = 0;
}

static void take_fork(struct sampler *s, const struct process_event *ev)
{
	struct task none = { .pid = ev->pid, .fd = -1, .stat_fd = -1 }, *t, *parent;

	s->forks_told++;
	end_former(s, ev->pid);
	parent = task_table_find(s->tasks, ev->group == ev->pid ? ev->parent : ev->group);
	t = sampler_add(s, ev->pid, ev->ns);
	t = t ? t : &none; /* without a row it is still told, only not looked at */
	t->group = ev->group;
	t->parent = ev->group == ev->pid ? ev->parent : ev->group;
	t->start_tick = t->look_ns = t->stat_ns = ev->ns; /* it has used nothing yet */
	t->how = BOOT_BY_EVENT;
	t->scan = s->scans;
	if (parent) {
		wake(parent);
		t->flags |= parent->flags & BOOT_START_KERNEL;
		sampler_set_comm(t, parent->comm, parent->comm_len);
	}
	sampler_say_start(s, t, ev->ns);
	if (t->comm_len)
		sampler_say_name(s, t, ev->ns);
}

static void take_exec(struct sampler *s, const struct process_event *ev)
{
	struct task none = { .pid = ev->pid, .group = ev->pid, .fd = -1 };
	struct task *t = task_table_find(s->tasks, ev->pid);
	char comm[TASK_COMM_LEN + 1];
	ssize_t n;

	t = t ? t : &none;
	wake(t);
	t->stat_ns = 0; /* has its new name */
	/* A helper that the kernel itself starts is a kernel thread until now. */
	if (t->flags & BOOT_START_KERNEL) {
		t->flags &= (uint8_t)~BOOT_START_KERNEL;
		sampler_say_start(s, t, ev->ns);
	}
	sampler_say_args(s, t, ev->ns);
	/* The next look says it as well, or the account, whichever is first. */
	if (s->o.has_accounts && !s->o.wants_names && t != &none)
		return;
	n = sampler_read(s, t, "comm", comm, sizeof(comm));
	if (n <= 1)
		return;
	sampler_set_comm(t, comm, (size_t)n - (comm[n - 1] == '\n'));
	sampler_say_name(s, t, ev->ns);
}

static void take_name(struct sampler *s, const struct process_event *ev)
{
	struct task *t = task_table_find(s->tasks, ev->pid);

	if (!t)
		return;
	sampler_set_comm(t, ev->comm, sizeof(ev->comm));
	sampler_say_name(s, t, ev->ns);
}

static void take_exit(struct sampler *s, const struct process_event *ev)
{
	struct task none = { .pid = ev->pid, .has_ended = true, .fd = -1 };
	struct task *t = task_table_find(s->tasks, ev->pid), *parent;

	t = t ? t : &none;
	t->has_ended = true;
	t->exit_tick = ev->ns;
	t->exit_code = ev->code;
	wake(t);
	parent = t->group == t->pid ? task_table_find(s->tasks, t->parent) : NULL;
	if (parent && !parent->has_ended)
		wake(parent); /* which is told, too */
	if (t == &none)
		sampler_say_exit(s, t);
}

void sampler_take_event(struct sampler *s, const struct process_event *ev)
{
	switch (ev->type) {
	case PROCESS_FORK:
		take_fork(s, ev);
		break;
	case PROCESS_EXEC:
		take_exec(s, ev);
		break;
	case PROCESS_NAME:
		take_name(s, ev);
		break;
	case PROCESS_EXIT:
		take_exit(s, ev);
		break;
	case PROCESS_OTHER:
		break;
	}
}

void sampler_take_account(struct sampler *s, struct exit_account *a, uint64_t now_ns)
{
	struct boot_event ev = { .tick = now_ns, .kind = BOOT_ACCOUNT, .text = "" };
	uint32_t who = a->pid;
	struct task *t;

	if (!exit_sums_take(&s->sums, a))
		return;
	/* Its name once more: of one that was gone before it could be looked at, the only word. */
	t = task_table_find(s->tasks, a->pid);
	if (t && a->comm_len && who == a->pid &&
	    (t->comm_len != a->comm_len || memcmp(t->comm, a->comm, a->comm_len))) {
		sampler_set_comm(t, a->comm, a->comm_len);
		sampler_say_name(s, t, now_ns);
	}
	ev.key = a->pid;
	memcpy(ev.number, a->number, sizeof(ev.number));
	record_sink_put(s->o.sink, &ev);
}
