/* SPDX-License-Identifier: MIT */
/* func_meta_encode: the writing side of func_meta.h: a source's tables into payloads. */
#include "trace/func_meta.h"

#include <string.h>

#include "trace/info.h"
#include "trace/info_meta.h"
#include "wire/func_meta_encode.h"

#define ROW_MOST (FUNC_META_ROW_ROOM + 2 * TRACE_STRING_MAX)

enum part {
	PART_CLOCK,
	PART_SYNCS,
	PART_PROCESSES,
	PART_THREADS,
	PART_MAPPINGS,
	PART_NAMES,
	PART_END,
};

/* One payload of one item. */
struct page {
	uint8_t *start, *body, *p;
	size_t room;
};

static void begin(struct page *g, enum meta_item type)
{
	g->body = meta_item_begin(g->start, type);
	g->p = g->body;
}

static bool has_room(const struct page *g)
{
	return (size_t)(g->p - g->start) + ROW_MOST <= g->room;
}

static size_t end(struct page *g)
{
	return (size_t)(meta_item_end(g->body, g->p) - g->start);
}

static struct func_meta_text text_of(const char *text)
{
	return (struct func_meta_text){ .text = text, .len = (uint32_t)strlen(text) };
}

static size_t put_clock(const struct func_source *s, struct page *g)
{
	struct meta_clock c = info_get_clock(&s->clock);

	return (size_t)(func_meta_put_clock(g->start, &c) - g->start);
}

static size_t put_syncs(const struct func_source *s, struct func_meta_place *at, struct page *g)
{
	begin(g, META_FUNC_SYNCS);
	for (; at->row < s->n_syncs && has_room(g); at->row++)
		g->p = func_meta_put_sync(g->p, s->syncs[at->row].tick, s->syncs[at->row].mono_ns);
	return end(g);
}

static size_t put_processes(const struct func_source *s, struct func_meta_place *at, struct page *g)
{
	begin(g, META_PROCESSES);
	for (; at->row < s->n_processes && has_room(g); at->row++) {
		const struct func_process *p = &s->processes[at->row];
		struct func_meta_process row = {
			.number = (uint32_t)at->row,
			.pid = p->pid,
			.parent = p->parent,
			.kernel = p->kernel,
			.command = text_of(p->command),
			.exe = text_of(p->exe),
		};

		g->p = func_meta_put_process(g->p, &row);
	}
	return end(g);
}

static size_t put_threads(const struct func_source *s, struct func_meta_place *at, struct page *g)
{
	begin(g, META_THREADS);
	for (; at->row < s->n_threads && has_room(g); at->row++) {
		const struct func_thread *t = &s->threads[at->row];
		struct func_meta_thread row = {
			.number = (uint32_t)at->row,
			.process = t->process,
			.tid = t->tid,
			.cpu = t->cpu,
			.comm = { .text = t->comm,
				  .len = (uint32_t)strnlen(t->comm, SCHED_COMM_LEN) },
		};

		g->p = func_meta_put_thread(g->p, &row);
	}
	return end(g);
}

static size_t put_mappings(const struct func_process *p, struct func_meta_place *at, struct page *g)
{
	begin(g, META_MAPPINGS);
	g->p = func_meta_put_owner(g->p, (uint32_t)at->process);
	for (; at->row < p->n_mappings && has_room(g); at->row++) {
		const struct func_mapping *m = &p->mappings[at->row];
		struct func_meta_mapping row = {
			.from = m->from,
			.to = m->to,
			.offset = m->offset,
			.since = m->since,
			.until = m->until,
			.build_id = m->build_id,
			.build_id_len = m->build_id_len,
			.path = text_of(m->path),
		};

		g->p = func_meta_put_mapping(g->p, &row);
	}
	return end(g);
}

static size_t put_names(const struct func_process *p, struct func_meta_place *at, struct page *g)
{
	struct func_meta_text name;

	begin(g, META_NAMES);
	g->p = func_meta_put_owner(g->p, (uint32_t)at->process);
	g->p = func_meta_put_first(g->p, (uint32_t)at->row);
	for (; at->row < p->n_names && has_room(g); at->row++) {
		name = text_of(p->names[at->row]);
		g->p = func_meta_put_name(g->p, &name);
	}
	return end(g);
}

/* How many rows the part has that `at` is in. */
static size_t rows(const struct func_source *s, const struct func_meta_place *at)
{
	const struct func_process *p =
		at->process < s->n_processes ? &s->processes[at->process] : NULL;

	switch (at->part) {
	case PART_CLOCK:
		return 1;
	case PART_SYNCS:
		return s->n_syncs;
	case PART_PROCESSES:
		return s->n_processes;
	case PART_THREADS:
		return s->n_threads;
	case PART_MAPPINGS:
		return p ? p->n_mappings : 0;
	default:
		return p ? p->n_names : 0;
	}
}

/* To where there is something to say. */
static bool advance(const struct func_source *s, struct func_meta_place *at)
{
	while (at->part < PART_END && at->row >= rows(s, at)) {
		at->row = 0;
		if (at->part >= PART_MAPPINGS && at->process + 1 < s->n_processes) {
			at->process++;
			continue;
		}
		at->process = 0;
		at->part++;
	}
	return at->part < PART_END;
}

size_t func_meta_encode(const struct func_source *s, struct func_meta_place *at, uint8_t *out,
			size_t room)
{
	struct page g = { .start = out, .room = room };

	if (!advance(s, at))
		return 0;
	switch (at->part) {
	case PART_CLOCK:
		at->row = 1;
		return put_clock(s, &g);
	case PART_SYNCS:
		return put_syncs(s, at, &g);
	case PART_PROCESSES:
		return put_processes(s, at, &g);
	case PART_THREADS:
		return put_threads(s, at, &g);
	case PART_MAPPINGS:
		return put_mappings(&s->processes[at->process], at, &g);
	default:
		return put_names(&s->processes[at->process], at, &g);
	}
}
