/* SPDX-License-Identifier: MIT */
/* func_script: see func_script.h. */
#include "tools/func_script.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/array.h"

struct script {
	struct func_source source;
	struct func_item *items;
	size_t n, room, at;
	size_t processes_room, threads_room, names_room;
};

static int script_next(struct func_source *base, struct func_item *ret, struct error *e)
{
	struct script *s = (struct script *)base;

	(void)e;
	if (s->at == s->n)
		return 0;
	*ret = s->items[s->at++];
	return 1;
}

static int script_rewind(struct func_source *base, struct error *e)
{
	(void)e;
	((struct script *)base)->at = 0;
	return 0;
}

static void script_progress(const struct func_source *base, uint64_t *ret_done, uint64_t *ret_total)
{
	*ret_done = ((const struct script *)base)->at;
	*ret_total = ((const struct script *)base)->n;
}

static void script_free(struct func_source *base)
{
	struct script *s = (struct script *)base;
	size_t i, k;

	for (i = 0; i < base->n_processes; i++) {
		for (k = 0; k < base->processes[i].n_names; k++)
			free(base->processes[i].names[k]);
		free(base->processes[i].names);
		free(base->processes[i].command);
		free(base->processes[i].exe);
	}
	free(base->processes);
	free(base->threads);
	free(base->origin);
	free(s->items);
	free(s);
}

static const struct func_source_ops ops = {
	.next = script_next,
	.rewind = script_rewind,
	.progress = script_progress,
	.free = script_free,
};

static bool add_process(struct script *s, const char *line)
{
	struct func_process *p;
	char command[64], kernel[16] = "";
	int pid;

	if (sscanf(line, "process %d %63s %15s", &pid, command, kernel) < 2 ||
	    array_grow(&s->source.processes, s->source.n_processes, &s->processes_room, sizeof(*p),
		       FUNC_PROCESSES_MAX) < 0)
		return false;
	p = &s->source.processes[s->source.n_processes++];
	memset(p, 0, sizeof(*p));
	p->pid = pid;
	p->kernel = !strcmp(kernel, "kernel");
	p->command = strdup(command);
	p->exe = strdup("");
	s->names_room = 0;
	return true;
}

static bool add_thread(struct script *s, const char *line)
{
	struct func_thread *t;
	char comm[64];
	int tid;

	if (sscanf(line, "thread %d %63s", &tid, comm) != 2 || !s->source.n_processes ||
	    array_grow(&s->source.threads, s->source.n_threads, &s->threads_room, sizeof(*t),
		       FUNC_THREADS_MAX) < 0)
		return false;
	t = &s->source.threads[s->source.n_threads++];
	memset(t, 0, sizeof(*t));
	t->process = (uint32_t)s->source.n_processes - 1;
	t->tid = tid;
	t->cpu = -1;
	memcpy(t->comm, comm, strnlen(comm, sizeof(t->comm)));
	return true;
}

static uint64_t number_of(struct func_process *p, const char *name)
{
	size_t i;

	for (i = 0; i < p->n_names; i++)
		if (!strcmp(p->names[i], name))
			return i;
	p->names = realloc(p->names, (i + 1) * sizeof(*p->names));
	p->names[p->n_names++] = strdup(name);
	return i;
}

static bool find_thread(const struct script *s, int tid, uint32_t *ret)
{
	for (*ret = 0; *ret < s->source.n_threads; ++*ret)
		if (s->source.threads[*ret].tid == tid)
			return true;
	return false;
}

/* Words of enum func_os_type, in its order. */
static const char *const words[] = { "in",  "out",  "wake", "call", "ret",
				     "irq", "iret", "maps", "watch" };

static bool parse_os(struct func_event *ev, const char *word, const char *rest)
{
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(word, words[i]))
			continue;
		ev->kind = FUNC_OS;
		ev->os = (uint8_t)i;
		ev->value = strtoull(rest, NULL, 10);
		return true;
	}
	return false;
}

static bool add_item(struct script *s, const char *line)
{
	struct func_item item = { .type = FUNC_ITEM_EVENT };
	char word[8];
	const char *rest;
	int tid, used = 0;

	if (sscanf(line, "%" SCNu64 " %d %7s %n", &item.event.tick, &tid, word, &used) < 3 ||
	    !find_thread(s, tid, &item.thread))
		return false;
	rest = line + used;
	if (!strcmp(word, "lost")) {
		item.type = FUNC_ITEM_LOSS;
		item.loss.from_tick = item.loss.to_tick = item.event.tick;
		item.loss.count = *rest == '?' ? LOSS_UNKNOWN : strtoull(rest, NULL, 10);
	} else if (*word == '>' || *word == '<') {
		item.event.kind = *word == '>' ? FUNC_ENTER : FUNC_EXIT;
		item.event.value =
			number_of(&s->source.processes[s->source.threads[item.thread].process],
				  rest);
	} else if (!parse_os(&item.event, word, rest)) {
		return false;
	}
	if (array_grow(&s->items, s->n, &s->room, sizeof(item), SIZE_MAX) < 0)
		return false;
	s->items[s->n++] = item;
	return true;
}

static bool add_line(struct script *s, const char *line)
{
	if (!*line || *line == '#')
		return true;
	if (!strncmp(line, "process", 7))
		return add_process(s, line);
	return strncmp(line, "thread", 6) ? add_item(s, line) : add_thread(s, line);
}

int func_script_new(struct func_source **ret, const char *text, struct error *e)
{
	struct script *s = calloc(1, sizeof(*s));
	char *copy = strdup(text), *at = copy, *line;
	int r = s && copy ? 0 : error_set(e, ENOMEM, "cannot read the script: out of memory");

	if (s) {
		s->source.ops = &ops;
		clock_init(&s->source.clock);
		s->source.origin = strdup("script");
	}
	while (r >= 0 && (line = strsep(&at, "\n")))
		if (!add_line(s, line))
			r = error_set(e, EINVAL, "cannot read the script: '%s'", line);
	free(copy);
	if (r < 0)
		func_source_free(s ? &s->source : NULL);
	else
		*ret = &s->source;
	return r;
}
