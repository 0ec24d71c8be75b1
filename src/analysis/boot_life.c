/* SPDX-License-Identifier: MIT */
/*
 * boot_life: what the records say about processes, gathered into a life for each.
 *
 * A pid is held by one process or thread at a time. A START with another start than that of the holder is a new
 * process, and the old one has ended at some time since the last pass; a START with the same start says again
 * what is known. Two starts are the same if they are equal, or if they come from different places and differ by no
 * more than /proc's hundredth of a second. Threads have no life of their own: their states and times go into their
 * process.
 *
 * After its end a process may still be seen as a zombie; it is there until it is told to be gone. What is told of
 * a pid that nobody holds is the end of something that began before the chart, or of a thread that was not told
 * of: there is nothing to be said about it. Only a TASK makes a process of it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/boot_build.h"
#include "base/saturate.h"

#define PROC_ERROR_NS 10000000ULL /* what a start from /proc may be off by */

static struct boot_holder *get_holder(const struct boot_build *b, uint32_t key)
{
	return key && key <= INT32_MAX ? pidmap_get(b->holders, (int32_t)key) : NULL;
}

static struct boot_life *get_life(const struct boot_build *b, uint32_t key)
{
	const struct boot_holder *h = get_holder(b, key);

	return h && h->life && !h->is_thread ? &b->lives[h->life - 1] : NULL;
}

/* --- samples --- */

/* A process does what the busiest of its threads does. */
static uint8_t get_state(const struct boot_life *l)
{
	static const uint8_t order[] = { BOOT_RUNNING, BOOT_DISK_WAIT, BOOT_SLEEPING,
					 BOOT_STOPPED };
	size_t i;

	for (i = 0; i < sizeof(order); i++)
		if (l->state == order[i] || l->threads_state[order[i]])
			return order[i];
	return l->state;
}

/* The times in /proc/PID/stat are those of all threads, in coarse steps; the scheduler's count is exact and
 * the first thread's alone. Neither ever is too high. */
static uint64_t get_cpu(const struct boot_life *l)
{
	uint64_t ran = l->ran_ns + l->threads_ran_ns;

	return ran > l->times_ns ? ran : l->times_ns;
}

static int push_sample(struct boot_build *b, struct boot_life *l, uint64_t ns)
{
	struct boot_sample s = {
		.ns = ns, .cpu_ns = get_cpu(l), .state = get_state(l), .where = l->where
	};
	struct boot_sample *last = l->n_samples ? &l->samples[l->n_samples - 1] : NULL;
	int r;

	/* The recorder always runs when it looks at itself. That says nothing: its CPU time does. */
	if (l->is_self && s.state == BOOT_RUNNING)
		s.state = BOOT_SLEEPING;
	if (last && s.cpu_ns < last->cpu_ns)
		s.cpu_ns = last->cpu_ns;
	if (last && last->ns >= ns) {
		s.ns = last->ns;
		*last = s;
		return 0;
	}
	if (last && last->state == s.state && last->where == s.where && last->cpu_ns == s.cpu_ns)
		return 0;
	if (b->n_samples == BOOT_SPANS_MAX)
		return -E2BIG;
	r = boot_build_grow(&l->samples, &l->room_samples, l->n_samples, sizeof(*l->samples),
			    BOOT_SPANS_MAX);
	if (r < 0)
		return r;
	l->samples[l->n_samples++] = s;
	b->n_samples++;
	return 0;
}

/* --- starts and ends --- */

/* It ended at some time since the last pass before ns. */
static void end_before(const struct boot_build *b, struct boot_life *l, uint64_t ns)
{
	uint64_t from = boot_build_pass_before(b, ns);

	if (from < l->start_ns)
		from = l->start_ns;
	if (l->n_samples && from < l->samples[l->n_samples - 1].ns)
		from = l->samples[l->n_samples - 1].ns;
	if (from > ns)
		from = ns;
	if (l->is_over) {
		l->is_reaped = true;
		l->reaped_ns = from + (ns - from) / 2;
		l->reaped_error_ns = ns - l->reaped_ns;
		return;
	}
	l->is_over = true;
	l->exit_ns = from + (ns - from) / 2;
	l->exit_error_ns = ns - l->exit_ns;
}

static int add_life(struct boot_build *b, uint32_t pid, struct boot_life **ret)
{
	struct boot_holder *h =
		pid && pid <= INT32_MAX ? pidmap_add(b->holders, (int32_t)pid) : NULL;
	struct boot_life *l;
	int r;

	if (!h)
		return pid && pid <= INT32_MAX ? -ENOMEM : -ERANGE;
	r = boot_build_grow(&b->lives, &b->room_lives, b->n_lives, sizeof(*b->lives),
			    BOOT_PROCESSES_MAX);
	if (r < 0)
		return r;
	l = &b->lives[b->n_lives++];
	memset(l, 0, sizeof(*l));
	l->pid = (int32_t)pid;
	l->previous = h->life && !h->is_thread ? h->life - 1 : BOOT_NONE;
	l->exit_code = -1;
	l->state = BOOT_UNKNOWN;
	l->is_said = true;
	memset(h, 0, sizeof(*h));
	h->pid = (int32_t)pid;
	h->life = (uint32_t)b->n_lives;
	*ret = l;
	return 0;
}

static void set_start(const struct boot_build *b, struct boot_life *l, uint64_t ns, uint8_t how)
{
	uint64_t from;

	l->start_how = how;
	l->start_ns = ns;
	l->start_error_ns = how == BOOT_BY_PROC ? PROC_ERROR_NS : 0;
	if (how != BOOT_BY_SAMPLE)
		return;
	from = boot_build_pass_before(b, ns);
	if (!from) /* the first look: it was there before */
		return;
	l->start_ns = from + (ns - from) / 2;
	l->start_error_ns = ns - l->start_ns;
}

/* A process of which nobody told that it started. */
static int guess_life(struct boot_build *b, uint32_t pid, uint64_t ns, struct boot_life **ret)
{
	int r = add_life(b, pid, ret);

	if (r < 0)
		return r == -ERANGE ? 0 : r;
	(*ret)->is_guess = true;
	(*ret)->told_ns = ns;
	set_start(b, *ret, ns, BOOT_BY_SAMPLE);
	return 0;
}

static bool is_same_start(const struct boot_life *l, uint64_t start_ns, uint8_t how)
{
	uint64_t off = l->start_ns > start_ns ? l->start_ns - start_ns : start_ns - l->start_ns;

	if (l->is_guess && !l->is_over)
		return true;
	if (!off)
		return true;
	return how != l->start_how && !l->is_over && off <= PROC_ERROR_NS + l->start_error_ns;
}

static void say_start(const struct boot_build *b, struct boot_life *l, const struct boot_event *ev,
		      uint64_t start_ns)
{
	uint8_t how = (uint8_t)ev->number[BOOT_START_HOW];

	if (l->is_guess || how < l->start_how)
		set_start(b, l, start_ns, how);
	if (l->is_guess || !l->parent_pid)
		l->parent_pid = (int32_t)(ev->number[BOOT_START_PARENT] & INT32_MAX);
	l->is_guess = false;
	l->is_said = true;
	/* What the kernel starts itself is a kernel thread until it executes a program. */
	l->is_kernel = ev->number[BOOT_START_FLAGS] & BOOT_START_KERNEL;
	l->is_self = l->is_self || (ev->number[BOOT_START_FLAGS] & BOOT_START_SELF);
}

static void drop_thread(struct boot_build *b, struct boot_holder *h)
{
	struct boot_life *l = &b->lives[h->life - 1];

	if (l->threads_state[h->state])
		l->threads_state[h->state]--;
	if (l->n_threads)
		l->n_threads--;
	h->life = 0;
	h->is_thread = false;
}

/* Whoever had the pid until now is gone. */
static void free_pid(struct boot_build *b, uint32_t pid, uint64_t ns)
{
	struct boot_holder *h = get_holder(b, pid);
	struct boot_life *l;

	if (!h || !h->life)
		return;
	if (h->is_thread) {
		drop_thread(b, h);
		return;
	}
	l = &b->lives[h->life - 1];
	if (!l->is_over || (l->is_zombie && !l->is_reaped))
		end_before(b, l, ns);
}

static int start_thread(struct boot_build *b, const struct boot_event *ev, uint64_t ns)
{
	uint32_t group = (uint32_t)ev->number[BOOT_START_GROUP];
	struct boot_holder *h = get_holder(b, ev->key);
	struct boot_life *l = get_life(b, group);
	int r = 0;

	if (!l)
		r = guess_life(b, group, ns, &l);
	if (!l || r < 0)
		return r;
	if (h && h->is_thread && h->life == (uint32_t)(l - b->lives) + 1) /* said again */
		return 0;
	free_pid(b, ev->key, ns);
	h = ev->key && ev->key <= INT32_MAX ? pidmap_add(b->holders, (int32_t)ev->key) : NULL;
	if (!h)
		return ev->key && ev->key <= INT32_MAX ? -ENOMEM : 0;
	h->is_thread = true;
	h->life = (uint32_t)(l - b->lives) + 1;
	h->state = BOOT_UNKNOWN;
	h->ran_ns = 0;
	l->threads_state[BOOT_UNKNOWN]++;
	if (++l->n_threads + 1 > l->most_threads)
		l->most_threads = l->n_threads + 1;
	return 0;
}

static int put_start(struct boot_build *b, const struct boot_event *ev, uint64_t ns)
{
	uint64_t start_ns = boot_build_ns(b, ev->number[BOOT_START_TICK]);
	uint8_t how = (uint8_t)ev->number[BOOT_START_HOW];
	struct boot_life *l = get_life(b, ev->key);
	int r;

	b->has_events = b->has_events || how == BOOT_BY_EVENT;
	if (ev->number[BOOT_START_GROUP] && ev->number[BOOT_START_GROUP] != ev->key)
		return start_thread(b, ev, ns);
	if (!l || !is_same_start(l, start_ns, how)) {
		free_pid(b, ev->key, start_ns);
		r = add_life(b, ev->key, &l);
		if (r < 0)
			return r == -ERANGE ? 0 : r;
		l->told_ns = ns;
		set_start(b, l, start_ns, how);
	}
	say_start(b, l, ev, start_ns);
	return 0;
}

/* One that was found as a zombie before its end was told: what is told now is that it is gone. */
static void see_zombie(const struct boot_build *b, struct boot_life *l)
{
	uint64_t seen = l->n_samples ? l->samples[l->n_samples - 1].ns : 0;
	uint64_t now = b->n_passes ? b->passes[b->n_passes - 1] : 0;

	if (!l->n_samples || l->samples[l->n_samples - 1].state != BOOT_ZOMBIE)
		return;
	l->is_zombie = l->is_reaped = true;
	l->reaped_ns = now > seen ? seen + (now - seen) / 2 : seen;
	l->reaped_error_ns = l->reaped_ns - seen;
}

static int put_exit(struct boot_build *b, const struct boot_event *ev, uint64_t ns)
{
	struct boot_holder *h = get_holder(b, ev->key);
	bool by_event = ev->number[BOOT_EXIT_HOW] == BOOT_BY_EVENT;
	struct boot_life *l;

	if (!h || !h->life)
		return 0;
	if (h->is_thread) {
		l = &b->lives[h->life - 1];
		drop_thread(b, h);
		return push_sample(b, l, ns);
	}
	l = &b->lives[h->life - 1];
	if (by_event && l->by_event)
		return 0;
	if (!by_event) {
		/* The end of a zombie was told before: then its code is known. */
		if (ev->number[BOOT_EXIT_CODE] || (b->has_events && l->state == BOOT_ZOMBIE))
			l->exit_code = (int32_t)(ev->number[BOOT_EXIT_CODE] & INT32_MAX);
		end_before(b, l, ns);
		return 0;
	}
	l->is_over = l->by_event = true;
	l->is_reaped = false;
	l->exit_ns = ns;
	l->exit_error_ns = 0;
	see_zombie(b, l);
	l->exit_code = (int32_t)(ev->number[BOOT_EXIT_CODE] & INT32_MAX);
	return 0;
}

/* --- what it does --- */

static int put_thread_task(struct boot_build *b, struct boot_holder *h, const struct boot_event *ev,
			   uint64_t ns)
{
	struct boot_life *l = &b->lives[h->life - 1];
	uint64_t times = ev->number[BOOT_TASK_USER] + ev->number[BOOT_TASK_SYSTEM];
	uint64_t ran = ev->number[BOOT_TASK_RAN] > times ? ev->number[BOOT_TASK_RAN] : times;

	if (l->threads_state[h->state])
		l->threads_state[h->state]--;
	h->state = (uint8_t)boot_state_parse(ev->number[BOOT_TASK_STATE]);
	l->threads_state[h->state]++;
	if (ran > h->ran_ns) {
		l->threads_ran_ns += ran - h->ran_ns;
		h->ran_ns = ran;
	}
	return push_sample(b, l, ns);
}

static int put_task(struct boot_build *b, const struct boot_event *ev, uint64_t ns)
{
	uint8_t state = (uint8_t)boot_state_parse(ev->number[BOOT_TASK_STATE]);
	struct boot_holder *h = get_holder(b, ev->key);
	struct boot_life *l = get_life(b, ev->key);
	int r = 0;

	if (h && h->life && h->is_thread)
		return put_thread_task(b, h, ev, ns);
	if (!l || (l->is_over && !l->by_event) || (l->is_over && l->is_reaped))
		r = guess_life(b, ev->key, ns, &l);
	if (!l || r < 0)
		return r;
	if (l->is_over && ns > l->exit_ns) {
		l->is_zombie = l->is_zombie || state == BOOT_ZOMBIE;
		return 0;
	}
	l->state = state;
	l->user_ns = ev->number[BOOT_TASK_USER];
	l->system_ns = ev->number[BOOT_TASK_SYSTEM];
	l->times_ns = l->user_ns + l->system_ns;
	l->ran_ns = ev->number[BOOT_TASK_RAN];
	l->waited_ns = ev->number[BOOT_TASK_WAITED];
	l->faults = ev->number[BOOT_TASK_FAULTS];
	if (ev->number[BOOT_TASK_THREADS] > l->most_threads &&
	    ev->number[BOOT_TASK_THREADS] <= INT32_MAX)
		l->most_threads = (uint32_t)ev->number[BOOT_TASK_THREADS];
	return push_sample(b, l, ns);
}

static int put_wait(struct boot_build *b, const struct boot_event *ev, uint64_t ns)
{
	struct boot_life *l = get_life(b, ev->key);
	uint32_t where;
	int r;

	if (!l || l->is_over)
		return 0;
	r = boot_build_text(b, ev->text ? ev->text : "", ev->text ? ev->text_len : 0, &where);
	if (r < 0 || where == l->where)
		return r;
	l->where = where;
	return l->n_samples ? push_sample(b, l, ns) : 0;
}

static int put_word(struct boot_build *b, const struct boot_event *ev, uint64_t ns)
{
	struct boot_holder *h = get_holder(b, ev->key);
	bool is_args = ev->kind == BOOT_EXEC;
	struct boot_life *l;
	struct boot_word *w;
	int r;

	if (!h || !h->life || (h->is_thread && !is_args)) /* any thread may execute for all */
		return 0;
	if (b->n_words == BOOT_WORDS_MAX)
		return -E2BIG;
	l = &b->lives[h->life - 1];
	r = boot_build_grow(&l->words, &l->room_words, l->n_words, sizeof(*l->words),
			    BOOT_WORDS_MAX);
	if (r < 0)
		return r;
	w = &l->words[l->n_words];
	w->text = malloc((size_t)ev->text_len + 1);
	if (!w->text)
		return -ENOMEM;
	if (ev->text_len)
		memcpy(w->text, ev->text, ev->text_len);
	w->text[ev->text_len] = 0;
	w->len = ev->text_len;
	w->ns = ns;
	w->passes = b->n_passes;
	w->order = l->n_words++;
	w->is_args = is_args;
	w->is_first = l->start_how != BOOT_BY_EVENT && ns == l->told_ns;
	b->n_words++;
	return 0;
}

/* --- what it used --- */

/* Of the whole, as the part is to the part and the rest; never more, whatever a file says. */
static uint64_t share_of(uint64_t whole, uint64_t part, uint64_t rest)
{
	double sum = (double)part + (double)rest;
	uint64_t share = part ? saturate_u64((double)whole * ((double)part / sum)) : 0;

	return share < whole ? share : whole;
}

static int put_account(struct boot_build *b, const struct boot_event *ev, uint64_t ns)
{
	struct boot_life *l = get_life(b, ev->key);
	const uint64_t *n = ev->number;
	uint64_t times = n[BOOT_ACCOUNT_USER] + n[BOOT_ACCOUNT_SYSTEM];

	/* Told late, when the pid has a new holder already. */
	if (l && l->start_ns > ns && l->previous != BOOT_NONE)
		l = &b->lives[l->previous];
	if (!l)
		return 0;
	l->has_account = true;
	l->account_ns = n[BOOT_ACCOUNT_RAN] ? n[BOOT_ACCOUNT_RAN] : times;
	l->account.system_ns =
		share_of(l->account_ns, n[BOOT_ACCOUNT_SYSTEM], n[BOOT_ACCOUNT_USER]);
	l->account.user_ns = l->account_ns - l->account.system_ns;
	l->account.waited_ns = n[BOOT_ACCOUNT_WAITED];
	l->account.disk_ns = n[BOOT_ACCOUNT_DISK];
	l->account.swap_ns = n[BOOT_ACCOUNT_SWAP];
	l->account.read_bytes = n[BOOT_ACCOUNT_READ];
	l->account.written_bytes = n[BOOT_ACCOUNT_WRITTEN];
	l->account.rss_kib = n[BOOT_ACCOUNT_RSS];
	l->account.faults = n[BOOT_ACCOUNT_FAULTS];
	l->account.is_complete = true;
	return 0;
}

int boot_life_put(struct boot_build *b, const struct boot_event *ev, uint64_t ns)
{
	switch (ev->kind) {
	case BOOT_START:
		return put_start(b, ev, ns);
	case BOOT_EXIT:
		return put_exit(b, ev, ns);
	case BOOT_TASK:
		return put_task(b, ev, ns);
	case BOOT_WAIT:
		return put_wait(b, ev, ns);
	case BOOT_NAME:
	case BOOT_EXEC:
		return put_word(b, ev, ns);
	case BOOT_ACCOUNT:
		return put_account(b, ev, ns);
	default: /* a kind of a later version */
		return 0;
	}
}

/* --- losses --- */

void boot_life_loss(struct boot_build *b, uint64_t from_ns, uint64_t to_ns)
{
	size_t i;

	if (b->n_resaid++ >= BOOT_RESAID_MAX)
		return;
	b->is_resaid = true;
	b->resaid_passes = b->n_passes;
	b->resaid_from_ns = from_ns;
	b->resaid_to_ns = to_ns;
	for (i = 0; i < b->n_lives; i++)
		b->lives[i].is_said = false;
}

/* When everything was said again after a loss, what was not is gone: it ended in the loss. The first process and
 * the recorder are always there, and nobody says again that they are at any other time. */
void boot_life_pass(struct boot_build *b)
{
	uint64_t half = (b->resaid_to_ns - b->resaid_from_ns) / 2;
	struct boot_life *l;
	bool was_said = false;
	size_t i;

	if (!b->is_resaid || b->n_passes < b->resaid_passes + 2)
		return;
	b->is_resaid = false;
	for (i = 0; i < b->n_lives; i++)
		was_said = was_said ||
			   (b->lives[i].is_said && (b->lives[i].pid == 1 || b->lives[i].is_self));
	for (i = 0; was_said && i < b->n_lives; i++) {
		l = &b->lives[i];
		if (l->is_said || l->is_over || l->start_ns > b->resaid_from_ns)
			continue;
		l->is_over = true;
		l->exit_ns = b->resaid_from_ns + half;
		l->exit_error_ns = half;
	}
}

/* --- the process --- */

static void set_account(const struct boot_life *l, struct boot_process *p)
{
	uint64_t cpu = get_cpu(l);

	p->account = l->account;
	if (l->has_account)
		return;
	p->account.system_ns = share_of(cpu, l->system_ns, l->user_ns);
	p->account.user_ns = cpu - p->account.system_ns;
	p->account.waited_ns = l->waited_ns;
	p->account.faults = l->faults;
}

static void set_end(const struct boot_build *b, const struct boot_life *l, struct boot_process *p)
{
	uint64_t end = b->boot->to_ns;

	p->is_alive = !l->is_over || (l->is_zombie && !l->is_reaped);
	p->to_ns = end;
	if (!p->is_alive && l->is_zombie && l->by_event && l->reaped_ns > l->exit_ns) {
		p->to_ns = l->reaped_ns;
		p->to_error_ns = l->reaped_error_ns;
	} else if (!p->is_alive) {
		p->to_ns = l->exit_ns;
		p->to_error_ns = l->exit_error_ns;
	}
	if (p->to_ns > end)
		p->to_ns = end;
}

/* One that the first pass did not find started behind it, whatever /proc's rounding makes of that. */
static bool was_there(const struct boot_build *b, const struct boot_life *l)
{
	uint64_t from = b->boot->from_ns, first = b->n_passes ? b->passes[0] : from;

	if (l->start_ns == from)
		return l->start_how != BOOT_BY_EVENT && l->told_ns <= first;
	return l->start_ns < from &&
	       (l->told_ns <= first || l->start_ns + l->start_error_ns < from);
}

void boot_life_finish(const struct boot_build *b, const struct boot_life *l, struct boot_process *p)
{
	uint64_t from = b->boot->from_ns;

	p->pid = l->pid;
	p->parent_pid = l->parent_pid;
	p->parent = BOOT_NONE;
	p->is_kernel = l->is_kernel;
	p->is_self = l->is_self;
	p->exit_code = l->exit_code;
	p->threads = l->most_threads;
	p->was_there = was_there(b, l);
	p->from_ns = l->start_ns < from ? from : l->start_ns;
	p->before_ns = p->was_there ? p->from_ns - l->start_ns : 0;
	p->from_error_ns = l->start_error_ns;
	if (p->from_ns >= b->boot->to_ns)
		p->from_ns = b->boot->to_ns - 1;
	if (p->before_ns > p->from_ns)
		p->before_ns = p->from_ns;
	set_end(b, l, p);
	if (p->to_ns <= p->from_ns) /* everything takes some time */
		p->to_ns = p->from_ns + 1;
	set_account(l, p);
}

void boot_life_done(struct boot_life *l)
{
	size_t i;

	for (i = 0; i < l->n_words; i++)
		free(l->words[i].text);
	free(l->words);
	free(l->samples);
}
