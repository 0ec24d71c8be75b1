/* SPDX-License-Identifier: MIT */
/* sched_story: see sched_story.h. */
#include "sched_story.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/pidmap.h"

struct called {
	int32_t pid;
	char comm[SCHED_COMM_LEN];
};

struct sched_story {
	struct trace_source source;
	struct pidmap *names;
	struct trace_item *items;
	size_t n, room, at;
};

static int story_next(struct trace_source *source, struct trace_item *ret, struct error *e)
{
	struct sched_story *s = (struct sched_story *)source;

	(void)e;
	if (s->at == s->n)
		return 0;
	*ret = s->items[s->at++];
	return 1;
}

static int story_rewind(struct trace_source *source, struct error *e)
{
	(void)e;
	((struct sched_story *)source)->at = 0;
	return 0;
}

static void story_free(struct trace_source *source)
{
	(void)source; /* it is borrowed */
}

static const struct trace_source_ops ops = {
	.next = story_next,
	.rewind = story_rewind,
	.free = story_free,
};

struct sched_story *sched_story_new(uint32_t cpus)
{
	struct sched_story *s = calloc(1, sizeof(*s));

	if (!s || info_init(&s->source.info) < 0)
		abort();
	s->names = pidmap_new(sizeof(struct called));
	if (!s->names)
		abort();
	s->source.ops = &ops;
	s->source.info.cpus = cpus;
	memcpy(s->source.info.clock.name, "mono", 5);
	s->source.info.dialect.features |= DIALECT_GROUP_DEAD;
	return s;
}

void sched_story_free(struct sched_story *s)
{
	size_t i;

	if (!s)
		return;
	for (i = 0; i < s->n; i++)
		free((char *)s->items[i].event.filename);
	free(s->items);
	pidmap_free(s->names);
	info_done(&s->source.info);
	free(s);
}

struct trace_source *sched_story_open(struct sched_story *s)
{
	s->at = 0;
	return &s->source;
}

void sched_story_put(struct sched_story *s, const struct trace_item *item)
{
	struct trace_item *to;

	if (s->n == s->room) {
		s->room = s->room ? s->room * 2 : 64;
		s->items = realloc(s->items, s->room * sizeof(*s->items));
		if (!s->items)
			abort();
	}
	to = &s->items[s->n++];
	*to = *item;
	if (item->type == ITEM_EVENT && item->event.filename) {
		to->event.filename = strndup(item->event.filename, item->event.filename_len);
		if (!to->event.filename)
			abort();
	}
}

static void call(struct sched_story *s, int32_t pid, const char *comm, size_t len)
{
	struct called *c = pidmap_add(s->names, pid);

	if (!c)
		abort();
	sched_comm_set(c->comm, comm, len);
}

static void name(struct sched_story *s, struct sched_task *t, int32_t pid)
{
	const struct called *c = pidmap_get(s->names, pid);
	char comm[24];
	int n;

	t->pid = pid;
	if (c) {
		memcpy(t->comm, c->comm, sizeof(t->comm));
		return;
	}
	n = pid ? snprintf(comm, sizeof(comm), "task%d", (int)pid)
		: snprintf(comm, sizeof(comm), "swapper");
	sched_comm_set(t->comm, comm, (size_t)n);
}

static struct trace_item event(uint64_t ns, uint32_t cpu, int32_t pid, enum sched_kind kind)
{
	struct trace_item i = { .type = ITEM_EVENT, .cpu = cpu };

	i.event.kind = (uint8_t)kind;
	i.event.tick = ns;
	i.event.pid = pid;
	return i;
}

void sched_story_switch(struct sched_story *s, uint64_t ns, uint32_t cpu, int32_t prev, char state,
			int32_t next)
{
	static const char letters[] = "SDTtXZPI";
	struct trace_item i = event(ns, cpu, prev, SCHED_SWITCH);
	const char *at = strchr(letters, state);

	i.event.state = at ? 1ULL << (at - letters) : 0;
	name(s, &i.event.task, prev);
	name(s, &i.event.other, next);
	sched_story_put(s, &i);
}

static void wake(struct sched_story *s, struct trace_item *i, int32_t pid)
{
	name(s, &i->event.task, pid);
	i->event.value = (int32_t)i->cpu;
	sched_story_put(s, i);
}

void sched_story_wake(struct sched_story *s, uint64_t ns, uint32_t cpu, int32_t by, int32_t pid)
{
	struct trace_item i = event(ns, cpu, by, SCHED_WAKING);

	wake(s, &i, pid);
}

void sched_story_wake_irq(struct sched_story *s, uint64_t ns, uint32_t cpu, int32_t interrupted,
			  int32_t pid)
{
	struct trace_item i = event(ns, cpu, interrupted, SCHED_WAKING);

	i.event.flags = 0x08;
	wake(s, &i, pid);
}

void sched_story_fork(struct sched_story *s, uint64_t ns, uint32_t cpu, int32_t parent,
		      int32_t child)
{
	struct trace_item i = event(ns, cpu, parent, SCHED_FORK);

	name(s, &i.event.task, parent);
	call(s, child, i.event.task.comm, strnlen(i.event.task.comm, SCHED_COMM_LEN));
	name(s, &i.event.other, child);
	sched_story_put(s, &i);
	i = event(ns, cpu, parent, SCHED_WAKEUP_NEW);
	name(s, &i.event.task, child);
	i.event.value = (int32_t)cpu;
	sched_story_put(s, &i);
}

void sched_story_exec(struct sched_story *s, uint64_t ns, uint32_t cpu, int32_t pid,
		      const char *comm, const char *program)
{
	struct trace_item i = event(ns, cpu, pid, SCHED_RENAME);

	name(s, &i.event.task, pid);
	call(s, pid, comm, strlen(comm));
	sched_comm_set(i.event.other.comm, comm, strlen(comm));
	sched_story_put(s, &i);
	i = event(ns, cpu, pid, SCHED_EXEC);
	i.event.task.pid = i.event.value = pid;
	i.event.filename = program;
	i.event.filename_len = (uint16_t)strlen(program);
	sched_story_put(s, &i);
}

void sched_story_exit(struct sched_story *s, uint64_t ns, uint32_t cpu, int32_t pid,
		      bool group_dead)
{
	struct trace_item i = event(ns, cpu, pid, SCHED_EXIT);

	name(s, &i.event.task, pid);
	i.event.extra = group_dead;
	sched_story_put(s, &i);
}

void sched_story_loss(struct sched_story *s, uint64_t from_ns, uint64_t to_ns, uint32_t cpu,
		      uint64_t count)
{
	struct trace_item i = { .type = ITEM_LOSS, .cpu = cpu };

	i.loss.from_tick = from_ns;
	i.loss.to_tick = to_ns;
	i.loss.count = count;
	sched_story_put(s, &i);
}
