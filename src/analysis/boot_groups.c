/* SPDX-License-Identifier: MIT */
/* boot_groups: see boot_groups.h. */
#include "analysis/boot_groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/pidmap.h"

#define KTHREADD 2 /* pid of who starts kernel threads */

struct stand_in {
	int32_t pid;
	uint32_t task; /* + 1 */
};

struct finder {
	struct boot_groups *g;
	struct boot *boot;
	const struct boot_tasks *tasks;
	const struct trace_info *info;
	uint32_t *head;	  /* by task: the one that stands for its process; itself, if it does */
	uint32_t *by_pid; /* processes that the boot had, by pid */
	struct pidmap *stand_ins; /* of processes whose own task was never told of */
	uint32_t *taken;	  /* by process: task that is its leader */
	size_t n_had;
	uint32_t self; /* process that is the recorder, or BOOT_NONE */
};

/* The pid of the process that a task is taken for, if it is one. */
static int32_t process_pid(const struct finder *f, const struct boot_task *k)
{
	const struct trace_task *known = info_get_task(f->info, k->pid);

	return known && known->tgid > 0 ? known->tgid : k->pid;
}

static uint64_t early(const struct boot_process *p)
{
	uint64_t back = p->from_error_ns + p->before_ns;

	return p->from_ns > back ? p->from_ns - back : 0;
}

/* For how long a process may have been what the task is; 0: never. */
static uint64_t shared_ns(const struct boot_tasks *t, const struct boot_process *p,
			  const struct boot_task *k)
{
	uint64_t from_ns = early(p), to_ns = p->to_ns + p->to_error_ns;
	uint64_t start_ns = k->is_forked ? k->from_ns : t->from_ns;
	uint64_t end_ns = k->is_over ? k->to_ns : UINT64_MAX;

	from_ns = from_ns > start_ns ? from_ns : start_ns;
	to_ns = to_ns < end_ns ? to_ns : end_ns;
	return from_ns <= to_ns ? to_ns - from_ns + 1 : 0;
}

static size_t first_of_pid(const struct finder *f, int32_t pid)
{
	size_t low = 0, high = f->n_had, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (f->boot->processes[f->by_pid[middle]].pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The process that the boot has of this task, else BOOT_NONE. */
static uint32_t find_process(const struct finder *f, const struct boot_task *k)
{
	int32_t pid = process_pid(f, k);
	size_t i = first_of_pid(f, pid);
	const struct boot_process *p;
	uint32_t best = BOOT_NONE;
	uint64_t most = 0, ns;

	for (; i < f->n_had; i++) {
		p = &f->boot->processes[f->by_pid[i]];
		if (p->pid != pid)
			break;
		ns = shared_ns(f->tasks, p, k);
		if (ns > most) {
			most = ns;
			best = f->by_pid[i];
		}
	}
	return best;
}

/* Whether the boot's recorder was told of all that started then. */
static bool was_told(const struct boot *b, uint64_t ns)
{
	size_t i;

	if (!b->has_events || ns < b->from_ns || ns > b->to_ns)
		return false;
	for (i = 0; i < b->n_gaps; i++)
		if (b->gaps[i].from_ns <= ns && ns <= b->gaps[i].to_ns)
			return false;
	return true;
}

/* The task with that pid that was there then: the last that began before. */
static uint32_t find_task(const struct finder *f, int32_t pid, uint32_t near)
{
	const struct boot_task *list = f->tasks->list;
	const struct stand_in *s = pidmap_get(f->stand_ins, pid);
	uint32_t i = s ? s->task - 1 : BOOT_NONE;

	while (i != BOOT_NONE && list[i].is_forked && list[i].from_ns > list[near].from_ns)
		i = list[i].previous;
	return i;
}

/* Of one whose fork is the first that is told of its parent, that is found behind it. */
static uint32_t parent_head(const struct finder *f, uint32_t task)
{
	const struct boot_task *k = &f->tasks->list[task];
	uint32_t parent = k->parent;

	if (parent == BOOT_NONE && k->is_forked && k->parent_pid > 0)
		parent = find_task(f, k->parent_pid, task);
	return parent == BOOT_NONE ? BOOT_NONE : f->head[parent];
}

static bool has_name(const struct boot_process *p, const char comm[SCHED_COMM_LEN])
{
	size_t i;

	for (i = 0; i < p->n_names; i++)
		if (!strncmp(p->names[i].comm, comm, SCHED_COMM_LEN))
			return true;
	return false;
}

/* The recorder's own task, if this one is another of its threads. It runs no program but its own, so whom it forks and who
 * executes nothing is a thread; and so is one that was there before the trace, has its name, and is no process in /proc. */
static uint32_t recorder_head(const struct finder *f, uint32_t task)
{
	const struct boot_task *k = &f->tasks->list[task];
	const struct boot_process *self;
	uint32_t head, parent = parent_head(f, task);

	if (f->self == BOOT_NONE)
		return BOOT_NONE;
	self = &f->boot->processes[f->self];
	head = k->pid == self->pid ? BOOT_NONE : find_task(f, self->pid, task);
	if (head == BOOT_NONE || (k->is_forked && parent == head))
		return head;
	return !k->is_forked && k->n_names && has_name(self, k->names[0].comm) ? head : BOOT_NONE;
}

/* The task that stands for the process of this one: parents come before their children. Where the process's own
 * is not in the trace, the first of its threads does. */
static int find_head(struct finder *f, uint32_t task, uint32_t *ret)
{
	const struct boot_task *k = &f->tasks->list[task];
	const struct trace_task *known = info_get_task(f->info, k->pid);
	struct stand_in *s;
	uint32_t head = BOOT_NONE;

	*ret = task;
	if (known && known->tgid > 0 && known->tgid != k->pid) {
		head = find_task(f, known->tgid, task);
		s = head == BOOT_NONE ? pidmap_add(f->stand_ins, known->tgid) : NULL;
		if (s)
			s->task = task + 1;
		if (head != BOOT_NONE)
			*ret = head;
		return head != BOOT_NONE || s ? 0 : -ENOMEM;
	}
	if (known && known->tgid == k->pid)
		return 0;
	if (k->has_executed || k->parent_pid == KTHREADD || find_process(f, k) != BOOT_NONE)
		return 0;
	head = recorder_head(f, task);
	if (!k->is_forked && head == BOOT_NONE)
		return 0;
	if (head == BOOT_NONE &&
	    (was_told(f->boot, k->from_ns) || (k->has_exited && k->left_others)))
		head = parent_head(f, task);
	if (head != BOOT_NONE)
		*ret = head;
	return 0;
}

/* Who had each pid last; earlier ones are found from there. */
static int index_tasks(struct finder *f)
{
	struct stand_in *s;
	uint32_t i;

	f->stand_ins = pidmap_new(sizeof(*s));
	for (i = 0; f->stand_ins && i < f->tasks->n; i++) {
		s = pidmap_add(f->stand_ins, f->tasks->list[i].pid);
		if (!s)
			return -ENOMEM;
		s->task = i + 1;
	}
	return f->stand_ins ? 0 : -ENOMEM;
}

/* Heads of heads: the table may name one that is itself a thread. */
static void settle_heads(struct finder *f)
{
	uint32_t i, h, steps;

	for (i = 0; i < f->tasks->n; i++) {
		h = f->head[i];
		for (steps = 0; steps < 8 && f->head[h] != h; steps++)
			h = f->head[h];
		f->head[i] = f->head[h] == h ? h : i;
	}
}

static bool is_in_chart(const struct boot *b, const struct boot_task *k)
{
	return !(k->is_over && k->to_ns < b->from_ns) && k->from_ns <= b->to_ns;
}

static int add_process(struct finder *f, uint32_t task, size_t *room)
{
	struct boot *b = f->boot;
	const struct boot_task *k = &f->tasks->list[task];
	struct boot_process *p;

	if (b->n_processes >= BOOT_PROCESSES_MAX)
		return -E2BIG;
	if (b->n_processes >= *room) {
		*room = *room * 2 + 64;
		p = realloc(b->processes, *room * sizeof(*p));
		if (!p)
			return -ENOMEM;
		b->processes = p;
	}
	p = &b->processes[b->n_processes];
	memset(p, 0, sizeof(*p));
	p->pid = process_pid(f, k);
	p->parent = BOOT_NONE;
	p->parent_pid = k->parent_pid;
	p->exit_code = -1;
	p->is_kernel = k->is_kernel || p->pid == KTHREADD || k->parent_pid == KTHREADD;
	f->g->process[task] = (uint32_t)b->n_processes++;
	return 0;
}

/* Each head gets its process; of two that want the same one the longer gets it. */
static void take_processes(struct finder *f)
{
	const struct boot_task *list = f->tasks->list;
	const struct boot_process *p;
	uint32_t i, found, other;

	for (i = 0; i < f->tasks->n; i++) {
		found = f->head[i] == i ? find_process(f, &list[i]) : BOOT_NONE;
		if (found == BOOT_NONE)
			continue;
		other = f->taken[found];
		p = &f->boot->processes[found];
		if (other != BOOT_NONE &&
		    shared_ns(f->tasks, p, &list[other]) >= shared_ns(f->tasks, p, &list[i]))
			continue;
		if (other != BOOT_NONE)
			f->g->process[other] = BOOT_NONE;
		f->taken[found] = i;
		f->g->process[i] = found;
	}
}

static int add_processes(struct finder *f)
{
	size_t room = f->boot->n_processes;
	uint32_t i;
	int r = 0;

	for (i = 0; i < f->tasks->n && r >= 0; i++)
		if (f->head[i] == i && f->g->process[i] == BOOT_NONE &&
		    is_in_chart(f->boot, &f->tasks->list[i]))
			r = add_process(f, i, &room);
	return r;
}

static int by_pid(const void *a, const void *b, void *processes)
{
	const struct boot_process *list = processes;
	int32_t x = list[*(const uint32_t *)a].pid, y = list[*(const uint32_t *)b].pid;

	return x < y ? -1 : x > y;
}

static int fill(uint32_t **ret, size_t n)
{
	*ret = malloc((n + 1) * sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	memset(*ret, 0xff, (n + 1) * sizeof(**ret));
	return 0;
}

/* The lists of tasks by process, in their order. */
static int link_tasks(struct finder *f)
{
	struct boot_groups *g = f->g;
	uint32_t i, p;

	g->n_processes = f->boot->n_processes;
	if (fill(&g->first, g->n_processes) < 0 || fill(&g->leader, g->n_processes) < 0)
		return -ENOMEM;
	for (i = (uint32_t)f->tasks->n; i-- > 0;) {
		p = g->process[f->head[i]];
		g->process[i] = p;
		if (p == BOOT_NONE)
			continue;
		g->next[i] = g->first[p];
		g->first[p] = i;
		if (f->head[i] == i)
			g->leader[p] = i;
	}
	return 0;
}

static int find_all(struct finder *f)
{
	uint32_t i;
	int r;

	if (fill(&f->head, f->tasks->n) < 0 || fill(&f->by_pid, f->n_had) < 0 ||
	    fill(&f->taken, f->n_had) < 0 || fill(&f->g->process, f->tasks->n) < 0 ||
	    fill(&f->g->next, f->tasks->n) < 0)
		return -ENOMEM;
	for (i = 0; i < f->n_had; i++)
		f->by_pid[i] = i;
	if (f->n_had)
		qsort_r(f->by_pid, f->n_had, sizeof(*f->by_pid), by_pid, f->boot->processes);
	f->self = BOOT_NONE;
	for (i = 0; i < f->n_had && f->self == BOOT_NONE; i++)
		f->self = f->boot->processes[i].is_self ? i : BOOT_NONE;
	r = index_tasks(f);
	for (i = 0; i < f->tasks->n; i++)
		f->head[i] = i;
	for (i = 0; i < f->tasks->n && r >= 0; i++)
		r = find_head(f, i, &f->head[i]);
	if (r < 0)
		return r;
	settle_heads(f);
	take_processes(f);
	r = add_processes(f);
	return r < 0 ? r : link_tasks(f);
}

int boot_groups_init(struct boot_groups *g, struct boot *b, const struct boot_tasks *t,
		     const struct trace_info *info)
{
	struct finder f = { .g = g, .boot = b, .tasks = t, .info = info, .n_had = b->n_processes };
	int r;

	memset(g, 0, sizeof(*g));
	r = find_all(&f);
	free(f.head);
	free(f.by_pid);
	free(f.taken);
	pidmap_free(f.stand_ins);
	if (r < 0)
		boot_groups_done(g);
	return r;
}

void boot_groups_done(struct boot_groups *g)
{
	free(g->process);
	free(g->first);
	free(g->next);
	free(g->leader);
	memset(g, 0, sizeof(*g));
}
