/* SPDX-License-Identifier: MIT */
/*
 * events_source: a trace that lies in memory as a source, for the sinks that take one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "events.h"

struct cursor {
	size_t event;
	size_t loss;
};

struct events_source {
	struct trace_source source;
	const struct events *events;
	struct cursor *cpu;
	size_t at;
};

static int events_next(struct trace_source *source, struct trace_item *ret, struct error *e)
{
	struct events_source *s = (struct events_source *)source;
	const struct cpu_events *c;
	struct cursor *at;

	(void)e;
	if (s->at == s->events->n_order)
		return 0;
	ret->cpu = s->events->order[s->at++];
	c = &s->events->cpu[ret->cpu];
	at = &s->cpu[ret->cpu];
	if (at->loss < c->n_losses && c->loss[at->loss].before == at->event) {
		ret->type = ITEM_LOSS;
		ret->loss = c->loss[at->loss++].loss;
		return 1;
	}
	ret->type = ITEM_EVENT;
	ret->event = c->event[at->event++];
	return 1;
}

static int events_rewind(struct trace_source *source, struct error *e)
{
	struct events_source *s = (struct events_source *)source;

	(void)e;
	s->at = 0;
	memset(s->cpu, 0, s->events->info.cpus * sizeof(*s->cpu));
	return 0;
}

static void events_free(struct trace_source *source)
{
	struct events_source *s = (struct events_source *)source;

	info_done(&s->source.info);
	free(s->cpu);
	free(s);
}

static const struct trace_source_ops events_ops = {
	.next = events_next,
	.rewind = events_rewind,
	.free = events_free,
};

int events_source_new(struct trace_source **ret, const struct events *ev, struct error *e)
{
	struct events_source *s = calloc(1, sizeof(*s));

	if (!s)
		return error_set(e, ENOMEM, "out of memory");
	s->source.ops = &events_ops;
	s->events = ev;
	s->cpu = calloc((size_t)ev->info.cpus + 1, sizeof(*s->cpu));
	if (!s->cpu || info_dup(&s->source.info, &ev->info) < 0) {
		free(s->cpu);
		free(s);
		return error_set(e, ENOMEM, "out of memory");
	}
	*ret = &s->source;
	return 0;
}
