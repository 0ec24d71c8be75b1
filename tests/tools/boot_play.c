/* SPDX-License-Identifier: MIT */
/* boot_play: see boot_play.h. */
#include "tools/boot_play.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/boot_script.h"

#define HUNDREDTH 10000000ULL

static struct boot_item *add_item(struct boot_play *p)
{
	struct boot_item *more;
	size_t room = p->room ? 2 * p->room : 1024;

	if (p->n == p->room) {
		more = p->n < BOOT_PLAY_ITEMS ? realloc(p->items, room * sizeof(*more)) : NULL;
		if (!more)
			return NULL;
		p->items = more;
		p->room = room;
	}
	memset(&p->items[p->n], 0, sizeof(p->items[0]));
	return &p->items[p->n++];
}

/* A record; numbers may be NULL, a text has a length or none. */
static int say(struct boot_play *p, const struct boot_event *ev)
{
	struct boot_item *item = add_item(p);
	char *text = NULL;

	if (!item)
		return -ENOMEM;
	item->event = *ev;
	if (boot_shapes[ev->kind].has_text) {
		text = malloc(ev->text_len + 1);
		if (!text) {
			p->n--;
			return -ENOMEM;
		}
		if (ev->text_len)
			memcpy(text, ev->text, ev->text_len);
	}
	item->event.text = text;
	return 0;
}

static int say_text(struct boot_play *p, uint64_t tick, uint8_t kind, uint32_t key,
		    const char *text)
{
	const struct boot_event ev = { .tick = tick,
				       .kind = kind,
				       .key = key,
				       .text = text,
				       .text_len = (uint32_t)strlen(text) };

	return say(p, &ev);
}

/* How much of a span lies before a tick. */
static uint64_t before(const struct boot_play_span *s, uint64_t tick)
{
	uint64_t to = tick < s->to ? tick : s->to;

	return to > s->from ? to - s->from : 0;
}

static bool is_alive(const struct boot_play_task *t, uint64_t tick)
{
	return t->from <= tick && tick < t->to;
}

static char idle_state(const struct boot_play_task *t)
{
	return t->parent == 2 || t->pid == 2 ? 'I' : 'S';
}

/* Its numbers at a tick; the place where it waits, "" none. */
static const char *look(const struct boot_play *p, const struct boot_play_task *t, uint64_t tick,
			uint64_t number[BOOT_NUMBERS_MAX])
{
	const char *place = "";
	uint32_t i;

	memset(number, 0, BOOT_NUMBERS_MAX * sizeof(number[0]));
	number[BOOT_TASK_STATE] = (uint64_t)idle_state(t);
	number[BOOT_TASK_THREADS] = 1;
	for (i = 0; i < p->n_tasks; i++)
		if (p->task[i].group == t->pid && p->task[i].pid != t->pid &&
		    is_alive(&p->task[i], tick))
			number[BOOT_TASK_THREADS]++;
	for (i = 0; i < p->n_spans; i++) {
		const struct boot_play_span *s = &p->span[i];

		if (s->key != t->pid)
			continue;
		if (s->from <= tick && tick < s->to) {
			number[BOOT_TASK_STATE] = (uint64_t)(s->state ? s->state : 'R');
			place = s->state ? s->place : "";
		}
		if (s->state == 'D')
			number[BOOT_TASK_FAULTS] += before(s, tick) / 1000000;
		if (s->state)
			continue;
		number[BOOT_TASK_USER] += before(s, tick) / 100 * s->a;
		number[BOOT_TASK_SYSTEM] += before(s, tick) / 100 * s->b;
		number[BOOT_TASK_WAITED] += before(s, tick) / 100 * (100 - s->a - s->b);
	}
	number[BOOT_TASK_RAN] = number[BOOT_TASK_USER] + number[BOOT_TASK_SYSTEM];
	return place;
}

static int say_start(struct boot_play *p, struct boot_play_task *t, uint64_t tick)
{
	struct boot_event ev = { .tick = tick, .kind = BOOT_START, .key = t->pid };
	bool told = p->events && t->from > BOOT_SCRIPT_START;
	int r;

	ev.number[BOOT_START_PARENT] = t->parent;
	ev.number[BOOT_START_GROUP] = t->group;
	ev.number[BOOT_START_TICK] = told ? t->from : t->from / HUNDREDTH * HUNDREDTH;
	ev.number[BOOT_START_HOW] = told ? BOOT_BY_EVENT : BOOT_BY_PROC;
	ev.number[BOOT_START_FLAGS] = idle_state(t) == 'I' ? BOOT_START_KERNEL : 0;
	t->started = true;
	r = say(p, &ev);
	return r < 0 ? r : say_text(p, tick, BOOT_NAME, t->pid, t->name);
}

static int say_account(struct boot_play *p, const struct boot_play_task *t)
{
	struct boot_event ev = { .tick = t->to, .kind = BOOT_ACCOUNT, .key = t->pid };
	uint64_t number[BOOT_NUMBERS_MAX];
	uint32_t i;

	look(p, t, t->to, number);
	ev.number[BOOT_ACCOUNT_USER] = number[BOOT_TASK_USER];
	ev.number[BOOT_ACCOUNT_SYSTEM] = number[BOOT_TASK_SYSTEM];
	ev.number[BOOT_ACCOUNT_RAN] = number[BOOT_TASK_RAN];
	ev.number[BOOT_ACCOUNT_WAITED] = number[BOOT_TASK_WAITED];
	for (i = 0; i < p->n_spans; i++)
		if (p->span[i].key == t->pid && p->span[i].state == 'D')
			ev.number[BOOT_ACCOUNT_DISK] += before(&p->span[i], t->to);
	ev.number[BOOT_ACCOUNT_RSS] = 2000 + t->pid % 64 * 4;
	ev.number[BOOT_ACCOUNT_FAULTS] = number[BOOT_TASK_FAULTS];
	ev.number[BOOT_ACCOUNT_YIELDED] = 1 + t->pid % 7;
	return say(p, &ev);
}

static int say_exit(struct boot_play *p, struct boot_play_task *t, uint64_t tick)
{
	struct boot_event ev = { .tick = tick, .kind = BOOT_EXIT, .key = t->pid };
	int r;

	t->ended = true;
	ev.number[BOOT_EXIT_CODE] = p->events ? t->code : 0;
	ev.number[BOOT_EXIT_HOW] = p->events ? BOOT_BY_EVENT : BOOT_BY_SAMPLE;
	r = say(p, &ev);
	return r == 0 && p->events ? say_account(p, t) : r;
}

static int say_loss(struct boot_play *p, const struct boot_play_point *point)
{
	struct boot_item *item = add_item(p);

	if (!item)
		return -ENOMEM;
	item->type = ITEM_LOSS;
	item->loss.cause = (uint8_t)point->key;
	item->loss.count = point->count;
	item->loss.from_tick = item->loss.to_tick = point->at;
	return 0;
}

static int say_point(struct boot_play *p, struct boot_play_point *point)
{
	struct boot_event ev = { .tick = point->at,
				 .kind = point->kind,
				 .key = point->key,
				 .text = point->text,
				 .text_len = point->text_len };
	int r;

	if (point->kind == BOOT_KINDS)
		return say_loss(p, point);
	if (point->kind == BOOT_MARK) {
		ev.number[BOOT_MARK_TICK] = point->at;
		ev.number[BOOT_MARK_LEVEL] = point->key == BOOT_MARK_KERNEL ? 6 : 0;
		return say(p, &ev);
	}
	r = say(p, &ev);
	return r < 0 ? r : say_text(p, point->at, BOOT_NAME, point->key, point->name);
}

/* The next thing that happens on its own behind p->now and up to `until`. A process that starts and ends at
 * once does so in this order. */
static int say_next(struct boot_play *p, uint64_t until, bool *ret_more)
{
	struct boot_play_task *start = NULL, *end = NULL;
	struct boot_play_point *point = NULL;
	uint64_t best = until + 1;
	uint32_t i;
	int r;

	for (i = 0; i < p->n_points; i++)
		if (p->point[i].at < best && p->point[i].at != BOOT_PLAY_STAYS) {
			best = p->point[i].at;
			point = &p->point[i];
		}
	for (i = 0; p->events && i < p->n_tasks; i++)
		if (p->task[i].started && !p->task[i].ended && p->task[i].to < best) {
			best = p->task[i].to;
			end = &p->task[i];
		}
	for (i = 0; p->events && i < p->n_tasks; i++)
		if (!p->task[i].started && p->task[i].from <= best && p->task[i].from <= until) {
			if (start && p->task[i].from >= start->from)
				continue;
			best = p->task[i].from;
			start = &p->task[i];
		}
	*ret_more = start || end || point;
	if (start)
		return say_start(p, start, best > BOOT_SCRIPT_START ? best : BOOT_SCRIPT_START);
	if (end)
		return say_exit(p, end, best);
	if (!point)
		return 0;
	point->at = best > BOOT_SCRIPT_START ? best : BOOT_SCRIPT_START;
	r = say_point(p, point);
	point->at = BOOT_PLAY_STAYS; /* said */
	return r;
}

static int say_task(struct boot_play *p, struct boot_play_task *t, uint64_t tick)
{
	struct boot_event ev = { .tick = tick, .kind = BOOT_TASK, .key = t->pid };
	const char *place;
	int r = 0;

	if (!p->events && !t->started && is_alive(t, tick))
		r = say_start(p, t, tick);
	if (r == 0 && !p->events && t->started && !t->ended && t->to <= tick)
		r = say_exit(p, t, tick);
	if (r < 0 || !t->started || t->ended)
		return r;
	place = look(p, t, tick, ev.number);
	/* Kernels count these two in hundredths of a second. */
	ev.number[BOOT_TASK_USER] -= ev.number[BOOT_TASK_USER] % HUNDREDTH;
	ev.number[BOOT_TASK_SYSTEM] -= ev.number[BOOT_TASK_SYSTEM] % HUNDREDTH;
	if (memcmp(ev.number, t->said, sizeof(t->said)) != 0) {
		p->switches += 2;
		memcpy(t->said, ev.number, sizeof(t->said));
		r = say(p, &ev);
	}
	if (r == 0 && strcmp(place, t->place) != 0) {
		strcpy(t->place, place);
		r = say_text(p, tick, BOOT_WAIT, t->pid, place);
	}
	return r;
}

/* What all processes together used, and how many are in a state. */
static void add_up(const struct boot_play *p, uint64_t tick, uint64_t sum[BOOT_NUMBERS_MAX],
		   uint32_t states[256])
{
	uint64_t number[BOOT_NUMBERS_MAX];
	uint32_t i, j;

	memset(sum, 0, BOOT_NUMBERS_MAX * sizeof(sum[0]));
	memset(states, 0, 256 * sizeof(states[0]));
	for (i = 0; i < p->n_tasks; i++) {
		look(p, &p->task[i], tick < p->task[i].to ? tick : p->task[i].to, number);
		for (j = BOOT_TASK_USER; j <= BOOT_TASK_WAITED; j++)
			sum[j] += number[j];
		states[number[BOOT_TASK_STATE] & 255] += is_alive(&p->task[i], tick);
		states[0] += is_alive(&p->task[i], tick);
		sum[BOOT_TASK_THREADS] += p->task[i].from <= tick;
	}
}

static int say_cpus(struct boot_play *p, uint64_t tick, const uint64_t sum[BOOT_NUMBERS_MAX])
{
	struct boot_event ev = { .tick = tick, .kind = BOOT_CPU };
	int r = 0;

	for (ev.key = 0; r == 0 && ev.key < p->cpus; ev.key++) {
		ev.number[BOOT_CPU_USER] = sum[BOOT_TASK_USER] / p->cpus;
		ev.number[BOOT_CPU_SYSTEM] = sum[BOOT_TASK_SYSTEM] / p->cpus;
		ev.number[BOOT_CPU_IDLE] = p->idle / p->cpus;
		ev.number[BOOT_CPU_IOWAIT] = p->iowait / p->cpus;
		r = say(p, &ev);
	}
	return r;
}

/* Returns the KiB that were read, so that the memory can have them. */
static int say_disks(struct boot_play *p, uint64_t tick, uint64_t *ret_read)
{
	const struct boot_play_span *s;
	struct boot_event ev;
	uint32_t i, k;
	int r = 0;

	*ret_read = 0;
	for (i = 0; r == 0 && i < p->n_disks; i++) {
		memset(&ev, 0, sizeof(ev));
		ev.tick = tick;
		ev.kind = BOOT_DISK;
		ev.key = p->disk[i].key;
		for (k = 0; k < p->n_flows; k++) {
			s = &p->flow[k];
			if (s->key != ev.key)
				continue;
			ev.number[BOOT_DISK_READ_BYTES] +=
				before(s, tick) / 1000000 * s->a / 1000 * 1024;
			ev.number[BOOT_DISK_WRITTEN_BYTES] +=
				before(s, tick) / 1000000 * s->b / 1000 * 1024;
			ev.number[BOOT_DISK_BUSY] += before(s, tick) / 1000000 * 1000000;
			ev.number[BOOT_DISK_IN_FLIGHT] += s->from <= tick && tick < s->to;
		}
		ev.number[BOOT_DISK_READS] = ev.number[BOOT_DISK_READ_BYTES] / 16384;
		ev.number[BOOT_DISK_WRITES] = ev.number[BOOT_DISK_WRITTEN_BYTES] / 16384;
		ev.number[BOOT_DISK_WEIGHTED] = 2 * ev.number[BOOT_DISK_BUSY];
		*ret_read += ev.number[BOOT_DISK_READ_BYTES] / 1024;
		r = say(p, &ev);
	}
	return r;
}

static int say_memory(struct boot_play *p, uint64_t tick, uint64_t used, uint64_t cached)
{
	struct boot_event ev = { .tick = tick, .kind = BOOT_MEMORY };

	ev.number[BOOT_MEMORY_TOTAL] = p->memory;
	cached = cached < p->memory / 2 ? cached / 4 * 4 : p->memory / 2 / 4 * 4;
	used = used < p->memory / 4 ? used : p->memory / 4;
	ev.number[BOOT_MEMORY_FREE] = p->memory - used - cached;
	ev.number[BOOT_MEMORY_AVAILABLE] = p->memory - used;
	ev.number[BOOT_MEMORY_CACHED] = cached;
	return say(p, &ev);
}

static int say_pressure(struct boot_play *p, uint64_t tick, uint64_t waited)
{
	struct boot_event ev = { .tick = tick, .kind = BOOT_PRESSURE };
	int r;

	ev.number[BOOT_PRESSURE_SOME] = waited / 1000 * 1000;
	r = say(p, &ev);
	ev.key = BOOT_RESOURCE_IO;
	ev.number[BOOT_PRESSURE_SOME] = p->blocked_ns;
	ev.number[BOOT_PRESSURE_FULL] = p->iowait / p->cpus;
	return r < 0 ? r : say(p, &ev);
}

static int say_pass(struct boot_play *p, uint64_t tick)
{
	struct boot_event ev = { .tick = tick, .kind = BOOT_PASS };
	uint64_t sum[BOOT_NUMBERS_MAX], all, read = 0;
	uint32_t states[256], i;
	int r;

	add_up(p, tick, sum, states);
	all = (tick - BOOT_SCRIPT_START) * p->cpus;
	all = all > sum[BOOT_TASK_RAN] ? all - sum[BOOT_TASK_RAN] : 0;
	all = all > p->idle + p->iowait ? all - p->idle - p->iowait : 0;
	*(states['D'] ? &p->iowait : &p->idle) += all;
	p->blocked_ns += states['D'] ? tick - p->now : 0;
	ev.number[BOOT_PASS_TASKS] = ev.number[BOOT_PASS_LOOKED] = states[0];
	ev.number[BOOT_PASS_TOOK] = 200000 + states[0] * 7000;
	ev.number[BOOT_PASS_SWITCHES] = p->switches;
	ev.number[BOOT_PASS_RUNNABLE] = states['R'];
	ev.number[BOOT_PASS_BLOCKED] = states['D'];
	ev.number[BOOT_PASS_FORKS] = sum[BOOT_TASK_THREADS];
	r = say(p, &ev);
	if (r == 0)
		r = say_cpus(p, tick, sum);
	if (r == 0)
		r = say_disks(p, tick, &read);
	if (r == 0)
		r = say_memory(p, tick, states[0] * 400, read);
	if (r == 0)
		r = say_pressure(p, tick, sum[BOOT_TASK_WAITED]);
	for (i = 0; r == 0 && i < p->n_tasks; i++)
		r = say_task(p, &p->task[i], tick);
	p->now = tick;
	return r;
}

static int by_pid(const void *a, const void *b)
{
	const struct boot_play_task *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

int boot_play_start(struct boot_play *p)
{
	uint64_t tick = BOOT_SCRIPT_START;
	bool more = true;
	uint32_t i;
	int r = 0;

	qsort(p->task, p->n_tasks, sizeof(p->task[0]), by_pid);
	for (i = 0; r == 0 && i < p->n_disks; i++)
		r = say_text(p, tick, BOOT_DISK_NAME, p->disk[i].key, p->disk[i].name);
	p->now = tick;
	for (; r == 0 && tick < BOOT_SCRIPT_START + p->end; tick += p->interval) {
		for (more = true; r == 0 && more;)
			r = say_next(p, tick, &more);
		if (r == 0)
			r = say_pass(p, tick);
	}
	for (more = true; r == 0 && more;)
		r = say_next(p, BOOT_SCRIPT_START + p->end, &more);
	return r;
}

void boot_play_done(struct boot_play *p)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		if (p->items[i].type == ITEM_EVENT)
			free((char *)p->items[i].event.text);
	free(p->items);
	p->items = NULL;
	p->n = 0;
}
