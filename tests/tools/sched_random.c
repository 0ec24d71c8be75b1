/* SPDX-License-Identifier: MIT */
/*
 * sched_random: see sched_random.h.
 *
 * The realistic styles keep a table of tasks as a kernel would; a few of them are hot, because real
 * schedulers switch between few tasks most of the time. The hostile style draws each field on its
 * own, but returns to earlier values often enough that a codec's tables are hit as well as missed.
 */
#include "tools/sched_random.h"

#define STATE_PREEMPTED 0x100
#define HOT_TASKS 12
#define PID_MAX 32768
#define REAL_TASKS_MAX 400U

static const char *const names[] = {
	"bash",	       "cc1",	      "kworker/0:1H", "rcu_preempt",  "systemd-journal", "nginx",
	"ksoftirqd/0", "migration/0", "irq/32-eth0",  "Binder:712_3", "er.ServerThread", "_",
	"a b c",       "gmain",	      "wrk",	      "kswapd0",      "jbd2/mmcblk0p2-", "sh",
};
#define NAMES (sizeof(names) / sizeof(names[0]))

/* xorshift64*: small, the same everywhere, and good enough for this. */
uint64_t sched_random_bits(struct sched_random *r)
{
	r->x ^= r->x >> 12;
	r->x ^= r->x << 25;
	r->x ^= r->x >> 27;
	return r->x * 0x2545f4914f6cdd1dULL;
}

uint32_t sched_random_below(struct sched_random *r, uint32_t n)
{
	return (uint32_t)((sched_random_bits(r) >> 32) * n >> 32);
}

static bool one_in(struct sched_random *r, uint32_t n)
{
	return sched_random_below(r, n) == 0;
}

static void set_name(char comm[SCHED_COMM_LEN], const char *name)
{
	sched_comm_set(comm, name, strlen(name));
}

static int32_t random_prio(struct sched_random *r)
{
	switch (sched_random_below(r, 12)) {
	case 0:
		return (int32_t)sched_random_below(r, 100); /* real time */
	case 1:
		return 100 + (int32_t)sched_random_below(r, 40); /* nice */
	case 2:
		return one_in(r, 4) ? -1 : 98; /* deadline */
	default:
		return 120;
	}
}

static void random_task(struct sched_random *r, struct sched_task *t)
{
	t->pid = r->next_pid;
	r->next_pid = r->next_pid >= PID_MAX ? 300 : r->next_pid + 1 + one_in(r, 3);
	t->prio = random_prio(r);
	set_name(t->comm, names[sched_random_below(r, NAMES)]);
}

/* Any 1 to 16 bytes but NUL, or none. */
static void hostile_comm(struct sched_random *r, char comm[SCHED_COMM_LEN])
{
	size_t i, len = sched_random_below(r, SCHED_COMM_LEN + 1);

	memset(comm, 0, SCHED_COMM_LEN);
	for (i = 0; i < len; i++)
		comm[i] = (char)(1 + sched_random_below(r, 255));
}

void sched_random_init(struct sched_random *r, uint64_t seed, unsigned style)
{
	uint32_t i, tasks = style == SCHED_RANDOM_IDLE	    ? 6
			    : style == SCHED_RANDOM_HOSTILE ? SCHED_RANDOM_TASKS
							    : 100;

	memset(r, 0, sizeof(*r));
	r->x = (seed + 1) * 0x9e3779b97f4a7c15ULL;
	if (!r->x)
		r->x = 1;
	r->style = style;
	r->tick = sched_random_bits(r) >> 20;
	r->next_pid = 1;
	r->task[0].prio = 120;
	set_name(r->task[0].comm, "swapper/0");
	for (i = 1; i < tasks; i++) {
		random_task(r, &r->task[i]);
		if (style == SCHED_RANDOM_HOSTILE) {
			r->task[i].pid = (int32_t)(uint32_t)sched_random_bits(r);
			hostile_comm(r, r->task[i].comm);
		}
	}
	r->n_tasks = tasks;
}

/* ---- realistic styles ---- */

static uint32_t pick_task(struct sched_random *r)
{
	if (!one_in(r, 8))
		return 1 + sched_random_below(r, r->n_tasks - 1 < HOT_TASKS ? r->n_tasks - 1
									    : HOT_TASKS);
	return 1 + sched_random_below(r, r->n_tasks - 1);
}

/* In bursts from 200 on, else up to some ten million, small gaps being the more likely. */
static void pass_time(struct sched_random *r)
{
	uint32_t scale;

	if (r->burst) {
		r->burst--;
		r->tick += 200 + sched_random_below(r, 1U << (8 + sched_random_below(r, 8)));
		return;
	}
	if (one_in(r, 6))
		r->burst = 4 + sched_random_below(r, 60);
	scale = 10 + sched_random_below(r, 15);
	if (r->style == SCHED_RANDOM_IDLE)
		r->tick += one_in(r, 50) ? sched_random_bits(r) >> 27 : 4000000;
	r->tick += sched_random_below(r, 1U << scale);
}

static void set_common(struct sched_random *r, struct sched_event *e, uint8_t kind)
{
	static const uint8_t flags[] = { 0, 1, 1, 5, 9, 0x11, 0x15, 0x19 };

	memset(e, 0, sizeof(*e));
	e->kind = kind;
	e->tick = r->tick;
	e->pid = r->task[r->current].pid;
	e->flags = flags[sched_random_below(r, 8)];
	e->preempt_count = (uint8_t)(one_in(r, 5) ? sched_random_below(r, 4) : 2);
}

/* Removes the current task from the table; the last one takes its place. */
static void forget_current(struct sched_random *r)
{
	uint32_t last = --r->n_tasks;

	r->task[r->current] = r->task[last];
	if (r->woken == last)
		r->woken = r->current;
	r->exiting = false;
}

static uint64_t leave_state(struct sched_random *r, uint32_t next)
{
	static const uint64_t sleeps[] = { 1, 1, 1, 1, 1, 2, 0x80, 0x80, 4, 8, 0x40, 0x102 };

	if (r->exiting)
		return one_in(r, 3) ? 0x20 : 0x10;
	if (r->current == 0)
		return 0;
	if (next && one_in(r, 4))
		return STATE_PREEMPTED;
	return sleeps[sched_random_below(r, sizeof(sleeps) / sizeof(sleeps[0]))];
}

static void make_switch(struct sched_random *r, struct sched_event *e)
{
	uint32_t next = r->woken && !one_in(r, 5) ? r->woken : pick_task(r);

	if (r->current && one_in(r, 3))
		next = 0;
	if (next == r->current)
		next = r->current ? 0 : 1;
	set_common(r, e, SCHED_SWITCH);
	e->task = r->task[r->current];
	e->other = r->task[next];
	e->state = leave_state(r, next);
	if (r->exiting) {
		if (next == r->n_tasks - 1)
			next = r->current; /* it moves there */
		forget_current(r);
	}
	r->current = next;
	r->woken = 0;
}

static void make_wakeup(struct sched_random *r, struct sched_event *e)
{
	uint32_t who = pick_task(r);

	set_common(r, e, one_in(r, 10) ? SCHED_WAKEUP : SCHED_WAKING);
	if (who == r->current)
		who = 1 + who % (r->n_tasks - 1);
	e->task = r->task[who];
	e->value = one_in(r, 3) ? (int32_t)sched_random_below(r, 8) : 0;
	e->extra = 1;
	if (e->value == 0)
		r->woken = who;
}

static void make_fork(struct sched_random *r, struct sched_event *e)
{
	struct sched_task *parent = &r->task[r->current];
	uint32_t child = r->n_tasks++;

	random_task(r, &r->task[child]);
	r->task[child].prio = parent->prio;
	memcpy(r->task[child].comm, parent->comm, SCHED_COMM_LEN);
	set_common(r, e, SCHED_FORK);
	e->task.pid = parent->pid;
	memcpy(e->task.comm, parent->comm, SCHED_COMM_LEN);
	e->other.pid = r->task[child].pid;
	memcpy(e->other.comm, r->task[child].comm, SCHED_COMM_LEN);
	r->child = child;
}

static void make_wakeup_new(struct sched_random *r, struct sched_event *e)
{
	set_common(r, e, SCHED_WAKEUP_NEW);
	e->task = r->task[r->child];
	e->value = (int32_t)sched_random_below(r, 2);
	e->extra = 1;
	if (e->value == 0)
		r->woken = r->child;
	r->child = 0;
}

static void make_rename(struct sched_random *r, struct sched_event *e)
{
	struct sched_task *t = &r->task[r->current];

	set_common(r, e, SCHED_RENAME);
	e->task.pid = t->pid;
	memcpy(e->task.comm, t->comm, SCHED_COMM_LEN);
	set_name(t->comm, names[sched_random_below(r, NAMES)]);
	memcpy(e->other.comm, t->comm, SCHED_COMM_LEN);
	e->value = one_in(r, 3) ? -1000 + (int32_t)sched_random_below(r, 2001) : 0;
	r->execing = one_in(r, 2);
}

static void make_exec(struct sched_random *r, struct sched_event *e)
{
	static const char *const dirs[] = { "/bin/", "/usr/bin/", "/usr/lib/gcc/aarch64/12/",
					    "./" };
	const char *dir = dirs[sched_random_below(r, 4)];
	const struct sched_task *t = &r->task[r->current];
	size_t len = strlen(dir), i;

	set_common(r, e, SCHED_EXEC);
	memcpy(r->filename, dir, len);
	for (i = 0; i < SCHED_COMM_LEN && t->comm[i]; i++)
		r->filename[len++] = t->comm[i];
	e->filename = r->filename;
	e->filename_len = (uint16_t)len;
	e->task.pid = t->pid;
	e->value = one_in(r, 10) ? t->pid + 1 : t->pid;
	r->execing = false;
}

static void make_exit(struct sched_random *r, struct sched_event *e)
{
	set_common(r, e, SCHED_EXIT);
	e->task = r->task[r->current];
	e->extra = !one_in(r, 3);
	r->exiting = true;
}

static void make_setprio(struct sched_random *r, struct sched_event *e)
{
	struct sched_task *t = &r->task[pick_task(r)];

	set_common(r, e, SCHED_SETPRIO);
	e->task = *t;
	t->prio = random_prio(r);
	e->other.prio = t->prio;
}

/* What a stream with events missing looks like from outside. */
static void break_chain(struct sched_random *r)
{
	if (r->exiting || r->child || r->execing || !one_in(r, 4))
		return;
	r->current = sched_random_below(r, r->n_tasks);
	r->task[r->current].prio = r->current ? random_prio(r) : 120;
	if (r->current && one_in(r, 4))
		set_name(r->task[r->current].comm, names[sched_random_below(r, NAMES)]);
}

static void real_next(struct sched_random *r, struct sched_event *e)
{
	uint32_t dice = sched_random_below(r, 1000);
	bool rare = r->style != SCHED_RANDOM_IDLE || one_in(r, 20);

	pass_time(r);
	if (r->style == SCHED_RANDOM_BROKEN)
		break_chain(r);
	if (r->child)
		make_wakeup_new(r, e);
	else if (r->execing)
		make_exec(r, e);
	else if (r->exiting ? dice < 700 : dice < 520 || !rare)
		make_switch(r, e);
	else if (r->exiting || r->current == 0 || dice < 920)
		make_wakeup(r, e);
	else if (dice < 945 && r->n_tasks < REAL_TASKS_MAX)
		make_fork(r, e);
	else if (dice < 970)
		make_rename(r, e);
	else if (dice < 994 && r->n_tasks > 4)
		make_exit(r, e);
	else
		make_setprio(r, e);
	if (r->style == SCHED_RANDOM_BROKEN && one_in(r, 10))
		e->pid = r->task[sched_random_below(r, r->n_tasks)].pid;
}

/* ---- hostile style ---- */

/* Small, large, negative, the limits. */
static int32_t hostile_int(struct sched_random *r)
{
	static const int32_t limits[] = { 0, 1, -1, INT32_MAX, INT32_MIN, 32768, 4194304, -32768 };

	switch (sched_random_below(r, 4)) {
	case 0:
		return limits[sched_random_below(r, 8)];
	case 1:
		return (int32_t)sched_random_below(r, 300);
	default:
		return (int32_t)(uint32_t)sched_random_bits(r);
	}
}

static uint64_t hostile_state(struct sched_random *r)
{
	switch (sched_random_below(r, 4)) {
	case 0:
		return 0;
	case 1:
		return 1ULL << sched_random_below(r, 64);
	case 2:
		return sched_random_bits(r);
	default:
		return sched_random_below(r, 0x200);
	}
}

static void hostile_time(struct sched_random *r, struct sched_event *e)
{
	switch (sched_random_below(r, 40)) {
	case 0:
		r->tick += sched_random_bits(r) >> (1 + sched_random_below(r, 63));
		break;
	case 1:
		r->tick -= sched_random_bits(r) >> (1 + sched_random_below(r, 63));
		break;
	case 2:
		r->tick -= sched_random_below(r, 1000);
		break;
	case 3:
		break; /* the same again */
	default:
		r->tick += sched_random_below(r, 1U << sched_random_below(r, 30));
	}
	e->tick = r->tick;
	if (one_in(r, 16))
		e->tick_off_ns =
			one_in(r, 4) ? hostile_int(r) : (int32_t)sched_random_below(r, 9) - 4;
}

/* Mostly one of the table, at times with something changed, at times replaced by another. */
static void hostile_task(struct sched_random *r, struct sched_task *ret)
{
	uint32_t i = one_in(r, 2) ? sched_random_below(r, r->n_tasks) : sched_random_below(r, 40);
	struct sched_task *t = &r->task[i];

	switch (sched_random_below(r, 8)) {
	case 0:
		t->pid = hostile_int(r);
		break;
	case 1:
		t->prio = hostile_int(r);
		break;
	case 2:
		hostile_comm(r, t->comm);
		break;
	default:
		break;
	}
	*ret = *t;
}

static void hostile_exec(struct sched_random *r, struct sched_event *e)
{
	size_t i, len = sched_random_below(r, 1U << (1 + sched_random_below(r, 12)));

	if (one_in(r, 30))
		len = SCHED_FILENAME_MAX;
	for (i = 0; i < len; i++)
		r->filename[i] = (char)(1 + sched_random_below(r, 255));
	e->filename = len ? r->filename : NULL;
	e->filename_len = (uint16_t)len;
	e->value = hostile_int(r);
	e->task.prio = 0;
	memset(e->task.comm, 0, SCHED_COMM_LEN);
}

/* Fields that the kind does not use back to zero, and the others filled. */
static void hostile_fields(struct sched_random *r, struct sched_event *e)
{
	switch (e->kind) {
	case SCHED_SWITCH:
		hostile_task(r, &e->other);
		e->state = hostile_state(r);
		break;
	case SCHED_WAKING:
	case SCHED_WAKEUP:
	case SCHED_WAKEUP_NEW:
		e->value = hostile_int(r);
		e->extra = (uint8_t)sched_random_bits(r);
		break;
	case SCHED_FORK:
		hostile_task(r, &e->other);
		e->task.prio = e->other.prio = 0;
		break;
	case SCHED_EXEC:
		hostile_exec(r, e);
		break;
	case SCHED_EXIT:
		e->extra = (uint8_t)sched_random_bits(r);
		break;
	case SCHED_RENAME:
		hostile_comm(r, e->other.comm);
		e->value = hostile_int(r);
		e->task.prio = 0;
		break;
	default:
		e->other.prio = hostile_int(r);
	}
}

static void hostile_next(struct sched_random *r, struct sched_event *e)
{
	memset(e, 0, sizeof(*e));
	e->kind = (uint8_t)(one_in(r, 3) ? sched_random_below(r, SCHED_KINDS)
					 : sched_random_below(r, 2));
	hostile_time(r, e);
	hostile_task(r, &e->task);
	e->pid = one_in(r, 3) ? hostile_int(r) : e->task.pid;
	e->flags = (uint8_t)(sched_random_bits(r) >> (sched_random_below(r, 2) * 7));
	e->preempt_count = (uint8_t)sched_random_bits(r);
	hostile_fields(r, e);
}

void sched_random_next(struct sched_random *r, struct sched_event *ret)
{
	if (r->style == SCHED_RANDOM_HOSTILE)
		hostile_next(r, ret);
	else
		real_next(r, ret);
}
