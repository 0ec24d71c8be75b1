/* SPDX-License-Identifier: MIT */
/* boot_lay: see boot_lay.h. */
#include "analysis/boot_lay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The spans of one process while they are made. */
struct sheet {
	struct boot_lay *lay;
	struct boot_process *process;
	struct boot_span *list;
	size_t n, room;
	size_t at; /* first sampled span that is not over */
};

static uint64_t min_ns(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t max_ns(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Here sampled and exact spans meet: they stay apart, for their shares differ in kind. */
static bool is_seam(const struct boot_lay *l, uint64_t ns)
{
	return ns == l->from_ns || ns == l->to_ns;
}

static int put(struct sheet *s, struct boot_span span)
{
	struct boot_span *l = s->n ? &s->list[s->n - 1] : NULL;
	size_t room = s->room ? s->room * 2 : 16;

	if (span.to_ns <= span.from_ns)
		return 0;
	if (l && l->state == span.state && l->share == span.share && l->where == span.where &&
	    l->whom == BOOT_NONE && !is_seam(s->lay, span.from_ns)) {
		l->to_ns = span.to_ns;
		l->whom = span.whom;
		return 0;
	}
	if (s->n == s->room) {
		if (s->lay->n_spans + room > BOOT_SPANS_MAX)
			return -E2BIG;
		l = realloc(s->list, room * sizeof(*l));
		if (!l)
			return -ENOMEM;
		s->list = l;
		s->room = room;
	}
	s->list[s->n++] = span;
	return 0;
}

static int put_state(struct sheet *s, uint64_t from_ns, uint64_t to_ns, uint8_t state)
{
	return put(s, (struct boot_span){ .from_ns = from_ns,
					  .to_ns = to_ns,
					  .state = state,
					  .share = state == BOOT_RUNNING ? 1000 : 0,
					  .whom = BOOT_NONE });
}

/* What the samples say of a stretch. is_off: but it was not on a CPU. */
static int put_sampled(struct sheet *s, uint64_t from_ns, uint64_t to_ns, bool is_off)
{
	const struct boot_process *p = s->process;
	struct boot_span span;
	int r = 0;

	while (from_ns < to_ns && r >= 0) {
		while (s->at < p->n_spans && p->spans[s->at].to_ns <= from_ns)
			s->at++;
		if (s->at == p->n_spans || p->spans[s->at].from_ns >= to_ns)
			return put_state(s, from_ns, to_ns, BOOT_UNKNOWN);
		span = p->spans[s->at];
		if (span.from_ns > from_ns) {
			r = put_state(s, from_ns, span.from_ns, BOOT_UNKNOWN);
			from_ns = span.from_ns;
		}
		span.from_ns = from_ns;
		span.to_ns = min_ns(span.to_ns, to_ns);
		if (is_off && span.state == BOOT_RUNNING)
			span.state = BOOT_RUNNABLE;
		if (is_off)
			span.share = 0;
		if (r >= 0)
			r = put(s, span);
		from_ns = span.to_ns;
	}
	return r;
}

/* --- start and end --- */

static bool lost_before(const struct boot_tasks *t, uint64_t ns)
{
	return t->n_losses && t->losses[0].from_ns < ns;
}

static void set_start(const struct boot_lay *l, uint32_t process, bool is_new)
{
	struct boot_process *p = &l->boot->processes[process];
	uint32_t task = l->groups->leader[process];
	const struct boot_task *k = &l->tasks->list[task];
	uint64_t chart_ns = l->boot->from_ns;

	if (k->is_forked) {
		p->from_ns = max_ns(k->from_ns, chart_ns);
		p->before_ns = p->from_ns - k->from_ns;
		p->was_there = p->before_ns > 0;
		p->from_error_ns = 0;
	} else if (is_new && lost_before(l->tasks, k->from_ns)) {
		p->from_ns = max_ns(k->from_ns, chart_ns);
		p->from_error_ns = p->from_ns - max_ns(l->tasks->losses[0].from_ns, chart_ns);
	} else if (is_new) {
		p->from_ns = l->from_ns;
		p->was_there = true;
	}
}

/* A process that was there when the chart began earlier than before is there from then on. */
static void move_start(const struct boot_lay *l, struct boot_process *p)
{
	uint64_t more = p->from_ns - l->boot->from_ns;

	if (!p->was_there || p->from_ns <= l->boot->from_ns)
		return;
	if (p->before_ns && p->before_ns < more) {
		p->from_ns -= p->before_ns;
		p->before_ns = 0;
		p->was_there = false;
		return;
	}
	p->from_ns -= more;
	p->before_ns -= p->before_ns ? more : 0;
}

static bool was_zombie(const struct boot_process *p)
{
	return p->n_spans && p->spans[p->n_spans - 1].state == BOOT_ZOMBIE;
}

static void set_end(const struct boot_lay *l, uint32_t process, bool is_new)
{
	struct boot_process *p = &l->boot->processes[process];
	uint64_t end_ns = 0;
	bool is_over = true;
	uint32_t i;

	for (i = l->groups->first[process]; i != BOOT_NONE; i = l->groups->next[i]) {
		const struct boot_task *k = &l->tasks->list[i];

		is_over = is_over && k->is_over;
		end_ns = max_ns(end_ns, k->to_ns);
	}
	if (is_over && end_ns <= l->boot->to_ns) {
		if (!is_new && was_zombie(p) && p->to_ns > end_ns)
			return;
		p->to_ns = end_ns;
		p->to_error_ns = 0;
		p->is_alive = false;
	} else if (is_new) {
		p->to_ns = is_over ? l->boot->to_ns : l->to_ns;
		p->is_alive = p->to_ns >= l->boot->to_ns || !l->boot->interval_ns;
		p->to_error_ns = p->is_alive ? 0 : l->boot->interval_ns;
	} else { /* it was seen after the end that it is said to have */
		p->to_ns = max_ns(p->to_ns, min_ns(end_ns, l->boot->to_ns));
	}
	p->to_ns = max_ns(p->to_ns, p->from_ns);
}

/* --- spans --- */

static void end_wait(struct sheet *s, const struct boot_state_step *step)
{
	struct boot_span *l = s->n ? &s->list[s->n - 1] : NULL;

	if (l && step->whom != BOOT_NONE && l->to_ns == step->ns)
		l->whom = step->whom == BOOT_INTERRUPT ? BOOT_INTERRUPT
						       : s->lay->groups->process[step->whom];
}

/* What one step says between from_ns and to_ns. */
static int put_step(struct sheet *s, const struct boot_state_step *step, uint64_t from_ns,
		    uint64_t to_ns)
{
	if (step->state == BOOT_TASK_OFF)
		return put_sampled(s, from_ns, to_ns, true);
	if (step->state == BOOT_TASK_GONE) /* and its parent had not asked for it yet */
		return put_state(s, from_ns, to_ns, BOOT_ZOMBIE);
	return put_state(s, from_ns, to_ns, step->state);
}

static int put_steps(struct sheet *s, uint64_t from_ns, uint64_t to_ns)
{
	const struct boot_states *t = &s->lay->states;
	const struct boot_state_step *step;
	uint64_t end_ns;
	size_t i;
	int r = 0;

	for (i = 0; i < t->n && from_ns < to_ns && r >= 0; i++) {
		step = &t->list[i];
		end_ns = i + 1 < t->n ? min_ns(t->list[i + 1].ns, to_ns) : to_ns;
		if (end_ns <= from_ns)
			continue;
		if (step->ns > from_ns) {
			r = put_sampled(s, from_ns, min_ns(step->ns, to_ns), true);
			from_ns = min_ns(step->ns, to_ns);
		}
		if (r < 0 || from_ns >= to_ns)
			break;
		end_wait(s, step);
		r = put_step(s, step, from_ns, end_ns);
		from_ns = end_ns;
	}
	return r < 0 ? r : put_sampled(s, from_ns, to_ns, true);
}

/* A wait in which a sample knows the kernel function. */
static void keep_wheres(struct sheet *s)
{
	const struct boot_process *p = s->process;
	struct boot_span *span = s->list;
	uint64_t middle_ns;
	size_t i;

	for (i = 0; i < p->n_spans; i++) {
		const struct boot_span *old = &p->spans[i];

		if (!old->where)
			continue;
		middle_ns = old->from_ns + (old->to_ns - old->from_ns) / 2;
		while (span < s->list + s->n && span->to_ns <= middle_ns)
			span++;
		if (span == s->list + s->n)
			return;
		if (span->from_ns <= middle_ns && span->state == old->state)
			span->where = old->where;
	}
}

static uint64_t ran_within(const struct boot_task *k, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t ran_ns = 0, start_ns = 0;
	size_t i;

	for (i = 0; i < k->n_changes; i++) {
		const struct boot_change *c = &k->changes[i];

		if (c->type == BOOT_CHANGE_RUN)
			start_ns = max_ns(c->ns, from_ns);
		else if (c->type == BOOT_CHANGE_STOP && min_ns(c->ns, to_ns) > start_ns)
			ran_ns += min_ns(c->ns, to_ns) - start_ns;
	}
	return ran_ns;
}

/* Of all threads: by the events where there are any, else by the samples. */
static void set_times(const struct boot_lay *l, uint32_t process)
{
	struct boot_process *p = &l->boot->processes[process];
	struct boot_account *a = &p->account;
	uint64_t ns = 0;
	uint32_t i;
	size_t k;

	for (i = l->groups->first[process]; i != BOOT_NONE; i = l->groups->next[i])
		ns += ran_within(&l->tasks->list[i], l->from_ns, l->to_ns);
	for (k = 0; k < p->n_spans; k++)
		if (p->spans[k].to_ns <= l->from_ns || p->spans[k].from_ns >= l->to_ns)
			ns += boot_span_ran(&p->spans[k]);
	p->cpu_ns = ns;
	boot_process_sum(p);
	if (a->is_complete)
		return;
	if (!a->user_ns && !a->system_ns)
		a->user_ns = ns;
	if (!a->waited_ns)
		a->waited_ns = p->state_ns[BOOT_RUNNABLE];
	if (!a->disk_ns)
		a->disk_ns = p->state_ns[BOOT_DISK_WAIT];
}

static int make_spans(struct boot_lay *l, uint32_t process)
{
	struct boot_process *p = &l->boot->processes[process];
	struct sheet s = { .lay = l, .process = p };
	uint64_t from_ns = min_ns(max_ns(p->from_ns, l->from_ns), p->to_ns);
	uint64_t to_ns = max_ns(min_ns(p->to_ns, l->to_ns), from_ns);
	int r = put_sampled(&s, p->from_ns, from_ns, false);

	if (r >= 0)
		r = put_steps(&s, from_ns, to_ns);
	if (r >= 0)
		r = put_sampled(&s, to_ns, p->to_ns, false);
	if (r < 0) {
		free(s.list);
		return r;
	}
	keep_wheres(&s);
	free(p->spans);
	p->spans = s.list;
	p->n_spans = s.n;
	l->n_spans += s.n;
	return 0;
}

static int32_t forked_by(const struct boot_lay *l, const struct boot_task *k)
{
	uint32_t parent = k->parent == BOOT_NONE ? BOOT_NONE : l->groups->process[k->parent];

	return parent == BOOT_NONE ? k->parent_pid : l->boot->processes[parent].pid;
}

int boot_lay_process(struct boot_lay *l, uint32_t process)
{
	struct boot_process *p = &l->boot->processes[process];
	uint32_t i = l->groups->first[process];
	bool is_new = !p->n_names;
	int r = 0;

	l->states.n = l->states.most = 0;
	for (; i != BOOT_NONE && r >= 0; i = l->groups->next[i])
		r = boot_states_add(&l->states, l->tasks, i);
	if (r < 0)
		return r;
	boot_states_merge(&l->states);
	move_start(l, p);
	i = l->groups->leader[process];
	if (i != BOOT_NONE) {
		set_start(l, process, is_new);
		set_end(l, process, is_new);
		if (l->tasks->list[i].is_forked)
			p->parent_pid = forked_by(l, &l->tasks->list[i]);
	}
	if (l->states.most > p->threads)
		p->threads = (uint32_t)l->states.most;
	r = make_spans(l, process);
	if (r >= 0)
		set_times(l, process);
	return r;
}

/* --- names --- */

static int by_start(const void *a, const void *b)
{
	const struct boot_name *x = a, *y = b;

	return x->from_ns < y->from_ns ? -1 : x->from_ns > y->from_ns;
}

/* The last name of the events that is the same and not later; SIZE_MAX: none. */
static size_t find_name(const struct boot_task *k, const struct boot_name *name)
{
	size_t i, found = SIZE_MAX, first = k->is_forked ? 0 : 1;

	for (i = first; i < k->n_names && k->names[i].ns <= name->from_ns; i++)
		if (!strncmp(k->names[i].comm, name->comm, SCHED_COMM_LEN))
			found = i;
	return found;
}

/* Names that were sampled hold since the event that gave them. */
static void date_names(const struct boot_task *k, struct boot_process *p, bool *used)
{
	uint64_t after_ns = 0;
	size_t i, j;

	for (i = 0; i < p->n_names; i++) {
		j = find_name(k, &p->names[i]);
		if (j != SIZE_MAX && !used[j] && (!i || k->names[j].ns > after_ns)) {
			p->names[i].from_ns = k->names[j].ns;
			used[j] = true;
		}
		after_ns = p->names[i].from_ns;
	}
}

static int add_name(struct boot_process *p, uint64_t ns, const char comm[SCHED_COMM_LEN],
		    const char *args)
{
	struct boot_name *n = realloc(p->names, (p->n_names + 1) * sizeof(*n));

	if (!n)
		return -ENOMEM;
	p->names = n;
	n += p->n_names;
	memset(n, 0, sizeof(*n));
	n->from_ns = ns;
	memcpy(n->comm, comm, SCHED_COMM_LEN);
	n->args = strdup(args ? args : "");
	if (!n->args)
		return -ENOMEM;
	p->n_names++;
	return 0;
}

/* Sorted, and none twice in a row. */
static void settle_names(struct boot_process *p)
{
	struct boot_name *list = p->names;
	size_t i, n = 1;

	qsort(list, p->n_names, sizeof(*list), by_start);
	for (i = 1; i < p->n_names; i++) {
		if (!strcmp(list[n - 1].comm, list[i].comm) &&
		    (!list[i].args[0] || !strcmp(list[n - 1].args, list[i].args)))
			free(list[i].args);
		else
			list[n++] = list[i];
	}
	p->n_names = n;
	for (i = 0; i < n && list[i].from_ns < p->from_ns; i++)
		list[i].from_ns = p->from_ns;
	list[0].from_ns = p->from_ns;
}

int boot_lay_names(struct boot_lay *l, uint32_t process, const struct trace_info *info)
{
	struct boot_process *p = &l->boot->processes[process];
	uint32_t task = l->groups->leader[process];
	const struct boot_task *k = task == BOOT_NONE ? NULL : &l->tasks->list[task];
	const struct trace_task *known = info_get_task(info, p->pid);
	_cleanup_free_ bool *used = calloc((k ? k->n_names : 0) + 1, sizeof(*used));
	bool is_new = !p->n_names;
	size_t i;
	int r = 0;

	if (!used)
		return -ENOMEM;
	/* Of one whose own task is not in the trace, the table may know the name. */
	if (is_new && (!k || k->pid != p->pid || !k->n_names))
		r = add_name(p, p->from_ns, known ? known->comm : (char[SCHED_COMM_LEN]){ "?" },
			     NULL);
	if (r < 0 || !k || k->pid != p->pid)
		return r;
	date_names(k, p, used);
	for (i = is_new || k->is_forked ? 0 : 1; i < k->n_names && r >= 0; i++)
		if (!used[i])
			r = add_name(p, k->names[i].ns, k->names[i].comm, k->names[i].program);
	if (r >= 0)
		settle_names(p);
	return r;
}

void boot_lay_done(struct boot_lay *l)
{
	boot_states_done(&l->states);
}
