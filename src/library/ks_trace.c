/* SPDX-License-Identifier: MIT */
/* ks_trace: <kiseki/trace.h> by the source of .ksk files (trace/ksk_source.h). */
#include "library/ks_trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "library/ks_error.h"
#include "library/ks_item.h"
#include "trace/ksk_source.h"

struct ks_trace {
	struct trace_source *source;
	struct ks_description description; /* of the source's own strings */
};

const struct trace_info *ks_trace_info(const struct ks_trace *t)
{
	return &t->source->info;
}

static void describe(struct ks_description *d, const struct trace_info *i)
{
	d->device = i->device;
	d->kernel = i->kernel;
	d->machine = i->machine;
	d->origin = i->origin;
	d->cpus = i->cpus;
	d->clock_mult = i->clock.mult;
	d->clock_shift = i->clock.shift;
	d->clock_base_ns = i->clock.base_ns;
	d->has_realtime = i->clock.has_realtime;
	d->realtime_off_ns = i->clock.realtime_off_ns;
}

/* Takes the source, also when it fails. */
static int trace_new(struct ks_trace **ret, struct trace_source *source, struct error *e)
{
	struct ks_trace *t = calloc(1, sizeof(*t));

	if (!t) {
		source_free(source);
		return error_set(e, ENOMEM, "out of memory");
	}
	t->source = source;
	describe(&t->description, &source->info);
	*ret = t;
	return 0;
}

int ks_trace_open(struct ks_trace **ret, const char *path, struct ks_error *e)
{
	struct error why = ERROR_INIT;
	struct trace_source *source;
	int r = source_ksk_open(&source, path, &why);

	if (r == 0)
		r = trace_new(ret, source, &why);
	return ks_error_fill(e, &why, r);
}

int ks_trace_open_memory(struct ks_trace **ret, const void *data, size_t len, struct ks_error *e)
{
	struct error why = ERROR_INIT;
	struct trace_source *source;
	int r = source_ksk_open_memory(&source, (const uint8_t *)data, len, &why);

	if (r == 0)
		r = trace_new(ret, source, &why);
	return ks_error_fill(e, &why, r);
}

void ks_trace_close(struct ks_trace *t)
{
	if (!t)
		return;
	source_free(t->source);
	free(t);
}

static void fill_loss(struct ks_loss *ret, const struct trace_loss *l)
{
	ret->from_tick = l->from_tick;
	ret->to_tick = l->to_tick;
	ret->count = l->count;
	ret->cause = l->cause;
}

int ks_trace_next(struct ks_trace *t, struct ks_item *ret, struct ks_error *e)
{
	const struct trace_clock *clock = &t->source->info.clock;
	struct error why = ERROR_INIT;
	struct trace_item item;
	int r = t->source->ops->next(t->source, &item, &why);

	if (r <= 0)
		return ks_error_fill(e, &why, r);
	memset(ret, 0, sizeof(*ret));
	ret->type = item.type;
	ret->cpu = item.cpu;
	if (item.type == ITEM_EVENT) {
		ks_event_from(&ret->event, &item.event);
		ret->ns = clock_event_ns(clock, &item.event);
	} else {
		fill_loss(&ret->loss, &item.loss);
		ret->ns = clock_ns(clock, item.loss.from_tick);
	}
	return 1;
}

int ks_trace_seek(struct ks_trace *t, uint64_t tick, struct ks_error *e)
{
	struct error why = ERROR_INIT;

	return ks_error_fill(e, &why, t->source->ops->seek(t->source, tick, &why));
}

const struct ks_description *ks_trace_get_description(const struct ks_trace *t)
{
	return &t->description;
}

uint64_t ks_trace_get_ns(const struct ks_trace *t, uint64_t tick)
{
	return clock_ns(&t->source->info.clock, tick);
}

int ks_trace_get_name(const struct ks_trace *t, size_t number, struct ks_name *ret)
{
	const struct trace_info *i = &t->source->info;

	if (number >= i->n_tasks)
		return -ENOENT;
	ret->pid = i->tasks[number].pid;
	ret->tgid = i->tasks[number].tgid;
	memcpy(ret->comm, i->tasks[number].comm, sizeof(ret->comm));
	return 0;
}
