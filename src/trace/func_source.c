/* SPDX-License-Identifier: MIT */
/*
 * func_source: see func_source.h.
 *
 * The tables have no field for their room: an array doubles whenever its length is a power of two,
 * so the length says the room. They are made once, when a source opens.
 */
#include "trace/func_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/info.h"

/* Room for one more element behind the n that are there. */
static int grow(void *array_pointer, size_t n, size_t size, size_t most)
{
	void **array = (void **)array_pointer;
	size_t room = n ? n * 2 : 1;
	void *grown;

	if (n >= most)
		return -E2BIG;
	if (n & (n - 1))
		return 0;
	if (room > SIZE_MAX / size)
		return -ENOMEM;
	grown = realloc(*array, room * size);
	if (!grown)
		return -ENOMEM;
	*array = grown;
	return 0;
}

int func_process_init(struct func_process *p, const char *command, const char *exe)
{
	int r;

	memset(p, 0, sizeof(*p));
	r = info_set(&p->command, command, strlen(command));
	if (r == 0)
		r = info_set(&p->exe, exe, strlen(exe));
	if (r < 0)
		func_process_done(p);
	return r;
}

void func_process_done(struct func_process *p)
{
	size_t i;

	for (i = 0; i < p->n_mappings; i++)
		free(p->mappings[i].path);
	for (i = 0; i < p->n_names; i++)
		free(p->names[i]);
	free(p->mappings);
	free(p->names);
	free(p->command);
	free(p->exe);
	memset(p, 0, sizeof(*p));
}

int func_process_add_mapping(struct func_process *p, const struct func_mapping *m)
{
	struct func_mapping copy = *m;
	int r = grow(&p->mappings, p->n_mappings, sizeof(*p->mappings), FUNC_MAPPINGS_MAX);

	if (r < 0)
		return r;
	copy.path = NULL;
	r = info_set(&copy.path, m->path, strlen(m->path));
	if (r == 0)
		p->mappings[p->n_mappings++] = copy;
	return r;
}

int func_process_add_name(struct func_process *p, const char *name, size_t len)
{
	int r = grow(&p->names, p->n_names, sizeof(*p->names), FUNC_NAMES_MAX);

	if (r < 0)
		return r;
	p->names[p->n_names] = NULL;
	r = info_set(&p->names[p->n_names], name, len);
	if (r == 0)
		p->n_names++;
	return r;
}

int func_process_dup(struct func_process *to, const struct func_process *from)
{
	size_t i;
	int r = func_process_init(to, from->command, from->exe);

	if (r < 0)
		return r;
	to->pid = from->pid;
	to->parent = from->parent;
	to->kernel = from->kernel;
	for (i = 0; i < from->n_mappings && r == 0; i++)
		r = func_process_add_mapping(to, &from->mappings[i]);
	for (i = 0; i < from->n_names && r == 0; i++)
		r = func_process_add_name(to, from->names[i], strlen(from->names[i]));
	if (r < 0)
		func_process_done(to);
	return r;
}

int func_source_add_process(struct func_source *s, struct func_process *p, uint32_t *ret)
{
	int r = grow(&s->processes, s->n_processes, sizeof(*s->processes), FUNC_PROCESSES_MAX);

	if (r < 0) {
		func_process_done(p);
		return r;
	}
	s->processes[s->n_processes] = *p;
	memset(p, 0, sizeof(*p));
	if (ret)
		*ret = (uint32_t)s->n_processes;
	s->n_processes++;
	return 0;
}

int func_source_add_thread(struct func_source *s, const struct func_thread *t, uint32_t *ret)
{
	int r = grow(&s->threads, s->n_threads, sizeof(*s->threads), FUNC_THREADS_MAX);

	if (r < 0)
		return r;
	if (ret)
		*ret = (uint32_t)s->n_threads;
	s->threads[s->n_threads++] = *t;
	return 0;
}

int func_source_add_sync(struct func_source *s, uint64_t tick, uint64_t mono_ns)
{
	int r = grow(&s->syncs, s->n_syncs, sizeof(*s->syncs), FUNC_SYNCS_MAX);

	if (r < 0)
		return r;
	s->syncs[s->n_syncs++] = (struct func_sync){ .tick = tick, .mono_ns = mono_ns };
	return 0;
}

int func_source_set_origin(struct func_source *s, const char *text)
{
	return info_set(&s->origin, text, strlen(text));
}

void func_source_done(struct func_source *s)
{
	size_t i;

	for (i = 0; i < s->n_processes; i++)
		func_process_done(&s->processes[i]);
	free(s->processes);
	free(s->threads);
	free(s->syncs);
	free(s->origin);
	s->processes = NULL;
	s->threads = NULL;
	s->syncs = NULL;
	s->origin = NULL;
	s->n_processes = s->n_threads = s->n_syncs = 0;
}

static int dup_process(struct func_source *to, const struct func_process *from)
{
	struct func_process p;
	int r = func_process_dup(&p, from);

	return r < 0 ? r : func_source_add_process(to, &p, NULL);
}

int func_source_dup(struct func_source *to, const struct func_source *from)
{
	int r = func_source_set_origin(to, from->origin ? from->origin : "");
	size_t i;

	to->clock = from->clock;
	for (i = 0; i < from->n_processes && r == 0; i++)
		r = dup_process(to, &from->processes[i]);
	for (i = 0; i < from->n_threads && r == 0; i++)
		r = func_source_add_thread(to, &from->threads[i], NULL);
	for (i = 0; i < from->n_syncs && r == 0; i++)
		r = func_source_add_sync(to, from->syncs[i].tick, from->syncs[i].mono_ns);
	if (r < 0)
		func_source_done(to);
	return r;
}
