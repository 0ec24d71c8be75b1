/* SPDX-License-Identifier: MIT */
/* events: see events.h. */
#include "events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "convert/reclock.h"
#include "convert/ticks.h"
#include "mapping.h"

/* Makes room for one more element of an array that doubles. */
static int grow(void **array, size_t *room, size_t n, size_t size)
{
	size_t wanted = *room ? *room * 2 : 1024;
	void *grown;

	if (n < *room)
		return 0;
	grown = reallocarray(*array, wanted, size);
	if (!grown)
		return -ENOMEM;
	*array = grown;
	*room = wanted;
	return 0;
}

static int add_event(struct events *ev, struct cpu_events *c, const struct sched_event *event)
{
	struct sched_event *to;

	if (ev->n >= EVENTS_MAX)
		return -E2BIG;
	if (grow((void **)&c->event, &c->room, c->n, sizeof(*c->event)) < 0)
		return -ENOMEM;
	to = &c->event[c->n];
	*to = *event;
	if (event->filename_len && !ev->borrows) {
		char *name = malloc(event->filename_len);

		if (!name)
			return -ENOMEM;
		memcpy(name, event->filename, event->filename_len);
		to->filename = name;
	}
	c->n++;
	ev->n++;
	return 0;
}

static int add_loss(struct events *ev, struct cpu_events *c, const struct trace_loss *loss)
{
	if (grow((void **)&c->loss, &c->room_losses, c->n_losses, sizeof(*c->loss)) < 0)
		return -ENOMEM;
	c->loss[c->n_losses].before = c->n;
	c->loss[c->n_losses].loss = *loss;
	c->n_losses++;
	ev->n_losses++;
	return 0;
}

static int add_item(struct events *ev, const struct trace_item *item, struct error *e)
{
	struct cpu_events *c;
	int r;

	if (item->cpu >= ev->info.cpus)
		return error_set(e, EBADMSG, "an event of CPU %u of %u", item->cpu, ev->info.cpus);
	c = &ev->cpu[item->cpu];
	r = grow((void **)&ev->order, &ev->room_order, ev->n_order, sizeof(*ev->order));
	if (r == 0 && item->type == ITEM_LOSS)
		r = add_loss(ev, c, &item->loss);
	else if (r == 0)
		r = add_event(ev, c, &item->event);
	if (r < 0)
		return error_set(e, -r, "cannot hold the trace in memory: %s", strerror(-r));
	ev->order[ev->n_order++] = (uint16_t)item->cpu;
	return 0;
}

/* Wraps the source, if its stamps come from a counter. */
static int find_counter(struct events *ev, struct trace_source **source, struct error *e)
{
	struct trace_clock clock = (*source)->info.clock;
	struct trace_source *ticking;
	int r = ticks_find(*source, &clock, e);

	if (r <= 0)
		return r;
	r = reclock_source_new(&ticking, *source, &clock, e);
	if (r < 0)
		return r;
	*source = ticking;
	ev->has_counter = true;
	return 0;
}

static int read_items(struct events *ev, struct trace_source *source, struct error *e)
{
	uint64_t ns = 0, last_ns = 0;
	struct trace_item item;
	int r;

	while ((r = source->ops->next(source, &item, e)) > 0) {
		r = add_item(ev, &item, e);
		if (r < 0)
			return r;
		if (item.type != ITEM_EVENT)
			continue;
		ns = clock_event_ns(&ev->info.clock, &item.event);
		if (ev->n == 1)
			ev->first_ns = ns;
		if (ns > last_ns)
			last_ns = ns;
	}
	ev->ns = last_ns > ev->first_ns ? last_ns - ev->first_ns : 0;
	ev->info.skipped = source->info.skipped;
	return r;
}

static int load_source(struct events *ev, struct trace_source **source, struct error *e)
{
	int r = find_counter(ev, source, e);

	if (r < 0)
		return r;
	if (info_dup(&ev->info, &(*source)->info) < 0 ||
	    !(ev->cpu = calloc((size_t)ev->info.cpus + 1, sizeof(*ev->cpu))))
		return error_set(e, ENOMEM, "out of memory");
	r = read_items(ev, *source, e);
	if (r == 0 && !ev->n)
		r = error_set(e, ENODATA, "no scheduler events in it");
	return r;
}

int events_load(struct events *ev, const char *path, struct error *e)
{
	struct trace_source *source = NULL;
	struct import_bytes in = { NULL, 0 };
	int r;

	memset(ev, 0, sizeof(*ev));
	r = mapping_open(&in, path, e);
	if (r == 0)
		r = source_tracedat_open(&source, in, e);
	if (r == 0)
		r = load_source(ev, &source, e);
	source_free(source);
	mapping_close(&in);
	if (r < 0) {
		events_done(ev);
		return error_prefix(e, -r, "cannot load %s", path);
	}
	return 0;
}

static void cpu_done(struct cpu_events *c, bool borrows)
{
	size_t i;

	for (i = 0; i < c->n && !borrows; i++)
		if (c->event[i].filename_len)
			free((void *)(uintptr_t)c->event[i].filename);
	free(c->event);
	free(c->loss);
}

void events_done(struct events *ev)
{
	uint32_t cpu;

	for (cpu = 0; ev->cpu && cpu < ev->info.cpus; cpu++)
		cpu_done(&ev->cpu[cpu], ev->borrows);
	free(ev->cpu);
	free(ev->order);
	info_done(&ev->info);
	memset(ev, 0, sizeof(*ev));
}

static bool leaves_idle(const struct trace_item *item)
{
	return item->type == ITEM_EVENT && item->event.kind == SCHED_SWITCH &&
	       item->event.task.pid == 0;
}

/* Are there switches out of idle on odd CPUs? */
static bool odd_leave_idle(const struct events *ev)
{
	uint32_t cpu;
	size_t i;

	for (cpu = 1; cpu < ev->info.cpus; cpu += 2)
		for (i = 0; i < ev->cpu[cpu].n; i++)
			if (ev->cpu[cpu].event[i].kind == SCHED_SWITCH &&
			    ev->cpu[cpu].event[i].task.pid == 0)
				return true;
	return false;
}

static int copy_broken(struct events *to, const struct events *from, uint64_t *ret_removed,
		       struct error *e)
{
	uint32_t parity = odd_leave_idle(from) ? 1 : 0;
	struct trace_source *source;
	struct trace_item item;
	int r;

	r = events_source_new(&source, from, e);
	if (r < 0)
		return r;
	while ((r = source->ops->next(source, &item, e)) > 0) {
		if (leaves_idle(&item) && (item.cpu & 1) == parity) {
			++*ret_removed;
			continue;
		}
		r = add_item(to, &item, e);
		if (r < 0)
			break;
	}
	source_free(source);
	return r;
}

int events_dup_broken(struct events *to, const struct events *from, uint64_t *ret_removed,
		      struct error *e)
{
	int r;

	memset(to, 0, sizeof(*to));
	to->borrows = true;
	to->has_counter = from->has_counter;
	to->ns = from->ns;
	to->first_ns = from->first_ns;
	*ret_removed = 0;
	if (info_dup(&to->info, &from->info) < 0 ||
	    !(to->cpu = calloc((size_t)to->info.cpus + 1, sizeof(*to->cpu)))) {
		events_done(to);
		return error_set(e, ENOMEM, "out of memory");
	}
	to->info.skipped = 0;
	r = copy_broken(to, from, ret_removed, e);
	if (r < 0)
		events_done(to);
	return r;
}
