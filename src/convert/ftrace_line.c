/* SPDX-License-Identifier: MIT */
/*
 * ftrace_line: see ftrace_line.h.
 *
 * The columns of a line are
 *
 *	%16s-%-7d (%7d) [%03d] flags %5lu.%06lu: event: body
 *
 * with the widths of the dialect. Everything that repeats is made once: the task column of a pid is
 * kept in a small table and the three letters of every value of common_flags are listed at init.
 * The kernel looks the name in the task column up when the text is read, not when the event was
 * recorded. Here it is the one of that moment where the items have it (trace/names.h), else the one
 * in info->tasks, its saved_cmdlines; a slot of the table is checked against both before each use,
 * because a task is renamed and a text source learns names as it goes.
 *
 * The stamp is rounded to microseconds as the kernel does it, half up.
 */
#include "convert/ftrace_line.h"

#include <string.h>

#include "convert/ftrace_put.h"

enum {
	FLAG_IRQS_OFF = 0x01,
	FLAG_NOSUPPORT = 0x02, /* until 6.12 */
	FLAG_LAZY = 0x02,      /* since 6.13 */
	FLAG_RESCHED = 0x04,
	FLAG_HARDIRQ = 0x08,
	FLAG_SOFTIRQ = 0x10,
	FLAG_PREEMPT_RESCHED = 0x20,
	FLAG_NMI = 0x40,
	FLAG_BH_OFF = 0x80,
};

static const char hex_digits[] = "0123456789abcdef";

static char irqs_letter(uint32_t flags, bool lazy)
{
	if (flags & FLAG_IRQS_OFF)
		return flags & FLAG_BH_OFF ? 'D' : 'd';
	if (flags & FLAG_BH_OFF)
		return 'b';
	return !lazy && (flags & FLAG_NOSUPPORT) ? 'X' : '.';
}

static char resched_letter(uint32_t flags, bool lazy)
{
	/* Index: 1 need resched, 2 preempt resched, 4 lazy. */
	static const char letters[] = ".npNlbLB";
	uint32_t at = (flags & FLAG_RESCHED ? 1 : 0) | (flags & FLAG_PREEMPT_RESCHED ? 2 : 0) |
		      (lazy && (flags & FLAG_LAZY) ? 4 : 0);

	return letters[at];
}

static char context_letter(uint32_t flags)
{
	if (flags & FLAG_NMI)
		return flags & FLAG_HARDIRQ ? 'Z' : 'z';
	if (flags & FLAG_HARDIRQ)
		return flags & FLAG_SOFTIRQ ? 'H' : 'h';
	return flags & FLAG_SOFTIRQ ? 's' : '.';
}

void ftrace_line_init(struct ftrace_line *l, const struct trace_info *info)
{
	bool lazy = info->dialect.features & DIALECT_LAZY_RESCHED;
	uint32_t i;

	memset(l, 0, sizeof(*l));
	l->info = info;
	l->digits = info->clock.print_digits ? 6 : 0;
	for (i = 0; i < 256; i++) {
		l->flags[i][0] = irqs_letter(i, lazy);
		l->flags[i][1] = resched_letter(i, lazy);
		l->flags[i][2] = context_letter(i);
	}
}

/* The name the kernel finds for a pid: its swapper is never saved, others may be forgotten. */
static size_t column_name(const char *comm, int32_t pid, char name[SCHED_COMM_LEN])
{
	if (pid == 0)
		sched_comm_set(name, "<idle>", 6);
	else if (pid < 0)
		sched_comm_set(name, "<XXX>", 5);
	else if (comm)
		memcpy(name, comm, SCHED_COMM_LEN);
	else
		sched_comm_set(name, "<...>", 5);
	return comm_len(name);
}

static char *put_tgid(char *p, int32_t tgid, uint32_t width)
{
	*p++ = '(';
	if (tgid > 0) {
		p = put_i32_right(p, tgid, width);
	} else {
		memset(p, '-', width);
		p += width;
	}
	*p++ = ')';
	*p++ = ' ';
	return p;
}

/* What the task is called: NULL if nothing tells it. */
static const char *item_comm(const struct ftrace_line *l, const struct trace_item *item,
			     const struct trace_task *task)
{
	if (l->info->has_comm)
		return item->comm_known ? item->comm : NULL;
	return task ? task->comm : NULL;
}

static void column_fill(const struct ftrace_line *l, struct ftrace_column *c,
			const struct trace_item *item)
{
	int32_t pid = item->event.pid;
	const struct trace_task *task = info_get_task(l->info, pid);
	const char *comm = item_comm(l, item, task);
	const struct sched_dialect *d = &l->info->dialect;
	uint32_t width = d->pid_width == 5 ? 5 : 7;
	char name[SCHED_COMM_LEN], *p = c->text, *pid_at;
	size_t len = column_name(comm, pid, name);

	memset(c, 0, sizeof(*c));
	c->pid = pid;
	c->index = task ? (size_t)(task - l->info->tasks) : SIZE_MAX;
	c->n_tasks = l->info->n_tasks;
	c->tgid = task ? task->tgid : 0;
	c->has_comm = comm;
	if (comm)
		memcpy(c->comm, comm, SCHED_COMM_LEN);
	memset(p, ' ', SCHED_COMM_LEN - len);
	memcpy(p + SCHED_COMM_LEN - len, name, len);
	p += SCHED_COMM_LEN;
	*p++ = '-';
	pid_at = p;
	p = put_i32(p, pid);
	while (p < pid_at + width)
		*p++ = ' ';
	*p++ = ' ';
	if (d->features & DIALECT_TGID)
		p = put_tgid(p, task ? task->tgid : -1, width);
	c->len = (uint8_t)(p - c->text);
}

static bool column_is_current(const struct ftrace_line *l, const struct ftrace_column *c,
			      const struct trace_item *item)
{
	const struct trace_info *info = l->info;
	const struct trace_task *t = NULL;
	const char *comm;

	if (c->index == SIZE_MAX) {
		if (c->n_tasks != info->n_tasks)
			return false;
	} else {
		if (c->index >= info->n_tasks)
			return false;
		t = &info->tasks[c->index];
		if (t->pid != c->pid || t->tgid != c->tgid)
			return false;
	}
	comm = item_comm(l, item, t);
	if (!comm || !c->has_comm)
		return !comm == !c->has_comm;
	return !memcmp(comm, c->comm, SCHED_COMM_LEN);
}

static char *put_task_column(struct ftrace_line *l, char *p, const struct trace_item *item)
{
	int32_t pid = item->event.pid;
	struct ftrace_column *c = &l->columns[(uint32_t)pid % FTRACE_COLUMN_CACHE];

	if (!c->len || c->pid != pid || !column_is_current(l, c, item))
		column_fill(l, c, item);
	memcpy(p, c->text, sizeof(c->text));
	return p + c->len;
}

/* Four columns print the whole preempt count, one or two digits; five print its low half and, as
 * migrate-disable, its high half. */
static char *put_flags(const struct ftrace_line *l, char *p, const struct sched_event *e)
{
	uint32_t count = e->preempt_count;

	memcpy(p, l->flags[e->flags], 4);
	p += 3;
	if (l->info->dialect.flag_columns == 4) {
		if (count >> 4)
			*p++ = hex_digits[count >> 4];
		*p++ = count ? hex_digits[count & 15] : '.';
		return p;
	}
	*p++ = count & 15 ? hex_digits[count & 15] : '.';
	*p++ = count >> 4 ? hex_digits[count >> 4] : '.';
	return p;
}

/* "%5lu." of a second, which many events share. */
static char *put_second(struct ftrace_line *l, char *p, uint64_t second)
{
	char *end;

	if (!l->second_len || l->second != second) {
		end = put_u64_right(l->second_text, second, 5);
		*end++ = '.';
		l->second = second;
		l->second_len = (uint32_t)(end - l->second_text);
	}
	memcpy(p, l->second_text, sizeof(l->second_text));
	return p + l->second_len;
}

/* " %5lu.%06lu: ", or " %12llu: " of a clock that does not count time. */
static char *put_stamp(struct ftrace_line *l, char *p, const struct sched_event *e)
{
	uint64_t ns = clock_event_ns(&l->info->clock, e), second;
	uint32_t part;

	if (l->digits == 0) {
		p = put_u64_right(p, e->tick, 12);
		return PUT(p, ": ");
	}
	if (l->digits != 9)
		ns = ns > UINT64_MAX - 500 ? ns : ns + 500;
	second = ns / 1000000000;
	part = (uint32_t)(ns - second * 1000000000);
	p = put_second(l, p, second);
	p = put_fixed3(p, part / 1000000);
	p = put_fixed3(p, part / 1000 % 1000);
	if (l->digits == 9)
		p = put_fixed3(p, part % 1000);
	return PUT(p, ": ");
}

static char *put_comm(char *p, const char comm[SCHED_COMM_LEN])
{
	memcpy(p, comm, SCHED_COMM_LEN);
	return p + comm_len(comm);
}

/* Letters of all bits that have one, joined by '|', the rest in hex; R if there are none. */
static char *put_state(const struct sched_dialect *d, char *p, uint64_t state)
{
	uint64_t bits = state & d->state_mask;
	const char *start = p;
	uint32_t i;

	if (!bits)
		*p++ = 'R';
	for (i = 0; i < DIALECT_STATE_BITS && bits; i++) {
		if (!(bits >> i & 1) || !d->state_letters[i])
			continue;
		bits &= ~(1ULL << i);
		if (p != start)
			*p++ = '|';
		*p++ = d->state_letters[i];
	}
	if (bits) {
		if (p != start)
			*p++ = '|';
		p = PUT(p, "0x");
		for (i = 60; i && !(bits >> i); i -= 4)
			;
		for (i += 4; i; i -= 4)
			*p++ = hex_digits[bits >> (i - 4) & 15];
	}
	if (state & d->state_preempt)
		*p++ = '+';
	return p;
}

static char *put_switch(const struct sched_dialect *d, char *p, const struct sched_event *e)
{
	p = PUT(p, "sched_switch: prev_comm=");
	p = put_comm(p, e->task.comm);
	p = PUT(p, " prev_pid=");
	p = put_i32(p, e->task.pid);
	p = PUT(p, " prev_prio=");
	p = put_i32(p, e->task.prio);
	p = PUT(p, " prev_state=");
	p = put_state(d, p, e->state);
	p = PUT(p, " ==> next_comm=");
	p = put_comm(p, e->other.comm);
	p = PUT(p, " next_pid=");
	p = put_i32(p, e->other.pid);
	p = PUT(p, " next_prio=");
	return put_i32(p, e->other.prio);
}

static char *put_wake(const struct sched_dialect *d, char *p, const struct sched_event *e)
{
	if (e->kind == SCHED_WAKING)
		p = PUT(p, "sched_waking: comm=");
	else if (e->kind == SCHED_WAKEUP)
		p = PUT(p, "sched_wakeup: comm=");
	else
		p = PUT(p, "sched_wakeup_new: comm=");
	p = put_comm(p, e->task.comm);
	p = PUT(p, " pid=");
	p = put_i32(p, e->task.pid);
	p = PUT(p, " prio=");
	p = put_i32(p, e->task.prio);
	if (d->features & DIALECT_SUCCESS) {
		p = PUT(p, " success=");
		p = put_i32(p, e->extra);
	}
	p = PUT(p, " target_cpu=");
	return put_i32_zero3(p, e->value);
}

static char *put_fork(char *p, const struct sched_event *e)
{
	p = PUT(p, "sched_process_fork: comm=");
	p = put_comm(p, e->task.comm);
	p = PUT(p, " pid=");
	p = put_i32(p, e->task.pid);
	p = PUT(p, " child_comm=");
	p = put_comm(p, e->other.comm);
	p = PUT(p, " child_pid=");
	return put_i32(p, e->other.pid);
}

static char *put_exec(char *p, const struct sched_event *e)
{
	uint32_t len = e->filename_len;

	if (len > SCHED_FILENAME_MAX)
		len = SCHED_FILENAME_MAX;
	p = PUT(p, "sched_process_exec: filename=");
	if (len)
		memcpy(p, e->filename, len);
	p = PUT(p + len, " pid=");
	p = put_i32(p, e->task.pid);
	p = PUT(p, " old_pid=");
	return put_i32(p, e->value);
}

static char *put_exit(const struct sched_dialect *d, char *p, const struct sched_event *e)
{
	p = PUT(p, "sched_process_exit: comm=");
	p = put_comm(p, e->task.comm);
	p = PUT(p, " pid=");
	p = put_i32(p, e->task.pid);
	p = PUT(p, " prio=");
	p = put_i32(p, e->task.prio);
	if (!(d->features & DIALECT_GROUP_DEAD))
		return p;
	return e->extra ? PUT(p, " group_dead=true") : PUT(p, " group_dead=false");
}

static char *put_rename(const struct sched_dialect *d, char *p, const struct sched_event *e)
{
	p = PUT(p, "task_rename: ");
	if (!(d->features & DIALECT_RENAME_NO_PID)) {
		p = PUT(p, "pid=");
		p = put_i32(p, e->task.pid);
		*p++ = ' ';
	}
	p = PUT(p, "oldcomm=");
	p = put_comm(p, e->task.comm);
	p = PUT(p, " newcomm=");
	p = put_comm(p, e->other.comm);
	p = PUT(p, " oom_score_adj=");
	return put_i32(p, e->value);
}

static char *put_setprio(char *p, const struct sched_event *e)
{
	p = PUT(p, "sched_pi_setprio: comm=");
	p = put_comm(p, e->task.comm);
	p = PUT(p, " pid=");
	p = put_i32(p, e->task.pid);
	p = PUT(p, " oldprio=");
	p = put_i32(p, e->task.prio);
	p = PUT(p, " newprio=");
	return put_i32(p, e->other.prio);
}

static char *put_body(const struct sched_dialect *d, char *p, const struct sched_event *e)
{
	switch ((enum sched_kind)e->kind) {
	case SCHED_SWITCH:
		return put_switch(d, p, e);
	case SCHED_WAKING:
	case SCHED_WAKEUP:
	case SCHED_WAKEUP_NEW:
		return put_wake(d, p, e);
	case SCHED_FORK:
		return put_fork(p, e);
	case SCHED_EXEC:
		return put_exec(p, e);
	case SCHED_EXIT:
		return put_exit(d, p, e);
	case SCHED_RENAME:
		return put_rename(d, p, e);
	case SCHED_SETPRIO:
		return put_setprio(p, e);
	case SCHED_KINDS:
		break;
	}
	return p;
}

size_t ftrace_line_format(struct ftrace_line *l, const struct trace_item *item, char *buf)
{
	const struct sched_dialect *d = &l->info->dialect;
	const struct sched_event *e = &item->event;
	char *p = put_task_column(l, buf, item);

	*p++ = '[';
	p = put_i32_zero3(p, (int32_t)item->cpu);
	p = PUT(p, "] ");
	if (d->flag_columns != 0) {
		if (!(d->features & DIALECT_NO_FLAGS))
			p = put_flags(l, p, e);
		*p++ = ' ';
	}
	p = put_stamp(l, p, e);
	p = put_body(d, p, e);
	*p++ = '\n';
	return (size_t)(p - buf);
}

size_t ftrace_line_format_loss(uint32_t cpu, const struct trace_loss *loss, char *buf)
{
	char *p = PUT(buf, "CPU:");

	p = put_i32(p, (int32_t)cpu);
	p = PUT(p, " [LOST ");
	if (loss->count != LOSS_UNKNOWN) {
		p = put_u64(p, loss->count);
		*p++ = ' ';
	}
	p = PUT(p, "EVENTS]\n");
	return (size_t)(p - buf);
}
