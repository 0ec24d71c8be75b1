/* SPDX-License-Identifier: MIT */
/* sampler_say: what is known of a process as records; see sampler_state.h. */
#include <stdio.h>

#include "device/boot/sampler_state.h"

static struct boot_event event_of(const struct task *t, enum boot_kind kind, uint64_t tick)
{
	return (struct boot_event){
		.tick = tick, .kind = (uint8_t)kind, .key = t->pid, .text = ""
	};
}

void sampler_say_start(struct sampler *s, const struct task *t, uint64_t tick)
{
	struct boot_event ev = event_of(t, BOOT_START, tick);

	ev.number[BOOT_START_PARENT] = t->parent;
	ev.number[BOOT_START_GROUP] = t->group;
	ev.number[BOOT_START_TICK] = t->start_tick;
	ev.number[BOOT_START_HOW] = t->how;
	ev.number[BOOT_START_FLAGS] = t->flags;
	record_sink_put(s->o.sink, &ev);
}

void sampler_say_name(struct sampler *s, const struct task *t, uint64_t tick)
{
	struct boot_event ev = event_of(t, BOOT_NAME, tick);

	ev.text = t->comm;
	ev.text_len = t->comm_len;
	record_sink_put(s->o.sink, &ev);
	if (s->o.named && !s->is_repeating)
		s->o.named(s->o.context, t, "", 0, tick);
}

/* A script of the system's start: an interpreter has it among its first words. */
static const char *find_script(const char *args, size_t len)
{
	static const char *const folders[] = { "/etc/init.d/", "/etc/rc" };
	const char *at = args;
	size_t i, n, f;

	for (i = 0; i < 3 && at < args + len; i++, at += n + 1) {
		n = strnlen(at, (size_t)(args + len - at));
		for (f = 0; f < sizeof(folders) / sizeof(*folders); f++)
			if (n > strlen(folders[f]) && !memcmp(at, folders[f], strlen(folders[f])))
				return at;
	}
	return NULL;
}

static void say_phase(struct sampler *s, const struct task *t, uint64_t tick, const char *text)
{
	struct boot_event ev = {
		.tick = tick, .kind = BOOT_MARK, .key = BOOT_MARK_PHASE, .text = text
	};

	ev.number[BOOT_MARK_TICK] = tick;
	ev.number[BOOT_MARK_PID] = t->pid;
	ev.text_len = (uint32_t)strnlen(text, BOOT_TEXT_MAX);
	record_sink_put(s->o.sink, &ev);
}

static void mark_phase(struct sampler *s, struct task *t, uint64_t tick, size_t len)
{
	const char *script = find_script(s->args, len);
	char text[160];

	if (script && !t->is_script) {
		t->is_script = true;
		snprintf(text, sizeof(text), "%.120s begins", script);
		say_phase(s, t, tick, text);
	} else if (t->pid == 1) {
		snprintf(text, sizeof(text), "init is now %.120s", s->args);
		say_phase(s, t, tick, text);
	}
}

void sampler_say_args(struct sampler *s, struct task *t, uint64_t tick)
{
	struct boot_event ev = event_of(t, BOOT_EXEC, tick);
	ssize_t n = sampler_read(s, t, "cmdline", s->args, BOOT_TEXT_MAX);

	n = n > 0 ? n : 0;
	if (n == BOOT_TEXT_MAX)
		s->args[n - 1] = 0; /* the rest is cut off, but every word has an end */
	else if (n && s->args[n - 1])
		s->args[n++] = 0;
	/* Of ourselves: the room that a longer command line had (background.c). */
	while (t->flags & BOOT_START_SELF && n > 1 && !s->args[n - 2])
		n--;
	s->args[n] = 0;
	ev.text = s->args;
	ev.text_len = (uint32_t)n;
	record_sink_put(s->o.sink, &ev);
	if (!n || s->is_repeating)
		return;
	if (!s->is_finding)
		mark_phase(s, t, tick, (size_t)n);
	if (s->o.named)
		s->o.named(s->o.context, t, s->args, (size_t)n, tick);
}

void sampler_say_task(struct sampler *s, const struct task *t, uint64_t tick)
{
	struct boot_event ev = event_of(t, BOOT_TASK, tick);

	ev.number[BOOT_TASK_STATE] = (uint8_t)t->state;
	ev.number[BOOT_TASK_USER] = t->user_ns;
	ev.number[BOOT_TASK_SYSTEM] = t->system_ns;
	ev.number[BOOT_TASK_RAN] = t->ran_ns;
	ev.number[BOOT_TASK_WAITED] = t->waited_ns;
	ev.number[BOOT_TASK_FAULTS] = t->faults;
	ev.number[BOOT_TASK_THREADS] = t->threads;
	record_sink_put(s->o.sink, &ev);
}

/* Where it waits, while it cannot be woken; else that it does not any more. */
void sampler_say_wait(struct sampler *s, struct task *t)
{
	struct boot_event ev = event_of(t, BOOT_WAIT, s->now);
	char where[64];
	ssize_t n = 0;

	if (t->state == 'D')
		n = sampler_read(s, t, "wchan", where, sizeof(where));
	if (n == 1 && where[0] == '0')
		n = 0;
	if (n <= 0 && !t->is_blocked)
		return;
	t->is_blocked = n > 0;
	ev.text = where;
	ev.text_len = n > 0 ? (uint32_t)n : 0;
	record_sink_put(s->o.sink, &ev);
}

void sampler_say_exit(struct sampler *s, const struct task *t)
{
	struct boot_event ev = event_of(t, BOOT_EXIT, s->now);
	char text[64];

	ev.number[BOOT_EXIT_HOW] = BOOT_BY_SAMPLE;
	if (t->has_ended) {
		ev.number[BOOT_EXIT_CODE] = t->exit_code;
		if (!t->was_zombie) {
			ev.number[BOOT_EXIT_HOW] = BOOT_BY_EVENT;
			ev.tick = t->exit_tick;
		}
	}
	record_sink_put(s->o.sink, &ev);
	if (!t->is_script)
		return;
	snprintf(text, sizeof(text), "%.*s ends", (int)t->comm_len, t->comm);
	say_phase(s, t, ev.tick, text);
}

void sampler_say_all(struct sampler *s, uint64_t now_ns)
{
	struct task *t;
	uint32_t at = 0;

	s->is_repeating = true;
	while ((t = task_table_next(s->tasks, &at))) {
		sampler_say_start(s, t, now_ns);
		sampler_say_name(s, t, now_ns);
		if (!(t->flags & BOOT_START_KERNEL) && !t->has_ended && t->group == t->pid)
			sampler_say_args(s, t, now_ns);
		if (t->was_seen)
			sampler_say_task(s, t, now_ns);
	}
	s->is_repeating = false;
	machine_rows_forget(s->o.rows);
	s->rows_due = s->machine_due = 0;
}
