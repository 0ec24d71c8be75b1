/* SPDX-License-Identifier: MIT */
/* boot_story: see boot_story.h. */
#include "tools/boot_story.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct boot_story {
	struct trace_info info;
	bool is_cut;
	struct boot_item *items;
	size_t n, room;
};

struct story_source {
	struct boot_source source;
	struct boot_story *script;
	size_t at;
};

static void *must(void *p)
{
	if (!p)
		abort();
	return p;
}

struct boot_story *boot_story_new(void)
{
	struct boot_story *s = must(calloc(1, sizeof(*s)));

	if (info_init(&s->info) < 0 || info_set(&s->info.device, "board", 5) < 0 ||
	    info_set(&s->info.origin, "script", 6) < 0)
		abort();
	strcpy(s->info.clock.name, "mono");
	s->info.cpus = 1;
	return s;
}

void boot_story_free(struct boot_story *s)
{
	size_t i;

	if (!s)
		return;
	for (i = 0; i < s->n; i++)
		free((char *)(uintptr_t)s->items[i].event.text);
	free(s->items);
	info_done(&s->info);
	free(s);
}

struct trace_info *boot_story_info(struct boot_story *s)
{
	return &s->info;
}

void boot_story_set_cut(struct boot_story *s)
{
	s->is_cut = true;
}

/* --- as a source --- */

static int next(struct boot_source *source, struct boot_item *ret, struct error *e)
{
	struct story_source *s = (struct story_source *)source;

	(void)e;
	if (s->at == s->script->n)
		return 0;
	*ret = s->script->items[s->at++];
	return 1;
}

static int rewind_script(struct boot_source *source, struct error *e)
{
	(void)e;
	((struct story_source *)source)->at = 0;
	return 0;
}

static void free_source(struct boot_source *source)
{
	info_done(&source->info);
	free(source);
}

void boot_story_open(struct boot_story *s, struct boot_source **ret)
{
	static const struct boot_source_ops ops = { .next = next,
						    .rewind = rewind_script,
						    .free = free_source };
	struct story_source *source = must(calloc(1, sizeof(*source)));

	source->source.ops = &ops;
	source->source.is_cut = s->is_cut;
	source->script = s;
	if (info_dup(&source->source.info, &s->info) < 0)
		abort();
	*ret = &source->source;
}

/* --- items --- */

static struct boot_item *push(struct boot_story *s)
{
	if (s->n == s->room) {
		s->room = s->room ? s->room * 2 : 64;
		s->items = must(realloc(s->items, s->room * sizeof(*s->items)));
	}
	memset(&s->items[s->n], 0, sizeof(*s->items));
	return &s->items[s->n++];
}

void boot_story_put(struct boot_story *s, const struct boot_event *event)
{
	struct boot_item *i = push(s);
	char *text;

	i->type = ITEM_EVENT;
	i->event = *event;
	if (!event->text)
		return;
	text = must(malloc(event->text_len + 1));
	memcpy(text, event->text, event->text_len);
	text[event->text_len] = 0;
	i->event.text = text;
}

void boot_story_loss(struct boot_story *s, const struct trace_loss *loss)
{
	struct boot_item *i = push(s);

	i->type = ITEM_LOSS;
	i->loss = *loss;
}

size_t boot_story_count(const struct boot_story *s)
{
	return s->n;
}

const struct boot_item *boot_story_at(const struct boot_story *s, size_t i)
{
	return &s->items[i];
}

/* --- kinds --- */

static struct boot_event make(uint64_t tick, uint8_t kind, uint32_t key)
{
	struct boot_event e;

	memset(&e, 0, sizeof(e));
	e.tick = tick;
	e.kind = kind;
	e.key = key;
	return e;
}

static void put_text(struct boot_story *s, struct boot_event *e, const char *text, size_t len)
{
	e->text = text;
	e->text_len = (uint32_t)len;
	boot_story_put(s, e);
}

void boot_story_pass(struct boot_story *s, uint64_t tick)
{
	struct boot_event e = make(tick, BOOT_PASS, 0);

	boot_story_put(s, &e);
}

static void put_start(struct boot_story *s, struct boot_event *e, uint64_t start, uint64_t how)
{
	e->number[BOOT_START_TICK] = start;
	e->number[BOOT_START_HOW] = how;
	boot_story_put(s, e);
}

void boot_story_start(struct boot_story *s, uint64_t tick, uint32_t pid, uint32_t parent)
{
	struct boot_event e = make(tick, BOOT_START, pid);

	e.number[BOOT_START_PARENT] = parent;
	e.number[BOOT_START_GROUP] = pid;
	put_start(s, &e, tick, BOOT_BY_EVENT);
}

void boot_story_found(struct boot_story *s, uint64_t tick, uint32_t pid, uint32_t parent,
		      uint64_t start)
{
	struct boot_event e = make(tick, BOOT_START, pid);

	e.number[BOOT_START_PARENT] = parent;
	e.number[BOOT_START_GROUP] = pid;
	put_start(s, &e, start, BOOT_BY_PROC);
}

void boot_story_recorder(struct boot_story *s, uint64_t tick, uint32_t pid)
{
	struct boot_event e = make(tick, BOOT_START, pid);

	e.number[BOOT_START_PARENT] = 1;
	e.number[BOOT_START_GROUP] = pid;
	e.number[BOOT_START_FLAGS] = BOOT_START_SELF;
	put_start(s, &e, tick, BOOT_BY_PROC);
}

void boot_story_thread(struct boot_story *s, uint64_t tick, uint32_t tid, uint32_t group)
{
	struct boot_event e = make(tick, BOOT_START, tid);

	e.number[BOOT_START_PARENT] = group;
	e.number[BOOT_START_GROUP] = group;
	put_start(s, &e, tick, BOOT_BY_EVENT);
}

void boot_story_name(struct boot_story *s, uint64_t tick, uint32_t pid, const char *comm)
{
	struct boot_event e = make(tick, BOOT_NAME, pid);

	put_text(s, &e, comm, strlen(comm));
}

void boot_story_exec(struct boot_story *s, uint64_t tick, uint32_t pid, const char *words)
{
	struct boot_event e = make(tick, BOOT_EXEC, pid);
	char text[BOOT_TEXT_MAX + 1];
	size_t i, len = strnlen(words, BOOT_TEXT_MAX - 1);

	for (i = 0; i < len; i++)
		text[i] = words[i] == ' ' ? '\0' : words[i];
	text[len] = 0;
	put_text(s, &e, text, len + 1);
}

void boot_story_task(struct boot_story *s, uint64_t tick, uint32_t pid, char state, uint64_t ran_ns)
{
	struct boot_event e = make(tick, BOOT_TASK, pid);

	e.number[BOOT_TASK_STATE] = (uint8_t)state;
	e.number[BOOT_TASK_RAN] = ran_ns;
	e.number[BOOT_TASK_THREADS] = 1;
	boot_story_put(s, &e);
}

void boot_story_wait(struct boot_story *s, uint64_t tick, uint32_t pid, const char *function)
{
	struct boot_event e = make(tick, BOOT_WAIT, pid);

	put_text(s, &e, function, strlen(function));
}

void boot_story_exit(struct boot_story *s, uint64_t tick, uint32_t pid, uint32_t code)
{
	struct boot_event e = make(tick, BOOT_EXIT, pid);

	e.number[BOOT_EXIT_CODE] = code;
	e.number[BOOT_EXIT_HOW] = BOOT_BY_EVENT;
	boot_story_put(s, &e);
}

void boot_story_gone(struct boot_story *s, uint64_t tick, uint32_t pid)
{
	struct boot_event e = make(tick, BOOT_EXIT, pid);

	e.number[BOOT_EXIT_HOW] = BOOT_BY_SAMPLE;
	boot_story_put(s, &e);
}

void boot_story_account(struct boot_story *s, uint64_t tick, uint32_t pid, uint64_t ran_ns,
			uint64_t disk_ns)
{
	struct boot_event e = make(tick, BOOT_ACCOUNT, pid);

	e.number[BOOT_ACCOUNT_RAN] = ran_ns;
	e.number[BOOT_ACCOUNT_DISK] = disk_ns;
	boot_story_put(s, &e);
}

void boot_story_cpu(struct boot_story *s, uint64_t tick, uint32_t cpu, uint64_t user_ns,
		    uint64_t idle_ns)
{
	struct boot_event e = make(tick, BOOT_CPU, cpu);

	e.number[BOOT_CPU_USER] = user_ns;
	e.number[BOOT_CPU_IDLE] = idle_ns;
	boot_story_put(s, &e);
}

void boot_story_disk(struct boot_story *s, uint64_t tick, uint32_t disk, uint64_t read_bytes,
		     uint64_t busy_ns)
{
	struct boot_event e = make(tick, BOOT_DISK, disk);

	e.number[BOOT_DISK_READ_BYTES] = read_bytes;
	e.number[BOOT_DISK_BUSY] = busy_ns;
	boot_story_put(s, &e);
}

void boot_story_disk_name(struct boot_story *s, uint64_t tick, uint32_t disk, const char *name)
{
	struct boot_event e = make(tick, BOOT_DISK_NAME, disk);

	put_text(s, &e, name, strlen(name));
}

void boot_story_memory(struct boot_story *s, uint64_t tick, uint64_t total_kib, uint64_t free_kib)
{
	struct boot_event e = make(tick, BOOT_MEMORY, 0);

	e.number[BOOT_MEMORY_TOTAL] = total_kib;
	e.number[BOOT_MEMORY_FREE] = free_kib;
	boot_story_put(s, &e);
}

void boot_story_mark(struct boot_story *s, uint64_t tick, uint32_t type, const char *text)
{
	struct boot_event e = make(tick, BOOT_MARK, type);

	e.number[BOOT_MARK_TICK] = tick;
	put_text(s, &e, text, strlen(text));
}
