/* SPDX-License-Identifier: MIT */
/* ctf_layout: see ctf_layout.h. The order of the fields is the order of LTTng's tracepoints. */
#include "convert/ctf_layout.h"

#define WAKEUP_FIELDS                                                                              \
	{                                                                                          \
		{ "comm", CTF_TASK_COMM }, { "tid", CTF_TASK_PID, "pid" },                         \
			{ "prio", CTF_TASK_PRIO }, { "target_cpu", CTF_VALUE },                    \
		{                                                                                  \
			"success", CTF_EXTRA                                                       \
		}                                                                                  \
	}

const struct ctf_layout ctf_layouts[SCHED_KINDS] = {
	[SCHED_SWITCH] = { "sched_switch",
			   { { "prev_comm", CTF_TASK_COMM },
			     { "prev_tid", CTF_TASK_PID, "prev_pid" },
			     { "prev_prio", CTF_TASK_PRIO },
			     { "prev_state", CTF_STATE },
			     { "next_comm", CTF_OTHER_COMM },
			     { "next_tid", CTF_OTHER_PID, "next_pid" },
			     { "next_prio", CTF_OTHER_PRIO } } },
	[SCHED_WAKING] = { "sched_waking", WAKEUP_FIELDS },
	[SCHED_WAKEUP] = { "sched_wakeup", WAKEUP_FIELDS },
	[SCHED_WAKEUP_NEW] = { "sched_wakeup_new", WAKEUP_FIELDS },
	[SCHED_FORK] = { "sched_process_fork",
			 { { "parent_comm", CTF_TASK_COMM },
			   { "parent_tid", CTF_TASK_PID, "parent_pid" },
			   { "parent_pid", CTF_TASK_TGID },
			   { "child_comm", CTF_OTHER_COMM },
			   { "child_tid", CTF_OTHER_PID, "child_pid" },
			   { "child_pid", CTF_OTHER_TGID } } },
	[SCHED_EXEC] = { "sched_process_exec",
			 { { "filename", CTF_FILENAME },
			   { "tid", CTF_TASK_PID, "pid" },
			   { "old_tid", CTF_VALUE, "old_pid" } } },
	[SCHED_EXIT] = { "sched_process_exit",
			 { { "comm", CTF_TASK_COMM },
			   { "tid", CTF_TASK_PID, "pid" },
			   { "prio", CTF_TASK_PRIO },
			   { "group_dead", CTF_EXTRA } } },
	[SCHED_RENAME] = { "task_rename",
			   { { "tid", CTF_TASK_PID, "pid" },
			     { "oldcomm", CTF_TASK_COMM },
			     { "newcomm", CTF_OTHER_COMM },
			     { "oom_score_adj", CTF_VALUE } } },
	[SCHED_SETPRIO] = { "sched_pi_setprio",
			    { { "comm", CTF_TASK_COMM },
			      { "tid", CTF_TASK_PID, "pid" },
			      { "oldprio", CTF_TASK_PRIO },
			      { "newprio", CTF_OTHER_PRIO } } },
};

int ctf_layout_find(const char *name)
{
	const char *colon = strchr(name, ':');
	int kind;

	if (colon)
		name = colon + 1;
	for (kind = 0; kind < SCHED_KINDS; kind++)
		if (!strcmp(name, ctf_layouts[kind].name))
			return kind;
	return -1;
}

bool ctf_role_is_text(enum ctf_role role)
{
	return role == CTF_TASK_COMM || role == CTF_OTHER_COMM || role == CTF_FILENAME;
}

bool ctf_role_is_read(enum ctf_role role)
{
	return role != CTF_TASK_TGID && role != CTF_OTHER_TGID;
}

bool ctf_layout_has_extra(const struct sched_dialect *d, enum sched_kind kind)
{
	if (kind == SCHED_EXIT)
		return d->features & DIALECT_GROUP_DEAD;
	if (kind == SCHED_WAKING || kind == SCHED_WAKEUP || kind == SCHED_WAKEUP_NEW)
		return d->features & (DIALECT_SUCCESS | DIALECT_SUCCESS_SILENT);
	return false;
}

int32_t *ctf_role_int(struct sched_event *e, enum ctf_role role)
{
	switch (role) {
	case CTF_TASK_PID:
	case CTF_TASK_TGID:
		return &e->task.pid;
	case CTF_TASK_PRIO:
		return &e->task.prio;
	case CTF_OTHER_PID:
	case CTF_OTHER_TGID:
		return &e->other.pid;
	case CTF_OTHER_PRIO:
		return &e->other.prio;
	default:
		return &e->value;
	}
}

char *ctf_role_comm(struct sched_event *e, enum ctf_role role)
{
	return role == CTF_TASK_COMM ? e->task.comm : e->other.comm;
}
