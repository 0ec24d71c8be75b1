/* SPDX-License-Identifier: MIT */
/* boot_random: see boot_random.h. */
#include "tools/boot_random.h"

#include <stdio.h>

#define HUNDREDTH 10000000ULL

static const char *const words[] = { "systemd",	 "udevd",    "mount",	"dbus-daemon", "sh",
				     "modprobe", "fsck",     "getty",	"networkd",    "/usr/bin/",
				     "/lib/",	 "--daemon", "started", "usb 1-1",     "mmcblk0" };
static const char *const places[] = {
	"",	   "do_epoll_wait", "futex_wait",	 "io_schedule",
	"do_wait", "pipe_read",	    "hrtimer_nanosleep", "wait_on_page_bit"
};
#define WORDS (sizeof(words) / sizeof(words[0]))
#define PLACES (sizeof(places) / sizeof(places[0]))

/* Steps of a pass before its processes: the pass, CPUs, disk, memory, pressure, a message. */
enum {
	STEP_PASS,
	STEP_CPU0,
	STEP_CPU1,
	STEP_DISK,
	STEP_MEMORY,
	STEP_PRESSURE,
	STEP_MARK,
	STEP_TASKS
};

static uint64_t bits(struct boot_random *r)
{
	r->x ^= r->x << 13;
	r->x ^= r->x >> 7;
	r->x ^= r->x << 17;
	return r->x;
}

uint32_t boot_random_below(struct boot_random *r, uint32_t n)
{
	return (uint32_t)((bits(r) >> 32) * n >> 32);
}

static bool one_in(struct boot_random *r, uint32_t n)
{
	return !boot_random_below(r, n);
}

void boot_random_init(struct boot_random *r, uint64_t seed, unsigned style)
{
	memset(r, 0, sizeof(*r));
	r->x = seed * 0x9e3779b97f4a7c15ULL + 1;
	r->style = style;
	r->tick = 1000000000;
	r->next_pid = 1;
	r->n_tasks = style == BOOT_RANDOM_CROWD ? BOOT_RANDOM_TASKS : 120;
}

static void set_text(struct boot_random *r, struct boot_event *ev, const char *text)
{
	ev->text_len = (uint32_t)strlen(text);
	if (r->text != text)
		memcpy(r->text, text, ev->text_len);
	ev->text = r->text;
}

static void set_message(struct boot_random *r, struct boot_event *ev)
{
	char text[256];

	snprintf(text, sizeof(text), "%s: %s %s%u is ready", words[boot_random_below(r, WORDS)],
		 words[boot_random_below(r, WORDS)], words[boot_random_below(r, WORDS)],
		 boot_random_below(r, 10));
	set_text(r, ev, text);
}

static void add(struct boot_random *r, struct boot_event *ev, uint32_t i, uint64_t more)
{
	r->machine[ev->kind][i] += more;
	memcpy(ev->number, r->machine[ev->kind], sizeof(ev->number));
}

static void make_machine(struct boot_random *r, struct boot_event *ev)
{
	switch (r->step++) {
	case STEP_PASS:
		r->tick += 20000000 + boot_random_below(r, 100000);
		ev->kind = BOOT_PASS;
		ev->tick = r->tick;
		add(r, ev, BOOT_PASS_SWITCHES, boot_random_below(r, 200));
		ev->number[BOOT_PASS_TOOK] = 300000 + boot_random_below(r, 100000);
		ev->number[BOOT_PASS_RUNNABLE] = 1 + boot_random_below(r, 3);
		break;
	case STEP_CPU0:
	case STEP_CPU1:
		ev->kind = BOOT_CPU;
		ev->key = r->step - 1 - STEP_CPU0;
		add(r, ev, boot_random_below(r, 5), HUNDREDTH * boot_random_below(r, 3));
		break;
	case STEP_DISK:
		ev->kind = BOOT_DISK;
		add(r, ev, BOOT_DISK_READS, one_in(r, 3));
		add(r, ev, BOOT_DISK_READ_BYTES, 4096ULL * boot_random_below(r, 40));
		break;
	case STEP_MEMORY:
		ev->kind = BOOT_MEMORY;
		add(r, ev, BOOT_MEMORY_FREE, 0 - 4ULL * boot_random_below(r, 30));
		break;
	case STEP_PRESSURE:
		ev->kind = BOOT_PRESSURE;
		ev->key = boot_random_below(r, 3);
		add(r, ev, 0, 1000ULL * boot_random_below(r, 1000));
		break;
	default:
		ev->kind = BOOT_MARK;
		ev->tick = r->tick - boot_random_below(r, 20000000);
		ev->number[BOOT_MARK_TICK] = ev->tick;
		ev->number[BOOT_MARK_LEVEL] = 6;
		set_message(r, ev);
		break;
	}
}

static void make_start(struct boot_random *r, struct boot_random_task *t, struct boot_event *ev)
{
	memset(t, 0, sizeof(*t));
	t->alive = true;
	t->pid = r->next_pid;
	r->next_pid = r->next_pid == 32768 ? 300 : r->next_pid + 1;
	ev->kind = BOOT_START;
	ev->tick = r->tick - boot_random_below(r, 20000000);
	ev->number[BOOT_START_PARENT] = one_in(r, 4) ? boot_random_below(r, 300) : 1;
	ev->number[BOOT_START_GROUP] = t->pid;
	ev->number[BOOT_START_TICK] = ev->tick;
	t->number[BOOT_TASK_STATE] = 'S';
	t->number[BOOT_TASK_THREADS] = 1;
	r->wants = 1U << BOOT_NAME | 1U << BOOT_TASK | 1U << BOOT_WAIT |
		   (one_in(r, 2) ? 1U << BOOT_EXEC : 0);
}

static void move_task(struct boot_random *r, struct boot_random_task *t)
{
	uint64_t ran = 1000ULL * boot_random_below(r, 20000);

	t->number[BOOT_TASK_STATE] = (uint64_t) "SRD"[boot_random_below(r, 3)];
	t->number[BOOT_TASK_RAN] += ran;
	t->number[BOOT_TASK_WAITED] += boot_random_below(r, 5000000);
	t->number[BOOT_TASK_USER] += ran > HUNDREDTH ? HUNDREDTH : 0;
}

/* What is still to be said of the process at hand. */
static void make_rest(struct boot_random *r, struct boot_random_task *t, struct boot_event *ev)
{
	uint32_t kind = (uint32_t)__builtin_ctz(r->wants);

	r->wants &= r->wants - 1;
	ev->kind = (uint8_t)kind;
	ev->key = t->pid;
	if (kind == BOOT_TASK)
		memcpy(ev->number, t->number, sizeof(ev->number));
	else if (kind == BOOT_NAME)
		set_text(r, ev, words[boot_random_below(r, 9)]);
	else if (kind == BOOT_EXEC)
		set_message(r, ev);
	else if (kind == BOOT_WAIT)
		set_text(r, ev, places[t->place = boot_random_below(r, PLACES)]);
	else if (kind == BOOT_ACCOUNT)
		memcpy(ev->number, &t->number[BOOT_TASK_USER], 4 * sizeof(ev->number[0]));
	if (kind == BOOT_EXIT)
		t->alive = false;
	if (!r->wants)
		r->at++;
}

static void make_task(struct boot_random *r, struct boot_event *ev)
{
	struct boot_random_task *t;

	for (; r->at < r->n_tasks && !r->wants; r->at++) {
		t = &r->task[r->at];
		if (!t->alive && one_in(r, r->tick < 1500000000 ? 4 : 300)) {
			make_start(r, t, ev);
			ev->key = t->pid;
			return;
		}
		if (!t->alive || !one_in(r, 12))
			continue;
		move_task(r, t);
		r->wants = one_in(r, 60) ? 1U << BOOT_EXIT | 1U << BOOT_ACCOUNT
					 : 1U << BOOT_TASK | (one_in(r, 4) ? 1U << BOOT_WAIT : 0);
		break;
	}
	if (r->wants) {
		make_rest(r, &r->task[r->at], ev);
		return;
	}
	r->at = 0;
	r->step = STEP_PASS;
	make_machine(r, ev);
}

static void make_hostile(struct boot_random *r, struct boot_event *ev)
{
	uint32_t i, mode;

	if (one_in(r, 2))
		*ev = r->last[boot_random_below(r, 16)];
	else
		ev->kind = (uint8_t)boot_random_below(r, BOOT_KINDS);
	ev->text = r->text;
	if (!one_in(r, 3))
		ev->key = one_in(r, 2) ? boot_random_below(r, 2000) : (uint32_t)bits(r);
	for (i = 0; i < BOOT_NUMBERS_MAX; i++)
		if (one_in(r, 3))
			ev->number[i] =
				one_in(r, 9) ? UINT64_MAX - i : bits(r) >> boot_random_below(r, 64);
	if (one_in(r, 3))
		ev->tick = one_in(r, 2) ? r->tick : bits(r) >> boot_random_below(r, 64);
	r->tick = ev->kind == BOOT_PASS ? ev->tick : r->tick;
	ev->text_len = boot_random_below(r, one_in(r, 9) ? BOOT_TEXT_MAX + 1 : 60);
	mode = boot_random_below(r, 4); /* 0: the text before, or its start */
	for (i = 0; mode && i < ev->text_len; i++)
		r->text[i] = mode == 1 ? (char)(bits(r) >> 20) : mode == 2 ? 'a' : "ab\0c"[i % 4];
	r->last[boot_random_below(r, 16)] = *ev;
}

void boot_random_next(struct boot_random *r, struct boot_event *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->tick = r->tick;
	if (r->style == BOOT_RANDOM_HOSTILE)
		make_hostile(r, ret);
	else if (r->step < STEP_MARK || (r->step == STEP_MARK && one_in(r, 3)))
		make_machine(r, ret);
	else
		make_task(r, ret);
	if (!boot_shapes[ret->kind].has_text)
		ret->text_len = 0;
	memset(ret->number + boot_shapes[ret->kind].numbers, 0,
	       (BOOT_NUMBERS_MAX - boot_shapes[ret->kind].numbers) * sizeof(ret->number[0]));
}
